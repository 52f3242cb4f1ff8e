"""What a simulated leaderboard was made from: parameters, exact probabilities, tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from neartie.data.responses import Responses

NO_FAMILY = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LeaderboardTruth:
    r"""The parameters that produced a simulated leaderboard.

    Attributes
    ----------
    items, models : tuple of str
        Ids, in the order of the arrays below.
    families : tuple of str
        Family names, in the order of the columns of `dif`.
    family : (n_model,) int
        Position in `families`; -1 for a model whose id names no family, or several.
    easiness : (n_item,) float, logit
        :math:`b_i`.
    loadings : (n_item, n_dimension) float, logit per unit of ability
        :math:`a_i`.
    abilities : (n_model, n_dimension) float
        :math:`\theta_m`; within a family of standard deviation 1.
    dif : (n_item, n_family) float, logit
        :math:`\delta_{if}`, of sum zero within an item; all zero where nothing was planted.
    planted : (n_item,) bool
        Items with a family effect.
    settings : dict
        Every choice that made the leaderboard, and the seed.

    Notes
    -----
    :math:`\operatorname{logit} P(Y_{im} = 1) = a_i^\top \theta_m + b_i + \delta_{i,f(m)}`, P0,
    equations 1 and 2. Models without a family have no family effect. Join by id: rows stand here
    as they were generated, and files or audits are free to reorder them.
    """

    items: tuple[str, ...]
    models: tuple[str, ...]
    families: tuple[str, ...]
    family: NDArray[np.intp]
    easiness: NDArray[np.float64]
    loadings: NDArray[np.float64]
    abilities: NDArray[np.float64]
    dif: NDArray[np.float64]
    planted: NDArray[np.bool_]
    settings: dict[str, Any]

    @property
    def dif_range(self) -> NDArray[np.float64]:
        """(n_item,) float, logit: the true D, largest minus smallest effect (P0, equation 5)."""
        return np.ptp(self.dif, axis=1)

    def linear_predictor(self, *, items: slice = slice(None)) -> NDArray[np.float64]:
        """Return the log odds of a right answer.

        Parameters
        ----------
        items : slice
            Which items; all of them when left out.

        Returns
        -------
        (n_item, n_model) float, logit
        """
        # A last column of zeros, which position -1 picks for models without a family.
        effects = np.pad(self.dif[items], ((0, 0), (0, 1)))[:, self.family]
        return self.loadings[items] @ self.abilities.T + self.easiness[items, None] + effects

    def probability(self, *, items: slice = slice(None)) -> NDArray[np.float64]:
        """Return the probability of a right answer.

        Parameters
        ----------
        items : slice
            Which items; all of them when left out.

        Returns
        -------
        (n_item, n_model) float in [0, 1], probability
        """
        chances: NDArray[np.float64] = expit(self.linear_predictor(items=items))
        return chances

    def item_table(self) -> pd.DataFrame:
        """Return one row an item.

        Returns
        -------
        DataFrame
            `item`; `easiness`; `loading_1`, ...; `planted` (0 or 1); `dif_range`; and one column
            `dif_<family>` a family.
        """
        table: dict[str, Any] = {"item": self.items, "easiness": self.easiness}
        table |= _numbered("loading", self.loadings)
        table |= {"planted": self.planted.astype(np.int8), "dif_range": self.dif_range}
        table |= {f"dif_{name}": self.dif[:, f] for f, name in enumerate(self.families)}
        return pd.DataFrame(table)

    def model_table(self) -> pd.DataFrame:
        """Return one row a model.

        Returns
        -------
        DataFrame
            `model`; `family` (`unknown` for none); `ability_1`, ...; and `expected_accuracy`, the
            mean probability of a right answer over all items.
        """
        names = np.array([*self.families, NO_FAMILY], dtype=object)
        total = np.zeros(len(self.models))
        for rows in row_blocks(len(self.items), len(self.models)):
            total += self.probability(items=rows).sum(axis=0)
        return pd.DataFrame(
            {"model": self.models, "family": names[self.family]}
            | _numbered("ability", self.abilities)
            | {"expected_accuracy": total / len(self.items)}
        )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class SimulatedLeaderboard:
    """Answers, and the truth behind them.

    Attributes
    ----------
    responses : Responses
        Item table `item`, `source`; model table `model`, `owner`, `family`.
    truth : LeaderboardTruth
        In the same order of items and models.
    """

    responses: Responses
    truth: LeaderboardTruth


def row_blocks(n_row: int, n_column: int, *, n_cell: int = 2_000_000) -> list[slice]:
    """Return slices of rows that hold about `n_cell` cells each, so that memory stays small.

    Examples
    --------
    >>> row_blocks(5, 10, n_cell=20)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    height = max(1, n_cell // max(1, n_column))
    return [slice(start, min(start + height, n_row)) for start in range(0, n_row, height)]


def _numbered(name: str, columns: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    return {f"{name}_{k + 1}": columns[:, k] for k in range(columns.shape[1])}
