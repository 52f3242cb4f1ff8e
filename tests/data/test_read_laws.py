"""Laws of reading: what is written reads back; order and file format change nothing."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neartie.data.files import to_csv
from neartie.data.labels import natural_key
from neartie.data.read import read_responses
from neartie.data.responses import Responses

NASTY = (
    *("NA", "null", "nan", "None", "1E3", "1000", "007", "7", "12.0", "-0", "True", "=1+1", "'q'"),
    *(" a", "a ", "a  b", "q,1", "q;1", "q\t1", "q|1", '"q"', 'q"1', "a\nb", "a\rb", "\r", "a\r\n"),
    *("\ufeffx", "é", "e\u0301", "\u2028", "\x0b.", "\x1a.", "../../etc", "[bold]", "<b>"),
)
law = settings(max_examples=25, deadline=None)

RESERVED = {"item", "model", "respondent", "id", "score", "resp"}

ids = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6),
).filter(lambda text: text.strip() and text.strip().lower() not in RESERVED)


@st.composite
def responses(draw, *, graded: bool = False) -> Responses:
    items = draw(st.lists(ids, min_size=1, max_size=6, unique=True))
    models = draw(st.lists(ids, min_size=1, max_size=5, unique=True))
    items.sort(key=natural_key)
    cell = st.integers(-1, 1)
    if graded:
        cell = st.one_of(st.just(np.nan), st.floats(-1e6, 1e6, width=32))
    cells = draw(st.lists(cell, min_size=len(items) * len(models), max_size=1000))
    size = len(items) * len(models)
    values = np.array(cells[:size]).reshape(len(items), len(models))
    return Responses.build(values, items=items, models=sorted(models))


def wide_frame(data: Responses) -> pd.DataFrame:
    """Models in rows; text cells."""
    frame = pd.DataFrame({"model": data.model_ids}, dtype=object)
    for item, row in zip(data.item_ids, data.values, strict=True):
        frame[item] = ["" if code < 0 else str(code) for code in row.tolist()]
    return frame


def long_frame(data: Responses) -> pd.DataFrame:
    """One answer a row."""
    rows = [
        (item, model, int(code) if code >= 0 else None)
        for item, codes in zip(data.item_ids, data.values, strict=True)
        for model, code in zip(data.model_ids, codes, strict=True)
    ]
    return pd.DataFrame(rows, columns=["item", "model", "score"], dtype=object)


def plain_read(path: Path) -> dict[tuple[str, str], int]:
    """The slow twin: a wide table with models in rows, by the csv module and a loop."""
    stored = path.read_bytes()
    text = gzip.decompress(stored) if path.suffix == ".gz" else stored
    rows = list(csv.reader(io.StringIO(text.decode("utf-8-sig"), newline="")))
    cells = {}
    for row in rows[1:]:
        for item, cell in zip(rows[0][1:], row[1:], strict=True):
            cells[item, row[0]] = {"1": 1, "0": 0, "": -1}[cell]
    return cells


def same(first: Responses, second: Responses) -> bool:
    return (
        first.item_ids == second.item_ids
        and first.model_ids == second.model_ids
        and first.values.dtype == second.values.dtype
        and first.values.tobytes() == second.values.tobytes()
        and first.items.equals(second.items)
        and first.models.equals(second.models)
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("laws")


@law
@given(data=responses())
def test_wide_text_reads_back(folder: Path, data: Responses) -> None:
    path = folder / "wide.csv"
    path.write_bytes(to_csv(wide_frame(data)).encode())
    assert same(read_responses(path), data)


@law
@given(data=responses(), flip=st.booleans())
def test_the_plain_twin_agrees(folder: Path, data: Responses, flip: bool) -> None:
    path = folder / ("twin.csv.gz" if flip else "twin.csv")
    content = to_csv(wide_frame(data)).encode()
    path.write_bytes(gzip.compress(content) if flip else content)
    read = read_responses(path)
    cells = {
        (item, model): int(read.values[i, j])
        for i, item in enumerate(read.item_ids)
        for j, model in enumerate(read.model_ids)
    }
    assert cells == plain_read(path)


@law
@given(data=responses())
def test_long_text_reads_back(folder: Path, data: Responses) -> None:
    path = folder / "long.csv"
    path.write_bytes(to_csv(long_frame(data)).encode())
    assert same(read_responses(path), data)


@law
@given(data=responses(graded=True))
def test_graded_scores_read_back_to_the_last_bit(folder: Path, data: Responses) -> None:
    path = folder / "graded.csv"
    values = np.where(data.observed, data.values, np.nan).astype(np.float32)
    frame = pd.DataFrame(values, columns=data.model_ids)
    frame.insert(0, "item", data.item_ids)
    path.write_bytes(to_csv(frame).encode())
    assert same(
        read_responses(path, scores="graded"),
        Responses.build(values, items=data.item_ids, models=data.model_ids),
    )


@law
@given(data=responses())
def test_every_format_gives_the_same(folder: Path, data: Responses) -> None:
    wide, long = wide_frame(data), long_frame(data)
    turned = pd.DataFrame(wide.iloc[:, 1:].to_numpy().T, columns=wide["model"])
    turned.insert(0, "item", data.item_ids)
    texts = {"a.csv": wide, "b.csv": turned, "c.csv": long}
    for name, frame in texts.items():
        (folder / name).write_bytes(to_csv(frame).encode())
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
    numbers = pa.array([None if s is None else int(s) for s in long["score"]], pa.int8())
    columns = {"item": pa.array(long["item"].tolist()), "model": pa.array(long["model"].tolist())}
    pa.parquet.write_table(pa.table(columns | {"score": numbers}), folder / "d.parquet")
    cells = [pa.array([None if c < 0 else c for c in row.tolist()]) for row in data.values]
    names = ["model", *data.item_ids]
    matrix = pa.table([pa.array(data.model_ids), *cells], names=names)
    pa.parquet.write_table(matrix, folder / "e.parquet")
    files = [*texts, *(f"{name}.gz" for name in texts), "d.parquet", "e.parquet"]
    assert [name for name in files if not same(read_responses(folder / name), data)] == []


@law
@given(data=responses(), seed=st.integers(0, 2**32 - 1))
def test_order_of_rows_and_columns_changes_nothing(
    folder: Path, data: Responses, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    for frame, name in ((wide_frame(data), "w.csv"), (long_frame(data), "l.csv")):
        rows = rng.permutation(len(frame))
        fixed = 1 if name == "w.csv" else 0
        columns = [*range(fixed), *(fixed + rng.permutation(frame.shape[1] - fixed))]
        (folder / name).write_bytes(to_csv(frame.iloc[rows, columns]).encode())
        assert same(read_responses(folder / name), data)


@law
@given(data=responses(), seed=st.integers(0, 2**32 - 1), rows=st.sampled_from(["items", "models"]))
def test_a_threshold_is_a_comparison(folder: Path, data: Responses, seed: int, rows: str) -> None:
    rng = np.random.default_rng(seed)
    scores = np.round(rng.random(data.values.shape), 2)
    ids = (data.item_ids, data.model_ids)
    first, second = ids if rows == "items" else ids[::-1]
    frame = pd.DataFrame(scores if rows == "items" else scores.T, columns=second)
    frame.insert(0, "whatever", first)
    path = folder / "threshold.csv"
    path.write_bytes(to_csv(frame).encode())
    read = read_responses(path, rows=rows, threshold=0.3)
    assert np.array_equal(read.values, scores >= 0.3)
