"""Kernels of ranks against plain twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from neartie.inference.rank_kernel import (
    compare_rows,
    interpolate,
    largest_ratio,
    place_models,
    select,
)

small = st.tuples(
    st.integers(1, 7), st.integers(1, 30), st.integers(0, 10**6), st.sampled_from([2, 5, 10**6])
)


def draws_of(case):
    n_model, n_draw, seed, n_value = case
    # few different values make ties
    return np.random.default_rng(seed).integers(n_value, size=(n_draw, n_model)).astype(float)


@given(small)
@settings(deadline=None)
def test_places_are_those_of_counting(case):
    draws = draws_of(case)
    first, last = np.empty((2, *draws.shape), dtype=np.int32)
    mass = np.zeros((draws.shape[1], draws.shape[1]))
    place_models(draws, first, last, mass)
    above = (draws[:, None, :] > draws[:, :, None]).sum(axis=2)
    tied = (draws[:, None, :] == draws[:, :, None]).sum(axis=2)
    assert np.array_equal(first, above)
    assert np.array_equal(last, above + tied - 1)
    plain = np.zeros_like(mass)
    for s in range(len(draws)):
        for m in range(draws.shape[1]):
            plain[m, above[s, m] : above[s, m] + tied[s, m]] += 1 / tied[s, m]
    assert mass == pytest.approx(plain)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=60), st.data())
@settings(deadline=None)
def test_selection_is_that_of_sorting(values, data):
    k = data.draw(st.integers(0, len(values) - 1))
    array = np.array(values)
    assert select(array, len(array), k) == sorted(values)[k]
    assert all(value <= array[k] for value in array[:k])
    assert all(value >= array[k] for value in array[k:])


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=60), st.floats(0.001, 0.999), st.booleans()
)
@settings(deadline=None)
def test_quantiles_are_those_of_numpy(values, share, low):
    position = share * (len(values) - 1)
    found = interpolate(np.array(values), len(values), position, low)
    expected = np.quantile(values, share if low else 1 - share)
    assert found == pytest.approx(expected, abs=1e-9)


def compared(draws, share):
    n_draw, n_model = draws.shape
    counts = np.zeros((2, n_model, n_model), dtype=np.int32)
    moments, limits = np.zeros((2, 2, n_model, n_model))
    deviation = np.zeros(n_draw)
    z = stats.norm.ppf(1 - min(0.5, 1.5 * share))
    values = np.ascontiguousarray(draws.T)
    compare_rows(values, 0, n_model, share, z, counts, moments, limits, deviation)
    return counts, moments, limits, deviation


def check_against_plain(draws, share):
    counts, moments, limits, deviation = compared(draws, share)
    largest = np.zeros(len(draws))
    for i in range(draws.shape[1]):
        for j in range(i + 1, draws.shape[1]):
            gap = draws[:, i] - draws[:, j]
            assert counts[0, i, j] == np.sum(gap > 0)
            assert counts[1, i, j] == np.sum(gap == 0)
            assert moments[0, i, j] == pytest.approx(gap.mean(), abs=1e-9)
            sd = gap.std(ddof=1) if len(gap) > 1 else 0.0
            assert moments[1, i, j] == pytest.approx(sd, abs=1e-9)
            expected = np.quantile(gap, [share, 1 - share])
            assert limits[:, i, j] == pytest.approx(expected, abs=1e-9)
            if sd > 0:
                largest = np.maximum(largest, np.abs(gap - gap.mean()) / sd)
    assert deviation == pytest.approx(largest, rel=1e-9)


@given(small, st.sampled_from([0.001, 0.025, 0.2, 0.45]))
@settings(deadline=None)
def test_pairs_are_those_of_plain_numpy(case, share):
    check_against_plain(draws_of(case), share)


@pytest.mark.parametrize("shape", ["normal", "skewed", "two hills", "one far draw"])
def test_tails_are_found_whatever_the_shape(shape):
    rng = np.random.default_rng(4)
    draws = {
        "normal": rng.normal(size=(501, 12)),
        "skewed": rng.exponential(size=(501, 12)) ** 3,
        "two hills": rng.normal(size=(501, 12)) + 40 * (rng.random((501, 12)) < 0.01),
        "one far draw": rng.normal(size=(501, 12)) + 1e6 * (np.arange(501) == 7)[:, None],
    }[shape]
    check_against_plain(draws - draws.mean(axis=1, keepdims=True), 0.025)


def test_largest_ratio_is_that_of_plain_numpy():
    rng = np.random.default_rng(5)
    values, weight = rng.normal(size=(19, 40)), rng.random((19, 19))
    deviation = np.zeros(40)
    for start in (0, 10):
        largest_ratio(values, start, min(start + 10, 19), weight, deviation)
    i, j = np.triu_indices(19, k=1)
    plain = np.max(np.abs(values[i] - values[j]) * weight[i, j][:, None], axis=0)
    assert deviation == pytest.approx(plain)
