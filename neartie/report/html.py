"""The report: one HTML file that works offline, from the audit's tables and figures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

import neartie
from neartie.audits.control_comparison import PERMUTED
from neartie.audits.further_checks import FurtherChecks
from neartie.audits.result import NearTieAudit
from neartie.data.files import write_text_atomic
from neartie.report import figures, sentences, tables, tables_background
from neartie.report.formatting import count, point_word
from neartie.report.further_html import further_sections
from neartie.report.further_sentences import permuted_answer
from neartie.report.page import panel, render_page
from neartie.report.section import numbered
from neartie.report.tables import DEFAULT_NAME

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HALVES = (0, 1)
# How many the template numbers before the further sections.
FIGURES, TABLES = 5, 3


def render_html(
    audit: NearTieAudit, *, name: str = DEFAULT_NAME, checks: FurtherChecks | None = None
) -> str:
    """Return the report as one HTML page without scripts or links to other files.

    Parameters
    ----------
    audit : NearTieAudit
    name : str
        The benchmark, for title and table.
    checks : FurtherChecks, optional
        Get sections of their own.

    Returns
    -------
    str
        The same audit and name give the same text. Names are escaped wherever they stand.
    """
    return render_page("near_tie.html", _content(audit, name, checks or FurtherChecks()))


def write_report(
    audit: NearTieAudit,
    path: str | PathLike[str],
    *,
    name: str = DEFAULT_NAME,
    checks: FurtherChecks | None = None,
) -> Path:
    """Write the report and return its path.

    Parameters
    ----------
    audit : NearTieAudit
    path : path
        The file, usually `report.html`; its folder is made if it is missing.
    name : str
        The benchmark, for title and table.
    checks : FurtherChecks, optional
        Get sections of their own.

    Returns
    -------
    Path
    """
    return write_text_atomic(render_html(audit, name=name, checks=checks), path)


def _content(audit: NearTieAudit, name: str, checks: FurtherChecks) -> dict[str, Any]:
    reversed_table, n_more = tables.reversed_pairs(audit)
    numbers = sentences.headline(audit)
    excluded = tables_background.excluded(audit)
    further = numbered(further_sections(audit, checks), figure=FIGURES, table=TABLES)
    # tables are numbered in the order in which they stand; those without rows are left out
    last = TABLES + sum(len(section["tables"]) for section in further)
    pairs = last + bool(reversed_table.rows)
    left_out = pairs + 1 + bool(excluded.rows)
    return {
        "title": f"Near-tie audit of {name}",
        "facts": (
            f"{count(audit.n_items)} items",
            f"{count(len(audit.population))} models",
            f"{count(len(audit.scores))} representatives",
            f"{count(audit.population['owner'].nunique())} owners",
            f"seed {audit.seed}",
        ),
        "warnings": (*audit.warnings, *checks.warnings),
        "rule": sentences.dimension_rule(audit),
        "band": point_word(audit.primary_epsilon),
        "n_random": count(numbers.n_random),
        "question": sentences.question(audit),
        "answer": sentences.answer(numbers),
        "permuted": permuted_answer(checks),
        "context": sentences.context(audit),
        "purification": sentences.purification(audit),
        "constant_items": sentences.constant_items(audit),
        "n_excluded": count(len(audit.excluded)),
        "reversed_below": f"and {count(n_more)} more, in pairs.csv" if n_more else "",
        "k": audit.k,
        "figures": _figures(audit),
        "further": further,
        "table_numbers": {
            "pairs": pairs,
            "population": pairs + 1,
            "excluded": left_out,
            "rounds": left_out + 1,
        },
        "table_1": tables.table_1(audit, name=name, permuted=checks.control(PERMUTED)),
        "bands": tables.bands(audit),
        "fractions": tables.fractions(audit),
        "population": tables_background.population(audit),
        "excluded": excluded,
        "rounds": tables_background.rounds(audit),
        "reversed_pairs": reversed_table,
        "settings": tables_background.settings(audit),
        "versions": tables_background.versions(audit),
        "version": audit.versions.get("neartie", neartie.__version__),
    }


def _figures(audit: NearTieAudit) -> dict[str, tuple[Markup, ...]]:
    """Return each figure as panels of their own, which can stand one below the other.

    A figure that has nothing to show is not there; the page says so.
    """
    drawn = {
        "scores": (
            *_halves(
                partial(figures.plot_scores, audit, kind="shift"),
                label="Anchor minus full score over full score",
                salt="shift",
            ),
            *_halves(
                partial(figures.plot_scores, audit, kind="score", legend=False),
                label="Anchor score over full score",
                salt="score",
            ),
        ),
        "dif": _halves(
            partial(figures.plot_dif, audit),
            label="Range of family effects over easiness",
            salt="dif",
        ),
    }
    if audit.thresholds["excess_pp"].notna().any():
        drawn["excess"] = (
            panel(
                partial(figures.plot_excess, audit),
                size=(4.7, 3.2),
                label="Excess reversals over the width of the band",
                salt="excess",
            ),
        )
    if audit.band()["excess_pp"] is not None:
        drawn["random"] = (
            panel(
                partial(figures.plot_random, audit),
                size=(4.7, 2.8),
                label="Reversal rates of the random subtests, with the observed rate",
                salt="random",
            ),
        )
    if not audit.dimension.empty:
        drawn["dimension"] = _halves(
            partial(figures.plot_dimension, audit),
            label="Held-out loss over dimension",
            salt="dimension",
        )
    return drawn


def _halves(draw: Callable[..., Axes], *, label: str, salt: str) -> tuple[Markup, ...]:
    return tuple(
        panel(
            partial(draw, half=half),
            size=(4.3, 3.9),
            label=f"{label}, half {half}",
            salt=f"{salt}-{half}",
        )
        for half in HALVES
    )
