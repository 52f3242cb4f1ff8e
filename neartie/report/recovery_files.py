"""The files of simulated comparisons: the contract that users script against."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from neartie.audits.draw_reversals import SCORES
from neartie.audits.recovery import Recovery
from neartie.data.files import output_folder, write_csv_atomic, write_json_atomic, write_text_atomic
from neartie.report import recovery_tables
from neartie.report.latex import latex_table
from neartie.report.recovery_html import render_recovery

DEFAULT_NAME = "a design"
# Files by the attribute of `Recovery` that holds them.
_TABLES = {
    "table": "recovery",
    "anchors": "anchors",
    "replicates": "replicates",
    "failed": "failed",
}


def write_recovery(
    found: Recovery, folder: str | PathLike[str], *, name: str = DEFAULT_NAME
) -> list[Path]:
    """Write summary, tables, LaTeX and report; all of them, or none.

    Parameters
    ----------
    found : Recovery
    folder : path
        Made if need be. Other files in it stay, also those of finished leaderboards.
    name : str
        Of the design or the data, for titles.

    Returns
    -------
    list of Path
        `summary.json`, `recovery.csv`, `anchors.csv`, `replicates.csv`, `failed.csv`,
        `tables/*.tex` and `report.html`.

    Raises
    ------
    DataError
        If the folder cannot be written.
    """
    with output_folder(folder) as temporary:
        write_json_atomic(found.to_dict(), temporary / "summary.json")
        for attribute, file in _TABLES.items():
            write_csv_atomic(getattr(found, attribute), temporary / f"{file}.csv")
        for file, text in latex_files(found).items():
            write_text_atomic(text, temporary / "tables" / f"{file}.tex")
        write_text_atomic(render_recovery(found, name=name), temporary / "report.html")
        written = sorted(p.relative_to(temporary) for p in temporary.rglob("*") if p.is_file())
    return [Path(folder) / path for path in written]


def latex_files(found: Recovery) -> dict[str, str]:
    """Return the tables as LaTeX, by the stem of their file."""
    made = {"recovery": recovery_tables.key_table(found)}
    made |= {
        f"recovery_{scores}": recovery_tables.recovery_table(found, scores, narrow=True)
        for scores in SCORES
    }
    made["anchors"] = recovery_tables.gain_table(found)
    return {
        file: latex_table(table, label=f"tab:simulated-{file.replace('_', '-')}")
        for file, table in made.items()
    }
