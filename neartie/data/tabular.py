"""What every readable table file offers, and the checks that a path must pass first."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from neartie.data.errors import DataError

# First bytes of files that people hand over by mistake, and what to tell them.
_OTHER_FORMATS = (
    (b"PK\x03\x04", "is a zip archive or a spreadsheet; save the table as CSV"),
    (b"\xd0\xcf\x11\xe0", "is a spreadsheet; save the table as CSV"),
    (b"\x28\xb5\x2f\xfd", "is compressed with zstd; compress it with gzip, or not at all"),
    (b"BZh", "is compressed with bzip2; compress it with gzip, or not at all"),
    (b"\xfd7zXZ", "is compressed with xz; compress it with gzip, or not at all"),
    (b"\xff\xfe", "is written in UTF-16; save it as UTF-8"),
    (b"\xfe\xff", "is written in UTF-16; save it as UTF-8"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """Some rows of some columns of a table.

    Attributes
    ----------
    start : int
        Position of the first row in the table, from 0.
    positions : tuple of int
        Positions of the columns in the table.
    arrays : list of pyarrow.Array
        The cells, one array a column.
    """

    start: int
    positions: tuple[int, ...]
    arrays: list[Any]

    @property
    def n_rows(self) -> int:
        """Number of rows of the block."""
        return len(self.arrays[0])


class Source(Protocol):
    """A table file that can be read more than once, in pieces that fit into memory."""

    @property
    def path(self) -> Path:
        """The file, as its user named it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names exactly as written; a named index of a data frame comes first."""

    @property
    def first_row(self) -> int:
        """Number of the first data row: 2 below a header row, else 1."""

    @property
    def decimal_comma(self) -> bool:
        """Whether `0,5` is a number."""

    def batches(self, positions: Sequence[int]) -> Iterator[Block]:
        """Yield the columns a few rows at a time."""

    def blocks(self, positions: Sequence[int]) -> Iterator[Block]:
        """Yield the columns in whatever pieces suit the format of the file."""


def place(source: Source, row: int) -> str:
    """Return where a row stands, as a spreadsheet counts rows.

    Parameters
    ----------
    source : Source
        The table.
    row : int
        Position of the row, from 0.

    Returns
    -------
    str
        File and row number. The header of a text file is row 1; blank lines do not count.
    """
    return f"{source.path}, row {row + source.first_row}"


def first_bytes(path: Path) -> bytes:
    """Return the beginning of a file, once it is known to be one that can be read twice.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    bytes
        At most eight.

    Raises
    ------
    DataError
        If there is no such file, it is a folder, a pipe, empty, not readable, or plainly of a
        kind that is not read here.
    """
    try:
        if path.is_dir():
            raise DataError(f"{path} is a folder; name the file in it")
        if path.exists() and not path.is_file():
            raise DataError(
                f"{path} is no regular file, and it has to be read twice; save it first"
            )
        with open(path, "rb") as stream:
            start = stream.read(8)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {os_reason(error)}") from error
    if not start:
        raise DataError(f"{path} is empty")
    for magic, advice in _OTHER_FORMATS:
        if start.startswith(magic):
            raise DataError(f"{path} {advice}")
    return start


def os_reason(error: OSError) -> str:
    """Return what the operating system says, without number and path."""
    return os.strerror(error.errno).lower() if error.errno else str(error)
