"""`neartie simulate`: files that read back, the truth beside them, errors in the user's words."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from neartie.cli.app import main
from neartie.data.read import read_responses
from neartie.data.simulate import simulate_leaderboard

SMALL = ["--items", "60", "--models", "40", "--owners", "15", "--unclassified", "3"]
SMALL += ["--sources", "4"]
FILES = ["items.csv", "models.csv", "responses.csv.gz"]
FILES += ["summary.json", "truth_items.csv", "truth_models.csv"]


@pytest.fixture
def run(tmp_path, capsys):
    def run_in_new_folder(*more, name="board"):
        status = main(["simulate", "--out", str(tmp_path / name), *SMALL, *more])
        captured = capsys.readouterr()
        return status, captured.out, captured.err, tmp_path / name

    return run_in_new_folder


def read(folder):
    return read_responses(
        folder / "responses.csv.gz", items=folder / "items.csv", models=folder / "models.csv"
    )


def test_files_read_back_as_what_the_function_gives(run):
    status, _, _, folder = run("--seed", "9", "--missing", "0.1")
    board = simulate_leaderboard(
        n_items=60,
        n_models=40,
        n_owners=15,
        n_unclassified=3,
        n_sources=4,
        missing=0.1,
        rng=9,
    )
    assert status == 0
    assert sorted(path.name for path in folder.iterdir()) == FILES
    back = read(folder)
    np.testing.assert_array_equal(back.values, board.responses.values)
    assert back.items.equals(board.responses.items)
    assert back.models.equals(board.responses.models)
    truth = pd.read_csv(folder / "truth_items.csv")
    np.testing.assert_array_equal(truth["easiness"], board.truth.easiness)
    np.testing.assert_array_equal(truth["dif_Qwen"], board.truth.dif[:, 0])
    assert truth["item"].tolist() == board.responses.item_ids
    models = pd.read_csv(folder / "truth_models.csv")
    np.testing.assert_array_equal(models["ability_3"], board.truth.abilities[:, 2])


def test_summary_holds_settings_seed_and_sizes(run):
    _, _, _, folder = run("--dif-share", "0.5", "--direction", "Gemma")
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["n_items"] == 60
    assert summary["n_planted"] == 30
    assert summary["seed"] == 0
    assert summary["settings"]["direction"] == "Gemma"
    assert sum(summary["families"].values()) == summary["n_models"] == 40
    assert summary["warnings"] == []
    assert set(summary["versions"]) == {"neartie", "numpy"}


def test_same_seed_same_bytes(run):
    _, _, _, one = run("--seed", "4", name="one")
    _, _, _, two = run("--seed", "4", name="two")
    _, _, _, other = run("--seed", "5", name="other")
    for name in FILES:
        assert (one / name).read_bytes() == (two / name).read_bytes()
    packed = [(folder / "responses.csv.gz").read_bytes() for folder in (one, other)]
    assert packed[0] != packed[1]


def test_the_command_that_it_names_runs(run, capsys):
    _, text, _, folder = run("--items", "200", "--models", "160", "--owners", "60")
    words = shlex.split(text.splitlines()[-1].removeprefix("next: neartie "))
    assert main([*words, "--controls", "50", "--bootstraps", "50"]) == 0
    assert (folder / "audit" / "summary.json").exists()
    capsys.readouterr()


def test_with_gaps_it_names_the_command_that_shows_them(run, capsys):
    _, text, _, _ = run("--missing", "0.2", name="with gaps")
    words = shlex.split(text.splitlines()[-1].removeprefix("next: neartie "))
    assert words[0] == "describe"
    assert main(words) == 0
    capsys.readouterr()


def test_families_by_number_and_by_name(run):
    _, text, _, _ = run("--families", "2")
    assert "(Qwen, Llama)" in text
    _, text, _, _ = run("--families", "Phi, Mistral/Mixtral")
    assert "(Phi, Mistral/Mixtral)" in text


def test_without_effects_it_says_so(run):
    _, text, _, folder = run("--dif-effect", "0")
    assert "no family effects" in text
    assert not pd.read_csv(folder / "truth_items.csv")["dif_range"].any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--owners", "38"], "--models must be at least --owners plus --unclassified"),
        (["--families", "Yi"], "a family must be one of Qwen, Llama"),
        (["--families", "9"], "--families must lie in 1..5, got 9"),
        (["--dif-share", "2"], "--dif-share must lie in [0, 1], got 2.0"),
        (["--direction", "up"], "--direction must be 'random', 'shared' or a family"),
        (["--items", "100000000", "--models", "100000"], "leaderboard of 100,000,000 items x"),
        (["--missing", "1"], "--missing must lie in [0, 1), got 1.0"),
    ],
)
def test_impossible_settings_leave_nothing_behind(run, options, message):
    status, _, error, folder = run(*options)
    assert status == 2
    assert message in error
    assert "Traceback" not in error
    assert not folder.exists()


def test_a_folder_is_asked_for(capsys):
    assert main(["simulate"]) == 2
    assert "--out" in capsys.readouterr().err
