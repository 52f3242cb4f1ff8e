"""Tables of numbers by model from other programs: draws, and estimates with their covariance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa  # type: ignore[import-untyped]
from numpy.typing import NDArray

from neartie.data.errors import DataError
from neartie.data.ids import header_ids, id_column
from neartie.data.memory import require_memory
from neartie.data.sources import find_column, open_source, plain_name
from neartie.data.tabular import Source, place
from neartie.data.wording import listed

type Floats = NDArray[np.float64]

#: Columns that say which draw a row is; all others are models.
SAMPLE_COLUMNS: Final = ("", "chain", "draw", "iteration", "sample")
#: Columns of a model table that hold an estimate, in the order in which they are looked for.
ESTIMATES: Final = ("strength", "ability", "expected_score", "estimate")


def read_draws(path: str | Path) -> pd.DataFrame:
    """Return draws of the models' scores.

    Parameters
    ----------
    path : path
        CSV, gzip CSV or Parquet with a row a draw and a column a model, whose header is the id.
        Columns without a name and those named `chain`, `draw`, `iteration` or `sample`, with a
        dot before it or not, are passed over.

    Returns
    -------
    DataFrame, (n_draw, n_model) float

    Raises
    ------
    DataError
        If the file is no table, has no draw, an id is blank or stands twice, or a cell holds no
        finite number.
    """
    source = open_source(Path(path), recognised=lambda columns: True, one_column=True)
    chosen = [
        position
        for position, column in enumerate(source.columns)
        if plain_name(column).lstrip(".") not in SAMPLE_COLUMNS
    ]
    names = header_ids(source, chosen, kind="model")
    if not names:
        raise DataError(f"{path} has no column of a model; the header of a column is its id")
    values = _numbers(source, chosen, kind="model")
    if len(values) == 0:
        raise DataError(f"{path} has a header but no draws")
    return pd.DataFrame(values, columns=names)


def read_estimates(folder: str | Path) -> tuple[pd.DataFrame, Floats]:
    """Return estimates with their covariance.

    Parameters
    ----------
    folder : path
        With `models.csv`, which has `model` and one of `ESTIMATES`, and perhaps `component`; and
        `covariance.csv`, which has `model` and a column for each model, named by its id, in any
        order.

    Returns
    -------
    table : DataFrame
        `model`, `estimate` (infinite or NaN where the fit has no finite one), `component` (text;
        blank where there is none), `label`.
    covariance : (n_model, n_model) float
        In the order of `table`.

    Raises
    ------
    DataError
        If a file is missing or no table, columns are missing, the two do not name the same
        models, or a cell holds no number, or in the covariance no finite one.
    """
    models, square = Path(folder) / "models.csv", Path(folder) / "covariance.csv"
    source = open_source(models, recognised=lambda columns: "model" in columns)
    ids, estimate = _column(source, ("model",)), find_column(source, ESTIMATES)
    if estimate is None:
        raise DataError(f"{models} has none of the columns {', '.join(ESTIMATES)} to rank by")
    names = id_column(source, ids)
    component = find_column(source, ("component",))
    values = _numbers(source, [estimate], kind="column", finite=False)[:, 0]
    table = pd.DataFrame(
        {
            "model": pd.Series(names, dtype="str"),
            "estimate": values,
            "component": pd.Series(
                [""] * len(names) if component is None else _texts(source, component), dtype="str"
            ),
            "label": plain_name(source.columns[estimate]),
        }
    )
    return table, _square(square, names, models)


def _square(path: Path, names: list[str], models: Path) -> Floats:
    source = open_source(path, recognised=lambda columns: "model" in columns)
    ids = _column(source, ("model",))
    others = [position for position in range(len(source.columns)) if position != ids]
    columns, rows = header_ids(source, others, kind="model"), id_column(source, ids)
    for what, found in (("row", rows), ("column", columns)):
        lost = [name for name in names if name not in set(found)]
        strange = [name for name in found if name not in set(names)]
        if lost:
            raise DataError(f"{path} has no {what} for {listed(lost)}, which {models} has")
        if strange:
            raise DataError(f"{path} has a {what} for {listed(strange)}, which {models} has not")
    values = _numbers(source, others, kind="model")
    row = {name: position for position, name in enumerate(rows)}
    column = {name: position for position, name in enumerate(columns)}
    return values[np.ix_([row[n] for n in names], [column[n] for n in names])]


def _column(source: Source, names: Sequence[str]) -> int:
    position = find_column(source, names)
    if position is None:
        raise DataError(f"{source.path} has no column {names[0]!r}")
    return position


def _texts(source: Source, position: int) -> list[str]:
    cells: list[str] = []
    for block in source.batches([position]):
        cells += ["" if value is None else str(value) for value in block.arrays[0].to_pylist()]
    return cells


def _numbers(source: Source, positions: Sequence[int], *, kind: str, finite: bool = True) -> Floats:
    """Return some columns as numbers, or say which cell holds none.

    Unless they are to be finite, a blank cell is NaN.
    """
    parts = []
    taken = 0
    for block in source.batches(positions):
        taken += 8 * block.n_rows * len(positions)
        require_memory(taken, purpose=f"the numbers in {source.path}")
        columns = [
            _as_floats(array, source, block.start, position, kind, finite)
            for array, position in zip(block.arrays, block.positions, strict=True)
        ]
        parts.append(np.column_stack(columns))
    return np.concatenate(parts) if parts else np.empty((0, len(positions)))


def _as_floats(
    array: Any, source: Source, start: int, position: int, kind: str, finite: bool
) -> Floats:
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    try:
        values = np.asarray(array.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        values = np.array([_float(cell.as_py(), source.decimal_comma) for cell in array])
    bad = np.flatnonzero(~np.isfinite(values))
    if not finite:
        bad = bad[[array[int(row)].as_py() not in (None, "") for row in bad]]
        bad = bad[np.isnan(values[bad])]
    if len(bad):
        where = place(source, start + int(bad[0]))
        name, cell = source.columns[position], array[int(bad[0])].as_py()
        shown = "blank" if cell is None or cell == "" else repr(cell)
        raise DataError(f"{where}, {kind} {name!r}: {shown} is no finite number")
    return values


def _float(cell: Any, decimal_comma: bool) -> float:
    text = str(cell)
    try:
        return float(text.replace(",", ".") if decimal_comma else text)
    except ValueError:
        return float("nan")
