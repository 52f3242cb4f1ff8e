"""Right values of the cases from public reports that concern reading (shared cases/README.md)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from neartie.data.errors import DataError
from neartie.data.read import read_responses
from neartie.data.responses import Responses
from neartie.data.summary import describe


def accuracies(data: Responses) -> dict[str, float]:
    return dict(zip(data.model_ids, data.accuracy()["accuracy"], strict=True))


def test_c04_constant_items_are_kept_and_named(case_dir: Path) -> None:
    data = read_responses(case_dir / "C04" / "responses.csv")
    constant = describe(data).constant_items
    assert dict(zip(constant["item"], constant["score"], strict=True)) == {"q09": 1, "q10": 0}
    assert [accuracies(data)[m] for m in ("m01", "m02", "m03")] == [0.8, 0.8, 0.7]


def test_c05_a_model_without_answers_stays(case_dir: Path) -> None:
    data = read_responses(case_dir / "C05" / "responses.csv")
    means = data.accuracy().set_index("model")
    assert data.n_model == 12
    assert means["n"]["m05"] == 0
    assert np.isnan(means["accuracy"]["m05"])
    assert [means["accuracy"][m] for m in ("m06", "low", "top")] == [0.375, 0, 1]
    assert describe(data).models_without_answers == ("m05",)


def test_c08_half_points_are_refused_and_never_rounded(case_dir: Path) -> None:
    path = case_dir / "C08" / "graded.csv"
    with pytest.raises(DataError, match=r"graded\.csv, row 3, column 'p1'.*score 0\.5 is neither"):
        read_responses(path)
    graded = accuracies(read_responses(path, scores="graded"))
    assert graded == pytest.approx({"a": 0.6, "b": 0.4, "c": 0.8, "d": 0.2}, abs=1e-12)
    right = read_responses(path, threshold=0.5)
    assert right.is_binary
    assert accuracies(right) == pytest.approx({"a": 0.8, "b": 0.6, "c": 1.0, "d": 0.4})


def test_c10_order_changes_nothing(case_dir: Path) -> None:
    first, second = (read_responses(case_dir / "C10" / f"{n}.csv") for n in ("ordered", "shuffled"))
    assert first.item_ids == second.item_ids
    assert first.model_ids == second.model_ids
    assert np.array_equal(first.values, second.values)


def test_c38_the_constant_item_is_named(case_dir: Path) -> None:
    summary = describe(read_responses(case_dir / "C38" / "responses.csv"))
    assert summary.constant_items["item"].tolist() == ["w4"]
    assert "1 item all right: w4" in str(summary)


@pytest.mark.parametrize("name", ["bom.csv", "quoted.csv"])
def test_c70_a_byte_order_mark_does_not_stick(case_dir: Path, name: str) -> None:
    data = read_responses(case_dir / "C70" / name)
    assert data.item_ids == ["q1", "q2"]
    assert accuracies(data) == {"a": 1.0, "b": 0.5, "c": 0.0}


def test_c71_semicolons_and_decimal_commas(case_dir: Path) -> None:
    path = case_dir / "C71" / "semikolon.csv"
    data = read_responses(path, scores="graded")
    assert data.item_ids == ["p1", "p2"]
    assert accuracies(data) == {"eins": 0.75, "zwei": 0.25}
    with pytest.raises(DataError, match="score 0,5 is neither 0 nor 1"):
        read_responses(path)


def test_c73_ids_stay_text(case_dir: Path) -> None:
    data = read_responses(case_dir / "C73" / "long.csv", items=case_dir / "C73" / "items.csv")
    assert data.item_ids == ["007", "7", "1E3", "1000", "12.0"]
    assert data.items["source"].tolist() == ["easy", "hard", "easy", "hard", "easy"]
    assert data.model_ids == ["0123", "beta"]
    assert data.values.T.tolist() == [[1, 0, 1, 1, 0], [0, 1, 1, 0, 1]]


def test_c74_exact_repeats_are_dropped_with_a_count(case_dir: Path) -> None:
    data = read_responses(case_dir / "C74" / "same.csv")
    assert accuracies(data)["fox"] == pytest.approx(2 / 3)
    assert [notice for notice in data.notices if "dropped 1 repeated answer" in notice]


def test_c74_contradictions_stop_or_follow_a_rule(case_dir: Path) -> None:
    path = case_dir / "C74" / "conflict.csv"
    with pytest.raises(DataError, match=r"conflict\.csv: different.*model 'fox' on item 'q2'"):
        read_responses(path)
    assert accuracies(read_responses(path, repeats="first"))["fox"] == pytest.approx(2 / 3)
    assert accuracies(read_responses(path, repeats="last"))["fox"] == pytest.approx(1 / 3)
    mean = read_responses(path, repeats="mean", scores="graded")
    assert not mean.is_binary
    assert mean.values[mean.item_ids.index("q2"), mean.model_ids.index("fox")] == 0.5


def test_c74_two_rows_of_one_model_are_refused(case_dir: Path) -> None:
    with pytest.raises(DataError, match="row 4: 'fox' stands in row 2 already"):
        read_responses(case_dir / "C74" / "wide_dup.csv")


def test_c76_truth_values(case_dir: Path) -> None:
    data = read_responses(case_dir / "C76" / "mixed.csv")
    assert accuracies(data) == {"doe": 0.4, "roe": 0.6}
    with pytest.raises(DataError, match=r"bad\.csv, row 2, column 'q2'.*'maybe' is not a score"):
        read_responses(case_dir / "C76" / "bad.csv")


@pytest.mark.parametrize(
    ("name", "shape", "n_missing"),
    [
        ("open_llm_v1", (1075, 1270), 0),
        ("swebench_verified", (500, 158), 6),
        ("mmlu_redux_helm", (3800, 20), 13_296),
        ("gsm8k_zeroeval", (1319, 42), 0),
        ("lsat6", (5, 1000), 0),
        ("verbal_aggression", (24, 316), 0),
    ],
)
def test_real_matrices(data_dir: Path, name: str, shape: tuple[int, int], n_missing: int) -> None:
    folder = data_dir / name
    data = read_responses(
        folder / "responses.csv.gz", items=folder / "items.csv", models=folder / "models.csv"
    )
    assert data.values.shape == shape
    assert data.n_missing == n_missing
    assert len(str(describe(data)).splitlines()) <= 24
