"""`neartie fit mirt-dif --engine map`: files, ranks and refusals, as a user meets them."""

import json

import numpy as np
import pandas as pd
import pytest

from neartie.cli.app import main
from neartie.data.read import read_responses
from neartie.inference.mirt_dif_map import fit_mirt_dif_map


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    """An invented leaderboard of 30 items and 24 models in three families."""
    folder = tmp_path_factory.mktemp("board")
    arguments = ["--items", "30", "--models", "24", "--owners", "12", "--families", "3"]
    arguments += ["--unclassified", "0", "--sources", "3", "--missing", "0.1", "--seed", "4"]
    assert main(["simulate", "--out", str(folder), *arguments]) == 0
    return folder


def fit(board, out, *options):
    place = [str(board / "responses.csv.gz"), "--models", str(board / "models.csv")]
    return main(["fit", "mirt-dif", *place, "--engine", "map", *options, "--out", str(out)])


@pytest.fixture(scope="module")
def mode(board, tmp_path_factory):
    out = tmp_path_factory.mktemp("mode") / "out"
    assert fit(board, out, "-k", "2") == 0
    return out


def test_files_hold_what_the_library_gives(board, mode):
    names = {"models", "items", "dif", "parameters", "covariance"}
    expected = {"summary.json", "report.html", *(f"{name}.csv" for name in names)}
    assert {path.name for path in mode.iterdir()} == expected
    data = read_responses(board / "responses.csv.gz", models=board / "models.csv")
    found = fit_mirt_dif_map(data, dimension=2)
    models = pd.read_csv(mode / "models.csv")
    assert list(models) == [
        *("model", "n", "accuracy", "expected_score", "se", "low", "high", "se_items_known"),
        "flag",
    ]
    np.testing.assert_array_equal(models["expected_score"], found.expected_score)
    np.testing.assert_array_equal(models["se"], found.se)
    assert (models["se"] > models["se_items_known"]).all()
    covariance = pd.read_csv(mode / "covariance.csv", index_col="model")
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), models["se"])
    dif = pd.read_csv(mode / "dif.csv")
    assert list(dif) == ["item", "family", "effect", "se", "low", "high", "se_abilities_known"]
    np.testing.assert_allclose(dif.groupby("item")["effect"].sum(), 0, atol=1e-9)
    items = pd.read_csv(mode / "items.csv")
    assert {"easiness", "easiness_se", "easiness_low", "dif_range", "flag"} <= set(items)
    summary = json.loads((mode / "summary.json").read_text())
    assert (summary["kind"], summary["engine"], summary["converged"]) == ("mirt-dif", "map", "yes")
    assert summary["settings"]["dimension"] == 2
    assert summary["settings"]["scales_from"] == "answers"
    scales = pd.read_csv(mode / "parameters.csv").set_index("parameter")["estimate"]
    assert scales.to_dict() == pytest.approx(found.scales.to_dict())


def test_the_same_call_writes_the_same_bytes(board, mode, tmp_path):
    again = tmp_path / "again"
    assert fit(board, again, "-k", "2") == 0
    for path in mode.iterdir():
        assert path.read_bytes() == (again / path.name).read_bytes()


def test_it_is_shown_and_can_be_ranked(board, tmp_path, capsys):
    out = tmp_path / "out"
    options = ["-k", "1", "--scales", "prior", "--zero-sum", "families_and_items"]
    assert fit(board, out, *options) == 0
    shown = capsys.readouterr().out
    assert "engine map" in shown
    assert "items known" in shown
    assert "dif scale (parameter)" in shown
    effects = pd.read_csv(out / "dif.csv").groupby("family")["effect"].sum()
    np.testing.assert_allclose(effects, 0, atol=1e-9)
    assert "standard error. Picked from many" in (out / "report.html").read_text()
    assert main(["rank", str(out), "--out", str(tmp_path / "ranks")]) == 0
    ranks = pd.read_csv(tmp_path / "ranks" / "ranks.csv")
    models = pd.read_csv(out / "models.csv").sort_values("expected_score", ascending=False)
    assert ranks["model"].tolist() == models["model"].tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sparse"], "--sparse needs a posterior; map gives estimates without it"),
        (["--family-means"], "--family-means needs a posterior"),
        (["--log-likelihood"], "--log-likelihood needs a posterior"),
        (["--engine", "nuts", "--scales", "prior"], "--scales is for the engine map"),
    ],
)
def test_options_that_do_not_apply_are_refused(board, options, message, tmp_path, capsys):
    out = tmp_path / "out"
    assert fit(board, out, "-k", "1", *options) == 2
    assert message in " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert not out.exists()
