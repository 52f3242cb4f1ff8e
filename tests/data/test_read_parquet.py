"""Parquet: indices of data frames, types of ids, damaged files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from neartie.data.errors import DataError
from neartie.data.read import read_responses


def stored(path, **columns):
    pa.parquet.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("name", ["item", "model", "respondent"])
def test_a_named_index_counts_as_first_column(tmp_path, name: str) -> None:
    frame = pd.DataFrame({"a": [1, 0], "b": [0, 0]}, index=pd.Index(["x", "y"], name=name))
    frame.to_parquet(tmp_path / "wide.parquet")
    data = read_responses(tmp_path / "wide.parquet")
    assert (data.item_ids if name == "item" else data.model_ids) == ["x", "y"]
    assert data.values.sum() == 1


def test_an_index_of_two_levels_is_long(tmp_path) -> None:
    index = pd.MultiIndex.from_tuples([("q1", "a"), ("q2", "a")], names=["item", "model"])
    pd.DataFrame({"score": [1, 0]}, index=index).to_parquet(tmp_path / "long.parquet")
    assert read_responses(tmp_path / "long.parquet").values.tolist() == [[1], [0]]


def test_an_index_without_a_name_needs_the_option(tmp_path) -> None:
    path = tmp_path / "wide.parquet"
    pd.DataFrame({"a": [1, 0]}, index=["x", "y"]).to_parquet(path)
    with pytest.raises(DataError, match="its rows have no name; name the first column"):
        read_responses(path)
    assert read_responses(path, rows="items").item_ids == ["x", "y"]


def test_a_plain_numbering_is_no_column(tmp_path) -> None:
    path = tmp_path / "wide.parquet"
    pd.DataFrame({"model": ["a", "b"], "q1": [True, False]}).to_parquet(path)
    assert read_responses(path).values.tolist() == [[1, 0]]


def test_whole_numbers_are_exact_ids(tmp_path) -> None:
    path = stored(
        tmp_path / "long.parquet", item=[2**53 + 1, 2**53], id=[1, 1], resp=pa.array([1, None])
    )
    data = read_responses(path)
    assert data.item_ids == ["9007199254740992", "9007199254740993"]
    assert data.values.tolist() == [[-1], [1]]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["q1", "q2", "q1"]),
        pa.array(["q1", "q2", "q1"], pa.large_string()),
        pa.array(["q1", "q2", "q1"], pa.string_view()),
        pa.array(["q1", "q2", "q1"]).dictionary_encode(),
    ],
    ids=lambda column: str(column.type),
)
def test_text_of_every_kind_is_an_id(tmp_path, column) -> None:
    path = stored(tmp_path / "a.parquet", item=column, model=["a", "a", "b"], score=[1, 0, 1])
    assert read_responses(path).values.tolist() == [[1, 1], [0, -1]]


def test_categories_that_do_not_occur_are_no_items(tmp_path) -> None:
    item = pa.DictionaryArray.from_arrays(pa.array([0, 2]), pa.array(["q1", "", "q3"]))
    path = stored(tmp_path / "a.parquet", item=item, model=["a", "a"], score=[1, 0])
    assert read_responses(path).item_ids == ["q1", "q3"]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (pa.array([1.0, 2.0]), "column 'item' holds numbers with decimals, not ids"),
        (pa.array([True, False]), "column 'item' holds bool, not ids"),
        (pa.array([b"a", b"b"]), "column 'item' holds binary, not ids"),
        (pa.array(["a", None]), "row 2: the id in column 'item' is blank"),
        (pa.array([None, None]), "row 1: the id in column 'item' is blank"),
        (pa.array([7, None]), "row 2: the id in column 'item' is blank"),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
@pytest.mark.parametrize("wide", [True, False], ids=["wide", "long"])
def test_other_ids_are_refused(tmp_path, item, message: str, wide: bool) -> None:
    more = {"a": [1, 0]} if wide else {"model": ["a", "a"], "score": [1, 0]}
    with pytest.raises(DataError, match=message):
        read_responses(stored(tmp_path / "a.parquet", item=item, **more))


def test_names_with_dots_are_not_taken_for_one_another(tmp_path) -> None:
    columns = {"item": ["q"], "gpt-3": [0], "gpt-3.5": [1], "gpt-3.5.x": [None]}
    data = read_responses(stored(tmp_path / "a.parquet", **columns))
    assert dict(zip(data.model_ids, data.values[0].tolist(), strict=True)) == {
        "gpt-3": 0,
        "gpt-3.5": 1,
        "gpt-3.5.x": -1,
    }


def test_columns_of_a_long_table_are_found_by_name(tmp_path) -> None:
    columns = {"score.x": ["?"], "score": [1], "model.x": ["?"], "model": ["a"], "item.x": ["?"]}
    data = read_responses(stored(tmp_path / "a.parquet", **columns, item=["q"]))
    assert (data.item_ids, data.model_ids, data.values.tolist()) == (["q"], ["a"], [[1]])


def test_columns_of_different_types_stand_side_by_side(tmp_path) -> None:
    path = stored(
        tmp_path / "a.parquet",
        item=["q1", "q2"],
        a=pa.array([1, 0], pa.int8()),
        b=[1.0, None],
        c=["True", "NA"],
        d=[None, None],
        e=[False, True],
    )
    assert read_responses(path).values.tolist() == [[1, 1, 1, -1, 0], [0, -1, -1, -1, 1]]


def test_a_bad_score_is_found_in_its_cell(tmp_path) -> None:
    path = stored(tmp_path / "a.parquet", item=["q1", "q2"], a=[1, 0], b=[1.0, 0.25], c=[1, 1])
    with pytest.raises(DataError, match=r"row 2, column 'b' \(model 'b', item 'q2'\): score 0\.25"):
        read_responses(path)


def test_columns_that_cannot_hold_scores_are_named(tmp_path) -> None:
    path = stored(tmp_path / "a.parquet", item=["q1"], a=[1], b=pa.array([[1, 2]]))
    with pytest.raises(DataError, match=r"row 1, column 'b' .*list<.* is not a score"):
        read_responses(path)
    path = stored(tmp_path / "b.parquet", item=["q1"], model=["a"], score=pa.array([[1, 2]]))
    with pytest.raises(DataError, match=r"row 1, column 'score' .*list<.* is not a score"):
        read_responses(path)


def test_many_batches_and_blocks_give_the_same(tmp_path, monkeypatch) -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(-1, 2, (37, 23))
    columns = [pa.array(column, mask=column < 0) for column in values.T]
    names = ["item", *(f"m{i:02d}" for i in range(23))]
    ids = [f"q{i:02d}" for i in range(37)]
    pa.parquet.write_table(
        pa.table([pa.array(ids), *columns], names=names), tmp_path / "a.parquet", row_group_size=5
    )
    monkeypatch.setattr("neartie.data.columnar._BLOCK_CELLS", 100)
    monkeypatch.setattr("neartie.data.columnar._BATCH_ROWS", 4)
    assert np.array_equal(read_responses(tmp_path / "a.parquet").values, values)


def test_no_rows(tmp_path) -> None:
    empty = {"item": pa.array([], pa.string())}
    with pytest.raises(DataError, match="has a header but no rows"):
        read_responses(stored(tmp_path / "a.parquet", **empty, a=pa.array([], pa.int8())))
    with pytest.raises(DataError, match="has a header but no rows"):
        read_responses(
            stored(tmp_path / "a.parquet", **empty, model=empty["item"], score=empty["item"])
        )
    with pytest.raises(DataError, match="has no column but 'item'"):
        read_responses(stored(tmp_path / "a.parquet", item=["q"]))


def test_two_columns_of_one_name(tmp_path) -> None:
    table = pa.table([pa.array(["q"]), pa.array([1]), pa.array([0])], names=["item", "a", "a"])
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(DataError, match="has more than one column named 'a'"):
        read_responses(tmp_path / "a.parquet")


def test_a_damaged_file(tmp_path) -> None:
    path = stored(tmp_path / "a.parquet", item=["q"], a=[1])
    content = path.read_bytes()
    path.write_bytes(content[:-6])
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        read_responses(path)
    path.write_bytes(content[:4] + bytes(len(content) // 2) + content[4 + len(content) // 2 :])
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        read_responses(path)
