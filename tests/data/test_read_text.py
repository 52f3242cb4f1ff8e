"""Delimited text: delimiters, headers, encodings, damaged files."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from neartie.data.errors import DataError
from neartie.data.read import read_responses


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_delimiters_and_line_ends(table, delimiter: str, end: str) -> None:
    rows = [["item", "ant", "owl"], ["q1", "1", "0"], ["q2", "", "1"]]
    data = read_responses(table(end.join(delimiter.join(row) for row in rows)))
    assert data.item_ids == ["q1", "q2"]
    assert data.model_ids == ["ant", "owl"]
    assert data.values.tolist() == [[1, 0], [-1, 1]]


def test_the_delimiter_is_the_one_that_gives_a_known_first_column(table) -> None:
    data = read_responses(table("item;a,1;b,2;c,3,4,5\nq1;1;0;1\n"))
    assert data.model_ids == ["a,1", "b,2", "c,3,4,5"]


def test_among_known_headers_most_columns_win(table) -> None:
    assert read_responses(table("model,a;b,c\nant,1,0\n")).item_ids == ["a;b", "c"]


def test_ids_may_hold_delimiters_quotes_and_line_ends(table) -> None:
    data = read_responses(table('"item","a, b","c ""d""","e\nf"\n"q\n1",1,0,1\n'))
    assert data.model_ids == ["a, b", 'c "d"', "e\nf"]
    assert data.item_ids == ["q\n1"]


def test_blank_lines_do_not_matter(table) -> None:
    assert read_responses(table("\n\nmodel,q1\n\nant,1\n\n")).values.tolist() == [[1]]


def test_gzip_is_known_by_its_content(table) -> None:
    path = table(gzip.compress(b"model,q1\n") + gzip.compress(b"ant,1\nowl,0\n"), "answers.txt")
    assert read_responses(path).values.tolist() == [[1, 0]]


def test_names_of_columns_may_differ_in_case_and_blanks(table) -> None:
    data = read_responses(table(" Item , Model,SCORE\nq1,ant,1\n"))
    assert (data.item_ids, data.model_ids) == (["q1"], ["ant"])


@pytest.mark.parametrize("name", ["model", "respondent", "Model"])
def test_rows_can_be_models(table, name: str) -> None:
    data = read_responses(table(f"{name},q1,q2\nowl,1,0\n"))
    assert (data.item_ids, data.model_ids) == (["q1", "q2"], ["owl"])


def test_rows_can_be_named_by_an_option(table) -> None:
    path = table("task,a,b\nx,1,0\n")
    assert read_responses(path, rows="items").model_ids == ["a", "b"]
    assert read_responses(path, rows="models").model_ids == ["x"]


def test_an_option_makes_any_table_wide(table) -> None:
    data = read_responses(table("item,model,score\nq1,1,0\n"), rows="items")
    assert data.model_ids == ["model", "score"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"answers\.csv is empty"),
        (b"\n \n\n", "has one column, ' '"),
        (b"\n\n", "holds no text but blank lines"),
        (b"model,q1\n", "has a header but no rows"),
        (b"item,model,score\n\n", "has a header but no rows"),
        (b"model\nant\n", "has one column, 'model', whether comma, semicolon, tab or bar"),
        (b"model q1 q2\nant 1 0\n", "has one column, 'model q1 q2'"),
        (b"name,q1\nant,1\n", "does not say what its rows are: its first column is named 'name'"),
        (b",q1\nant,1\n", "its rows have no name"),
        (b"model,q1,q2\nant,1\nowl,1,0\n", "row 2: 2 cells where the header has 3 .the comma"),
        (b"model,q1\nant,1\nowl,1,0\n", "row 3: 3 cells where the header has 2"),
        (b'model,q1\nant,1\n"owl,1\n', "row 3: 1 cells where the header has 2"),
        (b'model,"q1\nant,1\n', "header cannot be read: is a quote not closed"),
        (b"model,q1,\nant,1,0\n", "column 3 has no item id in the header"),
        (b"model,q1,q2,q1\nant,1,0,1\n", "item 'q1' stands in two columns, 2 and 4"),
        (b"item,a,a\nq1,1,0\n", "model 'a' stands in two columns, 2 and 3"),
        (b"model,q1\nant,1\n ,1\n", r"row 3: the id in column 'model' is blank"),
        (b"item,model,score\nq1,a,1\n,a,1\n", r"row 3: the id in column 'item' is blank"),
        (b"item,model,score,score\nq1,a,1,1\n", "has 2 columns named 'score'"),
        (b"item,model,correct\nq1,a,1\n", "columns for item and model but no column 'score'"),
        (b"item,name,score\nq1,a,1\n", "a column of scores but no column 'model'"),
        (b"model,task,score\na,q1,1\n", "a column of scores but no column 'item'"),
        ("model,q1\nant,1\n".encode("utf-16"), "is written in UTF-16; save it as UTF-8"),
        ("model,q1\nant,1\n".encode("utf-16-le"), "zero bytes"),
        (b"model,q1\nant,1\nf\xfcchs,0\n", r"line 3: byte 16 \(0xfc\) is not UTF-8"),
        (b"mod\xe8le,q1\nant,1\n", r"line 1: byte 3 \(0xe8\) is not UTF-8"),
        (b"PK\x03\x04....", "is a zip archive or a spreadsheet"),
        (b"\x1f\x8bnonsense", "is damaged"),
        (gzip.compress(b"model,q1\n" + b"ant,1\n" * 9, mtime=0)[:-12], "is damaged"),
        (gzip.compress(b"", mtime=0), "holds no text but blank lines"),
    ],
)
def test_refusals(table, content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_responses(table(content))


def test_a_file_cut_off_while_it_was_compressed(table) -> None:
    rng = np.random.default_rng(1)
    body = "".join(f"m{i},{rng.random()}\n" for i in range(50_000))
    whole = gzip.compress(f"model,q1\n{body}".encode())
    with pytest.raises(DataError, match="is damaged"):
        read_responses(table(whole[: len(whole) // 2]), scores="graded")


def test_a_row_number_far_down_counts_the_header(table) -> None:
    rows = "q,ant,1\n" * 700_000
    path = table(f"item,model,score\n{rows}q,ant\n")
    with pytest.raises(DataError, match="row 700002: 2 cells"):
        read_responses(path)


def test_a_bad_score_far_down_is_found_with_its_row(table) -> None:
    rows = "".join(f"q{i % 1000},ant{i // 1000},1\n" for i in range(700_000))
    path = table(f"item,model,score\n{rows}q,ant,7\n")
    with pytest.raises(DataError, match=r"row 700002, column 'score' \(model 'ant', item 'q'\)"):
        read_responses(path)


@pytest.mark.parametrize("rows", ["items", "models"])
def test_many_small_blocks_give_the_same(table, monkeypatch, rows: str) -> None:
    monkeypatch.setattr("neartie.data.delimited._BLOCK_BYTES", 40)
    monkeypatch.setattr("neartie.data.delimited._CELL_BYTES", 1)
    values = np.random.default_rng(5).integers(0, 2, (50, 3))
    lines = [f"{i:03d},{','.join(map(str, row))}\n" for i, row in enumerate(values.tolist())]
    text = "x,a,b,c\n" + "".join(lines)
    data = read_responses(table(text), rows=rows)
    assert np.array_equal(data.values if rows == "items" else data.values.T, values)
    models = table("model\n049\nb\n", "models.csv")
    kept = read_responses(table(text), rows=rows, models=models).values
    assert np.array_equal(kept, values[:, [1]] if rows == "items" else values[[49]].T)
    bad = text.replace(lines[49], "049,1,maybe,0\n")
    with pytest.raises(DataError, match=r"row 51, column 'b' .*'049'.*'maybe' is not a score"):
        read_responses(table(bad), rows=rows, models=models)


def test_line_ends_in_ids_may_stand_where_blocks_end(table, monkeypatch) -> None:
    monkeypatch.setattr("neartie.data.delimited._BLOCK_BYTES", 43)
    monkeypatch.setattr("neartie.data.delimited._CELL_BYTES", 1)
    ids = [f"{i:02d}\n\n\n" for i in range(40)]
    data = read_responses(table("item,a\n" + "".join(f'"{name}",1\n' for name in ids)))
    assert data.item_ids == ids


def test_a_row_that_is_too_long_is_a_sentence(table, monkeypatch) -> None:
    monkeypatch.setattr("neartie.data.delimited._BLOCK_BYTES", 1 << 10)
    path = table(f'model,q1\nant,1\n"owl,{"1" * 5000}\n')
    with pytest.raises(
        DataError, match=r"has a row that is longer than 1,024 bytes: is a quote not closed"
    ):
        read_responses(path)


def test_an_open_quote_in_the_last_cell_is_not_swallowed(table) -> None:
    answers = table("item,model,score\nq1,a,1\nq2,a,1\n")
    items = table('item,source\nq1,"easy\nq2,hard\nq3,hard\n', "items.csv")
    with pytest.raises(DataError, match=r"items\.csv, row 2: a quote is not closed"):
        read_responses(answers, items=items)


def test_a_line_end_in_the_last_cell_is_allowed(table) -> None:
    answers = table("item,model,score\nq1,a,1\n")
    items = table('item,note\nq1,"two\nlines"\n', "items.csv")
    assert read_responses(answers, items=items).items["note"].tolist() == ["two\nlines"]


def test_files_that_cannot_be_opened(tmp_path, monkeypatch) -> None:
    with pytest.raises(DataError, match=r"gone\.csv cannot be read: no such file"):
        read_responses(tmp_path / "gone.csv")
    with pytest.raises(DataError, match="is a folder; name the file in it"):
        read_responses(tmp_path)
    with pytest.raises(DataError, match="is no regular file"):
        read_responses("/dev/null")
    (tmp_path / "secret.csv").write_text("model,q1\n")

    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(DataError, match=r"secret\.csv cannot be read: permission denied"):
        read_responses(tmp_path / "secret.csv")
