"""`neartie audit` and `neartie demo` as a user runs them: files, determinism, refusals."""

import json
from pathlib import Path

import pandas as pd
import pytest

from neartie.cli.app import main
from neartie.cli.audit_options import given_dimension
from neartie.data.files import write_csv_atomic
from neartie.data.simulate import simulate_leaderboard

QUICK = ["--controls", "20", "--bootstraps", "20", "--min-family-size", "5", "--k", "2"]
CONTRACT = {
    "population": ["model", "owner", "family", "half", "representative"],
    "items": ["item", "source", "half", "cell", "easiness", "dif_range", "anchor", "weight"],
    "dif": ["item", "half", "family", "effect"],
    "dimension": ["half", "k", "loss", "se", "selected"],
    "scores": ["model", "owner", "family", "half", "full", "anchor"],
    "pairs": ["model_a", "model_b", "half", "gap_full", "gap_anchor", "reversed"],
    "thresholds": [
        "epsilon", "n_band", "n_tied", "n_eligible", "rate", "random_median", "excess_pp",
        "p_value", "range_low", "range_high",
    ],
}  # fmt: skip
KEYS = {
    "n_items", "n_models", "n_representatives", "k", "tau_b", "n_eligible", "reversal_rate",
    "random_median", "excess_pp", "p_value", "all_pairs_rate", "jaccard", "seed", "settings",
    "warnings",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A leaderboard as three files, and the same with rows and columns in another order."""
    place = tmp_path_factory.mktemp("board")
    board = simulate_leaderboard(n_items=200, n_models=80, n_owners=40, rng=11).responses
    table = pd.DataFrame(board.values, columns=board.model_ids)
    table.insert(0, "item", board.item_ids)
    write_csv_atomic(table, place / "responses.csv")
    write_csv_atomic(board.items, place / "items.csv")
    write_csv_atomic(board.models, place / "models.csv")
    columns = ["item", *reversed(board.model_ids)]
    write_csv_atomic(table[columns].iloc[::-1], place / "shuffled.csv")
    write_csv_atomic(board.models.iloc[::-1], place / "models_shuffled.csv")
    return place


def run(folder: Path, out: Path, *options: str, table="responses.csv", models="models.csv") -> int:
    return main(
        [
            "audit", str(folder / table), "--items", str(folder / "items.csv"),
            "--models", str(folder / models), "--out", str(out), "--name", "board", *QUICK,
            *options,
        ]
    )  # fmt: skip


@pytest.fixture(scope="module")
def done(folder, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("out")
    assert run(folder, out, "--seed", "5") == 0
    return out


def test_files_keep_the_contract(done):
    for name, columns in CONTRACT.items():
        table = pd.read_csv(done / f"{name}.csv", dtype={"item": str, "model": str})
        assert set(columns) <= set(table.columns), name
    summary = json.loads((done / "summary.json").read_text())
    assert set(summary) >= KEYS
    assert summary["k"] == [2, 2]
    assert summary["seed"] == 5
    pairs = pd.read_csv(done / "pairs.csv")
    assert len(pairs) == summary["n_eligible"]
    assert pairs["reversed"].mean() == summary["reversal_rate"]
    assert (done / "report.html").read_text().startswith("<!")


def test_the_same_seed_writes_the_same_bytes_whatever_the_order_of_rows(folder, done, tmp_path):
    assert run(
        folder, tmp_path, "--seed", "5", table="shuffled.csv",
        models="models_shuffled.csv",
    ) == 0  # fmt: skip
    files = sorted(p.relative_to(done) for p in done.rglob("*") if p.is_file())
    assert files == sorted(p.relative_to(tmp_path) for p in tmp_path.rglob("*") if p.is_file())
    for file in files:
        assert (done / file).read_bytes() == (tmp_path / file).read_bytes(), file


def test_summary_on_the_terminal_reads_like_a_table(folder, tmp_path, capsys):
    assert run(folder, tmp_path) == 0
    text = capsys.readouterr().out
    assert "Close n" in text
    assert "p_rand" in text
    assert str(tmp_path / "report.html") in text


def test_json_on_request(folder, tmp_path, capsys):
    assert run(folder, tmp_path, "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "summary.json").read_text())


def test_a_table_with_halves_freezes_the_population(folder, done, tmp_path):
    population = pd.read_csv(done / "population.csv", dtype=str)
    write_csv_atomic(population.iloc[::-1], tmp_path / "frozen.csv")
    out = tmp_path / "out"
    assert main(
        [
            "audit", str(folder / "responses.csv"), "--items", str(folder / "items.csv"),
            "--models", str(tmp_path / "frozen.csv"), "--out", str(out), *QUICK, "--seed", "6",
        ]
    ) == 0  # fmt: skip
    for name in ("population", "items", "dif", "scores", "pairs"):
        one = pd.read_csv(done / f"{name}.csv", dtype=str)
        pd.testing.assert_frame_equal(one, pd.read_csv(out / f"{name}.csv", dtype=str))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--k", "many"], "--k takes one whole number, or two for halves 0 and 1"),
        (["--k", "0"], "error: --k must be at least 1, got 0"),
        (["--alpha", "1.5"], "error: --alpha must lie in (0, 1]"),
        (["--alpha", "half"], "error: --alpha: expected a number such as 0.5"),
        (["--alpha", ","], "error: --alpha must name at least one anchor fraction"),
        (["--min-family-size", "500"], "lower --min-family-size"),
    ],
)
def test_bad_options_end_with_a_sentence(folder, tmp_path, capsys, options, message):
    out = tmp_path / "out"
    assert run(folder, out, *options) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error
    assert not out.exists()


def test_an_output_that_is_a_file_is_refused_before_the_work(folder, tmp_path, capsys):
    file = tmp_path / "here"
    file.write_text("mine")
    assert run(folder, file) == 2
    assert "is a file" in capsys.readouterr().err
    assert file.read_text() == "mine"


def test_other_files_in_the_output_folder_stay(folder, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    assert run(folder, tmp_path) == 0
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_demo_ends_by_saying_where_the_report_is(tmp_path, capsys):
    assert main(["demo", "--out", str(tmp_path / "demo")]) == 0
    text = capsys.readouterr().out
    assert "reverse" in text
    assert text.rstrip().splitlines()[-1].startswith(f"Report: {tmp_path / 'demo' / 'report.html'}")
    assert (tmp_path / "demo" / "report.html").exists()


def test_dimensions_as_written():
    assert given_dimension("--k", None) is None
    assert given_dimension("--k", "4, 8") == (4, 8)
