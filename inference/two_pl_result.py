"""What a 2PL point estimate says: abilities and items with their uncertainty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from neartie.data.wording import counted

type Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TwoPLFit:
    """Abilities, difficulties and discriminations at the joint posterior mode.

    Attributes
    ----------
    models, items : tuple of str
        Ids, in plain and in natural order; the order of all arrays.
    ability : (n_model,) float
        Mean zero over the models with answers. A model without any stands at its prior, 0.
    se : (n_model,) float
        Standard error of `ability` with that of all items and of the mean counted.
    se_items_known : (n_model,) float
        The one that P1 prints: items taken as known, which makes it too small.
    covariance : (n_model, n_model) float
        Of `ability`; empty if there are too many models.
    difficulty, difficulty_se : (n_item,) float, in units of ability
        Re-centred with the abilities; NaN for items that are left out.
    discrimination, discrimination_se : (n_item,) float, logit per unit of ability
    log_discrimination_se : (n_item,) float
    flags : tuple of str
        Why an item deserves a look, in words; blank for most.
    n, n_answers : (n_model,), (n_item,) int
        Answers of each model and on each item.
    shift : float
        What was subtracted from abilities and difficulties, in the unit of the mode.
    unit : float
        What they were multiplied by after that: `posterior_unit`, or 1 in the unit of the mode.
    posterior_unit : float
        What they are to be multiplied by for abilities to have the spread that their prior
        says.
    log_posterior : float, nat
        P1's objective, equation `eq:map`, at the estimate before re-centring.
    optimiser, centring, constant_items : str
        Settings.
    priors : dict
        The standard deviations and the mean that the objective uses.
    converged : bool
    is_maximum : bool
        Whether the curvature at the estimate is that of a maximum.
    n_iterations : int
    largest_step : float
        Largest change of a parameter that Newton's next step would make.
    start_log_posteriors : tuple of float
        What each start ended at.
    notices : tuple of str
        What a user should know.
    """

    models: tuple[str, ...]
    items: tuple[str, ...]
    ability: Floats
    se: Floats
    se_items_known: Floats
    covariance: Floats
    difficulty: Floats
    difficulty_se: Floats
    discrimination: Floats
    discrimination_se: Floats
    log_discrimination_se: Floats
    flags: tuple[str, ...]
    n: NDArray[np.int64]
    n_answers: NDArray[np.int64]
    shift: float
    unit: float
    posterior_unit: float
    log_posterior: float
    optimiser: str
    centring: str
    constant_items: str
    priors: dict[str, float]
    converged: bool
    is_maximum: bool
    n_iterations: int
    largest_step: float
    start_log_posteriors: tuple[float, ...]
    notices: tuple[str, ...]

    def table(self, *, level: float = 0.95) -> pd.DataFrame:
        """Return one row a model.

        Parameters
        ----------
        level : float in (0, 1)
            Of the intervals.

        Returns
        -------
        DataFrame, n_model rows
            `model`; `n` answers; `ability`; `se`; `low`, `high` by `se`; `se_items_known`.
        """
        z = _quantile(level)
        return pd.DataFrame(
            {
                "model": pd.Series(self.models, dtype="str"),
                "n": self.n,
                "ability": self.ability,
                "se": self.se,
                "low": self.ability - z * self.se,
                "high": self.ability + z * self.se,
                "se_items_known": self.se_items_known,
            }
        )

    def item_table(self, *, level: float = 0.95) -> pd.DataFrame:
        """Return one row an item.

        Parameters
        ----------
        level : float in (0, 1)
            Of the intervals.

        Returns
        -------
        DataFrame, n_item rows
            `item`; `n` answers; `discrimination`, its `_se`, and `_low`, `_high`, which are
            symmetric on the log scale; `difficulty` likewise, symmetric as it is; `flag`.
            Missing for items that are left out.
        """
        z = _quantile(level)
        spread = np.exp(z * self.log_discrimination_se)
        return pd.DataFrame(
            {
                "item": pd.Series(self.items, dtype="str"),
                "n": self.n_answers,
                "discrimination": self.discrimination,
                "discrimination_se": self.discrimination_se,
                "discrimination_low": self.discrimination / spread,
                "discrimination_high": self.discrimination * spread,
                "difficulty": self.difficulty,
                "difficulty_se": self.difficulty_se,
                "difficulty_low": self.difficulty - z * self.difficulty_se,
                "difficulty_high": self.difficulty + z * self.difficulty_se,
                "flag": pd.Series(self.flags, dtype="str"),
            }
        )

    @property
    def verdict(self) -> str:
        """A sentence on how the iteration ended."""
        steps = counted(self.n_iterations, "iteration")
        away = f"{self.largest_step:.1e} from the optimum, to first order"
        if self.optimiser == "adam":
            ended = "Stopped by P1's rule" if self.converged else "Not stopped by P1's rule"
            return f"{ended} after {steps}, {away}."
        return f"{'Converged' if self.converged else 'Not converged'}: {steps}, {away}."

    def to_dict(self) -> dict[str, Any]:
        """Return headline numbers and settings, for JSON."""
        return {
            "n_models": len(self.models),
            "n_items": len(self.items),
            "log_posterior": self.log_posterior,
            "converged": self.converged,
            "iterations": self.n_iterations,
            "largest_step": self.largest_step,
            "shift": self.shift,
            "unit": self.unit,
            "posterior_unit": self.posterior_unit,
            "settings": {
                "optimiser": self.optimiser,
                "centring": self.centring,
                "constant_items": self.constant_items,
                "starts": len(self.start_log_posteriors),
                **{f"prior_{name}": value for name, value in self.priors.items()},
            },
            "warnings": list(self.notices),
        }

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        size = f"{counted(len(self.models), 'model')}, {counted(len(self.items), 'item')}"
        yield f"2PL, joint mode: {size}. {self.verdict}"
        table = self.table().sort_values(["ability", "model"], ascending=[False, True])
        yield table.head(20).to_string(index=False, float_format=lambda value: f"{value:.3f}")
        if len(table) > 20:
            yield f"and {len(table) - 20:,} more models"
        yield from (f"note: {notice}" for notice in self.notices)


def _quantile(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level}")
    return float(stats.norm.ppf(0.5 + 0.5 * level))
