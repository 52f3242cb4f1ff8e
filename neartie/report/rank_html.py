"""The report of a ranking: one HTML file that works offline."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from markupsafe import Markup

import neartie
from neartie.audits.rank_deciders import GapDeciders
from neartie.audits.rank_result import ModelRanking
from neartie.report import decider_tables, rank_figures, rank_tables
from neartie.report.formatting import count, percent, plural
from neartie.report.page import panel, render_page
from neartie.report.rank_text import kind_sentence, rank_answer

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def render_ranking(
    ranking: ModelRanking,
    *,
    name: str,
    needs: pd.DataFrame | None = None,
    unit: str = "",
    deciders: Sequence[GapDeciders] = (),
) -> str:
    """Return the report as one HTML page without scripts or links to other files.

    Parameters
    ----------
    ranking : ModelRanking
    name : str
        What is ranked, for the title.
    needs : DataFrame, optional
        From `what_would_it_take` for neighbours.
    unit : {'items', 'battles', ''}
        Of `needs`.
    deciders : sequence of GapDeciders
        From `who_decides`, for some pairs.

    Returns
    -------
    str
        The same ranking and name give the same text. Names are escaped wherever they stand.
    """
    content = _content(ranking, name, needs, unit)
    content["deciders"] = [
        (decider_tables.decider_table(found), decider_tables.decider_sentence(found))
        for found in deciders
    ]
    return render_page("ranks.html", content)


def _content(
    ranking: ModelRanking, name: str, needs: pd.DataFrame | None, unit: str
) -> dict[str, Any]:
    table, n_more = rank_tables.ranks(ranking)
    pairs, n_more_pairs = rank_tables.close_pairs(ranking, needs)
    known = ranking.pairs[ranking.pairs["identified"] == 1]
    return {
        "title": f"Ranks of {name}",
        "facts": (
            plural(ranking.n_models, "model"),
            plural(len(known), "pair"),
            plural(ranking.n_draws, "draw"),
            f"seed {ranking.seed}",
        ),
        "converged": ranking.converged,
        "warnings": ranking.warnings,
        "level": f"{percent(ranking.level, digits=0)}%",
        "miss": f"{percent(1 - ranking.level, digits=0)}%",
        "answer": rank_answer(ranking),
        "source": kind_sentence(ranking),
        "has_draws": ranking.has_draws,
        "sets": ranking.sets,
        "several": ranking.n_components > 1,
        "tiers": rank_tables.tier_table(ranking),
        "ranks": table,
        "ranks_below": f"and {plural(n_more, 'more model', 'more models')}, in ranks.csv"
        if n_more
        else "",
        "pairs": pairs if pairs.rows else None,
        "pairs_below": f"and {count(n_more_pairs)} more; all pairs are in pairs.csv"
        if n_more_pairs
        else "",
        "unit": unit if needs is not None else "",
        "settings": rank_tables.settings(ranking),
        "figures": _figures(ranking),
        "n_models": ranking.n_models,
        "versions": ranking.versions,
        "version": ranking.versions.get("neartie", neartie.__version__),
    }


def _figures(ranking: ModelRanking) -> dict[str, Markup]:
    drawn = {}
    if ranking.n_models > rank_figures.MOST_AT_A_GLANCE:
        drawn["glance"] = panel(
            partial(_side_by_side, ranking, named=False),
            size=rank_figures.figure_size(ranking, named=False),
            label="Intervals of scores and of ranks, all models at a glance",
            salt="glance",
        )
    if ranking.n_models <= rank_figures.MOST_NAMED:
        drawn["ranking"] = panel(
            partial(_side_by_side, ranking, named=True),
            size=rank_figures.figure_size(ranking),
            label="Intervals of scores and of ranks, with the name of every model",
            salt="ranking",
        )
    if ranking.n_models > 1:
        drawn["pairs"] = panel(
            partial(rank_figures.plot_pairs, ranking),
            size=_map_size(ranking.n_models),
            label="Probability that one model is above another, for all pairs",
            salt="pairs",
        )
    return drawn


def _map_size(n_models: int) -> tuple[float, float]:
    if n_models <= 6:
        return 4.8, 4.0
    named = 24 < n_models <= rank_figures.MOST_NAMED_CELLS
    return (7.8, 7.2) if named else (6.6, 6.0)


def _side_by_side(ranking: ModelRanking, *, ax: Axes, named: bool) -> Axes:
    return rank_figures.plot_ranking(ranking, ax=ax, named=named)[0]
