"""What the 2PL's Gibbs sampler draws abilities and items from is what the model says."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

from neartie.inference import gibbs_two_pl_items as item_kernel
from neartie.inference import gibbs_two_pl_kernel as kernel
from neartie.inference import gibbs_two_pl_steps as steps


def answers_of(cells: kernel.Cells, unit: int, n_other: int) -> tuple[np.ndarray, np.ndarray]:
    right = cells.right[cells.right_start[unit] : cells.right_start[unit + 1]]
    if cells.complete:
        return right, np.arange(n_other)
    return right, cells.seen[cells.seen_start[unit] : cells.seen_start[unit + 1]]


def test_a_start_has_the_free_variables_of_the_model(two_pl_cases, two_pl_options):
    case = two_pl_cases(two_pl_options)
    names = [name for name in case.state if not name.startswith("_")]
    assert tuple(names) == tuple(variable.name for variable in case.model.free_RVs)
    for variable in case.model.free_RVs:
        assert case.state[variable.name].shape == tuple(variable.shape.eval())
        assert case.state[variable.name].dtype == np.float64


def test_abilities_given_items(two_pl_cases, two_pl_options):
    case = two_pl_cases(two_pl_options)
    point, problem = case.point, case.problem
    slope, mean = point.slope(problem), point.center(problem)
    for unit, change in ((0, 0.7), (3, -1.9), (6, 4.0)):
        right, seen = answers_of(problem.by_model, unit, problem.n_item)
        moved = deepcopy(point)
        moved.ability[unit] += change
        values = [
            sum(
                kernel.value_log_density(
                    one.ability[unit],
                    slope[right].sum(),
                    slope[seen],
                    point.intercept[seen],
                    mean[unit],
                    point.ability_scale**-2,
                )
            )
            for one in (moved, point)
        ]
        assert values[0] - values[1] == pytest.approx(case.gain(moved), abs=1e-9)


def test_items_given_abilities(two_pl_cases, two_pl_slope_options):
    case = two_pl_cases(two_pl_slope_options)
    point, problem = case.point, case.problem
    for unit, first, intercept in ((0, 0.3, -0.4), (1, -0.9, 2.0), (4, 1.5, 0.1)):
        right, seen = answers_of(problem.by_item, unit, problem.n_model)
        totals = float(point.ability[right].sum()), float(len(right))
        moved = deepcopy(point)
        moved.first[unit] += first
        moved.intercept[unit] += intercept
        values = [
            sum(
                item_kernel.item_log_density(
                    one.first[unit],
                    one.intercept[unit],
                    totals,
                    point.ability[seen],
                    point.item_prior(problem),
                )
            )
            for one in (moved, point)
        ]
        # log |db/dd|, where the model's variable is the difficulty
        jacobian = 0.0 if case.discrimination == "signed" else -first
        assert values[0] - values[1] == pytest.approx(case.gain(moved) + jacobian, abs=1e-9)


def test_difficulties_given_abilities(two_pl_cases):
    case = two_pl_cases(("one", True, True))
    point, problem = case.point, case.problem
    for unit, change in ((0, 0.7), (1, -2.0)):
        right, seen = answers_of(problem.by_item, unit, problem.n_model)
        moved = deepcopy(point)
        moved.intercept[unit] += change
        values = [
            sum(
                kernel.value_log_density(
                    one.intercept[unit],
                    float(len(right)),
                    np.ones(len(seen)),
                    point.ability[seen],
                    -point.second_mean,
                    point.second_scale**-2,
                )
            )
            for one in (moved, point)
        ]
        assert values[0] - values[1] == pytest.approx(case.gain(moved), abs=1e-9)


@pytest.mark.parametrize("signed", [False, True])
def test_slopes_and_curvature_of_an_item(signed):
    rng = np.random.default_rng(4)
    ability, totals = rng.normal(size=30), (4.0, 17.0)
    prior = item_kernel.ItemPrior(signed, 0.4, 0.6, -0.3, 1.4)
    at, step = np.array([0.3, 0.5]), 1e-4

    def values(x):
        return np.array(item_kernel.item_derivatives(x[0], x[1], totals, ability, prior))

    here = values(at)
    likelihood, log_prior = item_kernel.item_log_density(at[0], at[1], totals, ability, prior)
    assert here[0] == pytest.approx(likelihood + log_prior)
    for axis in (0, 1):
        ahead, behind = values(at + step * np.eye(2)[axis]), values(at - step * np.eye(2)[axis])
        assert (ahead[0] - behind[0]) / (2 * step) == pytest.approx(here[1 + axis], rel=1e-6)
        curvature = -(ahead[1:3] - behind[1:3]) / (2 * step)
        assert curvature == pytest.approx(here[3 + axis : 5 + axis], rel=1e-6)


def test_likelihood_comes_with_the_draws(two_pl_cases):
    """Blocks hand on the log-likelihood that steps start from."""
    for options in two_pl_cases.options:
        case = two_pl_cases(options)
        state, point = deepcopy(case.state), deepcopy(case.point)
        _, told = case.sampler._draw_items(point, state, np.random.default_rng(1))
        assert told == pytest.approx(steps.log_likelihood(point, case.problem), abs=1e-9)


@pytest.mark.parametrize("size", [1e2, 1e25, 1e200, 1e306])
def test_logits_beyond_measure_are_never_likely(two_pl_cases, size):
    """The difference of two huge sums must not pass for a likelihood."""
    case = two_pl_cases(("free", True, True))
    problem = case.problem
    sums = np.array([3.0, 1.0]), np.array([0.5, -0.2])
    found = [
        kernel.value_log_density(size, 3.0, *sums, 0.0, 1.0)[0],
        item_kernel.item_log_density(
            np.log(size),
            1.0,
            (1.0, 1.0),
            np.array([2.0, -1.0]),
            case.point.item_prior(problem),
        )[0],
        kernel.log_likelihood_along(
            np.full(problem.n_model, size),
            np.ones(problem.n_item),
            np.zeros(problem.n_item),
            np.arange(problem.n_model),
            problem.by_model,
        ),
    ]
    assert all(value <= 0.0 for value in found)
    assert all(np.isneginf(value) for value in found) == (size > 1e9)
