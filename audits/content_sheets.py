"""Sheets that go out to annotators, the key that stays, and what comes back (P0, D.4)."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from neartie.audits.content_axes import ContentAxes
from neartie.audits.content_sample import ContentSample
from neartie.data.errors import DataError
from neartie.data.files import write_csv_atomic, write_text_atomic
from neartie.data.sources import find_column, open_source, plain_name
from neartie.data.tabular import Source, place
from neartie.data.wording import counted, listed

type AnyPath = str | PathLike[str]

KEY_COLUMNS = ("blind_id", "benchmark", "pair", "group", "item", "advantaged")
BLANKS = ("", "na", "nan", "null", "none")


def write_content_sheets(
    sample: ContentSample, folder: AnyPath, key: AnyPath, *, axes: ContentAxes | None = None
) -> list[Path]:
    """Write what annotators get into a folder, and the key to another place.

    Parameters
    ----------
    sample : ContentSample
    folder : path
        Gets `sheet.csv` (`blind_id`, `text`, one empty column an axis) and `rubric.md`. Give every
        annotator a copy of both, and nothing else.
    key : path
        File of the key, outside of the folder.
    axes : ContentAxes, optional
        The paper's, when left out.

    Returns
    -------
    list of Path
        Sheet, rubric, key.

    Raises
    ------
    DataError
        If the key would lie in the folder that is handed out, or a file cannot be written.
    """
    axes = axes or ContentAxes()
    handed, key_file = Path(folder), Path(key)
    if key_file.resolve().is_relative_to(handed.resolve()):
        raise DataError(
            f"the key {key_file} would lie in {handed}, which annotators get: keep it elsewhere"
        )
    sheet = sample.sheet.assign(**dict.fromkeys(axes.names, ""))
    return [
        write_csv_atomic(sheet, handed / "sheet.csv"),
        write_text_atomic(axes.rubric(), handed / "rubric.md"),
        write_csv_atomic(sample.key, key_file),
    ]


def read_content_key(path: AnyPath) -> pd.DataFrame:
    """Return the key of a sample as it was written.

    Parameters
    ----------
    path : path

    Returns
    -------
    DataFrame
        As `ContentSample.key`: text, but `pair` (int) and the DIF ranges (float, logit).

    Raises
    ------
    DataError
        If a column is missing, an id stands twice, or a pair is not one high item and one control
        of the same benchmark.
    """
    source = _open(Path(path))
    columns = {name: _required(source, name, "the key") for name in KEY_COLUMNS}
    others = {n: i for i, n in enumerate(source.columns) if n not in columns}
    by_position = sorted((columns | others).items(), key=lambda column: column[1])
    table = _texts(source, dict(by_position))
    for column in ("pair", "dif_range_0", "dif_range_1"):
        if column in table:
            table[column] = _numbers(source, table[column])
    table["pair"] = table["pair"].astype(int)
    check_key(table, str(source.path))
    return table


def check_key(key: pd.DataFrame, name: str = "the key") -> None:
    """Refuse a key whose pairs are not one high item and one control.

    Parameters
    ----------
    key : DataFrame
    name : str
        How to call it.

    Raises
    ------
    DataError
    """
    absent = [column for column in KEY_COLUMNS if column not in key]
    if absent:
        raise DataError(f"{name} has no column {listed(absent)}")
    repeated = key.loc[key["blind_id"].duplicated(), "blind_id"]
    if len(repeated):
        raise DataError(f"{name}: blind_id {repeated.iloc[0]!r} stands more than once")
    grouped = key.groupby("pair")
    sizes = pd.DataFrame(
        {
            "items": grouped.size(),
            "high": (key["group"] == "high").groupby(key["pair"]).sum(),
            "control": (key["group"] == "control").groupby(key["pair"]).sum(),
            "benchmarks": grouped["benchmark"].nunique(),
        }
    )
    wrong = sizes.index[(sizes != [2, 1, 1, 1]).any(axis=1)]
    if len(wrong):
        items = key.loc[key["pair"] == wrong[0], "item"].tolist()
        raise DataError(
            f"{name}: pair {wrong[0]} is not one high item and one control of one benchmark "
            f"(items {listed(items)})"
        )


def read_content_sheet(
    path: AnyPath, key: pd.DataFrame, *, axes: ContentAxes | None = None
) -> pd.DataFrame:
    """Return one annotator's labels.

    Parameters
    ----------
    path : path
        CSV, gzip CSV or Parquet with `blind_id` and one column an axis; other columns are passed
        over, rows in any order.
    key : DataFrame
        Of the sample that was handed out.
    axes : ContentAxes, optional

    Returns
    -------
    DataFrame
        One row an item in the order of the key: `blind_id` and one column an axis, float, missing
        where the annotator left a blank.

    Raises
    ------
    DataError
        If a column is missing, an id is unknown, stands twice or is absent, or a label is not
        among those that the axis may have; names file, row and id.
    """
    axes = axes or ContentAxes()
    source = _open(Path(path))
    columns = {n: _required(source, n, "a sheet") for n in ("blind_id", *axes.names)}
    table = _texts(source, columns)
    ids = table["blind_id"].str.strip()
    known = set(key["blind_id"])
    seen: dict[str, int] = {}
    for row, blind in enumerate(ids.tolist()):
        if blind not in known:
            raise DataError(f"{place(source, row)}: blind_id {blind!r} was not handed out")
        if blind in seen:
            raise DataError(
                f"{place(source, row)}: blind_id {blind!r} stands in row "
                f"{seen[blind] + source.first_row} too"
            )
        seen[blind] = row
    absent = [blind for blind in key["blind_id"] if blind not in seen]
    if absent:
        raise DataError(
            f"{source.path} lacks {counted(len(absent), 'item')} of the sample: {listed(absent)}. "
            "Keep the row and leave the labels blank if they could not be given"
        )
    labels = {axis: _labels(source, table[axis], axis, axes, ids.tolist()) for axis in axes.names}
    found = pd.DataFrame({"blind_id": ids} | labels).set_index("blind_id")
    return found.loc[key["blind_id"]].reset_index()


def read_content_sheets(
    paths: Mapping[str, AnyPath], key: pd.DataFrame, *, axes: ContentAxes | None = None
) -> dict[str, pd.DataFrame]:
    """Return the labels of every annotator, by name.

    Parameters
    ----------
    paths : mapping of str to path
        File of each annotator.
    key, axes
        See `read_content_sheet`.

    Returns
    -------
    dict of str to DataFrame
    """
    return {name: read_content_sheet(path, key, axes=axes) for name, path in paths.items()}


def _open(path: Path) -> Source:
    return open_source(
        path, recognised=lambda columns: "blind_id" in {plain_name(column) for column in columns}
    )


def _required(source: Source, name: str, what: str) -> int:
    found = find_column(source, (name,))
    if found is None:
        raise DataError(
            f"{source.path} has no column {name!r}, which {what} needs. "
            f"Its columns: {listed(source.columns)}"
        )
    return found


def _texts(source: Source, columns: dict[str, int]) -> pd.DataFrame:
    names = list(columns)
    parts: list[list[str]] = [[] for _ in names]
    for block in source.batches(list(columns.values())):
        for part, array in zip(parts, block.arrays, strict=True):
            # what a Parquet file holds as numbers reads as a CSV file would have it
            part += ["" if value is None else str(value) for value in array.to_pylist()]
    if not parts[0]:
        raise DataError(f"{source.path} has a header but no rows")
    return pd.DataFrame(dict(zip(names, parts, strict=True)))


def _numbers(source: Source, column: pd.Series) -> pd.Series:
    found = []
    for row, text in enumerate(column.tolist()):
        try:
            found.append(float(text))
        except ValueError:
            raise DataError(
                f"{place(source, row)}: {column.name} is {text!r}, not a number"
            ) from None
    return pd.Series(found, dtype=float)


def _labels(
    source: Source, column: pd.Series, axis: str, axes: ContentAxes, ids: list[str]
) -> list[float]:
    allowed = {str(label): float(label) for label in axes.allowed(axis)}
    allowed |= {f"{label}.0": float(label) for label in axes.allowed(axis)}
    if axis in axes.binary:
        allowed |= {"true": 1.0, "false": 0.0}
    allowed |= dict.fromkeys(BLANKS, np.nan)
    found = []
    for row, (text, blind) in enumerate(zip(column.tolist(), ids, strict=True)):
        plain = text.strip().lower()
        if plain not in allowed:
            wanted = ", ".join(str(label) for label in axes.allowed(axis))
            raise DataError(
                f"{place(source, row)}, blind_id {blind!r}: {axis} is {text!r}; "
                f"{wanted} or a blank is meant"
            )
        found.append(allowed[plain])
    return found
