"""`neartie screen` from files to files."""

import json

import numpy as np
import pandas as pd
import pytest

from neartie.cli.app import main
from neartie.cli.screen import read_ids
from neartie.data.errors import DataError
from neartie.data.simulate import simulate_leaderboard


@pytest.fixture
def files(tmp_path):
    rows = [
        ("q1", 0, 0, 0, 1, 1, 1),
        ("q2", 0, 0, 1, 1, 1, 1),
        ("q3", 1, 1, 1, 0, 0, 0),
        ("q4", 0, 0, 0, 0, 1, 1),
        ("q5", 1, 1, 1, 1, 1, 1),
    ]
    names = ["item", *(f"m{m}" for m in range(6))]
    pd.DataFrame(rows, columns=names).to_csv(tmp_path / "responses.csv", index=False)
    items = pd.DataFrame({"item": [row[0] for row in rows], "is_bad": [0, 0, 1, 0, 0]})
    items.to_csv(tmp_path / "items.csv", index=False)
    return tmp_path


def run(files, *options):
    arguments = ["screen", str(files / "responses.csv"), "--items", str(files / "items.csv")]
    return main([*arguments, "--out", str(files / "out"), *options])


def test_files_and_text(files, capsys):
    assert run(files) == 0
    shown = capsys.readouterr().out
    assert "q3" in shown
    assert "Report:" in shown
    table = pd.read_csv(files / "out" / "screen.csv")
    assert table["item"].iloc[0] == "q3"
    assert table["item"].iloc[-1] == "q5"
    assert pd.isna(table["rank"].iloc[-1])
    assert (files / "out" / "report.html").stat().st_size > 1000


def test_json_is_the_summary(files, capsys):
    assert run(files, "--json", "--seed", "4") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown == json.loads((files / "out" / "summary.json").read_text())
    assert shown["seed"] == 4


def test_removed_items_are_screened_without(files, capsys):
    (files / "gone.txt").write_text("q3\n\nq5\n", encoding="utf-8")
    assert run(files, "--without", str(files / "gone.txt")) == 0
    assert pd.read_csv(files / "out" / "screen.csv")["item"].isin(["q1", "q2", "q4"]).all()
    assert run(files, "--remove-worst", "1") == 0
    assert json.loads((files / "out" / "summary.json").read_text())["removed"] == ["q3"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--within", "topic"], "no column 'topic'"),
        (["--without", "nowhere.txt"], "cannot be read as a list of ids"),
    ],
)
def test_errors_are_sentences(files, capsys, options, message):
    assert run(files, *options) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert "Traceback" not in shown
    assert not (files / "out").exists()


def test_tables_of_an_earlier_run_do_not_stay(files):
    assert run(files) == 0
    (files / "out" / "notes.txt").write_text("mine", encoding="utf-8")
    assert (files / "out" / "auc.csv").exists()
    assert main(["screen", str(files / "responses.csv"), "--out", str(files / "out")]) == 0
    left = {path.name for path in (files / "out").iterdir()}
    assert not left & {"auc.csv", "precision.csv"}
    assert "notes.txt" in left


def test_right_wrong_is_asked_of_half_points(case_dir, tmp_path, capsys):
    path = str(case_dir / "C08" / "graded.csv")
    options = ["--rows", "models", "--out", str(tmp_path / "out")]
    assert main(["screen", path, *options]) == 2
    assert "0.5" in capsys.readouterr().err
    assert main(["screen", path, *options, "--scores", "graded"]) == 0
    assert "5 items" in capsys.readouterr().out


@pytest.fixture
def labelled(tmp_path):
    rng = np.random.default_rng(2)
    logit = 1.5 * rng.normal(size=30) + rng.normal(size=(20, 1))
    values = (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(int)
    values[:4] = 1 - values[:4]
    ids = [f"q{i}" for i in range(20)]
    table = pd.DataFrame(values, columns=[f"m{m}" for m in range(30)])
    table.insert(0, "item", ids)
    table.to_csv(tmp_path / "responses.csv", index=False)
    items = pd.DataFrame({"item": ids, "is_bad": [int(i < 4) for i in range(20)]})
    items.to_csv(tmp_path / "items.csv", index=False)
    return tmp_path


@pytest.mark.parametrize(
    "options",
    [
        [
            "subsample",
            "--n-items",
            "12",
            "--n-models",
            "20",
            "--resamples",
            "3",
            "--fewest-bad",
            "2",
        ],
        ["grid", "--item-counts", "8,16", "--model-shares", "0.5,1.1", "--resamples", "2"],
    ],
)
def test_experiments_write_and_go_on(labelled, capsys, options):
    command, *rest = options
    arguments = ["screen-experiment", command, str(labelled / "responses.csv")]
    arguments += ["--items", str(labelled / "items.csv"), "--out", str(labelled / "out"), *rest]
    assert main([*arguments, "--statistics", "signed_isotonic_r2,phi,mi"]) == 0
    first = (labelled / "out" / "statistics.csv").read_text()
    assert "signed_isotonic_r2" in capsys.readouterr().out
    assert main([*arguments, "--statistics", "signed_isotonic_r2,phi,mi"]) == 0
    assert (labelled / "out" / "statistics.csv").read_text() == first
    assert main([*arguments, "--statistics", "phi"]) == 2
    assert "name another folder" in capsys.readouterr().err
    assert main([*arguments, "--statistics", "beauty"]) == 2
    assert "got 'beauty'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model-shares", "nan"], "--model-shares takes positive numbers, got 'nan'"),
        (["--model-shares", "0.5,inf"], "--model-shares takes positive numbers"),
        (["--item-counts", "inf"], "--item-counts takes positive numbers, got 'inf'"),
        (["--item-counts", "8.5"], "--item-counts takes whole numbers, got '8.5'"),
        (["--item-counts", "a"], "--item-counts takes numbers separated by commas"),
    ],
)
def test_sizes_that_are_none_are_refused(labelled, capsys, options, message):
    arguments = ["screen-experiment", "grid", str(labelled / "responses.csv")]
    arguments += ["--items", str(labelled / "items.csv"), "--out", str(labelled / "out")]
    assert main([*arguments, "--resamples", "1", *options]) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert "Traceback" not in shown


def test_sizes_beyond_the_data_are_said_to_be_passed_over(labelled, capsys):
    arguments = ["screen-experiment", "grid", str(labelled / "responses.csv")]
    arguments += ["--items", str(labelled / "items.csv"), "--out", str(labelled / "out")]
    arguments += ["--resamples", "1", "--model-shares", "1", "--item-counts", "8,16,64,128"]
    assert main(arguments) == 0
    assert "Passed over, for want of items: 64, 128" in capsys.readouterr().out


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    place = tmp_path_factory.mktemp("board")
    data = simulate_leaderboard(n_items=120, n_models=80, n_owners=40, rng=11).responses
    values = data.values.copy()
    middle = int(np.abs(values.mean(axis=1) - 0.5).argmin())
    values[middle] = 1 - values[middle]
    table = pd.DataFrame(values, columns=data.model_ids)
    table.insert(0, "item", data.item_ids)
    table.to_csv(place / "responses.csv", index=False)
    data.items.to_csv(place / "items.csv", index=False)
    data.models.to_csv(place / "models.csv", index=False)
    return place, data.item_ids[middle]


@pytest.mark.parametrize("mode", ["report", "drop"])
def test_an_audit_screens_its_items_first(board, tmp_path, capsys, mode):
    place, flipped = board
    arguments = ["audit", str(place / "responses.csv"), "--items", str(place / "items.csv")]
    arguments += ["--models", str(place / "models.csv"), "--k", "2", "--min-family-size", "5"]
    arguments += ["--controls", "10", "--bootstraps", "0", "--screen", mode]
    assert main([*arguments, "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "Half 0: the screen questions" in shown
    screen = pd.read_csv(tmp_path / "screen.csv")
    assert screen.set_index("item").loc[flipped, "signed_isotonic_r2"] < 0
    audited = set(pd.read_csv(tmp_path / "items.csv")["item"])
    assert (flipped in audited) == (mode == "report")
    table = pd.read_csv(tmp_path / "screened_anchors.csv")
    assert table.groupby("half")["n_items"].sum().eq(len(audited)).all()
    warnings = " ".join(json.loads((tmp_path / "summary.json").read_text())["warnings"])
    assert ("because they go against the others" in warnings) == (mode == "drop")


def test_a_file_that_is_no_text_is_refused_as_a_list(tmp_path):
    (tmp_path / "ids").write_bytes(b"\xff\xfe\x00q")
    with pytest.raises(DataError, match="cannot be read as a list of ids"):
        read_ids(tmp_path / "ids")


def test_experiments_read_graded_repeated_and_cut_answers(labelled, capsys):
    table = pd.read_csv(labelled / "responses.csv")
    long = table.melt(id_vars="item", var_name="model", value_name="score")
    long["score"] += np.random.default_rng(1).integers(0, 2, len(long)) / 2
    again = long.head(1).assign(score=lambda row: 1.5 - row["score"])
    pd.concat([long, again]).to_csv(labelled / "long.csv", index=False)
    arguments = ["screen-experiment", "grid", str(labelled / "long.csv")]
    arguments += ["--items", str(labelled / "items.csv"), "--resamples", "2"]
    arguments += ["--item-counts", "12", "--model-shares", "1"]
    assert main([*arguments, "--out", str(labelled / "none"), "--scores", "graded"]) == 2
    capsys.readouterr()
    arguments += ["--repeats", "first"]
    out = ["--out", str(labelled / "graded")]
    assert main([*arguments, *out, "--scores", "graded"]) == 0
    shown = capsys.readouterr().out
    assert "need right/wrong answers and these are graded: acc, f1, smc, kappa" in shown
    assert json.loads((labelled / "graded" / "summary.json").read_text())["left_out"] == [
        "acc", "f1", "smc", "kappa",
    ]  # fmt: skip
    assert main([*arguments, "--out", str(labelled / "cut"), "--threshold", "1"]) == 0
    assert "acc" in capsys.readouterr().out
