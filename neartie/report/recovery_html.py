"""The report of simulated comparisons: one HTML file that works offline."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

import neartie
from neartie.audits.draw_reversals import SCORES
from neartie.audits.recovery import Recovery
from neartie.audits.recovery_claim import rung_claim
from neartie.report import recovery_figures as figures
from neartie.report import recovery_tables as tables
from neartie.report.comparison_figures import rungs_height
from neartie.report.comparison_html import shown_value
from neartie.report.comparison_words import ANCHOR_WORDS, RUNG_WORDS, SCORE_WORDS
from neartie.report.formatting import plural
from neartie.report.page import panel, render_page
from neartie.report.recovery_words import argument_name, board_words, reading
from neartie.report.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes


def render_recovery(found: Recovery, *, name: str) -> str:
    """Return the report as one HTML page without scripts or links to other files.

    Parameters
    ----------
    found : Recovery
    name : str
        Of the design or the data, for the title.

    Returns
    -------
    str
        The same result and name give the same text: seconds are left out. Names are escaped
        wherever they stand.
    """
    ladder = found.settings.ladder
    words = board_words(found.boards)
    content = {
        "title": f"Which rungs find the truth? Simulations of {name}",
        "facts": (
            plural(found.to_dict()["n_replicates"], "simulated leaderboard"),
            *([f"{len(found.failed)} left out"] if len(found.failed) else ()),
            f"seed {found.seed}",
        ),
        "warnings": found.warnings,
        "claim": found.claim(),
        "others": [rung_claim(found.table, found.settings, rung) for rung in ladder[:-1]],
        "drawn": f"{words[0].upper()}{words[1:]}.",
        "reading": reading(found),
        "key": tables.key_table(found),
        "cells": [tables.recovery_table(found, scores) for scores in SCORES],
        "gain": tables.gain_table(found),
        "figures": _figures(found),
        "rung_words": [(rung, RUNG_WORDS[rung]) for rung in ladder],
        "anchor_words": list(ANCHOR_WORDS.items()),
        "score_words": list(SCORE_WORDS.items()),
        "settings": _settings(found),
        "versions": found.versions,
        "version": found.versions.get("neartie", neartie.__version__),
    }
    return render_page("recovery.html", content)


def _figures(found: Recovery) -> dict[str, list[Markup]]:
    size = (7.6, rungs_height(len(found.settings.ladder)))
    return {
        "bias": [
            panel(
                partial(_alone, figures.plot_bias, found),
                size=size,
                label="Bias of reversal rates by rung, anchors and scores",
                salt="bias",
            )
        ],
        "coverage": [
            panel(
                partial(_alone, figures.plot_coverage, found),
                size=size,
                label="Coverage of 95% intervals by rung, anchors and scores",
                salt="coverage",
            )
        ],
    }


def _alone(draw: Callable[..., list[Axes]], found: Recovery, *, ax: Axes) -> Axes:
    return draw(found, ax=ax)[0]


def _settings(found: Recovery) -> Table:
    boards: dict[str, Any] = found.boards.get("model", found.boards.get("design", found.boards))
    rows = [(f"drawn: {argument_name(n)}", shown_value(value)) for n, value in boards.items()]
    own, audit = found.settings.to_dict(), found.audit.to_dict()
    rows += [(n.replace("_", " "), shown_value(value)) for n, value in own.items()]
    rows += [(f"audit: {n.replace('_', ' ')}", shown_value(value)) for n, value in audit.items()]
    return Table(
        caption="Settings",
        columns=(Column(head="setting", numeric=False), Column(head="value", numeric=False)),
        rows=(*rows, ("seed", str(found.seed))),
    )
