"""Family shifts from full to anchor score, with owners resampled (P0, D.1 and B.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.result import NearTieAudit
from neartie.data.errors import DataError
from neartie.data.wording import counted

type Floats = NDArray[np.float64]

BOOTSTRAPS = 2000
CHUNK = 256
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
            f"{row.family} {row.shift_pp:+.2f} [{row.low_pp:+.2f}, {row.high_pp:+.2f}]"
            for row in self.table.itertuples()
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
    draws = _draws(bootstraps, len(owners), rng)
    values = models[["shift_pp", "rank_shift"]].to_numpy(dtype=np.float64)
    means = _bootstrap_means(models, owners, families, values, draws)
    grouped = models.groupby("family", sort=True)
    low, high, undefined = _limits(means)
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


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CommonModelShifts:
    """Family shifts of two benchmarks over exactly the same models.

    Attributes
    ----------
    table : DataFrame
        One row a pair of benchmarks and family: `left`, `right`, `family`, `n_models`,
        `n_owners`, `left_pp`, `right_pp`, `difference_pp` (right minus left), `low_pp`,
        `high_pp`, `n_undefined`. Missing where no model of the family is in both.
    settings : dict
    warnings : tuple of str
    """

    table: pd.DataFrame
    settings: dict[str, Any]
    warnings: tuple[str, ...]


def compare_common_models(
    audits: Mapping[str, NearTieAudit],
    *,
    bootstraps: int = BOOTSTRAPS,
    rng: np.random.Generator | int | None = None,
) -> CommonModelShifts:
    """Return family shifts of all pairs of benchmarks over the models that represent in both.

    Parameters
    ----------
    audits : mapping of str to NearTieAudit
        By benchmark; pairs are in plain order of names.
    bootstraps : int
        How often to resample the owners of the common models; 0 leaves out the intervals.
    rng : Generator, int or None
        One stream a pair.

    Returns
    -------
    CommonModelShifts

    Raises
    ------
    DataError
        If fewer than two audits are given, or a common model has another owner or family.

    Notes
    -----
    Representatives are chosen by their accuracy, so that an owner may be represented by different
    checkpoints in two benchmarks; only the same checkpoint counts as common. One draw of owners
    serves both benchmarks.

    References
    ----------
    P0, B.4.
    """
    if len(audits) < 2:
        raise DataError(f"common models need at least two audits, got {len(audits)}")
    rows: list[dict[str, Any]] = []
    tables = {name: model_shifts(audits[name]) for name in sorted(audits)}
    pairs = list(combinations(tables, 2))
    for (left, right), stream in zip(
        pairs, np.random.default_rng(rng).spawn(len(pairs)), strict=True
    ):
        common = _join(tables, left, right)
        families = sorted({*tables[left]["family"], *tables[right]["family"]})
        owners = sorted(set(common["owner"]))
        draws = _draws(bootstraps if owners else 0, len(owners), stream)
        values = common[["left_pp", "right_pp"]].to_numpy(dtype=np.float64)
        both = np.column_stack([values, values[:, 1] - values[:, 0]])
        low, high, undefined = _limits(_bootstrap_means(common, owners, families, both, draws))
        for f, family in enumerate(families):
            members = (common["family"] == family).to_numpy()
            mean = both[members].mean(axis=0) if members.any() else np.full(3, np.nan)
            rows.append(
                {
                    "left": left,
                    "right": right,
                    "family": family,
                    "n_models": int(members.sum()),
                    "n_owners": int(common.loc[members, "owner"].nunique()),
                    "left_pp": mean[0],
                    "right_pp": mean[1],
                    "difference_pp": mean[2],
                    "low_pp": low[f, 2],
                    "high_pp": high[f, 2],
                    "n_undefined": int(undefined[f]),
                }
            )
    table = pd.DataFrame(rows)
    return CommonModelShifts(
        table=table, settings={"bootstraps": bootstraps}, warnings=_common_warnings(table)
    )


def _percentile(table: pd.DataFrame, name: str) -> Floats:
    """Percentile rank from competition ranks, which were decided exactly."""
    grouped = table.groupby("half")[name]
    n = grouped.transform("size").to_numpy(dtype=np.float64)
    ties = table.groupby(["half", name])[name].transform("size").to_numpy(dtype=np.float64)
    from_top = table[name].to_numpy(dtype=np.float64) + (ties - 1) / 2
    return np.asarray(100 * (n + 1 - from_top - 0.5) / n)


def _draws(
    bootstraps: int | NDArray[np.integer],
    n_owner: int,
    rng: np.random.Generator | int | None,
) -> NDArray[np.intp]:
    if isinstance(bootstraps, (int, np.integer)):
        if bootstraps < 0:
            raise ValueError(f"bootstraps must not be negative, got {bootstraps}")
        if not bootstraps:
            return np.empty((0, n_owner), dtype=np.intp)
        return np.random.default_rng(rng).integers(n_owner, size=(int(bootstraps), n_owner))
    draws = np.asarray(bootstraps, dtype=np.intp)
    if draws.ndim != 2 or (draws.size and not 0 <= draws.min() <= draws.max() < n_owner):
        raise ValueError(f"draws must be rows of positions among {n_owner} owners")
    return draws


def _bootstrap_means(
    models: pd.DataFrame,
    owners: list[str],
    families: list[str],
    values: Floats,
    draws: NDArray[np.intp],
) -> Floats:
    """Mean of every replicate, family and column; NaN where the replicate lacks the family."""
    owner = pd.Categorical(models["owner"], categories=owners).codes.astype(np.intp)
    family = pd.Categorical(models["family"], categories=families).codes.astype(np.intp)
    total = np.zeros((len(owners), len(families), values.shape[1] + 1))
    np.add.at(total, (owner, family), np.column_stack([np.ones(len(models)), values]))
    flat = total.reshape(len(owners), -1)
    out = np.full((len(draws), len(families), values.shape[1]), np.nan)
    for first in range(0, len(draws), CHUNK):
        part = draws[first : first + CHUNK]
        times = np.zeros((len(part), len(owners)))
        np.add.at(times, (np.arange(len(part))[:, None], part), 1.0)
        sums = (times @ flat).reshape(len(part), len(families), -1)
        count = sums[:, :, :1]
        np.divide(sums[:, :, 1:], count, out=out[first : first + CHUNK], where=count > 0)
    return out


def _limits(means: Floats) -> tuple[Floats, Floats, NDArray[np.intp]]:
    n_family, n_column = means.shape[1:]
    low, high = np.full((n_family, n_column), np.nan), np.full((n_family, n_column), np.nan)
    undefined = np.zeros(n_family, dtype=np.intp)
    for f in range(n_family):
        defined = ~np.isnan(means[:, f, 0])
        undefined[f] = int((~defined).sum())
        if defined.any():
            low[f], high[f] = np.quantile(means[defined, f], [0.025, 0.975], axis=0)
    return low, high, undefined


def _join(tables: dict[str, pd.DataFrame], left: str, right: str) -> pd.DataFrame:
    joined = tables[left].merge(tables[right], on="model", suffixes=("", "_right"))
    for column in ("owner", "family"):
        differs = joined[joined[column] != joined[f"{column}_right"]]
        if len(differs):
            row = differs.iloc[0]
            raise DataError(
                f"model {row['model']!r} has {column} {row[column]!r} in {left!r} and "
                f"{row[f'{column}_right']!r} in {right!r}: give it the same in both model tables"
            )
    names = {"shift_pp": "left_pp", "shift_pp_right": "right_pp"}
    return joined.rename(columns=names).sort_values("model", ignore_index=True)


def _warnings(table: pd.DataFrame) -> tuple[str, ...]:
    found = [
        f"{row.family}: an interval over {counted(int(row.n_owners), 'owner')} is unreliable, and "
        "mostly too short."
        for row in table.itertuples()
        if row.n_owners < FEW_OWNERS
    ]
    return tuple(found)


def _common_warnings(table: pd.DataFrame) -> tuple[str, ...]:
    found = []
    for row in table.itertuples():
        if row.n_models == 0:
            found.append(f"{row.left} and {row.right} share no representative of {row.family}.")
        elif row.n_owners < FEW_OWNERS:
            found.append(
                f"{row.left} and {row.right}, {row.family}: an interval over "
                f"{counted(int(row.n_owners), 'owner')} is unreliable, and mostly too short."
            )
    return tuple(found)
