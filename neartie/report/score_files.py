"""The files of a scorecard: the contract that users script against."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np

from neartie.audits.scorecard_result import Scorecard
from neartie.data.files import output_folder, write_csv_atomic, write_json_atomic, write_text_atomic
from neartie.report.score_html import render_scorecard

_TABLES: Final = ("models", "domains", "items", "bins", "duels", "judges", "agreement")
#: Estimates and covariance in the form that `neartie rank` reads.
INDEX: Final = "index"


def write_scorecard(card: Scorecard, folder: str | PathLike[str], *, name: str) -> list[Path]:
    """Write summary, tables and report; all of them, or none.

    Parameters
    ----------
    card : Scorecard
    folder : path
        Made if need be. Tables that an earlier scorecard left and this one does not have are
        removed; other files in it stay.
    name : str
        What is scored, for titles.

    Returns
    -------
    list of Path
        `summary.json`, `report.html`, and of `models.csv`, `domains.csv`, `items.csv`, `bins.csv`,
        `duels.csv`, `judges.csv`, `agreement.csv` those with rows; `index/models.csv` and
        `index/covariance.csv`, which `neartie rank` reads, where indices have errors.

    Raises
    ------
    DataError
        If the folder cannot be written.
    """
    target = Path(folder)
    with output_folder(target) as temporary:
        write_json_atomic(card.to_dict(), temporary / "summary.json")
        for table in _TABLES:
            content = getattr(card, table)
            if len(content):
                write_csv_atomic(content, temporary / f"{table}.csv")
        if not card.covariance.empty:
            estimates = card.models.set_index("model").loc[card.covariance["model"]].reset_index()
            estimates = estimates[["model", "global_index"]].rename(
                columns={"global_index": "estimate"}
            )
            square = card.covariance.iloc[:, 1:].to_numpy(dtype=np.float64)
            estimates["se"] = np.sqrt(np.diag(square))
            write_csv_atomic(estimates, temporary / INDEX / "models.csv")
            write_csv_atomic(card.covariance, temporary / INDEX / "covariance.csv")
        write_text_atomic(render_scorecard(card, name=name), temporary / "report.html")
        written = sorted(
            path.relative_to(temporary) for path in temporary.rglob("*") if path.is_file()
        )
    optional = [Path(f"{table}.csv") for table in _TABLES]
    for stale in [*optional, Path(INDEX, "models.csv"), Path(INDEX, "covariance.csv")]:
        if stale not in written:
            (target / stale).unlink(missing_ok=True)
    return [target / path for path in written]
