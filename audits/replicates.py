"""Reversal rates of many replicates of the scores, with ties decided exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from neartie.audits.ranking import Pairs, band_limit
from neartie.inference.reversal_kernel import count_replicates

type Floats = NDArray[np.float64]
type Integers = NDArray[np.int64]
type Resolve = Callable[[int, NDArray[np.intp], NDArray[np.intp]], NDArray[np.int8]]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ReplicateCounts:
    """Eligible pairs and reversals of every replicate and band.

    Attributes
    ----------
    n_eligible, n_reversed : (n_replicate, n_band) int
    """

    n_eligible: Integers
    n_reversed: Integers

    def __add__(self, other: ReplicateCounts) -> ReplicateCounts:
        """Pool two halves, replicate by replicate (P0, eq 35)."""
        return ReplicateCounts(
            n_eligible=self.n_eligible + other.n_eligible,
            n_reversed=self.n_reversed + other.n_reversed,
        )

    @property
    def rate(self) -> Floats:
        """(n_replicate, n_band) float: NaN where a replicate has no eligible pair."""
        rate = np.full(self.n_eligible.shape, np.nan)
        np.divide(self.n_reversed, self.n_eligible, out=rate, where=self.n_eligible > 0)
        return rate


def banded(pairs: Pairs, bands: Sequence[Fraction]) -> tuple[Pairs, NDArray[np.intp]]:
    """Return the pairs within the widest band without full ties, in blocks of narrowest band.

    Parameters
    ----------
    pairs : Pairs
    bands : sequence of Fraction, rising

    Returns
    -------
    Pairs
        The frozen set of near ties, those of the narrowest band first.
    (n_band + 1,) int
        Where each band's block starts; band k holds pairs `start[k]` to `start[k + 1]`.
    """
    limits = np.array([band_limit(epsilon, pairs.n_items) for epsilon in bands], dtype=np.int64)
    near = np.flatnonzero((pairs.gap != 0) & (np.abs(pairs.gap) <= limits[-1]))
    band = np.searchsorted(limits, np.abs(pairs.gap[near]))
    order = np.argsort(band, kind="stable")
    start = np.searchsorted(band[order], np.arange(len(limits) + 1))
    return pairs.take(near[order]), start.astype(np.intp)


def count_chunk(
    full: Floats,
    score: Floats,
    pairs: Pairs,
    start: NDArray[np.intp],
    tolerance: float,
    resolve: Resolve | None,
) -> ReplicateCounts:
    """Return the counts of a chunk of replicates.

    Parameters
    ----------
    full : (n_replicate or 1, n_model) float
        Whole numbers.
    score : (n_replicate, n_model) float
    pairs, start
        From `banded`.
    tolerance : float
        Differences up to this size are not decided by floating point.
    resolve : callable, optional
        (replicate, first, second) -> exact signs of the undecided pairs. Without it they are ties.

    Returns
    -------
    ReplicateCounts
        Cumulative: a pair counts in its narrowest band and in all wider ones.
    """
    eligible, reversed_, close = count_replicates(
        full, score, pairs.first, pairs.second, start, tolerance
    )
    if resolve is not None:
        band = np.repeat(np.arange(len(start) - 1), np.diff(start))
        for r in np.flatnonzero(close):
            gap = full[r if len(full) > 1 else 0]
            gaps = gap[pairs.first] - gap[pairs.second]
            other = score[r][pairs.first] - score[r][pairs.second]
            open_ = np.flatnonzero((np.abs(other) <= tolerance) & (gaps != 0))
            sign = resolve(int(r), pairs.first[open_], pairs.second[open_])
            np.add.at(eligible[r], band[open_[sign != 0]], 1)
            np.add.at(reversed_[r], band[open_[np.sign(gaps[open_]) * sign < 0]], 1)
    return ReplicateCounts(n_eligible=eligible.cumsum(axis=1), n_reversed=reversed_.cumsum(axis=1))


def stack(chunks: Sequence[ReplicateCounts]) -> ReplicateCounts:
    """Return the chunks one below the other."""
    return ReplicateCounts(
        n_eligible=np.concatenate([chunk.n_eligible for chunk in chunks]),
        n_reversed=np.concatenate([chunk.n_reversed for chunk in chunks]),
    )
