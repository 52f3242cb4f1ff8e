"""`neartie content-audit` from benchmarks to sheets, and from labels to tables."""

import json

import numpy as np
import pandas as pd
import pytest

from neartie.audits.content_axes import ContentAxes
from neartie.cli.app import main
from neartie.data.files import write_csv_atomic
from neartie.data.simulate import simulate_leaderboard


@pytest.fixture(scope="module")
def sampled(tmp_path_factory):
    place = tmp_path_factory.mktemp("content")
    for name, seed in (("one", 3), ("two", 4), ("three", 5)):
        board = simulate_leaderboard(
            n_items=120, n_models=60, n_owners=30, families=3, n_sources=2, rng=seed
        ).responses
        table = pd.DataFrame(board.values, columns=board.model_ids)
        table.insert(0, "item", board.item_ids)
        write_csv_atomic(table, place / "in" / name / "responses.csv")
        write_csv_atomic(board.models, place / "in" / name / "models.csv")
        items = board.items.assign(text=[f"What is {item}?" for item in board.item_ids])
        write_csv_atomic(items, place / "in" / name / "items.csv")
    arguments = [str(place / "in"), "--key", str(place / "key.csv"), "--pairs", "5"]
    arguments += ["--k", "2", "--min-family-size", "3", "--out", str(place / "sheets")]
    assert main(["content-audit", "sample", *arguments]) == 0
    return place


def label(sampled, name, *, planted):
    """Labels of an annotator; `planted` says which axis marks every high item."""
    key = pd.read_csv(sampled / "key.csv", dtype=str).set_index("blind_id")
    sheet = pd.read_csv(sampled / "sheets" / "sheet.csv", dtype=str)[["blind_id"]]
    axes = ContentAxes()
    high = (key.loc[sheet["blind_id"], "group"] == "high").to_numpy()
    pair = key.loc[sheet["blind_id"], "pair"].astype(int).to_numpy()
    for position, axis in enumerate(axes.names):
        sheet[axis] = (pair + position) % 2
    if planted:
        sheet[planted] = high.astype(int)
    write_csv_atomic(sheet, sampled / f"{name}.csv")
    return sampled / f"{name}.csv"


def test_sheets_hold_no_label_and_the_key_stands_apart(sampled):
    sheet = pd.read_csv(sampled / "sheets" / "sheet.csv", dtype=str)
    assert len(sheet) == 30
    assert list(sheet.columns[:2]) == ["blind_id", "text"]
    assert {p.name for p in (sampled / "sheets").iterdir()} == {"sheet.csv", "rubric.md"}
    key = pd.read_csv(sampled / "key.csv", dtype=str)
    assert set(key["benchmark"]) == {"one", "two", "three"}
    assert sorted(key["blind_id"]) == sorted(sheet["blind_id"])


def test_a_planted_axis_is_confirmed_and_no_other(sampled, tmp_path, capsys):
    sheets = [label(sampled, name, planted="negation") for name in ("ann", "bob")]
    arguments = [str(sampled / "key.csv"), *map(str, sheets), "--permutations", "50"]
    assert main(["content-audit", "analyse", *arguments, "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "differ from their controls in negation" in shown
    assert max(map(len, shown.splitlines()[:-1])) <= 80
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["axes"] == ["negation"]
    binary = pd.read_csv(tmp_path / "binary.csv")
    row = binary[(binary["axis"] == "negation") & (binary["annotator"] == "ann")].iloc[0]
    assert (row["n_high_only"], row["n_control_only"]) == (15, 0)
    np.testing.assert_allclose(row["p_value"], 2 * 0.5**15)
    page = (tmp_path / "report.html").read_text()
    assert "negation" in page
    assert "<script" not in page


def test_nothing_planted_confirms_nothing(sampled, tmp_path, capsys):
    sheets = [label(sampled, name, planted=None) for name in ("ann", "bob")]
    arguments = [str(sampled / "key.csv"), *map(str, sheets), "--permutations", "50", "--json"]
    assert main(["content-audit", "analyse", *arguments, "--out", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out)["axes"] == []


def test_errors_name_file_row_and_item(sampled, tmp_path, capsys):
    good = label(sampled, "ann", planted=None)
    table = pd.read_csv(good, dtype=str)
    table.loc[2, "wordplay"] = "maybe"
    write_csv_atomic(table, tmp_path / "cat.csv")
    arguments = [str(sampled / "key.csv"), str(good), str(tmp_path / "cat.csv")]
    out = tmp_path / "out"
    assert main(["content-audit", "analyse", *arguments, "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert "cat.csv, row 4" in error
    assert table.loc[2, "blind_id"] in error
    assert not out.exists()


def test_two_sheets_of_one_name_are_refused(sampled, tmp_path, capsys):
    good = label(sampled, "ann", planted=None)
    (tmp_path / "ann.csv").write_bytes(good.read_bytes())
    arguments = [str(sampled / "key.csv"), str(good), str(tmp_path / "ann.csv")]
    out = str(tmp_path / "out")
    assert main(["content-audit", "analyse", *arguments, "--out", out]) == 2
    assert "same name" in capsys.readouterr().err


def test_the_key_is_not_written_among_the_sheets(sampled, tmp_path, capsys):
    out = tmp_path / "sheets"
    arguments = [str(sampled / "in"), "--key", str(out / "key.csv"), "--pairs", "5"]
    arguments += ["--k", "2", "--min-family-size", "3", "--out", str(out)]
    assert main(["content-audit", "sample", *arguments]) == 2
    assert "keep it elsewhere" in capsys.readouterr().err
    assert not out.exists()


def test_reading_options_are_those_of_the_audit(sampled, tmp_path, capsys):
    """Models in rows, scores on another scale, an answer missing: one sheet as if all were well."""
    place = sampled / "in" / "one"
    table = pd.read_csv(place / "responses.csv", dtype=str).set_index("item")
    scores = table.replace({"0": "0.2", "1": "0.8"})
    scores.iloc[3, 2] = ""
    turned = scores.T.rename_axis("id").reset_index()
    write_csv_atomic(turned, tmp_path / "in" / "responses.csv")
    for name in ("items.csv", "models.csv"):
        (tmp_path / "in" / name).write_bytes((place / name).read_bytes())
    common = [str(tmp_path / "in"), "--key", str(tmp_path / "key.csv"), "--pairs", "5"]
    common += ["--k", "2", "--min-family-size", "3", "--out", str(tmp_path / "sheets")]
    common += ["--rows", "models", "--threshold", "0.5"]
    assert main(["content-audit", "sample", *common]) == 2
    assert "--missing drop-items" in capsys.readouterr().err
    assert main(["content-audit", "sample", *common, "--missing", "drop-items"]) == 0
    key = pd.read_csv(tmp_path / "key.csv", dtype=str)
    assert len(key) == 10
    assert table.index[3] not in set(key["item"])
