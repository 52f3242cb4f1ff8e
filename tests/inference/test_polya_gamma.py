"""Pólya–Gamma draws: exact distribution, moments, transforms, and the sum of gammas they are.

Seeds are fixed. A limit of 5 standard errors fails by chance once in 1.7 million comparisons, one
of p < 1e-6 once in a million.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from scipy import stats

from neartie.inference import polya_gamma_table as table
from neartie.inference.polya_gamma import draw_polya_gamma, draw_polya_gamma_sum, polya_gamma
from neartie.inference.polya_gamma_series import draw_by_series

N = 60_000
# small and large, and both sides of where the algorithm changes
TILTS = (0.0, 1e-12, 0.3, 1.0, -1.7, 2.0, 3.1, 5.0, 9.0, 15.9, 16.1, 50.0, 700.0)


def rates(z, n_term=200_000):
    """PG(n, z) is the sum of Gamma(n) variates over these rates."""
    k = np.arange(n_term) + 0.5
    return 2 * np.pi**2 * k**2 + 0.5 * z**2


def cumulant(z, order):
    # The terms left out come to 3e-7 in the first cumulant, and to nothing in the others.
    return np.prod(np.arange(1.0, order)) * np.sum(rates(z) ** -float(order))


def upper_tail(x, z):
    """P(PG(1, z) > x), term by term from the series that falls fast to the right."""
    k = np.arange(400)[:, None] + 0.5
    rate = 2 * (np.pi**2 * k**2) + 0.5 * z**2
    terms = (-1.0) ** (k - 0.5) * 4 * np.pi * k / rate * np.exp(-rate * x + np.log(np.cosh(z / 2)))
    return terms.sum(axis=0)


@pytest.mark.parametrize("z", TILTS)
def test_mean_and_variance(z):
    draws = polya_gamma(np.full(N, z), rng=5)
    mean = 0.25 if abs(z) < 1e-6 else np.tanh(z / 2) / (2 * z)
    assert cumulant(z, 1) == pytest.approx(mean, abs=3e-7)
    variance, fourth = cumulant(z, 2), cumulant(z, 4)
    assert abs(draws.mean() - mean) < 5 * np.sqrt(variance / N)
    assert abs(draws.var() - variance) < 5 * np.sqrt((fourth + 2 * variance**2) / N)


@pytest.mark.parametrize("z", [z for z in TILTS if abs(z) < 10])
def test_distribution_function(z):
    draws = polya_gamma(np.full(N, z), rng=6)
    assert draws.min() > 0.005  # where 400 terms give 12 digits and more
    assert stats.kstest(draws, lambda x: 1 - upper_tail(x, z)).pvalue > 1e-6


@pytest.mark.parametrize("z", TILTS)
@pytest.mark.parametrize("factor", [0.5, 3.0])
def test_laplace_transform(z, factor):
    draws = polya_gamma(np.full(N, z), rng=7)
    t = factor / cumulant(z, 1)
    root = np.sqrt(0.25 * z**2 + 0.5 * t)
    half = 0.5 * abs(z)
    log_value = np.logaddexp(half, -half) - np.logaddexp(root, -root)
    values = np.exp(-t * draws)
    assert abs(values.mean() - np.exp(log_value)) < 5 * values.std() / np.sqrt(N)


@pytest.mark.parametrize("z", [0.0, 2.5, 6.0])
@pytest.mark.parametrize("n", [1, 3, 40])
def test_agrees_with_the_sum_of_gammas(z, n):
    rng = np.random.default_rng(8)
    rate = rates(z)
    # 100 terms, and the mean of the others: what is lost is 1e-4 of a standard deviation
    lost = np.sqrt(np.sum(rate[100:] ** -2.0) / np.sum(rate**-2.0))
    assert lost < 1e-3
    plain = rng.standard_gamma(n, size=(5000, 100)) @ (1 / rate[:100]) + n * np.sum(1 / rate[100:])
    draws = polya_gamma(np.full(20_000, z), n, rng=9)
    assert stats.ks_2samp(draws, plain).pvalue > 1e-6


@pytest.mark.parametrize("z", [0.05, 0.62, 1.33, 2.99, 7.99])
def test_columns_and_series_draw_alike(z):
    @njit
    def fill(rng, z, draws):
        for place in range(len(draws)):
            draws[place] = draw_by_series(rng, z)

    plain = np.empty(N)
    fill(np.random.default_rng(10), z, plain)
    assert stats.ks_2samp(4 * polya_gamma(np.full(N, 2 * z), rng=11), plain).pvalue > 1e-6


@pytest.mark.parametrize("place", [0, 1, 17, 40, 63])
def test_density_lies_within_its_columns(place):
    z = place * table._STEP
    columns = table._COLUMNS[place, : table._NUMBERS[place]]
    covered = np.sort(np.stack([columns[:, 0], columns[:, 0] + columns[:, 1]], axis=1), axis=0)
    assert covered[1:, 0] == pytest.approx(covered[:-1, 1], abs=1e-12)  # no gap, no overlap
    assert covered[[0, -1], [0, 1]] == pytest.approx(table._TAILS[place, [0, 2]])
    for edge, width, low in columns:
        high = table._AREA / width
        for share in np.linspace(0, 1, 7):
            value = table.density(edge + share * width, z)
            assert low * high * (1 - 1e-12) <= value <= high * (1 + 1e-12)


def test_large_tilts_are_finite():
    draws = polya_gamma(np.array([1e3, 1e6, 1e12, -1e150]), rng=1)
    assert (draws > 0).all()
    assert np.isfinite(draws).all()


@settings(deadline=None)  # the first example compiles
@given(st.floats(-1e3, 1e3), st.integers(0, 5), st.integers(0, 2**32))
def test_sign_of_the_tilt_changes_nothing(z, n, seed):
    assert polya_gamma(z, n, rng=seed) == polya_gamma(-z, n, rng=seed)


def test_same_seed_same_bytes():
    z = np.linspace(-20, 20, 3000)
    assert polya_gamma(z, rng=3).tobytes() == polya_gamma(z, rng=3).tobytes()
    assert polya_gamma(z, rng=3).tobytes() != polya_gamma(z, rng=4).tobytes()


def test_empty_sum_is_zero():
    assert polya_gamma(1.5, 0, rng=1) == 0.0


def test_shapes_broadcast():
    assert polya_gamma(np.zeros((3, 1)), [1, 2], rng=1).shape == (3, 2)
    assert polya_gamma(0.0, rng=1).shape == ()


def test_compiled_callers_get_the_same_draws():
    @njit
    def several(rng, z):
        return draw_polya_gamma(rng, z), draw_polya_gamma_sum(rng, 4, z)

    one, four = several(np.random.default_rng(2), 1.1)
    assert [one, four] == polya_gamma(1.1, [1, 4], rng=2).tolist()


def test_refuses_what_has_no_distribution():
    with pytest.raises(ValueError, match="z must be finite, got nan"):
        polya_gamma([0.0, np.nan])
    with pytest.raises(ValueError, match=r"whole numbers of at least 0, got 0\.5"):
        polya_gamma(0.0, 0.5)
    with pytest.raises(ValueError, match="got -1"):
        polya_gamma(0.0, -1)
