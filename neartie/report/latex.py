"""The tables as LaTeX, for a manuscript that loads `booktabs`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from neartie.audits.control_comparison import PERMUTED
from neartie.audits.further_checks import FurtherChecks
from neartie.audits.result import NearTieAudit
from neartie.data.files import write_text_atomic
from neartie.report import further_tables, tables, tables_background
from neartie.report.formatting import MINUS
from neartie.report.latex_width import Layout, lay_out
from neartie.report.table import Column, Table
from neartie.report.tables import DEFAULT_NAME, EN_DASH

_ESCAPED = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # in the old font encoding, which is LaTeX's default, these print as Spanish marks
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # not among the characters that LaTeX knows; its own hyphen does not break the line in a cell
    "\N{NON-BREAKING HYPHEN}": "-",
}
_SPECIAL = re.compile("[" + re.escape("".join(_ESCAPED)) + "]")
# Where a long name may be broken: after a separator, which is perhaps an escaped one.
_SEPARATOR = re.compile(r"(/|\\_|\.(?=[A-Za-z])|:)")
_BREAK = r"\1\\allowbreak{}"
_SIGNED = re.compile(f"^[+{MINUS}][0-9.,]+$")


def escape_latex(text: str) -> str:
    r"""Return text that LaTeX prints as it is.

    Parameters
    ----------
    text : str
        Unicode letters are left alone; line breaks and control characters become spaces.

    Returns
    -------
    str

    Examples
    --------
    >>> print(escape_latex("50%_of {R&D}"))
    50\%\_of \{R\&D\}
    """
    flat = "".join(mark if mark.isprintable() else " " for mark in text)
    return _SPECIAL.sub(lambda found: _ESCAPED[found[0]], " ".join(flat.split()))


def latex_table(table: Table, *, label: str) -> str:
    """Return a table environment with `booktabs` rules.

    Parameters
    ----------
    table : Table
    label : str
        For cross-references, as it is.

    Returns
    -------
    str
    """
    layout = lay_out(table)
    head = " & ".join(
        _head(column, lines) for column, lines in zip(table.columns, layout.heads, strict=True)
    )
    body = [
        " & ".join(
            _cell(text, column, broken=width is not None)
            for text, column, width in zip(row, table.columns, layout.widths, strict=True)
        )
        for row in table.rows
    ]
    caption = _mathematics(escape_latex(" ".join(filter(None, (table.caption + ".", table.note)))))
    size = layout.size
    lines = [
        "% needs \\usepackage{booktabs}",
        "" if layout.fits else "% wider than the page of an article: turn it, or leave out columns",
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{caption}}}",
        rf"  \label{{{label}}}",
        f"  {size.command}\\setlength{{\\tabcolsep}}{{{size.separation:g}pt}}"
        if size.command
        else "",
        rf"  \begin{{tabular}}{{{_alignment(table, layout)}}}",
        r"    \toprule",
        rf"    {head} \\",
        r"    \midrule",
        *[rf"    {line} \\" for line in body],
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(filter(None, lines)) + "\n"


def _alignment(table: Table, layout: Layout) -> str:
    return "".join(
        ("r" if column.numeric else "l") if width is None else f"p{{{width:.0f}pt}}"
        for column, width in zip(table.columns, layout.widths, strict=True)
    )


def _head(column: Column, lines: tuple[str, ...]) -> str:
    if column.symbol is not None:
        return column.symbol
    if len(lines) == 1:
        return escape_latex(lines[0])
    side = "r" if column.numeric else "l"
    return rf"\shortstack[{side}]{{{r' \\ '.join(map(escape_latex, lines))}}}"


def latex_table_1(
    audit: NearTieAudit, *, name: str = DEFAULT_NAME, permuted: Mapping[str, Any] | None = None
) -> str:
    """Return the row of P0's Table 1 as LaTeX.

    Parameters
    ----------
    audit : NearTieAudit
    name : str
        The benchmark.
    permuted : mapping, optional
        As in `table_1`.

    Returns
    -------
    str
    """
    table = tables.table_1(audit, name=name, permuted=permuted)
    return latex_table(table, label="tab:near-tie")


def latex_checks(checks: FurtherChecks) -> dict[str, str]:
    """Return the tables of further checks as LaTeX, by the name of their file."""
    made: dict[str, Table] = {}
    if checks.controls is not None:
        made["controls"] = further_tables.controls_table(checks.controls)
    if checks.robustness is not None:
        made["robustness"] = further_tables.robustness_table(checks.robustness)
    if checks.replication is not None:
        made["replication"] = further_tables.replication_table(checks.replication)
    if checks.family_replication is not None:
        made["permuted_replication"] = further_tables.family_replication_table(
            checks.family_replication
        )
    if checks.attribution is not None:
        made["source_effects"] = further_tables.source_effects_table(checks.attribution)
        made["source_shifts"] = further_tables.source_shifts_table(checks.attribution)
    if checks.shifts is not None:
        made["family_shifts"] = further_tables.shifts_table(checks.shifts)
    return {
        f"{name}.tex": latex_table(table, label=f"tab:{name.replace('_', '-')}")
        for name, table in made.items()
    }


def latex_bands(audit: NearTieAudit) -> str:
    """Return the reversals by band as LaTeX (P0, Table 4)."""
    return latex_table(tables.bands(audit), label="tab:bands")


def latex_fractions(audit: NearTieAudit) -> str:
    """Return the anchor fractions as LaTeX (P0, Table 5)."""
    return latex_table(tables.fractions(audit), label="tab:fractions")


def latex_population(audit: NearTieAudit) -> str:
    """Return families by half as LaTeX."""
    return latex_table(tables_background.population(audit), label="tab:population")


def write_latex(
    audit: NearTieAudit,
    folder: str | PathLike[str],
    *,
    name: str = DEFAULT_NAME,
    checks: FurtherChecks | None = None,
) -> tuple[Path, ...]:
    """Write the tables into `folder/tables` and return the files.

    Parameters
    ----------
    audit : NearTieAudit
    folder : path
        The output folder of the audit; made if it is missing.
    name : str
        The benchmark.
    checks : FurtherChecks, optional

    Returns
    -------
    tuple of Path
        `near_tie.tex`, `bands.tex`, `fractions.tex`, `population.tex`, and one a further check.
    """
    checks = checks or FurtherChecks()
    texts = {
        "near_tie.tex": latex_table_1(audit, name=name, permuted=checks.control(PERMUTED)),
        "bands.tex": latex_bands(audit),
        "fractions.tex": latex_fractions(audit),
        "population.tex": latex_population(audit),
        **latex_checks(checks),
    }
    place = Path(folder) / "tables"
    return tuple(write_text_atomic(text, place / file) for file, text in texts.items())


def _cell(text: str, column: Column, *, broken: bool) -> str:
    if broken:
        # the braces keep what \raggedright does to the end of a line within the cell
        return rf"{{\raggedright {_SEPARATOR.sub(_BREAK, escape_latex(text))}\par}}"
    if not column.numeric:
        return escape_latex(text)
    if _SIGNED.match(text):
        return f"${text.replace(MINUS, '-')}$"
    return escape_latex(text).replace(MINUS, "$-$").replace(EN_DASH, "--")


def _mathematics(caption: str) -> str:
    """The symbols of our own captions; names from data never stand in one."""
    for plain, symbol in (
        (r"τ\_b", r"$\tau_b$"),
        (r"p\_rand", r"$p_{\mathrm{rand}}$"),
        (r"p\_perm", r"$p_{\mathrm{perm}}$"),
        ("K:", "$K$:"),
        ("Close n:", "Close $n$:"),
    ):
        caption = caption.replace(plain, symbol)
    return caption
