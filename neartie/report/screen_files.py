"""The files of an item screen: the contract that users script against."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from neartie.audits.screen_result import ItemScreen
from neartie.data.files import output_folder, write_csv_atomic, write_json_atomic, write_text_atomic
from neartie.report.screen_html import render_screen


def write_screen(screen: ItemScreen, folder: str | PathLike[str], *, name: str) -> list[Path]:
    """Write summary, tables and report; all of them, or none.

    Parameters
    ----------
    screen : ItemScreen
    folder : path
        Made if need be. Tables that an earlier screen left and this one does not have are
        removed; other files in it stay.
    name : str
        The benchmark, for titles.

    Returns
    -------
    list of Path
        `summary.json`, `screen.csv`, `curves.csv`, `report.html`; `sources.csv` where there are
        sources; `auc.csv` and `precision.csv` where items carry `is_bad`.

    Raises
    ------
    DataError
        If the folder cannot be written.
    """
    tables = {"screen": screen.table, "curves": screen.curves, "sources": screen.sources}
    tables |= {"auc": screen.auc, "precision": screen.precision}
    with output_folder(folder) as temporary:
        write_json_atomic(screen.to_dict(), temporary / "summary.json")
        for name_of_table, table in tables.items():
            if not table.empty or name_of_table == "screen":
                write_csv_atomic(table, temporary / f"{name_of_table}.csv")
        write_text_atomic(render_screen(screen, name=name), temporary / "report.html")
        written = sorted(path.name for path in temporary.iterdir())
    for name_of_table in tables:
        if f"{name_of_table}.csv" not in written:
            (Path(folder) / f"{name_of_table}.csv").unlink(missing_ok=True)
    return [Path(folder) / path for path in written]
