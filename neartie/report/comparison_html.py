"""The report of a comparison: one HTML file that works offline."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

import neartie
from neartie.audits.comparison import Comparison
from neartie.audits.comparison_claim import rung_words
from neartie.audits.comparison_pairs import read_pairs
from neartie.audits.comparison_settings import PLUG_IN
from neartie.audits.draw_anchors import ANCHORS
from neartie.audits.draw_reversals import SCORES
from neartie.report import comparison_figures as figures
from neartie.report import comparison_pair_tables as pair_tables
from neartie.report import comparison_tables as tables
from neartie.report.comparison_methods import methods_text
from neartie.report.comparison_text import rung_verdicts
from neartie.report.comparison_words import (
    ANCHOR_WORDS,
    BIASES,
    RUNG_WORDS,
    SCORE_WORDS,
    headline_words,
    margin_words,
    top_rung,
    verdict_rule,
)
from neartie.report.formatting import count, plural, point_word
from neartie.report.page import panel, render_page
from neartie.report.table import Column, Table
from neartie.report.tables import DEFAULT_NAME

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes


def render_comparison(compared: Comparison, *, name: str = DEFAULT_NAME) -> str:
    """Return the report as one HTML page without scripts or links to other files.

    Parameters
    ----------
    compared : Comparison
    name : str
        Of the benchmark, for the title.

    Returns
    -------
    str
        The same comparison and name give the same text. Names are escaped wherever they stand.
    """
    audit = compared.audit
    more = len(read_pairs(compared)) - pair_tables.MOST_PAIRS
    content = {
        "title": f"Does the posterior say what the audit of {name} says?",
        "facts": (
            plural(audit.n_items, "item"),
            plural(len(audit.population), "model"),
            f"{plural(len(compared.pairs), 'near tie')} within {point_word(audit.primary_epsilon)}",
            f"seed {compared.seed}",
        ),
        # the claim comes first here, and carries its own doubts
        "warnings": (),
        "caveats": compared.warnings,
        "claim": compared.claim(),
        "verdicts": rung_verdicts(compared),
        "headline": headline_words(compared),
        "margin": margin_words(compared.settings.margin),
        "rule": verdict_rule(compared.settings.margin),
        "top": rung_words(top_rung(compared) or PLUG_IN),
        "key": tables.key_table(compared),
        "ladders": [tables.ladder_table(compared, scores) for scores in SCORES],
        "agreement": tables.agreement_table(compared),
        "fits": tables.fit_table(compared),
        "fit_words": _fit_words(compared),
        "pairs": pair_tables.pair_table(compared),
        "pairs_below": f"and {count(more)} more; all are in pairs.csv and pair_probabilities.csv"
        if more > 0
        else "",
        "pair_counts": pair_tables.pair_counts(compared),
        "rung_words": [(rung, RUNG_WORDS[rung]) for rung in compared.settings.ladder],
        "anchor_words": [(kind, ANCHOR_WORDS[kind]) for kind in ANCHORS],
        "score_words": [(scores, SCORE_WORDS[scores]) for scores in SCORES],
        "biases": BIASES,
        "methods": methods_text(compared, name=name),
        "figures": _figures(compared),
        "settings": _settings(compared),
        "versions": compared.versions,
        "version": compared.versions.get("neartie", neartie.__version__),
    }
    return render_page("comparison.html", content)


def _figures(compared: Comparison) -> dict[str, list[Markup]]:
    height = figures.ladder_height(compared)
    drawn = {
        "ladder": [
            panel(
                partial(_alone, figures.plot_ladder, compared),
                size=(7.6, height),
                label="Reversal rates by rung, anchors and scores",
                salt="ladder",
            )
        ],
        "excess": [
            panel(
                partial(_alone, figures.plot_ladder_excess, compared),
                size=(7.6, height),
                label="Excess over random subtests by rung, anchors and scores",
                salt="excess",
            )
        ],
        "calibration": [
            panel(
                partial(figures.plot_calibration, compared, rung),
                size=(2.9, 2.9),
                label=f"How often the plug-in reverses pairs, over the probability by {rung}",
                salt=f"calibration-{rung}",
            )
            for rung in compared.settings.ladder
            if rung != PLUG_IN
        ],
    }
    top = top_rung(compared)
    if top is None:
        return drawn | {"pairs": [], "ranges": []}
    return drawn | {
        "pairs": [
            panel(
                partial(figures.plot_pairs, compared),
                size=(7.6, figures.pairs_height(compared)),
                label="Probability of the observed order, on all items and on the anchors",
                salt="pairs",
            )
        ],
        "ranges": [
            panel(
                partial(figures.plot_ranges, compared, top, half),
                size=(4.0, 3.6),
                label=f"D of {top} over the plug-in's D, half {half}",
                salt=f"ranges-{half}",
            )
            for half in (0, 1)
        ],
    }


def _alone(draw: Callable[..., list[Axes]], compared: Comparison, *, ax: Axes) -> Axes:
    return draw(compared, ax=ax)[0]


def _fit_words(compared: Comparison) -> list[tuple[str, str]]:
    """Return what every fit says of itself, once where both halves say the same."""
    said: dict[str, list[str]] = {}
    for row in compared.rungs.to_dict("records"):
        if row["rung"] != PLUG_IN and row["verdict"]:
            said.setdefault(row["rung"], []).append(f"Half {row['half']}: {row['verdict']}")
    return [(rung, " ".join(words)) for rung, words in said.items()]


def _settings(compared: Comparison) -> Table:
    own = compared.settings.to_dict()
    audit = compared.audit.settings
    rows = [(name.replace("_", " "), shown_value(value)) for name, value in own.items()]
    rows += [
        (f"audit: {name.replace('_', ' ')}", shown_value(value)) for name, value in audit.items()
    ]
    return Table(
        caption="Settings",
        columns=(Column(head="setting", numeric=False), Column(head="value", numeric=False)),
        rows=(*rows, ("seed", str(compared.seed))),
    )


def shown_value(value: Any) -> str:
    """Return a setting as text."""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {one}" for key, one in value.items()) or "none"
    return "not given" if value is None else str(value)
