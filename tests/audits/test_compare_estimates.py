"""Point engines against posteriors: laws, real battles and answers, simulated truth."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from neartie.audits.compare_estimates import compare_estimates
from neartie.data.battles import Battles
from neartie.data.errors import DataError
from neartie.data.files import to_json
from neartie.data.read import read_responses
from neartie.data.read_battles import read_battles
from neartie.data.responses import Responses
from neartie.inference.bradley_terry import fit_bradley_terry
from neartie.inference.two_pl_map import fit_two_pl_map

SHORT = {"draws": 500, "tune": 200, "chains": 2, "rng": 1}


def tree(variables, *, model, item=None, **attrs):
    """A posterior of given draws, in four chains."""
    dims = {"ability": "model", "strength": "model"}
    data = xr.Dataset(
        {
            name: (
                ("chain", "draw", dims.get(name, "item")),
                values.reshape(4, -1, values.shape[-1]),
            )
            for name, values in variables.items()
        },
        coords={"model": list(model)} | ({} if item is None else {"item": list(item)}),
    )
    found = xr.DataTree.from_dict({"posterior": data})
    found.attrs.update(attrs)
    return found


def answers(n_item, n_model, *, seed, spread=1.0):
    rng = np.random.default_rng(seed)
    ability, difficulty = rng.normal(size=n_model), rng.normal(scale=spread, size=n_item)
    slope = np.exp(rng.normal(scale=0.4, size=n_item))
    logit = slope[:, None] * (ability[None, :] - difficulty[:, None])
    values = (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(np.int8)
    return Responses.build(
        values,
        items=[f"q{i:03d}" for i in range(n_item)],
        models=[f"m{m:02d}" for m in range(n_model)],
    )


@pytest.fixture(scope="module")
def battles():
    rng = np.random.default_rng(4)
    strength = np.linspace(1.0, -1.0, 6)
    rows = []
    for i in range(6):
        for j in range(i + 1, 6):
            p = 1 / (1 + np.exp(strength[j] - strength[i]))
            rows += [(f"m{i}", f"m{j}", "a" if rng.random() < p else "b") for _ in range(12)]
    return Battles.build(*map(list, zip(*rows, strict=True)))


@pytest.fixture(scope="module")
def of_battles(battles):
    return compare_estimates(battles, **SHORT)


@pytest.fixture(scope="module")
def responses():
    return answers(60, 12, seed=5)


@pytest.fixture(scope="module")
def of_answers(responses):
    return compare_estimates(responses, **SHORT)


def own_draws(fit, rng, *, n):
    """Draws from the normal distribution that a fit of battles stands for."""
    value, vector = np.linalg.eigh(fit.covariance)
    factor = vector * np.sqrt(np.maximum(value, 0))
    return fit.within + rng.standard_normal((n, len(value))) @ factor.T


def test_an_estimate_agrees_with_its_own_distribution(battles):
    rng = np.random.default_rng(1)
    fit = fit_bradley_terry(battles, phantom_wins=0)
    posterior = tree({"strength": own_draws(fit, rng, n=40_000)}, model=fit.models)
    found = compare_estimates(battles, posterior=posterior)
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


def test_a_joint_mode_agrees_with_its_own_distribution(responses):
    rng = np.random.default_rng(2)
    fit = fit_two_pl_map(responses)
    ability = rng.multivariate_normal(fit.ability, fit.covariance, size=20_000)
    # a posterior's origin is the prior's: the mean is off by what it does not know of it
    origin = 0.3 + 0.2 * rng.standard_normal((20_000, 1))
    kept = np.isfinite(fit.difficulty)
    normal = rng.standard_normal((2, 20_000, kept.sum()))
    posterior = tree(
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
    found = compare_estimates(responses, posterior=posterior)
    rows = found.estimators[found.estimators["estimator"] == "map"].set_index("se_name")
    for name in ("se", "difficulty_se", "log_discrimination_se"):
        assert rows.loc[name, "bias_rms_sd"] < 0.03
        assert rows.loc[name, "se_ratio"] == pytest.approx(1, abs=0.02)
        assert rows.loc[name, "mass"] == pytest.approx(0.95, abs=0.005)
        assert rows.loc[name, "verdict"] == "hold"
    assert rows.loc["se", "pair_mass"] == pytest.approx(0.95, abs=0.004)
    assert rows.loc["difficulty_se", "pair_verdict"] == "cannot say"


def test_rows_and_their_order_change_nothing(battles, of_battles, responses, of_answers):
    rng = np.random.default_rng(8)
    order = rng.permutation(len(battles.outcome))
    names = np.array(battles.models)
    # also who is named first
    swapped = Battles.build(
        names[battles.model_b[order]].tolist(),
        names[battles.model_a[order]].tolist(),
        ["b" if o > 0 else "a" for o in battles.outcome[order]],
    )
    other = compare_estimates(swapped, **SHORT)
    for name in ("estimators", "models", "pairs"):
        pd.testing.assert_frame_equal(getattr(other, name), getattr(of_battles, name))
    turned = responses.take(
        items=rng.permutation(responses.n_item), models=rng.permutation(responses.n_model)
    )
    again = compare_estimates(turned, **SHORT)
    assert to_json(again.to_dict()) == to_json(of_answers.to_dict())
    for name in ("estimators", "models", "items", "pairs"):
        pd.testing.assert_frame_equal(getattr(again, name), getattr(of_answers, name))


def test_names_change_nothing_but_names(battles):
    rng = np.random.default_rng(3)
    fit = fit_bradley_terry(battles)
    draws = own_draws(fit, rng, n=2000) + 0.05 * rng.standard_normal((2000, 6))
    new = {f"m{i}": name for i, name in enumerate(["fir", "ash", "oak", "elm", "yew", "box"])}
    named = Battles.build(
        [new[name] for name in np.array(battles.models)[battles.model_a]],
        [new[name] for name in np.array(battles.models)[battles.model_b]],
        ["a" if o > 0 else "b" for o in battles.outcome],
    )
    plain = compare_estimates(battles, posterior=tree({"strength": draws}, model=fit.models))
    other = compare_estimates(
        named, posterior=tree({"strength": draws}, model=[new[m] for m in fit.models])
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


def test_the_printed_error_is_too_small_and_the_full_one_is_not():
    found = compare_estimates(answers(30, 40, seed=3), draws=1000, tune=300, chains=2, rng=2)
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


def test_a_diagonal_error_is_too_small_along_a_chain():
    rng = np.random.default_rng(6)
    rows = [
        (f"m{i:02d}", f"m{i + 1:02d}", "a" if rng.random() < 0.55 else "b")
        for i in range(9)
        for _ in range(60)
    ]
    found = compare_estimates(Battles.build(*map(list, zip(*rows, strict=True))), **SHORT)
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


def test_real_answers(data_dir):
    lsat = read_responses(data_dir / "lsat7" / "responses.csv.gz")
    some = lsat.take(models=np.arange(0, 1000, 8))
    found = compare_estimates(some, **SHORT)
    # five answers: the notices of the joint mode say that its intervals are too short
    assert any("5 answers or fewer" in text for text in found.warnings)
    assert found.estimator("map")["se_ratio"] < 1
    assert found.n_items == 5
    assert len(found.items) == 4 * 5


def test_sets_apart_and_infinite_estimates():
    battles = Battles.build(
        ["a"] * 6 + ["b"] * 6 + ["x"] * 4,
        ["b"] * 6 + ["c"] * 6 + ["y"] * 4,
        ["a", "b"] * 3 + ["a", "b"] * 3 + ["a"] * 4,
    )
    found = compare_estimates(battles, **SHORT)
    assert not found.estimators["estimator"].str.endswith("-ml").any()
    assert any("maximum likelihood is infinite" in text for text in found.warnings)
    assert set(found.estimators["n_pairs"]) == {4}
    pairs = found.pairs[["model_a", "model_b"]].agg(set, axis=1)
    assert all(pair <= {"a", "b", "c"} or pair == {"x", "y"} for pair in pairs)
    of_sets = found.models.groupby("component")["posterior_mean"].sum()
    assert of_sets.to_numpy() == pytest.approx(0, abs=1e-9)


def test_a_model_without_answers_is_left_out(responses):
    values = responses.values.copy()
    values[:, 3] = -1
    gaps = Responses.build(values, items=responses.items, models=responses.models)
    found = compare_estimates(gaps, **SHORT)
    assert found.n_models == 11
    assert "m03" not in set(found.models["model"])
    assert "left out, with nothing to compare: 'm03'" in found.warnings


def test_options_of_the_posterior_are_taken_over_or_said(battles):
    found = compare_estimates(battles, options={"hierarchical": True}, phantom_wins=0, **SHORT)
    assert set(found.estimators["estimator"]) == {"newton-ml", "mm-ml"}
    assert any("know nothing of hierarchical" in text for text in found.warnings)
    tied = Battles.build(
        ["a", "b", "c"] * 12, ["b", "c", "a"] * 12, ["a", "b", "tie", "b", "tie", "a"] * 6
    )
    found = compare_estimates(tied, options={"ties": "davidson"}, **SHORT)
    assert set(found.estimators["estimator"]) == {"newton-ml", "newton-phantom", "newton-prior"}
    assert not any("know nothing" in text for text in found.warnings)


def test_no_estimate_is_finite():
    never = Battles.build(["a", "b"] * 5, ["b", "a"] * 5, ["tie"] * 10)
    with pytest.raises(DataError, match="there is no estimate to compare: newton-ml is left out"):
        compare_estimates(never, options={"ties": "davidson"}, phantom_wins=0, **SHORT)


def test_draws_that_do_not_mix_say_nothing(battles):
    rng = np.random.default_rng(9)
    draws = rng.normal(size=(4, 500, 6)) + 5 * rng.normal(size=(4, 1, 6))
    posterior = tree({"strength": draws.reshape(-1, 6)}, model=battles.models)
    found = compare_estimates(battles, posterior=posterior)
    assert set(found.estimators["verdict"]) == {"cannot say"}
    assert "the posterior of strength is not to be relied on. Not converged" in found.warnings[0]
    assert "cannot say" in str(found)


def test_a_few_items_that_do_not_mix_are_said(responses):
    rng = np.random.default_rng(10)
    fit = fit_two_pl_map(responses)
    kept = np.isfinite(fit.difficulty)
    n = int(kept.sum())

    def posterior(n_lost):
        values = rng.normal(size=(4, 1000, n))
        values[:, :, :n_lost] += 5 * np.arange(4)[:, None, None]
        return tree(
            {
                "ability": rng.normal(size=(4000, 12)),
                "difficulty": values.reshape(-1, n),
                "log_discrimination": rng.normal(size=(4000, n)),
            },
            model=fit.models,
            item=np.array(fit.items)[kept],
        )

    found = compare_estimates(responses, posterior=posterior(1))
    text = f"of the posterior of difficulty, 1 value of {n} did not converge"
    assert found.warnings[0].startswith(text)
    assert "cannot say" not in set(found.estimators["verdict"])
    found = compare_estimates(responses, posterior=posterior(n // 10))
    assert found.warnings[0].startswith("the posterior of difficulty is not to be relied on")
    verdicts = found.estimators.set_index(["estimator", "se_name"])["verdict"]
    assert verdicts["map", "difficulty_se"] == "cannot say"
    assert verdicts["map", "log_discrimination_se"] != "cannot say"
    assert verdicts["map", "se"] != "cannot say"


def test_nothing_is_warned_of_twice(battles):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compare_estimates(battles, draws=20, tune=5, chains=1, rng=1)
    assert "not assessed" in found.warnings[0]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"kind": "mirt-dif"}, ValueError, "kind must be one of two-pl, bradley-terry"),
        ({"kind": "two-pl"}, TypeError, "two-pl takes responses, got Battles"),
        ({"engine": "advi"}, ValueError, "the reference is sampled"),
        ({"level": 1.0}, ValueError, r"level must lie in \(0, 1\)"),
        ({"phantom_wins": -1.0}, ValueError, "phantom_wins must be finite and not negative"),
    ],
)
def test_wrong_settings(battles, options, error, message):
    with pytest.raises(error, match=message):
        compare_estimates(battles, **options)


def test_wrong_data(battles, responses):
    draws = np.random.default_rng(1).normal(size=(40, 6))
    with pytest.raises(TypeError, match="takes responses or battles, got ndarray"):
        compare_estimates(draws)
    with pytest.raises(ValueError, match="nothing to compare discrimination 'signed' with"):
        compare_estimates(responses, options={"discrimination": "signed"})
    other = tree({"strength": draws}, model=list("uvwxyz"))
    with pytest.raises(DataError, match=r"the posterior is one of other data: .*'m0'"):
        compare_estimates(battles, posterior=other)
    with pytest.raises(ValueError, match="one that is given has its own"):
        compare_estimates(battles, posterior=other, options={})
    own = tree({"strength": draws}, model=battles.models, kind="two-pl")
    with pytest.raises(DataError, match="one of 'two-pl', not of 'bradley-terry'"):
        compare_estimates(battles, posterior=own)
    names = responses.model_ids
    lacking = tree(
        {
            "ability": np.zeros((8, 12)),
            "difficulty": np.zeros((8, 2)),
            "log_discrimination": np.zeros((8, 2)),
        },
        model=names,
        item=["q000", "q001"],
    )
    with pytest.raises(DataError, match="it has no item 'q002'"):
        compare_estimates(responses, posterior=lacking)


def test_no_such_estimator(of_battles):
    with pytest.raises(KeyError, match="there is no 'elo' with 'se'; there are newton-ml"):
        of_battles.estimator("elo")
