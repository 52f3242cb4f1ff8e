"""JSON tables: an array of objects, or one object a line, read as columns of text."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import batched
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa  # type: ignore[import-untyped]

from neartie.data.delimited import not_utf8, open_bytes
from neartie.data.errors import DataError
from neartie.data.sources import plain_name
from neartie.data.tabular import Block

_BATCH_ROWS = 1 << 17
_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordSource:
    """A JSON file of records, plain or gzip. Every cell is text or missing.

    Attributes
    ----------
    path : Path
        The file.
    columns : tuple of str
        Keys, in the order in which they first occur.
    records : tuple of dict
        One a row, plain values only.
    """

    path: Path
    columns: tuple[str, ...]
    records: tuple[dict[str, Any], ...]

    @property
    def first_row(self) -> int:
        """There is no header row to count."""
        return 1

    @property
    def decimal_comma(self) -> bool:
        """JSON has a point."""
        return False

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
            Of text arrays; null where a record lacks the key.

        Raises
        ------
        DataError
            If a cell holds a list or an object.
        """
        start = 0
        for part in batched(self.records, _BATCH_ROWS):
            arrays = []
            for position in positions:
                key = self.columns[position]
                cells = [self._text(record, key, start + i) for i, record in enumerate(part)]
                arrays.append(pa.array(cells, pa.large_string()))
            yield Block(start=start, positions=tuple(positions), arrays=arrays)
            start += len(part)

    def _text(self, record: dict[str, Any], key: str, row: int) -> str | None:
        value = record.get(key)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, int | float):
            return repr(value)
        raise DataError(
            f"{self.path}, row {row + 1}, key {key!r}: a plain value is expected, "
            f"not {'a list' if isinstance(value, list) else 'an object'}"
        )


def looks_like_json(path: Path) -> bool:
    """Return whether the first mark of a plain or gzip file is that of a JSON table.

    Parameters
    ----------
    path : Path
        A file that can be read.

    Returns
    -------
    bool
    """
    with open_bytes(path) as stream:
        start = stream.read(1024).decode("utf-8", "ignore").lstrip(_BYTE_ORDER_MARK).lstrip()
    return start.startswith(("[", "{"))


def open_records(path: Path, *, keys: Sequence[str]) -> RecordSource:
    """Return a JSON file of records, ready to be read.

    Parameters
    ----------
    path : Path
        A file that begins like JSON: an array of objects, or one object a line.
    keys : sequence of str
        Lower-case keys that are of use. The others are forgotten, such as whole conversations.

    Returns
    -------
    RecordSource

    Raises
    ------
    DataError
        If the text is not UTF-8 or not JSON, or a record is not an object.
    """
    columns: dict[str, None] = {}
    records = []
    try:
        with open_bytes(path) as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="\n")
            for row, record in enumerate(_values(text, path), start=1):
                if not isinstance(record, dict):
                    raise DataError(
                        f'{path}, row {row}: an object such as {{"model_a": ...}} is expected, '
                        f"got {json.dumps(record)[:40]}"
                    )
                columns.update(dict.fromkeys(record))
                records.append({k: v for k, v in record.items() if plain_name(k) in keys})
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error
    except (EOFError, OSError, zlib.error) as error:
        raise DataError(f"{path} is damaged: {error}") from error
    if not records:
        raise DataError(f"{path} holds no record")
    return RecordSource(path=path, columns=tuple(columns), records=tuple(records))


def _values(text: TextIO, path: Path) -> Iterator[Any]:
    """Yield the members of one array, or what stands on each line."""
    for number, line in enumerate(text, start=1):
        if not line.strip():
            continue
        is_array = line.lstrip().startswith("[")
        try:
            value = json.loads(line + text.read() if is_array else line.strip())
        except (json.JSONDecodeError, RecursionError) as error:
            if isinstance(error, RecursionError):
                raise DataError(f"{path}, line {number}: nested too deeply") from error
            raise DataError(
                f"{path}, line {number + error.lineno - 1}: not JSON: {error.msg}; an array of "
                "objects is expected, or one object a line"
            ) from error
        if is_array:
            yield from value
            return
        yield value
