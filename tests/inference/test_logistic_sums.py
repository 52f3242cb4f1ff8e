"""Sums over answers agree with the library's exponential and logarithm."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from neartie.inference.logistic_sums import (
    exp_below_zero,
    gather,
    line_derivatives,
    line_softplus_sum,
    softplus_sum,
    sum_at,
    value_derivatives,
)

# More than one product of factors, one that is not full, one that is empty but for an answer.
SIZES = (1, 150, 1000, 2503)


@given(st.floats(min_value=-700, max_value=0))
def test_exponential_has_fourteen_digits(x):
    assert exp_below_zero(x) == pytest.approx(np.exp(x), rel=2e-14)


def test_exponential_of_what_is_far_below_is_next_to_nothing():
    assert 0 < exp_below_zero(-1e300) < 1e-300


def answers(n: int, spread: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    return np.exp(rng.normal(size=n)), spread * rng.normal(size=n)


@pytest.mark.parametrize("spread", [1.0, 300.0])
@pytest.mark.parametrize("n", SIZES)
def test_sums_along_a_value(n, spread):
    slope, offset = answers(n, spread)
    logit = 0.7 * slope + offset
    chance = expit(logit)
    weight = chance * expit(-logit)
    assert softplus_sum(0.7, slope, offset) == pytest.approx(
        np.logaddexp(0, logit).sum(), rel=1e-12
    )
    assert value_derivatives(0.7, slope, offset) == pytest.approx(
        (
            (slope * chance).sum(),
            (slope**2 * weight).sum(),
            (slope**3 * weight * (1 - 2 * chance)).sum(),
        ),
        rel=1e-11,
        abs=1e-11 * n,
    )


@pytest.mark.parametrize("spread", [1.0, 300.0])
@pytest.mark.parametrize("n", SIZES)
def test_sums_along_a_line(n, spread):
    _, ability = answers(n, spread)
    logit = 1.3 * ability - 0.4
    chance = expit(logit)
    weight = chance * expit(-logit)
    value = np.logaddexp(0, logit).sum()
    assert line_softplus_sum(1.3, -0.4, ability) == pytest.approx(value, rel=1e-12)
    expected = (
        value,
        (chance * ability).sum(),
        chance.sum(),
        (weight * ability**2).sum(),
        (weight * ability).sum(),
        weight.sum(),
    )
    found = line_derivatives(1.3, -0.4, ability)
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-11 * n * spread)


def test_no_answers_sum_to_nothing():
    none = np.zeros(0)
    assert softplus_sum(1.0, none, none) == 0.0
    assert value_derivatives(1.0, none, none) == (0.0, 0.0, 0.0)
    assert line_derivatives(1.0, 0.0, none) == (0.0,) * 6


def test_values_at_places():
    values, places = np.array([1.0, 2.0, 4.0]), np.array([2, 0], dtype=np.uint32)
    out = np.zeros(3)
    gather(values, places, out)
    assert out.tolist() == [4.0, 1.0, 0.0]
    assert sum_at(values, places) == 5.0
