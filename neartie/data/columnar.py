"""Parquet files, read a few rows or a few columns at a time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import batched
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import parquet

from neartie.data.errors import DataError
from neartie.data.tabular import Block
from neartie.data.wording import listed

_BATCH_ROWS = 1 << 20
_BLOCK_CELLS = 2_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnarSource:
    """A Parquet file.

    Attributes
    ----------
    path : Path
        The file.
    columns : tuple of str
        Column names; the index of a data frame comes first, with a blank name if it has none.
    fields : tuple of str
        The same columns under the names that they have in the file.
    n_rows : int
        Number of rows.
    texts : tuple of str
        Fields that hold text, which are read as codes into a list of the texts that occur.
    """

    path: Path
    columns: tuple[str, ...]
    fields: tuple[str, ...]
    n_rows: int
    texts: tuple[str, ...]

    @property
    def first_row(self) -> int:
        """There is no header row to count."""
        return 1

    @property
    def decimal_comma(self) -> bool:
        """Text in a Parquet file comes from programs, which write a point."""
        return False

    def batches(self, positions: Sequence[int]) -> Iterator[Block]:
        """Yield the columns a few rows at a time.

        Parameters
        ----------
        positions : sequence of int
            Which columns, in the order in which they are wanted.

        Yields
        ------
        Block

        Raises
        ------
        DataError
            If the file is damaged.
        """
        names = [self.fields[position] for position in positions]
        start = 0
        try:
            with parquet.ParquetFile(
                self.path, read_dictionary=list(self.texts), pre_buffer=False
            ) as file:
                for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=names):
                    # By name: where a dot is taken for nesting, `gpt-3` also brings `gpt-3.5`.
                    arrays = [batch.column(batch.schema.get_field_index(name)) for name in names]
                    yield Block(start=start, positions=tuple(positions), arrays=arrays)
                    start += len(batch)
        except (pa.ArrowException, OSError) as error:
            raise _damaged(self.path, error) from error

    def blocks(self, positions: Sequence[int]) -> Iterator[Block]:
        """Yield all rows of a few columns at a time, which is how the file is laid out.

        Parameters
        ----------
        positions : sequence of int
            Which columns.

        Yields
        ------
        Block

        Raises
        ------
        DataError
            If the file is damaged.
        """
        width = max(1, math.floor(_BLOCK_CELLS / max(1, self.n_rows)))
        try:
            with parquet.ParquetFile(self.path, pre_buffer=False) as file:
                for group in batched(positions, width):
                    names = [self.fields[position] for position in group]
                    table = file.read(columns=names)
                    arrays = [_one_array(table.column(name)) for name in names]
                    yield Block(start=0, positions=group, arrays=arrays)
        except (pa.ArrowException, OSError) as error:
            raise _damaged(self.path, error) from error


def open_columnar(path: Path) -> ColumnarSource:
    """Return a Parquet file, ready to be read.

    Parameters
    ----------
    path : Path
        A file that begins like Parquet.

    Returns
    -------
    ColumnarSource

    Raises
    ------
    DataError
        If the file is damaged, or two of its columns have the same name.
    """
    try:
        with parquet.ParquetFile(path) as file:
            schema, n_rows = file.schema_arrow, file.metadata.num_rows
    except (pa.ArrowException, OSError) as error:
        raise _damaged(path, error) from error
    repeated = sorted(name for name, count in Counter(schema.names).items() if count > 1)
    if repeated:
        raise DataError(f"{path} has more than one column named {listed(repeated)}")
    index = _index_fields(schema)
    fields = [*index, *(name for name in schema.names if name not in index)]
    return ColumnarSource(
        path=path,
        columns=tuple("" if name.startswith("__index_level_") else name for name in fields),
        fields=tuple(fields),
        n_rows=n_rows,
        texts=tuple(field.name for field in schema if _is_text(field.type)),
    )


def _index_fields(schema: Any) -> list[str]:
    """Names of the columns in which pandas stores the index; a plain numbering has none."""
    described = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in described if isinstance(name, str) and name in schema.names]


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _one_array(column: Any) -> Any:
    array = column.combine_chunks()
    return array if isinstance(array, pa.Array) else array.chunk(0)


def _damaged(path: Path, error: Exception) -> DataError:
    return DataError(f"{path} cannot be read as Parquet: {str(error).splitlines()[0]}")
