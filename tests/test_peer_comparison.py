"""The comparison with peers: what it judges by, what it keeps, and what it says of failures."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

PEERS = Path(__file__).resolve().parent.parent / "benchmarks" / "peers"
FAKE = """
import numpy as np
PACKAGE = "numpy"

def good(data):
    return lambda: {"strength": np.linspace(1, -1, data["n_model"])}

def bad(data):
    def fit():
        raise ValueError("does not | converge")
    return fit

def endless(data):
    def fit():
        while True:
            pass
    return fit

METHODS = {"good": good, "bad": bad, "endless": endless}
"""


@pytest.fixture
def peers(monkeypatch) -> SimpleNamespace:
    """The modules of the comparison."""
    monkeypatch.syspath_prepend(str(PEERS))
    import comparison
    import report
    import run
    import simulated

    return SimpleNamespace(comparison=comparison, report=report, run=run, simulated=simulated)


@pytest.fixture
def task(peers, monkeypatch, tmp_path):
    """A task of three data sets for a program that is a file in a temporary folder."""
    (tmp_path / "with_fake.py").write_text(FAKE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return peers.comparison.Task(
        name="small",
        title="Small",
        kind="battles",
        simulate=lambda number: peers.simulated.uniform(5, 200, number),
        methods=peers.comparison.methods(fake=("good", "bad", "endless")),
        sets=3,
    )


def options(folder: Path, **changes) -> argparse.Namespace:
    given = {"again": False, "sets": None, "program": None, "skip": [], "limit": 30.0}
    return argparse.Namespace(**given | {"threads": 1, "cache": folder} | changes)


def test_scale_and_origin_of_ability_are_free(peers):
    sample = peers.simulated.two_pl(30, 40, 0)
    true, noise = sample.truth["ability"], np.random.default_rng(1).normal(size=30)
    found = {
        "ability": true + 0.1 * noise,
        "se": np.full(30, 0.1),
        "difficulty": sample.truth["difficulty"],
    }
    turned = {
        "ability": 3 - 2 * found["ability"],
        "se": 2 * found["se"],
        "difficulty": 3 - 2 * found["difficulty"],
    }
    plain, other = (peers.simulated.judge_answers(one, sample.truth) for one in (found, turned))
    for key in ("ability", "covered", "difficulty", "half"):
        assert other[key] == pytest.approx(plain[key])
    assert other["unlinked"] < plain["unlinked"]
    line = np.polyfit(found["ability"], true, 1)
    error = np.polyval(line, found["ability"]) - true
    assert plain["covered"] == np.mean(abs(error) <= 0.1 * line[0] * 1.959963984540054)
    assert plain["ability"] == pytest.approx(np.std(error))


def test_an_item_without_an_estimate_is_among_the_worst(peers):
    sample = peers.simulated.two_pl(30, 40, 0)
    found = {"ability": sample.truth["ability"], "difficulty": sample.truth["difficulty"].copy()}
    found["difficulty"][sample.truth["varied"][:2]] = np.nan
    assert peers.simulated.judge_answers(found, sample.truth)["difficulty"] < 1e-12
    found["difficulty"][sample.truth["varied"][:4]] = np.nan
    assert peers.simulated.judge_answers(found, sample.truth)["difficulty"] == np.inf


def test_intervals_of_strengths_by_covariance_and_by_draws(peers):
    sample = peers.simulated.ladder(6, 30, 0)
    true = sample.truth["strength"]
    error = np.array([0.3, -0.3, 0, 0, 0, 0])
    covariance = 0.1**2 * np.eye(6)
    judged = peers.simulated.judge_strengths(
        {"strength": true + error + 7, "covariance": covariance}, sample.truth
    )
    a, b = sample.truth["pairs"]
    missed = np.abs(error[a] - error[b]) > 1.959963984540054 * np.sqrt(0.02)
    assert judged["covered"] == pytest.approx(4 / 6)
    assert judged["pairs"] == 1 - np.mean(missed)
    assert judged["half"] == pytest.approx(0.196, abs=1e-4)
    draws = true + error + np.linspace(-0.25, 0.25, 101)[:, None]
    found = {"strength": true + error + 7, "low": true + error + 6.8, "high": true + 7.2}
    by_draws = peers.simulated.judge_strengths(found | {"draws": draws}, sample.truth)
    assert by_draws["covered"] == pytest.approx(5 / 6)
    # draws that move together leave no room for a difference
    assert by_draws["pairs"] == np.mean(error[a] == error[b])


def test_a_data_set_is_the_same_for_all_and_differs_from_the_next(peers):
    one, same, other = (peers.simulated.several(9, 8, 2, number) for number in (1, 1, 2))
    np.testing.assert_array_equal(one.data["answers"], same.data["answers"])
    assert not np.array_equal(one.truth["predictor"], other.truth["predictor"])


def test_failures_get_a_row_and_what_was_found_is_kept(peers, task, tmp_path):
    store = tmp_path / "rows.jsonl"
    rows = peers.run.run([task], options(tmp_path, limit=1.0), store)
    labels = [row["label"] for row in rows]
    assert labels.count("fake: good") == 3
    # who failed or went over the limit is not asked again
    assert labels.count("fake: bad") == labels.count("fake: endless") == 1
    text = peers.report.tables((task,), rows)
    assert "| ValueError: does not / converge |" in text
    assert "| more than 1 s |" in text
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in lines}) == 1
    kept = store.read_text()
    assert peers.run.run([task], options(tmp_path, limit=1.0), store) == rows
    assert store.read_text() == kept
    # with more time a method gets another try, and the old row goes
    again = peers.run.run([task], options(tmp_path, limit=2.0), store)
    assert len(again) == len(rows)
    assert "| more than 2 s |" in peers.report.tables((task,), again)


def test_ratios_are_of_the_same_data_sets(peers):
    ours = [{"first": k, "found": [{"strength": one}]} for k, one in enumerate((1.0, 3.0, 9.0))]
    theirs = [{"first": 0, "found": [{"strength": 2.0}, {"strength": 4.0}]}]
    assert peers.report.ratio(theirs, ours, "strength") == "1.50"
    assert peers.report.ratio([{"first": 5, "found": [{"strength": 2.0}]}], ours, "strength") == ""


def test_an_environment_that_cannot_be_made_says_why(peers, monkeypatch, tmp_path):
    import environments

    monkeypatch.setenv("PATH", str(tmp_path))
    assert "there is no uv" in environments.environment("girth", tmp_path).failure
    assert environments.environment("neartie", tmp_path).python == Path(sys.executable)
