"""The 2PL's Gibbs sampler as a whole: Geweke's joint test, calibration, and long runs of NUTS."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from arviz_stats.base import array_stats
from scipy import stats
from scipy.special import expit

from neartie.data.responses import Responses
from neartie.inference.calibration import calibrate
from neartie.inference.fit import fit
from neartie.inference.gibbs_two_pl import TwoPLSampler, gibbs_two_pl
from neartie.inference.gibbs_two_pl_point import Problem, cells_of
from neartie.models.priors import TwoPLPriors
from neartie.models.two_pl import build_two_pl
from neartie.models.two_pl_density import two_pl_logit

type Values = dict[str, Any]

N_ITEM, N_MODEL = 5, 7
FAMILY = np.array([0, 1, 2, 0, 1, 0, 0])
PRIORS = TwoPLPriors(ability_sd=1.3, difficulty_sd=0.8, log_discrimination_mean=0.2)
OPTIONS = [
    ("free", False, False),
    ("free", True, True),
    ("one", False, False),
    ("one", True, True),
    ("signed", False, False),
    ("signed", False, True),
]
FEW_SETTINGS = [("free", True, True), ("one", True, True), ("signed", False, True)]
# Of any test of one data set of options, if the sampler is right.
FALSE_ALARM = 1e-3


def model_of(options: tuple[str, bool, bool], values: np.ndarray) -> Any:
    discrimination, hierarchical, family_means = options
    n_item, n_model = values.shape
    models = pd.DataFrame(
        {
            "model": [f"m{m:02d}" for m in range(n_model)],
            "family": [f"f{f}" for f in np.resize(FAMILY, n_model)],
        }
    )
    return build_two_pl(
        Responses.build(values, items=[f"q{i:02d}" for i in range(n_item)], models=models),
        priors=PRIORS,
        discrimination=discrimination,
        hierarchical=hierarchical,
        family_means=family_means,
    )


def sampler_of(options: tuple[str, bool, bool], *, standard: bool = True) -> TwoPLSampler:
    """A sampler of few answers, some missing, one model without any."""
    discrimination, _, _ = options
    values = np.zeros((N_ITEM, N_MODEL), dtype=np.int8)
    values[[0, 1, 3], [2, 2, 0]] = -1
    values[:, 6] = -1
    sampler = gibbs_two_pl(model_of(options, values))
    if standard or discrimination != "one":
        return sampler
    names = tuple(name.replace("ability_standard", "ability") for name in sampler.names)
    return TwoPLSampler(names, replace(sampler.problem, standard=False))


def draw_prior(problem: Problem, rng: np.random.Generator) -> tuple[Values, Values]:
    """Values of all variables, and the standard normal ones that they are made of."""
    kind, prior = problem.discrimination, problem.priors
    z: Values = {"ability_standard": rng.normal(size=problem.n_model)}
    center, scale = 0.0, prior.ability_sd
    values: Values = {}
    if problem.n_family:
        mean = rng.normal(size=problem.n_family)
        values["family_mean"] = prior.family_mean_sd * (mean - mean.mean())
        center = values["family_mean"][problem.family]
    if kind == "one":
        z["ability_scale"] = rng.normal()
        values["ability_scale"] = scale = scale * np.exp(prior.log_scale_sd * z["ability_scale"])
    values["ability_standard"] = z["ability_standard"]
    values["ability"] = center + scale * z["ability_standard"]
    populations = {
        "difficulty": (0.0, prior.difficulty_mean_sd, prior.difficulty_sd),
        "log_discrimination": (
            prior.log_discrimination_mean,
            prior.log_discrimination_mean_sd,
            prior.log_discrimination_sd,
        ),
    }
    if kind == "one":
        del populations["log_discrimination"]
    if kind == "signed":
        populations = {
            "discrimination": (prior.discrimination_mean, 0.0, prior.discrimination_sd),
            "easiness": (0.0, 0.0, prior.easiness_sd),
        }
    for name, (mean, mean_sd, sd) in populations.items():
        if problem.hierarchical:
            z[f"{name}_mean"], z[f"{name}_scale"] = rng.normal(size=2)
            mean = values[f"{name}_mean"] = mean + mean_sd * z[f"{name}_mean"]
            sd = values[f"{name}_scale"] = sd * np.exp(prior.log_scale_sd * z[f"{name}_scale"])
        z[name] = rng.normal(size=problem.n_item)
        values[name] = mean + sd * z[name]
    return values, z


def standardised(values: Values, problem: Problem) -> Values:
    """Turn values back into what is standard normal under the prior, and one chi-square value."""
    kind, prior = problem.discrimination, problem.priors
    z: Values = {}
    scale = values.get("ability_scale", prior.ability_sd)
    center = values["family_mean"][problem.family] if problem.n_family else 0.0
    if "ability_standard" in values:
        z["ability_standard"] = values["ability_standard"]
    else:
        z["ability_standard"] = (values["ability"] - center) / scale
    if problem.n_family:
        squares = np.sum((values["family_mean"] / prior.family_mean_sd) ** 2)
        z["family_mean"] = stats.norm.ppf(stats.chi2(2).cdf(squares))
    if kind == "one":
        z["ability_scale"] = np.log(scale / prior.ability_sd) / prior.log_scale_sd
    fixed = {
        "difficulty": (0.0, prior.difficulty_sd),
        "log_discrimination": (prior.log_discrimination_mean, prior.log_discrimination_sd),
        "discrimination": (prior.discrimination_mean, prior.discrimination_sd),
        "easiness": (0.0, prior.easiness_sd),
    }
    for name, (mean, sd) in fixed.items():
        if name not in values:
            continue
        if problem.hierarchical:
            own, scale = values[f"{name}_mean"], values[f"{name}_scale"]
            z[f"{name}_mean"] = (own - mean) / getattr(prior, f"{name}_mean_sd")
            z[f"{name}_scale"] = np.log(scale / sd) / prior.log_scale_sd
            mean, sd = own, scale
        z[name] = (values[name] - mean) / sd
    return z


def with_answers(sampler: TwoPLSampler, values: Values, rng: np.random.Generator) -> TwoPLSampler:
    """The same sampler given answers that are drawn from the values."""
    problem = sampler.problem
    point = sampler.read({name: np.asarray(values[name]) for name in sampler.names})
    logit = point.slope(problem)[:, None] * point.ability + point.intercept[:, None]
    seen = np.zeros((N_ITEM, N_MODEL), dtype=bool)
    starts, places = problem.by_item.seen_start, problem.by_item.seen
    for i in range(N_ITEM):
        seen[i, places[starts[i] : starts[i + 1]]] = True
    item, model = np.nonzero(seen)
    right = np.log(rng.random(len(item))) < -np.logaddexp(0, -logit[item, model])
    return TwoPLSampler(
        sampler.names,
        replace(
            problem,
            by_model=cells_of(model, item, right, n_unit=N_MODEL, n_other=N_ITEM),
            by_item=cells_of(item, model, right, n_unit=N_ITEM, n_other=N_MODEL),
        ),
    )


def joint_test(sampler: TwoPLSampler, *, n_replicates: int, n_rounds: int) -> dict[str, float]:
    """Return p-values of all pivots after rounds of a sweep and fresh answers.

    Each replicate starts from the prior and its last values have the prior as their distribution,
    if sweeps leave posteriors as they are: independent values with known distributions.
    """
    rng = np.random.default_rng(20261130)
    template = sampler.start(rng)
    template["_log_width"][:] = -0.7
    found: dict[str, list[Any]] = {}
    for _ in range(n_replicates):
        values, _ = draw_prior(sampler.problem, rng)
        state = {name: value.copy() for name, value in template.items()}
        for name in sampler.names:
            state[name][...] = values[name]
        for _ in range(n_rounds):
            with_answers(sampler, state, rng).sweep(state, rng, tuning=False)
        own = {name: state[name] for name in sampler.names}
        for name, value in standardised(own, sampler.problem).items():
            found.setdefault(name, []).append(np.ravel(value))
    p = {}
    for name, rows in found.items():
        pooled = np.array(rows)
        p[name] = stats.kstest(pooled.ravel(), stats.norm.cdf).pvalue
        p[f"{name}, mean"] = stats.kstest(
            pooled.mean(axis=1) * np.sqrt(pooled.shape[1]), stats.norm.cdf
        ).pvalue
        squares = (pooled**2).sum(axis=1)
        p[f"{name}, spread"] = stats.kstest(squares, stats.chi2(pooled.shape[1]).cdf).pvalue
    return p


def smallest_adjusted(p: dict[str, float]) -> float:
    return min(min(p.values()) * len(p), 1.0)


def test_pivots_are_those_of_the_prior():
    """The test's own prior and its inverse belong together."""
    for options in OPTIONS:
        problem, rng = sampler_of(options).problem, np.random.default_rng(1)
        values, z = draw_prior(problem, rng)
        del values["ability_standard"]
        back = standardised(values, problem)
        assert set(z) == set(back) - {"family_mean"}
        for name in z:
            assert back[name] == pytest.approx(z[name])
        if options[0] == "free":
            logit = two_pl_logit({k: np.asarray(v) for k, v in values.items()})
            assert logit.shape == (N_ITEM, N_MODEL)


@pytest.mark.parametrize("options", FEW_SETTINGS)
def test_sweeps_and_fresh_answers_keep_the_prior(options):
    p = joint_test(sampler_of(options), n_replicates=250, n_rounds=6)
    assert smallest_adjusted(p) > FALSE_ALARM, p


@pytest.mark.slow
@pytest.mark.parametrize("standard", [True, False])
@pytest.mark.parametrize("options", OPTIONS)
def test_many_sweeps_and_fresh_answers_keep_the_prior(options, standard):
    if not standard and options[0] != "one":
        options = (options[0], options[1], not options[2])
    sampler = sampler_of(options, standard=standard)
    p = joint_test(sampler, n_replicates=3000, n_rounds=12)
    assert smallest_adjusted(p) > FALSE_ALARM, p


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("missing", [False, True])
def test_truths_from_the_prior_are_evenly_placed_among_draws(options, missing):
    """Calibration by simulation of parameters, ranks and orders at small size."""
    rng = np.random.default_rng(2)
    values = rng.integers(2, size=(14, 11)).astype(np.int8)
    if missing:
        values[rng.random(values.shape) < 0.2] = -1
    model = model_of(options, values)
    sampler = gibbs_two_pl(model)

    def simulate(rng: np.random.Generator) -> tuple[Values, Values]:
        truth, _ = draw_prior(sampler.problem, rng)
        point = sampler.read({name: np.asarray(truth[name]) for name in sampler.names})
        logit = point.slope(sampler.problem)[:, None] * point.ability + point.intercept[:, None]
        score = (rng.random(logit.shape) < expit(logit)).astype(float)
        kept = {name: np.asarray(truth[name]) for name in (*sampler.names, "ability")}
        return kept, {"score": score[values >= 0] if missing else score}

    found = calibrate(
        model, simulate, ranking="ability", engine="gibbs", n_replicates=120, thin=6, rng=3
    )
    table = found.table().set_index("quantity")
    assert {"ability", "rank", "P(i above j)"} <= set(table.index)
    assert table["p_adjusted"].min() > FALSE_ALARM, table


@pytest.mark.slow
@pytest.mark.parametrize("options", FEW_SETTINGS)
def test_moments_are_those_of_a_long_run_of_nuts(options):
    rng = np.random.default_rng(6)
    easy = np.linspace(-2, 2, 25)
    values = (rng.random((25, 20)) < expit(rng.normal(size=20) + easy[:, None])).astype(np.int8)
    values[rng.random(values.shape) < 0.1] = -1
    values[0], values[1] = np.where(values[0] >= 0, 1, -1), np.where(values[1] >= 0, 0, -1)
    model = model_of(options, values)
    first, second = (
        fit(model, engine=engine, draws=draws, tune=1000, chains=4, rng=9)["posterior"].to_dataset()
        for engine, draws in (("nuts", 3000), ("gibbs", 6000))
    )
    z: list[float] = []
    for name in first.data_vars:
        # the chains must know each number well for the errors to be normal
        pairs = [
            np.moveaxis(draws[name].to_numpy().reshape(4, draws.sizes["draw"], -1), 2, 0)
            for draws in (first, second)
        ]
        for own, other in zip(*pairs, strict=True):
            for power in (1, 2):
                middle = np.median(own)
                moved = [(part - middle) ** power for part in (own, other)]
                error = sum(float(array_stats.mcse(part, method="mean")) ** 2 for part in moved)
                z.append(float(moved[0].mean() - moved[1].mean()) / np.sqrt(error))
    assert np.abs(z).max() < stats.norm.isf(FALSE_ALARM / (2 * len(z))), z
