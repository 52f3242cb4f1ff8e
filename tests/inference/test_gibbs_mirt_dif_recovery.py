"""Samplers with family effects find again what is known: a density on a grid, simulated truths."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, log_expit

from neartie.data.responses import Responses
from neartie.inference.gibbs_easiness_kernel import shift_easiness
from neartie.inference.gibbs_mirt_dif import gibbs_mirt_dif
from neartie.models.mirt_dif import build_mirt_dif


@pytest.mark.parametrize("precision", [0.7, 0.0])
def test_the_slice_of_easiness_keeps_its_density(precision):
    """20,000 draws against the density on a grid: 5 standard errors, false alarms under 1e-5.

    The chain's sample size is taken to be a fifth of its length.
    """
    rng = np.random.default_rng(5)
    answers = np.array([[1, 0, 0, -1, 0, 0, 0, 0, 0]], dtype=np.int8)
    offset, n = rng.normal(size=(1, 9)), 20_000
    start, loading = np.array([0, 4, 9]), np.empty((1, 0))
    easiness, intercept = np.array([-1.0]), np.array([[-1.3, -0.7]])
    eta = offset[0] + np.repeat([-0.3, 0.3], [4, 5])
    drawn = np.empty(n)
    for d in range(n):
        shift_easiness(
            rng,
            np.array([0]),
            answers,
            offset,
            loading,
            intercept,
            np.empty((0, 9)),
            start,
            np.array([0.4, precision]),
            easiness,
        )
        drawn[d] = easiness[0]
    assert intercept[0, 1] - intercept[0, 0] == pytest.approx(0.6)
    assert easiness[0] == pytest.approx(intercept.mean())
    grid = np.linspace(-25, 10, 20_001)
    seen = answers[0] >= 0
    sign = 2 * answers[0][seen] - 1
    log_density = log_expit(sign * (grid[:, None] + eta[seen])).sum(axis=1)
    log_density -= 0.5 * precision * (grid - 0.4) ** 2
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    mean = weight @ grid
    sd = np.sqrt(weight @ (grid - mean) ** 2)
    assert abs(drawn.mean() - mean) < 5 * sd / np.sqrt(n / 5)
    below = weight[grid < mean - sd].sum()
    assert abs((drawn < mean - sd).mean() - below) < 5 * np.sqrt(below * (1 - below) / (n / 5))


def test_recovers_a_simulated_leaderboard():
    """Posterior means of the logits: correlation with the truth, and effects where there are some.

    The least-squares slope of an unshrunken truth on its posterior mean is 1.
    """
    rng = np.random.default_rng(12)
    n_item, n_model = 120, 90
    ability, loading = rng.normal(size=(2, n_model)), rng.normal(size=(n_item, 2))
    easiness, family = rng.normal(0.3, 1.2, n_item), np.arange(n_model) % 3
    effects = 0.8 * rng.normal(size=(n_item, 3))
    effects -= effects.mean(axis=1, keepdims=True)
    eta = loading @ ability + easiness[:, None] + effects[:, family]
    models = pd.DataFrame(
        {"model": [f"m{m:02d}" for m in range(n_model)], "family": [f"f{f}" for f in family]}
    )
    responses = Responses.build(
        (rng.random(eta.shape) < expit(eta)).astype(np.int8),
        items=[f"q{i:03d}" for i in range(n_item)],
        models=models,
    )
    sampler = gibbs_mirt_dif(build_mirt_dif(responses, dimension=2))
    state = sampler.start(rng)
    mean, mean_effects, n = np.zeros(eta.shape), np.zeros(effects.shape), 300
    for sweep in range(100 + n):
        sampler.sweep(state, rng, tuning=sweep < 100)
        if sweep >= 100:
            drawn = state["dif_scale"] * state["dif_standard"]
            mean_effects += drawn / n
            mean += (
                state["loading"] @ state["ability"] + state["easiness"][:, None] + drawn[:, family]
            ) / n
    assert np.corrcoef(mean.ravel(), eta.ravel())[0, 1] > 0.9
    assert np.corrcoef(mean_effects.ravel(), effects.ravel())[0, 1] > 0.65
    assert np.polyfit(mean.ravel(), eta.ravel(), 1)[0] == pytest.approx(1.0, abs=0.05)


def test_a_start_far_from_the_posterior_comes_back():
    """Scales that start at nothing and abilities that fit nothing: all stays finite, and returns."""
    rng = np.random.default_rng(3)
    n_item, n_model = 400, 200
    ability, loading = rng.normal(size=(4, n_model)), rng.normal(size=(n_item, 4))
    models = pd.DataFrame(
        {
            "model": [f"m{m:03d}" for m in range(n_model)],
            "family": [f"f{m % 3}" for m in range(n_model)],
        }
    )
    responses = Responses.build(
        (rng.random((n_item, n_model)) < expit(loading @ ability)).astype(np.int8),
        items=[f"q{i:03d}" for i in range(n_item)],
        models=models,
    )
    sampler = gibbs_mirt_dif(build_mirt_dif(responses, dimension=4))
    state = sampler.start(rng)
    state["dif_scale"][...], state["loading"][...] = 1e-20, 5 * state["loading"][::-1]
    state["dif_standard"] *= 300.0
    for _ in range(60):
        sampler.sweep(state, rng, tuning=True)
    assert all(np.isfinite(value).all() for value in state.values())
    assert float(state["loading_scale"]) == pytest.approx(1.0, rel=0.15)
    assert 1e-4 < float(state["dif_scale"]) < 0.4


@pytest.mark.parametrize("seed", range(3))
def test_scales_are_not_lost_at_the_start_where_answers_are_many(seed):
    rng = np.random.default_rng(8)
    n_item, n_model, n_factor = 300, 120, 8
    family = np.arange(n_model) % 2
    loading = 0.6 * rng.standard_normal((n_item, n_factor))
    effect = 0.5 * rng.standard_normal(n_item)[:, None] * np.array([1.0, -1.0])[family]
    logit = loading @ rng.standard_normal((n_factor, n_model)) + effect
    models = pd.DataFrame(
        {"model": [f"m{m:03d}" for m in range(n_model)], "family": [f"f{f}" for f in family]}
    )
    responses = Responses.build(
        (rng.random(logit.shape) < expit(logit)).astype(np.int8),
        items=[f"q{i:03d}" for i in range(n_item)],
        models=models,
    )
    sampler = gibbs_mirt_dif(build_mirt_dif(responses, dimension=n_factor))
    rng = np.random.default_rng(seed)
    state = sampler.start(rng)
    for _ in range(150):
        sampler.sweep(state, rng, tuning=True)
    # The posterior has a standard deviation of some .02 for either.
    assert state["loading_scale"] == pytest.approx(0.6, abs=0.15)
    assert state["dif_scale"] == pytest.approx(0.5 * np.sqrt(2.0), abs=0.2)
