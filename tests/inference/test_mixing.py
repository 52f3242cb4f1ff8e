"""R-hat and sample sizes of many quantities: the same as ArviZ's, one at a time."""

import warnings

import numpy as np
import pytest
from arviz_stats.base import array_stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from neartie.inference import mixing as module
from neartie.inference.mixing import mixing, normal_scores, vary

# The same examples each time: where a sum of autocorrelations is zero but for rounding, which few tied
# values can do (4 of 20,000 arrays), it ends by chance, here or there. The first call compiles.
FIXED = settings(derandomize=True, deadline=None)
SHAPES = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(4, 23))


def by_arviz(draws: np.ndarray) -> tuple[float, float, float]:
    """Of one quantity, (n_chain, n_draw)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rhat = array_stats.rhat(draws, method="rank") if len(draws) > 1 else np.nan
        bulk = array_stats.ess(draws, method="bulk")
        tail = array_stats.ess(draws, method="tail", prob=(0.05, 0.95))
    return float(rhat), float(bulk), float(tail)


def assert_agrees(draws: np.ndarray, rtol: float = 1e-10) -> None:
    said = mixing(draws)
    expected = np.array([by_arviz(each) for each in draws]).T
    expected[:, ~vary(draws)] = np.nan
    # Where each half of a chain is constant, R-hat is a ratio of rounding.
    huge = expected[0] > 1e6
    assert (said.r_hat[huge] > 1e6).all()
    np.testing.assert_allclose(said.r_hat[~huge], expected[0, ~huge], rtol=rtol)
    np.testing.assert_allclose(said.ess_bulk, expected[1], rtol=rtol)
    np.testing.assert_allclose(said.ess_tail, expected[2], rtol=rtol)


@FIXED
@given(SHAPES, st.integers(0, 2**32 - 1))
def test_random_draws_agree_with_arviz(shape, seed):
    assert_agrees(np.random.default_rng(seed).standard_normal(shape))


@FIXED
@given(SHAPES, st.integers(0, 2**32 - 1), st.integers(2, 9))
def test_tied_draws_agree_with_arviz(shape, seed, n_value):
    """Few values, now and then one only: what is constant is NaN here."""
    rng = np.random.default_rng(seed)
    values = np.concatenate([rng.standard_normal(n_value - 1), [0.0]])
    assert_agrees(values[rng.integers(n_value, size=shape)], rtol=1e-8)


@pytest.mark.parametrize("correlation", [-0.9, -0.3, 0.5, 0.9, 0.999])
@pytest.mark.parametrize(("n_chain", "n_draw"), [(1, 400), (2, 401), (4, 250)])
def test_autocorrelated_draws_agree_with_arviz(correlation, n_chain, n_draw):
    rng = np.random.default_rng(1)
    draws = rng.standard_normal((4, n_chain, n_draw))
    for t in range(1, n_draw):
        draws[:, :, t] += correlation * draws[:, :, t - 1]
    draws[1] += 3 * np.arange(n_chain)[:, None]  # chains that do not agree
    draws[2] *= 1 + np.arange(n_chain)[:, None]  # nor in spread
    draws[3] = np.round(draws[3])
    assert_agrees(draws)


@given(
    arrays(
        np.float64,
        (2, 2, 6),
        elements=st.floats(-9, 9) | st.sampled_from([np.nan, np.inf, -np.inf]),
    )
)
def test_what_is_not_finite_or_constant_has_no_number(draws):
    said = mixing(draws)
    for k, each in enumerate(draws):
        varies = np.isfinite(each).all() and len(np.unique(each)) > 1
        assert said.varies[k] == varies
        assert np.isnan(said.ess_bulk[k]) == (not varies)


@pytest.mark.parametrize("shape", [(2, 4, 3), (2, 1, 0), (0, 2, 9)])
def test_too_few_draws_have_no_number(shape):
    said = mixing(np.random.default_rng(1).standard_normal(shape))
    assert np.isnan([said.r_hat, said.ess_bulk, said.ess_tail]).all()


def test_one_chain_has_sample_sizes_only():
    said = mixing(np.random.default_rng(1).standard_normal((2, 1, 100)))
    assert np.isnan(said.r_hat).all()
    assert (said.ess_bulk > 0).all()


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 10), st.floats(-5, 5))
def test_the_scale_does_not_matter(seed, scale, shift):
    draws = np.random.default_rng(seed).standard_normal((2, 2, 30))
    one, other = mixing(draws), mixing(np.exp(draws))
    np.testing.assert_allclose(one.ess_bulk, other.ess_bulk, rtol=1e-10)
    turned = mixing(-scale * draws + shift)
    np.testing.assert_allclose(one.ess_bulk, turned.ess_bulk, rtol=1e-10)


def test_blocks_do_not_matter(monkeypatch):
    draws = np.random.default_rng(1).standard_normal((7, 2, 40))
    draws[3] = 1.0
    whole = mixing(draws)
    monkeypatch.setattr(module, "_BLOCK", 160)
    parts = mixing(draws)
    for name in ("varies", "r_hat", "ess_bulk", "ess_tail"):
        np.testing.assert_allclose(getattr(whole, name), getattr(parts, name), rtol=1e-13)


@given(arrays(np.float64, (2, 7), elements=st.integers(-3, 3)))
def test_ranks_are_those_of_scipy(values):
    from scipy.stats import norm, rankdata

    ranks = rankdata(values, axis=1)
    np.testing.assert_allclose(
        normal_scores(values), norm.ppf((ranks - 0.375) / (values.shape[1] + 0.25)), atol=1e-14
    )
