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
def _root(
    rate: Floats, start: NDArray[np.intp], level: Floats, penalty: float, root: Floats
) -> None:
    """Write the lower Cholesky factor of the second derivatives at the mode."""
    n_family = len(level)
    for f in range(n_family):
        information = 0.0
        factor = math.exp(level[f])
        for m in range(start[f], start[f + 1]):
            p = factor * rate[m] / (1.0 + factor * rate[m])
            information += p * (1.0 - p)
        for g in range(n_family):
            root[f, g] = -penalty / n_family
        root[f, f] += information + penalty
    for f in range(n_family):
        for g in range(f + 1):
            total = root[f, g]
            for h in range(g):
                total -= root[f, h] * root[g, h]
            root[f, g] = math.sqrt(total) if f == g else total / root[g, g]


@numba.njit(parallel=True, cache=True)
def independence_chains(
    values: NDArray[np.int8],
    offset: Floats,
    order: NDArray[np.intp],
    start: NDArray[np.intp],
    mode: Floats,
    penalty: float,
    noise: Floats,
    log_proposal: Floats,
    log_uniform: Floats,
    burn: int,
    draws: Floats,
) -> NDArray[np.int64]:
    """Fill in draws of every item's levels; return how many proposals each accepted.

    Proposals are the mode plus `noise`, (n_item, n_move, n_family), in units of the curvature;
    `log_proposal`, (n_item, n_move), is their log density there. The first proposal is where a
    chain starts, `burn` moves follow, and then equally many before each of the draws.
    """
    n_item, n_move, n_family = noise.shape
    n_draw = draws.shape[1]
    every = (n_move - 1 - burn) // n_draw
    accepted = np.zeros(n_item, dtype=np.int64)
    for i in numba.prange(n_item):
        rate = np.empty(len(order))
        right = np.empty(n_family)
        root = np.empty((n_family, n_family))
        largest = _read_item(values[i], offset[i], order, start, rate, right)
        _root(rate, start, mode[i], penalty, root)
        here = np.empty(n_family)
        ahead = np.empty(n_family)
        weight = -math.inf
        for move in range(n_move):
            for f in range(n_family - 1, -1, -1):
                total = noise[i, move, f]
                for g in range(f + 1, n_family):
                    total -= root[g, f] * ahead[g]
                ahead[f] = total / root[f, f]
            for f in range(n_family):
                ahead[f] += mode[i, f]
            reached = log_density(rate, largest, right, start, ahead, penalty)
            reached -= log_proposal[i, move]
            if move == 0 or log_uniform[i, move] < reached - weight:
                weight = reached
                accepted[i] += move > 0
                for f in range(n_family):
                    here[f] = ahead[f]
            done = move - burn
            if done > 0 and done % every == 0:
                for f in range(n_family):
                    draws[i, done // every - 1, f] = here[f]
    return accepted
