"""Signed isotonic R² and its companions for every pair of graded items, summed for each item."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from neartie.inference.isotonic import explained_by, signed_r2
from neartie.inference.pair_sums import PairSums, sum_pairs
from neartie.inference.pairwise_bits import compiled
from neartie.inference.pairwise_graded import (
    concordance,
    entropy_sum,
    joint_entropy_sum,
    level_codes,
    nested_product,
)

#: What is summed over the pairs of an item, in the order of the columns of `PairSums.sums`:
#: `predictor` is the signed isotonic R² of the partner explained by the item, `outcome` that of
#: the item explained by the partner.
GRADED_STATISTICS: Final = (
    "predictor",
    "outcome",
    "covariance",
    "variance_product",
    "largest_covariance",
    "phi",
    "mi",
    "u_sym",
)


@compiled
def _count_levels(
    x: NDArray[np.int32],
    y: NDArray[np.int32],
    count_x: NDArray[np.float64],
    count_y: NDArray[np.float64],
) -> int:
    """Fill the margins over the models that answered both, and return their number."""
    count_x[:] = 0.0
    count_y[:] = 0.0
    n = 0
    for m in range(x.shape[0]):
        if x[m] >= 0 and y[m] >= 0:
            count_x[x[m]] += 1.0
            count_y[y[m]] += 1.0
            n += 1
    return n


@compiled
def _mean_and_variation(
    count: NDArray[np.float64], levels: NDArray[np.float64], n: int
) -> tuple[float, float]:
    """Return the mean and the sum of squared deviations; the latter exactly 0 for one level."""
    mean, n_used = 0.0, 0
    for k in range(count.shape[0]):
        if count[k] > 0.0:
            mean += count[k] * levels[k] / n
            n_used += 1
    variation = 0.0
    if n_used > 1:
        for k in range(count.shape[0]):
            if count[k] > 0.0:
                variation += count[k] * (levels[k] - mean) ** 2
    return mean, variation


@compiled
def _sum_on_levels(
    x: NDArray[np.int32],
    y: NDArray[np.int32],
    x_levels: NDArray[np.float64],
    y_levels: NDArray[np.float64],
    mean_x: float,
    mean_y: float,
    y_on_x: NDArray[np.float64],
    x_on_y: NDArray[np.float64],
) -> float:
    """Fill the centred sums of each item on the levels of the other; return the co-variation."""
    y_on_x[:] = 0.0
    x_on_y[:] = 0.0
    for m in range(x.shape[0]):
        if x[m] >= 0 and y[m] >= 0:
            y_on_x[x[m]] += y_levels[y[m]] - mean_y
            x_on_y[y[m]] += x_levels[x[m]] - mean_x
    together = 0.0
    for k in range(y_on_x.shape[0]):
        if y_on_x[k] != 0.0:
            together += y_on_x[k] * (x_levels[k] - mean_x)
    return together


@compiled
def _sum_rows(
    start: int,
    stop: int,
    codes: NDArray[np.int32],
    n_level: NDArray[np.int64],
    levels: NDArray[np.float64],
    rows: NDArray[np.int64],
    neighbours: NDArray[np.int64],
    group: NDArray[np.int64],
    by_tau: bool,
    sums: NDArray[np.float64],
    counts: NDArray[np.int64],
    group_sums: NDArray[np.float64],
    group_pairs: NDArray[np.int64],
) -> None:
    width = levels.shape[1]
    y_on_x, x_on_y, cell = np.empty(width), np.empty(width), np.zeros(width)
    count_x, count_y = np.empty(width), np.empty(width)
    blocks = (np.empty(width), np.empty(width))
    tree = np.empty(width + 1, dtype=np.int64)
    n_partner = neighbours.shape[1] if neighbours.shape[0] else codes.shape[0]
    for r in range(start, stop):
        i = rows[r]
        x, nx = codes[i], n_level[i]
        order = np.argsort(x)
        for t in range(n_partner):
            j = neighbours[r, t] if neighbours.shape[0] else t
            if j == i:
                continue
            y, ny = codes[j], n_level[j]
            cx, cy, sx, sy = count_x[:nx], count_y[:ny], y_on_x[:nx], x_on_y[:ny]
            n = _count_levels(x, y, cx, cy)
            mean_x, variation_x = _mean_and_variation(cx, levels[i], n)
            mean_y, variation_y = _mean_and_variation(cy, levels[j], n)
            if variation_x <= 0.0 or variation_y <= 0.0:
                counts[r, 1] += 1
                continue
            together = _sum_on_levels(x, y, levels[i], levels[j], mean_x, mean_y, sx, sy)
            tau = float(concordance(x, y, order, ny, tree))
            judge = tau if by_tau else np.nan
            up, down = (
                explained_by(sx, cx, nx, 1.0, *blocks),
                explained_by(sx, cx, nx, -1.0, *blocks),
            )
            forward = signed_r2(up, down, variation_y, judge)
            disagree = tau * signed_r2(up, down, variation_y, np.nan) < 0.0
            up, down = (
                explained_by(sy, cy, ny, 1.0, *blocks),
                explained_by(sy, cy, ny, -1.0, *blocks),
            )
            backward = signed_r2(up, down, variation_x, judge)
            disagree = disagree or tau * signed_r2(up, down, variation_x, np.nan) < 0.0
            symmetric = 0.5 * (forward + backward)
            marginal = entropy_sum(cx, nx) + entropy_sum(cy, ny)
            information = joint_entropy_sum(x, y, order, cell) - marginal + n * np.log(n)
            nested = nested_product(cx, cy, levels[i], levels[j], mean_x, mean_y)
            sums[r, 0] += forward
            sums[r, 1] += backward
            sums[r, 2] += together / n
            sums[r, 3] += variation_x * variation_y / (n * n)
            sums[r, 4] += nested / n
            sums[r, 5] += together / np.sqrt(variation_x * variation_y)
            sums[r, 6] += information / n
            sums[r, 7] += 2.0 * information / (2.0 * n * np.log(n) - marginal)
            counts[r, 0] += 1
            counts[r, 2] += symmetric < 0.0
            counts[r, 3] += disagree
            group_sums[r, group[j]] += symmetric
            group_pairs[r, group[j]] += 1


def graded_pair_sums(
    scores: NDArray[np.float64],
    *,
    direction: str = "fit",
    neighbours: NDArray[np.int64] | None = None,
    group: NDArray[np.int64] | None = None,
    rows: NDArray[np.int64] | None = None,
) -> PairSums:
    """Return the sums over pairs of the statistics that graded items have.

    Parameters
    ----------
    scores : (n_item, n_model) float
        NaN where missing; a pair uses the models that answered both.
    direction : {"fit", "tau"}
        What gives the sign: the better-fitting direction (P2, appendix C.3; a tie is plus), or
        Kendall's tau (P2, section 3.3; no association is plus), in which case the R² is that of
        the direction which tau names.
    neighbours : (n_row, n_neighbour) int, optional
        Partners of each of the items asked for; all other items when left out. An item that
        stands among its own partners is passed over.
    group : (n_item,) int, optional
        Group of each item, from 0; one group when left out.
    rows : (n_row,) int, optional
        The items asked for; all of them when left out.

    Returns
    -------
    PairSums

    Notes
    -----
    The work is of the order of pairs x models: each pair is fitted in both directions by pooling
    adjacent violators on the levels of the predictor. Covariances have ddof 0. Mutual
    information is that of the levels as they stand, in nats.

    References
    ----------
    P2, sections 3.2 to 3.5 and appendix C.

    Examples
    --------
    >>> scores = np.array([[1, 0.5, 1, 0], [0.5, 0.5, 1, 0.5]])
    >>> graded_pair_sums(scores).mean("predictor").round(4)
    array([0.3333, 0.2727])
    """
    n_item = len(scores)
    codes, n_level, levels = level_codes(scores)
    groups = np.zeros(n_item, dtype=np.int64) if group is None else group
    partners = np.zeros((0, 0), dtype=np.int64) if neighbours is None else neighbours
    wanted = np.arange(n_item) if rows is None else rows
    data = (codes, n_level, levels, wanted, partners, groups, direction == "tau")
    return sum_pairs(
        lambda start, stop, *totals: _sum_rows(start, stop, *data, *totals),
        n_row=len(wanted),
        statistics=GRADED_STATISTICS,
        group=groups,
        block=8,
    )
