"""The scorecard against what is known: the worked example, shared cases, simulated truths."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from neartie.audits.scorecard import make_scorecard
from neartie.audits.scorecard_settings import ScoreSettings
from neartie.data.read_score_inputs import read_score_inputs
from neartie.data.score_inputs import ScoreInputs

# the worked example


@pytest.fixture(scope="module")
def worked(reference_dir):
    folder = reference_dir
    given = json.loads((folder / "inputs" / "scorecard.json").read_text())
    expected = json.loads((folder / "expected" / "scorecard.json").read_text())
    return given, expected


def worked_inputs(records):
    answers, samples, abilities = [], [], []
    for r in records:
        key = r["domain"], r["model"]
        # Where no item is an anchor, no gap was measured.
        anchors = r["anchor"] if any(r["anchor"]) else [math.nan] * len(r["anchor"])
        columns = zip(r["correct"], r["confidence"], anchors, strict=True)
        for i, (x, c, a) in enumerate(columns):
            answers.append((*key, f"q{i}", x, math.nan if c is None else c / 100, a))
        for i, given in enumerate(r["samples"]):
            samples += [(*key, f"q{i}", answer) for answer in given]
        abilities.append((*key, r["theta"], r["se"]))
    ids = ["domain", "model", "item"]
    return ScoreInputs.build(
        answers=pd.DataFrame(answers, columns=[*ids, "score", "confidence", "anchor"]),
        samples=pd.DataFrame(samples, columns=[*ids, "answer"]),
        abilities=pd.DataFrame(abilities, columns=["domain", "model", "ability", "se"]),
    )


@pytest.mark.parametrize("closed", ["right", "left"])
def test_reference_values(worked, closed):
    given, expected = worked
    settings = ScoreSettings(closed=closed, n_resamples=0)
    found = make_scorecard(worked_inputs(given["records"]), settings)
    names = {
        "brier": "brier", "consistency": "consistency", "contamination_gap": "contamination_gap",
        "resistance": "resistance", "half_width": "half_width",
        f"ece_{closed}_closed": "ece", f"composite_ece_{closed}": "composite",
    }  # fmt: skip
    rows = found.domains.set_index(["model", "domain"])
    assert len(rows) == sum(len(part["domains"]) for part in expected["models"].values())
    for model, part in expected["models"].items():
        for domain, values in part["domains"].items():
            for name, column in names.items():
                value = math.nan if values[name] is None else values[name]
                where = (model, domain, name)
                assert rows.loc[(model, domain), column] == pytest.approx(
                    value, abs=1e-9, nan_ok=True
                ), where
    if closed == "right":
        table = found.models.set_index("model")
        for model, part in expected["models"].items():
            assert table.loc[model, "global_index"] == pytest.approx(part["global_index"], abs=1e-9)
            assert table.loc[model, "half_width"] == pytest.approx(
                part["global_half_width"], abs=1e-9
            )


def test_reference_frontier(worked):
    given, expected = worked
    ids = [f"m{k}" for k in range(len(given["pareto_cost"]))]
    inputs = ScoreInputs.build(
        tasks=pd.DataFrame(
            {"model": ids, "domain": "d", "value": np.array(given["pareto_quality"]) / 1000}
        ),
        economics=pd.DataFrame({"model": ids, "cost": given["pareto_cost"]}),
    )
    found = make_scorecard(inputs)
    assert sorted(found.frontier("cost")) == [f"m{k}" for k in expected["pareto_indices"]]


# shared cases


def test_c49_a_tied_task_is_left_out_for_all(case_dir):
    settings = ScoreSettings(rescale="min-max")
    found = make_scorecard(read_score_inputs(tasks=case_dir / "C49" / "tasks.csv"), settings)
    assert found.models["model"].tolist() == ["c", "b", "a"]
    assert found.models["global_index"].tolist() == pytest.approx([1000, 500, 0])
    assert any("'t1' left out for all models" in warning for warning in found.warnings)
    plain = make_scorecard(read_score_inputs(tasks=case_dir / "C49" / "tasks.csv"))
    assert plain.models["global_index"].tolist() == pytest.approx([750, 550, 350])


def test_c49_one_model(case_dir):
    settings = ScoreSettings(rescale="min-max")
    found = make_scorecard(read_score_inputs(tasks=case_dir / "C49" / "one_model.csv"), settings)
    assert found.models["model"].tolist() == ["a"]
    assert found.models["global_index"].isna().all()
    assert "No domain gives a score" in found.warnings[0]


def test_c50(case_dir):
    found = make_scorecard(read_score_inputs(tasks=case_dir / "C50" / "tasks.csv"))
    assert found.models["model"].tolist() == ["pine", "ash", "yew"]
    assert found.models["rank"].tolist()[:2] == [1, 2]
    assert pd.isna(found.models["rank"].iloc[2])
    assert "'yew'" in found.warnings[0]


# simulated truths


def test_verdicts_of_one_duel_are_drawn_together():
    # Three judges who always agree are no more evidence than one.
    rng = np.random.default_rng(8)
    models = ["ant", "bee", "cat", "dog"]
    rows = []
    for prompt in range(300):
        a, b = rng.choice(4, size=2, replace=False)
        outcome = 1 if rng.random() < 1 / (1 + np.exp(0.4 * (a - b))) else -1
        for judge in "xyz":
            rows.append((models[a], models[b], outcome, 1, judge, f"p{prompt}"))
    names = ["model_a", "model_b", "outcome", "shown", "judge", "prompt"]
    tripled = pd.DataFrame(rows, columns=names)
    single = tripled[tripled["judge"] == "x"].assign(judge="")
    settings = ScoreSettings(n_resamples=400, phantom_wins=0)
    one, three = (
        make_scorecard(ScoreInputs.build(verdicts=table), settings, rng=2).domains
        for table in (single, tripled)
    )
    np.testing.assert_allclose(one["ability"], three["ability"], atol=1e-6)
    # the bootstrap's standard deviation of 400 rounds is known to 1 / sqrt(800) of itself
    np.testing.assert_allclose(three["se"] / one["se"], 1, atol=5 / np.sqrt(800))
    np.testing.assert_allclose(three["se_printed"] / one["se_printed"], 1 / np.sqrt(3), rtol=1e-3)


def test_the_truth_is_recovered():
    rng = np.random.default_rng(12)
    n_model, n_item = 60, 120
    ability = rng.permutation(np.linspace(-1.7, 1.7, n_model))
    ability /= np.sqrt(np.mean(ability**2))
    slope, place = np.exp(rng.normal(0, 0.3, n_item)), rng.normal(0, 1.2, n_item)
    p = 1 / (1 + np.exp(-slope * (ability[:, None] - place)))
    answers = pd.DataFrame(
        {
            "model": np.repeat([f"m{k:02d}" for k in range(n_model)], n_item),
            "item": np.tile([f"q{i}" for i in range(n_item)], n_model),
            "score": (rng.random(p.shape) < p).ravel().astype(float),
        }
    )
    rows = make_scorecard(
        ScoreInputs.build(answers=answers), ScoreSettings(n_resamples=100), rng=1
    ).domains
    z = (rows["ability"] - ability) / rows["se"]
    # Of 60 normal deviates one is beyond 4 in one board of 260; 2 in 10,000 boards have fewer than
    # 50 within 1.96.
    assert z.abs().max() < 4
    assert (z.abs() < 1.96).sum() >= 50
    np.testing.assert_allclose(rows["score"], 1000 * rows["ability_share"])
