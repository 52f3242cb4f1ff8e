"""The files of a comparison: the contract that users script against."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from neartie.audits.comparison import Comparison
from neartie.audits.draw_reversals import SCORES
from neartie.data.files import output_folder, write_csv_atomic, write_json_atomic, write_text_atomic
from neartie.report import comparison_pair_tables, comparison_tables
from neartie.report.comparison_html import render_comparison
from neartie.report.comparison_methods import methods_latex, methods_text
from neartie.report.latex import latex_table
from neartie.report.tables import DEFAULT_NAME

TABLES = ("ladder", "pairs", "pair_probabilities", "calibration", "anchors", "rungs")


def write_comparison(
    compared: Comparison, folder: str | PathLike[str], *, name: str = DEFAULT_NAME
) -> list[Path]:
    """Write summary, tables, LaTeX, methods paragraph and report; all of them, or none.

    Parameters
    ----------
    compared : Comparison
    folder : path
        Made if need be. Other files in it stay, also the folder of finished rungs.
    name : str
        The benchmark, for titles.

    Returns
    -------
    list of Path
        `summary.json`, one CSV for every table of `Comparison` under its name, `methods.txt`,
        `tables/*.tex` and `report.html`.

    Raises
    ------
    DataError
        If the folder cannot be written.
    """
    with output_folder(folder) as temporary:
        write_json_atomic(compared.to_dict(), temporary / "summary.json")
        for table in TABLES:
            write_csv_atomic(getattr(compared, table), temporary / f"{table}.csv")
        write_text_atomic(methods_text(compared, name=name) + "\n", temporary / "methods.txt")
        for file, text in latex_files(compared, name=name).items():
            write_text_atomic(text, temporary / "tables" / f"{file}.tex")
        write_text_atomic(render_comparison(compared, name=name), temporary / "report.html")
        written = sorted(p.relative_to(temporary) for p in temporary.rglob("*") if p.is_file())
    return [Path(folder) / path for path in written]


def latex_files(compared: Comparison, *, name: str) -> dict[str, str]:
    """Return the tables and the methods paragraph as LaTeX, by the stem of their file."""
    made = {"ladder": comparison_tables.key_table(compared, narrow=True)}
    made |= {
        f"ladder_{scores}": comparison_tables.ladder_table(compared, scores, narrow=True)
        for scores in SCORES
    }
    agreement = comparison_tables.agreement_table(compared)
    pairs = comparison_pair_tables.pair_table(compared, narrow=True)
    made |= {} if agreement is None else {"agreement": agreement}
    made |= {} if pairs is None else {"pairs": pairs}
    made["fits"] = comparison_tables.fit_table(compared)
    texts = {
        file: latex_table(table, label=f"tab:compare-{file.replace('_', '-')}")
        for file, table in made.items()
    }
    return texts | {"methods": methods_latex(compared, name=name)}
