"""The report of an item screen: one HTML file that works offline."""

from __future__ import annotations

from functools import partial
from typing import Any

from markupsafe import Markup

import neartie
from neartie.audits.screen_result import ItemScreen
from neartie.report import screen_figures, screen_tables
from neartie.report.formatting import count, plural
from neartie.report.page import panel, render_page
from neartie.report.screen_text import auc_sentence, screen_answer


def render_screen(screen: ItemScreen, *, name: str) -> str:
    """Return the report as one HTML page without scripts or links to other files.

    Parameters
    ----------
    screen : ItemScreen
    name : str
        The benchmark, for the title.

    Returns
    -------
    str
        The same screen and name give the same text. Names are escaped wherever they stand.
    """
    return render_page("screen.html", _content(screen, name))


def _content(screen: ItemScreen, name: str) -> dict[str, Any]:
    review, n_more = screen_tables.review_list(screen)
    apart, n_more_apart = screen_tables.without_coefficient(screen)
    return {
        "title": f"Item screen of {name}",
        "facts": (
            plural(screen.n_items, "item"),
            plural(screen.n_models, "model"),
            f"{count(screen.n_pairs)} pairs, each from both sides",
            f"seed {screen.seed}",
        ),
        "warnings": screen.warnings,
        "answer": screen_answer(screen),
        "judgement": auc_sentence(screen),
        "review": review,
        "review_below": f"and {count(n_more)} more, in screen.csv" if n_more else "",
        "apart": apart,
        "apart_below": f"and {count(n_more_apart)} more, in screen.csv" if n_more_apart else "",
        "kinds": screen_tables.kinds(screen),
        "auc": screen_tables.auc(screen) if not screen.auc.empty else None,
        "precision": screen_tables.precision(screen) if not screen.precision.empty else None,
        "settings": screen_tables.settings(screen),
        "removed": screen.removed,
        "figures": _figures(screen),
        "versions": screen.versions,
        "version": screen.versions.get("neartie", neartie.__version__),
    }


def _figures(screen: ItemScreen) -> dict[str, tuple[Markup, ...]]:
    drawn: dict[str, tuple[Markup, ...]] = {
        "fit": (
            panel(
                partial(screen_figures.plot_fit, screen),
                size=(6.6, 3.7),
                label="Coefficients of the items, worst first, over the band of shuffled answers",
                salt="fit",
            ),
        )
    }
    items = list(dict.fromkeys(screen.curves["item"]))
    if items:
        drawn["curves"] = tuple(
            panel(
                partial(screen_figures.plot_curve, screen, item),
                size=(3.1, 2.5),
                label=f"Score on {item} over the rest score",
                salt=f"curve-{number}",
            )
            for number, item in enumerate(items)
        )
    if not screen.sources.empty:
        drawn["sources"] = (
            panel(
                partial(screen_figures.plot_sources, screen),
                size=(6.2, 5.4),
                label="Mean coefficients between sources",
                salt="sources",
            ),
        )
    if not screen.auc.empty:
        drawn["auc"] = (
            panel(
                partial(screen_figures.plot_auc, screen),
                size=(5.4, 4.3),
                label="Area under the curve of every statistic",
                salt="auc",
            ),
        )
    return drawn
