"""`neartie fit` where not all can be compared, and where not all have answers."""

import json

import pandas as pd
import pytest

from neartie.cli.app import main


@pytest.mark.parametrize("engine", ["newton", "laplace"])
def test_case_c25_sets_that_never_met_are_not_listed_as_one(case_dir, engine, tmp_path, capsys):
    place = str(case_dir / "C25" / "with_island.json")
    arguments = ["--engine", engine, "--out", str(tmp_path / "out")]
    arguments += ["--draws", "200"] if engine == "laplace" else []
    assert main(["fit", "bradley-terry", place, *arguments]) == 0
    shown = capsys.readouterr().out
    listed = [shown.rindex(word) for word in ("ash", "birch", "not comparable", "cedar")]
    assert listed == sorted(listed)
    table = pd.read_csv(tmp_path / "out" / "models.csv")
    assert table.groupby("component")["model"].apply(set).tolist() == [
        {"ash", "birch"},
        {"cedar", "dogwood"},
    ]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "The highest strength" not in page
    assert "Nothing connects the 2 sets of models" in page


def test_phantom_wins_and_the_first_shown_are_told(case_dir, tmp_path, capsys):
    fit = ["fit", "bradley-terry", str(case_dir / "C35" / "battles.json"), "--engine", "newton"]
    assert main([*fit, "--out", str(tmp_path / "plain")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "0.1 phantom wins for either side of a pair." in shown
    assert main([*fit, "--first-shown", "--out", str(tmp_path / "shown")]) == 0
    shown = capsys.readouterr().out
    assert "phantom wins" not in shown
    assert "2.197   0.745      0.736 to 3.658  first shown (parameter)" in shown


@pytest.mark.parametrize(
    ("options", "warned"), [(["--engine", "newton"], True), (["--first-shown"], False)]
)
def test_case_c35_how_often_the_first_shown_won_is_told(
    case_dir, options, warned, tmp_path, capsys
):
    """Without the effect there is a warning; with it, the posterior of the effect is shown."""
    out = tmp_path / "out"
    engine = [] if "--engine" in options else ["--engine", "laplace", "--draws", "200"]
    place = str(case_dir / "C35" / "battles.json")
    assert main(["fit", "bradley-terry", place, *options, *engine, "--out", str(out)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    told = (
        "The first shown won 18 of 20 decided battles (90%; 95% interval 70 to 97%), taking "
        "model_a as shown first. Of 10 pairs of battles that show the same two answers in both "
        "orders, 10 contradict each other."
    )
    assert told in shown
    assert told in " ".join((out / "report.html").read_text().split())
    caveat = "whoever was shown first won 18 of 20 decided battles"
    assert (f"Warning: {caveat}" in shown) is warned
    assert ("first shown effect (parameter)" in shown) is not warned
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["order"]["n_first"], summary["order"]["n_second"]) == (18, 2)
    assert any(caveat in text for text in summary["warnings"]) is warned


def test_nothing_is_said_of_an_order_that_the_battles_do_not_tell(case_dir, tmp_path, capsys):
    """C22 lists winners first, which is no order of showing."""
    place = str(case_dir / "C22" / "battles_first.json")
    arguments = ["--engine", "newton", "--out", str(tmp_path / "out")]
    assert main(["fit", "bradley-terry", place, *arguments]) == 0
    assert "shown" not in capsys.readouterr().out
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["order"] is None


def test_the_home_effect_of_a_table_of_counts(data_dir, tmp_path, capsys):
    """Agresti (2002), section 10.6.3: 0.3023 (0.1309); model_a is the home team."""
    place = str(data_dir / "bt_classic" / "baseball.csv")
    arguments = ["--engine", "newton", "--first-shown", "--out", str(tmp_path / "out")]
    assert main(["fit", "bradley-terry", place, *arguments]) == 0
    parameters = pd.read_csv(tmp_path / "out" / "parameters.csv").set_index("parameter")
    assert parameters.loc["first_shown", "estimate"] == pytest.approx(0.3023, abs=5e-5)
    assert parameters.loc["first_shown", "se"] == pytest.approx(0.1309, abs=5e-5)
    strength = pd.read_csv(tmp_path / "out" / "models.csv").set_index("model")["strength"]
    assert strength["Boston"] - strength["Baltimore"] == pytest.approx(1.1438, abs=5e-5)


def test_case_c05_accuracy_is_missing_where_nothing_was_answered(case_dir, tmp_path):
    place = str(case_dir / "C05" / "responses.csv")
    arguments = ["--engine", "laplace", "--draws", "200", "--out", str(tmp_path / "out")]
    assert main(["fit", "two-pl", place, *arguments]) == 0
    table = pd.read_csv(tmp_path / "out" / "models.csv").set_index("model")
    assert len(table) == 12
    assert table.loc["m05", "n"] == 0
    assert pd.isna(table.loc["m05", "accuracy"])
    assert table.loc[["m06", "low", "top"], "accuracy"].tolist() == [0.375, 0, 1]
    assert table["flag"].dropna().to_dict() == {
        "m05": "prior only: no answer",
        "low": "prior only: every answer wrong",
        "top": "prior only: every answer right",
    }
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Anything of what is flagged" in page


@pytest.mark.parametrize(
    ("phantoms", "flag"),
    [("0", "infinite: lost every battle"), ("0.5", "phantom wins only: lost every battle")],
)
def test_case_c23_whose_strength_no_battle_bounds_is_flagged(
    case_dir, phantoms, flag, tmp_path, capsys
):
    place = str(case_dir / "C23" / "battles.json")
    arguments = ["--engine", "newton", "--phantom-wins", phantoms, "--out", str(tmp_path / "out")]
    assert main(["fit", "bradley-terry", place, *arguments]) == 0
    table = pd.read_csv(tmp_path / "out" / "models.csv").set_index("model")
    assert table["flag"].dropna().to_dict() == {"blue": flag}
    assert "rests on" in (tmp_path / "out" / "report.html").read_text()


def test_one_iteration_is_counted_in_the_singular(case_dir, tmp_path, capsys):
    """Three models with equal records: the start is the answer."""
    place = str(case_dir / "C28" / "battles.json")
    arguments = ["--engine", "newton", "--out", str(tmp_path / "out")]
    assert main(["fit", "bradley-terry", place, *arguments]) == 0
    assert "Converged: 1 iteration, largest last step" in capsys.readouterr().out
