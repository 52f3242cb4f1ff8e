"""The files of a ranking: the contract that users script against."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import pandas as pd

from neartie.audits.rank_deciders import GapDeciders
from neartie.audits.rank_result import ModelRanking
from neartie.data.files import output_folder, write_csv_atomic, write_json_atomic, write_text_atomic
from neartie.report import decider_tables, rank_tables
from neartie.report.latex import latex_table
from neartie.report.rank_html import render_ranking

_MOST_LATEX_ROWS = 60
_OPTIONAL = ("needs", "deciders", "decider_sources")


def write_ranking(
    ranking: ModelRanking,
    folder: str | PathLike[str],
    *,
    name: str,
    needs: pd.DataFrame | None = None,
    unit: str = "",
    deciders: Sequence[GapDeciders] = (),
) -> list[Path]:
    """Write summary, tables, LaTeX and report; all of them, or none.

    Parameters
    ----------
    ranking : ModelRanking
    folder : path
        Made if need be. Tables of `_OPTIONAL` that an earlier ranking left and this one does not
        have are removed; other files in it stay.
    name : str
        What is ranked, for titles.
    needs : DataFrame, optional
        From `what_would_it_take`.
    unit : {'items', 'battles', ''}
        Of `needs`.
    deciders : sequence of GapDeciders
        From `who_decides`, for some pairs.

    Returns
    -------
    list of Path
        `summary.json`, `ranks.csv`, `pairs.csv`, `rank_probability.csv`, `tables/ranks.tex`,
        `tables/tiers.tex`, `report.html`; `needs.csv` where there are needs, `deciders.csv` and
        `decider_sources.csv` where there are deciders.

    Raises
    ------
    DataError
        If the folder cannot be written.
    """
    tables = {"ranks": ranking.ranks, "pairs": ranking.pairs}
    tables["rank_probability"] = ranking.rank_probability
    if needs is not None:
        tables["needs"] = needs
    if deciders:
        tables["deciders"] = decider_tables.item_frame(deciders)
        tables["decider_sources"] = decider_tables.source_frame(deciders)
    with output_folder(folder) as temporary:
        write_json_atomic(ranking.to_dict(), temporary / "summary.json")
        for name_of_table, table in tables.items():
            write_csv_atomic(table, temporary / f"{name_of_table}.csv")
        for label, text in latex_tables(ranking).items():
            write_text_atomic(text, temporary / "tables" / f"{label}.tex")
        page = render_ranking(ranking, name=name, needs=needs, unit=unit, deciders=deciders)
        write_text_atomic(page, temporary / "report.html")
        written = sorted(p.relative_to(temporary) for p in temporary.rglob("*") if p.is_file())
    for stale in _OPTIONAL:
        if stale not in tables:
            (Path(folder) / f"{stale}.csv").unlink(missing_ok=True)
    return [Path(folder) / path for path in written]


def latex_tables(ranking: ModelRanking) -> dict[str, str]:
    """Return the list of ranks, up to a page of it, and the tiers as LaTeX.

    Parameters
    ----------
    ranking : ModelRanking

    Returns
    -------
    dict
        `ranks` and `tiers`.
    """
    table, n_more = rank_tables.ranks(ranking, most=_MOST_LATEX_ROWS)
    text = latex_table(table, label="tab:ranks")
    if n_more:
        text = f"% {n_more} more models are in ranks.csv\n{text}"
    tiers = latex_table(rank_tables.tier_table(ranking), label="tab:tiers")
    return {"ranks": text, "tiers": tiers}
