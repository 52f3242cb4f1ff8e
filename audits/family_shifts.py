"""Family shifts from full to anchor score, with owners resampled (P0, D.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.owner_bootstrap import (
    BOOTSTRAPS,
    draw_owners,
    owner_means,
    percentile_limits,
)
from neartie.audits.result import NearTieAudit
from neartie.data.wording import counted

type Floats = NDArray[np.float64]

FEW_OWNERS = 10


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FamilyShifts:
    """Mean shifts of families, with intervals over resampled owners.

    Attributes
    ----------
    table : DataFrame
        `family`, `n_models`, `n_owners`, `shift_pp`, `low_pp`, `high_pp` (percentage points:
        anchor minus full score), `rank_shift`, `rank_low`, `rank_high` (points of percentile rank
        within the target half), `n_undefined` (replicates without the family). Missing limits
        where nothing was resampled.
    models : DataFrame
        `model`, `owner`, `family`, `half`, `shift_pp`, `rank_shift`: representatives.
    replicates : DataFrame
        `replicate`, `family`, `shift_pp`, `rank_shift`; missing where a replicate lacks the
        family.
    settings : dict
    warnings : tuple of str
    """

    table: pd.DataFrame
    models: pd.DataFrame
    replicates: pd.DataFrame
    settings: dict[str, Any]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the table, settings and warnings as plain values."""
        return {
            "families": self.table.to_dict("records"),
            "settings": self.settings,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        rows = (
            f"{row['family']} {row['shift_pp']:+.2f} [{row['low_pp']:+.2f}, {row['high_pp']:+.2f}]"
            for row in self.table.to_dict("records")
        )
        return "anchor minus full score, points: " + "; ".join(rows)


def shift_families(
    audit: NearTieAudit,
    *,
    bootstraps: int | NDArray[np.integer] = BOOTSTRAPS,
    rng: np.random.Generator | int | None = None,
) -> FamilyShifts:
    r"""Return how far low-DIF scoring moves every family, in score and in percentile rank.

    Parameters
    ----------
    audit : NearTieAudit
    bootstraps : int or (n_bootstrap, n_draw) int
        How often to resample the owners, or the draws: positions among the owners of the
        representatives, sorted. 0 leaves out the intervals.
    rng : Generator, int or None
        Draws the owners.

    Returns
    -------
    FamilyShifts

    Raises
    ------
    ValueError
        If a draw names no owner.

    Notes
    -----
    :math:`d_m = \tilde A_m - A_m` for every representative, scored with the anchors of the half
    that its owner is not in. The percentile rank is 100 (r - 1/2) / n within the target half,
    with r the mid-rank from below; equal scores are equal as fractions. Owners of both halves
    are drawn together, with replacement, as many as there are, each with all its representatives;
    limits are the 2.5th and 97.5th percentile of the replicates that hold the family. A shift
    describes the composition of this benchmark, not the family.

    References
    ----------
    P0, eqs 42 and 43.

    Examples
    --------
    >>> from neartie import AuditSettings, audit_near_ties, load_example
    >>> settings = AuditSettings(dimension=2, controls=0, bootstraps=0, alpha=0.5)
    >>> found = shift_families(audit_near_ties(load_example(), settings, rng=1), rng=1)
    >>> bool((found.table["low_pp"] <= found.table["shift_pp"]).all())
    True
    """
    models = model_shifts(audit)
    owners, families = (sorted(set(models[column])) for column in ("owner", "family"))
    draws = draw_owners(bootstraps, len(owners), rng)
    values = models[["shift_pp", "rank_shift"]].to_numpy(dtype=np.float64)
    means = owner_means(models, owners, families, values, draws)
    grouped = models.groupby("family", sort=True)
    low, high, undefined = percentile_limits(means)
    table = pd.DataFrame(
        {
            "family": families,
            "n_models": grouped.size().to_numpy(),
            "n_owners": grouped["owner"].nunique().to_numpy(),
            "shift_pp": grouped["shift_pp"].mean().to_numpy(),
            "low_pp": low[:, 0],
            "high_pp": high[:, 0],
            "rank_shift": grouped["rank_shift"].mean().to_numpy(),
            "rank_low": low[:, 1],
            "rank_high": high[:, 1],
            "n_undefined": undefined,
        }
    )
    return FamilyShifts(
        table=table,
        models=models,
        replicates=pd.DataFrame(
            {
                "replicate": np.repeat(np.arange(len(draws)), len(families)),
                "family": families * len(draws),
                "shift_pp": means[:, :, 0].ravel(),
                "rank_shift": means[:, :, 1].ravel(),
            }
        ),
        settings={"bootstraps": len(draws)},
        warnings=_warnings(table),
    )


def model_shifts(audit: NearTieAudit) -> pd.DataFrame:
    """Return every representative's shift in score and in percentile rank (P0, eq 42).

    Parameters
    ----------
    audit : NearTieAudit

    Returns
    -------
    DataFrame
        `model`, `owner`, `family`, `half`, `shift_pp`, `rank_shift`.
    """
    table = audit.scores
    full, anchor = (_percentile(table, name) for name in ("rank_full", "rank_anchor"))
    return pd.DataFrame(
        {
            **{name: table[name].to_numpy() for name in ("model", "owner", "family", "half")},
            "shift_pp": 100 * (table["anchor"] - table["full"]).to_numpy(dtype=np.float64),
            "rank_shift": anchor - full,
        }
    )


def _percentile(table: pd.DataFrame, name: str) -> Floats:
    """Percentile rank from competition ranks, which were decided exactly."""
    grouped = table.groupby("half")[name]
    n = grouped.transform("size").to_numpy(dtype=np.float64)
    ties = table.groupby(["half", name])[name].transform("size").to_numpy(dtype=np.float64)
    from_top = table[name].to_numpy(dtype=np.float64) + (ties - 1) / 2
    return np.asarray(100 * (n + 1 - from_top - 0.5) / n)


def _warnings(table: pd.DataFrame) -> tuple[str, ...]:
    found = [
        f"{row['family']}: an interval over {counted(row['n_owners'], 'owner')} is unreliable, and "
        "mostly too short."
        for row in table.to_dict("records")
        if row["n_owners"] < FEW_OWNERS
    ]
    return tuple(found)
