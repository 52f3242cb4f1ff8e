"""Point engines against posteriors: their own distribution, laws, tables that fit together."""

import json

import numpy as np
import pandas as pd
import pytest

from neartie.audits.compare_estimates import compare_estimates
from neartie.data.battles import Battles
from neartie.data.files import to_json
from neartie.inference.bradley_terry import fit_bradley_terry
from neartie.inference.two_pl_map import fit_two_pl_map


@pytest.fixture(scope="module")
def of_battles(round_robin, few_draws):
    return compare_estimates(round_robin, **few_draws)


@pytest.fixture(scope="module")
def of_answers(few_answers, few_draws):
    return compare_estimates(few_answers, **few_draws)


def own_draws(fit, rng, *, n):
    """Draws from the normal distribution that a fit of battles stands for."""
    value, vector = np.linalg.eigh(fit.covariance)
    factor = vector * np.sqrt(np.maximum(value, 0))
    return fit.within + rng.standard_normal((n, len(value))) @ factor.T


def test_an_estimate_agrees_with_its_own_distribution(round_robin, posterior_tree):
    rng = np.random.default_rng(1)
    fit = fit_bradley_terry(round_robin, phantom_wins=0)
    posterior = posterior_tree({"strength": own_draws(fit, rng, n=40_000)}, model=fit.models)
    found = compare_estimates(round_robin, posterior=posterior)
    for name in ("newton-ml", "mm-ml"):
        row = found.estimator(name)
        # five Monte Carlo errors
        assert row["bias_rms_sd"] < 5 / np.sqrt(40_000)
        assert row["se_ratio"] == pytest.approx(1, abs=0.015)
        assert row["pair_se_ratio"] == pytest.approx(1, abs=0.015)
        assert row["mass"] == pytest.approx(0.95, abs=0.003)
        assert row["pair_mass"] == pytest.approx(0.95, abs=0.003)
        assert row["overlap"] > 0.97
        assert row["stretch"] == pytest.approx(1, abs=0.01)
        assert row["tau_b"] == pytest.approx(1)
        assert row["largest_rank_shift"] == 0
        assert row["n_changed"] == row["n_close"]
        assert (row["verdict"], row["pair_verdict"]) == ("hold", "hold")


def test_a_joint_mode_agrees_with_its_own_distribution(few_answers, posterior_tree):
    rng = np.random.default_rng(2)
    fit = fit_two_pl_map(few_answers)
    ability = rng.multivariate_normal(fit.ability, fit.covariance, size=20_000)
    # a posterior's origin is the prior's: the mean is off by what it does not know of it
    origin = 0.3 + 0.2 * rng.standard_normal((20_000, 1))
    kept = np.isfinite(fit.difficulty)
    normal = rng.standard_normal((2, 20_000, kept.sum()))
    posterior = posterior_tree(
        {
            "ability": ability + origin,
            "difficulty": fit.difficulty[kept]
            + fit.difficulty_se[kept] * normal[0]
            + origin
            + ability.mean(axis=1, keepdims=True),
            "log_discrimination": np.log(fit.discrimination[kept])
            + fit.log_discrimination_se[kept] * normal[1],
        },
        model=fit.models,
        item=np.array(fit.items)[kept],
    )
    found = compare_estimates(few_answers, posterior=posterior)
    rows = found.estimators[found.estimators["estimator"] == "map"].set_index("se_name")
    for name in ("se", "difficulty_se", "log_discrimination_se"):
        assert rows.loc[name, "bias_rms_sd"] < 0.03
        assert rows.loc[name, "se_ratio"] == pytest.approx(1, abs=0.02)
        assert rows.loc[name, "mass"] == pytest.approx(0.95, abs=0.005)
        assert rows.loc[name, "verdict"] == "hold"
    assert rows.loc["se", "pair_mass"] == pytest.approx(0.95, abs=0.004)
    assert rows.loc["difficulty_se", "pair_verdict"] == "cannot say"


def test_rows_and_their_order_change_nothing(
    round_robin, of_battles, few_answers, of_answers, few_draws
):
    rng = np.random.default_rng(8)
    order = rng.permutation(len(round_robin.outcome))
    names = np.array(round_robin.models)
    # also who is named first
    swapped = Battles.build(
        names[round_robin.model_b[order]].tolist(),
        names[round_robin.model_a[order]].tolist(),
        ["b" if o > 0 else "a" for o in round_robin.outcome[order]],
    )
    other = compare_estimates(swapped, **few_draws)
    for name in ("estimators", "models", "pairs"):
        pd.testing.assert_frame_equal(getattr(other, name), getattr(of_battles, name))
    turned = few_answers.take(
        items=rng.permutation(few_answers.n_item), models=rng.permutation(few_answers.n_model)
    )
    again = compare_estimates(turned, **few_draws)
    assert to_json(again.to_dict()) == to_json(of_answers.to_dict())
    for name in ("estimators", "models", "items", "pairs"):
        pd.testing.assert_frame_equal(getattr(again, name), getattr(of_answers, name))


def test_names_change_nothing_but_names(round_robin, posterior_tree):
    rng = np.random.default_rng(3)
    fit = fit_bradley_terry(round_robin)
    draws = own_draws(fit, rng, n=2000) + 0.05 * rng.standard_normal((2000, 6))
    new = {f"m{i}": name for i, name in enumerate(["fir", "ash", "oak", "elm", "yew", "box"])}
    named = Battles.build(
        [new[name] for name in np.array(round_robin.models)[round_robin.model_a]],
        [new[name] for name in np.array(round_robin.models)[round_robin.model_b]],
        ["a" if o > 0 else "b" for o in round_robin.outcome],
    )
    plain = compare_estimates(
        round_robin, posterior=posterior_tree({"strength": draws}, model=fit.models)
    )
    other = compare_estimates(
        named, posterior=posterior_tree({"strength": draws}, model=[new[m] for m in fit.models])
    )
    numbers = plain.estimators.select_dtypes("number").columns
    pd.testing.assert_frame_equal(
        plain.estimators[numbers], other.estimators[numbers], rtol=1e-6, atol=1e-8
    )
    expected = plain.models.assign(model=plain.models["model"].map(new))
    keys = ["estimator", "se_name", "model"]
    pd.testing.assert_frame_equal(
        expected.sort_values(keys, ignore_index=True),
        other.models.sort_values(keys, ignore_index=True),
        rtol=1e-6,
        atol=1e-8,
        check_dtype=False,
    )
    assert set(plain.pairs["model_a"].map(new)) == set(other.pairs["model_a"])


def test_what_is_compared_of_battles(of_battles):
    table = of_battles.estimators
    assert table["estimator"].drop_duplicates().tolist() == [
        "newton-ml", "mm-ml", "newton-phantom", "mm-phantom", "newton-prior",
    ]  # fmt: skip
    assert set(table["se_name"]) == {"se", "se_diagonal"}
    assert of_battles.items.empty
    # two algorithms with one optimum
    for rule in ("ml", "phantom"):
        newton, mm = of_battles.estimator(f"newton-{rule}"), of_battles.estimator(f"mm-{rule}")
        assert newton["mass"] == mm["mass"]
        assert newton["bias_rms"] == pytest.approx(mm["bias_rms"], abs=1e-8)
    # P1's rule shrinks, and the prior of the posterior is what its mode has in common with it
    assert (
        of_battles.estimator("newton-phantom")["stretch"]
        < (of_battles.estimator("newton-ml")["stretch"])
    )
    assert of_battles.estimator("newton-prior")["verdict"] == "hold"


def test_what_is_compared_of_answers(of_answers):
    table = of_answers.estimators
    assert table["se_name"].tolist() == [
        "se", "se_items_known", "se", "se_items_known",
        "difficulty_se", "log_discrimination_se", "difficulty_se", "log_discrimination_se",
    ]  # fmt: skip
    own, printed = of_answers.estimator("map"), of_answers.estimator("map-mode-unit")
    # a unit changes no verdict on a pair, and no rank
    same = ["n_changed", "tau_b", "largest_rank_shift", *(f"n_{c}" for c in ("opposite", "close"))]
    assert {name: own[name] for name in same} == {name: printed[name] for name in same}
    assert printed["stretch"] < own["stretch"]
    assert len(of_answers.models) == 4 * 12
    assert of_answers.models["rank"].between(1, 12).all()


def test_tables_fit_together(of_battles, of_answers):
    for found in (of_battles, of_answers):
        for row in found.estimators.to_dict("records"):
            keys = {"estimator": row["estimator"], "se_name": row["se_name"]}
            over = found.models if row["quantity"] in ("ability", "strength") else found.items
            mine = over[(over[list(keys)] == pd.Series(keys)).all(axis=1)]
            assert len(mine) == row["n"]
            assert mine["mass"].mean() == pytest.approx(row["mass"])
            if over is found.items:
                continue
            pairs = found.pairs[(found.pairs[list(keys)] == pd.Series(keys)).all(axis=1)]
            assert len(pairs) == row["n_changed"]
            assert row["n_changed"] == sum(
                row[f"n_{name}"]
                for name in ("opposite", "estimate_alone", "posterior_alone", "reversed")
            )
        assert (found.pairs["posterior_difference"] >= 0).all()
        assert found.pairs["why"].str.len().min() > 20
        assert json.loads(to_json(found.to_dict()))["rule"].startswith("intervals hold if")
        assert found.estimators["sentence"].iloc[0] in str(found)


def test_no_such_estimator(of_battles):
    with pytest.raises(KeyError, match="there is no 'elo' with 'se'; there are newton-ml"):
        of_battles.estimator("elo")
