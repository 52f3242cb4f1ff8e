"""`neartie compare --simulate`: files, going on after a stop, copies of data, wrong options."""

import json
from contextlib import redirect_stdout
from io import StringIO
from shutil import copytree

import pandas as pd
import pytest

from neartie.audits import compare_simulated
from neartie.cli.app import main
from neartie.cli.compare_boards import invented_boards
from neartie.cli.compare_options import World
from neartie.data.errors import DataError
from neartie.data.export import write_responses
from neartie.data.simulate import simulate_leaderboard

QUICK = ["--draws", "20", "--subtests", "10", "--controls", "20", "--bootstraps", "0"]
QUICK += ["--alpha", "0.5", "--min-family-size", "5", "--rungs", "residual"]
DESIGN = "items=120,models=60,owners=30,families=3,dimensions=1,sources=2,unclassified=0"
RECOVERY = ["rung", "anchors", "scores", "bias", "rmse", "coverage", "interval_width"]


def run(out, *options, n=2):
    arguments = ["compare", "--simulate", str(n), "--design", DESIGN, "--k", "1", *QUICK]
    return main([*arguments, "--seed", "4", "--out", str(out), *options])


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The folder of a run that was not stopped, and what it printed."""
    out = tmp_path_factory.mktemp("done") / "out"
    with redirect_stdout(StringIO()) as shown:
        assert run(out) == 0
    return out, shown.getvalue()


def test_files_are_those_of_the_contract(done):
    out, _ = done
    written = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert {"recovery.csv", "anchors.csv", "replicates.csv", "failed.csv"} <= written
    assert {"summary.json", "report.html", "tables/recovery.tex", "data_sets.jsonl"} <= written
    recovery = pd.read_csv(out / "recovery.csv")
    assert list(recovery)[:8] == [*RECOVERY, "n_replicates"]
    assert (recovery["n_replicates"] == 2).all()
    assert list(recovery["rung"].unique()) == ["plug-in", "residual"]
    assert pd.read_csv(out / "replicates.csv")["replicate"].unique().tolist() == [0, 1]
    assert list(pd.read_csv(out / "failed.csv")) == ["replicate", "reason"]


def test_the_terminal_shows_a_row_a_rung_and_the_claim(done):
    out, shown = done
    text = shown.split("\nReport:")[0]
    assert max(map(len, text.splitlines())) <= 80
    summary = json.loads((out / "summary.json").read_text())
    assert " ".join(summary["claim"].split()) in " ".join(text.split())
    assert summary["claim"].startswith("residual, draws × latent: over 2 leaderboards its rate")
    assert summary["boards"]["design"]["n_items"] == 120
    row = pd.read_csv(out / "recovery.csv").set_index(["rung", "anchors", "scores"])
    bias = 100 * row.loc[("residual", "draws", "latent"), "bias"]
    assert f"{abs(bias):.1f} points {'above' if bias > 0 else 'below'}" in summary["claim"]


def test_few_leaderboards_and_many_dimensions_are_caveats(tmp_path, capsys):
    assert run(tmp_path, "--k", "12", "--json", n=1) == 0
    warnings = json.loads(capsys.readouterr().out)["warnings"]
    assert warnings[0].startswith("1 leaderboard is too few to judge by")
    assert "a quarter of the models of a half in 1 of 1 leaderboard:" in warnings[1]


def test_a_stopped_run_goes_on_to_the_same_numbers(done, tmp_path, monkeypatch, capsys):
    record = compare_simulated.record_board

    def interrupted(task, number):
        if number == 1:
            raise KeyboardInterrupt
        return record(task, number)

    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(compare_simulated, "record_board", interrupted)
        assert run(out) == 130
    assert [path.name for path in out.iterdir()] == ["data_sets.jsonl"]

    def only_the_second(task, number):
        assert number == 1  # what is finished is not made again
        return record(task, number)

    monkeypatch.setattr(compare_simulated, "record_board", only_the_second)
    assert run(out) == 0
    assert f"found {out / 'data_sets.jsonl'}: going on from there" in capsys.readouterr().err
    for name in ("recovery.csv", "anchors.csv", "summary.json", "report.html"):
        assert (out / name).read_bytes() == (done[0] / name).read_bytes(), name


@pytest.mark.parametrize(
    ("options", "differs"),
    [
        (["--seed", "5"], "differs in seed"),
        (["--draws", "40"], "differs in draws"),
        (["--design", DESIGN.replace("items=120", "items=121")], "differs in n_items"),
        (["--world", "model", "--design", "models=40,owners=20"], "differs in model"),
    ],
)
def test_a_folder_of_another_simulation_is_refused(done, tmp_path, capsys, options, differs):
    out = copytree(done[0], tmp_path / "out")
    assert run(out, *options) == 2
    assert f"belongs to a simulation that {differs};" in capsys.readouterr().err


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    folder = tmp_path_factory.mktemp("board")
    made = simulate_leaderboard(
        n_items=120, n_models=60, n_owners=30, families=3, n_dimensions=1, n_sources=2,
        n_unclassified=0, rng=5,
    )  # fmt: skip
    write_responses(made.responses, folder)
    tables = ["--items", str(folder / "items.csv"), "--models", str(folder / "models.csv")]
    return [str(folder / "responses.csv.gz"), *tables]


def test_copies_of_data_have_their_sizes_and_no_effects_if_asked(board, tmp_path, capsys):
    out = tmp_path / "out"
    arguments = ["compare", *board, *QUICK, "--simulate", "1", "--dif-factor", "0", "--json"]
    assert main([*arguments, "--k", "1", "--out", str(out)]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary == json.loads((out / "summary.json").read_text())
    boards = summary["boards"]
    assert (boards["n_items"], boards["dimension"], boards["dif_factor"]) == (120, 1, 0)
    assert "without family effects" in (out / "report.html").read_text(encoding="utf-8")
    # without effects no anchors are better than others
    assert pd.read_csv(out / "anchors.csv")["gain"].isna().all()
    # the other way round: a comparison does not write over simulations
    assert main(["compare", *board, *QUICK, "--k", "1", "--out", str(out)]) == 2
    assert f"{out} holds simulations; name another folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--k 4, which fixes that of the audits, too, or --dimension 4, which leaves it"),
        (["--k", "1,2"], "give --dimension one number, such as --dimension 2"),
        (["--design", "items=80"], "--design is for invented leaderboards: with RESPONSES"),
        (["--world", "model"], "--world is for invented leaderboards: with RESPONSES"),
    ],
)
def test_wrong_options_with_data_are_named(board, tmp_path, capsys, options, message):
    out = tmp_path / "out"
    arguments = ["compare", *board, *QUICK, "--simulate", "1", "--out", str(out)]
    assert main([*arguments, *options]) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "RESPONSES is missing: name a table of answers, or give --simulate N"),
        (["--design", "items=80"], "--design goes with --simulate N"),
        (["--dask", "local"], "--dask goes with --simulate N"),
        (["--simulate", "1", "--dif-factor", "0"], "fitted to RESPONSES, which is missing"),
        (["--simulate", "1", "--models", "m.csv"], "--models is for RESPONSES, which is missing"),
        (["--simulate", "1", "--threshold", "1"], "--threshold is for RESPONSES"),
        (["--simulate", "1", "--design", "itms=80"], "--design: there is no 'itms'; there are"),
        (["--simulate", "1", "--rungs", "ful"], "--rungs must be among plug-in"),
    ],
)
def test_wrong_options_without_data_are_named(tmp_path, capsys, options, message):
    out = tmp_path / "out"
    assert main(["compare", *options, "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said
    assert not out.exists()


def test_a_folder_of_a_comparison_is_refused(tmp_path, capsys):
    (tmp_path / "ladder.csv").write_text("rung\n")
    assert run(tmp_path) == 2
    assert f"{tmp_path} holds a comparison; name another folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("world", "text", "message"),
    [
        (World.leaderboard, "items=x", "items takes a whole number, got 'x'"),
        (World.leaderboard, "impact=", "impact takes a number, got ''"),
        (World.leaderboard, "items", "takes NAME=VALUE after commas"),
        (World.leaderboard, "n_items=3,items=4", "items is given twice"),
        (World.leaderboard, "items=0", "items must be at least 1, got 0"),
        (World.leaderboard, "families=2.5", "families takes a whole number"),
        (World.leaderboard, "direction=Foo", "direction must be 'random', 'shared' or a family"),
        (World.leaderboard, "families=Foo", "Foo"),
        (World.model, "dif-share=1", "there is no 'dif-share'; there are items, models"),
        (World.model, "owners=500", r"owners must be at most models \(100\), got 500"),
        (World.model, "dif-scale=-1", "dif-scale must be 0 or more, got -1.0"),
        (World.model, "easiness-mean=inf", "easiness-mean must be finite, got inf"),
        (World.model, "families=1", "families must be at least 2, got 1"),
    ],
)
def test_parts_of_a_design_that_cannot_be_are_named(world, text, message):
    with pytest.raises(DataError, match=rf"--design: .*{message}"):
        invented_boards(world, text)


def test_names_of_a_design_are_those_of_simulate():
    boards = invented_boards(World.leaderboard, "items=80, families=Qwen, Llama,dif_share=.5")
    expected = {"n_items": 80, "families": ["Qwen", "Llama"], "dif_share": 0.5}
    assert dict(boards.design) == expected
    model = invented_boards(World.model, "dimensions=3,Items=90,dif-scale=1")
    assert (model.dimension, model.n_items, model.dif_scale) == (3, 90, 1.0)
    assert invented_boards(World.model, None).n_items == 120


def test_a_design_without_near_ties_says_why(tmp_path, capsys):
    small = DESIGN.replace("items=120", "items=60")
    assert run(tmp_path / "out", "--design", small, n=1) == 2
    said = capsys.readouterr().err
    assert "none of 1 simulated leaderboard could be compared" in said
    assert "lies within 0.01 (one answer is 0.0167 here) of each other" in said
    assert "more models or items make more pairs (a lower --min-family-size keeps more" in said
