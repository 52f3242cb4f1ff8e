"""The answer of a near-tie audit: tables, settings, and what went wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pandas as pd


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class NearTieAudit:
    """A near-tie audit, complete (P0, sections 3, C and D.1).

    Attributes
    ----------
    population : DataFrame
        Retained models: `model`, `owner`, `family`, `half` (0 or 1), `representative` (0 or 1),
        `n_correct`.
    excluded : DataFrame
        Models that were left out: `model`, `reason`.
    families : DataFrame
        One row a family and half: `family`, `half`, `n_models`, `n_owners`,
        `n_representatives`, `mean_accuracy`.
    items : DataFrame
        One row an item and half that the values were fitted in: `item`, `source`, `half`,
        `cell` (`source|stratum`), `easiness` (logit, missing where no finite one exists),
        `dif_range` (logit), `anchor` (0 or 1), `weight` (items), `constant` (0 or 1),
        `easiness_refit` (logit: with the effects of `dif`, the item's signature).
    dif : DataFrame
        Residual effects of the refit on the final anchors: `item`, `half`, `family`,
        `effect` (logit, sum zero over families).
    dimension : DataFrame
        The whole loss curve: `half`, `k`, `loss` (nat per answer), `se`, `difference`,
        `difference_se` (paired, against the smallest loss), `selected` (0 or 1). Empty when
        the dimension was given.
    rounds : DataFrame
        One row a half and purification round (the refit is round 4): `half`, `round`, `k`,
        `n_anchor`, `jaccard` (missing in the first), `n_iteration`, `largest_update`,
        `converged` (0 or 1), `n_constant`.
    scores : DataFrame
        Representatives: `model`, `owner`, `family`, `half` (the model's own), `full`, `anchor`
        (proportions), `rank_full`, `rank_anchor` (within the half; equal scores share the best).
    pairs : DataFrame
        Eligible pairs of the primary band: `model_a`, `model_b`, `half`, `gap_full`,
        `gap_anchor` (a minus b), `reversed` (0 or 1).
    thresholds : DataFrame
        One row a band: `epsilon`, `n_band`, `n_tied`, `n_eligible`, `rate`, `random_median`,
        `random_low`, `random_high`, `excess_pp`, `p_value`, `range_low`, `range_high`,
        `n_random_undefined`, `n_bootstrap_undefined`.
    fractions : DataFrame
        One row an anchor fraction: `alpha`, `tau_b`, `n_eligible`, `reversal_rate`, `primary`.
    random_rates : DataFrame
        Matched-random rates: `replicate`, `epsilon`, `rate`.
    k : (int, int)
        Dimension in halves 0 and 1.
    tau_b, all_pairs_rate : float or None
        Missing where no pair defines them.
    n_items, n_eligible, seed : int
    primary_epsilon : float
        The band of the headline, as a proportion.
    jaccard : (tuple of float, tuple of float)
        Per half: overlap of the anchor sets of rounds 1 and 2, 2 and 3 (and so on).
    settings : dict
        Every choice that made the numbers.
    versions : dict
        Program and library versions.
    warnings : tuple of str
        Caveats, worst first, in sentences.
    """

    population: pd.DataFrame
    excluded: pd.DataFrame
    families: pd.DataFrame
    items: pd.DataFrame
    dif: pd.DataFrame
    dimension: pd.DataFrame
    rounds: pd.DataFrame
    scores: pd.DataFrame
    pairs: pd.DataFrame
    thresholds: pd.DataFrame
    fractions: pd.DataFrame
    random_rates: pd.DataFrame
    k: tuple[int, int]
    tau_b: float | None
    all_pairs_rate: float | None
    n_items: int
    n_eligible: int
    seed: int
    primary_epsilon: float
    jaccard: tuple[tuple[float, ...], tuple[float, ...]]
    settings: dict[str, Any]
    versions: dict[str, str]
    warnings: tuple[str, ...]

    def band(self, epsilon: float | None = None) -> dict[str, Any]:
        """Return the row of `thresholds` of one band, None for what is undefined.

        Parameters
        ----------
        epsilon : float, proportion, optional
            The primary band when left out.

        Raises
        ------
        ValueError
            If the band was not audited.
        """
        wanted = self.primary_epsilon if epsilon is None else epsilon
        rows = self.thresholds[self.thresholds["epsilon"] == wanted]
        if rows.empty:
            known = ", ".join(str(value) for value in self.thresholds["epsilon"])
            raise ValueError(f"epsilon must be one of {known}, got {wanted}")
        return {str(name): _plain(rows[name].iloc[0]) for name in rows.columns}

    def to_dict(self) -> dict[str, Any]:
        """Return the headline numbers, settings and caveats: what `summary.json` holds."""
        primary = self.band()
        return {
            "n_items": self.n_items,
            "n_models": len(self.population),
            "n_representatives": int(self.population["representative"].sum()),
            "k": list(self.k),
            "tau_b": self.tau_b,
            "n_eligible": self.n_eligible,
            "reversal_rate": primary["rate"],
            "random_median": primary["random_median"],
            "excess_pp": primary["excess_pp"],
            "p_value": primary["p_value"],
            "all_pairs_rate": self.all_pairs_rate,
            "jaccard": [[_plain(value) for value in half] for half in self.jaccard],
            "primary_epsilon": self.primary_epsilon,
            "n_band": primary["n_band"],
            "n_tied": primary["n_tied"],
            "random_low": primary["random_low"],
            "random_high": primary["random_high"],
            "range_low": primary["range_low"],
            "range_high": primary["range_high"],
            "n_excluded": len(self.excluded),
            "seed": self.seed,
            "settings": self.settings,
            "versions": self.versions,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        primary = self.band()
        width = f"{100 * self.primary_epsilon:g}"
        points = f"{width} percentage point{'' if width == '1' else 's'}"
        if primary["rate"] is None:
            return (
                f"near-tie audit: no eligible pair within {points}; the reversal rate is undefined"
            )
        text = (
            f"near-tie audit: {100 * primary['rate']:.1f} % of {self.n_eligible} cross-family pairs "
            f"within {points} reverse under low-DIF scoring"
        )
        if primary["random_median"] is not None:
            text += f"; matched-random median {100 * primary['random_median']:.1f} %"
        if primary["p_value"] is not None and primary["excess_pp"] is not None:
            text += f", excess {primary['excess_pp']:+.1f} points, p = {primary['p_value']:.3g}"
        return text


def _plain(value: Any) -> Any:
    """Return a plain Python number, or None for NaN."""
    number = value.item() if hasattr(value, "item") else value
    return None if isinstance(number, float) and math.isnan(number) else number
