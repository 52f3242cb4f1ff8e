"""Alignment of loadings: no draw's own axes matter, and planted rotations are found."""

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group

from neartie.inference.alignment import align_loadings, common_rotations


def rotations(n: int, k: int, rng: np.random.Generator) -> np.ndarray:
    if k == 1:
        return rng.choice([-1.0, 1.0], size=(n, 1, 1))
    return ortho_group.rvs(k, size=n, random_state=rng).reshape(n, k, k)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 4))
def test_no_draws_own_axes_matter(seed, k):
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(12, k)) * np.arange(k, 0, -1)
    draws = base + 0.05 * rng.normal(size=(10, 12, k))
    turned = draws @ rotations(10, k, rng)
    one = draws @ common_rotations(draws)
    other = turned @ common_rotations(turned)
    np.testing.assert_allclose(other, one, atol=1e-7)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 4))
def test_planted_rotations_are_found_exactly(seed, k):
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(12, k))
    draws = base @ rotations(7, k, rng)
    aligned = draws @ common_rotations(draws)
    np.testing.assert_allclose(aligned, np.broadcast_to(aligned[0], aligned.shape), atol=1e-10)
    np.testing.assert_allclose(aligned[0] @ aligned[0].T, base @ base.T, atol=1e-10)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_order_of_draws_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    draws = (rng.normal(size=(9, 3)) + 0.1 * rng.normal(size=(8, 9, 3))) @ rotations(8, 3, rng)
    order = rng.permutation(8)
    one = draws @ common_rotations(draws)
    other = draws[order] @ common_rotations(draws[order])
    np.testing.assert_allclose(other, one[order], atol=1e-7)


def test_turns_are_orthogonal_and_axes_principal():
    rng = np.random.default_rng(3)
    draws = rng.normal(size=(20, 3)) + 0.1 * rng.normal(size=(30, 20, 3))
    turns = common_rotations(draws)
    eye = np.broadcast_to(np.eye(3), turns.shape)
    np.testing.assert_allclose(turns @ np.swapaxes(turns, 1, 2), eye, atol=1e-12)
    mean = (draws @ turns).mean(axis=0)
    gram = mean.T @ mean
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-8)
    assert (np.diff(np.diag(gram)) <= 0).all()
    assert (mean.sum(axis=0) > 0).all()


def posterior(loading: np.ndarray, ability: np.ndarray) -> xr.DataTree:
    draws = xr.Dataset(
        {
            "loading": (("chain", "draw", "item", "factor"), loading),
            "ability": (("chain", "draw", "model", "factor"), ability),
            "easiness": (("chain", "draw", "item"), loading[..., 0]),
        }
    )
    return xr.DataTree.from_dict({"posterior": draws})


def test_abilities_turn_along():
    rng = np.random.default_rng(4)
    loading, ability = rng.normal(size=(2, 5, 6, 2)), rng.normal(size=(2, 5, 4, 2))
    before = posterior(loading, ability)
    after = align_loadings(before)
    draws = after["posterior"]
    np.testing.assert_allclose(
        draws["loading"].to_numpy() @ np.swapaxes(draws["ability"].to_numpy(), -1, -2),
        loading @ np.swapaxes(ability, -1, -2),
        atol=1e-12,
    )
    assert draws["easiness"].identical(before["posterior"]["easiness"])
    assert after.attrs["aligned"] == "yes"
    np.testing.assert_array_equal(before["posterior"]["loading"], loading)


def test_models_of_one_dimension_stay():
    draws = xr.Dataset({"ability": (("chain", "draw", "model"), np.zeros((1, 2, 3)))})
    tree = xr.DataTree.from_dict({"posterior": draws})
    assert align_loadings(tree).identical(tree)


def test_zero_loadings_do_not_crash():
    assert np.isfinite(common_rotations(np.zeros((3, 4, 2)))).all()


def test_one_negative_factor_is_turned_round():
    draws = -np.abs(np.random.default_rng(1).normal(size=(5, 8, 1)))
    assert (draws @ common_rotations(draws) > 0).all()
    assert common_rotations(draws) == pytest.approx(-1.0)
