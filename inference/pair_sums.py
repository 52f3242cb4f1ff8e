"""Sums over the pairs of each item: the form of the answer, whatever counted the pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neartie.inference.pairwise_bits import in_row_blocks

# start, stop, then arrays to fill: sums, counts, group_sums, group_pairs
type RowFiller = Callable[[int, int, NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]], None]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PairSums:
    """Sums over the defined pairs of each item.

    Attributes
    ----------
    statistics : tuple of str
        What the columns of `sums` are.
    sums : (n_item, n_statistic) float
    n_pairs : (n_item,) int
        Pairs in which both items vary over the models that answered both.
    n_undefined : (n_item,) int
        The other pairs.
    n_negative : (n_item,) int
        Defined pairs with a negative (symmetric) coefficient.
    n_disagree : (n_item,) int
        Defined pairs in which Kendall's tau has the opposite sign to that of a direction's
        better fit; never in right/wrong data.
    group_sums : (n_item, n_group) float
        (Symmetric) signed isotonic R² summed over the partners in each group.
    group_pairs : (n_item, n_group) int
        Their number.
    """

    statistics: tuple[str, ...]
    sums: NDArray[np.float64]
    n_pairs: NDArray[np.int64]
    n_undefined: NDArray[np.int64]
    n_negative: NDArray[np.int64]
    n_disagree: NDArray[np.int64]
    group_sums: NDArray[np.float64]
    group_pairs: NDArray[np.int64]

    def mean(self, statistic: str) -> NDArray[np.float64]:
        """(n_item,) float: mean of a statistic over the defined pairs; NaN without any."""
        return means(self.sums[:, self.statistics.index(statistic)], self.n_pairs)


def means(sums: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return sums over counts, NaN where nothing was counted."""
    mean = np.full(sums.shape, np.nan)
    np.divide(sums, counts, out=mean, where=counts > 0)
    return mean


def sum_pairs(
    fill: RowFiller,
    *,
    n_row: int,
    statistics: tuple[str, ...],
    group: NDArray[np.int64],
    block: int = 64,
) -> PairSums:
    """Return the sums that a function fills in, block of rows by block of rows.

    Parameters
    ----------
    fill : callable
        Called as `fill(start, stop, sums, counts, group_sums, group_pairs)` with arrays of zeros
        for all rows; adds to the rows from `start` to `stop` only. The columns of `counts` are
        defined, undefined, negative and disagreeing pairs.
    n_row : int
        Items asked for.
    statistics : tuple of str
        Columns of the sums.
    group : (n_item,) int
        Group of each partner, from 0.
    block : int
        Rows a call; blocks run on all processors.

    Returns
    -------
    PairSums
    """
    n_group = int(group.max(initial=0)) + 1
    sums, counts = np.zeros((n_row, len(statistics))), np.zeros((n_row, 4), dtype=np.int64)
    group_sums = np.zeros((n_row, n_group))
    group_pairs = np.zeros((n_row, n_group), dtype=np.int64)

    def work(start: int, stop: int) -> None:
        fill(start, stop, sums, counts, group_sums, group_pairs)

    in_row_blocks(work, n_row, block=block)
    return PairSums(
        statistics=statistics,
        sums=sums,
        n_pairs=counts[:, 0],
        n_undefined=counts[:, 1],
        n_negative=counts[:, 2],
        n_disagree=counts[:, 3],
        group_sums=group_sums,
        group_pairs=group_pairs,
    )
