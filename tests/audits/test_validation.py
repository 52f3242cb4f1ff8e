"""Designs are validated: right engines pass, wrong ones are found, stopped runs go on to the same."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from neartie.audits import validation_tasks
from neartie.audits.validation import validate_design
from neartie.audits.validation_sizes import Sizes, blank_battles, blank_responses
from neartie.audits.validation_store import RECORDS
from neartie.data.battles import Battles
from neartie.data.errors import ConvergenceError, DataError
from neartie.data.responses import Responses
from neartie.inference.refit import Refitted
from neartie.models.priors import ResidualDifPriors, TwoPLPriors

# Of any row of a table, for a right engine.
FALSE_ALARM = 0.001
SMALL = {"kind": "two-pl", "n_items": 8, "n_models": 6}
QUICK = {"draws": 100, "tune": 60, "chains": 1, "thin": 1}
TINY = {"draws": 100, "tune": 20, "chains": 1, "thin": 1, "n_data_sets": 2}


@pytest.fixture(autouse=True)
def _forget():
    """Build anew in every test: some change what fits."""
    validation_tasks._READY.clear()


def test_a_right_sampler_passes():
    found = validate_design(**SMALL, **QUICK, n_data_sets=40, rng=4)
    assert (found.quantities["p_adjusted"].dropna() > FALSE_ALARM).all()
    assert found.calibrated
    assert found.matched
    row = found.coverage.query("quantity == 'ability' and level == .95").iloc[0]
    assert abs(row["covered"] - 0.95) < 4 * row["se"]
    assert found.n_fitted == 40
    assert found.claim.startswith("95% intervals of abilities held 9")


def test_intervals_scaled_by_point_seven_are_found(monkeypatch):
    exact = validation_tasks.refitter

    def narrowed(model, **settings):
        refit = exact(model, **settings)

        def scaled(data, rng):
            drawn = refit(data, rng)
            values = {}
            for name, each in drawn.values.items():
                center = each.mean(axis=(0, 1))
                values[name] = center + 0.7 * (each - center)
            return Refitted(values=values, n_divergent=0, seconds=drawn.seconds)

        return scaled

    monkeypatch.setattr(validation_tasks, "refitter", narrowed)
    found = validate_design(**SMALL, **QUICK, n_data_sets=40, rng=4)
    assert found.calibrated is False
    assert "abilities too narrow" in found.verdict
    assert "95% intervals that do not hold 95%: abilities" in found.verdict


def test_a_wrong_prior_costs_coverage_and_is_said_to_be_no_error_of_the_engine():
    found = validate_design(**SMALL, **QUICK, truth={"ability_sd": 4.0}, n_data_sets=15, rng=4)
    assert not found.matched
    row = found.coverage.query("quantity == 'ability' and level == .95").iloc[0]
    assert row["high"] < 0.95
    assert "not an error of the engine" in found.verdict
    same = validate_design(**SMALL, **TINY, truth={"ability_sd": 1.0}, rng=4)
    assert same.matched


@pytest.mark.slow
def test_laplace_of_few_items_is_found():
    """The Laplace approximation of a 2PL with few answers: a shape that is not normal."""
    found = validate_design(
        kind="two-pl", n_items=6, n_models=6, engine="laplace", draws=400, n_data_sets=80, rng=2
    )
    assert found.calibrated is False
    assert found.data_sets["max_rhat"].isna().all()


@pytest.mark.parametrize(
    ("kind", "options", "settings"),
    [
        ("two-pl", {"family_means": True, "hierarchical": True}, {"missing": 0.2}),
        ("two-pl", {"discrimination": "one"}, {}),
        ("two-pl", {"discrimination": "signed"}, {}),
        ("mirt-dif", {"dimension": 2, "zero_sum": "families_and_items"}, {"missing": 0.1}),
        ("mirt-dif", {"dimension": 1, "sparse": True, "family_means": True}, {}),
        ("residual-dif", {"hierarchical": True}, {"truth": {"easiness_sd": 0.1}}),
        ("residual-dif", {"dimension": 2, "priors": ResidualDifPriors(easiness_sd=1.0)}, {}),
        ("bradley-terry", {"ties": "davidson", "first_shown": True, "judge_effects": True}, {}),
        ("bradley-terry", {"ties": "rao-kupper", "hierarchical": True}, {}),
    ],
)
def test_every_kind_and_option_is_validated(kind, options, settings):
    found = validate_design(
        kind=kind, options=options, n_items=8, n_models=8, n_battles=112, **TINY, **settings, rng=1
    )
    assert found.n_fitted == 2
    assert {f"{found.ranking} difference", found.ranking} <= set(found.coverage["quantity"])
    assert found.quantities["p_adjusted"].notna().all()


@pytest.mark.parametrize(
    ("kind", "engine", "options"),
    [
        ("two-pl", "map", {}),
        ("mirt-dif", "map", {"dimension": 1}),
        ("bradley-terry", "mm", {}),
        ("bradley-terry", "newton", {"ties": "davidson", "first_shown": True}),
    ],
)
def test_estimates_have_coverage_and_no_positions(kind, engine, options):
    found = validate_design(
        kind=kind, engine=engine, options=options, n_items=20, n_models=8, n_battles=280,
        n_data_sets=4, rng=1,
    )  # fmt: skip
    assert found.positions.empty
    assert found.quantities["quantity"].iloc[-1] == "P(i above j)"
    assert found.quantities["mean_position"].isna().all()
    assert len(found.ranks)
    assert found.data_sets["converged"].eq(1).all()
    row = found.coverage.query(f"quantity == '{found.ranking}' and level == .95").iloc[0]
    assert row["covered"] > 0.7


def test_the_design_is_that_of_the_data():
    table = pd.DataFrame({"model": list("abcd"), "family": ["Ash", "Birch"] * 2})
    like = Responses.build(
        [[1, 0, -1, 1], [0, 1, 1, 1], [1, 1, 0, 0]], items=["q3", "q1", "q2"], models=table
    )
    found = validate_design(like, kind="mirt-dif", options={"dimension": 1}, **TINY, rng=1)
    assert found.design["sizes"] == {"items": 3, "models": 4, "families": 2, "missing answers": 1}
    assert found.design["copied"]
    turned = like.take(items=np.array([2, 0, 1]))
    again = validate_design(turned, kind="mirt-dif", options={"dimension": 1}, **TINY, rng=1)
    pd.testing.assert_frame_equal(found.coverage, again.coverage)
    battles = Battles.build(["a", "a", "b"] * 4, ["b", "c", "c"] * 4, ["a", "b", "tie"] * 4)
    found = validate_design(battles, engine="newton", n_data_sets=3, rng=1)
    assert found.design["kind"] == "bradley-terry"
    assert found.design["sizes"] == {"models": 3, "battles": 12}


def stop_after(n):
    def progress(step, share):
        if step == "fitting data sets" and share >= n / 6:
            raise KeyboardInterrupt

    return progress


def tables(found):
    names = ("quantities", "coverage", "ranks", "orders", "positions", "data_sets")
    return {name: getattr(found, name).to_csv() for name in names}


def test_a_stopped_run_goes_on_to_the_same(tmp_path):
    settings = {**SMALL, **TINY, "n_data_sets": 6, "rng": 3}
    whole = tables(validate_design(**settings))
    with pytest.raises(KeyboardInterrupt):
        validate_design(**settings, folder=tmp_path, progress=stop_after(2))
    store = tmp_path / RECORDS
    assert len(store.read_text().splitlines()) == 1 + 2
    with store.open("a") as stream:
        stream.write('{"data_set": 2, "fai')
    steps = []
    again = validate_design(**settings, folder=tmp_path, progress=lambda *said: steps.append(said))
    assert tables(again) == whole
    assert steps[1] == ("fitting data sets", pytest.approx(2 / 6))
    assert steps[-1] == ("fitting data sets", 1.0)
    fewer = validate_design(**{**settings, "n_data_sets": 4}, folder=tmp_path)
    assert fewer.n_data_sets == 4
    pd.testing.assert_frame_equal(fewer.data_sets, again.data_sets.iloc[:4])


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"rng": 4}, "seed"),
        ({"n_models": 7}, "sizes and shape"),
        ({"truth": {"ability_sd": 2.0}}, "truth"),
        ({"draws": 150}, "settings"),
    ],
)
def test_another_design_is_refused(tmp_path, change, what):
    settings = {**SMALL, **TINY, "rng": 3}
    validate_design(**settings, folder=tmp_path)
    with pytest.raises(
        DataError, match=f"a validation that differs in {what}; name another folder"
    ):
        validate_design(**{**settings, **change}, folder=tmp_path)


def test_a_damaged_store_is_refused(tmp_path):
    (tmp_path / RECORDS).write_text("{}\n{not json}\n")
    with pytest.raises(DataError, match="is damaged; delete it"):
        validate_design(**SMALL, **TINY, rng=3, folder=tmp_path)


class Elsewhere:
    """A client whose workers get copies, and begin with the last data set."""

    def __init__(self):
        self.waiting = []

    def scatter(self, data, *, hash):
        return pickle.dumps(data)

    def submit(self, function, *args, pure):
        future = Future(self, function, args)
        self.waiting.append(future)
        return future


class Future:
    def __init__(self, client, function, args):
        self.client, self.function, self.args = client, function, args

    def result(self):
        while self.client.waiting:
            future = self.client.waiting.pop()
            task, number = future.args
            future.found = future.function(pickle.loads(task), number)
        return self.found


def test_workers_change_nothing():
    settings = {**SMALL, **TINY, "n_data_sets": 4, "rng": 3}
    assert tables(validate_design(**settings, client=Elsewhere())) == tables(
        validate_design(**settings)
    )


def test_data_sets_without_a_fit_are_counted_and_said(monkeypatch):
    exact, calls = validation_tasks.refitter, []

    def failing(model, **settings):
        refit = exact(model, **settings)

        def refit_or_fail(data, rng):
            calls.append(1)
            if len(calls) == 2:
                raise ConvergenceError("no mode was found")
            return refit(data, rng)

        return refit_or_fail

    monkeypatch.setattr(validation_tasks, "refitter", failing)
    found = validate_design(**SMALL, **{**TINY, "n_data_sets": 5}, rng=3)
    assert (found.n_data_sets, found.n_fitted) == (5, 4)
    assert found.data_sets["failed"].tolist()[1] == "no mode was found"
    assert "1 of 5 data sets have no fit" in found.warnings[0]
    calls[:] = [1]
    validation_tasks._READY.clear()
    with pytest.raises(DataError, match="1 of 2 data sets of this design could not be fitted"):
        validate_design(**SMALL, **TINY, rng=3)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"kind": "rasch"}, ValueError, "kind must be one of"),
        ({"engine": "hmc"}, ValueError, "two-pl has no engine hmc"),
        ({"n_models": 1}, ValueError, "number of models must be at least 2"),
        ({"missing": 1.0}, ValueError, r"missing must lie in \[0, 1\)"),
        ({"n_data_sets": 1}, ValueError, "n_data_sets must be at least 2"),
        ({"draws": 20}, ValueError, "draws must be at least 100, got 20"),
        ({"engine": "laplace", "thin": 2}, ValueError, "thin is for the engines gibbs and nuts"),
        ({"truth": {"sd": 1}}, ValueError, "no hyperparameter 'sd'; it has ability_sd"),
        ({"truth": {"ability_sd": -1}}, ValueError, "ability_sd must be positive"),
        ({"truth": {"dif_share": 0.2}}, ValueError, "no hyperparameter 'dif_share'"),
        (
            {"kind": "mirt-dif", "options": {"dimension": 1}, "truth": {"dif_share": 0.2}},
            ValueError,
            "planted effects need both dif_share and dif_effect",
        ),
        ({"options": {"priors": ResidualDifPriors()}}, TypeError, "priors of two-pl are TwoPLPri"),
        ({"engine": "map", "options": {"hierarchical": True}}, ValueError, "map does not know the"),
        ({"kind": "residual-dif"}, DataError, "easiness is flat"),
        (
            {"kind": "residual-dif", "engine": "map", "truth": {"easiness_sd": 1.0}},
            ValueError,
            "residual-dif has no engine map",
        ),
    ],
)
def test_what_cannot_be_validated_is_said(arguments, error, message):
    with pytest.raises(error, match=message):
        validate_design(n_items=5, **{"n_models": 5, **arguments}, rng=1)


def test_memory_is_looked_at_before_any_work():
    with pytest.raises(DataError, match="draws of one data set"):
        validate_design(**SMALL, memory_limit=1000, rng=1)


def test_battles_are_copied_for_a_kind_that_takes_them():
    battles = Battles.build(["a"], ["b"], ["a"])
    with pytest.raises(DataError, match="two-pl takes responses"):
        validate_design(battles, kind="two-pl")


def test_sizes_are_spread_evenly():
    sizes = Sizes(items=7, models=5, families=3, missing=0.2, battles=23, judges=2)
    answers = blank_responses(sizes)
    assert answers.n_missing == 7
    assert answers.models["family"].value_counts().tolist() == [2, 2, 1]
    battles = blank_battles(sizes, {"ties": "davidson"})
    counts = battles.counts()
    n = counts.wins + counts.losses + counts.ties
    assert sorted(set(n.tolist())) == [2, 3]
    assert n.sum() == 23
    few = Sizes(items=1, models=8, families=0, missing=0.0, battles=8, judges=0)
    assert blank_battles(few, {}).n_model == 8
    with pytest.raises(ValueError, match="a family needs a model"):
        Sizes(items=3, models=2, families=3, missing=0.0, battles=1, judges=0)


def test_priors_of_the_fit_are_those_of_the_truths():
    found = validate_design(
        kind="two-pl", n_items=5, n_models=5, options={"priors": TwoPLPriors(ability_sd=3.0)},
        **TINY, rng=1,
    )  # fmt: skip
    assert found.design["priors"]["ability_sd"] == 3.0
    assert found.matched
