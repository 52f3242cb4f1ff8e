"""Item and model tables: joins by id, columns as text, notices about what does not match."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neartie.data.errors import DataError
from neartie.data.ids import near_key
from neartie.data.read import read_responses
from neartie.data.tables import read_item_table, read_model_table

ANSWERS = "item,b/x,a/y\nq10,1,0\nq2,0,\n"


def test_without_tables_items_stand_in_natural_and_models_in_plain_order(table) -> None:
    data = read_responses(table("item,b,a,B\nq10,1,0,1\nq2,0,,1\n"))
    assert data.item_ids == ["q2", "q10"]
    assert data.model_ids == ["B", "a", "b"]
    assert data.values.tolist() == [[1, -1, 0], [1, 0, 1]]


def test_the_item_table_orders_items(table) -> None:
    items = table("source,item\nalgebra,q10\nlaw,q2\n", "items.csv")
    data = read_responses(table(ANSWERS), items=items)
    assert data.items.to_dict("list") == {"item": ["q10", "q2"], "source": ["algebra", "law"]}
    assert data.values.tolist() == [[0, 1], [-1, 0]]


def test_the_item_table_lists_every_item(table) -> None:
    items = table("item\nq2\n", "items.csv")
    with pytest.raises(DataError, match=r"items\.csv does not list 1 of 2 items of .*: 'q10'$"):
        read_responses(table(ANSWERS), items=items)
    items = table("item\nq2\nQ10\n", "items.csv")
    with pytest.raises(DataError, match="'q10'; 'q10' is spelled 'Q10' there"):
        read_responses(table(ANSWERS), items=items)


def test_items_without_answers_are_left_out_with_a_notice(table) -> None:
    items = table("item\nq9\nq10\nq2\nq1\n", "items.csv")
    data = read_responses(table(ANSWERS), items=items)
    assert data.item_ids == ["q10", "q2"]
    assert any("left out 2 items without answers: 'q9', 'q1'" in n for n in data.notices)


def test_models_that_are_not_listed_are_left_out_unread(table) -> None:
    models = table("model,owner\nc,z\nb,y\n", "models.csv")
    expected = {"model": ["b"], "owner": ["y"]}
    long = table("item,model,score\nq1,a,maybe\nq1,b,1\n", "long.csv")
    columns = table("item,a,b\nq1,maybe,1\n", "columns.csv")
    rows = table("model,q1\na,maybe\nb,1\n", "rows.csv")
    for path in (long, columns, rows):
        data = read_responses(path, models=models)
        assert data.models.to_dict("list") == expected
        assert data.values.tolist() == [[1]]
        assert any(n.startswith("left out 1 model that") and "'a'" in n for n in data.notices)
        assert any("lists 1 model without a row or column" in n for n in data.notices)


def test_the_order_of_the_model_table_changes_nothing(table) -> None:
    models = table("owner,model\nlast,b/x\nfirst,a/y\n", "models.csv")
    data = read_responses(table(ANSWERS), models=models)
    assert data.models.to_dict("list") == {"model": ["a/y", "b/x"], "owner": ["first", "last"]}
    assert data.values.tolist() == [[-1, 0], [0, 1]]


def test_a_fault_below_models_that_are_left_out_keeps_its_row(table) -> None:
    models = table("model\nb\n", "models.csv")
    for text in (
        "model,q1\na,1\na2,0\nb,maybe\n",
        "item,model,score\nq1,a,1\nq1,c,0\nq1,b,maybe\n",
    ):
        with pytest.raises(DataError, match=r"row 4, column .*\(model 'b', item 'q1'\): 'maybe'"):
            read_responses(table(text), models=models)


def test_a_model_table_that_lists_none_is_refused(table) -> None:
    models = table("model\nA/Y\n", "models.csv")
    with pytest.raises(DataError, match=r"lists none of the 2 models of .*'a/y' is spelled 'A/Y'"):
        read_responses(table(ANSWERS), models=models)


def test_cells_stay_as_written(table) -> None:
    content = "model,n,flag,note,id\n007,01.50,True,NA, x \n7,1e3,,null,\n"
    read = read_model_table(table(content, "models.csv"))
    assert read.to_dict("list") == {
        "model": ["007", "7"],
        "n": ["01.50", "1e3"],
        "flag": ["True", ""],
        "note": ["NA", "null"],
        "id": [" x ", ""],
    }


def test_half_and_representative_are_numbers(table) -> None:
    content = "model,half,representative\na,0,1\nb,1.0,False\nc,,NA\n"
    read = read_model_table(table(content, "models.csv"))
    assert read["half"].dtype == read["representative"].dtype == pd.Int64Dtype()
    assert read["half"].tolist() == [0, 1, pd.NA]
    assert read["representative"].tolist() == [1, 0, pd.NA]


@pytest.mark.parametrize("cell", ["2", "A", "-1", "0.5"])
def test_other_halves_are_refused(table, cell: str) -> None:
    path = table(f"model,half\na,0\nb,{cell}\n", "models.csv")
    where = rf"models\.csv, row 3, column 'half' \(model 'b'\): '{cell}' is neither 0 nor 1"
    with pytest.raises(DataError, match=where):
        read_model_table(path)


def test_half_is_text_in_an_item_table(table) -> None:
    assert read_item_table(table("item,half\nq1,upper\n", "items.csv"))["half"].tolist() == [
        "upper"
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("name,source\nq1,law\n", "has no column 'item'; its columns: 'name', 'source'"),
        ("item,source\nq1,law\nq1,law\n", "row 3: 'q1' stands in row 2 already"),
        ("item,source\n,law\n", "row 2: the id in column 'item' is blank"),
        ("item,source,source\nq1,law,art\n", "has more than one column named 'source'"),
        ("item,item\nq1,q2\n", "has 2 columns named 'item'"),
        ("item,source\n", "has a header but no rows"),
        ("item,source\nq1\n", "row 2: 1 cells where the header has 2"),
        ("things\nq1\n", "has one column, 'things'"),
    ],
)
def test_tables_that_are_refused(table, content: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_item_table(table(content, "items.csv"))


def test_a_matrix_is_no_table(table) -> None:
    path = table("item," + ",".join(f"m{i}" for i in range(1000)) + "\n", "items.csv")
    with pytest.raises(DataError, match="has 1,001 columns; is it the table of answers"):
        read_item_table(path)


def test_a_list_of_ids_is_a_table(table) -> None:
    data = read_responses(table(ANSWERS), models=table("model\na/y\n", "models.csv"))
    assert data.model_ids == ["a/y"]


def test_every_format_of_a_table_gives_the_same(table, tmp_path) -> None:
    frame = pd.DataFrame({"item": ["q1", "q2"], "source": ["x, y", ""], "n": ["1", "2"]})
    text = frame.to_csv(index=False)
    frame.astype({"n": int}).set_index("item").to_parquet(tmp_path / "items.parquet")
    files = (
        table(text, "items.csv"),
        table(gzip.compress(text.encode()), "items.dat"),
        tmp_path / "items.parquet",
    )
    first, *others = (read_item_table(path) for path in files)
    for other in others:
        pd.testing.assert_frame_equal(first, other)


def test_parquet_cells_are_written_out(tmp_path) -> None:
    frame = pd.DataFrame(
        {
            "model": ["a", "b"],
            "size": [7.0, np.nan],
            "merged": [True, False],
            "owner": ["x", None],
            "half": [1.0, np.nan],
        }
    )
    frame.to_parquet(tmp_path / "models.parquet")
    read = read_model_table(tmp_path / "models.parquet")
    assert read["size"].tolist() == ["7.0", ""]
    assert read["merged"].tolist() == ["True", "False"]
    assert read["owner"].tolist() == ["x", ""]
    assert read["half"].tolist() == [1, pd.NA]


NEAR = [
    ("Acme/A", "acme/a"),
    ("gpt 4", "gpt-4"),
    ("gpt_4", "gpt4"),
    (" q1", "q1"),
    ("a  b", "a b"),
    ("é", "e\u0301"),
    ("ﬁne", "fine"),
    ("a\u00a0b", "a b"),
    ("a\u2010b", "a-b"),
    ("a\u200bb", "ab"),
    ("Straße", "STRASSE"),
]


@pytest.mark.parametrize(("first", "second"), NEAR)
def test_near_duplicates_are_reported_and_kept_apart(table, first: str, second: str) -> None:
    data = read_responses(table(f"item,{first},{second}\nq,1,0\n"))
    assert sorted(data.model_ids) == sorted([first, second])
    notice = data.notices[0]
    assert "model ids that differ only in case, blanks, dashes or Unicode form" in notice
    assert repr(first) in notice
    assert repr(second) in notice


@pytest.mark.parametrize(
    ("first", "second"),
    [("q1-11", "q11-1"), ("v1.1", "v11"), ("a/b", "ab"), ("7 1", "71"), ("x", "y"), ("1", "01")],
)
def test_other_ids_are_no_near_duplicates(first: str, second: str) -> None:
    assert near_key(first) != near_key(second)


@given(st.text(st.characters(max_codepoint=126), max_size=8))
def test_case_and_surrounding_separators_do_not_count(text: str) -> None:
    assert near_key(f" -{text.upper()}_ ") == near_key(text)
    assert near_key(near_key(text)) == near_key(text)


def test_near_duplicates_are_found_between_files(table) -> None:
    models = table("model\nA/Y\nb/x\n", "models.csv")
    data = read_responses(table(ANSWERS), models=models)
    assert any("'A/Y', 'a/y'" in notice for notice in data.notices)


@pytest.mark.parametrize(
    ("column", "first", "second"),
    [("family", "Qwen", "qwen"), ("family", "Qwen", "Qwen "), ("owner", "Acme", "acme")],
)
def test_groups_of_models_that_differ_in_spelling_are_reported(table, column, first, second):
    models = table(f"model,{column}\nb/x,{first}\na/y,{second}\n", "models.csv")
    data = read_responses(table(ANSWERS), models=models)
    assert data.models[column].tolist() == [second, first]
    (notice,) = data.notices
    assert f"{column} names that differ only in case" in notice
    assert f"{first!r}, {second!r}" in notice


def test_sources_that_differ_in_spelling_are_reported(table) -> None:
    items = table("item,source\nq2,law\nq10,Law\n", "items.csv")
    (notice,) = read_responses(table(ANSWERS), items=items).notices
    assert "source names that differ only in case" in notice


def test_owners_within_ids_that_differ_in_spelling_are_reported(table) -> None:
    (notice,) = read_responses(table("item,Acme/x,acme/y,solo\nq,1,0,1\n")).notices
    assert "owner names that differ only in case" in notice
    models = table("model,owner\nAcme/x,one\nacme/y,two\nsolo,\n", "models.csv")
    named = read_responses(table("item,Acme/x,acme/y,solo\nq,1,0,1\n"), models=models)
    assert named.notices == ()


@pytest.mark.parametrize("blank", ["", " "])
def test_blank_names_are_no_near_duplicates(table, blank: str) -> None:
    models = table(f"model,family\nb/x,{blank}\na/y,{blank}\n", "models.csv")
    assert read_responses(table(ANSWERS), models=models).notices == ()


@pytest.mark.parametrize("column", ["Family", " owner", "HALF", "Representative"])
def test_a_column_that_is_nearly_one_of_ours_is_reported(table, column: str) -> None:
    models = table(f"model,{column}\nb/x,1\na/y,1\n", "models.csv")
    (notice,) = read_responses(table(ANSWERS), models=models).notices
    assert f"column {column!r} is not used; write {column.strip().lower()!r}" in notice
    both = table(f"model,{column},{column.strip().lower()}\nb/x,1,1\na/y,1,1\n", "models.csv")
    assert read_responses(table(ANSWERS), models=both).notices == ()
