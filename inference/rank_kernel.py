"""Kernels of ranks over draws: who stands where in each draw, and how each pair compares.

Arrays in, arrays out. The first kernel takes draws by rows, the others models by rows, so that the
inner loops run over memory that lies side by side. Nothing here grows with draws x pairs: a pair
is done with before the next one begins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]
type Positions = NDArray[np.int32]


def _summed[F: Callable[..., Any]](function: F) -> F:
    """Return the function compiled as `compiled` does, with sums in the order that is quickest.

    That order is fixed by the machine code, so that the same draws give the same sums; only
    additions are re-ordered and joined with products, infinite values and NaN keep their meaning.
    """
    compile_it = njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
    return cast(F, compile_it(function))


@compiled
def place_models(draws: Floats, first: Positions, last: Positions, mass: Floats) -> None:
    """Find the positions that each model holds in each draw, and add them up.

    Parameters
    ----------
    draws : (n_draw, n_model) float
        Higher is better.
    first, last : (n_draw, n_model) int32
        Filled: number of models strictly above, and that number plus those tied, itself left
        out; both count from 0 and are equal without ties.
    mass : (n_model, n_model) float, draws
        Grows: of model i at position r. A model in a tie of m has 1/m of a draw at each of the m
        positions, which is what breaking ties at random would give on average.
    """
    n_draw, n_model = draws.shape
    for s in range(n_draw):
        order = np.argsort(-draws[s])
        start = 0
        while start < n_model:
            stop = start + 1
            while stop < n_model and draws[s, order[stop]] == draws[s, order[start]]:
                stop += 1
            share = 1.0 / (stop - start)
            for p in range(start, stop):
                model = order[p]
                first[s, model] = start
                last[s, model] = stop - 1
                for r in range(start, stop):
                    mass[model, r] += share
            start = stop


@compiled
def select(values: Floats, length: int, k: int) -> float:
    """Return the k-th smallest (from 0) of the first `length` values, which it reorders.

    Afterwards no value before k exceeds it, and no value behind it is smaller.
    """
    low, high = 0, length - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break
    return float(values[k])


@compiled
def interpolate(values: Floats, length: int, position: float, low: bool) -> float:
    """Return an order statistic, counted from either end, interpolated as `numpy.quantile` does.

    Parameters
    ----------
    values : (n,) float
        Reordered.
    length : int
        How many of them to use, at least two behind `position`, or all there are.
    position : float
        Place from 0, not whole in general; the smallest is 0 if `low`, else the largest.
    low : bool
    """
    whole = int(np.floor(position))
    share = position - whole
    if low:
        here = select(values, length, whole)
        if share == 0.0:
            return here
        behind = float(values[whole + 1])
        for p in range(whole + 2, length):
            behind = min(behind, values[p])
        return float(here + share * (behind - here))
    place = length - 1 - whole
    here = select(values, length, place)
    if share == 0.0:
        return here
    behind = float(values[place - 1])
    for p in range(place - 1):
        behind = max(behind, values[p])
    return float(here + share * (behind - here))


@_summed
def compare_rows(
    values: Floats,
    start: int,
    stop: int,
    share: float,
    z: float,
    counts: NDArray[np.int32],
    moments: Floats,
    limits: Floats,
    deviation: Floats,
) -> None:
    """Compare some models with all that stand behind them, over all draws.

    Parameters
    ----------
    values : (n_model, n_draw) float
    start, stop : int
        The models i to compare; each with every j > i.
    share : float in (0, 0.5)
        Of the draws that lie below the lower limit of an interval, and above the upper one.
    z : float
        How many standard deviations from the mean to look for the tails first. Few draws lie
        there, and to sort few is quick; where too few do, all are looked at. The answer does not
        depend on it.
    counts : (2, n_model, n_model) int32
        Filled at [:, i, j]: draws in which i is above j, and in which the two are tied.
    moments : (2, n_model, n_model) float
        Filled: mean of the difference i - j, and its standard deviation (ddof 1).
    limits : (2, n_model, n_model) float
        Filled: lower and upper limit of the central interval of the difference.
    deviation : (n_draw,) float
        Grows to the largest |difference - mean| / sd of a draw over these pairs. Pairs without
        variance do not count.
    """
    n_model, n_draw = values.shape
    gap, far = np.empty(n_draw), np.empty(n_draw)
    tails = np.empty((2, n_draw))
    position = share * (n_draw - 1)
    needed = int(np.floor(position)) + 2
    centre = np.empty(n_model)
    for i in range(start, n_model):
        centre[i] = values[i].sum() / n_draw
    tile = 8
    for above in range(start, stop, tile):
        # A row j serves several rows i while it is in the cache.
        for j in range(above + 1, n_model):
            for i in range(above, min(above + tile, stop, j)):
                mean = centre[i] - centre[j]
                n_above, n_tied, square = 0, 0, 0.0
                for s in range(n_draw):
                    difference = values[i, s] - values[j, s]
                    gap[s] = difference
                    n_above += difference > 0.0
                    n_tied += difference == 0.0
                    square += (difference - mean) ** 2
                sd = np.sqrt(square / max(n_draw - 1, 1))
                counts[0, i, j], counts[1, i, j] = n_above, n_tied
                moments[0, i, j], moments[1, i, j] = mean, sd
                n_far, limit = 0, z * sd
                # The index moves without a branch, since nothing could predict one.
                for s in range(n_draw):
                    far[n_far] = gap[s]
                    n_far += abs(gap[s] - mean) > limit
                n_low, n_high = 0, 0
                for p in range(n_far):
                    tails[0, n_low] = far[p]
                    tails[1, n_high] = far[p]
                    n_low += far[p] < mean
                    n_high += far[p] > mean
                if n_low < needed or n_high < needed:
                    n_low = n_high = n_draw
                    for s in range(n_draw):
                        tails[0, s] = tails[1, s] = gap[s]
                limits[0, i, j] = interpolate(tails[0], n_low, position, True)
                limits[1, i, j] = interpolate(tails[1], n_high, position, False)
                if sd > 1e-12 * abs(mean):
                    weight = 1.0 / sd
                    for s in range(n_draw):
                        deviation[s] = max(deviation[s], abs(gap[s] - mean) * weight)


@compiled
def largest_ratio(values: Floats, start: int, stop: int, weight: Floats, deviation: Floats) -> None:
    """Find the largest |x_i - x_j| * weight_ij of each draw, for some models i and every j > i.

    Parameters
    ----------
    values : (n_model, n_draw) float
    start, stop : int
    weight : (n_model, n_model) float
        One over the standard deviation of the difference; 0 leaves a pair out.
    deviation : (n_draw,) float
        Grows.
    """
    n_model, n_draw = values.shape
    tile = 8
    for above in range(start, stop, tile):
        for j in range(above + 1, n_model):
            for i in range(above, min(above + tile, stop, j)):
                w = weight[i, j]
                for s in range(n_draw):
                    deviation[s] = max(deviation[s], abs(values[i, s] - values[j, s]) * w)
