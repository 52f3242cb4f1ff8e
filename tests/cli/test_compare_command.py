"""`neartie compare` from files to files: what is written, going on after a stop, errors."""

import json
from contextlib import redirect_stdout
from io import StringIO
from shutil import copytree

import pandas as pd
import pytest

from neartie.audits import rungs
from neartie.cli.app import main
from neartie.cli.compare_options import comparison_settings
from neartie.data.simulate import simulate_leaderboard

QUICK = ["--draws", "20", "--subtests", "10", "--controls", "20", "--bootstraps", "0"]
QUICK += ["--alpha", "0.5", "--k", "1", "--min-family-size", "8", "--rungs", "residual"]
LADDER = [
    "rung",
    "anchors",
    "scores",
    "reversal_rate",
    "low",
    "high",
    "difference",
    "difference_low",
    "difference_high",
    "p_within_2pp",
    "excess_pp",
    "excess_low",
    "excess_high",
    "brier",
    "auc",
    "spearman_d",
    "jaccard",
    "seconds",
]


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    folder = tmp_path_factory.mktemp("board")
    made = simulate_leaderboard(n_items=120, n_models=80, n_owners=50, n_sources=2, rng=5)
    data = made.responses
    table = pd.DataFrame(data.values, columns=list(data.model_ids))
    table.insert(0, "item", list(data.item_ids))
    table.to_csv(folder / "responses.csv", index=False)
    data.items.to_csv(folder / "items.csv", index=False)
    data.models.to_csv(folder / "models.csv", index=False)
    return folder


def run(board, out, *options):
    arguments = ["compare", str(board / "responses.csv"), "--items", str(board / "items.csv")]
    arguments += ["--models", str(board / "models.csv"), *QUICK, "--out", str(out)]
    return main([*arguments, *options])


def ladder(out):
    return pd.read_csv(out / "ladder.csv").drop(columns="seconds")


@pytest.fixture(scope="module")
def done(board, tmp_path_factory):
    """The folder of a run that was not stopped, and what it printed."""
    out = tmp_path_factory.mktemp("done") / "out"
    with redirect_stdout(StringIO()) as shown:
        assert run(board, out, "--seed", "4", "--json") == 0
    return out, shown.getvalue()


def test_files_are_those_of_the_contract(done):
    done, _ = done
    written = {str(path.relative_to(done)) for path in done.rglob("*") if path.is_file()}
    tables = ("ladder", "pairs", "pair_probabilities", "calibration", "anchors", "rungs")
    assert {f"{name}.csv" for name in tables} <= written
    assert {"summary.json", "report.html", "methods.txt", "tables/ladder.tex"} <= written
    assert {"rungs/plug-in.rung", "rungs/residual.rung"} <= written
    assert list(pd.read_csv(done / "ladder.csv"))[: len(LADDER)] == LADDER
    pairs = pd.read_csv(done / "pairs.csv")
    assert list(pairs) == ["model_a", "model_b", "half", "gap_full", "plugin_reversed", "residual"]


def test_json_is_the_summary(done):
    out, shown = done
    assert json.loads(shown) == json.loads((out / "summary.json").read_text())


@pytest.fixture(scope="module")
def first(board, tmp_path_factory):
    """The folder of a run that was interrupted in the second half of the residual rung."""
    out = tmp_path_factory.mktemp("first") / "out"
    draw = rungs.DRAWERS["residual"]

    def interrupted(task):
        if task.half.number == 1:
            raise KeyboardInterrupt
        return draw(task)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(rungs.DRAWERS, "residual", interrupted)
        assert run(board, out, "--seed", "4") == 130
    return out


@pytest.fixture
def stopped(first, tmp_path):
    return copytree(first, tmp_path / "out")


def test_a_stopped_run_leaves_finished_rungs_and_goes_on(board, done, stopped, monkeypatch, capsys):
    assert [str(p.relative_to(stopped)) for p in stopped.rglob("*.*")] == ["rungs/plug-in.rung"]
    monkeypatch.delitem(rungs.DRAWERS, "plug-in")  # what is finished is not made again
    assert run(board, stopped, "--seed", "4") == 0
    out, summary = done
    pd.testing.assert_frame_equal(ladder(stopped), ladder(out), check_exact=True)
    for name in ("pairs", "pair_probabilities", "calibration", "anchors"):
        assert (stopped / f"{name}.csv").read_bytes() == (out / f"{name}.csv").read_bytes()
    text, said = capsys.readouterr()
    assert f"found {stopped / 'rungs'} of a run before" in said
    # what is meant for a terminal of 80 columns, up to the line of paths
    assert max(map(len, text.split("\nReport:")[0].splitlines())) <= 80
    shown = json.loads(summary)
    rate = f"{100 * shown['plugin_rate']:.1f}"
    assert [line.split()[1] for line in text.splitlines() if line.startswith("  plug-in")] == [rate]
    assert " ".join(shown["claim"].split()) in " ".join(text.split())


@pytest.mark.parametrize("change", ["cut", "flipped", "other"])
def test_a_damaged_rung_is_refused_by_name(board, stopped, capsys, change):
    path = stopped / "rungs" / "plug-in.rung"
    content = bytearray(path.read_bytes())
    if change == "flipped":
        content[len(content) // 2] ^= 255
    path.write_bytes({"cut": content[:-40], "flipped": content, "other": b"text"}[change])
    assert run(board, stopped, "--seed", "4") == 2
    said = capsys.readouterr().err
    assert f"{path} is damaged; delete it" in said
    assert "Traceback" not in said
    assert not (stopped / "ladder.csv").exists()


def test_a_folder_of_another_comparison_is_refused(board, stopped, capsys):
    assert run(board, stopped, "--seed", "5") == 2
    said = capsys.readouterr().err
    assert "belongs to a comparison with other data, settings or seed" in said
    assert "going on from there" not in said


def test_a_later_rung_of_other_settings_is_refused_before_any_is_made(
    board, done, tmp_path, monkeypatch, capsys
):
    """The plug-in is missing, and what follows it is of other settings: nothing is to be made."""
    out = copytree(done[0], tmp_path / "out")
    (out / "rungs" / "plug-in.rung").unlink()
    monkeypatch.delitem(rungs.DRAWERS, "plug-in")
    assert run(board, out, "--seed", "4", "--draws", "40") == 2
    assert "residual.rung belongs to a comparison with other" in capsys.readouterr().err


@pytest.mark.filterwarnings("default")
def test_many_dimensions_for_few_models_are_warned_of_first_and_in_the_report(
    board, tmp_path, capsys
):
    out = tmp_path / "out"
    assert run(board, out, "--k", "12") == 0
    said, heard = capsys.readouterr()
    assert heard.startswith("warning: K of the audit is 12 for the ")
    assert "K of the audit is 12 for the " in " ".join(said.split())
    assert "K of the audit is 12 for the " in (out / "report.html").read_text()
    summary = json.loads((out / "summary.json").read_text())
    assert any("fewer than 4 models a dimension" in text for text in summary["warnings"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rungs", "residual,ful"], "--rungs must be among plug-in, residual"),
        (["--rungs", "full,full"], "--rungs names a rung twice"),
        (["--rungs", ","], "--rungs takes names after commas"),
        (["--headline", "draws"], "--headline takes anchors and scores, such as draws,latent"),
        (["--headline", "draws,all"], "--headline names anchors (plug-in, draws, mean, inclusion)"),
        (["--margin", "0"], "--margin takes points between 0 and 100, such as 2, got 0"),
        (["--margin", "nan"], "--margin takes points"),
        (["--min-ess", "11"], "--min-ess must lie above 0 and be at most 10, half of --draws"),
        (["--min-ess", "5", "--engine", "nuts"], "--min-ess goes with the engine gibbs"),
        (["--draws", "21"], "--draws (21) must be shared evenly by 2 chains"),
        (["--dimension", "two"], "--dimension takes one whole number, or two for halves 0 and 1"),
        (["--k", "0"], "--k must be at least 1"),
    ],
)
def test_errors_are_sentences(board, tmp_path, capsys, options, message):
    assert run(board, tmp_path / "out", *options) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said
    assert not (tmp_path / "out").exists()


def test_a_leaderboard_without_families_leaves_nothing(board, tmp_path, capsys):
    arguments = ["compare", str(board / "responses.csv"), "--min-family-size", "500"]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_points_become_the_proportion_that_was_meant():
    settings = comparison_settings(
        "full", dimension="2,3", margin=0.7, headline="mean, observed", options={}, draws=20,
        min_ess=None,
    )  # fmt: skip
    assert settings.margin_name == "p_within_0.7pp"
    assert settings.headline == ("mean", "observed")
    assert settings.dimension == (2, 3)


def test_higher_rungs_are_added_to_a_folder_and_change_no_other(board, done, tmp_path, capsys):
    before, _ = done
    out = copytree(before, tmp_path / "out")
    # settings of the new rungs alone, so that those which are there are taken as they are
    more = ["--rungs", "residual,residual-bootstrap,laplace,full", "--offsets", "2", "--tune", "5"]
    assert run(board, out, *more, "--seed", "4") == 0
    for name in ("plug-in", "residual"):
        path = f"rungs/{name}.rung"
        assert (out / path).read_bytes() == (before / path).read_bytes()
    found, old = ladder(out), ladder(before)
    same = found["rung"].isin(["plug-in", "residual"])
    pd.testing.assert_frame_equal(found[same].reset_index(drop=True), old, check_exact=True)
    expected = ["plug-in", "residual", "residual-bootstrap", "laplace", "full"]
    assert list(found["rung"].unique()) == expected
    # with the plug-in's anchors on observed answers every rung is the audit
    own = found[(found["anchors"] == "plug-in") & (found["scores"] == "observed")]
    assert (own["difference"] == 0).all()
    # chains, and the R-hat of a rate, are the full posterior's alone
    drawn = (found["rung"] == "full") & (found["anchors"] == "draws")
    assert found.loc[drawn, "rate_r_hat"].notna().any()
    assert found.loc[found["rung"] != "full", "rate_r_hat"].isna().all()
    text = capsys.readouterr().out
    assert "not converged, so that this may not be claimed yet" in " ".join(text.split())
    said = (out / "methods.txt").read_text(encoding="utf-8")
    assert "2 chains of 5 tuning draws and 10 kept draws" in said
    assert "2 offsets" in said
    assert run(board, out, *more, "--seed", "4", "--draws", "40") == 2
    assert "belongs to a comparison with other data, settings" in capsys.readouterr().err


def test_a_sampler_that_is_stopped_in_the_second_half_keeps_the_first(
    board, first, tmp_path, monkeypatch, capsys
):
    more = ["--rungs", "full", "--tune", "5", "--seed", "4"]
    draw, sampled = rungs.DRAWERS["full"], rungs.fit
    stopped, whole = copytree(first, tmp_path / "stopped"), copytree(first, tmp_path / "whole")
    assert run(board, whole, *more) == 0
    assert {path.name for path in (whole / "rungs").iterdir()} == {"plug-in.rung", "full.rung"}

    def interrupted(task):
        if task.half.number == 1:
            raise KeyboardInterrupt
        return draw(task)

    with monkeypatch.context() as patch:
        patch.setitem(rungs.DRAWERS, "full", interrupted)
        assert run(board, stopped, *more) == 130
    assert {path.name for path in (stopped / "rungs").iterdir()} == {"plug-in.rung", "full-0.nc"}
    assert run(board, stopped, *more, "--thin", "3") == 2
    assert "full-0.nc belongs to a comparison with other data, settings" in capsys.readouterr().err

    fits = []

    def counting(*arguments, **others):
        fits.append(others["rng"])
        return sampled(*arguments, **others)

    monkeypatch.setattr(rungs, "fit", counting)
    assert run(board, stopped, *more) == 0
    assert len(fits) == 1  # of the second half alone
    pd.testing.assert_frame_equal(ladder(stopped), ladder(whole), check_exact=True)
    for name in ("pairs", "pair_probabilities", "anchors"):
        assert (stopped / f"{name}.csv").read_bytes() == (whole / f"{name}.csv").read_bytes()
    assert {path.name for path in (stopped / "rungs").iterdir()} == {"plug-in.rung", "full.rung"}
