"""How wide a LaTeX table will be, and the font size and column widths with which it fits a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from neartie.report.table import Table

# The text block of LaTeX's article class at 10 pt is 345 points wide; a little is left for symbols,
# whose width is that of the words in their place.
PAGE: Final = 341.0
# Computer Modern at 10 pt, in points; other fonts are a little narrower.
_WIDTHS: Final = (
    dict.fromkeys("ijl.,:;'|!", 2.8)
    | dict.fromkeys("ftrsI()[]-/ ", 3.9)
    | dict.fromkeys("mwMW%−+=<>", 8.6)
    | dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ&", 7.3)
)
_OTHER: Final = 5.2
NARROWEST: Final = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """A font size with the space between columns, both as LaTeX takes them."""

    command: str
    scale: float
    separation: float


SIZES: Final = (
    Size(command="", scale=1.0, separation=6.0),
    Size(command=r"\small", scale=0.925, separation=4.0),
    Size(command=r"\footnotesize", scale=0.85, separation=3.0),
    Size(command=r"\scriptsize", scale=0.8, separation=2.5),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """How a table is set.

    Attributes
    ----------
    size : Size
    heads : tuple of tuple of str
        The lines of every column's head.
    widths : tuple of (float or None)
        Of columns whose text is broken into lines, in points.
    fits : bool
        Whether the table is narrow enough for an article's page.
    """

    size: Size
    heads: tuple[tuple[str, ...], ...]
    widths: tuple[float | None, ...]
    fits: bool


def text_width(text: str) -> float:
    """Return the width of plain text at 10 pt, in points.

    Examples
    --------
    >>> round(text_width("Excess (pp)"))
    53
    """
    return sum(_WIDTHS.get(mark, _OTHER) for mark in text)


def broken_head(head: str, width: float) -> tuple[str, ...]:
    """Return a head in as few lines as stay within a width, words kept whole.

    Examples
    --------
    >>> broken_head("Random, 95% of subtests", 60.0)
    ('Random,', '95% of', 'subtests')
    """
    limit = max([width, *(text_width(word) for word in head.split())])
    lines: list[str] = []
    for word in head.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer) <= limit:
            lines[-1] = longer
        else:
            lines.append(word)
    return tuple(lines) or ("",)


def lay_out(table: Table) -> Layout:
    """Return the largest size in which a table fits a page, breaking heads, then text, at need.

    Parameters
    ----------
    table : Table

    Returns
    -------
    Layout
        A table of many columns may not fit even so; `fits` says it.
    """
    whole = tuple((column.head,) for column in table.columns)
    cells = [
        max([text_width(row[c]) for row in table.rows], default=0.0)
        for c in range(len(table.columns))
    ]
    broken = tuple(
        (column.head,) if column.symbol else broken_head(column.head, width)
        for column, width in zip(table.columns, cells, strict=True)
    )
    open_: tuple[float | None, ...] = (None,) * len(table.columns)
    tries = [(SIZES[0], whole), *((size, broken) for size in SIZES)]
    for size, heads in tries:
        if _total(cells, heads, size) <= PAGE:
            return Layout(size=size, heads=heads, widths=open_, fits=True)
    size, heads = tries[-1]
    return _with_broken_text(table, cells, heads, size)


def _with_broken_text(
    table: Table, cells: list[float], heads: tuple[tuple[str, ...], ...], size: Size
) -> Layout:
    """Give the widest columns of text what the others leave."""
    natural = _natural(cells, heads, size)
    widths: list[float | None] = [None] * len(natural)
    texts = [c for c, column in enumerate(table.columns) if not column.numeric]
    over = _total(cells, heads, size) - PAGE
    for c in sorted(texts, key=lambda c: (table.columns[c].long, natural[c]), reverse=True):
        if over <= 0 or natural[c] <= NARROWEST:
            continue
        width = max(NARROWEST, natural[c] - over)
        widths[c], over = width, over - (natural[c] - width)
    return Layout(size=size, heads=heads, widths=tuple(widths), fits=over <= 0)


def _natural(cells: list[float], heads: tuple[tuple[str, ...], ...], size: Size) -> list[float]:
    own = [max(map(_head_width, lines)) for lines in heads]
    return [size.scale * max(pair) for pair in zip(own, cells, strict=True)]


def _head_width(line: str) -> float:
    """Return the width of a head's line; what follows an underscore is set as a subscript."""
    base, _, below = line.partition("_")
    return text_width(base) + 0.7 * text_width(below)


def _total(cells: list[float], heads: tuple[tuple[str, ...], ...], size: Size) -> float:
    return sum(_natural(cells, heads, size)) + 2 * size.separation * len(cells)
