"""The files of a validation: the contract that users script against."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from neartie.audits.validation_result import DesignValidation
from neartie.data.files import output_folder, write_csv_atomic, write_json_atomic, write_text_atomic
from neartie.report.validation_html import render_validation


def write_validation(
    result: DesignValidation, folder: str | PathLike[str], *, name: str
) -> list[Path]:
    """Write summary, tables and report; all of them, or none.

    Parameters
    ----------
    result : DesignValidation
    folder : path
        Made if need be. Other files in it stay.
    name : str
        Of the design, for titles.

    Returns
    -------
    list of Path
        `summary.json`, `quantities.csv`, `coverage.csv`, `ranks.csv`, `orders.csv`, `positions.csv`,
        `data_sets.csv`, `report.html`, which are the same for the same result; and `seconds.csv`.

    Raises
    ------
    DataError
        If the folder cannot be written.
    """
    tables = ("quantities", "coverage", "ranks", "orders", "positions", "data_sets", "seconds")
    with output_folder(folder) as temporary:
        write_json_atomic(result.to_dict(), temporary / "summary.json")
        for table in tables:
            write_csv_atomic(getattr(result, table), temporary / f"{table}.csv")
        write_text_atomic(render_validation(result, name=name), temporary / "report.html")
        written = sorted(path.name for path in temporary.iterdir())
    return [Path(folder) / path for path in written]
