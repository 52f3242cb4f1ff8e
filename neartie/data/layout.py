"""Whether a table of answers is long or wide, and which of its columns say what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from neartie.data.errors import DataError
from neartie.data.ids import encode_ids, header_ids, id_column, used_ids
from neartie.data.sources import find_column, open_source, plain_name
from neartie.data.tabular import Source
from neartie.data.wording import listed

ITEM_NAMES = ("item",)
MODEL_NAMES = ("model", "respondent")
LONG_MODEL_NAMES = ("model", "respondent", "id")
SCORE_NAMES = ("score", "resp")


@dataclass(frozen=True, kw_only=True, slots=True)
class LongLayout:
    """One answer a row.

    Attributes
    ----------
    source : Source
        The table.
    item, model, score : int
        Positions of the columns.
    item_ids, model_ids : list of str
        Ids that occur, in no particular order.
    n_rows : int
        Number of rows.
    """

    source: Source
    item: int
    model: int
    score: int
    item_ids: list[str]
    model_ids: list[str]
    n_rows: int

    @property
    def notices(self) -> list[str]:
        """Which columns are of no use."""
        used = {self.item, self.model, self.score}
        extra = [name for i, name in enumerate(self.source.columns) if i not in used]
        return [f"{self.source.path}: columns not used: {listed(extra)}"] if extra else []


@dataclass(frozen=True, kw_only=True, slots=True)
class WideLayout:
    """Items in rows and models in columns, or the other way round. Ids stand in file order.

    Attributes
    ----------
    source : Source
        The table; its first column holds the ids of the rows.
    items_in_rows : bool
        Whether rows are items.
    item_ids, model_ids : list of str
        Ids of rows and columns.
    """

    source: Source
    items_in_rows: bool
    item_ids: list[str]
    model_ids: list[str]

    @property
    def notices(self) -> list[str]:
        """Every column is used."""
        return []


def read_layout(path: Path, *, rows: str | None = None) -> LongLayout | WideLayout:
    """Return how a table of answers is laid out, and all its ids.

    Parameters
    ----------
    path : Path
        The table.
    rows : {'items', 'models'}, optional
        What the rows of a wide table are. The table counts as wide when this is given.

    Returns
    -------
    LongLayout or WideLayout

    Raises
    ------
    DataError
        If the file cannot be read, its header does not say what the table holds, or an id is
        blank or (in a wide table) stands twice.
    """
    if rows not in (None, "items", "models"):
        raise DataError(f"rows must be 'items' or 'models', got {rows!r}")
    source = open_source(path, recognised=_is_recognised)
    if rows is None:
        item = find_column(source, ITEM_NAMES)
        model = find_column(source, LONG_MODEL_NAMES)
        score = find_column(source, SCORE_NAMES)
        if item is not None and model is not None and score is not None:
            return _long_layout(source, item, model, score)
        _refuse_half_long(source)
    return _wide_layout(source, rows)


def _is_recognised(columns: Sequence[str]) -> bool:
    names = {plain_name(column) for column in columns}
    is_long = names.intersection(LONG_MODEL_NAMES) and names.intersection(SCORE_NAMES)
    return plain_name(columns[0]) in ITEM_NAMES + MODEL_NAMES or bool(
        is_long and names.intersection(ITEM_NAMES)
    )


def _refuse_half_long(source: Source) -> None:
    """Refuse a table with items and models in columns that says no score, or one of them twice."""
    has_item = find_column(source, ITEM_NAMES) is not None
    has_model = find_column(source, MODEL_NAMES) is not None
    has_score = find_column(source, SCORE_NAMES) is not None
    if has_item and has_model:
        raise DataError(
            f"{source.path} has columns for item and model but no column 'score' (or 'resp'); "
            "name the column of scores so, or, if it is a wide table, say what its rows are with "
            "rows= (--rows)"
        )
    if has_score and (has_item or has_model):
        absent = "'model' (or 'respondent', 'id')" if has_item else "'item'"
        raise DataError(
            f"{source.path} has a column of scores but no column {absent}; if it is a wide table, "
            "say what its rows are with rows= (--rows)"
        )


def _long_layout(source: Source, item: int, model: int, score: int) -> LongLayout:
    found: dict[int, dict[str, None]] = {item: {}, model: {}}
    n_rows = 0
    for block in source.batches([item, model]):
        for position, array in zip(block.positions, block.arrays, strict=True):
            codes, texts = encode_ids(array, source=source, position=position)
            used = used_ids(codes, texts, source=source, position=position, start=block.start)
            found[position].update(dict.fromkeys(used))
        n_rows += block.n_rows
    if not n_rows:
        raise DataError(f"{source.path} has a header but no rows")
    return LongLayout(
        source=source,
        item=item,
        model=model,
        score=score,
        item_ids=list(found[item]),
        model_ids=list(found[model]),
        n_rows=n_rows,
    )


def _wide_layout(source: Source, rows: str | None) -> WideLayout:
    first = source.columns[0]
    if rows is None and plain_name(first) not in ITEM_NAMES + MODEL_NAMES:
        if {"model_a", "model_b"} <= {plain_name(column) for column in source.columns}:
            raise DataError(
                f"{source.path} holds battles (model_a, model_b) and no answers: read it with "
                "read_battles (neartie fit bradley-terry)"
            )
        named = f"its first column is named {first!r}" if first.strip() else "its rows have no name"
        raise DataError(
            f"{source.path} does not say what its rows are: {named}; name the first column "
            "'item' or 'model', or say rows='items' or rows='models' (--rows); a long table has "
            "columns 'item', 'model' and 'score'"
        )
    in_rows = rows == "items" if rows is not None else plain_name(first) in ITEM_NAMES
    positions = range(1, len(source.columns))
    if not positions:
        raise DataError(f"{source.path} has no column but {first!r}")
    in_columns = header_ids(source, positions, kind="model" if in_rows else "item")
    row_ids = id_column(source, 0)
    return WideLayout(
        source=source,
        items_in_rows=in_rows,
        item_ids=row_ids if in_rows else in_columns,
        model_ids=in_columns if in_rows else row_ids,
    )
