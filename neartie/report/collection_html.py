"""The report of several benchmarks: one HTML file that works offline."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import neartie
from neartie.audits.collection_checks import CollectionChecks
from neartie.audits.result import NearTieAudit
from neartie.report import collection_sentences, collection_tables, further_figures
from neartie.report.figure_excess import excess_table
from neartie.report.formatting import plural, points
from neartie.report.page import panel, render_page
from neartie.report.section import Drawing, Section, numbered
from neartie.report.style import GREY, INK, axes_or_new, tidy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes


def render_collection(whole: CollectionChecks, *, name: str) -> str:
    """Return the report as one HTML page without scripts or links to other files.

    Parameters
    ----------
    whole : CollectionChecks
    name : str
        For the title.

    Returns
    -------
    str
        The same collection and name give the same text. Names are escaped wherever they stand.
    """
    makers = (_primary, _robustness, _replication, _sources, _shifts)
    sections = [section for make in makers if (section := make(whole)) is not None]
    first = next(iter(whole.audits.audits.values()))
    content = {
        "title": f"Near-tie audit of {name}",
        "facts": (plural(len(whole.audits.audits), "benchmark"), f"seed {whole.seed}"),
        "warnings": whole.warnings,
        "answer": collection_sentences.collection_answer(whole),
        "permuted": collection_sentences.permuted_summary(whole),
        "sections": numbered(sections),
        "benchmarks": tuple(whole.audits.audits),
        "version": first.versions.get("neartie", neartie.__version__),
        "versions": first.versions,
    }
    return render_page("collection.html", content)


def plot_excess_curves(audits: Mapping[str, NearTieAudit], *, ax: Axes | None = None) -> Axes:
    """Draw excess reversals over bands, a curve a benchmark; filled where p is at most .05.

    Parameters
    ----------
    audits : mapping of str to NearTieAudit
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes

    References
    ----------
    P0, figure 1.
    """
    from matplotlib.ticker import NullLocator

    ax = axes_or_new(ax, width=6.0, height=3.8)
    tidy(ax)
    ticks: dict[float, str] = {}
    for position, (name, audit) in enumerate(audits.items()):
        colour, marker = further_figures.benchmark_style(position)
        table = excess_table(audit).dropna(subset="excess_pp")
        ticks |= {100 * band: points(band) for band in audit.thresholds["epsilon"]}
        ax.plot(table["gap_points"], table["excess_pp"], color=colour, lw=1.3)
        for row in table.to_dict("records"):
            face = colour if row["significant"] else "white"
            ax.plot(
                [row["gap_points"]],
                [row["excess_pp"]],
                marker,
                color=colour,
                mfc=face,
                ms=6,
                mew=1.2,
            )
        ax.plot([], [], marker, color=colour, ms=6, label=name)
    primary = next(iter(audits.values())).primary_epsilon
    ax.axvline(100 * primary, color=INK, lw=0.9, ls=(0, (4, 3)), zorder=1)
    ax.axhline(0, color=GREY, lw=0.8)
    ax.set_xscale("log", base=2)
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(sorted(ticks), [ticks[at] for at in sorted(ticks)])
    ax.set_xlabel("largest gap on the full benchmark (points)")
    ax.set_ylabel("excess reversals (points)")
    further_figures.legend_above(ax, len(audits))
    return ax


def _primary(whole: CollectionChecks) -> Section:
    audits = whole.audits.audits
    drawing = Drawing(
        panels=(
            panel(
                partial(plot_excess_curves, audits),
                size=(6.2, 3.6),
                label="Excess reversals over the width of the band, by benchmark",
                salt="excess",
            ),
        ),
        title="Excess reversals by band",
        caption=(
            "Filled: one-sided p at most .05. Bands are cumulative; all but the primary one (dashed) "
            "are descriptive."
        ),
    )
    return Section(
        key="primary",
        title="Benchmark by benchmark",
        drawings=(drawing,),
        tables=(
            collection_tables.primary_table(whole),
            collection_tables.bands_table(whole),
            collection_tables.fractions_table(whole),
        ),
    )


def _robustness(whole: CollectionChecks) -> Section | None:
    found = whole.audits.robustness
    if not found:
        return None
    n = max(len(part.table) for part in found.values())
    drawing = Drawing(
        panels=(
            panel(
                partial(further_figures.plot_robustness, found),
                size=(6.4, 1.3 + 0.42 * n),
                label="Excess reversals by population and benchmark",
                salt="robustness",
            ),
        ),
        title="Excess reversals under other populations",
        caption="Filled: one-sided p at most .05. Diamonds are the primary analyses.",
    )
    return Section(
        key="robustness",
        title="Does it survive other populations?",
        sentences=(collection_sentences.passing_sentence(whole),),
        drawings=(drawing,),
        tables=(collection_tables.robustness_matrix(whole),),
    )


def _replication(whole: CollectionChecks) -> Section | None:
    found = {n: part.replication for n, part in whole.checks.items() if part.replication}
    if not found:
        return None
    tables = [collection_tables.replication_matrix(found)]
    beside = collection_tables.families_found(whole)
    if beside:
        tables.append(collection_tables.family_replication_matrix(beside))
    return Section(
        key="replication",
        title="Do item signatures return with other owners?",
        sentences=(
            (
                "Overlap replicates without family DIF too, because items that tell little have large "
                "effects by noise in both halves: lean on the median correlation."
            ),
        ),
        tables=tuple(tables),
    )


def _sources(whole: CollectionChecks) -> Section | None:
    if whole.pooled is None:
        return None
    return Section(
        key="sources",
        title="Do source effects return?",
        sentences=collection_sentences.pooled_sentences(whole),
    )


def _shifts(whole: CollectionChecks) -> Section | None:
    if not any(part.shifts for part in whole.checks.values()):
        return None
    tables = [collection_tables.shifts_matrix(whole)]
    if whole.common is not None and whole.common.table["n_models"].any():
        tables.append(collection_tables.common_table(whole.common))
    return Section(
        key="shifts",
        title="Which families move?",
        sentences=(collection_sentences.shifts_summary(whole),),
        tables=tuple(tables),
    )
