"""Tables of counts: how often each of two models won, in a row for many battles."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
from numpy.typing import NDArray

from neartie.data.errors import DataError
from neartie.data.memory import require_memory
from neartie.data.scores import parse_scores
from neartie.data.tabular import Source, place

type Floats = NDArray[np.float64]
type Columns = dict[str, NDArray[Any]]

#: Counts, and what they may be called.
COUNT_NAMES: Final = {
    "win_a": ("win_a", "wins_a"),
    "win_b": ("win_b", "wins_b"),
    "tie": ("tie", "ties", "draw", "draws"),
}
_OUTCOMES: Final = {"win_a": 1, "win_b": -1, "tie": 0}
# Of one battle, in all columns and once more while they are put together.
_BYTES: Final = 128


def amounts(source: Source, array: Any, *, start: int, column: str, whole: bool) -> Floats:
    """Return the numbers of a column that counts battles.

    Parameters
    ----------
    source : Source
    array : pyarrow.Array
    start : int
        Position of its first row in the table.
    column : str
        Its name, for messages.
    whole : bool
        Whether only whole numbers count.

    Returns
    -------
    (n_row,) float, battles

    Raises
    ------
    DataError
        If a cell is blank, no number, negative, not finite, or not whole where it must be.
    """
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    values, unknown = parse_scores(
        array.cast(pa.large_string()), decimal_comma=source.decimal_comma
    )
    wrong = unknown | ~np.isfinite(values) | (values < 0)
    if wrong.any():
        kind = "whole" if whole else "finite"
        row = int(np.flatnonzero(wrong)[0])
        raise DataError(
            f"{place(source, start + row)}, column {column!r}: {shown(array, row)} is not a "
            f"{kind} number of at least 0"
        )
    if whole and (values != np.floor(values)).any():
        row = int(np.flatnonzero(values != np.floor(values))[0])
        raise DataError(
            f"{place(source, start + row)}, column {column!r}: {shown(array, row)} is no whole "
            "number of battles; ties go into a column 'tie', and not as half wins into the others"
        )
    return values


def shown(array: Any, row: int) -> str:
    """Return a cell as it is named in a message."""
    value = array[row].as_py()
    return "a blank cell" if value is None or value == "" else repr(value)


def single_battles(columns: Columns, *, source: Source) -> Columns:
    """Return one row a battle where a table has counts.

    Parameters
    ----------
    columns : dict of name to (n_row,) array
        With `win_a`, `win_b`, and perhaps `tie`: whole numbers. All others are of the row's two
        models, whatever the outcome.
    source : Source
        For messages.

    Returns
    -------
    dict of name to (n_battle,) array
        With `winner` in the place of the counts. Each battle counts for itself, as in a table of
        battles, so that resampling takes it as one. A row whose counts are all 0 is one battle
        of weight 0.

    Raises
    ------
    DataError
        If the battles do not fit into memory.
    """
    names = [name for name in _OUTCOMES if name in columns]
    counts = np.stack([columns[name] for name in names], axis=1)
    require_memory(
        int(min(counts.sum(), 1e18)) * _BYTES,
        purpose=f"{source.path} as {counts.sum():,.0f} battles",
    )
    idle = counts.sum(axis=1) == 0
    counts[idle, 0] = 1
    n, outcome = counts.astype(np.int64).ravel(), [_OUTCOMES[name] for name in names]
    row = np.repeat(np.arange(len(n)) // len(names), n)
    single = {name: column[row] for name, column in columns.items() if name not in names}
    single["winner"] = np.repeat(np.tile(np.array(outcome, dtype=np.int8), len(idle)), n)
    if idle.any():
        single["weight"] = (~idle[row]).astype(np.float64)
    return single
