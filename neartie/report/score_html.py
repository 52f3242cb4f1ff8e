"""The report of a scorecard: one HTML file that works offline."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

import neartie
from neartie.audits.scorecard_result import Scorecard
from neartie.report import score_figures, score_tables
from neartie.report.formatting import count, plural
from neartie.report.page import panel, render_page
from neartie.report.score_text import (
    agreement_sentence,
    calibration_sentence,
    frontier_sentence,
    score_answer,
)
from neartie.report.section import Drawing, Section, numbered
from neartie.report.table import Table

MOST_DIAGRAMS: Final = 24
_WHAT_A_SCORE_IS: Final = (
    "A domain's score is the weighted mean of what was measured: ability (as a probability), "
    "consistency under resampling, calibration, and resistance to contamination. What was not "
    "measured neither rewards nor punishes."
)


def render_scorecard(card: Scorecard, *, name: str) -> str:
    """Return the report as one HTML page without scripts or links to other files.

    Parameters
    ----------
    card : Scorecard
    name : str
        What is scored, for the title.

    Returns
    -------
    str
        The same scorecard and name give the same text. Names are escaped wherever they stand.
    """
    facts = [f"rules {card.stamp}"]
    if len(card.models):
        facts += [plural(len(card.models), "model"), plural(len(card.domain_names), "domain")]
    if len(card.items):
        facts.append(plural(len(card.items), "item"))
    return render_page(
        "score.html",
        {
            "title": f"Scorecard of {name}",
            "facts": (*facts, f"seed {card.seed}"),
            "warnings": card.warnings,
            "answer": score_answer(card),
            "converged": card.converged,
            "stamp": card.stamp,
            "rankable": not card.covariance.empty,
            "parts": numbered(list(_sections(card))),
            "settings": score_tables.settings(card),
            "versions": card.versions,
            "version": card.versions.get("neartie", neartie.__version__),
        },
    )


def _sections(card: Scorecard) -> Iterator[Section]:
    if len(card.models):
        yield _index(card)
        yield _domains(card)
    if len(card.bins):
        yield _calibration(card)
    if card.domains["contamination_gap"].notna().any():
        yield _contamination(card)
    if len(card.judges) or len(card.agreement):
        yield _judges(card)
    if len(card.items):
        yield _hygiene(card)
    if len(card.models) and card.models[["cost", "latency"]].notna().any().any():
        yield _economics(card)


def _index(card: Scorecard) -> Section:
    return Section(
        key="index",
        title="Global index",
        drawings=(
            Drawing(
                panels=(
                    panel(
                        partial(score_figures.plot_index, card),
                        size=(6.6, score_figures.index_height(card)),
                        label="Global index of every model with intervals",
                        salt="index",
                    ),
                ),
                title="Global index, best on top",
                caption="Wide bars count the errors of all terms and of the items; thin bars are the "
                "half-width that the white paper prints.",
                shape="wide",
            ),
        ),
        tables=(_more(*score_tables.index_table(card), "models.csv"),),
    )


def _domains(card: Scorecard) -> Section:
    drawing = Drawing(
        panels=(
            panel(
                partial(score_figures.plot_profile, card),
                size=(6.6, score_figures.index_height(card) + 0.3),
                label="Scores of every model in every domain",
                salt="profile",
            ),
        ),
        title="Domain by domain, points",
        caption="Models in the order of their index. A dash means not measured.",
        shape="wide",
    )
    return Section(
        key="domains",
        title="Domains",
        sentences=(_WHAT_A_SCORE_IS,),
        # with one domain it would be the index once more
        drawings=(drawing,) if len(card.domain_names) > 1 else (),
        tables=tuple(
            _more(*score_tables.domain_table(card, domain), "domains.csv")
            for domain in card.domain_names
        ),
    )


def _calibration(card: Scorecard) -> Section:
    stated = set(card.bins["model"])
    models = [model for model in card.models["model"] if model in stated]
    left = len(models) - MOST_DIAGRAMS
    below = f" The first {MOST_DIAGRAMS} of {count(len(models))} models." if left > 0 else ""
    return Section(
        key="calibration",
        title="Do models know what they know?",
        sentences=(calibration_sentence(card),),
        drawings=(
            Drawing(
                panels=tuple(
                    panel(
                        partial(score_figures.plot_reliability, card, model),
                        size=(2.7, 2.95),
                        label=f"Reliability diagram of {model}",
                        salt=f"reliability-{number}",
                    )
                    for number, model in enumerate(models[:MOST_DIAGRAMS])
                ),
                title="Reliability diagrams, all domains together",
                caption="A point is a bin of stated confidence, larger for more answers; a line leads "
                "to the diagonal, where a calibrated model's points lie. Points below it are "
                f"overconfident.{below} All bins are in bins.csv.",
                shape="small",
            ),
        ),
    )


def _contamination(card: Scorecard) -> Section:
    return Section(
        key="contamination",
        title="Anchors against fresh items",
        drawings=(
            Drawing(
                panels=(
                    panel(
                        partial(score_figures.plot_gaps, card),
                        size=(6.6, 3.7),
                        label="Gaps between accuracy on anchors and on fresh items",
                        salt="gaps",
                    ),
                ),
                title="Accuracy on anchors minus that on fresh items",
                caption="With 95% intervals, each by itself. Across the shaded band resistance falls "
                "from full credit to none. Among many gaps some stand out by chance.",
                shape="wide",
            ),
        ),
    )


def _judges(card: Scorecard) -> Section:
    sentences = [agreement_sentence(card)]
    for row in card.duels.to_dict("records"):
        text = (
            f"{row['domain']}: {plural(row['n_duels'], 'duel')} count"
            f"{'s' if row['n_duels'] == 1 else ''}; {count(row['n_discarded'])} discarded for too few "
            f"eligible judges; {plural(row['n_self'], 'verdict')} left out because the judge took part; "
            f"{count(row['n_unparsed'])} unreadable and taken as ties."
        )
        if row["n_panel"]:
            text += (
                f" In {count(row['n_unanimous'])} of {plural(row['n_panel'], 'duel')} with several "
                "judges all gave the same verdict."
            )
        sentences.append(text)
    drawings: tuple[Drawing, ...] = ()
    tables: list[Table] = []
    if len(card.judges):
        n = min(len(card.judges), score_figures.MOST_LABELLED)
        drawings = (
            Drawing(
                panels=(
                    panel(
                        partial(score_figures.plot_judges, card),
                        size=(6.0, max(1.7, 0.9 + 0.26 * n)),
                        label="Share of verdicts for the first shown, by judge",
                        salt="judges",
                    ),
                ),
                title="Position bias",
                caption="Share of decided verdicts that went to the model shown first, with 95% "
                "intervals, after un-swapping.",
                shape="wide",
            ),
        )
        tables.append(_more(*score_tables.judge_table(card), "judges.csv"))
    if (card.agreement["n"] > 0).any():
        tables.append(_more(*score_tables.agreement_table(card), "agreement.csv"))
    return Section(
        key="judges",
        title="The judges",
        sentences=tuple(text for text in sentences if text),
        drawings=drawings,
        tables=tuple(tables),
    )


def _hygiene(card: Scorecard) -> Section:
    tables = [score_tables.hygiene_table(card)]
    if len(card.flagged()):
        tables.append(_more(*score_tables.flagged_table(card), "items.csv"))
    return Section(
        key="items",
        title="Item hygiene",
        drawings=(
            Drawing(
                panels=(
                    panel(
                        partial(score_figures.plot_items, card),
                        size=(6.2, 3.7),
                        label="Items by difficulty and discrimination",
                        salt="items",
                    ),
                ),
                title="Every item by its estimates",
                caption="Lines are the limits beyond which an item is flagged for review.",
                shape="wide",
            ),
        ),
        tables=tuple(tables),
    )


def _economics(card: Scorecard) -> Section:
    axes = [axis for axis in ("cost", "latency") if card.models[axis].notna().any()]
    return Section(
        key="economics",
        title="Quality beside cost",
        sentences=tuple(text for axis in axes if (text := frontier_sentence(card, axis))),
        drawings=(
            Drawing(
                panels=tuple(
                    panel(
                        partial(score_figures.plot_frontier, card, axis),
                        size=(6.2, 3.9),
                        label=f"Global index over {axis}, with the Pareto set",
                        salt=f"frontier-{axis}",
                    )
                    for axis in axes
                ),
                title="The efficiency frontier",
                caption="A dominated model is no better than some model of the frontier, in quality "
                "and cost alike. Bars are intervals of the index: where they overlap across the step, "
                "the frontier could be another.",
                shape="wide",
            ),
        ),
        tables=(score_tables.economics_table(card),),
    )


def _more(table: Table, n_more: int, file: str) -> Table:
    """Return a table whose note says how many rows stand in the file only."""
    if not n_more:
        return table
    note = f"{table.note} {count(n_more)} more rows are in {file}.".strip()
    return Table(caption=table.caption, columns=table.columns, rows=table.rows, note=note)
