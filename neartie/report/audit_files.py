"""The files of an audit: the contract that users script against."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from neartie.audits.further_checks import FurtherChecks
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
    audit: NearTieAudit,
    folder: str | PathLike[str],
    *,
    name: str = DEFAULT_NAME,
    checks: FurtherChecks | None = None,
) -> list[Path]:
    """Write summary, tables, LaTeX and report; all of them, or none.

    Parameters
    ----------
    audit : NearTieAudit
    folder : path
        Made if need be. Other files in it stay.
    name : str
        The benchmark, for titles.
    checks : FurtherChecks, optional
        Of this audit: adds their tables, LaTeX, sections of the report and keys of the summary.

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
    checks = checks or FurtherChecks()
    with output_folder(folder) as temporary:
        write_json_atomic(audit_summary(audit, checks), temporary / "summary.json")
        for table in TABLES:
            write_csv_atomic(getattr(audit, table), temporary / f"{table}.csv")
        for file, content in checks.tables():
            write_csv_atomic(content, temporary / f"{file}.csv")
        write_latex(audit, temporary, name=name, checks=checks)
        write_report(audit, temporary / "report.html", name=name, checks=checks)
        written = sorted(p.relative_to(temporary) for p in temporary.rglob("*") if p.is_file())
    return [Path(folder) / path for path in written]


def audit_summary(audit: NearTieAudit, checks: FurtherChecks | None = None) -> dict[str, Any]:
    """Return what `summary.json` holds: the audit's numbers, and those of further checks."""
    found = audit.to_dict()
    if checks is None:
        return found
    # what made the numbers, and caveats, stay last
    last = {key: found.pop(key) for key in ("seed", "settings", "versions", "warnings")}
    last["warnings"] = [*last["warnings"], *checks.warnings]
    return found | checks.to_dict() | last
