"""Do residual item signatures replicate across owners (P0, 4.2 and D.3)?"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.anchors import STRATA, Cells, exact_fraction
from neartie.audits.replication_counts import (
    STATISTICS,
    ReplicationCounts,
    Sides,
    count_drawn,
)
from neartie.audits.result import NearTieAudit
from neartie.audits.signatures import TOP_SHARE, Signatures, read_signatures
from neartie.data.responses import Responses
from neartie.data.wording import counted

PERMUTATIONS = 500
FEW_SHARED = 20
UNEQUAL = (
    "The p of overlap takes items of a cell as exchangeable, which they are not: items that tell "
    "little have large effects by noise in both halves, so that overlap replicates without family "
    "DIF too, the more so the more items there are. Signed effects hardly have this: lean on "
    "median rho."
)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Replication:
    """How far the item signatures of one owner half return in the other.

    Attributes
    ----------
    table : DataFrame
        One row a statistic (`median_rho`, `overlap`, `agreement`): `statistic`, `value` (missing
        where undefined), `chance` (exact expectation for `overlap`, mean of the permutations for
        the others), `p_value` (one-sided), `chance_low`, `chance_high` (2.5th and 97.5th
        percentile of the permutations), `n_undefined` (permutations without a value).
    families : DataFrame
        `family`, `rho` (Spearman within cells; missing where a half has no variation).
    items : DataFrame
        `item`, `source`, `cell` (common), `top_0`, `top_1` (0 or 1), `dif_range_0`,
        `dif_range_1` (logit), `advantaged_0`, `advantaged_1` (blank where shared).
    permutations : DataFrame
        `replicate` and the three statistics.
    n_top, n_both, n_agree : int
        Top items of half 0; of these, top in half 1 too; of these, with the same family ahead.
    settings : dict
    warnings : tuple of str
    """

    table: pd.DataFrame
    families: pd.DataFrame
    items: pd.DataFrame
    permutations: pd.DataFrame
    n_top: int
    n_both: int
    n_agree: int
    settings: dict[str, Any]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics, counts, settings and warnings as plain values."""
        return {
            "statistics": self.table.to_dict("records"),
            "n_top": self.n_top,
            "n_both": self.n_both,
            "n_agree": self.n_agree,
            "settings": self.settings,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        parts = []
        names = {"median_rho": "median rho", "overlap": "overlap", "agreement": "agreement"}
        for row in self.table.to_dict("records"):
            name, value, p_value = names[row["statistic"]], row["value"], row["p_value"]
            if np.isnan(value):
                parts.append(f"{name} undefined")
                continue
            shown = f"{value:.3f}" if name == "median rho" else f"{100 * value:.1f} %"
            p = "" if np.isnan(p_value) else f" (p = {p_value:.3g})"
            parts.append(f"{name} {shown}{p}")
        return "replication of item signatures: " + ", ".join(parts)


def replicate_signatures(
    audit: NearTieAudit,
    responses: Responses,
    *,
    permutations: int | NDArray[np.integer] = PERMUTATIONS,
    share: float | str | Fraction = TOP_SHARE,
    strata: int = STRATA,
    rng: np.random.Generator | int | None = None,
) -> Replication:
    r"""Return the three replication statistics with permutation p-values.

    Parameters
    ----------
    audit : NearTieAudit
    responses : Responses
        What was audited.
    permutations : int or (n_permutation, n_item) int
        How many to draw, or the permutations: entry i is the item (in the order of the audit)
        whose signature of half 1 is put at item i; within common cells. 0 leaves out the test.
    share : number in (0, 1)
        Share of every cell that counts as high DIF.
    strata : int
        Easiness strata a source.
    rng : Generator, int or None
        Draws the permutations.

    Returns
    -------
    Replication

    Raises
    ------
    ValueError
        If the share or a permutation is impossible.
    DataError
        If the responses are not those of the audit.

    Notes
    -----
    Effects lose the mean of their common cell; :math:`\rho_f` is Spearman's correlation of what
    is left, over all items, and the first statistic its median over families. `overlap` is
    :math:`|H_0 \cap H_1| / |H_0|`, `agreement` the share of :math:`H_0 \cap H_1` in which the same
    family has the largest effect. Complete signatures of half 1 are permuted within cells;
    :math:`p = (1 + \#\{S^{(r)} \ge S\}) / (R + 1)`. A permutation without a shared top item has no
    agreement and counts as at least the observed one. Ranks and counts are compared as whole
    numbers. The chance of overlap is :math:`\sum_c k_c^2 / n_c / \sum_c k_c`: 20 % if cells are
    large, more if a cell of a few items has to name one.

    References
    ----------
    P0, 4.2 and eqs 47-53. Phipson and Smyth (2010), doi:10.2202/1544-6115.1585.

    Examples
    --------
    >>> from neartie import AuditSettings, audit_near_ties, load_example
    >>> data = load_example()
    >>> settings = AuditSettings(dimension=2, controls=0, bootstraps=0, alpha=0.5)
    >>> found = replicate_signatures(audit_near_ties(data, settings, rng=1), data, rng=1)
    >>> found.table["p_value"].round(3).tolist()
    [0.002, 0.002, 0.008]
    """
    top_share = exact_fraction(share)
    if not 0 < top_share < 1:
        raise ValueError(f"share must lie in (0, 1), got {share}")
    signatures = read_signatures(audit, responses)
    cells = signatures.common_cells(strata=strata)
    if isinstance(permutations, (int, np.integer)):
        if permutations < 0:
            raise ValueError(f"permutations must not be negative, got {permutations}")
        drawn = None
    else:
        drawn = _checked(np.asarray(permutations), cells)
    sides = Sides.prepare(signatures, cells, top_share)
    observed = sides.count(np.arange(len(cells.code), dtype=np.int32)[None, :])
    if drawn is None:
        null = count_drawn(sides, cells, int(permutations), np.random.default_rng(rng))
    else:
        null = sides.count(drawn)
    n_permutation = len(null.n_both)
    return Replication(
        table=_table(observed, null, cells, sides),
        families=pd.DataFrame({"family": signatures.families, "rho": observed.rho[0]}),
        items=_items(signatures, cells, sides),
        permutations=pd.DataFrame(
            {"replicate": np.arange(n_permutation)}
            | {name: null.statistic(name) for name in STATISTICS}
        ),
        n_top=int(sides.top[0].sum()),
        n_both=int(observed.n_both[0]),
        n_agree=int(observed.n_agree[0]),
        settings={"permutations": n_permutation, "share": float(top_share), "strata": strata},
        warnings=_warnings(observed, null, cells, signatures),
    )


def _checked(permutations: NDArray[np.integer], cells: Cells) -> NDArray[np.int32]:
    n = len(cells.code)
    if permutations.ndim != 2 or permutations.shape[1] != n:
        raise ValueError(
            f"permutations must have one column an item ({n}), got shape {permutations.shape}"
        )
    for number, row in enumerate(permutations, start=1):
        if not np.array_equal(np.sort(row), np.arange(n)):
            raise ValueError(f"row {number} of permutations does not name every item once")
        if (cells.code[row] != cells.code).any():
            raise ValueError(f"row {number} of permutations moves an item out of its common cell")
    return permutations.astype(np.int32)


def _table(
    observed: ReplicationCounts, null: ReplicationCounts, cells: Cells, sides: Sides
) -> pd.DataFrame:
    kept = np.bincount(cells.code[sides.top[0]], minlength=len(cells.size))
    expected = float((kept**2 / cells.size).sum() / kept.sum())
    rows = []
    for name in STATISTICS:
        value = float(observed.statistic(name)[0])
        values = null.statistic(name)
        defined = values[~np.isnan(values)]
        low, high = np.quantile(defined, [0.025, 0.975]) if len(defined) else (np.nan, np.nan)
        mean = float(defined.mean()) if len(defined) else np.nan
        reached = int(null.at_least(observed, name).sum())
        tested = len(values) > 0 and not np.isnan(value)
        rows.append(
            {
                "statistic": name,
                "value": value,
                "chance": expected if name == "overlap" else mean,
                "p_value": (1 + reached) / (len(values) + 1) if tested else np.nan,
                "chance_low": float(low),
                "chance_high": float(high),
                "n_undefined": len(values) - len(defined),
            }
        )
    return pd.DataFrame(rows)


def _items(signatures: Signatures, cells: Cells, sides: Sides) -> pd.DataFrame:
    names = np.array([*signatures.families, ""], dtype=object)
    table = {
        "item": signatures.items,
        "source": signatures.source,
        "cell": np.array(cells.names, dtype=object)[cells.code],
    }
    for half in (0, 1):
        table[f"top_{half}"] = sides.top[half].astype(int)
    for half in (0, 1):
        table[f"dif_range_{half}"] = signatures.dif_range[half]
    for half in (0, 1):
        table[f"advantaged_{half}"] = names[sides.advantaged[half]]
    return pd.DataFrame(table)


def _warnings(
    observed: ReplicationCounts, null: ReplicationCounts, cells: Cells, signatures: Signatures
) -> tuple[str, ...]:
    found = []
    flat = [f for f, s in zip(signatures.families, observed.scale, strict=True) if not s > 0]
    if flat:
        found.append(
            f"No rank correlation is defined for {', '.join(flat)}: the effects do not vary within "
            "cells in one of the halves. The median is over the other families."
        )
    if int(observed.n_both[0]) == 0:
        found.append(
            "No item is among the highest in both halves: agreement on a family is undefined."
        )
    elif int(observed.n_both[0]) < FEW_SHARED:
        found.append(
            f"Agreement rests on {counted(int(observed.n_both[0]), 'item')}: it is coarse and noisy."
        )
    undefined = int((null.n_both == 0).sum())
    if undefined and int(observed.n_both[0]):
        found.append(
            f"{counted(undefined, 'permutation')} shared no high item; they count against the "
            "observed agreement in p."
        )
    small = int(cells.size[cells.size < 5].sum())
    if 10 * small > len(cells.code):
        found.append(
            f"{small:,} of {len(cells.code):,} items are in cells of fewer than five, each of which "
            "has to name a high item: overlap by chance is larger than the share asked for."
        )
    return (*found, UNEQUAL) if len(null.n_both) else tuple(found)
