"""Kernel of the draws of residual DIF: independence chains, one an item, all items in parallel.

Parameters of an item are its families' levels, easiness plus effect: in these the likelihood is a
sum over families, and the flat prior of the easiness and the normal one of the effects are together
penalty/2 times the squares of the levels around their mean.

All random numbers come from outside, by item, so that no thread and no other item changes a draw.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]

# Sums and products may be reassociated, which lets them run in vector registers.
REASSOCIATE = {"reassoc", "contract"}
# Share of proposals that are wider along an item's skewness, and how much wider for each unit of it:
# then no ratio of densities was above 3 for items with one right answer, where normal tails gave 150.
WIDE = 0.25
WIDENING = 2.5
# Largest logarithm of a product that is still a double, with room for rounding.
MOST = 690.0


@numba.njit(inline="never", fastmath=REASSOCIATE, cache=True)
def _log_factors(rate: Floats, first: int, last: int, factor: float, block: int) -> float:
    """Return the sum of log(1 + factor rate), with one logarithm for a block of factors."""
    total = 0.0
    while first < last:
        end = min(first + block, last)
        product = 1.0
        for m in range(first, end):
            product *= 1.0 + factor * rate[m]
        total += math.log(product)
        first = end
    return total


@numba.njit(cache=True)
def log_density(
    rate: Floats,
    largest: float,
    right: Floats,
    start: NDArray[np.intp],
    level: Floats,
    penalty: float,
) -> float:
    """Return the log posterior density of an item's levels, up to a constant.

    `rate` is exp(offset) in the order of families, 0 where there is no answer; `largest` the largest
    offset; `right` the number of right answers by family, whose models are start[f] to start[f + 1].
    """
    n_family = len(level)
    mean = 0.0
    for f in range(n_family):
        mean += level[f]
    mean /= n_family
    total = 0.0
    for f in range(n_family):
        # each factor is at most 1 + exp(level + largest)
        block = int(MOST / (max(level[f] + largest, 0.0) + math.log(2.0)))
        if block < 1:
            return -math.inf
        total += right[f] * level[f] - 0.5 * penalty * (level[f] - mean) ** 2
        total -= _log_factors(rate, start[f], start[f + 1], math.exp(level[f]), block)
    return total


@numba.njit(cache=True)
def _read_item(
    answers: NDArray[np.int8],
    offset: Floats,
    order: NDArray[np.intp],
    start: NDArray[np.intp],
    rate: Floats,
    right: Floats,
) -> float:
    """Write exp(offset) of an item and its right answers by family; return the largest offset.

    A missing cell has the rate 0: its factor is 1 and it counts nowhere.
    """
    largest = -math.inf
    for f in range(len(start) - 1):
        count = 0
        for m in range(start[f], start[f + 1]):
            model = order[m]
            rate[m] = 0.0
            if answers[model] >= 0:
                rate[m] = math.exp(offset[model])
                largest = max(largest, offset[model])
            count += answers[model] == 1
        right[f] = count
    return largest


@numba.njit(cache=True)
def _curvature(
    rate: Floats,
    start: NDArray[np.intp],
    mode: Floats,
    penalty: float,
    root: Floats,
    centre: Floats,
    axis: Floats,
) -> float:
    """Write what the proposals are made of; return their skewness.

    `root` is the lower Cholesky factor L of the second derivatives at the mode, `centre` the mean to
    third order, mode + C k/2 with C their inverse and k the third derivatives times the variances.
    `axis` is the unit vector along L'(centre - mode), whose length is the skewness.
    """
    n_family = len(mode)
    third = np.empty(n_family)
    for f in range(n_family):
        information = 0.0
        third[f] = 0.0
        factor = math.exp(mode[f])
        for m in range(start[f], start[f + 1]):
            p = factor * rate[m] / (1.0 + factor * rate[m])
            information += p * (1.0 - p)
            third[f] -= p * (1.0 - p) * (1.0 - 2.0 * p)
        for g in range(n_family):
            root[f, g] = -penalty / n_family
        root[f, f] += information + penalty
    for f in range(n_family):
        for g in range(f + 1):
            total = root[f, g]
            for h in range(g):
                total -= root[f, h] * root[g, h]
            root[f, g] = math.sqrt(total) if f == g else total / root[g, g]
    inverse = np.zeros((n_family, n_family))
    for g in range(n_family):
        for f in range(g, n_family):
            total = 1.0 if f == g else 0.0
            for h in range(g, f):
                total -= root[f, h] * inverse[h, g]
            inverse[f, g] = total / root[f, f]
    # L'(centre - mode) is the inverse of L times k/2
    skewness = 0.0
    for f in range(n_family):
        axis[f] = 0.0
    for g in range(n_family):
        variance = 0.0
        for f in range(g, n_family):
            variance += inverse[f, g] ** 2
        for f in range(g, n_family):
            axis[f] += 0.5 * inverse[f, g] * third[g] * variance
    for f in range(n_family):
        skewness += axis[f] ** 2
        centre[f] = mode[f]
    for f in range(n_family):
        for g in range(f + 1):
            centre[g] += inverse[f, g] * axis[f]
    skewness = math.sqrt(skewness)
    for f in range(n_family):
        axis[f] /= max(skewness, 1e-300)
    return skewness


@numba.njit(cache=True)
def _propose(
    normal: Floats,
    stretch: float,
    is_wide: bool,
    freedom: float,
    width: float,
    root: Floats,
    centre: Floats,
    axis: Floats,
    ahead: Floats,
) -> float:
    """Write a proposal; return its log density, up to a constant."""
    n_family = len(normal)
    along = 0.0
    squares = 0.0
    for f in range(n_family):
        ahead[f] = normal[f] * stretch
        along += ahead[f] * axis[f]
        squares += ahead[f] ** 2
    if is_wide:
        for f in range(n_family):
            ahead[f] += (width - 1.0) * along * axis[f]
        squares += (width**2 - 1.0) * along**2
        along *= width
    narrow = -0.5 * (freedom + n_family) * math.log1p(squares / freedom)
    squares -= (1.0 - width**-2.0) * along**2
    wide = -0.5 * (freedom + n_family) * math.log1p(squares / freedom) - math.log(width)
    for f in range(n_family - 1, -1, -1):
        total = ahead[f]
        for g in range(f + 1, n_family):
            total -= root[g, f] * ahead[g]
        ahead[f] = total / root[f, f]
    for f in range(n_family):
        ahead[f] += centre[f]
    most = max(narrow, wide)
    mixture = (1.0 - WIDE) * math.exp(narrow - most) + WIDE * math.exp(wide - most)
    return most + math.log(mixture)


@numba.njit(parallel=True, cache=True)
def independence_chains(
    values: NDArray[np.int8],
    offset: Floats,
    order: NDArray[np.intp],
    start: NDArray[np.intp],
    mode: Floats,
    penalty: float,
    normal: Floats,
    stretch: Floats,
    uniform: Floats,
    freedom: float,
    burn: int,
    draws: Floats,
    heaviest: Floats,
) -> NDArray[np.int64]:
    """Fill in draws of every item's levels; return how many proposals each accepted.

    Random numbers are by item and move: standard normal ones, (n_item, n_move, n_family); what
    makes them those of a t distribution; and two uniform ones, (n_item, n_move, 2). The first
    proposal is where a chain starts, `burn` moves follow, and then equally many before each of
    the draws, (n_item, n_draw, n_family). `heaviest` is filled with the largest ratio of posterior
    and proposal density found, both normalised.
    """
    n_item, n_move, n_family = normal.shape
    n_draw = draws.shape[1]
    every = (n_move - 1 - burn) // n_draw
    accepted = np.zeros(n_item, dtype=np.int64)
    for i in numba.prange(n_item):
        rate = np.empty(len(order))
        right = np.empty(n_family)
        root = np.empty((n_family, n_family))
        centre = np.empty(n_family)
        axis = np.empty(n_family)
        here = np.empty(n_family)
        ahead = np.empty(n_family)
        largest = _read_item(values[i], offset[i], order, start, rate, right)
        skewness = _curvature(rate, start, mode[i], penalty, root, centre, axis)
        width = 1.0 + WIDENING * skewness
        weight = most = -math.inf
        total = 0.0
        for move in range(n_move):
            reached = -_propose(
                normal[i, move],
                stretch[i, move],
                uniform[i, move, 0] < WIDE,
                freedom,
                width,
                root,
                centre,
                axis,
                ahead,
            )
            reached += log_density(rate, largest, right, start, ahead, penalty)
            if reached > most:
                total *= math.exp(most - reached)
                most = reached
            total += math.exp(reached - most)
            # the logarithm of a number in (0, 1]
            if move == 0 or math.log1p(-uniform[i, move, 1]) < reached - weight:
                weight = reached
                accepted[i] += move > 0
                for f in range(n_family):
                    here[f] = ahead[f]
            done = move - burn
            if done > 0 and done % every == 0:
                for f in range(n_family):
                    draws[i, done // every - 1, f] = here[f]
        heaviest[i] = n_move / total
    return accepted
