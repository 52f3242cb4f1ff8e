"""`neartie score` from files to files."""

import json

import pandas as pd
import pytest

from neartie.cli.app import main
from neartie.cli.score import parsed_domain_weights, parsed_weights
from neartie.data.errors import DataError

QUICK = ("--resamples", "0")


@pytest.fixture
def files(tmp_path, score_tables):
    for name in ("answers", "samples", "economics"):
        score_tables[name].to_csv(tmp_path / f"{name}.csv", index=False)
    duels = score_tables["verdicts"]
    as_said = duels["outcome"] * duels["shown"]
    duels = duels.assign(
        verdict=as_said.map({1: "first", -1: "second", 0: "tie"}),
        swapped=(duels["shown"] < 0).astype(int),
    )
    duels.drop(columns=["outcome", "shown", "unparsed"]).to_csv(tmp_path / "duels.csv", index=False)
    return tmp_path


def run(files, *options):
    arguments = ["score", str(files / "answers.csv"), "--out", str(files / "out"), *QUICK]
    for name in ("samples", "duels", "economics"):
        arguments += [f"--{name}", str(files / f"{name}.csv")]
    return main([*arguments, *options])


def test_files_and_text(files, capsys, score_tables):
    assert run(files) == 0
    shown = capsys.readouterr().out
    assert "rules 1.0.0" in shown
    assert "oak/five" in shown
    assert "Report:" in shown
    models = pd.read_csv(files / "out" / "models.csv")
    assert set(models["version"]) == {"1.0.0"}
    assert len(models) == 5
    domains = pd.read_csv(files / "out" / "domains.csv")
    assert domains["domain"].unique().tolist() == ["code", "math", "writing"]
    from neartie.audits.scorecard import make_scorecard
    from neartie.audits.scorecard_settings import ScoreSettings
    from neartie.data.score_inputs import ScoreInputs

    # verdicts that name positions come out as the models that they were said of
    direct = make_scorecard(ScoreInputs.build(**score_tables), ScoreSettings(n_resamples=0), rng=0)
    assert domains["score"].tolist() == pytest.approx(direct.domains["score"].tolist(), nan_ok=True)


def test_json_is_the_summary_and_weights_move_the_scores(files, capsys):
    options = ["--weights", "1,0,0,0", "--domain-weight", "code=3", "--bins", "15", "--seed", "4"]
    assert run(files, "--json", *options) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown == json.loads((files / "out" / "summary.json").read_text())
    assert shown["seed"] == 4
    assert shown["settings"]["n_bins"] == 15
    assert shown["version"].startswith("1.0.0+")
    domains = pd.read_csv(files / "out" / "domains.csv").dropna(subset=["score"])
    assert domains["composite"].tolist() == pytest.approx(domains["ability_share"].tolist())
    models = pd.read_csv(files / "out" / "models.csv").set_index("model")
    own = domains[domains["model"] == "oak/five"].set_index("domain")["score"]
    expected = (3 * own["code"] + own["math"] + own["writing"]) / 5
    assert models.loc["oak/five", "global_index"] == pytest.approx(expected)


@pytest.mark.parametrize(("closed", "ece"), [("right", 0.38), ("left", 0.27)])
def test_c46_by_the_command(case_dir, tmp_path, closed, ece):
    arguments = ["score", str(case_dir / "C46" / "conf.csv"), "--closed", closed, *QUICK]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    row = pd.read_csv(tmp_path / "out" / "domains.csv").iloc[0]
    assert (row["ece"], row["brier"], row["n_confidence"]) == pytest.approx((ece, 0.3285, 10))
    bins = pd.read_csv(tmp_path / "out" / "bins.csv")
    assert bins[bins["domain"] == "all"]["n"].sum() == 10


def test_c41_by_the_command(case_dir, tmp_path, capsys):
    arguments = ["score", "--labels", str(case_dir / "C41" / "judges.csv"), *QUICK]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    table = pd.read_csv(tmp_path / "out" / "agreement.csv").set_index(["judge_a", "judge_b"])
    assert pd.isna(table.loc[("judge1", "judge2"), "kappa"])
    assert "throughout" in table.loc[("judge1", "judge2"), "reason"]
    assert table.loc[("judge3", "judge4"), "kappa"] == pytest.approx(0.375)
    assert "undefined" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--weights", "1,2"], "--weights takes four numbers"),
        (["--weights", "0,0,0,0"], "the weights must be positive in sum"),
        (["--domain-weight", "sport=2"], "weights name domains that are not there: 'sport'"),
        (["--gap-limit", "0"], "gap_limit must be in (0, 1], got 0.0"),
        (["--judges", "nowhere.csv"], "nowhere.csv cannot be read"),
    ],
)
def test_errors_are_sentences(files, capsys, options, message):
    assert run(files, *options) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert "Traceback" not in shown
    assert not (files / "out").exists()


def test_nothing_to_score_is_said(tmp_path, capsys):
    assert main(["score", "--out", str(tmp_path / "out")]) == 2
    assert "there is nothing to score" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["code", "=2", "code=x", "code=nan"])
def test_domain_weights_have_a_form(text):
    with pytest.raises(DataError, match="takes DOMAIN=NUMBER"):
        parsed_domain_weights([text])


def test_options_are_parsed_once():
    with pytest.raises(DataError, match="names 'code' twice"):
        parsed_domain_weights(["code=1", "code=2"])
    with pytest.raises(DataError, match="takes four numbers"):
        parsed_weights("a,b,c,d")
