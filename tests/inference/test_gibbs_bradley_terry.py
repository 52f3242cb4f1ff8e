"""The Gibbs sampler of Bradley–Terry models as a whole: joint distribution, chains, refusals.

Seeds are fixed; limits are set so that a correct sampler fails with the probability stated.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from arviz_stats.base import array_stats

from neartie.data.battles import Battles
from neartie.inference.fit import fit
from neartie.inference.gibbs_bradley_terry import BradleyTerrySampler, gibbs_bradley_terry
from neartie.models.bradley_terry import outcome_log_probabilities
from neartie.models.bradley_terry_density import logits
from neartie.models.bradley_terry_model import build_bradley_terry


def outcome_of(setup, state, totals, rng):
    """Battles of a point; ties as half wins have no ties, as none arise."""
    tie = float(state["log_tie"]) if setup.ties != "half" else 0.0
    chances = np.exp(outcome_log_probabilities(logits(state, setup.design), tie, ties=setup.ties)).T
    if setup.ties == "half":
        chances[:, 2] = 0.0
    chances /= chances.sum(axis=1, keepdims=True)
    return rng.multinomial(totals, chances).astype(float)


def joint_test(setup, *, n_replicates, n_sweeps, totals, seed):
    """Standardised mean changes from prior draws to what sweeps with fresh battles make of them.

    Replicates are independent, and each ends as a draw from the prior if sweeps leave the posterior
    as it is (Geweke 2004). What changes between the two ends of one replicate varies less than
    either end, so that small mistakes show.
    """
    rng = np.random.default_rng(seed)
    start, end, accepted = [], [], []

    def numbers(state):
        values = np.concatenate([np.ravel(state[name]) for name in setup.sampler.names])
        scales = [np.log(state[name]) for name in setup.sampler.names if name.endswith("_scale")]
        products = [values[0] * values[-1], values[0] * values[1]]
        return np.concatenate([values, values**2, np.ravel(scales), products])

    for _ in range(n_replicates):
        state = setup.prior(rng)
        state |= {"_width": np.ones(4), "_tuned": np.zeros(()), "_tally": np.zeros(2)}
        start.append(numbers(state))
        for _ in range(n_sweeps):
            outcome = outcome_of(setup, state, totals, rng)
            sampler = BradleyTerrySampler(setup.sampler.names, setup.problem(outcome))
            sampler.sweep(state, rng, tuning=False)
        accepted.append(sampler.counts(state)["accepted_strength"])
        end.append(numbers(state))
    change = np.array(end) - np.array(start)
    z = change.mean(axis=0) / (change.std(axis=0) / np.sqrt(n_replicates))
    return np.abs(z), float(np.mean(accepted))


# Of about 45 numbers in each of six settings: a limit of 4.2 is passed by chance with probability
# 0.008 in all, were means exactly normal.
def test_sweeps_leave_the_joint_distribution_as_it_is(battle_setup):
    totals = np.random.default_rng(5).integers(1, 9, size=len(battle_setup.design.first))
    z, accepted = joint_test(battle_setup, n_replicates=600, n_sweeps=2, totals=totals, seed=6)
    assert z.max() < 4.2
    assert accepted > 0.98


@pytest.mark.slow
@pytest.mark.parametrize("most", [4, 40])
def test_many_sweeps_leave_the_joint_distribution_as_it_is(battle_setup, most):
    totals = np.random.default_rng(7).integers(1, most, size=len(battle_setup.design.first))
    z, _ = joint_test(battle_setup, n_replicates=5000, n_sweeps=4, totals=totals, seed=8)
    assert z.max() < 4.8


@pytest.mark.slow
@pytest.mark.parametrize("name", ["half", "rao-kupper"])
def test_moments_are_those_of_nuts(battle_setups, name):
    model = battle_setups[name].model
    fits = [
        fit(model, engine=engine, draws=4000, tune=1000, chains=2, target_accept=0.95, rng=9)
        for engine in ("gibbs", "nuts")
    ]
    for variable in battle_setups[name].sampler.names:
        values = [f.posterior[variable].to_numpy().reshape(2, 4000, -1) for f in fits]
        for power in (1, 2):
            moments = [Moment.of(draws**power) for draws in values]
            error = np.hypot(moments[0].error, moments[1].error)
            # of about 90 numbers a model, passed by chance once in 1,700 runs
            assert np.abs((moments[0].mean - moments[1].mean) / error).max() < 4.5


class Moment(NamedTuple):
    """Means of draws with their Monte Carlo errors."""

    mean: np.ndarray
    error: np.ndarray

    @classmethod
    def of(cls, draws):
        ess = [
            float(array_stats.ess(draws[:, :, k], chain_axis=0, draw_axis=1, method="mean"))
            for k in range(draws.shape[2])
        ]
        return cls(draws.mean(axis=(0, 1)), draws.std(axis=(0, 1)) / np.sqrt(ess))


def run(sampler, n, *, seed=1):
    rng = np.random.default_rng(seed)
    state = sampler.start(rng)
    for place in range(n):
        sampler.sweep(state, rng, tuning=place < n // 2)
    return state


def test_state_holds_every_free_variable(battle_setup):
    state = run(battle_setup.sampler, 4)
    assert tuple(name for name in state if not name.startswith("_")) == battle_setup.sampler.names
    prior = battle_setup.prior(np.random.default_rng(1))
    shapes = {name: value.shape for name, value in prior.items()}
    for name, shape in shapes.items():
        assert state[name].shape == shape
        assert state[name].dtype == np.float64
        assert state[name].flags.c_contiguous
        assert np.isfinite(state[name]).all()


def test_same_seed_same_bytes(battle_setup):
    one, two, other = (run(battle_setup.sampler, 6, seed=seed) for seed in (1, 1, 2))
    assert {name: value.tobytes() for name, value in one.items()} == {
        name: value.tobytes() for name, value in two.items()
    }
    name = battle_setup.sampler.names[-1]
    assert one[name].tobytes() != other[name].tobytes()


def test_order_of_battles_changes_nothing(sixty_battles):
    order = np.random.default_rng(4).permutation(60)
    samplers = [
        gibbs_bradley_terry(build_bradley_terry(data, judge_effects=True, ties="davidson"))
        for data in (sixty_battles(weighted=True), sixty_battles(weighted=True, order=order))
    ]
    one, two = (run(sampler, 4) for sampler in samplers)
    assert {name: value.tobytes() for name, value in one.items()} == {
        name: value.tobytes() for name, value in two.items()
    }


def test_settings_stay_as_they_are_after_tuning(battle_setup):
    rng = np.random.default_rng(3)
    state = run(battle_setup.sampler, 20)
    before = {name: state[name].copy() for name in ("_width", "_tuned")}
    battle_setup.sampler.sweep(state, rng, tuning=False)
    assert all((state[name] == value).all() for name, value in before.items())


def test_models_that_always_win_stay_finite():
    data = Battles.build(["a"] * 500, ["b"] * 400 + ["c"] * 100, ["a"] * 500)
    sampler = gibbs_bradley_terry(build_bradley_terry(data, hierarchical=True))
    state = run(sampler, 50)
    assert np.isfinite(state["strength"]).all()
    assert state["strength"].sum() == pytest.approx(0.0, abs=1e-9)
    assert sampler.counts(state)["accepted_strength"] > 0.5


def test_refuses_other_models_and_unknown_options(sixty_battles):
    model = build_bradley_terry(sixty_battles())
    record = model.neartie
    model.neartie = replace(record, options={**record.options, "phantoms": True})
    with pytest.raises(ValueError, match="does not know the option 'phantoms'; use engine='nuts'"):
        gibbs_bradley_terry(model)
    model.neartie = replace(record, options={**record.options, "ties": "trinomial"})
    with pytest.raises(ValueError, match="does not know ties='trinomial'"):
        gibbs_bradley_terry(model)
    model.neartie = replace(record, kind="two-pl")
    with pytest.raises(ValueError, match="samples models of kind 'bradley-terry', got 'two-pl'"):
        gibbs_bradley_terry(model)
    with pytest.raises(TypeError, match="carries no record of neartie"):
        gibbs_bradley_terry(object())
