"""The files of an audit: the contract that users script against."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from neartie.audits.result import NearTieAudit
from neartie.data.files import output_folder, write_csv_atomic, write_json_atomic
from neartie.report.html import write_report
from neartie.report.latex import write_latex
from neartie.report.tables import DEFAULT_NAME

TABLES = (
    "population",
    "excluded",
    "families",
    "items",
    "dif",
    "dimension",
    "rounds",
    "scores",
    "pairs",
    "thresholds",
    "fractions",
    "random_rates",
)


def write_audit(
    audit: NearTieAudit, folder: str | PathLike[str], *, name: str = DEFAULT_NAME
) -> list[Path]:
    """Write summary, tables, LaTeX and report; all of them, or none.

    Parameters
    ----------
    audit : NearTieAudit
    folder : path
        Made if need be. Other files in it stay.
    name : str
        The benchmark, for titles.

    Returns
    -------
    list of Path
        `summary.json`, one CSV for every table of `NearTieAudit` under its name,
        `tables/*.tex` and `report.html`.

    Raises
    ------
    DataError
        If the folder cannot be written.
    """
    with output_folder(folder) as temporary:
        write_json_atomic(audit.to_dict(), temporary / "summary.json")
        for table in TABLES:
            write_csv_atomic(getattr(audit, table), temporary / f"{table}.csv")
        write_latex(audit, temporary, name=name)
        write_report(audit, temporary / "report.html", name=name)
        written = sorted(p.relative_to(temporary) for p in temporary.rglob("*") if p.is_file())
    return [Path(folder) / path for path in written]
