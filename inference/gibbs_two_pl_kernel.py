r"""Kernels of the 2PL's Gibbs sampler: all abilities given the items, all items given abilities.

Every unknown is drawn by Metropolis-Hastings from a t distribution around the mode of its
conditional, with the curvature there (Laplace's approximation with heavier tails). The mode is
sought by Newton's method from an *anchor*, which a chain holds fixed once it is tuned, and never from
the value at hand. So the proposal is a function of the conditional alone, however few steps are
taken, and its density is the same forth and back: what is drawn has exactly the conditional as its
distribution. Nothing depends on how close the search comes to the mode but the share of accepted
proposals.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neartie.inference.logistic_sums import (
    gather,
    line_derivatives,
    line_softplus_sum,
    softplus_sum,
    sum_at,
    value_derivatives,
)
from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]

# Degrees of freedom of proposals: tails above those of any conditional here, whose priors are
# normal, at the price of a few rejections. An even number makes them cheap to draw.
DF: Final = 8
# The mode is at hand when the next step is shorter than this, in standard deviations; one-
# dimensional searches then take it with the third derivative, the others as it is.
_NEAR: Final = 1.0
_NEAR_IN_TWO: Final = 0.2
MAX_STEPS: Final = 50
# A step is at most so long, in the unit of ability or logit.
_LONGEST: Final = 4.0
# The share of items that take a random step instead, which moves on from where the approximation
# is poor: conditionals of (log a, b) may be bent, and flat where answers are few.
WALK_SHARE: Final = 0.05
_WALK: Final = 1.7


# Log-likelihoods are differences of two sums; beyond this size of the sums rounding would decide. No
# such logits have any weight under priors that anybody means.
_LARGEST: Final = 1e9


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
def _inverse_scale(rng: np.random.Generator) -> float:
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
        following = v + max(-_LONGEST, min(_LONGEST, step))
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
    if not abs(total * v) + softplus < _LARGEST:
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
        proposed = mode + rng.standard_normal() * _inverse_scale(rng) / root
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


class ItemPrior(NamedTuple):
    """Normal priors of the two numbers of an item.

    Attributes
    ----------
    signed : bool
        Whether they are slope and intercept; otherwise log slope and difficulty, while the
        sampler moves in log slope and intercept, which are less dependent.
    first_mean, first_sd : float
        Of the slope or its log.
    second_mean, second_sd : float
        Of intercept or difficulty.
    """

    signed: bool
    first_mean: float
    first_sd: float
    second_mean: float
    second_sd: float


@compiled
def _slope(first: float, prior: ItemPrior) -> float:
    return first if prior.signed else math.exp(max(-300.0, min(300.0, first)))


@compiled
def item_log_prior(first: float, intercept: float, prior: ItemPrior) -> float:
    """Return the log prior density of (first, intercept), up to a constant."""
    z = (first - prior.first_mean) / prior.first_sd
    if prior.signed:
        return -0.5 * (z * z + ((intercept - prior.second_mean) / prior.second_sd) ** 2)
    # The difficulty is -d / a; its density in d has the factor 1 / a.
    difficulty = -intercept / _slope(first, prior)
    return -0.5 * (z * z + ((difficulty - prior.second_mean) / prior.second_sd) ** 2) - first


@compiled
def item_log_density(
    first: float, intercept: float, totals: tuple[float, float], ability: Floats, prior: ItemPrior
) -> tuple[float, float]:
    """Return log-likelihood and log prior density of an item, up to a constant, nat.

    Parameters are those of `item_derivatives`.
    """
    slope = _slope(first, prior)
    by_slope, by_intercept = totals[0] * slope, totals[1] * intercept
    softplus = line_softplus_sum(slope, intercept, ability)
    likelihood = by_slope + by_intercept - softplus
    if not abs(by_slope) + abs(by_intercept) + softplus < _LARGEST:
        likelihood = -np.inf
    return likelihood, item_log_prior(first, intercept, prior)


@compiled
def item_derivatives(
    first: float, intercept: float, totals: tuple[float, float], ability: Floats, prior: ItemPrior
) -> tuple[float, float, float, float, float, float]:
    """Return the log density of (first, intercept) given the abilities, gradient and curvature.

    Parameters
    ----------
    first, intercept : float
    totals : (float, float)
        Sum of the abilities of those who were right, and their number.
    ability : (n,) float
        Of all who answered.
    prior : ItemPrior

    Returns
    -------
    value, by_first, by_intercept, first_twice, both, intercept_twice : float
        The last three are minus the second derivatives; where these are not safely positive
        definite, what bends the other way is left out of them.
    """
    slope = _slope(first, prior)
    softplus, by_slope, by_intercept, twice, both, intercept_twice = line_derivatives(
        slope, intercept, ability
    )
    value = totals[0] * slope + totals[1] * intercept - softplus
    value += item_log_prior(first, intercept, prior)
    by_slope, by_intercept = totals[0] - by_slope, totals[1] - by_intercept
    precision = 1.0 / prior.second_sd**2
    by_first = (prior.first_mean - first) / prior.first_sd**2
    first_twice = 1.0 / prior.first_sd**2
    if prior.signed:
        by_intercept -= precision * (intercept - prior.second_mean)
        by_first, first_twice = by_first + by_slope, first_twice + twice
        return value, by_first, by_intercept, first_twice, both, intercept_twice + precision
    inverse = 1.0 / slope
    difficulty = -intercept * inverse
    pull = precision * (difficulty - prior.second_mean)
    by_first += slope * by_slope + pull * difficulty - 1.0
    by_intercept += pull * inverse
    first_twice += slope * slope * twice + precision * difficulty * difficulty
    both = slope * both + precision * difficulty * inverse
    intercept_twice += precision * inverse * inverse
    bent_first, bent_both = pull * difficulty - slope * by_slope, pull * inverse
    whole = first_twice + bent_first
    if whole > 0.2 * first_twice and whole * intercept_twice > 1.2 * (both + bent_both) ** 2:
        first_twice, both = whole, both + bent_both
    return value, by_first, by_intercept, first_twice, both, intercept_twice


@compiled
def _approximate_two(
    anchor: tuple[float, float], totals: tuple[float, float], ability: Floats, prior: ItemPrior
) -> tuple[float, float, float, float, float]:
    """Return mode and curvature of an item's (first, intercept) given the abilities.

    A step that leads down is halved; where the search does not end, its last point serves.
    """
    x, y = anchor
    value, g1, g2, h11, h12, h22 = item_derivatives(x, y, totals, ability, prior)
    for _ in range(MAX_STEPS):
        determinant = h11 * h22 - h12 * h12
        step_x = (h22 * g1 - h12 * g2) / determinant
        step_y = (h11 * g2 - h12 * g1) / determinant
        length = math.sqrt(max(step_x * g1 + step_y * g2, 0.0))
        if length < _NEAR_IN_TWO:
            return x + step_x, y + step_y, h11, h12, h22
        shrink = min(1.0, _LONGEST / max(abs(step_x), abs(step_y)))
        for _ in range(MAX_STEPS):
            new_x, new_y = x + shrink * step_x, y + shrink * step_y
            found = item_derivatives(new_x, new_y, totals, ability, prior)
            if found[0] >= value:
                break
            shrink *= 0.5
        x, y = new_x, new_y
        value, g1, g2, h11, h12, h22 = found
    return x, y, h11, h12, h22


@compiled
def draw_items(
    rng: np.random.Generator,
    first: Floats,
    intercept: Floats,
    anchor_first: Floats,
    anchor_intercept: Floats,
    ability: Floats,
    prior: ItemPrior,
    cells: Cells,
) -> tuple[int, float]:
    """Draw slope (or its log) and intercept of every item, in place.

    Parameters
    ----------
    rng : Generator
    first, intercept, anchor_first, anchor_intercept : (n_item,) float
    ability : (n_model,) float
    prior : ItemPrior
    cells : Cells
        Of the items.

    Returns
    -------
    n_accepted : int
    log_likelihood : float, nat
        Of all answers afterwards.
    """
    gathered = np.empty(ability.shape[0])
    n_accepted, log_likelihood = 0, 0.0
    for i in range(first.shape[0]):
        right = cells.right[cells.right_start[i] : cells.right_start[i + 1]]
        totals = (sum_at(ability, right), float(right.shape[0]))
        abilities = ability
        if not cells.complete:
            seen = cells.seen[cells.seen_start[i] : cells.seen_start[i + 1]]
            gather(ability, seen, gathered)
            abilities = gathered[: seen.shape[0]]
        anchor = (anchor_first[i], anchor_intercept[i])
        mode_x, mode_y, h11, h12, h22 = _approximate_two(anchor, totals, abilities, prior)
        # The curvature is L L'; solving with L' turns normal values into ones of its inverse.
        l11 = math.sqrt(h11)
        l21 = h12 / l11
        l22 = math.sqrt(h22 - l21 * l21)
        walks = rng.random() < WALK_SHARE
        scale = _WALK if walks else _inverse_scale(rng)
        step_y = scale * rng.standard_normal() / l22
        step_x = (scale * rng.standard_normal() - l21 * step_y) / l11
        x, y = first[i], intercept[i]
        new_x = step_x + (x if walks else mode_x)
        new_y = step_y + (y if walks else mode_y)
        here, old_prior = item_log_density(x, y, totals, abilities, prior)
        there, new_prior = item_log_density(new_x, new_y, totals, abilities, prior)
        ratio = there - here + new_prior - old_prior
        if not walks:
            back = (l11 * (x - mode_x) + l21 * (y - mode_y)) ** 2 + (l22 * (y - mode_y)) ** 2
            forth = (l11 * (new_x - mode_x) + l21 * step_y) ** 2 + (l22 * step_y) ** 2
            ratio += 0.5 * (DF + 2) * (math.log1p(forth / DF) - math.log1p(back / DF))
        if math.log(1.0 - rng.random()) < ratio:
            first[i], intercept[i], here = new_x, new_y, there
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
        if not abs(by_value) + abs(by_offset) + softplus < _LARGEST:
            return -np.inf
        result += by_value + by_offset - softplus
    return result
