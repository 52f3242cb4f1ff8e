"""How scores may be spelled, and what is refused."""

from __future__ import annotations

import decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neartie.data.errors import DataError
from neartie.data.read import read_responses
from neartie.data.scores import ScoreRule, parse_scores, score_rule

RIGHT = ["1", "1.0", "1.", "+1", "01", "1e0", "10E-1", "true", "True", "TRUE", " 1 ", "\t1"]
WRONG = ["0", "0.0", ".0", "-0", "00", "0e5", "false", "False", "FALSE", " 0"]
ABSENT = ["", " ", "NA", "na", "NaN", "nan", "null", "NULL", "None", "none", "N/A", "n/a", " NA "]
UNKNOWN = [
    "maybe",
    "yes",
    "T",
    "1x",
    "1_0",
    "0x1",
    "inf",
    "-Infinity",
    "1,0",
    "--1",
    "1e",
    "１",
    ".",
]


@pytest.mark.parametrize(
    ("texts", "code"), [(RIGHT, 1), (WRONG, 0), (ABSENT, -1)], ids=["right", "wrong", "missing"]
)
def test_spellings(texts: list[str], code: int) -> None:
    codes, fault = ScoreRule().codes(pa.array(texts))
    assert fault is None
    assert codes.tolist() == [code] * len(texts)


@pytest.mark.parametrize("text", UNKNOWN)
def test_other_spellings_are_refused(table, text: str) -> None:
    path = table(
        f"model\tq1\tq2\nant\t1\t0\nowl\t1\t{text}\n"
        if "," not in text
        else f'model,q1,q2\nant,1,0\nowl,1,"{text}"\n'
    )
    where = r"answers\.csv, row 3, column 'q2' \(model 'owl', item 'q2'\): .* is not a score"
    with pytest.raises(DataError, match=where):
        read_responses(path)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_read_as_python_reads_them(number: float) -> None:
    values, unknown = parse_scores(pa.array([repr(number), f"{number:.17e}", f" {number!r}"]))
    assert not unknown.any()
    assert values.tolist() == [number] * 3


@given(st.text(max_size=5))
def test_text_is_a_number_or_a_word_or_refused(text: str) -> None:
    encodable = text.encode("utf-8", "ignore").decode()
    values, unknown = parse_scores(pa.array([encodable]))
    word = encodable.strip().lower()
    if word in ("true", "false"):
        assert values[0] == (word == "true")
    elif word in ("", "na", "n/a", "nan", "null", "none"):
        assert np.isnan(values[0])
        assert not unknown[0]
    else:
        try:
            number = float(word.encode("ascii"))
            is_plain = set(word) <= set("0123456789.+-e")
        except ValueError:
            is_plain = False
        assert unknown[0] == (not is_plain)
        assert unknown[0] or values[0] == number


def test_a_decimal_comma_needs_another_delimiter() -> None:
    assert parse_scores(pa.array(["0,5"]), decimal_comma=True)[0].tolist() == [0.5]
    assert parse_scores(pa.array(["0,5"]))[1].tolist() == [True]
    assert parse_scores(pa.array(["1,000,5"]), decimal_comma=True)[1].tolist() == [True]


@pytest.mark.parametrize(
    ("kind", "values", "codes"),
    [
        (pa.bool_(), [True, False, None], [1, 0, -1]),
        (pa.int64(), [1, 0, None], [1, 0, -1]),
        (pa.uint8(), [1, 0, None], [1, 0, -1]),
        (pa.float32(), [1.0, 0.0, float("nan")], [1, 0, -1]),
        (pa.float64(), [1.0, None, float("nan")], [1, -1, -1]),
        (pa.decimal128(5, 2), [decimal.Decimal(1), decimal.Decimal(0), None], [1, 0, -1]),
        (pa.null(), [None, None, None], [-1, -1, -1]),
        (pa.large_string(), ["True", "0.0", None], [1, 0, -1]),
        (pa.dictionary(pa.int8(), pa.string()), ["1", "NA", "0"], [1, -1, 0]),
        (pa.dictionary(pa.int8(), pa.int64()), [1, None, 0], [1, -1, 0]),
    ],
    ids=str,
)
def test_every_type_of_a_parquet_column(kind, values: list, codes: list[int]) -> None:
    found, fault = ScoreRule().codes(pa.array(values, kind))
    assert fault is None
    assert found.tolist() == codes


def test_texts_that_no_cell_uses_do_not_matter() -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array(["1", "maybe"]))
    assert ScoreRule().codes(array)[1] is None


def test_single_precision_reaches_a_threshold() -> None:
    codes, _ = ScoreRule(threshold=0.7).codes(pa.array([0.7, 0.6999], pa.float32()))
    assert codes.tolist() == [1, 0]


@pytest.mark.parametrize("score", ["1e39", "-1e300", "1e999"])
def test_graded_scores_must_fit(table, score: str) -> None:
    path = table(f"model,q1\nant,0.5\nowl,{score}\n")
    with pytest.raises(DataError, match=r"row 3, column 'q1'.*is not finite, or too large"):
        read_responses(path, scores="graded")


def test_infinite_scores_in_parquet_are_refused() -> None:
    array = pa.array([0.5, float("inf")])
    for rule in (ScoreRule(graded=True), ScoreRule(threshold=0.5)):
        assert "not finite" in rule.codes(array)[1].reason


def test_graded_scores_that_are_all_right_or_wrong_become_binary(table) -> None:
    data = read_responses(table("model,q1,q2\nant,1,\nowl,0,1.0\n"), scores="graded")
    assert data.values.dtype == np.int8
    assert data.values.tolist() == [[1, 0], [-1, 1]]


def test_graded_scores_are_single_precision_with_nan_for_missing(table) -> None:
    data = read_responses(table("model,q1,q2\nant,0.1,\nowl,0,-3\n"), scores="graded")
    assert data.values.dtype == np.float32
    assert np.array_equal(data.values, np.float32([[0.1, 0], [np.nan, -3]]), equal_nan=True)
    assert not data.values.flags.writeable


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scores": "halves"}, "scores must be 'binary' or 'graded', got 'halves'"),
        ({"threshold": float("nan")}, "threshold must be a finite number, got nan"),
        ({"scores": "graded", "threshold": 0.5}, "cannot stay graded"),
    ],
)
def test_options_are_checked(options: dict, message: str) -> None:
    with pytest.raises(DataError, match=message):
        score_rule(**({"scores": "binary", "threshold": None} | options))


def test_the_way_out_is_named(table) -> None:
    with pytest.raises(DataError, match=r"scores='graded' \(--scores graded\).*--threshold 0\.5"):
        read_responses(table("model,q1\nant,2\n"))
