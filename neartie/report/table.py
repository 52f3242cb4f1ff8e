"""A table as text in cells, ready for HTML, LaTeX and the terminal alike."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """A column's head and kind.

    Attributes
    ----------
    head : str
    symbol : str or None
        The head in LaTeX where it holds mathematics.
    numeric : bool
        Whether the cells are numbers, set flush right.
    long : bool
        Whether cells of text may be broken anywhere.
    """

    head: str
    symbol: str | None = None
    numeric: bool = True
    long: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """Cells as text, with what stands above the table.

    Attributes
    ----------
    caption : str
    columns : tuple of Column
    rows : tuple of tuple of str
    note : str
        How to read the table.
    marked : tuple of int
        Positions of rows that stand out: the primary ones.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    marked: tuple[int, ...] = ()
