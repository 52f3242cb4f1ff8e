"""What a comparison of estimates finds: errors too small, real data, sets apart, gaps."""

import numpy as np
import pytest

from neartie.audits.compare_estimates import compare_estimates
from neartie.data.battles import Battles
from neartie.data.read import read_responses
from neartie.data.read_battles import read_battles
from neartie.data.responses import Responses


def test_the_printed_error_is_too_small_and_the_full_one_is_not(answer_two_pl):
    found = compare_estimates(answer_two_pl(30, 40, seed=3), draws=1000, tune=300, chains=2, rng=2)
    full, known = found.estimator("map"), found.estimator("map", se_name="se_items_known")
    printed = found.estimator("map-mode-unit", se_name="se_items_known")
    assert 0.93 < full["se_ratio"] < 1.07
    assert full["verdict"] == full["pair_verdict"] == "hold"
    # what P1 prints is too small twice: by its unit, and for taking the items as known
    assert known["se_ratio"] < full["se_ratio"] - 0.03
    assert printed["se_ratio"] < 0.8
    assert printed["mass"] < 0.87
    assert printed["verdict"] == printed["pair_verdict"] == "hold less"
    # a unit changes no verdict on pairs; items known do, and for that reason
    assert known["n_estimate_alone"] == printed["n_estimate_alone"] > 2 * full["n_estimate_alone"]
    why = found.pairs.loc[
        (found.pairs["se_name"] == "se_items_known")
        & (found.pairs["change"] == "estimate_alone")
        & (found.pairs["cause"] == "se"),
        "why",
    ]
    assert why.str.contains("too small by a factor of .*: it takes the items as known").any()


def test_a_diagonal_error_is_too_small_along_a_chain(few_draws):
    rng = np.random.default_rng(6)
    rows = [
        (f"m{i:02d}", f"m{i + 1:02d}", "a" if rng.random() < 0.55 else "b")
        for i in range(9)
        for _ in range(60)
    ]
    found = compare_estimates(Battles.build(*map(list, zip(*rows, strict=True))), **few_draws)
    full = found.estimator("newton-ml")
    diagonal = found.estimator("newton-ml", se_name="se_diagonal")
    assert 0.9 < full["pair_se_ratio"] < 1.1
    assert diagonal["pair_se_ratio"] < 0.85
    assert diagonal["pair_verdict"] == "hold less"
    assert diagonal["n_estimate_alone"] > 0
    why = found.pairs.loc[
        (found.pairs["se_name"] == "se_diagonal") & (found.pairs["cause"] == "se"), "why"
    ]
    assert why.str.contains("takes the strengths of all others as known").any()


def test_real_battles(data_dir):
    found = compare_estimates(
        read_battles(data_dir / "bt_classic" / "baseball.csv"),
        draws=1000,
        chains=2,
        tune=100,
        rng=1,
    )
    row = found.estimator("newton-ml")
    # a round robin of 7: 1 / sqrt(I) is about 7 / 6 of what counts the others' errors too
    diagonal = found.estimator("newton-ml", se_name="se_diagonal")
    assert diagonal["se_ratio"] / row["se_ratio"] == pytest.approx(7 / 6, abs=0.01)
    assert (row["verdict"], diagonal["verdict"]) == ("hold", "hold more")
    assert row["tau_b"] == pytest.approx(1)


def test_real_answers(data_dir, few_draws):
    lsat = read_responses(data_dir / "lsat7" / "responses.csv.gz")
    some = lsat.take(models=np.arange(0, 1000, 8))
    found = compare_estimates(some, **few_draws)
    # five answers: the notices of the joint mode say that its intervals are too short
    assert any("5 answers or fewer" in text for text in found.warnings)
    assert found.estimator("map")["se_ratio"] < 1
    assert found.n_items == 5
    assert len(found.items) == 4 * 5


def test_sets_apart_and_infinite_estimates(few_draws):
    battles = Battles.build(
        ["a"] * 6 + ["b"] * 6 + ["x"] * 4,
        ["b"] * 6 + ["c"] * 6 + ["y"] * 4,
        ["a", "b"] * 3 + ["a", "b"] * 3 + ["a"] * 4,
    )
    found = compare_estimates(battles, **few_draws)
    assert not found.estimators["estimator"].str.endswith("-ml").any()
    assert any("maximum likelihood is infinite" in text for text in found.warnings)
    assert set(found.estimators["n_pairs"]) == {4}
    pairs = found.pairs[["model_a", "model_b"]].agg(set, axis=1)
    assert all(pair <= {"a", "b", "c"} or pair == {"x", "y"} for pair in pairs)
    of_sets = found.models.groupby("component")["posterior_mean"].sum()
    assert of_sets.to_numpy() == pytest.approx(0, abs=1e-9)


def test_a_model_without_answers_is_left_out(few_answers, few_draws):
    values = few_answers.values.copy()
    values[:, 3] = -1
    gaps = Responses.build(values, items=few_answers.items, models=few_answers.models)
    found = compare_estimates(gaps, **few_draws)
    assert found.n_models == 11
    assert "m03" not in set(found.models["model"])
    assert "left out, with nothing to compare: 'm03'" in found.warnings


def test_options_of_the_posterior_are_taken_over_or_said(round_robin, few_draws):
    found = compare_estimates(
        round_robin, options={"hierarchical": True}, phantom_wins=0, **few_draws
    )
    assert set(found.estimators["estimator"]) == {"newton-ml", "mm-ml"}
    assert any("know nothing of hierarchical" in text for text in found.warnings)
    tied = Battles.build(
        ["a", "b", "c"] * 12, ["b", "c", "a"] * 12, ["a", "b", "tie", "b", "tie", "a"] * 6
    )
    found = compare_estimates(tied, options={"ties": "davidson"}, **few_draws)
    assert set(found.estimators["estimator"]) == {"newton-ml", "newton-phantom", "newton-prior"}
    assert not any("know nothing" in text for text in found.warnings)
