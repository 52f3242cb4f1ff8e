"""The answer of a comparison: the ladder, pairs, anchors, settings, and what may be claimed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from neartie.audits.comparison_claim import claim
from neartie.audits.comparison_settings import ComparisonSettings
from neartie.audits.result import NearTieAudit


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Comparison:
    """The plug-in's reversal rate held against posteriors, rung by rung.

    Attributes
    ----------
    audit : NearTieAudit
        The plug-in.
    ladder : DataFrame
        One row a rung, kind of anchors and kind of scores: `rung`, `anchors`, `scores`,
        `reversal_rate`, `low`, `high`, `difference` (from the plug-in), `difference_low`,
        `difference_high` (proportions), `p_within_2pp` (named by the margin), `excess_pp`,
        `excess_low`, `excess_high` (points over matched-random subtests scored in the same way),
        `brier`, `auc` (of the reversal probabilities against the plug-in's verdicts),
        `spearman_d`, `jaccard` (agreement with the plug-in's D and anchors), `seconds` (of the
        rung), `p_value` (one-sided, against the same subtests, as in the audit; the mean over draws),
        `random_median`, `n_draws`, `rate_r_hat`, `rate_ess_bulk` (of the rate of draws that come from
        chains), `verdict`.
    rungs : DataFrame
        One row a rung and half: `rung`, `half`, `k`, `converged`, `verdict` (of the fit),
        `max_rhat`, `min_ess_bulk`, `min_ess_tail`, `pareto_k`, `seconds` (of the rung).
    pairs : DataFrame
        Near ties of the primary band: `model_a`, `model_b`, `half`, `gap_full` (a minus b),
        `plugin_reversed` (1, 0, missing where the plug-in ties), then one reversal probability a
        rung, of the headline cell.
    pair_probabilities : DataFrame
        The same for every cell; see `pair_rows`.
    calibration : DataFrame
        See `calibration_rows`.
    anchors : DataFrame
        One row an item and half: `item`, `source`, `half`, `cell`, `dif_range` and `anchor` of
        the plug-in, then `dif_range_<rung>` (D of the mean effects) and `inclusion_<rung>`.
    settings : ComparisonSettings
    seed : int
    versions : dict
    warnings : tuple of str
    """

    audit: NearTieAudit
    ladder: pd.DataFrame
    rungs: pd.DataFrame
    pairs: pd.DataFrame
    pair_probabilities: pd.DataFrame
    calibration: pd.DataFrame
    anchors: pd.DataFrame
    settings: ComparisonSettings
    seed: int
    versions: dict[str, str]
    warnings: tuple[str, ...]

    def row(self, rung: str, anchors: str | None = None, scores: str | None = None) -> pd.Series:
        """Return a row of the ladder, of the headline cell when left out.

        Raises
        ------
        ValueError
            If there is none.
        """
        wanted = {
            "rung": rung,
            "anchors": anchors or self.settings.headline[0],
            "scores": scores or self.settings.headline[1],
        }
        found = self.ladder
        for name, value in wanted.items():
            found = found[found[name] == value]
        if found.empty:
            raise ValueError(f"the ladder has no row {', '.join(wanted.values())}")
        return found.iloc[0]

    def to_dict(self) -> dict[str, Any]:
        """Return the headline numbers, settings and caveats: what `summary.json` holds."""
        band = self.audit.band()
        columns = ["reversal_rate", "low", "high", "difference", "verdict"]
        cells = {
            f"{row['rung']}, {row['anchors']}, {row['scores']}": {
                name: row[name] for name in columns
            }
            for row in self.ladder.to_dict("records")
        }
        return {
            "plugin_rate": band["rate"],
            "random_median": band["random_median"],
            "excess_pp": band["excess_pp"],
            "n_pairs": len(self.pairs),
            "n_items": self.audit.n_items,
            "n_models": len(self.audit.population),
            "k": list(self.audit.k),
            "rungs": list(self.settings.ladder),
            "cells": cells,
            "claim": self.claim(),
            "seed": self.seed,
            "settings": {"comparison": self.settings.to_dict(), "audit": self.audit.settings},
            "versions": self.versions,
            "warnings": list(self.warnings),
        }

    def claim(self) -> str:
        """Return the sentences that may be claimed of the highest rung."""
        return claim(self)

    def __str__(self) -> str:
        return self.claim()
