"""`neartie validate`: files, claims, resuming and refusals, as a user meets them."""

import json

import pandas as pd
import pytest

from neartie.cli import validate_run
from neartie.cli.app import main

FILES = {
    "summary.json",
    "quantities.csv",
    "coverage.csv",
    "ranks.csv",
    "orders.csv",
    "positions.csv",
    "data_sets.csv",
    "data_sets.jsonl",
    "seconds.csv",
    "report.html",
}
VARYING = {"data_sets.jsonl", "seconds.csv"}
BATTLES = ["validate", "bradley-terry", "--models", "6", "--battles", "300", "--engine", "newton"]
SHORT = ["--draws", "100", "--tune", "20", "--chains", "1", "--thin", "1", "--replicates", "3"]


@pytest.fixture(scope="module")
def validated(tmp_path_factory):
    out = tmp_path_factory.mktemp("validate") / "out"
    assert main([*BATTLES, "--replicates", "30", "--seed", "2", "--out", str(out)]) == 0
    return out


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    place = tmp_path_factory.mktemp("answers") / "answers.csv"
    table = pd.DataFrame(
        {"item": ["q1", "q2", "q3"], "a/phi-1": [1, 0, 1], "b/qwen-1": [0, 1, 1]}
        | {"a/phi-2": [1, 1, 0], "b/qwen-2": [1, None, 0]}
    )
    table.to_csv(place, index=False)
    return place


def test_all_files_are_written_and_say_the_same(validated, capsys):
    assert {path.name for path in validated.iterdir()} == FILES
    summary = json.loads((validated / "summary.json").read_text())
    coverage = pd.read_csv(validated / "coverage.csv")
    row = coverage.query("quantity == 'strength' and level == .95").iloc[0]
    assert (
        f"held {100 * row['covered']:.1f} ± {100 * row['se']:.1f}% of truths in 30"
        in (summary["claim"])
    )
    assert summary["design"]["sizes"] == {"models": 6, "battles": 300}
    page = (validated / "report.html").read_text()
    assert summary["claim"] in page
    assert "seconds" not in page
    assert "<script" not in page


def test_the_same_command_goes_on_and_writes_the_same_bytes(validated, tmp_path, capsys):
    few = [*BATTLES, "--replicates", "12", "--seed", "2", "--out", str(tmp_path / "out")]
    assert main(few) == 0
    store = tmp_path / "out" / "data_sets.jsonl"
    store.write_text("".join(store.read_text().splitlines(keepends=True)[:6]))
    capsys.readouterr()
    more = ["--replicates", "30", "--seed", "2", "--out", str(tmp_path / "out")]
    assert main([*BATTLES, *more]) == 0
    captured = capsys.readouterr()
    assert "going on from there" in captured.err
    assert captured.out.startswith("95% intervals of strengths held ")
    for name in FILES - VARYING:
        assert (tmp_path / "out" / name).read_bytes() == (validated / name).read_bytes(), name


def test_another_design_is_refused_and_leaves_the_folder(validated, capsys):
    before = {path.name: path.read_bytes() for path in validated.iterdir()}
    arguments = ["--replicates", "30", "--seed", "3", "--out", str(validated)]
    assert main([*BATTLES, *arguments]) == 2
    said = capsys.readouterr().err
    assert "belongs to a validation that differs in seed; name another folder" in said
    assert "going on from there" not in said
    assert {path.name: path.read_bytes() for path in validated.iterdir()} == before


def test_the_design_of_data_is_copied(answers, tmp_path, capsys):
    out = tmp_path / "out"
    common = ["--like", str(answers), *SHORT, "--out", str(out), "--json"]
    assert main(["validate", "mirt-dif", *common, "--dimension", "1"]) == 0
    summary = json.loads(capsys.readouterr().out)
    sizes = {"items": 3, "models": 4, "families": 2, "missing answers": 1}
    assert summary["design"]["sizes"] == sizes
    assert "Validation of gibbs for answers" in (out / "report.html").read_text()


def test_priors_of_fit_and_truths_are_taken(tmp_path, capsys):
    out = tmp_path / "out"
    sizes = ["--items", "6", "--models", "5", "--prior", "ability_sd=2", "--truth", "ability_sd=3"]
    assert main(["validate", "two-pl", *sizes, *SHORT, "--out", str(out)]) == 0
    assert "Truths came from other priors" in capsys.readouterr().out
    summary = json.loads((out / "summary.json").read_text())
    assert summary["design"]["priors"]["ability_sd"] == 2.0
    assert summary["design"]["truth"] == {"ability_sd": 3.0}
    assert not summary["matched"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["two-pl", "--models", "1"], "the number of models must be at least 2, got 1"),
        (["two-pl", "--prior", "ability_sd"], "--prior takes NAME=VALUE with a number"),
        (["two-pl", "--prior", "sd=1"], "--prior: two-pl has no hyperparameter 'sd'"),
        (["two-pl", "--prior", "ability_sd=-1"], "--prior: ability_sd must be positive"),
        (["mirt-dif", "--prior", "dif_share=.2"], "dif_share and dif_effect are for --truth"),
        (
            ["two-pl", "--truth", "dif_share=.2"],
            "--truth: two-pl has no hyperparameter 'dif_share'",
        ),
        (["mirt-dif", "--truth", "dif_share=.2"], "--truth: planted effects need both dif_share"),
        (["two-pl", "--truth", "ability_sd=-1"], "--truth: ability_sd must be positive"),
        (["two-pl", "--truth", "truth.csv"], "--truth takes NAME=VALUE with a number"),
        (["two-pl", "--model-table", "x.csv"], "--item-table and --model-table go with --like"),
        (["residual-dif"], "easiness is flat"),
        (["two-pl", "--engine", "laplace", "--thin", "3"], "--thin is for the engines gibbs"),
        (["two-pl", "--engine", "map", "--hierarchical"], "map does not know the option"),
        (["bradley-terry", "--engine", "mm", "--first-shown"], "engine mm takes ties as half wins"),
        (["bradley-terry", "--battles", "0"], "the number of battles must be at least 1"),
        (
            ["mirt-dif", "--dimension", "50", "--items", "10", "--models", "10"],
            "--dimension is 50, which takes at least 50 items and 51 models; this design has 10",
        ),
        (["mirt-dif", "--dimension", "5", "--models", "5"], "at least 5 items and 6 models"),
        (["residual-dif", "--dimension", "9", "--items", "8"], "at least 9 items and 10 models"),
        (["mirt-dif", "--families", "1"], "--families must be at least 2, got 1: family effects"),
        (["two-pl", "--family-means", "--families", "0"], "--families must be at least 2, got 0"),
        (["two-pl", "--families", "3"], "--families is for family effects and family means"),
        (["bradley-terry", "--judges", "3"], "--judges is for judge effects; this model has none"),
        (
            ["two-pl", "--items", "100000000", "--models", "100000"],
            "a design of 100,000,000 items and 100,000 models needs 400,000,000 MB of memory",
        ),
        (["bradley-terry", "--battles", "1000000000000"], "battles of 30 models needs"),
        (["bradley-terry", "--like", "none.csv"], "none.csv"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(arguments, message, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["validate", *arguments, "--out", str(out)]) == 2
    said = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert message in said
    assert "Traceback" not in said
    assert not out.exists()


def test_all_that_differs_is_named(validated, capsys):
    sizes = ["bradley-terry", "--models", "7", "--battles", "300", "--engine", "newton"]
    common = ["--replicates", "30", "--seed", "2", "--out", str(validated)]
    assert main(["validate", *sizes, *common]) == 2
    assert "that differs in sizes and shape; name another" in capsys.readouterr().err


def test_two_data_sets_are_not_judged(tmp_path, capsys):
    assert main([*BATTLES, "--replicates", "2", "--out", str(tmp_path), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["verdict"].startswith("2 data sets are too few to judge by")
    assert (summary["enough"], summary["calibrated"]) == (False, None)
    table = pd.read_csv(tmp_path / "coverage.csv")
    assert not (table[["se", "width_se"]] == 0).any(axis=None)
    assert (table["low"] < 0.2).all()


def test_sizes_do_not_go_with_data(answers, tmp_path, capsys):
    arguments = ["--like", str(answers), "--items", "5", "--out", str(tmp_path / "out")]
    assert main(["validate", "two-pl", *arguments]) == 2
    assert "--items is for a design without data" in capsys.readouterr().err


def test_names_of_arguments_are_those_of_options():
    said = validate_run._in_options("n_data_sets must be at least 2, got 1")
    assert said == "--replicates must be at least 2, got 1"


@pytest.mark.slow
def test_workers_of_this_machine_change_no_file(validated, tmp_path):
    pytest.importorskip("distributed")
    arguments = ["--replicates", "30", "--seed", "2", "--out", str(tmp_path / "out")]
    assert main([*BATTLES, *arguments, "--dask", "local"]) == 0
    for name in FILES - VARYING:
        assert (tmp_path / "out" / name).read_bytes() == (validated / name).read_bytes(), name
