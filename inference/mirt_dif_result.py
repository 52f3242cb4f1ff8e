"""What the joint mode of the multidimensional model says: nothing that turns with its axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from neartie.data.wording import counted
from neartie.inference.mirt_scales import MirtDifScales

type Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class MirtDifFit:
    """Expected scores, easiness and family effects at the joint posterior mode.

    Attributes
    ----------
    models, items, families : tuple of str
        Ids, in plain, natural and plain order; the order of all arrays.
    family : (n_model,) int
        Position of each model's family.
    expected_score : (n_model,) float, proportion
        Mean over all items, answered or not, of the probability of a right answer at the mode.
    se : (n_model,) float, proportion
        Standard error of `expected_score`; see `errors`.
    se_items_known : (n_model,) float, proportion
        The same with all items taken as known, which is too small.
    covariance : (n_model, n_model) float
        Of `expected_score`; empty if there are too many models.
    easiness, easiness_se : (n_item,) float, logit
    easiness_se_abilities_known : (n_item,) float, logit
    dif, dif_se : (n_item, n_family) float, logit
        Higher favours the family; rows sum to zero. Shrunk towards zero by their prior.
    dif_se_abilities_known : (n_item, n_family) float, logit
    ability : (dimension, n_model) float
    loading : (n_item, dimension) float
        On the principal axes of what they give together, the most important first, each pointing
        to where more answers are correct; their unit is that of the mode. Any rotation of both
        would do as well.
    scales : MirtDifScales
        That the priors were held at.
    scales_from : str
        `answers`, `prior` or `given`.
    dimension : int
    zero_sum : str
    errors : str
        `joint`: abilities and items are both uncertain; `known`: errors of scores take items, those
        of items abilities as known, and `se` equals `se_items_known`.
    flags : tuple of str
        Why an item deserves a look, in words; blank for most.
    n, n_answers : (n_model,), (n_item,) int
        Answers of each model and on each item.
    log_posterior : float, nat
        Log density at the mode, scales held, up to a constant.
    converged : bool
        Whether no element of the gradient is above 1e-6.
    is_maximum : bool
        Whether no direction was found in which the density curves upwards.
    largest_slope : float
        Largest absolute element of the gradient.
    n_iterations, n_products : int
        Newton steps, and products of second derivatives with a direction, after the scales were
        found.
    n_rounds : int
        In which the scales were found; 0 if they were not.
    scales_converged : bool
        Whether the last of these changed no scale by more than a thousandth.
    start_log_posteriors : tuple of float
        What each start ended at.
    notices : tuple of str
        What a user should know.
    """

    models: tuple[str, ...]
    items: tuple[str, ...]
    families: tuple[str, ...]
    family: NDArray[np.intp]
    expected_score: Floats
    se: Floats
    se_items_known: Floats
    covariance: Floats
    easiness: Floats
    easiness_se: Floats
    easiness_se_abilities_known: Floats
    dif: Floats
    dif_se: Floats
    dif_se_abilities_known: Floats
    ability: Floats
    loading: Floats
    scales: MirtDifScales
    scales_from: str
    dimension: int
    zero_sum: str
    errors: str
    flags: tuple[str, ...]
    n: NDArray[np.int64]
    n_answers: NDArray[np.int64]
    log_posterior: float
    converged: bool
    is_maximum: bool
    largest_slope: float
    n_iterations: int
    n_products: int
    n_rounds: int
    scales_converged: bool
    start_log_posteriors: tuple[float, ...]
    notices: tuple[str, ...]

    @property
    def dif_range(self) -> Floats:
        """(n_item,) float, logit: largest less smallest effect (P0, eq 5)."""
        return np.asarray(self.dif.max(axis=1) - self.dif.min(axis=1))

    def linear_predictor(self) -> Floats:
        """Return the logit of every answer, (n_item, n_model), of cells without one too."""
        found = self.loading @ self.ability
        found += self.easiness[:, None]
        found += self.dif[:, self.family]
        return np.asarray(found)

    def table(self, *, level: float = 0.95) -> pd.DataFrame:
        """Return one row a model.

        Parameters
        ----------
        level : float in (0, 1)
            Of the intervals.

        Returns
        -------
        DataFrame, n_model rows
            `model`; `n` answers; `expected_score`; `se`; `low`, `high` by `se`, cut at 0 and 1;
            `se_items_known`.

        Raises
        ------
        ValueError
            If the level is out of range.
        """
        z = _quantile(level)
        return pd.DataFrame(
            {
                "model": pd.Series(self.models, dtype="str"),
                "n": self.n,
                "expected_score": self.expected_score,
                "se": self.se,
                "low": np.maximum(self.expected_score - z * self.se, 0.0),
                "high": np.minimum(self.expected_score + z * self.se, 1.0),
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
            `item`; `n` answers; `easiness` with `_se`, `_low`, `_high`; `dif_range`; `flag`.

        Raises
        ------
        ValueError
            If the level is out of range.
        """
        z = _quantile(level)
        return pd.DataFrame(
            {
                "item": pd.Series(self.items, dtype="str"),
                "n": self.n_answers,
                "easiness": self.easiness,
                "easiness_se": self.easiness_se,
                "easiness_low": self.easiness - z * self.easiness_se,
                "easiness_high": self.easiness + z * self.easiness_se,
                "dif_range": self.dif_range,
                "flag": pd.Series(self.flags, dtype="str"),
            }
        )

    def dif_table(self, *, level: float = 0.95) -> pd.DataFrame:
        """Return one row an item and family.

        Parameters
        ----------
        level : float in (0, 1)
            Of the intervals.

        Returns
        -------
        DataFrame, n_item x n_family rows
            `item`; `family`; `effect`; `se`; `low`, `high`; `se_abilities_known`.

        Raises
        ------
        ValueError
            If the level is out of range.
        """
        z, n_family = _quantile(level), len(self.families)
        effect, se = self.dif.ravel(), self.dif_se.ravel()
        return pd.DataFrame(
            {
                "item": pd.Series(np.repeat(self.items, n_family), dtype="str"),
                "family": pd.Series(np.tile(self.families, len(self.items)), dtype="str"),
                "effect": effect,
                "se": se,
                "low": effect - z * se,
                "high": effect + z * se,
                "se_abilities_known": self.dif_se_abilities_known.ravel(),
            }
        )

    @property
    def verdict(self) -> str:
        """A sentence on how the iteration ended."""
        steps = counted(self.n_iterations, "iteration")
        rounds = f" after {counted(self.n_rounds, 'round')} for the scales" if self.n_rounds else ""
        ended = "Converged" if self.converged else "Not converged"
        return f"{ended}: {steps}{rounds}, largest slope {self.largest_slope:.1e}."

    def to_dict(self) -> dict[str, Any]:
        """Return headline numbers and settings, for JSON."""
        return {
            "n_models": len(self.models),
            "n_items": len(self.items),
            "n_families": len(self.families),
            "log_posterior": self.log_posterior,
            "converged": self.converged,
            "is_maximum": self.is_maximum,
            "iterations": self.n_iterations,
            "largest_slope": self.largest_slope,
            "settings": {
                "dimension": self.dimension,
                "zero_sum": self.zero_sum,
                "errors": self.errors,
                "scales_from": self.scales_from,
                "starts": len(self.start_log_posteriors),
                **self.scales.to_dict(),
            },
            "warnings": list(self.notices),
        }

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        size = f"{counted(len(self.models), 'model')}, {counted(len(self.items), 'item')}"
        size += f", {len(self.families):,} families"
        yield f"Multidimensional model, joint mode: {size}. {self.verdict}"
        table = self.table().sort_values(["expected_score", "model"], ascending=[False, True])
        yield table.head(20).to_string(index=False, float_format=lambda value: f"{value:.3f}")
        if len(table) > 20:
            yield f"and {len(table) - 20:,} more models"
        yield from (f"note: {notice}" for notice in self.notices)


def _quantile(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level}")
    return float(stats.norm.ppf(0.5 + 0.5 * level))
