r"""Kernels of the 2PL's Gibbs sampler: one unknown a unit, such as all abilities given the items.

Every unknown is drawn by Metropolis-Hastings from a t distribution around the mode of its
conditional, with the curvature there (Laplace's approximation with heavier tails). The mode is
sought by Newton's method from an *anchor*, which a chain holds fixed once it is tuned, and never from
the value at hand. So the proposal is a function of the conditional alone, however few steps are
taken, and its density is the same forth and back: what is drawn has exactly the conditional as its
distribution. Nothing depends on how close the search comes to the mode but the share of accepted
proposals. Items, of two unknowns each: `neartie.inference.gibbs_two_pl_items`.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neartie.inference.logistic_sums import (
    gather,
    softplus_sum,
    sum_at,
    value_derivatives,
)
from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]

# Degrees of freedom of proposals: tails above those of any conditional here, whose priors are
# normal, at the price of a few rejections. An even number makes them cheap to draw.
DF: Final = 8
# The mode is at hand when the next step is shorter than this, in standard deviations; it is then
# taken with the third derivative.
_NEAR: Final = 1.0
MAX_STEPS: Final = 50
# A step is at most so long, in the unit of ability or logit.
LONGEST: Final = 4.0


# Log-likelihoods are differences of two sums; beyond this size of the sums rounding would decide. No
# such logits have any weight under priors that anybody means.
LARGEST: Final = 1e9


class Cells(NamedTuple):
    """The answers of each of many units, models or items.

    Attributes
    ----------
    complete : bool
        Whether every unit has all answers; `seen` is then left empty.
    right_start, seen_start : (n_unit + 1,) int
        Where a unit's entries begin.
    right, seen : (n,) uint32
        Positions on the other side: of its right answers, and of all its answers.
    """

    complete: bool
    right_start: NDArray[np.int64]
    right: NDArray[np.uint32]
    seen_start: NDArray[np.int64]
    seen: NDArray[np.uint32]


@compiled
def inverse_scale(rng: np.random.Generator) -> float:
    """Return the root of DF over a chi-square value of DF degrees: a normal value times it is t."""
    product = 1.0
    for _ in range(DF // 2):
        product *= 1.0 - rng.random()
    return math.sqrt(0.5 * DF / -math.log(product))


@compiled
def _approximate_one(
    anchor: float, total: float, slope: Floats, offset: Floats, mean: float, precision: float
) -> tuple[float, float]:
    r"""Return mode and curvature of :math:`vT - \sum\log(1+e^{a_cv+d_c}) - \tau(v-\mu)^2/2`.

    The density is log-concave: the mode lies between points whose slopes differ in sign.
    """
    v, low, high, curvature = anchor, -np.inf, np.inf, precision
    for _ in range(MAX_STEPS):
        first, second, third = value_derivatives(v, slope, offset)
        gradient = total - first - precision * (v - mean)
        curvature = second + precision
        step = gradient / curvature
        if abs(step) * math.sqrt(curvature) < _NEAR:
            # To the next order: the slope of curvature is `third`.
            bend = step * third / curvature
            step *= 1.0 - 0.5 * max(-0.5, min(0.5, bend))
            return v + step, curvature * (1.0 + max(-0.5, min(0.5, step * third / curvature)))
        if gradient > 0.0:
            low = v
        else:
            high = v
        following = v + max(-LONGEST, min(LONGEST, step))
        v = following if low < following < high else 0.5 * (low + high)
    return v, curvature


@compiled
def value_log_density(
    v: float, total: float, slope: Floats, offset: Floats, mean: float, precision: float
) -> tuple[float, float]:
    """Return log-likelihood and log prior density of a unit's value, up to constants, nat.

    The likelihood is taken as zero where rounding would decide on it.

    Parameters
    ----------
    v : float
    total : float
        Sum of the slopes of the answers that were right.
    slope, offset : (n,) float
        Of all answers.
    mean, precision : float
        Of the normal prior.
    """
    softplus = softplus_sum(v, slope, offset)
    likelihood = total * v - softplus
    if not abs(total * v) + softplus < LARGEST:
        likelihood = -np.inf
    return likelihood, -0.5 * precision * (v - mean) ** 2


@compiled
def draw_values(
    rng: np.random.Generator,
    value: Floats,
    anchor: Floats,
    slope: Floats,
    offset: Floats,
    mean: Floats,
    precision: float,
    cells: Cells,
) -> tuple[int, float]:
    r"""Draw one unknown a unit, in place: logits are slope times value plus offset.

    Parameters
    ----------
    rng : Generator
    value, anchor : (n_unit,) float
    slope, offset : (n_other,) float
        Abilities have those of the items; easiness, where slopes are 1, has the abilities as
        offset.
    mean : (n_unit,) float
        Of the normal prior.
    precision : float
        Of the normal prior.
    cells : Cells

    Returns
    -------
    n_accepted : int
    log_likelihood : float, nat
        Of all answers afterwards, without the part :math:`\sum x d` that offsets add.
    """
    a, d = np.empty(slope.shape[0]), np.empty(slope.shape[0])
    n_accepted, log_likelihood = 0, 0.0
    for u in range(value.shape[0]):
        right = cells.right[cells.right_start[u] : cells.right_start[u + 1]]
        total = sum_at(slope, right)
        n = slope.shape[0]
        if not cells.complete:
            seen = cells.seen[cells.seen_start[u] : cells.seen_start[u + 1]]
            n = seen.shape[0]
            gather(slope, seen, a)
            gather(offset, seen, d)
        slopes, offsets = (slope, offset) if cells.complete else (a[:n], d[:n])
        mode, curvature = _approximate_one(anchor[u], total, slopes, offsets, mean[u], precision)
        root = math.sqrt(curvature)
        current = value[u]
        proposed = mode + rng.standard_normal() * inverse_scale(rng) / root
        here, prior = value_log_density(current, total, slopes, offsets, mean[u], precision)
        there, new_prior = value_log_density(proposed, total, slopes, offsets, mean[u], precision)
        back = math.log1p((root * (current - mode)) ** 2 / DF)
        forth = math.log1p((root * (proposed - mode)) ** 2 / DF)
        ratio = there - here + new_prior - prior + 0.5 * (DF + 1) * (forth - back)
        if math.log(1.0 - rng.random()) < ratio:
            value[u] = proposed
            here = there
            n_accepted += 1
        log_likelihood += here
    return n_accepted, log_likelihood


@compiled
def log_likelihood_along(
    value: Floats, slope: Floats, offset: Floats, units: NDArray[np.intp], cells: Cells
) -> float:
    """Return the log-likelihood of the answers of some units, nat; -inf where it is lost in rounding.

    Parameters
    ----------
    value : (n_unit,) float
    slope, offset : (n_other,) float
        The logits are slope times value plus offset.
    units : (n,) int
    cells : Cells
        Of the units.
    """
    a, d = np.empty(slope.shape[0]), np.empty(slope.shape[0])
    result = 0.0
    for u in units:
        right = cells.right[cells.right_start[u] : cells.right_start[u + 1]]
        by_value, by_offset = value[u] * sum_at(slope, right), sum_at(offset, right)
        if cells.complete:
            softplus = softplus_sum(value[u], slope, offset)
        else:
            seen = cells.seen[cells.seen_start[u] : cells.seen_start[u + 1]]
            gather(slope, seen, a)
            gather(offset, seen, d)
            softplus = softplus_sum(value[u], a[: seen.shape[0]], d[: seen.shape[0]])
        if not abs(by_value) + abs(by_offset) + softplus < LARGEST:
            return -np.inf
        result += by_value + by_offset - softplus
    return result
