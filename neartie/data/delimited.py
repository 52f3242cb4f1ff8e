"""Delimited text: finding delimiter and header, and reading the cells below as text."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.csv as arrow_csv  # type: ignore[import-untyped]

from neartie.data.errors import DataError
from neartie.data.tabular import Block, os_reason

DELIMITERS = (",", ";", "\t", "|")
_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLOCK_BYTES = 8 << 20
_CELL_BYTES = 64
_GZIP_ERRORS = (EOFError, gzip.BadGzipFile, zlib.error)


@dataclass(frozen=True, kw_only=True, slots=True)
class DelimitedSource:
    """A text table, plain or gzip. Every cell is text; a blank one is the empty text.

    Attributes
    ----------
    path : Path
        The file.
    columns : tuple of str
        The header.
    delimiter : str
        One of `DELIMITERS`.
    body : int, byte
        Where the first row below the header begins in the uncompressed text.
    zipped : bool
        Whether the file is compressed with gzip.
    """

    path: Path
    columns: tuple[str, ...]
    delimiter: str
    body: int
    zipped: bool

    @property
    def first_row(self) -> int:
        """The header is row 1."""
        return 2

    @property
    def decimal_comma(self) -> bool:
        """A comma that does not delimit columns may stand before decimals."""
        return self.delimiter != ","

    @property
    def _block_bytes(self) -> int:
        return max(_BLOCK_BYTES, _CELL_BYTES * len(self.columns))

    def blocks(self, positions: Sequence[int]) -> Iterator[Block]:
        """Yield the columns a few rows at a time."""
        return self.batches(positions)

    def batches(self, positions: Sequence[int]) -> Iterator[Block]:
        """Yield the columns a few rows at a time.

        Parameters
        ----------
        positions : sequence of int
            Which columns, in the order in which they are wanted.

        Yields
        ------
        Block
            Of text arrays without nulls.

        Raises
        ------
        DataError
            If a row has more or fewer cells than the header, the text is not UTF-8, a quote is
            not closed, or the compressed file is damaged.
        """
        last = len(self.columns) - 1
        wanted = [*positions, *([] if last in positions else [last])]
        ragged: list[Any] = []
        start, final = 0, ""
        try:
            for batch in self._open(wanted, ragged):
                if len(batch):
                    final = batch.column(wanted.index(last))[-1].as_py()
                    arrays = batch.columns[: len(positions)]
                    yield Block(start=start, positions=tuple(positions), arrays=arrays)
                    start += len(batch)
        except pa.ArrowInvalid as error:
            raise self._explain(error, ragged) from error
        except OSError as error:
            raise DataError(f"{self.path} is damaged: {os_reason(error)}") from error
        if "\n" in final or "\r" in final:
            self._refuse_open_quote(start)

    def _open(self, positions: Sequence[int], ragged: list[Any]) -> Iterator[Any]:
        def keep(row: Any) -> str:
            ragged.append(row)
            return "error"

        names = [str(position) for position in range(len(self.columns))]
        stream = pa.OSFile(str(self.path))
        if self.zipped:
            stream = pa.CompressedInputStream(stream, "gzip")
        with stream:
            stream.read(self.body)
            try:
                reader = arrow_csv.open_csv(
                    stream,
                    # Without threads, so that an invalid row comes with its number.
                    read_options=arrow_csv.ReadOptions(
                        use_threads=False,
                        block_size=self._block_bytes,
                        column_names=names,
                    ),
                    parse_options=arrow_csv.ParseOptions(
                        delimiter=self.delimiter,
                        newlines_in_values=True,
                        invalid_row_handler=keep,
                    ),
                    convert_options=arrow_csv.ConvertOptions(
                        column_types=dict.fromkeys(names, pa.string()),
                        include_columns=[names[position] for position in positions],
                        strings_can_be_null=False,
                    ),
                )
            except pa.ArrowInvalid as error:
                if str(error) == "Empty CSV file":
                    return
                raise
            yield from reader

    def _explain(self, error: Exception, ragged: list[Any]) -> DataError:
        if ragged:
            row = ragged[0]
            return DataError(
                f"{self.path}, row {row.number - 1 + self.first_row}: {row.actual_columns} cells "
                f"where the header has {row.expected_columns} (the {_NAMES[self.delimiter]} "
                "delimits); is a quote or a delimiter missing or too many?"
            )
        if "UTF8" in str(error):
            return not_utf8(self.path)
        if "straddling" in str(error):
            return DataError(
                f"{self.path} has a row that is longer than {self._block_bytes:,} bytes: is a quote "
                "not closed?"
            )
        return DataError(f"{self.path} cannot be read: {error}")

    def _refuse_open_quote(self, n_rows: int) -> None:
        """Refuse a last cell that swallowed the rest of the file for want of a closing quote."""
        with open_bytes(self.path) as stream:
            stream.seek(self.body)
            text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
            try:
                for _ in csv.reader(text, delimiter=self.delimiter, strict=True):
                    pass
            except csv.Error as error:
                if "unexpected end" in str(error):
                    raise DataError(
                        f"{self.path}, row {n_rows - 1 + self.first_row}: a quote is not closed"
                    ) from error


def open_delimited(
    path: Path, *, recognised: Callable[[Sequence[str]], bool], one_column: bool = False
) -> DelimitedSource:
    """Return the text table whose header reads best.

    Parameters
    ----------
    path : Path
        A file that is neither empty nor Parquet.
    recognised : callable
        Whether a header is one that can be used. Of the delimiters that give such a header the
        one with the most columns is taken; if none does, the one with the most columns.
    one_column : bool
        Whether a table of a single recognised column is of use.

    Returns
    -------
    DelimitedSource

    Raises
    ------
    DataError
        If there is no header, it is not UTF-8 text, or no delimiter parts it into columns.
    """
    with open_bytes(path) as stream:
        try:
            start = len(_BYTE_ORDER_MARK) if stream.read(3) == _BYTE_ORDER_MARK else 0
            stream.seek(start)
            lines = _Lines(stream)
            headers = [(d, *found) for d in DELIMITERS if (found := lines.header(d)) is not None]
        except UnicodeDecodeError as error:
            raise not_utf8(path) from error
        except _GZIP_ERRORS as error:
            raise DataError(f"{path} is damaged: {error}") from error
        zipped = isinstance(stream, gzip.GzipFile)
    if any(not columns for _, columns, _ in headers):
        raise DataError(f"{path} holds no text but blank lines")
    best = max(headers, key=lambda h: (recognised(h[1]), len(h[1])), default=None)
    if best is None or (len(best[1]) == 1 and len(headers) < len(DELIMITERS)):
        raise DataError(f"{path}: the header cannot be read: is a quote not closed?")
    delimiter, columns, n_bytes = best
    if any("\0" in name for name in columns):
        raise DataError(f"{path} holds zero bytes: it is no UTF-8 text (UTF-16, perhaps)")
    if len(columns) == 1 and not (one_column and recognised(columns)):
        raise DataError(
            f"{path} has one column, {columns[0]!r}, whether comma, semicolon, tab or bar "
            "delimits; write the table with one of these"
        )
    return DelimitedSource(
        path=path,
        columns=tuple(columns),
        delimiter=delimiter,
        body=start + n_bytes,
        zipped=zipped,
    )


class _Lines:
    """The first lines of a stream, read only as far as some delimiter's header reaches."""

    def __init__(self, stream: BinaryIO) -> None:
        # Without translation, and so that only line ends part lines: an id may hold U+2028.
        self._text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        self._read: list[str] = []

    def _each(self) -> Iterator[str]:
        position = 0
        while True:
            if position == len(self._read):
                line = self._text.readline()
                if not line:
                    return
                self._read.append(line)
            yield self._read[position]
            position += 1

    def header(self, delimiter: str) -> tuple[list[str], int] | None:
        """Return the first row that is not blank and its end in bytes, or None if unreadable."""
        reader = csv.reader(self._each(), delimiter=delimiter, strict=True)
        try:
            row = next((row for row in reader if row), [])
        except csv.Error:
            return None
        return row, len("".join(self._read[: reader.line_num]).encode())


def open_bytes(path: Path) -> BinaryIO:
    """Return the uncompressed bytes of a plain or gzip file."""
    with open(path, "rb") as stream:
        zipped = stream.read(2) == b"\x1f\x8b"
    return cast(BinaryIO, gzip.open(path, "rb") if zipped else open(path, "rb"))


def not_utf8(path: Path) -> DataError:
    """Return the error that says where a file ceases to be UTF-8."""
    offset = 0
    with open_bytes(path) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                return DataError(
                    f"{path}, line {number}: byte {offset + error.start:,} "
                    f"(0x{line[error.start]:02x}) is not UTF-8; save the file as UTF-8"
                )
            offset += len(line)
    return DataError(f"{path} is not UTF-8; save it as UTF-8")
