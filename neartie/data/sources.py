"""Opening a table file of whatever kind it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from neartie.data.columnar import open_columnar
from neartie.data.delimited import open_delimited
from neartie.data.errors import DataError
from neartie.data.tabular import Source, first_bytes


def open_source(
    path: Path, *, recognised: Callable[[Sequence[str]], bool], one_column: bool = False
) -> Source:
    """Return a CSV, gzip CSV or Parquet file, ready to be read.

    Parameters
    ----------
    path : Path
        The file. What it is shows from its first bytes, not from its name.
    recognised : callable
        Whether column names are ones that can be used; it decides between delimiters.
    one_column : bool
        Whether a table of a single recognised column is of use.

    Returns
    -------
    Source

    Raises
    ------
    DataError
        If the file cannot be opened, or is not a table.
    """
    if first_bytes(path).startswith(b"PAR1"):
        return open_columnar(path)
    return open_delimited(path, recognised=recognised, one_column=one_column)


def find_column(source: Source, names: Sequence[str]) -> int | None:
    """Return the position of the first of some column names that a table has.

    Parameters
    ----------
    source : Source
        The table.
    names : sequence of str
        Lower-case names, the preferred one first.

    Returns
    -------
    int or None
        None if there is no such column.

    Raises
    ------
    DataError
        If two columns bear the name.
    """
    plain = [plain_name(column) for column in source.columns]
    for name in names:
        found = [position for position, column in enumerate(plain) if column == name]
        exact = [position for position in found if source.columns[position] == name]
        found = exact or found
        if len(found) > 1:
            raise DataError(f"{source.path} has {len(found)} columns named {name!r}; keep one")
        if found:
            return found[0]
    return None


def plain_name(column: str) -> str:
    """Return a column name without surrounding blanks and in lower case."""
    return column.strip().lower()
