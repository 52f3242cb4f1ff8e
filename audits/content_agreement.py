"""Reliability of the annotation: agreement by axis, and the limits for its medians (P0, D.4)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd

from neartie.audits.agreement import cohen_kappa, rank_agreement
from neartie.audits.content_axes import ContentAxes

KAPPA_LIMIT = 0.45
RHO_LIMIT = 0.50


def agreement_table(joined: Mapping[str, pd.DataFrame], axes: ContentAxes) -> pd.DataFrame:
    """Return the agreement of every pair of annotators on every axis.

    Parameters
    ----------
    joined : mapping of str to DataFrame
        Labels of every annotator, rows in one order.
    axes : ContentAxes

    Returns
    -------
    DataFrame
        `axis`, `kind` (`kappa` for binary axes, `rho` for ordinal ones), `annotator_a`,
        `annotator_b`, `n`, `observed`, `value` (missing where undefined), `reason`.
    """
    rows = []
    for axis in axes.names:
        kind = "kappa" if axis in axes.binary else "rho"
        compare = cohen_kappa if kind == "kappa" else rank_agreement
        for a, b in combinations(joined, 2):
            found = compare(joined[a][axis], joined[b][axis])
            rows.append(
                {
                    "axis": axis,
                    "kind": kind,
                    "annotator_a": a,
                    "annotator_b": b,
                    "n": found.n,
                    "observed": found.observed,
                    "value": np.nan if found.value is None else found.value,
                    "reason": found.reason,
                }
            )
    columns = ["axis", "kind", "annotator_a", "annotator_b", "n", "observed", "value", "reason"]
    return pd.DataFrame(rows, columns=columns)


def median_agreement(agreement: pd.DataFrame, kind: str) -> float | None:
    """Return the median over axes of the mean agreement, undefined ones left out (P0, eq 58)."""
    rows = agreement[(agreement["kind"] == kind) & agreement["value"].notna()]
    return float(rows.groupby("axis")["value"].mean().median()) if len(rows) else None


def is_reliable(medians: Mapping[str, float | None], axes: ContentAxes) -> bool | None:
    """Return whether the medians reach their limits; None where one of them is undefined."""
    limits = {"kappa": KAPPA_LIMIT, "rho": RHO_LIMIT}
    asked = [kind for kind, there in (("kappa", axes.binary), ("rho", axes.ordinal)) if there]
    values = [(medians[kind], limits[kind]) for kind in asked]
    if any(value is None for value, _ in values):
        return None
    return all(value is not None and value >= limit for value, limit in values)
