"""The audit as plain text for a terminal: Table-1 row, bands, fractions, answer."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Group
from rich.table import Table as RichTable
from rich.text import Text

from neartie.audits.result import NearTieAudit
from neartie.report import tables
from neartie.report.formatting import plural
from neartie.report.sentences import answer, context, headline
from neartie.report.table import Table
from neartie.report.tables import DEFAULT_NAME

WIDTH = 80
WARNINGS_SHOWN = 4
_SHORT_HEADS = {
    "Random, 95% of subtests": "95% of random",
    "Range over recompositions": "Range*",
    "Low-DIF (%)": "Low-DIF",
    "Random (%)": "Random",
    "Excess (pp)": "Excess",
    "Band (pp)": "Band",
    "Kept (%)": "Kept",
}


def audit_text(audit: NearTieAudit, *, name: str = DEFAULT_NAME) -> str:
    """Return a short plain text of at most 80 columns: caveats, tables, and last the answer.

    Parameters
    ----------
    audit : NearTieAudit
    name : str
        The benchmark; long ones are cut.

    Returns
    -------
    str
        Ends without a line break.
    """
    shown, rest = audit.warnings[:WARNINGS_SHOWN], len(audit.warnings[WARNINGS_SHOWN:])
    parts = [wrapped(f"Warning: {printable(warning)}") for warning in shown]
    if rest:
        parts.append(f"({plural(rest, 'more caveat')} in the report)")
    parts.append(grid(tables.table_1(audit, name=cut(printable(name), 20))))
    parts.append(grid(_terminal_bands(audit)))
    parts.append(
        "Percentages of eligible pairs; excess in points. > marks the primary band.\n"
        "*Range over recompositions, not a confidence interval."
    )
    parts.append(grid(tables.fractions(audit)))
    parts.extend(wrapped(sentence) for sentence in context(audit))
    parts.append(wrapped(answer(headline(audit))))
    return "\n\n".join(parts)


def terminal_table(audit: NearTieAudit, *, name: str = DEFAULT_NAME) -> Group:
    """Return the Table-1 row and the bands as something that `rich` prints.

    Parameters
    ----------
    audit : NearTieAudit
    name : str
        The benchmark.

    Returns
    -------
    rich.console.Group
        Names are plain text: square brackets in them are not markup.
    """
    return Group(
        _rich(tables.table_1(audit, name=printable(name))),
        Text(""),
        _rich(_terminal_bands(audit)),
    )


def _terminal_bands(audit: NearTieAudit) -> Table:
    """Bands without the columns of pairs and ties, which 80 columns do not hold."""
    table = tables.bands(audit)
    heads = [column.head for column in table.columns if column.head not in ("Pairs", "Tied")]
    return selected(table, heads)


def selected(table: Table, heads: Sequence[str]) -> Table:
    """Return a table with some of its columns, for a terminal."""
    kept = [i for i, column in enumerate(table.columns) if column.head in heads]
    return Table(
        caption=table.caption,
        columns=tuple(table.columns[i] for i in kept),
        rows=tuple(tuple(row[i] for i in kept) for row in table.rows),
        marked=table.marked,
    )


def grid(table: Table) -> str:
    """Return a table in plain text; > stands before marked rows."""
    heads = [_SHORT_HEADS.get(column.head, column.head) for column in table.columns]
    cells = [heads, *[list(row) for row in table.rows]]
    widths = [max(cell_len(row[i]) for row in cells) for i in range(len(heads))]
    lines = []
    for position, row in enumerate(cells):
        aligned = [
            _padded(text, width, to_the_right=column.numeric)
            for text, width, column in zip(row, widths, table.columns, strict=True)
        ]
        mark = "> " if position - 1 in table.marked else "  "
        lines.append((mark + "  ".join(aligned)).rstrip())
        if position == 0:
            lines.append("  " + "-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(lines)


def _rich(table: Table) -> RichTable:
    from rich import box

    drawn = RichTable(box=box.SIMPLE_HEAD, title=Text(table.caption), title_justify="left")
    for column in table.columns:
        head = _SHORT_HEADS.get(column.head, column.head)
        drawn.add_column(Text(head), justify="right" if column.numeric else "left")
    for position, row in enumerate(table.rows):
        style = "bold" if position in table.marked else None
        drawn.add_row(*[Text(text) for text in row], style=style)
    return drawn


def wrapped(text: str) -> str:
    """Return a paragraph in lines of at most 80 columns."""
    return "\n".join(textwrap.wrap(text, WIDTH, break_on_hyphens=False))


def printable(text: str) -> str:
    """Control characters could move the cursor or recolour the terminal."""
    return "".join(mark if mark.isprintable() else " " for mark in text)


def _padded(text: str, width: int, *, to_the_right: bool) -> str:
    space = " " * (width - cell_len(text))
    return space + text if to_the_right else text + space


def cut(text: str, most: int) -> str:
    """Return a text that is at most so many columns wide."""
    return text if cell_len(text) <= most else set_cell_size(text, most - 1).rstrip() + "…"
