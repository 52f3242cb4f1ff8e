"""The files of a content audit's analysis."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from neartie.audits.content_analysis import ContentAudit
from neartie.audits.content_families import FamilyAssociation
from neartie.data.files import (
    output_folder,
    write_csv_atomic,
    write_json_atomic,
    write_text_atomic,
)
from neartie.report import content_html
from neartie.report.latex import latex_table

TABLES = ("binary", "ordinal", "benchmarks", "agreement", "rule")


def write_content(
    audit: ContentAudit,
    families: FamilyAssociation | None,
    folder: str | PathLike[str],
    *,
    name: str = "items",
) -> list[Path]:
    """Write summary, tables, LaTeX and report; all of them, or none.

    Parameters
    ----------
    audit : ContentAudit
    families : FamilyAssociation or None
    folder : path
        Made if need be. Other files in it stay.
    name : str
        For the title.

    Returns
    -------
    list of Path

    Raises
    ------
    DataError
        If the folder cannot be written.
    """
    with output_folder(folder) as temporary:
        write_json_atomic(content_summary(audit, families), temporary / "summary.json")
        for kind in TABLES:
            write_csv_atomic(getattr(audit, kind), temporary / f"{kind}.csv")
        if families is not None:
            write_csv_atomic(families.table, temporary / "families.csv")
            write_csv_atomic(families.shares, temporary / "family_shares.csv")
        made = {"binary": content_html.binary_table(audit), "rule": content_html.rule_table(audit)}
        for file, table in made.items():
            text = latex_table(table, label=f"tab:content-{file}")
            write_text_atomic(text, temporary / "tables" / f"{file}.tex")
        page = content_html.render_content(audit, families, name=name)
        write_text_atomic(page, temporary / "report.html")
        written = sorted(p.relative_to(temporary) for p in temporary.rglob("*") if p.is_file())
    return [Path(folder) / path for path in written]


def content_summary(audit: ContentAudit, families: FamilyAssociation | None) -> dict[str, Any]:
    """Return what `summary.json` holds."""
    found = audit.to_dict()
    if families is not None:
        found["warnings"] = [*found["warnings"], *families.warnings]
        found["family_settings"] = families.settings
    return found
