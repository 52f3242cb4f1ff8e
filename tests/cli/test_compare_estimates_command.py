"""`neartie compare-estimates` from files to files."""

import json

import numpy as np
import pandas as pd
import pytest

from neartie.cli.app import main

QUICK = ["--draws", "300", "--tune", "100", "--chains", "2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("data")
    (place / "battles.csv").write_text(
        "model_a,model_b,win_a,win_b\nowl,ant,7,3\nant,bee,6,4\nbee,owl,2,8\n"
    )
    rng = np.random.default_rng(5)
    logit = rng.normal(size=(1, 7)) - rng.normal(size=(10, 1))
    table = pd.DataFrame(
        (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(int),
        columns=[f"model-{k}" for k in range(7)],
    )
    table.insert(0, "item", [f"q{k}" for k in range(10)])
    table.to_csv(place / "responses.csv", index=False)
    return place


def run(kind, source, out, *options):
    return main(["compare-estimates", kind, str(source), "--out", str(out), *options])


def test_battles(folder, tmp_path, capsys):
    source = folder / "battles.csv"
    assert run("bradley-terry", source, tmp_path / "one", *QUICK, "--seed", "3") == 0
    shown = capsys.readouterr().out
    assert "With se, " in shown
    assert "newton-phantom, se_diagonal\n" in shown
    assert "The rule: intervals hold if 93 to 97%" in shown
    assert run("bradley-terry", source, tmp_path / "two", *QUICK, "--seed", "3", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "one" / "summary.json").read_text())
    assert printed["seed"] == 3
    for name in ("estimators.csv", "models.csv", "pairs.csv", "report.html"):
        one, two = ((tmp_path / run_ / name).read_bytes() for run_ in ("one", "two"))
        assert one == two, name


def test_answers_and_a_posterior_of_a_fit(folder, tmp_path, capsys):
    source = folder / "responses.csv"
    fit = ["fit", "two-pl", str(source), "--engine", "gibbs", *QUICK, "--out", str(tmp_path / "f")]
    assert main(fit) == 0
    given = ["--posterior", str(tmp_path / "f"), "--level", "0.9"]
    assert run("two-pl", source, tmp_path / "out", *given) == 0
    assert "map-mode-unit, se_items_known\n" in capsys.readouterr().out
    table = pd.read_csv(tmp_path / "out" / "items.csv")
    assert set(table["quantity"]) == {"difficulty", "log_discrimination"}
    models = pd.read_csv(tmp_path / "out" / "models.csv")
    theirs = pd.read_csv(tmp_path / "f" / "models.csv").set_index("model")["ability"]
    mine = models.drop_duplicates("model").set_index("model")["posterior_mean"]
    assert mine.to_numpy() == pytest.approx((theirs - theirs.mean())[mine.index])
    assert run("two-pl", source, tmp_path / "out", *given, "--hierarchical") == 2
    assert "has its own options" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("bradley-terry", ["--level", "1"], "--level must lie between 0 and 1"),
        ("bradley-terry", ["--phantom-wins", "inf"], "--phantom-wins must be a finite number"),
        ("bradley-terry", ["--engine", "advi"], "'advi' is not one of"),
        (
            "bradley-terry",
            ["--engine", "nuts", "--thin", "2"],
            "for the engine gibbs, not for nuts",
        ),
        ("bradley-terry", ["--min-ess", "1e9"], "--min-ess must lie above 0 and be at most 2,000"),
        ("two-pl", ["--posterior", "nowhere"], "nowhere"),
    ],
)
def test_wrong_usage(folder, tmp_path, capsys, kind, options, message):
    source = folder / ("battles.csv" if kind == "bradley-terry" else "responses.csv")
    assert run(kind, source, tmp_path, *options) == 2
    assert message in " ".join(capsys.readouterr().err.replace("│", " ").split())
