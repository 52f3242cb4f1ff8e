r"""Sums over answers that a logistic model needs, with the exponential written out.

All are of logits :math:`\eta_c = a_c v + d_c` over the answers c of one model or one item. Right and
wrong answers enter by two totals alone, which the callers have: no answer is looked at here. The
library's exponential cannot be computed several at a time, the one below can, and it takes most of
a sampler's time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]

_LOG2_E: Final = 1.4426950408889634
# Added to a number below 2^51, it leaves the nearest whole number in the lowest bits.
_ROUNDER: Final = 6755399441055744.0
# log 2 in two parts; the first has trailing zeros, so that its multiples are exact.
_LOG_2_HIGH: Final = 0.6931471803691238
_LOG_2_LOW: Final = 1.9082149292705877e-10
_C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11 = (1 / math.factorial(k) for k in range(2, 12))
# Below this, exp is taken as exp of it, which adds nothing to 1.
_LOWEST: Final = -700.0
# So many factors between 1 and 2 have a finite product.
_FACTORS: Final = 1000


def summed[F: Callable[..., Any]](function: F) -> F:
    """Return the function compiled as `compiled` does, with sums in the order that is quickest.

    That order is fixed by the machine code: the same numbers give the same sums.
    """
    compile_it = njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
    return cast(F, compile_it(function))


def _joined[F: Callable[..., Any]](function: F) -> F:
    """Return the function compiled with products and sums joined, but in the order written."""
    return cast(
        F, njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})(function)
    )


@_joined
def exp_below_zero(x: float) -> float:
    r"""Return :math:`e^x` for x <= 0, to 14 digits; at least :math:`e^{-700}`.

    :math:`e^x = 2^k e^r` with k whole and :math:`|r| \le \log(2)/2`, a polynomial in r whose terms
    are grouped so that they can be computed side by side, and k added to the exponent's bits. No
    other order of its operations may be taken: the rounding would be lost.
    """
    x = max(x, _LOWEST)
    x = max(x, _LOWEST)
    shifted = x * _LOG2_E + _ROUNDER
    k = shifted - _ROUNDER
    r = (x - k * _LOG_2_HIGH) - k * _LOG_2_LOW
    square = r * r
    fourth = square * square
    power = (
        ((1.0 + r) + (_C2 + _C3 * r) * square)
        + ((_C4 + _C5 * r) + (_C6 + _C7 * r) * square) * fourth
        + ((_C8 + _C9 * r) + (_C10 + _C11 * r) * square) * (fourth * fourth)
    )
    bits = np.float64(power).view(np.int64) + (np.float64(shifted).view(np.int64) << 52)
    return float(np.int64(bits).view(np.float64))


@summed
def _softplus_part(v: float, slope: Floats, offset: Floats) -> tuple[float, float]:
    product, positive = 1.0, 0.0
    for c in range(slope.shape[0]):
        logit = slope[c] * v + offset[c]
        size = abs(logit)
        product *= 1.0 + exp_below_zero(-size)
        positive += logit + size
    return product, positive


@compiled
def softplus_sum(v: float, slope: Floats, offset: Floats) -> float:
    r"""Return :math:`\sum_c \log(1 + e^{\eta_c})`, nat.

    The logarithm is taken of products of many factors.
    """
    total = 0.0
    for start in range(0, slope.shape[0], _FACTORS):
        part = slice(start, start + _FACTORS)
        product, positive = _softplus_part(v, slope[part], offset[part])
        total += math.log(product) + 0.5 * positive
    return total


@summed
def value_derivatives(v: float, slope: Floats, offset: Floats) -> tuple[float, float, float]:
    r"""Return the first three derivatives of `softplus_sum` in v.

    They are :math:`\sum a p`, :math:`\sum a^2 pq` and :math:`\sum a^3 pq(1-2p)` with p the chance
    of a right answer and q = 1 - p.
    """
    first, second, third = 0.0, 0.0, 0.0
    for c in range(slope.shape[0]):
        a = slope[c]
        logit = a * v + offset[c]
        tail = exp_below_zero(-abs(logit))
        larger = 1.0 / (1.0 + tail)
        above_half = 0.5 * math.copysign((1.0 - tail) * larger, logit)
        curved = a * a * (tail * larger * larger)
        first += a * (0.5 + above_half)
        second += curved
        third -= 2.0 * curved * a * above_half
    return first, second, third


@summed
def _line_softplus_part(slope: float, intercept: float, ability: Floats) -> tuple[float, float]:
    product, positive = 1.0, 0.0
    for m in range(ability.shape[0]):
        logit = slope * ability[m] + intercept
        size = abs(logit)
        product *= 1.0 + exp_below_zero(-size)
        positive += logit + size
    return product, positive


@compiled
def line_softplus_sum(slope: float, intercept: float, ability: Floats) -> float:
    r"""Return :math:`\sum_m \log(1 + e^{a\theta_m + d})`, nat."""
    total = 0.0
    for start in range(0, ability.shape[0], _FACTORS):
        product, positive = _line_softplus_part(slope, intercept, ability[start : start + _FACTORS])
        total += math.log(product) + 0.5 * positive
    return total


@summed
def _line_part(
    slope: float, intercept: float, ability: Floats
) -> tuple[float, float, float, float, float, float, float]:
    product, positive, by_slope, by_intercept = 1.0, 0.0, 0.0, 0.0
    twice, both, intercept_twice = 0.0, 0.0, 0.0
    for m in range(ability.shape[0]):
        x = ability[m]
        logit = slope * x + intercept
        size = abs(logit)
        tail = exp_below_zero(-size)
        product *= 1.0 + tail
        positive += logit + size
        larger = 1.0 / (1.0 + tail)
        chance = 0.5 + 0.5 * math.copysign((1.0 - tail) * larger, logit)
        weight = tail * larger * larger
        by_intercept += chance
        by_slope += chance * x
        intercept_twice += weight
        both += weight * x
        twice += weight * x * x
    return product, positive, by_slope, by_intercept, twice, both, intercept_twice


@compiled
def line_derivatives(
    slope: float, intercept: float, ability: Floats
) -> tuple[float, float, float, float, float, float]:
    r"""Return :math:`\sum_m \log(1 + e^{\eta_m})` and its derivatives in slope and intercept.

    Parameters
    ----------
    slope, intercept : float
        The logits are slope times ability plus intercept.
    ability : (n,) float

    Returns
    -------
    value, by_slope, by_intercept, by_slope_twice, by_both, by_intercept_twice : float
    """
    value, first, second, third, fourth, fifth = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for start in range(0, ability.shape[0], _FACTORS):
        product, positive, a, d, aa, ad, dd = _line_part(
            slope, intercept, ability[start : start + _FACTORS]
        )
        value += math.log(product) + 0.5 * positive
        first, second, third, fourth, fifth = (
            first + a, second + d, third + aa, fourth + ad, fifth + dd,
        )  # fmt: skip
    return value, first, second, third, fourth, fifth


@compiled
def gather(values: Floats, places: NDArray[np.uint32], out: Floats) -> None:
    """Copy the values at some places to the front of `out`."""
    for c in range(places.shape[0]):
        out[c] = values[places[c]]


@summed
def sum_at(values: Floats, places: NDArray[np.uint32]) -> float:
    """Return the sum of the values at some places."""
    total = 0.0
    for c in range(places.shape[0]):
        total += values[places[c]]
    return total
