"""The report of a fit: one HTML file that works offline."""

from __future__ import annotations

from functools import partial
from typing import Any

from markupsafe import Markup

import neartie
from neartie.inference.fit_summary import FitSummary
from neartie.report import fit_figures, fit_tables
from neartie.report.fit_text import fit_answer, fit_facts, fit_title, order_sentence
from neartie.report.formatting import count
from neartie.report.page import panel, render_page


def render_fit(summary: FitSummary, *, name: str) -> str:
    """Return the report as one HTML page without scripts or links to other files.

    Parameters
    ----------
    summary : FitSummary
    name : str
        The benchmark or set of battles, for the title.

    Returns
    -------
    str
        The same summary and name give the same text. Names are escaped wherever they stand.
    """
    return render_page("fit.html", _content(summary, name))


def _content(summary: FitSummary, name: str) -> dict[str, Any]:
    models, n_more = fit_tables.models(summary)
    flagged, n_more_flagged = fit_tables.flagged_items(summary)
    flags = [*summary.items.get("flag", ()), *summary.models.get("flag", ())]
    return {
        "title": f"{fit_title(summary)}: {name}",
        "facts": fit_facts(summary),
        "warnings": summary.warnings,
        "answer": fit_answer(summary),
        "order": order_sentence(summary),
        "n_sets": summary.n_sets,
        "verdict": summary.verdict,
        "converged": summary.converged,
        "level": f"{summary.level:.0%}",
        "models": models,
        "models_below": f"and {count(n_more)} more, in models.csv" if n_more else "",
        "flagged": flagged,
        "flagged_below": f"and {count(n_more_flagged)} more, in items.csv"
        if n_more_flagged
        else "",
        "effects": fit_tables.effects(summary),
        "has_effects": not summary.dif.empty,
        "approximate": summary.is_approximate,
        "curvature": "items_from" not in summary.settings,
        "quantities": fit_tables.worst_quantities(summary),
        "parameters": fit_tables.parameters(summary),
        "prior_only": any("prior only" in flag for flag in flags),
        "settings": fit_tables.settings(summary),
        "figures": _figures(summary),
        "versions": summary.versions,
        "version": summary.versions.get("neartie", neartie.__version__),
    }


def _figures(summary: FitSummary) -> dict[str, tuple[Markup, ...]]:
    drawn: dict[str, tuple[Markup, ...]] = {
        "models": (
            panel(
                partial(fit_figures.plot_models, summary),
                size=fit_figures.models_size(summary),
                label="Estimates of the models with their intervals, best on top",
                salt="models",
            ),
        )
    }
    if fit_figures.item_columns(summary) is not None:
        drawn["places"] = (
            panel(
                partial(fit_figures.plot_items, summary),
                size=(6.0, 3.6),
                label="Every item by its estimates",
                salt="items",
            ),
        )
    return drawn
