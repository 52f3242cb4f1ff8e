"""The files of predictive checks: the contract that users script against."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import pandas as pd

from neartie.audits.predictive_result import PredictiveChecks
from neartie.data.files import output_folder, write_csv_atomic, write_json_atomic, write_text_atomic
from neartie.report.check_html import render_checks


def write_checks(
    checks: PredictiveChecks,
    folder: str | PathLike[str],
    *,
    name: str,
    comparison: pd.DataFrame | None = None,
) -> list[Path]:
    """Write summary, tables and report; all of them, or none.

    Parameters
    ----------
    checks : PredictiveChecks
    folder : path
        Made if need be. An `items.csv` or `comparison.csv` that an earlier check left and this
        one does not have is removed; other files in it stay.
    name : str
        What was fitted, for titles.
    comparison : DataFrame, optional
        Of `neartie.compare_models`.

    Returns
    -------
    list of Path
        `summary.json`, `statistics.csv`, `models.csv`, `coverage.csv`, `histogram.csv`,
        `replicates.csv`, `report.html`; `items.csv` and `comparison.csv` where there are any.

    Raises
    ------
    DataError
        If the folder cannot be written.
    """
    tables = {
        "statistics": checks.statistics,
        "models": checks.models,
        "coverage": checks.coverage,
        "histogram": checks.histogram,
        "replicates": checks.replicates,
    }
    if len(checks.items):
        tables["items"] = checks.items
    summary = checks.to_dict()
    if comparison is not None:
        tables["comparison"] = comparison
        summary["comparison"] = comparison.to_dict("records")
    with output_folder(folder) as temporary:
        write_json_atomic(summary, temporary / "summary.json")
        for name_of_table, table in tables.items():
            write_csv_atomic(table, temporary / f"{name_of_table}.csv")
        page = render_checks(checks, name=name, comparison=comparison)
        write_text_atomic(page, temporary / "report.html")
        written = sorted(path.name for path in temporary.iterdir())
    for stale in ("items.csv", "comparison.csv"):
        if stale not in written:
            (Path(folder) / stale).unlink(missing_ok=True)
    return [Path(folder) / path for path in written]
