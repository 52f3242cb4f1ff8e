"""Kernels of the 2PL's Gibbs sampler: slope and intercept of every item given the abilities.

As in `neartie.inference.gibbs_two_pl_kernel`, in two dimensions.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_two_pl_kernel import (
    DF,
    LARGEST,
    LONGEST,
    MAX_STEPS,
    Cells,
    inverse_scale,
)
from neartie.inference.logistic_sums import gather, line_derivatives, line_softplus_sum, sum_at
from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]

# The mode is at hand when the next step, which is still taken, is shorter than this, in standard
# deviations.
_NEAR: Final = 0.2
# The share of items that take a random step instead, which moves on from where the approximation
# is poor: conditionals of (log a, b) may be bent, and flat where answers are few.
WALK_SHARE: Final = 0.05
_WALK: Final = 1.7


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
    if not abs(by_slope) + abs(by_intercept) + softplus < LARGEST:
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
        if length < _NEAR:
            return x + step_x, y + step_y, h11, h12, h22
        shrink = min(1.0, LONGEST / max(abs(step_x), abs(step_y)))
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
        scale = _WALK if walks else inverse_scale(rng)
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
