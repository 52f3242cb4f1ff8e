"""Maximising the likelihood: finite differences, an independent optimiser, a plain twin of P1."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from neartie.inference.bradley_terry_kernel import (
    Problem,
    covariance,
    evaluate,
    gauge_of,
    newton,
)
from neartie.inference.bradley_terry_mm import minorise
from neartie.inference.bradley_terry_phantoms import add_phantoms
from neartie.models.bradley_terry import log_likelihood


def draw(seed, *, n=6, ties="half", has_order=False, precision=0.0) -> Problem:
    """A connected design with wins on both sides of every pair, with orders in both."""
    rng = np.random.default_rng(seed)
    first, second = np.nonzero(~np.eye(n, dtype=bool)) if has_order else np.triu_indices(n, 1)
    size = (3, len(first))
    wins, losses, tied = rng.integers(1, 6, size=size).astype(float)
    return Problem(
        n_model=n,
        first=first,
        second=second,
        shown=rng.integers(0, 2, size=len(first)).astype(float),
        wins=wins,
        losses=losses,
        tied=tied,
        group=np.zeros(n, dtype=np.int64),
        ties=ties,
        has_order=has_order,
        precision=precision,
    )


every_model = pytest.mark.parametrize(
    ("ties", "has_order", "precision"),
    [
        ("half", False, 0.0),
        ("half", True, 0.7),
        ("davidson", False, 0.0),
        ("davidson", True, 0.7),
        ("rao-kupper", False, 0.7),
        ("rao-kupper", True, 0.0),
    ],
)


@every_model
def test_gradient_and_information_by_finite_differences(ties, has_order, precision):
    problem = draw(1, ties=ties, has_order=has_order, precision=precision)
    rng = np.random.default_rng(2)
    point = rng.normal(size=problem.n_parameter)
    point[-1] = abs(point[-1]) + 0.2
    curve, h = evaluate(problem, point), 1e-5
    for k in range(problem.n_parameter):
        step = np.zeros(problem.n_parameter)
        step[k] = h
        up, down = evaluate(problem, point + step), evaluate(problem, point - step)
        assert curve.gradient[k] == pytest.approx((up.value - down.value) / (2 * h), abs=1e-5)
        assert -curve.information[k] == pytest.approx(
            (up.gradient - down.gradient) / (2 * h), abs=1e-5
        )


@pytest.mark.parametrize(("has_order", "precision"), [(False, 0.0), (True, 0.7)])
def test_the_compiled_pass_agrees_with_the_plain_density(has_order, precision):
    problem = draw(2, has_order=has_order, precision=precision)
    point = 3 * np.random.default_rng(1).normal(size=problem.n_parameter)
    n, order = 6, point[6] if has_order else 0.0
    logit = point[problem.first] - point[problem.second] + order * problem.shown
    terms = log_likelihood(logit, problem.wins, problem.losses, problem.tied)
    design = np.zeros((len(logit), problem.n_parameter))
    design[np.arange(len(logit)), problem.first] += 1
    design[np.arange(len(logit)), problem.second] -= 1
    if has_order:
        design[:, n] = problem.shown
    prior = np.r_[np.full(n, precision), np.zeros(problem.n_parameter - n)]
    curve = evaluate(problem, point)
    assert curve.value == pytest.approx(terms.value.sum() - 0.5 * prior @ point**2, rel=1e-13)
    assert curve.gradient == pytest.approx(design.T @ terms.by_logit - prior * point, abs=1e-11)
    expected = design.T @ (terms.info_logit[:, None] * design) + np.diag(prior)
    assert curve.information == pytest.approx(expected, abs=1e-11)


@every_model
def test_newton_ends_where_an_independent_optimiser_does(ties, has_order, precision):
    problem = draw(3, ties=ties, has_order=has_order, precision=precision)
    optimum = newton(problem)
    assert optimum.converged

    def loss(point):
        curve = evaluate(problem, point, curvature=False)
        return -curve.value, -curve.gradient

    bounds = [(None, None)] * problem.n_parameter
    if ties == "rao-kupper":
        bounds[-1] = (1e-3, None)
    found = minimize(
        loss, problem.start(), jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-15}
    )
    found.x[: problem.n_model] -= found.x[: problem.n_model].mean()
    # L-BFGS-B stops at gradients of about 1e-5
    assert optimum.point == pytest.approx(found.x, abs=1e-4)
    assert evaluate(problem, optimum.point).value >= -found.fun - 1e-12
    assert np.abs(evaluate(problem, optimum.point).gradient).max() < 1e-9


@every_model
def test_five_starts_end_at_one_optimum(ties, has_order, precision):
    problem = draw(4, ties=ties, has_order=has_order, precision=precision)
    rng = np.random.default_rng(5)
    ends = []
    for _ in range(5):
        start = 2 * rng.normal(size=problem.n_parameter)
        start[-1] = abs(start[-1]) + 0.1
        ends.append(newton(problem, start=start).point)
    assert np.ptp(ends, axis=0).max() < 1e-9


@given(st.integers(0, 10**6), st.sampled_from((0.0, 0.1, 2.0)))
@settings(max_examples=20, deadline=None)
def test_mm_and_newton_agree(seed, phantom):
    problem = add_phantoms(draw(seed), np.zeros(6, dtype=np.int64), phantom)
    slow, fast = minorise(problem), newton(problem)
    assert slow.converged
    assert fast.converged
    # on such a dense design MM halves its error every few rounds or faster
    assert slow.point == pytest.approx(fast.point, abs=1e-9)


def plain_mm(wins: np.ndarray, rounds: int) -> np.ndarray:
    """P1's iteration as printed, one model at a time, all renewed together."""
    n = len(wins)
    p = np.ones(n)
    for _ in range(rounds):
        new = np.empty(n)
        for i in range(n):
            rate = sum((wins[i, j] + wins[j, i]) / (p[i] + p[j]) for j in range(n) if j != i)
            new[i] = wins[i].sum() / rate
        p = new / np.exp(np.log(new).mean())
    return np.log(p)


def test_mm_follows_the_printed_iteration_round_by_round():
    problem = draw(6)
    wins = np.zeros((6, 6))
    np.add.at(wins, (problem.first, problem.second), problem.wins + 0.5 * problem.tied)
    np.add.at(wins, (problem.second, problem.first), problem.losses + 0.5 * problem.tied)
    for rounds in (1, 2, 7):
        optimum = minorise(problem, max_iterations=rounds)
        assert optimum.n_iterations == rounds
        assert not optimum.converged
        assert optimum.point == pytest.approx(plain_mm(wins, rounds), abs=1e-13)


@pytest.mark.parametrize("precision", [0.0, 0.5])
def test_covariance_is_the_inverse_on_the_space_of_zero_sums(precision):
    problem = draw(7, precision=precision)
    information = evaluate(problem, newton(problem).point).information
    project = np.eye(6) - gauge_of(problem.group)
    found = covariance(problem, information)
    assert found == pytest.approx(np.linalg.pinv(project @ information @ project), abs=1e-12)
    assert found.sum(axis=1) == pytest.approx(np.zeros(6), abs=1e-12)


def test_covariance_of_common_parameters_agrees_with_a_reference_model():
    problem = draw(8, ties="davidson", has_order=True)
    information = evaluate(problem, newton(problem).point).information
    found = covariance(problem, information)
    fixed = np.linalg.inv(information[1:, 1:])
    differences = np.eye(8)[1:]
    differences[: 6 - 1, 0] = -1
    assert differences @ found @ differences.T == pytest.approx(fixed, abs=1e-12)


def test_groups_are_centred_apart_and_do_not_covary():
    one, other = draw(9, n=3), draw(10, n=3)
    joined = Problem(
        n_model=6,
        first=np.concatenate([one.first, other.first + 3]),
        second=np.concatenate([one.second, other.second + 3]),
        shown=np.zeros(6),
        wins=np.concatenate([one.wins, other.wins]),
        losses=np.concatenate([one.losses, other.losses]),
        tied=np.concatenate([one.tied, other.tied]),
        group=np.repeat([0, 1], 3),
        ties="half",
        has_order=False,
        precision=0.0,
    )
    optimum = newton(joined)
    expected = np.concatenate([newton(one).point, newton(other).point])
    assert optimum.point == pytest.approx(expected, abs=1e-12)
    found = covariance(joined, evaluate(joined, optimum.point).information)
    assert np.abs(found[:3, 3:]).max() < 1e-14
