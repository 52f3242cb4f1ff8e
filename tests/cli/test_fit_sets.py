"""`neartie fit` where not all can be compared, and where not all have answers."""

import pandas as pd
import pytest

from neartie.cli.app import main


@pytest.mark.parametrize("engine", ["newton", "laplace"])
def test_case_c25_sets_that_never_met_are_not_listed_as_one(case_dir, engine, tmp_path, capsys):
    place = str(case_dir / "C25" / "with_island.json")
    arguments = ["--engine", engine, "--draws", "200", "--out", str(tmp_path / "out")]
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
    assert "2.197   0.745                      first shown (parameter)" in shown


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
