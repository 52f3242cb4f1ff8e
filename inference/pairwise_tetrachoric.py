"""Tetrachoric correlation of every pair of right/wrong items, averaged for each item."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from neartie.inference.pair_sums import means
from neartie.inference.pairwise_bits import compiled, count_common, in_row_blocks, pack_rows

# Gauss-Legendre rule on (-1, 1). A long way is taken in pieces that halve toward the larger
# correlation, where the integrand turns sharply if that is near one; a short Newton step is one.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)
NODES.flags.writeable = WEIGHTS.flags.writeable = False
ANGLE_TOLERANCE = 1e-11
PIECES = 5
SHORT_STEP = 0.02
MAX_STEPS = 60
BLOCK = 64


@compiled
def normal_quantile(probability: float) -> float:
    """Return the standard normal quantile of a probability inside (0, 1)."""
    tail = min(probability, 1.0 - probability)
    t = math.sqrt(-2.0 * math.log(tail))
    # A rational start (Abramowitz and Stegun 26.2.23), good to 5e-4, then Halley's method.
    x = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (
        1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))
    )
    for _ in range(3):
        error = 0.5 * math.erfc(x / math.sqrt(2.0)) - tail
        step = error * math.sqrt(2.0 * math.pi) * math.exp(0.5 * x * x)
        x += step / (1.0 - 0.5 * x * step)
    return x if probability > 0.5 else -x


@compiled
def _quadrant_piece(
    h: float,
    k: float,
    start: float,
    stop: float,
    nodes: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> float:
    """Return the change of P(X < h, Y < k) as the correlation goes from sin start to sin stop."""
    centre, half, total = 0.5 * (start + stop), 0.5 * (stop - start), 0.0
    for t in range(nodes.shape[0]):
        angle = centre + half * nodes[t]
        cosine = math.cos(angle)
        power = (h * h + k * k - 2.0 * h * k * math.sin(angle)) / (2.0 * cosine * cosine)
        total += weights[t] * math.exp(-power)
    return total * half / (2.0 * math.pi)


@compiled
def _quadrant_change(
    h: float,
    k: float,
    start: float,
    stop: float,
    nodes: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> float:
    """Return what `_quadrant_piece` does, in pieces where the way is long."""
    if abs(stop - start) < SHORT_STEP:
        return _quadrant_piece(h, k, start, stop, nodes, weights)
    if abs(start) > abs(stop):
        return -_quadrant_change(h, k, stop, start, nodes, weights)
    total, reached = 0.0, start
    for piece in range(PIECES):
        following = 0.5 * (reached + stop) if piece + 1 < PIECES else stop
        total += _quadrant_piece(h, k, reached, following, nodes, weights)
        reached = following
    return total


@compiled
def tetrachoric_of_counts(
    both: float,
    first: float,
    second: float,
    neither: float,
    nodes: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> float:
    """Return the tetrachoric correlation of a two-by-two table without empty margins.

    Parameters
    ----------
    both, first, second, neither : float, count
        Right on both items, on the first alone, on the second alone, on neither. A cell of
        zero counts as one half.
    nodes, weights : (n_node,) float
        Gauss-Legendre rule.

    Returns
    -------
    float in (-1, 1)

    Notes
    -----
    The thresholds are those of the margins; given them, the likelihood is largest where the
    probability of the cell `both` is its share. With the correlation written sin(angle), the
    derivative of the probability is smooth up to a correlation of one, and Newton's method on the
    angle starts from the one of Pearson's cosine approximation.

    References
    ----------
    Pearson (1900), Philosophical Transactions A 195, 1-47. doi:10.1098/rsta.1900.0022
    """
    both, first = both if both > 0.0 else 0.5, first if first > 0.0 else 0.5
    second, neither = second if second > 0.0 else 0.5, neither if neither > 0.0 else 0.5
    n = both + first + second + neither
    p, q, target = (both + first) / n, (both + second) / n, both / n
    h, k = normal_quantile(p), normal_quantile(q)
    concordant, discordant = math.sqrt(both * neither), math.sqrt(first * second)
    low, high = -0.5 * math.pi, 0.5 * math.pi
    angle = 0.5 * math.pi * (concordant - discordant) / (concordant + discordant)
    error = p * q + _quadrant_change(h, k, 0.0, angle, nodes, weights) - target
    for _ in range(MAX_STEPS):
        if error > 0.0:
            high = angle
        else:
            low = angle
        cosine = math.cos(angle)
        power = (h * h + k * k - 2.0 * h * k * math.sin(angle)) / (2.0 * cosine * cosine)
        slope = math.exp(-power) / (2.0 * math.pi)
        following = angle - error / slope if slope > 0.0 else 0.5 * (low + high)
        if not low < following < high:
            following = 0.5 * (low + high)
        error += _quadrant_change(h, k, angle, following, nodes, weights)
        moved = abs(following - angle)
        angle = following
        if moved < ANGLE_TOLERANCE:
            break
    return math.sin(angle)


@compiled
def _sum_rows(
    start: int,
    stop: int,
    n_model: int,
    right: NDArray[np.uint64],
    observed: NDArray[np.uint64],
    n_right: NDArray[np.int64],
    neighbours: NDArray[np.int64],
    nodes: NDArray[np.float64],
    weights: NDArray[np.float64],
    sums: NDArray[np.float64],
    n_pairs: NDArray[np.int64],
) -> None:
    chosen = neighbours.shape[0] > 0
    for i in range(start, stop):
        for t in range(neighbours.shape[1] if chosen else i):
            j = neighbours[i, t] if chosen else t
            n, a, b = n_model, n_right[i], n_right[j]
            if observed.shape[0]:
                n = count_common(observed, i, observed, j)
                a = count_common(right, i, observed, j)
                b = count_common(observed, i, right, j)
            if j == i or a == 0 or a == n or b == 0 or b == n:
                continue
            both = count_common(right, i, right, j)
            cells = (float(both), float(a - both), float(b - both), float(n - a - b + both))
            value = tetrachoric_of_counts(*cells, nodes, weights)
            sums[i] += value
            n_pairs[i] += 1
            if not chosen:
                sums[j] += value
                n_pairs[j] += 1


def mean_tetrachoric(
    right: NDArray[np.bool_],
    observed: NDArray[np.bool_],
    *,
    neighbours: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Return the mean tetrachoric correlation of each item with its partners.

    Parameters
    ----------
    right, observed : (n_item, n_model) bool
        Right answers, and where there is an answer.
    neighbours : (n_item, n_neighbour) int, optional
        Partners of each item; all other items when left out.

    Returns
    -------
    (n_item,) float in (-1, 1)
        NaN where no pair has two items that vary.

    Examples
    --------
    >>> right = np.array([[1, 1, 0, 0, 1, 0], [1, 1, 0, 0, 0, 1]], dtype=bool)
    >>> mean_tetrachoric(right, np.ones((2, 6), dtype=bool)).round(4)
    array([0.5, 0.5])
    """
    n_item, n_model = right.shape
    seen = np.zeros((0, 0), dtype=np.uint64) if observed.all() else pack_rows(observed)
    partners = np.zeros((0, 0), dtype=np.int64) if neighbours is None else neighbours
    # One row of sums for each block of items, added in their order: the coefficient is the same
    # from either side, so each pair is solved once, and the answer is the same on any machine.
    n_block = -(-n_item // BLOCK)
    sums, n_pairs = np.zeros((n_block, n_item)), np.zeros((n_block, n_item), dtype=np.int64)
    data = (pack_rows(right), seen, right.sum(axis=1, dtype=np.int64), partners, NODES, WEIGHTS)

    def work(start: int, stop: int) -> None:
        block = start // BLOCK
        _sum_rows(start, stop, n_model, *data, sums[block], n_pairs[block])

    in_row_blocks(work, n_item, block=BLOCK)
    return means(sums.sum(axis=0), n_pairs.sum(axis=0))
