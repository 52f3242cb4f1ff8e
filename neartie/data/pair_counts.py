"""Battles added up by pair of models."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

type Codes = NDArray[np.int64]
type Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PairCounts:
    """Battles added up by pair of models.

    Attributes
    ----------
    n_model : int
    first, second : (n_pair,) int
        Positions of the two models. In plain counts `first < second`; in counts by position the
        first was shown first, or, where `shown` is 0, neither was.
    shown : (n_pair,) int
        1 where the first was shown first, else 0.
    wins, losses, ties : (n_pair,) float, battles
        Weight of the battles that the first won, lost, and that nobody won.
    """

    n_model: int
    first: Codes
    second: Codes
    shown: Codes
    wins: Floats
    losses: Floats
    ties: Floats

    @property
    def total(self) -> Floats:
        """(n_pair,) float, battles: wins, losses and ties together."""
        return np.asarray(self.wins + self.losses + self.ties)

    def by_model(self) -> tuple[Floats, Floats, Floats]:
        """Return each model's battles, wins with half of every tie, and their ratio.

        Returns
        -------
        n, wins : (n_model,) float, battles
        rate : (n_model,) float in [0, 1]
            NaN for a model without battles.
        """
        half = 0.5 * self.ties
        n = self._added(self.total, self.total)
        wins = self._added(self.wins + half, self.losses + half)
        return n, wins, np.divide(wins, n, out=np.full(len(n), np.nan), where=n > 0)

    def _added(self, first: Floats, second: Floats) -> Floats:
        total = np.bincount(self.first, weights=first, minlength=self.n_model)
        return total + np.bincount(self.second, weights=second, minlength=self.n_model)

    def take(self, mask: NDArray[np.bool_]) -> PairCounts:
        """Return some of the pairs."""
        return replace(
            self,
            **{
                name: getattr(self, name)[mask]
                for name in ("first", "second", "shown", "wins", "losses", "ties")
            },
        )


def tally(keys: Codes, cells: Floats, *, n_model: int) -> PairCounts:
    """Return counts from the weight in each cell.

    Parameters
    ----------
    keys : (n_pair,) int
        Rising: twice (first times `n_model` plus second), plus 1 where the first was shown first.
    cells : (3 n_pair,) float, battles
        Won, lost and tied, pair by pair.
    n_model : int

    Returns
    -------
    PairCounts
    """
    first, second = np.divmod(keys // 2, n_model)
    by_pair = cells.reshape(-1, 3)
    return PairCounts(
        n_model=n_model,
        first=first,
        second=second,
        shown=keys % 2,
        wins=np.ascontiguousarray(by_pair[:, 0]),
        losses=np.ascontiguousarray(by_pair[:, 1]),
        ties=np.ascontiguousarray(by_pair[:, 2]),
    )


def distinct(code: Codes, largest: int) -> tuple[Codes, Codes]:
    """Return what `np.unique` does with its inverse, without sorting where that is affordable."""
    if largest > max(1 << 22, 8 * len(code)):
        keys, pair = np.unique(code, return_inverse=True)
        return keys, pair
    present = np.zeros(largest, dtype=bool)
    present[code] = True
    place = np.cumsum(present) - 1
    return np.flatnonzero(present), place[code]
