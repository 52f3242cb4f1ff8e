"""The files of a collection of audits, and its summary on the terminal."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from neartie.audits.collection_checks import CollectionChecks
from neartie.data.files import (
    output_folder,
    write_csv_atomic,
    write_json_atomic,
    write_text_atomic,
)
from neartie.report import collection_sentences, collection_tables
from neartie.report.collection_html import render_collection
from neartie.report.latex import latex_table
from neartie.report.table import Table
from neartie.report.tables import table_1
from neartie.report.text import cut, grid, printable, wrapped


def write_collection(
    whole: CollectionChecks, folder: str | PathLike[str], *, name: str = "several benchmarks"
) -> list[Path]:
    """Write what holds over several benchmarks; all of it, or nothing.

    Parameters
    ----------
    whole : CollectionChecks
    folder : path
        Made if need be. Other files in it stay.
    name : str
        For titles.

    Returns
    -------
    list of Path
        `summary.json`, a CSV for every table, `tables/*.tex` and `report.html`. The benchmarks'
        own files come from `write_audit`.

    Raises
    ------
    DataError
        If the folder cannot be written.
    """
    with output_folder(folder) as temporary:
        write_json_atomic(whole.to_dict(), temporary / "summary.json")
        for file, content in whole.tables():
            write_csv_atomic(content, temporary / f"{file}.csv")
        for file, table in _latex(whole).items():
            text = latex_table(table, label=f"tab:{file.replace('_', '-')}")
            write_text_atomic(text, temporary / "tables" / f"{file}.tex")
        write_text_atomic(render_collection(whole, name=name), temporary / "report.html")
        written = sorted(p.relative_to(temporary) for p in temporary.rglob("*") if p.is_file())
    return [Path(folder) / path for path in written]


def _latex(whole: CollectionChecks) -> dict[str, Table]:
    made = {
        "near_tie": collection_tables.primary_table(whole),
        "bands": collection_tables.bands_table(whole),
        "fractions": collection_tables.fractions_table(whole),
    }
    if whole.audits.robustness:
        made["robustness"] = collection_tables.robustness_matrix(whole)
    found = {n: part.replication for n, part in whole.checks.items() if part.replication}
    if found:
        made["replication"] = collection_tables.replication_matrix(found)
    beside = collection_tables.families_found(whole)
    if beside:
        made["permuted_replication"] = collection_tables.family_replication_matrix(beside)
    if any(part.shifts for part in whole.checks.values()):
        made["family_shifts"] = collection_tables.shifts_matrix(whole)
    if whole.common is not None and whole.common.table["n_models"].any():
        made["common_models"] = collection_tables.common_table(whole.common)
    return made


def collection_text(whole: CollectionChecks) -> str:
    """Return a short plain text of at most 80 columns: caveats, Table 1, the answers.

    Parameters
    ----------
    whole : CollectionChecks

    Returns
    -------
    str
    """
    lines = [
        f"Warning: {name}: {audit.warnings[0]}"
        for name, audit in whole.audits.audits.items()
        if audit.warnings
    ]
    parts = [wrapped(printable(line)) for line in lines]
    each = [
        table_1(audit, name=cut(printable(name), 18)) for name, audit in whole.audits.audits.items()
    ]
    whole_table = Table(
        caption="", columns=each[0].columns, rows=tuple(table.rows[0] for table in each)
    )
    parts.append(grid(whole_table))
    sentences = [*collection_sentences.permuted_summary(whole)]
    if whole.audits.robustness:
        sentences.append(collection_sentences.passing_sentence(whole))
    if whole.pooled is not None:
        sentences += collection_sentences.pooled_sentences(whole)
    if any(part.shifts for part in whole.checks.values()):
        sentences.append(collection_sentences.shifts_summary(whole))
    sentences.append(collection_sentences.collection_answer(whole))
    parts += [wrapped(printable(sentence)) for sentence in sentences]
    return "\n\n".join(parts)
