"""Tests of uniform positions: exact against enumeration, with the level they state, with power."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from neartie.inference.uniformity import (
    ecdf_band,
    ecdf_p_value,
    holm,
    mean_test,
    smallest_ecdf_p_value,
)


def statistic(cells: tuple[int, ...], n_point: int) -> float:
    """Return the smallest two-sided p-value of the counts, one position a cell."""
    n, smallest = len(cells), 1.0
    for point in range(1, n_point):
        count, level = sum(cell < point for cell in cells), point / n_point
        below, above = stats.binom.cdf(count, n, level), stats.binom.sf(count - 1, n, level)
        smallest = min(smallest, 2 * min(below, above))
    return smallest


@pytest.mark.parametrize("cells", [(0, 0, 0, 0), (0, 1, 2, 3), (3, 3, 2, 3), (1, 1, 2, 1)])
def test_ecdf_p_value_is_that_of_all_possible_positions(cells):
    n_point = 4
    found = ecdf_p_value((np.array(cells) + 0.5) / n_point, n_point=n_point)
    own = statistic(cells, n_point)
    every = [statistic(other, n_point) for other in product(range(n_point), repeat=len(cells))]
    assert found == pytest.approx(np.mean([value <= own * (1 + 1e-9) for value in every]))


@settings(max_examples=25)
@given(st.integers(min_value=0, max_value=2**32 - 1), st.integers(min_value=2, max_value=60))
def test_mirrored_and_reordered_positions_have_the_same_p_value(seed, n):
    rng = np.random.default_rng(seed)
    positions = rng.random(n)
    found = ecdf_p_value(positions)
    assert ecdf_p_value(rng.permutation(positions)) == found
    assert ecdf_p_value(1 - positions) == pytest.approx(found, abs=1e-9)


def test_ecdf_test_keeps_its_level():
    rng = np.random.default_rng(3)
    p = np.array([ecdf_p_value(rng.random(80)) for _ in range(1000)])
    # Discrete, so at most the level; 0.05 + 3.1 standard errors, a false alarm in 1000 at most.
    assert np.mean(p <= 0.05) < 0.05 + 3.1 * np.sqrt(0.05 * 0.95 / 1000)
    assert np.mean(p <= 0.3) > 0.2


@pytest.mark.parametrize(
    "shape", [lambda u: u**1.5, lambda u: 0.25 + 0.5 * u, lambda u: np.sin(np.pi * u / 2) ** 2]
)
def test_ecdf_test_sees_shifts_and_wrong_spreads(shape):
    u = np.random.default_rng(5).random((200, 3))
    assert smallest_ecdf_p_value(shape(u)) < 0.001


def test_mean_test_is_students():
    values = np.random.default_rng(7).normal(0.3, 1.0, size=30)
    mean, error, p = mean_test(values, expected=0.1)
    assert p == pytest.approx(stats.ttest_1samp(values, 0.1).pvalue)
    assert mean == pytest.approx(values.mean())
    assert error == pytest.approx(stats.sem(values))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_rejects_what_its_steps_reject(values):
    adjusted = holm(values)
    assert (adjusted >= np.array(values)).all()
    for alpha in (0.01, 0.05, 0.3):
        rejected = set()
        for step, place in enumerate(np.argsort(values, kind="stable")):
            if values[place] > alpha / (len(values) - step) * (1 + 1e-12):
                break
            rejected.add(int(place))
        near = np.isclose(adjusted, alpha, rtol=1e-9)
        assert {int(k) for k in np.flatnonzero((adjusted <= alpha) & ~near)} <= rejected
        assert rejected <= {int(k) for k in np.flatnonzero((adjusted <= alpha) | near)}


@pytest.mark.parametrize("n", [7, 40])
def test_a_path_leaves_the_band_where_the_test_rejects(n):
    rng = np.random.default_rng(6)
    point, low, high = ecdf_band(n, level=0.8)
    rejected = []
    for _ in range(300):
        positions = rng.random(n)
        shares = (positions[:, None] <= point).mean(axis=0)
        outside = bool(((shares < low - 1e-12) | (shares > high + 1e-12)).any())
        assert outside == (ecdf_p_value(positions) <= 0.2)
        rejected.append(outside)
    # as many as it says at most, and not far fewer
    assert 0.05 < np.mean(rejected) < 0.2 + 3.1 * np.sqrt(0.2 * 0.8 / 300)
