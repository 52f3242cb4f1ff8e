"""`neartie fit`: files, verdicts and refusals, as a user meets them."""

import json

import numpy as np
import pandas as pd
import pytest

from neartie.cli.app import main

FILES = {"summary.json", "models.csv", "report.html"}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Six models on eight items, with one cell missing and one item that all solve."""
    place = tmp_path_factory.mktemp("answers") / "answers.csv"
    rng = np.random.default_rng(5)
    ability = np.linspace(-1.5, 1.5, 6)
    right = rng.random((8, 6)) < 1 / (1 + np.exp(-(ability - np.linspace(-1, 1, 8)[:, None])))
    table = pd.DataFrame(
        right.astype(int), columns=[f"o{m}/{'phi' if m % 2 else 'qwen'}-{m}" for m in range(6)]
    )
    table.iloc[7] = 1
    table = table.astype(object)
    table.iloc[0, 0] = ""
    table.insert(0, "item", [f"q{i}" for i in range(1, 9)])
    table.to_csv(place, index=False)
    return place


@pytest.fixture(scope="module")
def battles(tmp_path_factory):
    place = tmp_path_factory.mktemp("battles") / "battles.csv"
    rows = [("moss", "fern", "model_a")] * 9 + [("moss", "fern", "model_b")] * 4
    pd.DataFrame(rows, columns=["model_a", "model_b", "winner"]).to_csv(place, index=False)
    return place


@pytest.fixture(scope="module")
def fitted(answers, tmp_path_factory):
    out = tmp_path_factory.mktemp("fit") / "out"
    arguments = ["--engine", "laplace", "--draws", "200", "--seed", "3", "--out", str(out)]
    assert main(["fit", "two-pl", str(answers), *arguments]) == 0
    return out


def test_a_posterior_writes_all_its_files(fitted):
    expected = FILES | {"items.csv", "diagnostics.csv", "posterior.nc"}
    assert {path.name for path in fitted.iterdir()} == expected
    models = pd.read_csv(fitted / "models.csv")
    assert list(models) == ["model", "n", "accuracy", "ability", "sd", "low", "high", "flag"]
    assert models["flag"].isna().all()
    assert models["n"].tolist() == [7, 8, 8, 8, 8, 8]
    assert (models["low"] < models["ability"]).all()
    assert (models["ability"] < models["high"]).all()
    items = pd.read_csv(fitted / "items.csv", keep_default_na=False)
    assert items.set_index("item").loc["q8", "flag"] == "prior only: every answer right"
    assert items.set_index("item").loc["q1", "n"] == 5
    summary = json.loads((fitted / "summary.json").read_text())
    assert (summary["kind"], summary["engine"], summary["seed"]) == ("two-pl", "laplace", 3)
    assert (summary["n_items"], summary["n_models"], summary["n_observations"]) == (8, 6, 47)
    assert summary["converged"] == "not assessed"
    assert "Approximation (laplace)" in summary["verdict"]


def test_the_report_of_an_approximation_speaks_of_pareto_k_and_not_of_chains(fitted):
    page = " ".join((fitted / "report.html").read_text().split())
    assert "independent ones of an approximating density" in page
    assert "that is what Pareto k is for" in page
    assert "Convergence, the worst first" not in page
    assert "bulk ESS" not in page


def test_a_fit_can_be_ranked(fitted, tmp_path, capsys):
    assert main(["rank", str(fitted), "--out", str(tmp_path / "ranks")]) == 0
    ranks = pd.read_csv(tmp_path / "ranks" / "ranks.csv")
    models = pd.read_csv(fitted / "models.csv").sort_values("ability", ascending=False)
    assert ranks["model"].tolist() == models["model"].tolist()


def test_estimates_have_both_standard_errors_and_a_covariance(battles, tmp_path, capsys):
    out = tmp_path / "out"
    arguments = ["--engine", "newton", "--phantom-wins", "0", "--out", str(out)]
    assert main(["fit", "bradley-terry", str(battles), *arguments]) == 0
    models = pd.read_csv(out / "models.csv").set_index("model")
    # case C34: ln(9/4), and half of it on either side of zero
    assert models["strength"].to_dict() == pytest.approx(
        {"fern": -0.4055, "moss": 0.4055}, abs=1e-4
    )
    assert {"se", "se_diagonal", "low", "high"} <= set(models)
    page = " ".join((out / "report.html").read_text().split())
    assert "SE, others known" in page
    assert "SE if all other strengths were known" in page
    assert "as printed" not in page
    covariance = pd.read_csv(out / "covariance.csv", index_col="model").to_numpy()
    contrast = np.array([-1, 1])
    assert contrast @ covariance @ contrast == pytest.approx(1 / 9 + 1 / 4)
    assert "strength" in capsys.readouterr().out


def test_files_of_an_earlier_fit_do_not_stay(fitted, battles, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "posterior.nc").write_bytes((fitted / "posterior.nc").read_bytes())
    (out / "notes.txt").write_text("mine")
    assert main(["fit", "bradley-terry", str(battles), "--engine", "mm", "--out", str(out)]) == 0
    assert {path.name for path in out.iterdir()} == FILES | {"covariance.csv", "notes.txt"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--engine", "newton", "--judge-effects"], "--judge-effects needs a posterior"),
        (["--engine", "mm", "--hierarchical"], "--hierarchical needs a posterior"),
        (["--engine", "mm", "--ties", "davidson"], "engine mm takes ties as half wins"),
        (["--engine", "mm", "--first-shown"], "knows no first-shown effect"),
        (["--engine", "newton", "--phantom-wins", "inf"], "must be a finite number, got inf"),
        (["--phantom-wins", "0.1"], "--phantom-wins is for the engines newton and mm"),
        (["--engine", "newton", "--level", "95"], "--level must lie between 0 and 1, got 95"),
        (["--judge-effects"], "judge"),
    ],
)
def test_options_that_do_not_go_together_are_refused(battles, options, message, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["fit", "bradley-terry", str(battles), *options, "--out", str(out)]) == 2
    assert message in " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert not out.exists()


def test_graded_answers_are_refused_with_the_item(tmp_path, capsys):
    place = tmp_path / "graded.csv"
    place.write_text("item,a,b\nq1,1,0.5\n")
    arguments = ["fit", "two-pl", str(place), "--scores", "graded", "--out", str(tmp_path / "out")]
    assert main(arguments) == 2
    assert "item 'q1' holds the score 0.5" in capsys.readouterr().err


def test_a_mode_is_not_sought_of_scales_that_are_estimated(answers, tmp_path, capsys):
    """It would take a minute to find that there is none."""
    out = tmp_path / "out"
    arguments = ["-k", "2", "--engine", "laplace", "--out", str(out)]
    assert main(["fit", "mirt-dif", str(answers), *arguments]) == 2
    said = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert "the scales of mirt-dif are estimated" in said
    assert "use --engine map, which holds them" in said
    assert not out.exists()


def test_family_effects_need_families(tmp_path, capsys):
    place = tmp_path / "plain.csv"
    place.write_text("item,a,b\nq1,1,0\nq2,0,1\n")
    assert main(["fit", "mirt-dif", str(place), "-k", "1", "--out", str(tmp_path / "out")]) == 2
    assert "famil" in capsys.readouterr().err


def test_case_c13_a_reversed_item_is_named(case_dir, tmp_path, capsys):
    out = tmp_path / "out"
    place = case_dir / "C13" / "responses.csv"
    assert main(["fit", "two-pl", str(place), "--engine", "laplace", "--out", str(out)]) == 0
    flags = pd.read_csv(out / "items.csv", keep_default_na=False).set_index("item")["flag"]
    assert "reversed" in flags["q04"]
    assert not flags.drop("q04").str.contains("reversed").any()
    assert "q04" in (out / "report.html").read_text()


@pytest.fixture(scope="module")
def mode(answers, tmp_path_factory):
    out = tmp_path_factory.mktemp("mode") / "out"
    assert main(["fit", "two-pl", str(answers), "--engine", "map", "--out", str(out)]) == 0
    return out


def test_the_joint_mode_has_both_errors_a_covariance_and_no_posterior(mode):
    assert {path.name for path in mode.iterdir()} == FILES | {"items.csv", "covariance.csv"}
    models = pd.read_csv(mode / "models.csv")
    expected = ["model", "n", "ability", "se", "low", "high", "se_items_known", "flag"]
    assert list(models) == expected
    assert models["ability"].sum() == pytest.approx(0)
    covariance = pd.read_csv(mode / "covariance.csv", index_col="model")
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), models["se"])
    items = pd.read_csv(mode / "items.csv", keep_default_na=False).set_index("item")
    assert items.loc["q8", "flag"] == "left out: every answer right"
    assert items.loc["q8", "discrimination"] == ""
    assert {"difficulty_se", "difficulty_low", "discrimination_se"} <= set(items)
    summary = json.loads((mode / "summary.json").read_text())
    assert (summary["engine"], summary["converged"], summary["seed"]) == ("map", "yes", None)
    assert summary["settings"]["posterior_unit"] > 0
    report = (mode / "report.html").read_text()
    assert "SE, items known" in report
    assert "takes all items as known" in report


def test_the_joint_mode_can_be_ranked_and_says_so_on_the_terminal(mode, answers, tmp_path, capsys):
    assert main(["rank", str(mode), "--out", str(tmp_path / "ranks")]) == 0
    ranks = pd.read_csv(tmp_path / "ranks" / "ranks.csv")
    models = pd.read_csv(mode / "models.csv").sort_values("ability", ascending=False)
    assert ranks["model"].tolist() == models["model"].tolist()
    capsys.readouterr()
    again = ["fit", "two-pl", str(answers), "--engine", "map", "--unit", "mode"]
    assert main([*again, "--out", str(tmp_path / "again")]) == 0
    shown = capsys.readouterr().out
    assert "items known" in shown
    assert "unit 'posterior', the default" in " ".join(shown.split())
    settings = json.loads((mode / "summary.json").read_text())["settings"]
    assert settings["unit"] == settings["posterior_unit"] != 1
    printed = pd.read_csv(tmp_path / "again" / "models.csv")["ability"]
    np.testing.assert_allclose(models["ability"].sort_index(), settings["unit"] * printed)


def test_models_are_scored_on_the_items_of_a_fit(answers, tmp_path):
    mode, out = tmp_path / "mode", tmp_path / "scored"
    arguments = ["fit", "two-pl", str(answers), "--engine", "map"]
    assert main([*arguments, "--unit", "mode", "--out", str(mode)]) == 0
    assert main([*arguments, "--items-from", str(mode), "--out", str(out)]) == 0
    scored, fitted = pd.read_csv(out / "models.csv"), pd.read_csv(mode / "models.csv")
    # in the unit of the mode, in which the fit's prior and that of scoring are the same
    np.testing.assert_allclose(scored["ability"], fitted["ability"], atol=1e-8)
    assert (scored["node_spacing"] <= 0.25 * scored["eap_sd"]).all()
    assert json.loads((out / "summary.json").read_text())["settings"]["items_from"] == str(mode)
    assert main(["rank", str(out), "--out", str(tmp_path / "ranks")]) == 0


def test_adam_says_that_it_followed_the_printed_rule(answers, tmp_path, capsys):
    arguments = ["--engine", "map", "--optimiser", "adam", "--out", str(tmp_path / "out")]
    assert main(["fit", "two-pl", str(answers), *arguments]) == 0
    assert "Stopped by P1's rule after" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--engine", "map", "--hierarchical"], "--hierarchical needs a posterior"),
        (["--engine", "map", "--discrimination", "one"], "--discrimination needs a posterior"),
        (["--unit", "posterior"], "--unit is for the engine map"),
        (["--engine", "laplace", "--optimiser", "adam"], "--optimiser is for the engine map"),
        (
            ["--engine", "map", "--items-from", "nowhere"],
            "nowhere does not exist; name the folder of a fit of the 2PL",
        ),
    ],
)
def test_options_of_the_joint_mode_are_its_own(answers, options, message, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["fit", "two-pl", str(answers), *options, "--out", str(out)]) == 2
    assert message in " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert not out.exists()


def test_what_is_not_of_this_kind_is_named(answers, battles, tmp_path, capsys):
    out = ["--out", str(tmp_path / "out")]
    assert main(["fit", "two-pl", str(battles), "--engine", "map", *out]) == 2
    assert "holds battles (model_a, model_b) and no answers" in capsys.readouterr().err
    assert main(["fit", "bradley-terry", str(answers), "--engine", "newton", *out]) == 2
    assert "holds answers to items and no battles" in capsys.readouterr().err


def test_a_fit_without_a_covariance_does_not_send_to_rank(tmp_path, capsys, monkeypatch):
    """As of more than 2,000 models."""
    monkeypatch.setattr("neartie.inference.two_pl_place.MOST_MODELS", 2)
    monkeypatch.setattr("neartie.inference.two_pl_map.MOST_MODELS", 2)
    place = tmp_path / "answers.csv"
    place.write_text("item,a,b,c\nq1,1,0,0\nq2,0,1,1\nq3,1,1,0\nq4,1,0,0\n")
    out = tmp_path / "out"
    assert main(["fit", "two-pl", str(place), "--engine", "map", "--out", str(out)]) == 0
    assert "neartie rank" not in capsys.readouterr().out
    assert main(["rank", str(out), "--out", str(tmp_path / "ranks")]) == 2
    assert "without the covariance of its estimates" in capsys.readouterr().err
