"""Filling the matrix from a table with one answer a row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neartie.data.errors import DataError
from neartie.data.ids import encode_ids
from neartie.data.layout import LongLayout
from neartie.data.scores import Codes, ScoreRule
from neartie.data.tables import Joined
from neartie.data.tabular import Source, place
from neartie.data.wording import counted

_MOST_CONFLICTS = 1_000_000
_SHOWN = 5


def fill_long(
    layout: LongLayout, *, items: Joined, models: Joined, rule: ScoreRule, repeats: str
) -> tuple[Codes, list[str]]:
    """Return the matrix of a long table.

    Parameters
    ----------
    layout : LongLayout
        The table.
    items, models : Joined
        Rows and columns of the matrix.
    rule : ScoreRule
        Which scores are allowed.
    repeats : {'stop', 'first', 'last', 'mean'}
        What becomes of different answers of one model to one item. A repeat without an answer
        never contradicts one with an answer.

    Returns
    -------
    matrix : (n_item, n_model) int8 or float32
    notices : list of str
        How many repeated answers there were.

    Raises
    ------
    DataError
        If a score is not allowed, or answers contradict one another and `repeats` is 'stop'.
    """
    shape = (len(items.table), len(models.table))
    matrix = rule.empty(shape)
    tally = _Mean() if repeats == "mean" else _Distinct(repeats)
    flat = matrix.reshape(-1)
    for block in layout.source.batches([layout.item, layout.model, layout.score]):
        row = _positions(block.arrays[0], layout.source, layout.item, items.position)
        column = _positions(block.arrays[1], layout.source, layout.model, models.position)
        kept = np.flatnonzero(column >= 0)
        if not len(kept):
            continue
        scores = block.arrays[2].take(kept) if len(kept) < len(column) else block.arrays[2]
        codes, fault = rule.codes(scores, decimal_comma=layout.source.decimal_comma)
        if fault is not None:
            at = kept[fault.cell]
            name = layout.source.columns[layout.score]
            item, model = items.table["item"][row[at]], models.table["model"][column[at]]
            raise DataError(
                f"{place(layout.source, block.start + int(at))}, column {name!r} (model "
                f"{model!r}, item {item!r}): {fault.reason}"
            )
        answered = codes >= 0 if not rule.graded else ~np.isnan(codes)
        cell = (row[kept] * shape[1] + column[kept])[answered]
        tally.add(flat, cell, codes[answered])
    return matrix, tally.finish(flat, items=items, models=models, source=layout.source)


def _positions(
    array: Any, source: Source, position: int, known: dict[str, int]
) -> NDArray[np.int64]:
    codes, texts = encode_ids(array, source=source, position=position)
    places = np.fromiter((known.get(text, -1) for text in texts), np.int64, len(texts))
    return places[codes]


class _Distinct:
    """Write answers as they come; different answers to one cell are settled by a rule."""

    def __init__(self, repeats: str) -> None:
        self._repeats = repeats
        self._n_answers = 0
        self._conflicts: NDArray[np.int64] = np.array([], dtype=np.int64)

    def add(self, flat: NDArray[Any], cell: NDArray[np.int64], codes: NDArray[Any]) -> None:
        """Write some answers, in file order."""
        self._n_answers += len(cell)
        if self._repeats == "first":
            # Of several values for one place NumPy keeps the last: hence backwards.
            cell, codes = cell[::-1], codes[::-1]
        before = flat[cell]
        was_empty = np.isnan(before) if flat.dtype == np.float32 else before < 0
        flat[cell] = codes
        differs = (flat[cell] != codes) | (~was_empty & (before != codes))
        if self._repeats == "first" and not was_empty.all():
            flat[cell[~was_empty]] = before[~was_empty]
        if differs.any() and len(self._conflicts) < _MOST_CONFLICTS:
            self._conflicts = np.union1d(self._conflicts, cell[differs])

    def finish(
        self, flat: NDArray[Any], *, items: Joined, models: Joined, source: Source
    ) -> list[str]:
        """Return how many answers were repeats; stop if some contradict one another."""
        filled = ~np.isnan(flat) if flat.dtype == np.float32 else flat >= 0
        n_repeats = self._n_answers - int(np.count_nonzero(filled))
        n_conflicts = len(self._conflicts)
        if n_conflicts and self._repeats == "stop":
            pairs = ", ".join(_pair(cell, items, models) for cell in self._conflicts[:_SHOWN])
            more = f" and {n_conflicts - _SHOWN:,} more" if n_conflicts > _SHOWN else ""
            raise DataError(
                f"{source.path}: different scores of one model on one item: {pairs}{more}; "
                "correct the table, or choose with repeats='first', 'last' or 'mean' (--repeats)"
            )
        if not n_repeats:
            return []
        notice = f"{source.path}: dropped {counted(n_repeats, 'repeated answer')}"
        if n_conflicts:
            first = _pair(self._conflicts[0], items, models)
            notice += (
                f"; of different ones, in {counted(n_conflicts, 'cell')}, the {self._repeats} was kept "
                f"({first})"
            )
        return [notice]


class _Mean:
    """Average all answers to a cell, in an order that does not depend on the file's."""

    def __init__(self) -> None:
        self._cells: list[NDArray[np.int64]] = []
        self._codes: list[NDArray[np.float32]] = []

    def add(self, flat: NDArray[Any], cell: NDArray[np.int64], codes: NDArray[Any]) -> None:
        """Keep some answers."""
        self._cells.append(cell)
        self._codes.append(codes)

    def finish(
        self, flat: NDArray[Any], *, items: Joined, models: Joined, source: Source
    ) -> list[str]:
        """Write the means, and return how many answers went into those of several."""
        cell, codes = np.concatenate(self._cells), np.concatenate(self._codes)
        order = np.lexsort((codes, cell))
        cell, codes = cell[order], codes[order]
        starts = np.flatnonzero(np.diff(cell, prepend=-1))
        counts = np.diff(starts, append=len(cell))
        if len(starts):
            flat[cell[starts]] = np.add.reduceat(codes.astype(np.float64), starts) / counts
        repeated = counts > 1
        if not repeated.any():
            return []
        n_answers, cells = int(counts[repeated].sum()), counted(int(repeated.sum()), "cell")
        return [f"{source.path}: {n_answers:,} repeated answers averaged in {cells}"]


def _pair(cell: np.int64, items: Joined, models: Joined) -> str:
    row, column = divmod(int(cell), len(models.table))
    return f"model {models.table['model'][column]!r} on item {items.table['item'][row]!r}"
