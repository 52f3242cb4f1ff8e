"""Filling the matrix from a table with models in columns, or items in columns."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from neartie.data.errors import DataError
from neartie.data.layout import WideLayout
from neartie.data.scores import Codes, ScoreRule
from neartie.data.tables import Joined
from neartie.data.tabular import Block, place


def fill_wide(layout: WideLayout, *, items: Joined, models: Joined, rule: ScoreRule) -> Codes:
    """Return the matrix of a wide table.

    Parameters
    ----------
    layout : WideLayout
        The table.
    items, models : Joined
        Rows and columns of the matrix.
    rule : ScoreRule
        Which scores are allowed.

    Returns
    -------
    (n_item, n_model) int8 or float32

    Raises
    ------
    DataError
        If a score is not allowed.
    """
    matrix = rule.empty((len(items.table), len(models.table)))
    in_rows, in_columns = (items, models) if layout.items_in_rows else (models, items)
    row_ids, column_ids = (
        (layout.item_ids, layout.model_ids)
        if layout.items_in_rows
        else (layout.model_ids, layout.item_ids)
    )
    row_place = np.array([in_rows.position.get(text, -1) for text in row_ids])
    column_place = np.array([in_columns.position.get(text, -1) for text in column_ids])
    # Models that are left out are not looked at, be they rows or columns.
    positions = [int(column) + 1 for column in np.flatnonzero(column_place >= 0)]
    for block in layout.source.blocks(positions):
        rows = row_place[block.start : block.start + block.n_rows]
        kept = np.flatnonzero(rows >= 0)
        if not len(kept):
            continue
        for first, arrays in _runs_of_one_type(block):
            if len(kept) < len(rows):
                arrays = [array.take(kept) for array in arrays]
            codes, fault = rule.codes(
                pa.concat_arrays(arrays), decimal_comma=layout.source.decimal_comma
            )
            if fault is not None:
                column, row = divmod(fault.cell, len(kept))
                raise _refusal(
                    layout,
                    row=block.start + int(kept[row]),
                    position=block.positions[first + column],
                    reason=fault.reason,
                )
            here = [p - 1 for p in block.positions[first : first + len(arrays)]]
            square = codes.reshape(len(arrays), len(kept))
            if layout.items_in_rows:
                matrix[np.ix_(rows[kept], column_place[here])] = square.T
            else:
                matrix[np.ix_(column_place[here], rows[kept])] = square
    return matrix


def _runs_of_one_type(block: Block) -> list[tuple[int, list[Any]]]:
    """Return neighbouring columns that can be read as one, each run with its first index."""
    runs = []
    for _, group in groupby(enumerate(block.arrays), key=lambda pair: pair[1].type):
        members = list(group)
        runs.append((members[0][0], [array for _, array in members]))
    return runs


def _refusal(layout: WideLayout, *, row: int, position: int, reason: str) -> DataError:
    name = layout.source.columns[position]
    if layout.items_in_rows:
        item, model = layout.item_ids[row], name
    else:
        item, model = name, layout.model_ids[row]
    hint = ""
    if "not a score" in reason:
        kind = "model" if layout.items_in_rows else "item"
        hint = f" (if {name!r} is no {kind}, move the column to the {kind} table)"
    return DataError(
        f"{place(layout.source, row)}, column {name!r} (model {model!r}, item {item!r}): "
        f"{reason}{hint}"
    )
