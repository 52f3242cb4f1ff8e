"""Derivatives of the penalised 2PL likelihood, arrow systems, and the climb to the optimum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad, minimize

from neartie.inference.two_pl_arrow import Penalised, curvature, factor, value_and_gradient
from neartie.inference.two_pl_climb import (
    adam,
    best_unit,
    in_best_unit,
    newton,
    random_start,
    warm_start,
)
from neartie.inference.two_pl_mode import two_pl_mode
from neartie.models.priors import TwoPLPriors
from neartie.models.two_pl_density import two_pl_log_density

OTHER = TwoPLPriors(
    ability_sd=0.8, difficulty_sd=2.0, log_discrimination_mean=0.3, log_discrimination_sd=0.4
)


def problem_of(n_item, n_model, seed, *, share=0.8, priors=None):
    rng = np.random.default_rng(seed)
    ability, difficulty = rng.normal(size=n_model), 1.3 * rng.normal(size=n_item)
    slope = np.exp(0.4 * rng.normal(size=n_item))
    chance = 1 / (1 + np.exp(-slope[:, None] * (ability - difficulty[:, None])))
    right = rng.random(chance.shape) < chance
    seen = rng.random(chance.shape) < share
    return Penalised.of(right, seen, TwoPLPriors() if priors is None else priors)


@pytest.mark.parametrize("priors", [TwoPLPriors(), OTHER])
def test_differences_of_the_objective_are_those_of_the_plain_density(priors):
    problem = problem_of(5, 7, 1, priors=priors)
    values = np.where(problem.observed, problem.right, -1).astype(np.int8)

    def plain(point):
        ability, difficulty, log_slope = problem.split(point)
        named = {"ability": ability, "difficulty": difficulty, "log_discrimination": log_slope}
        return -sum(two_pl_log_density(named, values, priors=priors).values())

    rng = np.random.default_rng(2)
    one, two = rng.normal(size=17), 3 * rng.normal(size=17)
    fast = value_and_gradient(problem, one)[0] - value_and_gradient(problem, two)[0]
    assert fast == pytest.approx(plain(one) - plain(two), rel=1e-12)


def test_gradient_agrees_with_differences():
    problem = problem_of(5, 7, 3, priors=OTHER)
    error = check_grad(
        lambda p: value_and_gradient(problem, p)[0],
        lambda p: value_and_gradient(problem, p)[1],
        np.random.default_rng(4).normal(size=17),
    )
    assert error < 1e-5


def test_curvature_agrees_with_differences_of_the_gradient():
    problem = problem_of(6, 4, 5, priors=OTHER)
    point = np.random.default_rng(6).normal(size=16)
    width = 1e-5
    rows = [
        value_and_gradient(problem, point + width * e)[1]
        - value_and_gradient(problem, point - width * e)[1]
        for e in np.eye(16)
    ]
    np.testing.assert_allclose(
        curvature(problem, point).dense(), np.array(rows) / (2 * width), atol=1e-7
    )


def test_expected_curvature_is_the_mean_over_answers():
    """Of the observed curvature at all right/wrong patterns, weighted by their probability."""
    point = np.random.default_rng(7).normal(size=2 + 4)
    seen = np.ones((2, 2), dtype=bool)
    total = np.zeros((6, 6))
    for code in range(16):
        right = np.array([code >> k & 1 for k in range(4)], dtype=bool).reshape(2, 2)
        problem = Penalised.of(right, seen, TwoPLPriors())
        ability, difficulty, log_slope = problem.split(point)
        chance = 1 / (1 + np.exp(-np.exp(log_slope)[:, None] * (ability - difficulty[:, None])))
        total += np.where(right, chance, 1 - chance).prod() * curvature(problem, point).dense()
    found = curvature(problem, point, expected=True).dense()
    np.testing.assert_allclose(found, total, atol=1e-12)


@pytest.mark.parametrize(("n_item", "n_model"), [(12, 9), (3, 40)])
def test_solutions_and_inverse_are_those_of_the_dense_matrix(n_item, n_model):
    problem = problem_of(n_item, n_model, 8)
    arrow = curvature(problem, newton(problem, warm_start(problem)).point)
    found = factor(arrow)
    assert found.by_items == (n_model <= 2 * n_item)
    inverse = np.linalg.inv(arrow.dense())
    right = np.random.default_rng(9).normal(size=len(inverse))
    np.testing.assert_allclose(found.solve(right), inverse @ right, atol=1e-10)
    models = inverse[:n_model, :n_model]
    np.testing.assert_allclose(found.model_covariance(), models, atol=1e-12)
    np.testing.assert_allclose(found.model_variance(), np.diag(models), atol=1e-12)
    place, slope = n_model + np.arange(n_item), n_model + n_item + np.arange(n_item)
    blocks = found.item_covariance()
    for k, first in enumerate((place, slope)):
        for j, second in enumerate((place, slope)):
            np.testing.assert_allclose(blocks[:, k, j], inverse[first, second], atol=1e-12)


def test_what_is_not_positive_definite_has_no_factor():
    problem = problem_of(12, 9, 10)
    arrow = curvature(problem, newton(problem, warm_start(problem)).point)
    arrow.model[0] = -1.0
    assert factor(arrow) is None


@pytest.mark.parametrize(("n_item", "n_model"), [(12, 30), (4, 40), (30, 10)])
def test_the_optimum_is_that_of_another_optimiser(n_item, n_model):
    problem = problem_of(n_item, n_model, 11)
    summit = newton(problem, warm_start(problem))
    other = minimize(
        lambda p: value_and_gradient(problem, p),
        random_start(problem, np.random.default_rng(12)),
        jac=True,
        method="BFGS",
        options={"gtol": 1e-8, "maxiter": 5000},
    )
    assert summit.converged
    assert summit.value == pytest.approx(other.fun, abs=1e-8)
    np.testing.assert_allclose(summit.point, other.x, atol=1e-4)
    assert np.abs(value_and_gradient(problem, summit.point)[1]).max() < 1e-7


def test_the_optimum_is_that_of_the_screen():
    problem = problem_of(40, 30, 19)
    summit = newton(problem, warm_start(problem))
    mode = two_pl_mode(problem.right, problem.observed)
    found = problem.split(summit.point)
    np.testing.assert_allclose(found[0], mode.ability, atol=1e-7)
    np.testing.assert_allclose(found[1], mode.difficulty, atol=1e-7)
    np.testing.assert_allclose(np.exp(found[2]), mode.discrimination, atol=1e-7)


@pytest.mark.parametrize("sum_zero", [False, True])
def test_five_starts_end_at_one_optimum(sum_zero):
    problem = problem_of(40, 30, 13, share=0.7)
    rng = np.random.default_rng(14)
    starts = [warm_start(problem), *(random_start(problem, rng) for _ in range(5))]
    ends = [newton(problem, start, sum_zero=sum_zero) for start in starts]
    assert all(end.converged for end in ends)
    for end in ends:
        np.testing.assert_allclose(end.point, ends[0].point, atol=1e-8)
    if sum_zero:
        assert ends[0].point[:30].mean() == pytest.approx(0, abs=1e-12)


def test_far_away_starts_are_brought_back():
    problem = problem_of(30, 20, 15)
    near = newton(problem, warm_start(problem))
    far = newton(problem, 8 * random_start(problem, np.random.default_rng(16)))
    np.testing.assert_allclose(far.point, near.point, atol=1e-8)


def test_an_iteration_that_is_cut_short_says_so():
    problem = problem_of(30, 20, 15)
    summit = newton(problem, random_start(problem, np.random.default_rng(1)), max_iterations=2)
    assert not summit.converged
    assert summit.n_iterations == 2


def test_adam_ends_near_the_optimum_among_centred_abilities_and_not_at_it():
    """Re-centring cancels steps of equal sign, whatever their gradients: see `adam`."""
    problem = problem_of(30, 20, 17)
    exact = newton(problem, warm_start(problem), sum_zero=True)
    printed = adam(problem, warm_start(problem))
    slow = adam(problem, warm_start(problem), rate=0.005, rule=0.0, max_iterations=20_000)
    assert printed.converged
    assert not slow.converged
    assert printed.n_iterations < 200
    for end in (printed, slow):
        assert exact.value < end.value < exact.value + 0.1
        assert np.abs(end.point - exact.point).max() < 0.1
        assert end.point[:20].mean() == pytest.approx(0, abs=1e-12)
        moved = np.abs(end.point - exact.point).max()
        assert end.largest_step == pytest.approx(moved, rel=0.3)
    assert slow.largest_step > 0.01


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 60))
def test_the_best_unit_is_a_maximum(seed, volume):
    problem = problem_of(4, 6, 18)
    point = random_start(problem, np.random.default_rng(seed))
    squares, log_slope = np.square(point[:10]), point[10:]
    unit = best_unit(problem, squares, log_slope, volume=volume)

    def density(c):
        stretched = -(c**2) * (problem.precision[:10] @ squares) / 2
        away = log_slope - np.log(c) - problem.mean[10:]
        return volume * np.log(c) + stretched - problem.precision[10:] @ away**2 / 2

    assert density(unit) >= max(density(unit * 1.01), density(unit / 1.01))
    if not volume:
        turned = in_best_unit(problem, point)
        assert value_and_gradient(problem, turned)[0] <= value_and_gradient(problem, point)[0]
