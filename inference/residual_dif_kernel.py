"""Kernels of the residual-DIF fit: arrays in, arrays out, one item at a time, in parallel.

Models are taken in blocks of one family: family f holds order[start[f]] to order[start[f + 1] - 1].
Items share no parameter, so that each is solved alone and threads change nothing.

A cell enters as its `odds` against a right answer from the offset alone, exp(-offset), so that no
exponential is left in the loops: p = 1/(1 + odds exp(-(b + delta))). Infinite odds are a missing
cell: p and p(1 - p) are then 0, and so is its share in `right`, the number of right answers. Both
are made item by item: a matrix of odds in the order of families would cost more than the fit.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]

MAX_NEWTON = 30
MAX_STEP = 2.0

# Sums may be reassociated, which lets them run in vector registers; infinities must stay as they are.
REASSOCIATE = {"reassoc", "contract"}


@numba.njit(cache=True)
def _read_item(
    answers: NDArray[np.int8],
    offset: Floats,
    order: NDArray[np.intp],
    start: NDArray[np.intp],
    odds: Floats,
    right: Floats,
) -> None:
    """Write the odds of an item and its right answers by family."""
    for f in range(len(start) - 1):
        count = 0
        for m in range(start[f], start[f + 1]):
            model = order[m]
            answer = answers[model]
            odds[m] = math.exp(-offset[model]) if answer >= 0 else math.inf
            count += answer == 1
        right[f] = count


@numba.njit(inline="never", fastmath=REASSOCIATE, cache=True)
def _sums(odds: Floats, first: int, last: int, shift: float) -> tuple[float, float]:
    """Return the sums of p and of p(1 - p) over a block of one item."""
    factor = math.exp(-shift)
    total = 0.0
    information = 0.0
    for m in range(first, last):
        p = 1.0 / (1.0 + odds[m] * factor)
        total += p
        information += p * (1.0 - p)
    return total, information


@numba.njit(parallel=True, cache=True)
def joint_newton(
    values: NDArray[np.int8],
    offset: Floats,
    rows: NDArray[np.intp],
    order: NDArray[np.intp],
    start: NDArray[np.intp],
    easiness: Floats,
    effects: Floats,
    penalty: float,
    tolerance: float,
    max_iteration: int,
) -> tuple[NDArray[np.int64], Floats]:
    """Minimise P0, eq 3 for every item in place; return iterations and last updates.

    The Hessian of (b, delta) is an arrow: a diagonal block for delta, bordered by b. The step
    length log(1 + r)/r, with r the largest change of a logit under the full step, decreases a
    logistic loss for certain (Bach 2010, Electronic Journal of Statistics 4, 384-414,
    doi:10.1214/09-EJS521: third derivatives are bounded by second ones), and tends to 1.
    """
    n_item = len(rows)
    n_family = len(start) - 1
    iterations = np.zeros(n_item, dtype=np.int64)
    last = np.full(n_item, np.inf)
    for i in numba.prange(n_item):
        odds = np.empty(len(order))
        right = np.empty(n_family)
        _read_item(values[rows[i]], offset[rows[i]], order, start, odds, right)
        b = easiness[i]
        delta = effects[i].copy()
        gradient = np.empty(n_family)
        information = np.empty(n_family)
        for iteration in range(max_iteration):
            schur = 0.0
            reduced = 0.0
            for f in range(n_family):
                total, h = _sums(odds, start[f], start[f + 1], b + delta[f])
                g = right[f] - total
                gradient[f] = g - penalty * delta[f]
                information[f] = h + penalty
                # of b after delta is eliminated: the likelihood's score is gradient + penalty*delta
                schur += h * penalty / information[f]
                reduced += g - h * gradient[f] / information[f]
            step_b = reduced / schur
            largest = 0.0
            change = abs(step_b)
            for f in range(n_family):
                step = (gradient[f] - (information[f] - penalty) * step_b) / information[f]
                gradient[f] = step
                largest = max(largest, abs(step_b + step))
                change = max(change, abs(step))
            length = math.log1p(largest) / largest if largest > 0.0 else 1.0
            b += length * step_b
            for f in range(n_family):
                delta[f] += length * gradient[f]
            iterations[i] = iteration + 1
            last[i] = change
            if change < tolerance:
                break
        mean = 0.0
        for f in range(n_family):
            mean += delta[f]
        mean /= n_family
        easiness[i] = b + mean
        for f in range(n_family):
            effects[i, f] = delta[f] - mean
    return iterations, last


@numba.njit(parallel=True, cache=True)
def alternating_cycles(
    values: NDArray[np.int8],
    offset: Floats,
    rows: NDArray[np.intp],
    order: NDArray[np.intp],
    start: NDArray[np.intp],
    easiness: Floats,
    effects: Floats,
    penalty: float,
    tolerance: float,
    cycles: int,
) -> tuple[NDArray[np.int64], Floats]:
    """Run the printed alternation of P0, eqs 27-33 in place; return cycles and last updates."""
    n_item = len(rows)
    n_family = len(start) - 1
    done = np.zeros(n_item, dtype=np.int64)
    last = np.full(n_item, np.inf)
    for i in numba.prange(n_item):
        odds = np.empty(len(order))
        right = np.empty(n_family)
        _read_item(values[rows[i]], offset[rows[i]], order, start, odds, right)
        b = easiness[i]
        delta = effects[i].copy()
        for cycle in range(cycles):
            for _ in range(MAX_NEWTON):
                g = 0.0
                h = 0.0
                for f in range(n_family):
                    total, h_f = _sums(odds, start[f], start[f + 1], b + delta[f])
                    g += right[f] - total
                    h += h_f
                step = min(max(g / (h + 1e-9), -MAX_STEP), MAX_STEP)
                b += step
                if abs(step) < tolerance:
                    break
            largest = 0.0
            for f in range(n_family):
                before = delta[f]
                for _ in range(MAX_NEWTON):
                    total, h = _sums(odds, start[f], start[f + 1], b + delta[f])
                    step = (right[f] - total - penalty * delta[f]) / (h + penalty)
                    step = min(max(step, -MAX_STEP), MAX_STEP)
                    delta[f] += step
                    if abs(step) < tolerance:
                        break
                largest = max(largest, abs(delta[f] - before))
            mean = 0.0
            for f in range(n_family):
                mean += delta[f]
            mean /= n_family
            b += mean
            for f in range(n_family):
                delta[f] -= mean
            done[i] = cycle + 1
            last[i] = largest
            if largest < tolerance:
                break
        easiness[i] = b
        effects[i] = delta
    return done, last
