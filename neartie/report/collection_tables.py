"""Several benchmarks as tables: the paper's Tables 1, 2, 4, 5, 6 and 7 (P0, 5 and B)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from neartie.audits.collection_checks import CollectionChecks
from neartie.audits.common_models import CommonModelShifts
from neartie.audits.control_comparison import PERMUTED
from neartie.audits.replication import Replication
from neartie.audits.replication_families import FamilyReplication
from neartie.report.formatting import (
    MISSING,
    SIGNIFICANT,
    correlation,
    count,
    is_missing,
    p_number,
    percent,
    points,
    signed,
)
from neartie.report.further_tables import signed_span, statistic
from neartie.report.table import Column, Table
from neartie.report.tables import table_1, with_permuted

type _Rows = Mapping[tuple[Any, Any], Mapping[Any, Any]]


def primary_table(whole: CollectionChecks) -> Table:
    """Return the primary results (P0, Table 1), with the excess over permuted labels if there."""
    each = [table_1(audit, name=name) for name, audit in whole.audits.audits.items()]
    table = replace(each[0], rows=tuple(part.rows[0] for part in each))
    permuted = [found.control(PERMUTED) for found in whole.checks.values()]
    return with_permuted(table, permuted) if any(permuted) else table


def bands_table(whole: CollectionChecks) -> Table:
    """Return low-DIF over matched-random rates by band (P0, Table 4)."""
    table = whole.audits.threshold_table()
    bands = sorted(set(table["epsilon"]))
    return Table(
        caption="Low-DIF reversal rate / matched-random median (%) by band",
        note="Bands of the full-score gap are cumulative; all but the primary one are descriptive.",
        columns=(
            Column(head="Benchmark", numeric=False),
            *(Column(head=f"{points(band)} pp") for band in bands),
        ),
        rows=tuple(
            (
                name,
                *(
                    _two(audit.band(band)) if band in set(audit.thresholds["epsilon"]) else MISSING
                    for band in bands
                ),
            )
            for name, audit in whole.audits.audits.items()
        ),
    )


def _two(row: Mapping[str, Any]) -> str:
    if is_missing(row["rate"]):
        return MISSING
    return f"{percent(row['rate'])}/{percent(row['random_median'])}"


def fractions_table(whole: CollectionChecks) -> Table:
    """Return rank correlation and reversal rate by anchor fraction (P0, Table 5)."""
    table = whole.audits.fraction_table()
    alphas = sorted(set(table["alpha"]))
    by_cell = {(row["benchmark"], row["alpha"]): row for row in table.to_dict("records")}
    return Table(
        caption="Rank correlation / near-tie reversal rate (%) by fraction of items kept",
        note="Kendall's τ_b of full and anchor scores. Descriptive: shorter tests reverse more pairs in any case.",
        columns=(
            Column(head="Benchmark", numeric=False),
            *(Column(head=f"{points(alpha)}%") for alpha in alphas),
        ),
        rows=tuple(
            (name, *(_fraction(by_cell, name, alpha) for alpha in alphas))
            for name in whole.audits.audits
        ),
    )


def _fraction(by_cell: _Rows, name: str, alpha: float) -> str:
    row = by_cell.get((name, alpha))
    if row is None:
        return MISSING
    return f"{correlation(row['tau_b'])}/{percent(row['reversal_rate'])}"


def robustness_matrix(whole: CollectionChecks) -> Table:
    """Return the excess by population and benchmark, with the passing rule (P0, Table 6)."""
    table, passing = whole.audits.robustness_table(), whole.audits.passing_table()
    names = list(whole.audits.robustness)
    by_cell = {(row["variant"], row["benchmark"]): row for row in table.to_dict("records")}
    return Table(
        caption="Excess reversals (pp) by population",
        note=(
            "A star marks one-sided p of at most .05. A population passes with an excess above "
            "zero, and with a star, in three fifths of the benchmarks."
        ),
        columns=(
            Column(head="Population", numeric=False),
            *(Column(head=name) for name in names),
            Column(head="Above zero"),
            Column(head="Starred"),
            Column(head="Passes", numeric=False),
        ),
        rows=tuple(
            (
                str(row["variant"]),
                *(_starred(by_cell, row["variant"], name) for name in names),
                f"{row['n_positive']} of {row['n_benchmarks']}",
                f"{row['n_significant']} of {row['n_benchmarks']}",
                "yes" if row["passes"] else "no",
            )
            for row in passing.to_dict("records")
        ),
        marked=tuple(int(i) for i in np.flatnonzero(passing["variant"] == "primary")),
    )


def _starred(by_cell: _Rows, variant: str, name: str) -> str:
    row = by_cell.get((variant, name))
    if row is None:
        return MISSING
    p = row["p_value"]
    return signed(row["excess_pp"]) + ("*" if not is_missing(p) and p <= SIGNIFICANT else "")


def replication_matrix(found: Mapping[str, Replication]) -> Table:
    """Return the replication statistics of every benchmark (P0, Table 2)."""
    return _statistics(
        {name: part.table for name, part in found.items()},
        caption="Replication of item signatures across owners",
        note="Each statistic with its one-sided p from permutations within cells.",
    )


def families_found(whole: CollectionChecks) -> dict[str, FamilyReplication]:
    """Return the replication beside permuted families of the benchmarks that have it."""
    parts = {name: part.family_replication for name, part in whole.checks.items()}
    return {name: part for name, part in parts.items() if part is not None}


def family_replication_matrix(found: Mapping[str, FamilyReplication]) -> Table:
    """Return the replication statistics beside permuted families (beyond the paper)."""
    return _statistics(
        {name: part.table for name, part in found.items()},
        caption="The same beside permuted families",
        note="Observed / mean of refits under permuted families, with its one-sided p.",
        beside=True,
    )


def _statistics(
    found: Mapping[str, pd.DataFrame], *, caption: str, note: str, beside: bool = False
) -> Table:
    rows = []
    for name, table in found.items():
        by_name = {row["statistic"]: row for row in table.to_dict("records")}
        cells = []
        for key in ("median_rho", "overlap", "agreement"):
            row = by_name[key]
            text = statistic(key, row["value"])
            cells.append(f"{text}/{statistic(key, row['chance'])}" if beside else text)
            cells.append(p_number(row["p_value"]))
        rows.append((name, *cells))
    p = Column(head="p", symbol="$p$")
    return Table(
        caption=caption,
        note=note,
        columns=(
            Column(head="Benchmark", numeric=False),
            Column(head="Median correlation"),
            p,
            Column(head="Overlap of the top fifths (%)"),
            p,
            Column(head="Same family ahead (%)"),
            p,
        ),
        rows=tuple(rows),
    )


def shifts_matrix(whole: CollectionChecks) -> Table:
    """Return family shifts by benchmark, in points."""
    tables = {n: f.shifts.table for n, f in whole.checks.items() if f.shifts is not None}
    families = sorted({family for table in tables.values() for family in table["family"]})
    rows = []
    for name, table in tables.items():
        shift = dict(zip(table["family"], table["shift_pp"], strict=True))
        rows.append((name, *(signed(shift.get(family), digits=2) for family in families)))
    return Table(
        caption="Mean anchor minus full score (pp) by family",
        note="A family whose sign changes between benchmarks has no advantage of its own.",
        columns=(
            Column(head="Benchmark", numeric=False),
            *(Column(head=family) for family in families),
        ),
        rows=tuple(rows),
    )


def common_table(common: CommonModelShifts) -> Table:
    """Return shifts over the same models in two benchmarks (P0, Table 7)."""
    return Table(
        caption="Family shifts over exactly the same models",
        note=(
            "Models that represent their owner and family in both benchmarks; 95% intervals of the "
            "difference, right minus left, over resampled owners."
        ),
        columns=(
            Column(head="Left", numeric=False),
            Column(head="Right", numeric=False),
            Column(head="Family", numeric=False),
            Column(head="Models"),
            Column(head="Left (pp)"),
            Column(head="Right (pp)"),
            Column(head="Difference"),
            Column(head="95% interval"),
        ),
        rows=tuple(
            (
                row["left"],
                row["right"],
                row["family"],
                count(row["n_models"]),
                signed(row["left_pp"], digits=2),
                signed(row["right_pp"], digits=2),
                signed(row["difference_pp"], digits=2),
                signed_span(row["low_pp"], row["high_pp"]),
            )
            for row in common.table.to_dict("records")
            if row["n_models"]
        ),
    )
