"""Reading a table of answers, with the tables of items and models that go with it."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np

from neartie.data.errors import DataError
from neartie.data.layout import LongLayout, WideLayout, read_layout
from neartie.data.long import fill_long
from neartie.data.memory import require_memory
from neartie.data.responses import MISSING, Responses
from neartie.data.scores import Codes, ScoreRule, score_rule
from neartie.data.tables import Joined, join_items, join_models
from neartie.data.wide import fill_wide

type AnyPath = str | PathLike[str]

REPEATS = ("stop", "first", "last", "mean")
_BYTES_PER_AVERAGED_ROW = 48


def read_responses(
    path: AnyPath,
    *,
    items: AnyPath | None = None,
    models: AnyPath | None = None,
    rows: str | None = None,
    scores: str = "binary",
    threshold: float | None = None,
    repeats: str = "stop",
    memory_limit: int | None = None,
) -> Responses:
    """Return the answers that a table holds.

    Parameters
    ----------
    path : path
        CSV (delimited by comma, semicolon, tab or bar), gzip CSV, or Parquet. Long, with columns
        `item`, `model` and `score` (also `respondent` or `id` for `model`, `resp` for `score`);
        or wide, where the name of the first column says what rows are: `item`, or `model` or
        `respondent`.
    items : path, optional
        Table with a column `item` that lists every item. Its order becomes the order of items;
        without it they stand in the natural order of their ids.
    models : path, optional
        Table with a column `model`. Models that it does not list are left out. Its columns
        `half` and `representative` hold 0 and 1; every other column stays text.
    rows : {'items', 'models'}, optional
        What rows of a wide table are, where its header does not say.
    scores : {'binary', 'graded'}
        Whether scores other than 0 and 1 are allowed. How they may be spelled stands in
        `neartie.data.scores`.
    threshold : float, optional
        A score of at least this is right, a smaller one wrong.
    repeats : {'stop', 'first', 'last', 'mean'}
        What becomes of different scores of one model on one item, in a long table. Equal ones
        are dropped with a count, except that `mean`, which needs graded scores, averages all.
    memory_limit : int, byte, optional
        Largest matrix to accept; what the machine has available when left out.

    Returns
    -------
    Responses
        Models stand in plain order of their ids, so that the order of rows and columns in the
        files changes nothing. Ids are exactly as written. `notices` says what was left out,
        dropped, or looks like a slip.

    Raises
    ------
    DataError
        If a file cannot be read without guessing. The message says where, and what to do.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     table = Path(folder) / "answers.csv"
    ...     _ = table.write_text("model,q1,q2,q10\\nowl,1,0,1\\nant,True,,0\\n")
    ...     data = read_responses(table)
    >>> data
    Responses(3 items x 2 models, right/wrong, 1 missing)
    >>> data.model_ids, data.values[:, 0].tolist()
    (['ant', 'owl'], [1, -1, 0])
    """
    rule = score_rule(scores, threshold)
    if repeats not in REPEATS:
        raise DataError(f"repeats must be one of {', '.join(REPEATS)}, got {repeats!r}")
    if repeats == "mean" and not rule.graded:
        raise DataError("a mean of repeated answers is graded: say scores='graded' as well")
    answers = Path(path)
    layout = read_layout(answers, rows=rows)
    item_side = join_items(
        layout.item_ids, path=answers, table_path=None if items is None else Path(items)
    )
    model_side = join_models(
        layout.model_ids, path=answers, table_path=None if models is None else Path(models)
    )
    _check_size(layout, item_side, model_side, rule, repeats, memory_limit)
    notices: list[str] = [*layout.notices, *item_side.notices, *model_side.notices]
    if isinstance(layout, LongLayout):
        matrix, more = fill_long(
            layout, items=item_side, models=model_side, rule=rule, repeats=repeats
        )
        notices += more
    else:
        matrix = fill_wide(layout, items=item_side, models=model_side, rule=rule)
    matrix = _smallest_type(matrix)
    matrix.flags.writeable = False
    # All that `Responses.build` would check is known by now, and it would copy the matrix.
    return Responses(
        values=matrix, items=item_side.table, models=model_side.table, notices=tuple(notices)
    )


def _check_size(
    layout: LongLayout | WideLayout,
    items: Joined,
    models: Joined,
    rule: ScoreRule,
    repeats: str,
    limit: int | None,
) -> None:
    n_item, n_model = len(items.table), len(models.table)
    needed = n_item * n_model * rule.cell_bytes
    if repeats == "mean" and isinstance(layout, LongLayout):
        needed += layout.n_rows * _BYTES_PER_AVERAGED_ROW
    purpose = f"{layout.source.path}: a matrix of {n_item:,} items x {n_model:,} models"
    require_memory(needed, purpose=purpose, limit=limit)


def _smallest_type(matrix: Codes) -> Codes:
    """Return graded scores as right/wrong ones where none lies between, row by row."""
    if matrix.dtype == np.int8:
        return matrix
    if not all(((row == 0) | (row == 1) | np.isnan(row)).all() for row in matrix):
        return matrix
    binary = np.empty(matrix.shape, dtype=np.int8)
    for row, codes in zip(matrix, binary, strict=True):
        codes[:] = np.where(np.isnan(row), MISSING, row)
    return binary
