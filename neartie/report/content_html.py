"""The report of a content audit: one HTML file that works offline (P0, 4.3, figure 3)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import neartie
from neartie.audits.content_analysis import ContentAudit
from neartie.audits.content_families import FamilyAssociation
from neartie.report.formatting import (
    SIGNIFICANT,
    correlation,
    count,
    decimal,
    is_missing,
    p_number,
    plural,
    signed,
)
from neartie.report.further_figures import benchmark_style, legend_above
from neartie.report.page import panel, render_page
from neartie.report.section import Drawing, Section, numbered
from neartie.report.style import GREY, INK, axes_or_new, tidy
from neartie.report.table import Column, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

YES_NO = ("no", "yes")


def render_content(
    audit: ContentAudit, families: FamilyAssociation | None, *, name: str = "items"
) -> str:
    """Return the report as one HTML page without scripts or links to other files.

    Parameters
    ----------
    audit : ContentAudit
    families : FamilyAssociation or None
        None where no item favours one family in both halves.
    name : str
        For the title.

    Returns
    -------
    str
        The same analysis and name give the same text. Names are escaped wherever they stand.
    """
    more = () if families is None else families.warnings
    n_pairs = int(audit.binary["n_pairs"].max()) if len(audit.binary) else 0
    content = {
        "title": f"Content audit of {name}",
        "facts": (
            plural(n_pairs, "matched pair"),
            plural(len(audit.settings["annotators"]), "annotator"),
            plural(audit.benchmarks["benchmark"].nunique(), "benchmark"),
        ),
        "warnings": (*audit.warnings, *more),
        "answer": content_answer(audit),
        "sections": numbered(_sections(audit, families)),
        "version": neartie.__version__,
        "versions": {},
    }
    return render_page("content.html", content)


def content_answer(audit: ContentAudit) -> str:
    """Return whether an axis is confirmed, and how far the annotators agree.

    The rule: an axis is confirmed that meets all four requirements for every annotator; labels are
    reliable where both medians reach their limit.
    """
    found = audit.rule.loc[audit.rule["passes"] == 1, "axis"].tolist()
    n = len(audit.rule)
    if found:
        verdict = (
            f"Stable high-DIF items differ from their controls in {', '.join(found)}: "
            f"{'these axes meet' if len(found) > 1 else 'this axis meets'} all four requirements "
            "for every annotator."
        )
    else:
        verdict = (
            f"None of {plural(n, 'binary axis', 'binary axes')} separates stable high-DIF items "
            "from their controls by the four-part rule. That is no proof that their content is alike."
        )
    if audit.reliable is None:
        return f"{verdict} Reliability could not be assessed."
    reached = "reach" if audit.reliable else "do not reach"
    return (
        f"{verdict} The annotators {reached} the limits of reliability: median kappa "
        f"{correlation(audit.median_kappa)} (limit {correlation(audit.settings['kappa_limit'])}), "
        f"median rho {correlation(audit.median_rho)} "
        f"(limit {correlation(audit.settings['rho_limit'])})."
    )


def plot_content(audit: ContentAudit, *, ax: Axes | None = None) -> Axes:
    """Draw the pooled difference of every binary axis, a marker an annotator (P0, figure 3).

    Filled where q is within the level; dashed lines mark the smallest difference that counts.

    Parameters
    ----------
    audit : ContentAudit
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=6.2, height=4.0)
    tidy(ax)
    axes = audit.rule["axis"].tolist()
    names = audit.settings["annotators"]
    spread = np.linspace(0.15, -0.15, len(names)) if len(names) > 1 else np.zeros(1)
    for position, name in enumerate(names):
        colour, marker = benchmark_style(position)
        mine = audit.binary[audit.binary["annotator"] == name].dropna(subset="difference")
        for row in mine.to_dict("records"):
            at = len(axes) - 1 - axes.index(row["axis"]) + spread[position]
            significant = row["q_value"] <= audit.settings["level"]
            face = colour if significant else "white"
            ax.plot([100 * row["difference"]], [at], marker, color=colour, mfc=face, ms=6, mew=1.3)
        ax.plot([], [], marker, color=colour, ms=6, label=name)
    limit = audit.settings["min_points"]
    for at in (-limit, limit):
        ax.axvline(at, color=INK, lw=0.8, ls=(0, (4, 3)))
    ax.axvline(0, color=GREY, lw=0.8)
    ax.set_yticks(range(len(axes)), axes[::-1], parse_math=False)
    ax.set_ylim(-0.6, len(axes) - 0.4)
    ax.set_xlabel("high-DIF items minus controls (points)")
    legend_above(ax, len(names))
    return ax


def _sections(audit: ContentAudit, families: FamilyAssociation | None) -> list[Section]:
    drawing = Drawing(
        panels=(
            panel(
                partial(plot_content, audit),
                size=(6.2, 1.0 + 0.32 * len(audit.rule)),
                label="Paired differences of the binary axes, by annotator",
                salt="content",
            ),
        ),
        title="Paired prevalence differences",
        caption=(
            "Filled: q within the level. Dashed: the smallest difference that counts. Annotators "
            "are never averaged."
        ),
    )
    found = [
        Section(
            key="axes",
            title="Axis by axis",
            drawings=(drawing,),
            tables=(binary_table(audit), rule_table(audit), ordinal_table(audit)),
        ),
        Section(key="agreement", title="Do annotators agree?", tables=(agreement_table(audit),)),
    ]
    if families is not None:
        n = int((families.table["q_value"] <= SIGNIFICANT).sum())
        found.append(
            Section(
                key="families",
                title="Does content go with families? Exploratory",
                sentences=(
                    (
                        f"Of {plural(len(families.table), 'association')}, {count(n)} with q at most .05 "
                        "(Cochran–Mantel–Haenszel, benchmarks as strata, labels permuted). Whatever "
                        "stands here is a hypothesis."
                    ),
                ),
                tables=(families_table(families),),
            )
        )
    return found


def binary_table(audit: ContentAudit) -> Table:
    """Return the paired tests of the binary axes."""
    return Table(
        caption="Binary axes",
        note=(
            "Difference: share of pairs with the high item alone, minus share with the control "
            "alone. p: exact McNemar. q: Benjamini–Hochberg over an annotator's axes."
        ),
        columns=(
            Column(head="Axis", numeric=False),
            Column(head="Annotator", numeric=False),
            Column(head="Pairs"),
            Column(head="High alone"),
            Column(head="Control alone"),
            Column(head="Difference (pp)"),
            Column(head="p", symbol="$p$"),
            Column(head="q", symbol="$q$"),
            Column(head="Benchmarks alike"),
        ),
        rows=tuple(
            (
                row["axis"],
                row["annotator"],
                count(row["n_pairs"]),
                count(row["n_high_only"]),
                count(row["n_control_only"]),
                signed(None if is_missing(row["difference"]) else 100 * row["difference"]),
                p_number(row["p_value"]),
                p_number(row["q_value"]),
                count(row["n_same_direction"]),
            )
            for row in audit.binary.to_dict("records")
        ),
    )


def rule_table(audit: ContentAudit) -> Table:
    """Return which of the four requirements every axis meets."""
    keys = ("same_direction", "q", "size", "benchmarks", "passes")
    return Table(
        caption="The four-part rule",
        note="Each must hold for every annotator.",
        columns=(
            Column(head="Axis", numeric=False),
            Column(head="One direction", numeric=False),
            Column(head="q within the level", numeric=False),
            Column(head="Large enough", numeric=False),
            Column(head="Enough benchmarks", numeric=False),
            Column(head="Confirmed", numeric=False),
        ),
        rows=tuple(
            (row["axis"], *(YES_NO[int(row[key])] for key in keys))
            for row in audit.rule.to_dict("records")
        ),
        marked=tuple(int(i) for i in np.flatnonzero(audit.rule["passes"] == 1)),
    )


def ordinal_table(audit: ContentAudit) -> Table:
    """Return the signed-rank tests of the ordinal axes."""
    return Table(
        caption="Ordinal axes",
        note="Wilcoxon's signed ranks; no part of the rule.",
        columns=(
            Column(head="Axis", numeric=False),
            Column(head="Annotator", numeric=False),
            Column(head="Pairs"),
            Column(head="Mean difference"),
            Column(head="p", symbol="$p$"),
            Column(head="q", symbol="$q$"),
        ),
        rows=tuple(
            (
                row["axis"],
                row["annotator"],
                count(row["n_pairs"]),
                signed(row["mean_difference"], digits=2),
                p_number(row["p_value"]),
                p_number(row["q_value"]),
            )
            for row in audit.ordinal.to_dict("records")
        ),
    )


def agreement_table(audit: ContentAudit) -> Table:
    """Return the agreement of annotators by axis."""
    return Table(
        caption="Agreement of annotators",
        note="Kappa of binary, Spearman's rho of ordinal axes.",
        columns=(
            Column(head="Axis", numeric=False),
            Column(head="Annotators", numeric=False),
            Column(head="Kind", numeric=False),
            Column(head="Items"),
            Column(head="Value"),
            Column(head="Remark", numeric=False, long=True),
        ),
        rows=tuple(
            (
                row["axis"],
                f"{row['annotator_a']}, {row['annotator_b']}",
                row["kind"],
                count(row["n"]),
                correlation(row["value"]),
                "" if is_missing(row["reason"]) else str(row["reason"]),
            )
            for row in audit.agreement.to_dict("records")
        ),
    )


def families_table(families: FamilyAssociation) -> Table:
    """Return the exploratory associations of axes with advantaged families."""
    return Table(
        caption="Association of content with the advantaged family",
        columns=(
            Column(head="Axis", numeric=False),
            Column(head="Annotator", numeric=False),
            Column(head="Items"),
            Column(head="Statistic"),
            Column(head="p", symbol="$p$"),
            Column(head="q", symbol="$q$"),
        ),
        rows=tuple(
            (
                row["axis"],
                row["annotator"],
                count(row["n_items"]),
                decimal(row["statistic"], digits=2),
                p_number(row["p_value"]),
                p_number(row["q_value"]),
            )
            for row in families.table.to_dict("records")
        ),
    )
