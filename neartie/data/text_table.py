"""Chosen columns of a table as text, with the place of every row for messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa  # type: ignore[import-untyped]
from numpy.typing import NDArray

from neartie.data.errors import DataError
from neartie.data.ids import encode_ids
from neartie.data.scores import parse_scores
from neartie.data.sources import find_column, open_source, plain_name
from neartie.data.tabular import Source, place
from neartie.data.wording import listed

type Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class TextTable:
    """Columns of a table, every cell as written.

    Attributes
    ----------
    source : Source
        The file.
    columns : dict of str to DataFrame column
        Under the names asked for; a missing cell is the empty text.
    written : dict of str to str
        The header of each column as it stands in the file.
    unused : tuple of str
        Headers of columns that were not asked for.
    """

    source: Source
    columns: dict[str, pd.Series]
    written: dict[str, str]
    unused: tuple[str, ...]

    @property
    def n_row(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))

    def place(self, row: int, column: str = "") -> str:
        """Return where a cell stands: file, row as a spreadsheet counts, column."""
        where = place(self.source, row)
        return f"{where}, column {self.written[column]!r}" if column else where

    def ids(self, name: str, *, blank: bool = False) -> pd.Series:
        """Return a column of ids.

        Parameters
        ----------
        name : str
        blank : bool
            Whether blank cells are allowed; they become the empty text.

        Raises
        ------
        DataError
            If a cell is blank and must not be.
        """
        column = self.columns[name]
        empty = (column.str.strip() == "").to_numpy()
        if empty.any() and not blank:
            raise DataError(f"{self.place(int(empty.argmax()), name)}: the cell is blank")
        return column.mask(empty, "") if empty.any() else column

    def numbers(
        self,
        name: str,
        *,
        low: float = -np.inf,
        high: float = np.inf,
        allowed: Sequence[float] | None = None,
        rule: str,
        missing: bool = True,
    ) -> Floats:
        """Return a column of numbers, NaN where a cell is blank.

        Parameters
        ----------
        name : str
        low, high : float
            Limits, both allowed.
        allowed : sequence of float, optional
            The only values that may stand there.
        rule : str
            What a cell must be, for the message.
        missing : bool
            Whether blank cells (and `na`, `nan`, `null`, `none`) are allowed.

        Raises
        ------
        DataError
            If a cell holds anything else.
        """
        cells = self.columns[name]
        codes, texts = pd.factorize(cells)
        values, unknown = parse_scores(
            pa.array(texts.tolist(), pa.large_string()), decimal_comma=self.source.decimal_comma
        )
        bad = unknown | np.isinf(values)
        with np.errstate(invalid="ignore"):
            bad |= (values < low) | (values > high)
        if allowed is not None:
            bad |= ~np.isnan(values) & ~np.isin(values, allowed)
        if not missing:
            bad |= np.isnan(values)
        if bad.any() and (rows := bad[codes]).any():
            row = int(rows.argmax())
            text = cells.iloc[row]
            shown = repr(text) if text.strip() else "a blank cell"
            raise DataError(f"{self.place(row, name)}: {shown} is not {rule}")
        return np.asarray(values[codes], dtype=np.float64)


def read_text_table(
    path: Path,
    *,
    required: Mapping[str, Sequence[str]],
    optional: Mapping[str, Sequence[str]],
    ids: Sequence[str] = (),
    purpose: str,
) -> TextTable:
    """Return columns of a CSV, gzip CSV or Parquet file.

    Parameters
    ----------
    path : Path
    required, optional : mapping of str to sequence of str
        From the name of a column to the headers that it may have, the preferred one first.
    ids : sequence of str
        Columns that hold ids: in a Parquet file text or whole numbers, never numbers with
        decimals, which cannot be turned back into the ids that they once were.
    purpose : str
        What the table is for, for the message about a missing column.

    Returns
    -------
    TextTable

    Raises
    ------
    DataError
        If the file cannot be read, lacks a required column, or has no rows.
    """

    def recognised(columns: Sequence[str]) -> bool:
        plain = {plain_name(column) for column in columns}
        return all(plain & set(names) for names in required.values())

    source = open_source(path, recognised=recognised, one_column=len(required) < 2)
    position: dict[str, int] = {}
    for name, headers in [*required.items(), *optional.items()]:
        found = find_column(source, headers)
        if found is not None:
            position[name] = found
        elif name in required:
            raise DataError(
                f"{path} has no column {headers[0]!r}; {purpose} needs "
                f"{', '.join(spelling[0] for spelling in required.values())}. Its columns: "
                f"{listed(source.columns, limit=12)}"
            )
    return text_columns(source, position, ids=ids)


def text_columns(
    source: Source, position: Mapping[str, int], *, ids: Sequence[str] = ()
) -> TextTable:
    """Return columns of an open table by their positions; as `read_text_table`."""
    columns = _cells(source, position, ids)
    if not len(next(iter(columns.values()))):
        raise DataError(f"{source.path} has a header but no rows")
    used = set(position.values())
    return TextTable(
        source=source,
        columns=columns,
        written={name: source.columns[at] for name, at in position.items()},
        unused=tuple(name for at, name in enumerate(source.columns) if at not in used),
    )


def _cells(source: Source, position: Mapping[str, int], ids: Sequence[str]) -> dict[str, pd.Series]:
    parts: dict[str, list[Any]] = {name: [] for name in position}
    for block in source.batches(list(position.values())):
        for (name, at), array in zip(position.items(), block.arrays, strict=True):
            if name in ids:
                codes, texts = encode_ids(array, source=source, position=at)
                parts[name].append(np.array([*texts, ""], dtype=object)[codes])
            else:
                parts[name].append(_as_text(array))
    return {
        name: pd.Series(np.concatenate(part) if part else np.array([], object), dtype="str")
        for name, part in parts.items()
    }


def _as_text(array: Any) -> NDArray[np.object_]:
    """Return cells as text; truth values and numbers of Parquet as Python prints them."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    return np.array(
        ["" if pd.isna(value) else str(value) for value in array.to_pylist()], dtype=object
    )
