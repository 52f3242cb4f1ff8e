"""The Gibbs sampler of Bradley–Terry models: its conditionals, and the joint distribution.

Seeds are fixed; limits are set so that a correct sampler fails with the probability stated.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from arviz_stats.base import array_stats

from neartie.data.battles import Battles
from neartie.inference.fit import fit
from neartie.inference.gibbs_battle_effects import _shared_prior
from neartie.inference.gibbs_battle_gaussian import add_rows, gather_judges
from neartie.inference.gibbs_battle_kernel import factors_of, likelihood_along
from neartie.inference.gibbs_battle_scales import (
    SCALES,
    scale_density,
    scale_direction,
    tie_density,
)
from neartie.inference.gibbs_bradley_terry import BradleyTerrySampler, gibbs_bradley_terry
from neartie.models.bradley_terry import outcome_log_probabilities
from neartie.models.bradley_terry_density import (
    log_density,
    log_prior,
    logits,
    row_log_likelihood,
)
from neartie.models.bradley_terry_design import design_battles
from neartie.models.bradley_terry_model import build_bradley_terry
from neartie.models.bradley_terry_priors import BradleyTerryPriors

OPTIONS = {
    "half": {"ties": "half"},
    "half, scale": {"ties": "half", "hierarchical": True, "first_shown": True},
    "half, judges": {"ties": "half", "judge_effects": True, "hierarchical": True},
    "davidson": {"ties": "davidson", "covariates": True, "hierarchical": True},
    "rao-kupper": {"ties": "rao-kupper", "covariates": True, "first_shown": True},
    "all": {
        "ties": "davidson",
        "judge_effects": True,
        "first_shown": True,
        "covariates": True,
        "hierarchical": True,
    },
}
COVARIATES = pd.DataFrame(
    {"model": list("abcd"), "size": [1.0, 2.0, 4.0, 9.0], "age": [3.0, 1.0, 2.0, 2.5]}
)
# What the joint normal draw is conditional on.
CONDITIONS = ("strength_scale", "log_tie", "judge_first_shown_scale", "judge_strength_scale")
# Tighter than the defaults: what is drawn from them is not lost in the tails.
PRIORS = BradleyTerryPriors(strength_sd=1.0, strength_scale_sd=1.0, log_tie_mean=0.3)


def battles(*, weighted=False, seed=1, order=None):
    rng = np.random.default_rng(seed)
    n = 60
    first = rng.integers(4, size=n)
    second = (first + rng.integers(1, 4, size=n)) % 4
    columns = {
        "model_a": np.array(list("abcd"))[first],
        "model_b": np.array(list("abcd"))[second],
        "winner": rng.choice(["a", "b", "tie"], size=n, p=[0.5, 0.3, 0.2]),
        "judge": rng.choice(["j", "k", "l", ""], size=n),
        "weight": rng.choice([0.5, 1.0, 2.25], size=n) if weighted else np.ones(n),
    }
    table = pd.DataFrame(columns)
    if order is not None:
        table = table.iloc[order]
    return Battles.build(
        table["model_a"],
        table["model_b"],
        table["winner"],
        judge=table["judge"],
        weight=table["weight"].to_numpy(),
    )


class Setup:
    """A sampler with the plain description of its data beside it."""

    def __init__(self, name, *, weighted=False):
        options = dict(OPTIONS[name])
        self.ties = options["ties"]
        if options.get("covariates"):
            options["covariates"] = COVARIATES
        data = battles(weighted=weighted)
        self.model = build_bradley_terry(data, priors=PRIORS, **options)
        self.sampler = gibbs_bradley_terry(self.model)
        design = {key: options[key] for key in options if key not in ("ties", "hierarchical")}
        self.design = design_battles(data, **design)
        self.order = np.argsort(self.design.judge, kind="stable")

    def problem(self, outcome):
        return replace(self.sampler.problem, outcome=np.ascontiguousarray(outcome[self.order]))

    def density(self, state):
        return log_density(state, self.design, ties=self.ties, priors=PRIORS)

    def prior(self, rng):
        """A draw of all free variables from the prior."""
        names, n_model, n_judge = self.sampler.names, 4, len(self.design.judges)

        def zero_sum(scale, *shape):
            values = scale * rng.standard_normal((*shape, n_model))
            return values - values.mean(axis=-1, keepdims=True)

        scale = abs(rng.normal(0, PRIORS.strength_scale_sd))
        if "strength_scale" not in names:
            scale = PRIORS.strength_sd
        tie = rng.normal(PRIORS.log_tie_mean, PRIORS.log_tie_sd)
        if self.ties == "rao-kupper":
            tie = abs(rng.normal(0, PRIORS.log_threshold_sd))
        values = {
            "strength_scale": scale,
            "strength": zero_sum(scale),
            "residual_strength": zero_sum(scale),
            "covariate_effect": rng.normal(0, PRIORS.covariate_sd, 2),
            "log_tie": tie,
            "first_shown_effect": rng.normal(0, PRIORS.first_shown_sd),
            "judge_first_shown_scale": abs(rng.normal(0, PRIORS.judge_first_shown_sd)),
            "judge_first_shown_z": rng.standard_normal(n_judge),
            "judge_strength_scale": abs(rng.normal(0, PRIORS.judge_strength_sd)),
            "judge_effect_z": zero_sum(1.0, n_judge),
        }
        return {name: np.array(values[name]) for name in names}

    def outcome(self, state, totals, rng):
        """Battles of a point; ties as half wins have no ties, as none arise."""
        tie = float(state["log_tie"]) if self.ties != "half" else 0.0
        chances = np.exp(
            outcome_log_probabilities(logits(state, self.design), tie, ties=self.ties)
        ).T
        if self.ties == "half":
            chances[:, 2] = 0.0
        chances /= chances.sum(axis=1, keepdims=True)
        return rng.multinomial(totals, chances).astype(float)


@pytest.fixture(scope="module")
def setups():
    return {name: Setup(name, weighted=name == "half") for name in OPTIONS}


@pytest.fixture(params=list(OPTIONS))
def setup(request, setups):
    return setups[request.param]


def points(setup, seed=3):
    rng = np.random.default_rng(seed)
    return setup.prior(rng), setup.prior(rng)


@pytest.mark.parametrize("tie", [-1.0, 0.5, 0.9, 2.0])
@pytest.mark.parametrize("ties", ["half", "davidson", "rao-kupper"])
def test_factors_are_the_likelihood(setups, ties, tie):
    design = setups["half"].design
    tie = abs(tie) if ties == "rao-kupper" else tie
    factors = factors_of(ties, design.outcome, tie)
    rng = np.random.default_rng(1)
    nothing = np.zeros(len(design.first))
    values = []
    for _ in range(2):
        point = {"strength": rng.normal(size=4) * 2, "log_tie": tie}
        logit = logits(point, design)
        values.append(
            likelihood_along(1.0, nothing, logit, factors)
            - row_log_likelihood(point, design, ties=ties).sum()
        )
    assert values[0] == pytest.approx(values[1], abs=1e-10)


def normal_terms(setup, state, precision, linear):
    """Prior and likelihood given weights, from the plain description."""
    logit = logits(state, setup.design)[setup.order]
    prior = log_prior(state, setup.design, ties=setup.ties, priors=PRIORS)
    return prior + linear @ logit - 0.5 * precision @ logit**2


@pytest.mark.parametrize("name", [name for name in OPTIONS if name not in ("all", "half, judges")])
def test_joint_normal_density_is_prior_plus_weighted_rows(setups, name):
    setup = setups[name]
    problem, rng = setup.sampler.problem, np.random.default_rng(2)
    n_row = len(problem.rows.first)
    precision, linear = rng.gamma(2.0, size=n_row), rng.normal(size=n_row)
    first, second = points(setup)
    values = []
    for state in (first, {**second, **{k: first[k] for k in first if k in CONDITIONS}}):
        point = setup.sampler.read(state)
        matrix, vector = _shared_prior(point, problem)
        shown_at = 4 if problem.first_shown else -1
        rows = problem.rows
        add_rows(
            rows, 0, n_row, rows.first, rows.second, shown_at, precision, linear, matrix, vector
        )
        effect = [point.shown_effect] if problem.first_shown else []
        shared = np.concatenate([point.strength, effect, point.slope])
        whole = np.triu(matrix) + np.triu(matrix, 1).T
        normal = vector @ shared - 0.5 * shared @ whole @ shared
        values.append(normal - normal_terms(setup, state, precision, linear))
    assert values[0] == pytest.approx(values[1], abs=1e-9)


@pytest.mark.parametrize("name", ["all", "half, judges"])
def test_judges_integrated_out_leave_the_density_of_the_others(setups, name):
    setup = setups[name]
    problem, rng = setup.sampler.problem, np.random.default_rng(2)
    rows, n_row, n_judge = problem.rows, len(problem.rows.first), problem.n_judge
    precision, linear = rng.gamma(2.0, size=n_row), rng.normal(size=n_row)
    point = setup.sampler.read(setup.prior(rng))
    scales = np.array([point.deviation_scale, point.advantage_scale])
    shown_at = 4 if problem.first_shown else -1
    matrix, vector = _shared_prior(point, problem)
    n = len(vector)
    # the plain way: all unknowns in one matrix, then the Schur complement
    n_own = 5 if problem.first_shown else 4
    size = n + n_judge * n_own
    design = np.zeros((n_row, size))
    for r in range(n_row):
        a, b, judge = rows.first[r], rows.second[r], rows.judge[r]
        blocks = [0] if judge < 0 else [0, n + judge * n_own]
        for start in blocks:
            design[r, start + a] += 1.0
            design[r, start + b] -= 1.0
            if problem.first_shown:
                design[r, start + 4] += rows.shown[r]
    own = np.repeat(scales**-2.0, [4, 1])[:n_own]
    whole = np.diag(np.concatenate([np.zeros(n), np.tile(own, n_judge)]))
    whole[:n, :n] = np.triu(matrix) + np.triu(matrix, 1).T
    whole += design.T @ (precision[:, None] * design)
    lean = design.T @ linear
    inner = np.linalg.solve(whole[n:, n:], np.column_stack([whole[n:, :n], lean[n:]]))
    expected = whole[:n, :n] - whole[:n, n:] @ inner[:, :-1]
    expected_lean = lean[:n] - whole[:n, n:] @ inner[:, -1]

    stop = int(problem.judges.rows[1])
    add_rows(rows, 0, stop, rows.first, rows.second, shown_at, precision, linear, matrix, vector)
    gather_judges(rows, problem.judges, shown_at, precision, linear, scales**-2.0, matrix, vector)
    assert np.triu(matrix) == pytest.approx(np.triu(expected), abs=1e-9)
    assert vector == pytest.approx(expected_lean, abs=1e-9)


@pytest.mark.parametrize("scale", SCALES)
def test_scale_density_is_that_of_the_model(setup, scale):
    sampler = setup.sampler
    problem, (state, _) = sampler.problem, points(setup)
    point = sampler.read(state)
    direction = scale_direction(point, problem, scale)
    names = {
        "strength_scale": "strength_scale",
        "deviation_scale": "judge_strength_scale",
        "advantage_scale": "judge_first_shown_scale",
    }
    assert (direction is None) == (names[scale] not in sampler.names)
    if direction is None:
        return
    factors = factors_of(problem.ties, problem.outcome, point.tie)
    fixed = point.logits(problem) - direction
    density = scale_density(scale, getattr(point, scale), problem, fixed, direction, factors)
    step = 0.37
    moved = {**state, names[scale]: state[names[scale]] * np.exp(step)}
    jacobian = step
    if scale == "strength_scale":
        # the strengths go along: three dimensions for four that sum to zero
        free = "residual_strength" if "residual_strength" in state else "strength"
        moved[free] = state[free] * np.exp(step)
        jacobian = 4 * step
    expected = setup.density(moved) + jacobian - setup.density(state)
    assert density(step) - density(0.0) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", [name for name in OPTIONS if OPTIONS[name]["ties"] != "half"])
def test_tie_density_is_that_of_the_model(setups, name):
    setup = setups[name]
    sampler, (state, _) = setup.sampler, points(setup)
    point = sampler.read(state)
    density = tie_density(sampler.problem, point.logits(sampler.problem))
    for value in (-0.7, 0.2, 1.1):
        threshold = setup.ties == "rao-kupper"
        tie = np.exp(value) if threshold else value
        start = np.log(point.tie) if threshold else point.tie
        expected = setup.density({**state, "log_tie": tie}) - setup.density(state)
        expected += value - start if threshold else 0.0
        assert density(value) - density(start) == pytest.approx(expected, abs=1e-9)


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
            outcome = setup.outcome(state, totals, rng)
            sampler = BradleyTerrySampler(setup.sampler.names, setup.problem(outcome))
            sampler.sweep(state, rng, tuning=False)
        accepted.append(sampler.counts(state)["accepted_strength"])
        end.append(numbers(state))
    change = np.array(end) - np.array(start)
    z = change.mean(axis=0) / (change.std(axis=0) / np.sqrt(n_replicates))
    return np.abs(z), float(np.mean(accepted))


# Of about 45 numbers in each of six settings: a limit of 4.2 is passed by chance with probability
# 0.008 in all, were means exactly normal.
def test_sweeps_leave_the_joint_distribution_as_it_is(setup):
    totals = np.random.default_rng(5).integers(1, 9, size=len(setup.design.first))
    z, accepted = joint_test(setup, n_replicates=600, n_sweeps=2, totals=totals, seed=6)
    assert z.max() < 4.2
    assert accepted > 0.98


@pytest.mark.slow
@pytest.mark.parametrize("most", [4, 40])
def test_many_sweeps_leave_the_joint_distribution_as_it_is(setup, most):
    totals = np.random.default_rng(7).integers(1, most, size=len(setup.design.first))
    z, _ = joint_test(setup, n_replicates=5000, n_sweeps=4, totals=totals, seed=8)
    assert z.max() < 4.8


@pytest.mark.slow
@pytest.mark.parametrize("name", ["half", "rao-kupper"])
def test_moments_are_those_of_nuts(setups, name):
    model = setups[name].model
    fits = [
        fit(model, engine=engine, draws=4000, tune=1000, chains=2, target_accept=0.95, rng=9)
        for engine in ("gibbs", "nuts")
    ]
    for variable in setups[name].sampler.names:
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


def test_state_holds_every_free_variable(setup):
    state = run(setup.sampler, 4)
    assert tuple(name for name in state if not name.startswith("_")) == setup.sampler.names
    shapes = {name: value.shape for name, value in setup.prior(np.random.default_rng(1)).items()}
    for name, shape in shapes.items():
        assert state[name].shape == shape
        assert state[name].dtype == np.float64
        assert state[name].flags.c_contiguous
        assert np.isfinite(state[name]).all()


def test_same_seed_same_bytes(setup):
    one, two, other = (run(setup.sampler, 6, seed=seed) for seed in (1, 1, 2))
    assert {name: value.tobytes() for name, value in one.items()} == {
        name: value.tobytes() for name, value in two.items()
    }
    name = setup.sampler.names[-1]
    assert one[name].tobytes() != other[name].tobytes()


def test_order_of_battles_changes_nothing():
    order = np.random.default_rng(4).permutation(60)
    samplers = [
        gibbs_bradley_terry(build_bradley_terry(data, judge_effects=True, ties="davidson"))
        for data in (battles(weighted=True), battles(weighted=True, order=order))
    ]
    one, two = (run(sampler, 4) for sampler in samplers)
    assert {name: value.tobytes() for name, value in one.items()} == {
        name: value.tobytes() for name, value in two.items()
    }


def test_settings_stay_as_they_are_after_tuning(setup):
    rng = np.random.default_rng(3)
    state = run(setup.sampler, 20)
    before = {name: state[name].copy() for name in ("_width", "_tuned")}
    setup.sampler.sweep(state, rng, tuning=False)
    assert all((state[name] == value).all() for name, value in before.items())


def test_models_that_always_win_stay_finite():
    data = Battles.build(["a"] * 500, ["b"] * 400 + ["c"] * 100, ["a"] * 500)
    sampler = gibbs_bradley_terry(build_bradley_terry(data, hierarchical=True))
    state = run(sampler, 50)
    assert np.isfinite(state["strength"]).all()
    assert state["strength"].sum() == pytest.approx(0.0, abs=1e-9)
    assert sampler.counts(state)["accepted_strength"] > 0.5


def test_refuses_other_models_and_unknown_options(setups):
    model = build_bradley_terry(battles())
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
