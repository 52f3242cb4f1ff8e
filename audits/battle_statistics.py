"""Statistics of battles by which a fit and its replicates are compared."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from neartie.audits.near_tie_pairs import ComparedPairs, count_near_ties
from neartie.inference.replicated_battles import ObservedBattles

type Floats = NDArray[np.float64]
type Codes = NDArray[np.int64]

#: Every statistic in words.
MEANINGS: Final = {
    "near_ties": "near-tied pairs of models by win rate",
    "win_rate_sd": "standard deviation of the models' win rates",
    "surprise": "share of the pairs' win rates that win rates of models leave unexplained",
    "ties": "ties",
    "first_shown_wins": "battles that the model shown first won",
}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class BattleStatistics:
    """What is computed of the battles, and of each replicate of them.

    Attributes
    ----------
    battles : ObservedBattles
    pairs : ComparedPairs
    epsilon : float
        Band of the near ties, proportion.
    """

    battles: ObservedBattles
    pairs: ComparedPairs
    epsilon: float | Fraction

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the statistics, in the order of `scalars`."""
        left_out = set()
        if self.battles.ties == "half":
            left_out.add("ties")
        if not self.battles.orders_apart:
            left_out.add("first_shown_wins")
        return tuple(name for name in MEANINGS if name not in left_out)

    @property
    def n(self) -> Codes:
        """Battles of every model, a vector of whole numbers."""
        return self._by_model(self.battles.outcome.sum(axis=1), self.battles.outcome.sum(axis=1))

    def half_wins(self, outcome: Codes) -> Codes:
        """Return twice the wins of every model, a tie being half a win.

        Parameters
        ----------
        outcome : (n_row, 3) int

        Returns
        -------
        (n_model,) int
        """
        won, lost, tied = outcome.T
        return self._by_model(2 * won + tied, 2 * lost + tied)

    def scalars(self, outcome: Codes) -> Floats:
        """Return the statistics of a set of battles.

        Parameters
        ----------
        outcome : (n_row, 3) int

        Returns
        -------
        (n_statistic,) float
        """
        halves, n = self.half_wins(outcome), self.n
        rate = np.divide(halves, 2 * n, out=np.full(len(n), np.nan), where=n > 0)
        shown = self.battles.shown == 1
        known = {
            "near_ties": count_near_ties(self.pairs, halves, n, epsilon=self.epsilon),
            "win_rate_sd": np.nanstd(rate, ddof=1) if len(rate) > 1 else np.nan,
            "surprise": self._surprise(outcome, rate),
            "ties": outcome[:, 2].sum(),
            "first_shown_wins": outcome[shown, 0].sum(),
        }
        return np.array([float(known[name]) for name in self.names])

    def _surprise(self, outcome: Codes, rate: Floats) -> float:
        r"""Return the unexplained share of the sum of squares of the rows' win rates around 1/2.

        Explained is what :math:`\tfrac12 + (r_i - r_j)` with the models' win rates r says of a
        pair, up to one factor for all: rock, paper and scissors leave all of it.
        """
        total = outcome.sum(axis=1)
        met = total > 0
        excess = (outcome[met, 0] + 0.5 * outcome[met, 2]) / total[met] - 0.5
        gap = rate[self.battles.first[met]] - rate[self.battles.second[met]]
        weight = total[met]
        whole, along = weight @ excess**2, weight @ gap**2
        if whole <= 0:
            return float("nan")
        explained = (weight @ (excess * gap)) ** 2 / along if along > 0 else 0.0
        return float(1 - explained / whole)

    def _by_model(self, of_first: Codes, of_second: Codes) -> Codes:
        total = np.zeros(len(self.battles.models), dtype=np.int64)
        np.add.at(total, self.battles.first, of_first)
        np.add.at(total, self.battles.second, of_second)
        return total
