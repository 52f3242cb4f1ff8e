"""Weights that are sums of gamma variates: the products they stand for, and their distribution.

Seeds are fixed; a limit of p < 1e-6 fails by chance once in a million.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from scipy import stats

from neartie.inference.gibbs_gamma_sums import (
    draw_gamma_sum,
    gamma_sum,
    log_excess,
    log_factor,
)
from neartie.inference.polya_gamma import polya_gamma

cosines = st.floats(0, 1)


def numbers(cosine, n=2000):
    """The numbers a of the infinite product, largest first."""
    odd = np.pi * np.repeat(2.0 * np.arange(n) + 1, 2)
    angle = np.arccos(cosine) * np.tile([-1.0, 1.0], n)
    return 0.5 / (odd + angle) ** 2


@settings(deadline=None)  # the first example compiles
@given(cosines, st.floats(-30, 30))
def test_factor_is_the_infinite_product(cosine, y):
    a = numbers(cosine)
    # behind the terms multiplied out, logarithms are as good as linear, and sum to a known total
    rest = 0.25 / (1 + cosine) - a.sum()
    product = -np.sum(np.log1p(0.5 * a * y**2)) - 0.5 * rest * y**2
    value = log_factor(np.array([y]), cosine) - log_factor(np.zeros(1), cosine)
    assert value == pytest.approx(product, rel=1e-7, abs=1e-9)


@settings(deadline=None)  # the first example compiles
@given(cosines)
def test_mean_and_variance_are_those_of_the_infinite_sum(cosine):
    law, a = gamma_sum(cosine), numbers(cosine, 20_000)
    assert law.first == pytest.approx(a[: len(law.first)])
    rest = a[len(law.first) :]
    # 20,000 pairs of terms leave out 1e-6 of the mean
    assert law.shape * law.scale == pytest.approx(rest.sum(), abs=2e-6)
    assert law.shape * law.scale**2 == pytest.approx(np.sum(rest**2), rel=1e-6)


@settings(deadline=None)  # the first example compiles
@given(cosines, st.floats(-12, 12))
def test_excess_is_what_the_sum_leaves_out(cosine, y):
    law, half = gamma_sum(cosine), 0.5 * y**2
    kept = -np.sum(np.log1p(half * law.first)) - law.shape * np.log1p(half * law.scale)
    whole = log_factor(np.array([y]), cosine) - log_factor(np.zeros(1), cosine)
    assert log_excess(np.array([y]), law) == pytest.approx(whole - kept, abs=1e-12)


@settings(deadline=None)  # the first example compiles
@given(cosines)
def test_little_is_left_out(cosine):
    law = gamma_sum(cosine)
    assert abs(log_excess(np.array([2.0]), law)) < 3e-7
    assert abs(log_excess(np.array([4.0]), law)) < 2e-5


@njit
def several(rng, b, y, law, draws):
    for place in range(len(draws)):
        draws[place] = draw_gamma_sum(rng, b, y, law)


@pytest.mark.parametrize("cosine", [0.0, 0.4, 1.0])
@pytest.mark.parametrize(("b", "y"), [(0.5, 1.0), (7.5, -3.0), (250.0, 0.7)])
def test_distribution_is_that_of_the_infinite_sum(cosine, b, y):
    draws = np.empty(20_000)
    several(np.random.default_rng(1), b, y, gamma_sum(cosine), draws)
    a = numbers(cosine, 30)
    tilted = a / (1 + 0.5 * a * y**2)
    rest = 0.25 / (1 + cosine) - a.sum()
    plain = np.random.default_rng(2).standard_gamma(b, size=(20_000, 60)) @ tilted + b * rest
    assert stats.ks_2samp(draws, plain).pvalue > 1e-6


def test_distribution_is_polya_gamma_where_cosine_is_zero():
    draws = np.empty(20_000)
    several(np.random.default_rng(3), 5.0, 2.2, gamma_sum(0.0), draws)
    assert stats.ks_2samp(draws, polya_gamma(np.full(20_000, 2.2), 5, rng=4)).pvalue > 1e-6
