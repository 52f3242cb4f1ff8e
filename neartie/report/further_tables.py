"""The further checks of an audit as tables: controls, robustness, replication, sources, shifts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pandas as pd

from neartie.audits.attribution import Attribution
from neartie.audits.control_comparison import ControlComparison
from neartie.audits.family_shifts import FamilyShifts
from neartie.audits.replication import Replication
from neartie.audits.replication_families import FamilyReplication
from neartie.audits.robustness import Robustness
from neartie.report.formatting import (
    MISSING,
    correlation,
    count,
    is_missing,
    p_number,
    percent,
    signed,
)
from neartie.report.table import Column, Table

EN_DASH: Final = "–"
STATISTIC_NAMES: Final = {
    "median_rho": "Median correlation over families",
    "overlap": "Overlap of the top fifths (%)",
    "agreement": "Same family ahead (%)",
}


def controls_table(controls: ControlComparison) -> Table:
    """Return the excess over each control (beyond the paper)."""
    return Table(
        caption="The excess over several controls",
        note=(
            "Low-DIF: share of the near ties that reverse under the anchors. Control: median of "
            "its replicates. Excess: their difference. Permuted families: anchors chosen after "
            "family labels were permuted among the owners of the half that chooses. The others are "
            "random subtests with the anchors' sources and easiness; then their correlation with the "
            "rest of the test too; then what the family-blind model expects of every family too."
        ),
        columns=(
            Column(head="Control", numeric=False),
            Column(head="Replicates"),
            Column(head="Low-DIF (%)"),
            Column(head="Control (%)"),
            Column(head="95% of them"),
            Column(head="Excess (pp)"),
            Column(head="p", symbol="$p$"),
        ),
        rows=tuple(
            (
                first_upper(row["control"]),
                count(row["n"]),
                percent(row["rate"]),
                percent(row["median"]),
                span(row["low"], row["high"]),
                signed(row["excess_pp"]),
                p_number(row["p_value"]),
            )
            for row in controls.table.to_dict("records")
        ),
    )


def robustness_table(robustness: Robustness) -> Table:
    """Return the variants of the battery, the primary analysis first (P0, Table 6)."""
    remarks = ["" if is_missing(text) else str(text) for text in robustness.table["reason"]]
    table = Table(
        caption="Other populations of the same benchmark",
        note="Excess over the matched random subtests of each population.",
        columns=(
            Column(head="Population", numeric=False),
            Column(head="Models"),
            Column(head="Eligible"),
            Column(head="Low-DIF (%)"),
            Column(head="Random (%)"),
            Column(head="Excess (pp)"),
            Column(head="p", symbol="$p$"),
        ),
        rows=tuple(
            (
                first_upper(row["variant"]),
                count(row["n_models"]),
                count(row["n_eligible"]),
                percent(row["reversal_rate"]),
                percent(row["random_median"]),
                signed(row["excess_pp"]),
                p_number(row["p_value"]),
            )
            for row in robustness.table.to_dict("records")
        ),
        marked=(0,),
    )
    if not any(remarks):
        return table
    return replace(
        table,
        columns=(*table.columns, Column(head="Remark", numeric=False, long=True)),
        rows=tuple((*row, remark) for row, remark in zip(table.rows, remarks, strict=True)),
    )


def replication_table(replication: Replication) -> Table:
    """Return the three replication statistics beside chance (P0, Table 2)."""
    return Table(
        caption="Replication of item signatures across owners",
        note=(
            "Within source-by-easiness cells. Chance: exact for the overlap, mean of the "
            "permutations for the others."
        ),
        columns=(
            Column(head="Statistic", numeric=False),
            Column(head="Observed"),
            Column(head="Chance"),
            Column(head="95% of permutations"),
            Column(head="p", symbol="$p$"),
        ),
        rows=_statistic_rows(replication.table),
    )


def family_replication_table(found: FamilyReplication) -> Table:
    """Return the three replication statistics beside permuted families (beyond the paper)."""
    return Table(
        caption="The same under permuted families",
        note=(
            f"{count(found.settings['permutations'])} refits of both halves with family labels "
            "permuted among owners. Items keep their answers, and so their noise."
        ),
        columns=(
            Column(head="Statistic", numeric=False),
            Column(head="Observed"),
            Column(head="Mean, permuted"),
            Column(head="95% of permutations"),
            Column(head="p", symbol="$p$"),
        ),
        rows=_statistic_rows(found.table),
    )


def _statistic_rows(table: pd.DataFrame) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (
            STATISTIC_NAMES[row["statistic"]],
            statistic(row["statistic"], row["value"]),
            statistic(row["statistic"], row["chance"]),
            _span_of(row),
            p_number(row["p_value"]),
        )
        for row in table.to_dict("records")
    )


def statistic(name: str, value: Any) -> str:
    """Return a replication statistic: a correlation, or a percentage."""
    return correlation(value) if name == "median_rho" else percent(value)


def _span_of(row: dict[Any, Any]) -> str:
    low, high = row["chance_low"], row["chance_high"]
    if is_missing(low) or is_missing(high):
        return MISSING
    name = row["statistic"]
    return f"{statistic(name, low)} to {statistic(name, high)}"


def rho_table(replication: Replication) -> Table:
    """Return the correlation of signatures by family."""
    return Table(
        caption="Correlation of signatures by family",
        columns=(Column(head="Family", numeric=False), Column(head="ρ", symbol=r"$\rho$")),
        rows=tuple(
            (str(row["family"]), correlation(row["rho"]))
            for row in replication.families.to_dict("records")
        ),
    )


def source_effects_table(attribution: Attribution) -> Table:
    """Return the source effects that were checked."""
    return _checked(
        attribution.source_effects,
        names=("effect_0", "effect_1", "replicated"),
        heads=("Effect, half 0 (logit)", "Effect, half 1 (logit)", "Sign returns"),
        caption="Extreme source effects, chosen in half 0",
        note=(
            "Mean residual effect of a source's items for a family, without the family's mean over "
            "all items. All are in source_effects.csv."
        ),
        digits=3,
    )


def source_shifts_table(attribution: Attribution) -> Table:
    """Return the source contributions to score shifts that were checked."""
    return _checked(
        attribution.source_shifts,
        names=("shift_01_pp", "shift_10_pp", "retained"),
        heads=("Anchors of half 0 (pp)", "Anchors of half 1 (pp)", "Sign stays"),
        caption="Extreme source contributions to score shifts",
        note=(
            "What a source adds to a family's mean anchor score minus its mean full score; each "
            "half's anchors score the other half. All are in source_shifts.csv."
        ),
        digits=2,
    )


def _checked(
    table: pd.DataFrame,
    *,
    names: tuple[str, str, str],
    heads: tuple[str, str, str],
    caption: str,
    note: str,
    digits: int,
) -> Table:
    first, second, verdict = names
    chosen = table[table["selected"] != ""].sort_values(["family", first], ascending=[True, False])
    return Table(
        caption=caption,
        note=note,
        columns=(
            Column(head="Family", numeric=False),
            Column(head="Source", numeric=False, long=True),
            Column(head="Items"),
            Column(head=heads[0]),
            Column(head=heads[1]),
            Column(head=heads[2], numeric=False),
        ),
        rows=tuple(
            (
                str(row["family"]),
                str(row["source"]),
                count(row["n_items"]),
                signed(row[first], digits=digits),
                signed(row[second], digits=digits),
                "yes" if row[verdict] == 1 else "no",
            )
            for row in chosen.to_dict("records")
        ),
    )


def shifts_table(shifts: FamilyShifts) -> Table:
    """Return family shifts in score and percentile rank with intervals over owners."""
    return Table(
        caption="Family shifts from the full to the anchor score",
        note=(
            "Percentage points of the score, and points of the percentile rank among the ranked "
            "models of a half; 95% intervals over resampled owners."
        ),
        columns=(
            Column(head="Family", numeric=False),
            Column(head="Models"),
            Column(head="Owners"),
            Column(head="Score (pp)"),
            Column(head="95% interval"),
            Column(head="Rank"),
            Column(head="95% interval"),
        ),
        rows=tuple(
            (
                str(row["family"]),
                count(row["n_models"]),
                count(row["n_owners"]),
                signed(row["shift_pp"], digits=2),
                signed_span(row["low_pp"], row["high_pp"]),
                signed(row["rank_shift"]),
                signed_span(row["rank_low"], row["rank_high"], digits=1),
            )
            for row in shifts.table.to_dict("records")
        ),
    )


def first_upper(text: Any) -> str:
    """Return a text with its first letter in upper case, and names in it as they are."""
    return str(text)[:1].upper() + str(text)[1:]


def span(low: Any, high: Any) -> str:
    """Return an interval of proportions in per cent."""
    if is_missing(low) or is_missing(high):
        return MISSING
    return f"{percent(low)}{EN_DASH}{percent(high)}"


def signed_span(low: Any, high: Any, *, digits: int = 2) -> str:
    """Return an interval of differences."""
    if is_missing(low) or is_missing(high):
        return MISSING
    return f"{signed(low, digits=digits)} to {signed(high, digits=digits)}"
