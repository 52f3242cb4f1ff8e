"""What was found, as tables: Table-1 row, bands, anchor fractions, reversed pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from neartie.audits.result import NearTieAudit
from neartie.data.labels import natural_key
from neartie.report.formatting import (
    MISSING,
    correlation,
    count,
    gap,
    is_missing,
    p_number,
    percent,
    point_word,
    points,
    signed,
)
from neartie.report.table import Column, Table

DEFAULT_NAME = "This benchmark"
EN_DASH = "–"
REVERSED_SHOWN = 15


def table_1(
    audit: NearTieAudit, *, name: str = DEFAULT_NAME, permuted: Mapping[str, Any] | None = None
) -> Table:
    """Return the row of P0's Table 1.

    Parameters
    ----------
    audit : NearTieAudit
    name : str
        The benchmark.
    permuted : mapping, optional
        Row of the control with permuted family labels; adds the excess over it.

    Returns
    -------
    Table
        Benchmark, K in halves 0/1, tau_b, number of close pairs, reversal rate under the
        low-DIF anchors and median of the random subtests (%), excess (points), p.
    """
    row = audit.band()
    table = Table(
        caption="Near-tie ranking result",
        note=(
            "K: dimensions in halves 0 and 1. τ_b: mean Kendall correlation of full and anchor "
            "scores. Close n: pairs of different owner and family at most "
            f"{point_word(audit.primary_epsilon)} apart on the full benchmark, tied under neither "
            "score. Low-DIF: share of them that reverses under the anchors. Random: median of the "
            "matched random subtests. Excess: their difference. p_rand: one-sided, from the "
            "random subtests."
        ),
        columns=(
            Column(head="Benchmark", numeric=False),
            Column(head="K", symbol="$K$"),
            Column(head="τ_b", symbol=r"$\tau_b$"),
            Column(head="Close n", symbol="Close $n$"),
            Column(head="Low-DIF (%)"),
            Column(head="Random (%)"),
            Column(head="Excess (pp)"),
            Column(head="p_rand", symbol=r"$p_{\mathrm{rand}}$"),
        ),
        rows=(
            (
                name,
                f"{audit.k[0]}/{audit.k[1]}",
                correlation(audit.tau_b),
                count(audit.n_eligible),
                percent(row["rate"]),
                percent(row["random_median"]),
                signed(row["excess_pp"]),
                p_number(row["p_value"]),
            ),
        ),
    )
    return table if permuted is None else with_permuted(table, [permuted])


def with_permuted(table: Table, rows: Sequence[Mapping[str, Any] | None]) -> Table:
    """Return a table with the excess over permuted family labels and its p as last columns.

    Parameters
    ----------
    table : Table
    rows : sequence of mapping or None
        Of the control, one for every row of the table; None leaves cells without a number.

    Returns
    -------
    Table
    """
    cells = [
        (MISSING, MISSING) if row is None else (signed(row["excess_pp"]), p_number(row["p_value"]))
        for row in rows
    ]
    return replace(
        table,
        note=(
            f"{table.note} Over permuted: low-DIF minus the median of anchors chosen under permuted "
            "family labels, with its one-sided p."
        ),
        columns=(
            *table.columns,
            Column(head="Over permuted (pp)"),
            Column(head="p_perm", symbol=r"$p_{\mathrm{perm}}$"),
        ),
        rows=tuple((*row, *more) for row, more in zip(table.rows, cells, strict=True)),
    )


def bands(audit: NearTieAudit) -> Table:
    """Return one row a band, as in P0's Table 4 with the spreads and the counts beside it."""
    table = audit.thresholds.sort_values("epsilon")
    rows = tuple(
        (
            points(row["epsilon"]),
            count(row["n_band"]),
            count(row["n_tied"]),
            count(row["n_eligible"]),
            percent(row["rate"]),
            percent(row["random_median"]),
            _span(row["random_low"], row["random_high"]),
            signed(row["excess_pp"]),
            p_number(row["p_value"]),
            _span(row["range_low"], row["range_high"]),
        )
        for row in table.to_dict("records")
    )
    primary = np.isclose(table["epsilon"], audit.primary_epsilon, rtol=1e-9, atol=0)
    return Table(
        caption="Reversals by band of the full-score gap",
        note=(
            "Pairs of different owner and family with at most this gap on the full benchmark. "
            "Tied: under the full or the anchor score; such pairs leave the denominator. The last "
            "column is the range over recompositions, not a confidence interval. Bands other than "
            "the primary one are descriptive."
        ),
        columns=(
            Column(head="Band (pp)"),
            Column(head="Pairs"),
            Column(head="Tied"),
            Column(head="Eligible"),
            Column(head="Low-DIF (%)"),
            Column(head="Random (%)"),
            Column(head="Random, 95% of subtests"),
            Column(head="Excess (pp)"),
            Column(head="p", symbol="$p$"),
            Column(head="Range over recompositions"),
        ),
        rows=rows,
        marked=tuple(int(i) for i in np.flatnonzero(primary)),
    )


def fractions(audit: NearTieAudit) -> Table:
    """Return one row an anchor fraction (P0, Table 5)."""
    table = audit.fractions.sort_values("alpha")
    return Table(
        caption="Sensitivity to the fraction of items kept as anchors",
        note=(
            "Kept: share of each source-by-easiness cell. Descriptive: random subtests of the "
            "same length exist for the primary fraction alone, and shorter tests reverse more "
            "pairs in any case."
        ),
        columns=(
            Column(head="Kept (%)"),
            Column(head="τ_b", symbol=r"$\tau_b$"),
            Column(head="Eligible"),
            Column(head="Low-DIF (%)"),
        ),
        rows=tuple(
            (
                points(row["alpha"]),
                correlation(row["tau_b"]),
                count(row["n_eligible"]),
                percent(row["reversal_rate"]),
            )
            for row in table.to_dict("records")
        ),
        marked=tuple(int(i) for i in np.flatnonzero(table["primary"].astype(int) == 1)),
    )


def reversed_pairs(audit: NearTieAudit, *, most: int = REVERSED_SHOWN) -> tuple[Table, int]:
    """Return the reversed near ties, largest full gap first, and how many are not shown.

    Parameters
    ----------
    audit : NearTieAudit
    most : int
        How many to show.

    Returns
    -------
    Table
        The model that is ahead on the full benchmark stands first, so the full gap is positive
        and the anchor gap negative, in percentage points.
    int
        Reversed pairs beyond `most`.
    """
    turned = audit.pairs.loc[audit.pairs["reversed"].astype(int) == 1]
    families = dict(zip(audit.scores["model"], audit.scores["family"], strict=True))
    rows = []
    for row in turned.to_dict("records"):
        gap_full, gap_anchor = float(row["gap_full"]), float(row["gap_anchor"])
        ahead, behind = str(row["model_a"]), str(row["model_b"])
        if gap_full < 0:
            ahead, behind, gap_full, gap_anchor = behind, ahead, -gap_full, -gap_anchor
        rows.append((ahead, behind, int(row["half"]), gap_full, gap_anchor))
    # Gaps are differences of shares of the same items: rounding makes equal ones equal.
    rows.sort(key=lambda r: (-round(r[3], 12), r[4], natural_key(r[0]), natural_key(r[1])))
    table = Table(
        caption="Near ties that reverse, largest full gap first",
        note=(
            "Gaps are in favour of the model that is ahead on the full benchmark. That a pair "
            "stands here does not say which of its models is better."
        ),
        columns=(
            Column(head="Ahead on the full benchmark", numeric=False, long=True),
            Column(head="Ahead on the anchors", numeric=False, long=True),
            Column(head="Half"),
            Column(head="Full gap (pp)"),
            Column(head="Anchor gap (pp)"),
        ),
        rows=tuple(
            (
                _with_family(ahead, families),
                _with_family(behind, families),
                str(half),
                gap(100 * gap_full),
                gap(100 * gap_anchor),
            )
            for ahead, behind, half, gap_full, gap_anchor in rows[:most]
        ),
    )
    return table, max(0, len(rows) - most)


def _with_family(model: str, families: dict[Any, Any]) -> str:
    return f"{model} ({families[model]})" if model in families else model


def _span(low: Any, high: Any) -> str:
    if is_missing(low) or is_missing(high):
        return MISSING
    return f"{percent(low)}{EN_DASH}{percent(high)}"
