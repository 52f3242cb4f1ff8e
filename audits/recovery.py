"""Bias, error and coverage by rung, from simulated leaderboards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from neartie.audits.comparison_settings import ComparisonSettings
from neartie.audits.few_data_sets import too_few_words
from neartie.audits.recovery_claim import rung_claim, share_limits, top_rung
from neartie.audits.settings import AuditSettings
from neartie.data.errors import DataError
from neartie.data.wording import counted

#: Up to which p value an excess over matched-random subtests is claimed.
LEVEL: Final = 0.05
_KEYS: Final = ["rung", "anchors", "scores"]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Recovery:
    """How far every cell of the ladder is off the truth.

    Attributes
    ----------
    table : DataFrame
        One row a rung, kind of anchors and kind of scores: `rung`, `anchors`, `scores`, `bias`
        (mean of rate minus target, proportion), `rmse`, `coverage` (share of 95 % intervals that
        hold the target), `interval_width` (mean), `n_replicates`, `bias_se`, `coverage_se` (Monte
        Carlo errors), `rate`, `target` (means), `excess_pp`, `excess_target_pp` (means),
        `excess_coverage`, `claims` (share of leaderboards of which an excess is claimed: p <=
        .05 against matched-random subtests scored in the same way), `differs` (share with that
        verdict), `coverage_low`, `coverage_high` (limits of the coverage by Clopper and Pearson).
        What has no interval has blanks.
    anchors : DataFrame
        `rung`, `anchors`, `gain` (1 for the anchors of the true D, 0 for random ones), `gain_se`,
        `spearman` (of D and the true D), `n` (leaderboards and halves).
    replicates : DataFrame
        The rows of the ladder, with `replicate`, `target` and `excess_target_pp`.
    failed : DataFrame
        `replicate`, `reason`.
    boards : dict
        What was drawn.
    settings : ComparisonSettings
    audit : AuditSettings
    seed : int
    versions : dict
    warnings : tuple of str
    """

    table: pd.DataFrame
    anchors: pd.DataFrame
    replicates: pd.DataFrame
    failed: pd.DataFrame
    boards: dict[str, Any]
    settings: ComparisonSettings
    audit: AuditSettings
    seed: int
    versions: dict[str, str]
    warnings: tuple[str, ...]

    def claim(self) -> str:
        """Return in a sentence how far the highest rung is off, in the headline cell."""
        return rung_claim(self.table, self.settings, top_rung(self.settings))

    def __str__(self) -> str:
        return self.claim()

    def to_dict(self) -> dict[str, Any]:
        """Return cells, claim, sizes, settings and caveats: what `summary.json` holds."""
        return {
            "claim": self.claim(),
            "cells": self.table.to_dict("records"),
            "anchors": self.anchors.to_dict("records"),
            "n_replicates": int(self.replicates["replicate"].nunique()),
            "n_failed": len(self.failed),
            "boards": self.boards,
            "seed": self.seed,
            "settings": {"comparison": self.settings.to_dict(), "audit": self.audit.to_dict()},
            "versions": self.versions,
            "warnings": list(self.warnings),
        }


def collect_recovery(
    records: Sequence[dict[str, Any]],
    *,
    boards: dict[str, Any],
    settings: ComparisonSettings,
    audit: AuditSettings,
    seed: int,
    versions: dict[str, str],
) -> Recovery:
    """Return the tables of simulated comparisons.

    Parameters
    ----------
    records : sequence of dict
        Of `record_board`.
    boards : dict
    settings : ComparisonSettings
    audit : AuditSettings
    seed : int
    versions : dict

    Returns
    -------
    Recovery

    Raises
    ------
    DataError
        If no leaderboard could be compared; says why.
    """
    failed = pd.DataFrame(
        [{"replicate": r["data_set"], "reason": r["failed"]} for r in records if r["failed"]],
        columns=["replicate", "reason"],
    )
    if len(failed) == len(records):
        raise DataError(
            f"none of {counted(len(records), 'simulated leaderboard')} could be compared; the "
            f"first: {failed['reason'].iloc[0]}"
        )
    rows = [row | {"replicate": r["data_set"]} for r in records for row in r["rows"]]
    # What is not defined was stored as nothing.
    replicates = pd.DataFrame(rows)
    texts = [*_KEYS, "verdict"]
    numbers = [name for name in replicates.columns if name not in texts]
    replicates = replicates.astype(dict.fromkeys(numbers, float)).astype({"replicate": int})
    anchors = pd.DataFrame([row for r in records for row in r["anchors"]])
    return Recovery(
        table=pd.DataFrame(
            [
                dict(zip(_KEYS, key, strict=True)) | _cell(part)
                for key, part in replicates.groupby(_KEYS, sort=False)
            ]
        ),
        anchors=_anchors(anchors),
        replicates=replicates,
        failed=failed,
        boards=boards,
        settings=settings,
        audit=audit,
        seed=seed,
        versions=versions,
        warnings=_caveats(records, failed),
    )


def _caveats(records: Sequence[dict[str, Any]], failed: pd.DataFrame) -> tuple[str, ...]:
    n = len(records) - len(failed)
    found = []
    if len(failed):
        found.append(
            f"{len(failed)} of {len(records)} leaderboards could not be compared and are left out, "
            f"the first because: {failed['reason'].iloc[0]}"
        )
    found.append(too_few_words(n, "leaderboard"))
    crowded = sum(bool(record.get("crowded")) for record in records)
    if crowded:
        found.append(
            f"K is more than a quarter of the models of a half in {crowded} of "
            f"{counted(n, 'leaderboard')}: dimensions then take up family effects; a smaller K is safer"
        )
    return tuple(filter(None, found))


def _cell(part: pd.DataFrame) -> dict[str, Any]:
    """Return what is said of one cell over all leaderboards."""
    error = (part["reversal_rate"] - part["target"]).dropna().to_numpy()
    covered = _covered(part, "low", "high", "target")
    excess = _covered(part, "excess_low", "excess_high", "excess_target_pp")
    p_value = part["p_value"].dropna().to_numpy()
    n = len(error)
    low, high = share_limits(_mean(covered), len(covered)) if len(covered) else (math.nan,) * 2
    return {
        "bias": _mean(error),
        "rmse": math.sqrt(_mean(error**2)) if n else math.nan,
        "coverage": _mean(covered),
        "interval_width": _mean((part["high"] - part["low"]).dropna().to_numpy()),
        "n_replicates": n,
        "bias_se": _error(error),
        "coverage_se": _error(covered),
        "rate": _mean(part["reversal_rate"].dropna().to_numpy()),
        "target": _mean(part["target"].dropna().to_numpy()),
        "excess_pp": _mean(part["excess_pp"].dropna().to_numpy()),
        "excess_target_pp": _mean(part["excess_target_pp"].dropna().to_numpy()),
        "excess_coverage": _mean(excess),
        "claims": _mean((p_value <= LEVEL).astype(float)),
        "differs": _mean((part["verdict"] == "differs").to_numpy(dtype=float)),
        "coverage_low": low,
        "coverage_high": high,
    }


def _covered(part: pd.DataFrame, low: str, high: str, target: str) -> Any:
    known = part[[low, high, target]].dropna()
    return ((known[low] <= known[target]) & (known[target] <= known[high])).to_numpy(dtype=float)


def _anchors(rows: pd.DataFrame) -> pd.DataFrame:
    found = []
    for (rung, anchors), part in rows.groupby(["rung", "anchors"], sort=False):
        gain = part["gain"].dropna().to_numpy(dtype=float)
        spearman = part["spearman"].dropna().to_numpy(dtype=float)
        found.append(
            {
                "rung": rung,
                "anchors": anchors,
                "gain": _mean(gain),
                "gain_se": _error(gain),
                "spearman": _mean(spearman),
                "n": len(part),
            }
        )
    return pd.DataFrame(found)


def _mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else math.nan


def _error(values: Any) -> float:
    """Return the Monte Carlo standard error of a mean; of equal values it is not known."""
    if len(values) < 2 or np.ptp(values) == 0:
        return math.nan
    return float(np.std(values, ddof=1) / math.sqrt(len(values)))
