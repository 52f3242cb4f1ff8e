"""The files of point estimates beside a posterior: the contract that users script against."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from neartie.audits.estimates_result import EstimateComparison
from neartie.data.files import output_folder, write_csv_atomic, write_json_atomic, write_text_atomic
from neartie.report import estimates_tables
from neartie.report.estimates_html import render_estimates
from neartie.report.latex import latex_table


def write_estimates(
    found: EstimateComparison, folder: str | PathLike[str], *, name: str
) -> list[Path]:
    """Write summary, tables, LaTeX and report; all of them, or none.

    Parameters
    ----------
    found : EstimateComparison
    folder : path
        Made if need be. An `items.csv` that an earlier comparison left and this one does not have
        is removed; other files in it stay.
    name : str
        What was fitted, for titles.

    Returns
    -------
    list of Path
        `summary.json`, `estimators.csv`, `models.csv`, `pairs.csv`, `tables/errors.tex`,
        `tables/agreement.tex`, `report.html`; `items.csv` for the 2PL.

    Raises
    ------
    DataError
        If the folder cannot be written.
    """
    tables = {"estimators": found.estimators, "models": found.models, "pairs": found.pairs}
    if len(found.items):
        tables["items"] = found.items
    with output_folder(folder) as temporary:
        write_json_atomic(found.to_dict(), temporary / "summary.json")
        for name_of_table, table in tables.items():
            write_csv_atomic(table, temporary / f"{name_of_table}.csv")
        for label, made in (
            ("errors", estimates_tables.error_table(found)),
            ("agreement", estimates_tables.agreement_table(found)),
        ):
            text = latex_table(made, label=f"tab:{label}")
            write_text_atomic(text, temporary / "tables" / f"{label}.tex")
        write_text_atomic(render_estimates(found, name=name), temporary / "report.html")
        written = sorted(p.relative_to(temporary) for p in temporary.rglob("*") if p.is_file())
    if "items" not in tables:
        (Path(folder) / "items.csv").unlink(missing_ok=True)
    return [Path(folder) / path for path in written]
