"""Family shifts of two benchmarks over exactly the same models (P0, B.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from neartie.audits.family_shifts import FEW_OWNERS, model_shifts
from neartie.audits.owner_bootstrap import (
    BOOTSTRAPS,
    draw_owners,
    owner_means,
    percentile_limits,
)
from neartie.audits.result import NearTieAudit
from neartie.data.errors import DataError
from neartie.data.wording import counted


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
        draws = draw_owners(bootstraps if owners else 0, len(owners), stream)
        values = common[["left_pp", "right_pp"]].to_numpy(dtype=np.float64)
        both = np.column_stack([values, values[:, 1] - values[:, 0]])
        low, high, undefined = percentile_limits(owner_means(common, owners, families, both, draws))
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


def _common_warnings(table: pd.DataFrame) -> tuple[str, ...]:
    """Return a caveat a pair of benchmarks for what they do not share, then one an unsafe interval."""
    lacking, unsafe = [], []
    for (left, right), part in table.groupby(["left", "right"], sort=False):
        without = part.loc[part["n_models"] == 0, "family"].tolist()
        if len(without) == len(part):
            lacking.append(f"{left} and {right} share no representative.")
        elif without:
            lacking.append(f"{left} and {right} share no representative of {', '.join(without)}.")
    if len(lacking) > 1 and not table["n_models"].any():
        lacking = ["No two benchmarks share a representative: no shifts over the same models."]
    for row in table.to_dict("records"):
        if 0 < row["n_owners"] < FEW_OWNERS:
            unsafe.append(
                f"{row['left']} and {row['right']}, {row['family']}: an interval over "
                f"{counted(row['n_owners'], 'owner')} is unreliable, and mostly too short."
            )
    return (*lacking, *unsafe)
