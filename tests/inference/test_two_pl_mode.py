"""Mode of the two-parameter model: gradient, optimum, reference, recovery."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import check_grad

from neartie.inference.two_pl_mode import negative_log_posterior, newton_step, two_pl_mode


def simulate(n_item, n_model, seed):
    rng = np.random.default_rng(seed)
    ability, difficulty = rng.normal(size=n_model), 1.5 * rng.normal(size=n_item)
    slope = np.exp(0.4 * rng.normal(size=n_item))
    chance = 1 / (1 + np.exp(-slope[:, None] * (ability - difficulty[:, None])))
    return rng.random(chance.shape) < chance, ability, difficulty


def test_gradient_is_that_of_the_density():
    right, _, _ = simulate(5, 7, 1)
    seen = np.random.default_rng(2).random(right.shape) < 0.8
    point = np.random.default_rng(3).normal(size=7 + 10)

    def value(q):
        return negative_log_posterior(q, right, seen)[0]

    def gradient(q):
        return negative_log_posterior(q, right, seen)[1]

    assert check_grad(value, gradient, point) < 1e-5


def test_density_is_that_of_the_formula():
    right, _, _ = simulate(4, 6, 4)
    point = np.random.default_rng(5).normal(size=6 + 8)
    ability, difficulty, log_slope = np.split(point, [6, 10])
    logit = np.exp(log_slope)[:, None] * (ability - difficulty[:, None])
    chance = 1 / (1 + np.exp(-logit))
    expected = -np.log(np.where(right, chance, 1 - chance)).sum()
    expected += (ability**2).sum() / 2 + (difficulty**2).sum() / 4.5 + (log_slope**2).sum() / 0.5
    assert negative_log_posterior(point, right, np.ones_like(right))[0] == pytest.approx(expected)


def test_newton_step_solves_the_finite_difference_hessian():
    right, _, _ = simulate(6, 9, 11)
    seen = np.random.default_rng(12).random(right.shape) < 0.8
    mode = two_pl_mode(right & seen, seen)
    point = np.concatenate([mode.ability, mode.difficulty, np.log(mode.discrimination)])
    point += 0.05 * np.random.default_rng(13).normal(size=len(point))

    def gradient(q):
        return negative_log_posterior(q, right & seen, seen)[1]

    width = 1e-5
    hessian = np.array(
        [(gradient(point + width * e) - gradient(point - width * e)) for e in np.eye(len(point))]
    ) / (2 * width)
    step = newton_step(point, right & seen, seen)
    np.testing.assert_allclose(hessian @ step, -gradient(point), atol=1e-6)


def test_no_nearby_point_is_better():
    right, _, _ = simulate(30, 40, 6)
    seen = np.ones_like(right)
    mode = two_pl_mode(right, seen)
    assert mode.converged
    point = np.concatenate([mode.ability, mode.difficulty, np.log(mode.discrimination)])
    best = negative_log_posterior(point, right, seen)[0]
    rng = np.random.default_rng(7)
    for _ in range(50):
        assert negative_log_posterior(point + 1e-3 * rng.normal(size=100), right, seen)[0] > best


def test_reference_values(reference_dir):
    answers = pd.read_csv(reference_dir / "inputs" / "screen_binary.csv.gz", index_col=0)
    expected = pd.read_csv(reference_dir / "expected" / "screen_binary.csv.gz")
    right = answers.to_numpy().T == 1
    mode = two_pl_mode(right, np.ones_like(right))
    np.testing.assert_allclose(mode.discrimination, expected["a_2pl"], atol=1e-6)
    np.testing.assert_allclose(mode.difficulty, expected["d_2pl"], atol=1e-6)


def test_truth_is_recovered_from_incomplete_answers():
    right, ability, difficulty = simulate(150, 200, 8)
    seen = np.random.default_rng(9).random(right.shape) < 0.7
    mode = two_pl_mode(right, seen)
    assert np.corrcoef(mode.ability, ability)[0, 1] > 0.95
    assert np.corrcoef(mode.difficulty, difficulty)[0, 1] > 0.93


def test_items_and_models_without_answers_stay_at_the_prior():
    right = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0]], dtype=bool)
    seen = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 0]], dtype=bool)
    mode = two_pl_mode(right, seen)
    assert mode.ability[2] == pytest.approx(0, abs=1e-6)
    assert mode.difficulty[2] == pytest.approx(0, abs=1e-6)
    assert mode.discrimination[2] == pytest.approx(1, abs=1e-6)
