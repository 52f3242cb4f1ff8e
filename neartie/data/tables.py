"""Item and model tables, and how they are joined to the ids of the answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa  # type: ignore[import-untyped]

from neartie.data.errors import DataError
from neartie.data.ids import id_column, near_duplicates, nearest_spelling
from neartie.data.labels import natural_key, owner_of
from neartie.data.layout import ITEM_NAMES, MODEL_NAMES
from neartie.data.scores import ScoreRule
from neartie.data.sources import find_column, open_source, plain_name
from neartie.data.tabular import Source, place
from neartie.data.wording import counted, listed

FLAG_COLUMNS = ("half", "representative")
ITEM_GROUPS = ("source",)
MODEL_GROUPS = ("family", "owner")
_MOST_COLUMNS = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Joined:
    """One side of the matrix of responses.

    Attributes
    ----------
    table : DataFrame
        One row an id, in the order of the matrix.
    position : dict
        From id to row. Models that are left out are not in it.
    notices : list of str
        What does not match.
    """

    table: pd.DataFrame
    position: dict[str, int]
    notices: list[str]


def read_item_table(path: Path) -> pd.DataFrame:
    """Return an item table, every column as text.

    Parameters
    ----------
    path : Path
        CSV, gzip CSV or Parquet with a column `item`, whose ids are all different.

    Returns
    -------
    DataFrame
        `item` first, then the other columns as written. A blank cell is the empty text.

    Raises
    ------
    DataError
        If the file cannot be read, has no such column, or an id is blank or stands twice.
    """
    return _read_table(path, ITEM_NAMES)


def read_model_table(path: Path) -> pd.DataFrame:
    """Return a model table, every column as text but `half` and `representative`.

    Parameters
    ----------
    path : Path
        CSV, gzip CSV or Parquet with a column `model` (or `respondent`), whose ids are all
        different.

    Returns
    -------
    DataFrame
        `model` first, then the other columns as written. A blank cell is the empty text.
        `half` and `representative` are Int64 with 0, 1 and missing.

    Raises
    ------
    DataError
        If the file cannot be read, has no such column, an id is blank or stands twice, or one
        of the two special columns holds something else.
    """
    return _read_table(path, MODEL_NAMES, flags=FLAG_COLUMNS)


def join_items(ids: Sequence[str], *, path: Path, table_path: Path | None) -> Joined:
    """Return the items of the matrix.

    Parameters
    ----------
    ids : sequence of str
        Items that have answers.
    path : Path
        The table of answers, for messages.
    table_path : Path, optional
        The item table. Its order is kept; without one, items stand in the natural order of
        their ids, whatever the order in the file.

    Returns
    -------
    Joined

    Raises
    ------
    DataError
        If the table does not list every item.
    """
    if table_path is None:
        return _joined(
            pd.DataFrame({"item": pd.Series(sorted(ids, key=natural_key), dtype="str")}),
            near_duplicates(ids, kind="item", path=path),
        )
    table = read_item_table(table_path)
    known, answered = set(table["item"]), set(ids)
    unknown = sorted(answered - known, key=natural_key)
    if unknown:
        raise DataError(
            f"{table_path} does not list {len(unknown):,} of {counted(len(answered), 'item')} of {path}: "
            f"{listed(unknown)}{nearest_spelling(unknown, sorted(known))}"
        )
    notices = near_duplicates(table["item"], kind="item", path=table_path)
    notices += _close_groups(table, ITEM_GROUPS, path=table_path)
    notices += _near_columns(table, ITEM_GROUPS, path=table_path)
    idle = [item for item in table["item"] if item not in answered]
    if idle:
        notices.append(
            f"{table_path}: left out {counted(len(idle), 'item')} without answers: {listed(idle)}"
        )
    return _joined(table[table["item"].isin(answered)].reset_index(drop=True), notices)


def join_models(ids: Sequence[str], *, path: Path, table_path: Path | None) -> Joined:
    """Return the models of the matrix, in plain order of their ids.

    Parameters
    ----------
    ids : sequence of str
        Models that have answers.
    path : Path
        The table of answers, for messages.
    table_path : Path, optional
        The model table. Models that it does not list are left out.

    Returns
    -------
    Joined

    Raises
    ------
    DataError
        If the table lists none of the models.
    """
    if table_path is None:
        return _joined(
            pd.DataFrame({"model": pd.Series(sorted(ids), dtype="str")}),
            near_duplicates(ids, kind="model", path=path) + _close_owners(ids, path=path),
        )
    table = read_model_table(table_path)
    known, answered = set(table["model"]), set(ids)
    left_out = sorted(answered - known)
    if len(left_out) == len(answered):
        raise DataError(
            f"{table_path} lists none of the {counted(len(answered), 'model')} of {path}: "
            f"{listed(left_out)}{nearest_spelling(left_out, sorted(known))}"
        )
    notices = near_duplicates(sorted(known | answered), kind="model", path=table_path)
    notices += _close_groups(table, MODEL_GROUPS, path=table_path)
    if "owner" not in table:
        notices += _close_owners(sorted(known & answered), path=path)
    notices += _near_columns(table, MODEL_GROUPS + FLAG_COLUMNS, path=table_path)
    if left_out:
        notices.append(
            f"left out {counted(len(left_out), 'model')} that {table_path} does not list: {listed(left_out)}"
        )
    idle = sorted(known - answered)
    if idle:
        notices.append(
            f"{table_path} lists {counted(len(idle), 'model')} without a row or column in {path}: "
            f"{listed(idle)}"
        )
    kept = table[table["model"].isin(answered)]
    order = sorted(range(len(kept)), key=kept["model"].tolist().__getitem__)
    return _joined(kept.iloc[order].reset_index(drop=True), notices)


def _close_groups(table: pd.DataFrame, columns: tuple[str, ...], *, path: Path) -> list[str]:
    """Return notices of groups that are probably one: `Qwen` and `qwen` would be two families."""
    notices = []
    for column in columns:
        if column in table:
            names = sorted({name for name in table[column] if name.strip()})
            notices += near_duplicates(names, kind=column, path=path, noun="names")
    return notices


def _close_owners(ids: Sequence[str], *, path: Path) -> list[str]:
    """Return a notice of owners within ids; an id without a slash is no owner's name."""
    owners = sorted({owner_of(model) for model in ids if "/" in model})
    return near_duplicates(owners, kind="owner", path=path, noun="names")


def _near_columns(table: pd.DataFrame, known: tuple[str, ...], *, path: Path) -> list[str]:
    """Return notices of columns that were surely meant to be used, but are written otherwise."""
    return [
        f"{path}: column {column!r} is not used; write {plain_name(column)!r} to have it used"
        for column in table.columns
        if plain_name(column) in known and plain_name(column) not in table
    ]


def _joined(table: pd.DataFrame, notices: list[str]) -> Joined:
    position = {text: row for row, text in enumerate(table.iloc[:, 0])}
    return Joined(table=table, position=position, notices=notices)


def _read_table(
    path: Path, id_names: tuple[str, ...], *, flags: tuple[str, ...] = ()
) -> pd.DataFrame:
    kind = id_names[0]

    def recognised(columns: Sequence[str]) -> bool:
        return any(plain_name(column) in id_names for column in columns)

    source = open_source(path, recognised=recognised, one_column=True)
    key = find_column(source, id_names)
    if key is None:
        raise DataError(f"{path} has no column {kind!r}; its columns: {listed(source.columns)}")
    others = [position for position in range(len(source.columns)) if position != key]
    names = [kind, *(source.columns[position] for position in others)]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise DataError(f"{path} has more than one column named {listed(repeated)}")
    if len(names) > _MOST_COLUMNS:
        raise DataError(f"{path} has {len(names):,} columns; is it the table of answers?")
    ids = id_column(source, key)
    columns: dict[str, pd.Series] = {kind: pd.Series(ids, dtype="str")}
    for name, cells in zip(names[1:], _text_cells(source, others), strict=True):
        is_flag = name in flags
        columns[name] = (
            _flags(source, name, cells, ids, kind) if is_flag else pd.Series(cells, dtype="str")
        )
    return pd.DataFrame(columns)


def _text_cells(source: Source, positions: list[int]) -> list[list[str]]:
    """Return columns as written; numbers and truth values of Parquet as Python prints them."""
    columns: list[list[str]] = [[] for _ in positions]
    for block in source.batches(positions) if positions else ():
        for cells, array in zip(columns, block.arrays, strict=True):
            cells += ["" if _is_missing(value) else str(value) for value in array.to_pylist()]
    return columns


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _flags(source: Source, name: str, cells: list[str], ids: list[str], kind: str) -> pd.Series:
    codes, fault = ScoreRule().codes(
        pa.array(cells, pa.large_string()), decimal_comma=source.decimal_comma
    )
    if fault is not None:
        raise DataError(
            f"{place(source, fault.cell)}, column {name!r} ({kind} {ids[fault.cell]!r}): "
            f"{cells[fault.cell]!r} is neither 0 nor 1"
        )
    return pd.Series(np.where(codes < 0, 0, codes), dtype="Int64").mask(codes < 0)
