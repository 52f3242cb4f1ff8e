"""The 2PL sampler's moves of location, unit, means and scales are those of the model's density."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from neartie.inference import gibbs_two_pl_moves as moves
from neartie.inference import gibbs_two_pl_steps as steps


def test_shift_of_location(two_pl_cases, two_pl_options):
    case = two_pl_cases(two_pl_options)
    precision, pull = moves.location_terms(case.point, case.problem)
    for shift in (0.8, -1.7):
        moved = deepcopy(case.point)
        moves.shift_location(moved, case.problem, shift)
        expected = case.gain(moved)
        assert pull * shift - 0.5 * precision * shift**2 == pytest.approx(expected, abs=1e-9)
        assert steps.log_likelihood(moved, case.problem) == pytest.approx(
            steps.log_likelihood(case.point, case.problem), abs=1e-9
        )


def test_stretch_of_the_unit(two_pl_cases, two_pl_slope_options):
    case = two_pl_cases(two_pl_slope_options)
    problem = case.problem
    along = moves.unit_log_density(case.point, problem)
    scaled = problem.n_model + (2 if case.family is not None else 0)
    # difficulties, their mean and scale; or slopes, which shrink
    scaled += -problem.n_item if case.discrimination == "signed" else problem.n_item
    scaled += 2 if case.hierarchical else 0
    for log_unit in (0.4, -0.9):
        moved = deepcopy(case.point)
        moves.stretch_unit(moved, problem, log_unit)
        expected = case.gain(moved) + scaled * log_unit
        assert along(log_unit) - along(0.0) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("family_means", [False, True])
def test_turn_of_the_direction(two_pl_cases, family_means):
    case = two_pl_cases(("signed", False, family_means))
    turned = deepcopy(case.point)
    for name in ("ability", "first", "family_mean"):
        setattr(turned, name, -getattr(turned, name))
    assert moves.flip_log_ratio(case.point) == pytest.approx(case.gain(turned), abs=1e-9)


def test_steps_with_means_and_scales(two_pl_cases, two_pl_options):
    case = two_pl_cases(two_pl_options)
    n_item, n_model = case.problem.n_item, case.problem.n_model
    available = steps.available_steps(case.problem)
    estimated = {name for name in case.sampler.names if name.endswith(("_scale", "_mean"))}
    assert set(available) == estimated - {"family_mean"}
    for name, step in available.items():
        # a scale and what it scales
        size = {"ability_scale": n_model + 1}.get(name, n_item + 1) * name.endswith("_scale")
        for change in (0.3, -0.7):
            moved = step(case.point, case.problem, change)
            expected = case.gain(moved) + size * change
            found = [
                steps.log_likelihood(one, case.problem) + steps.scales_log_prior(one, case.problem)
                for one in (moved, case.point)
            ]
            assert found[0] - found[1] == pytest.approx(expected, abs=1e-9)


def test_shift_of_a_family(two_pl_cases, two_pl_family_options):
    case = two_pl_cases(two_pl_family_options)
    before = deepcopy(case.point)
    for family, shift in ((0, 0.6), (2, -1.1)):
        moved, gain = steps.shifted_family(case.point, case.problem, family, shift)
        assert gain == pytest.approx(case.gain(moved), abs=1e-9)
        assert moved.family_mean.sum() == pytest.approx(0, abs=1e-12)
    for name in ("ability", "intercept", "family_mean"):
        assert np.array_equal(getattr(case.point, name), getattr(before, name))


class Fixed:
    """A generator whose normal values are given."""

    def __init__(self, *values: float) -> None:
        self.values = np.array(values)

    def standard_normal(self, shape: Any = None) -> Any:
        return self.values if shape is not None else float(self.values[0])


def test_family_means_given_abilities(two_pl_cases, two_pl_family_options):
    """The draw without noise is the mode; its covariance is the inverse of the curvature there."""
    case = two_pl_cases(two_pl_family_options)

    def drawn(*noise):
        moved = deepcopy(case.point)
        moves.draw_family_means(moved, case.problem, Fixed(*noise))
        return moved

    mode = drawn(0, 0, 0).family_mean
    spread = np.array([drawn(*row).family_mean - mode for row in np.eye(3)]).T
    basis = np.linalg.svd(np.ones((1, 3)))[2][1:]
    curvature = np.empty((2, 2))

    def density(offset):
        moved = deepcopy(case.point)
        moved.family_mean = mode + offset
        return case.density(moved)

    for i, j in np.ndindex(2, 2):
        curvature[i, j] = -0.25 * sum(
            a * b * density(a * basis[i] + b * basis[j]) for a in (1, -1) for b in (1, -1)
        )
        assert density(basis[i]) == pytest.approx(density(-basis[i]), abs=1e-9)
    covariance = basis @ spread @ spread.T @ basis.T
    assert covariance == pytest.approx(np.linalg.inv(curvature), rel=1e-7, abs=1e-9)


def test_means_and_scales_given_items(two_pl_cases, two_pl_hierarchical_options):
    case = two_pl_cases(two_pl_hierarchical_options)
    point, problem = case.point, case.problem
    groups = [("second", point.difficulty(problem), 0.0, 1.1, 0.8)]
    if case.discrimination == "free":
        groups.append(("first", point.first, 0.2, case.priors.log_discrimination_mean_sd, 0.5))
    for name, values, mean, mean_sd, median in groups:
        scale = getattr(point, f"{name}_scale")
        drawn = [
            moves.draw_mean(values, scale, mean=mean, sd=mean_sd, rng=Fixed(noise))
            for noise in (-1.0, 0.0, 1.0)
        ]
        heights = []
        for place in drawn:
            moved = deepcopy(point)
            setattr(moved, f"{name}_mean", place)
            heights.append(case.density(moved))
        assert heights[0] - heights[1] == pytest.approx(-0.5)
        assert heights[2] - heights[1] == pytest.approx(-0.5)
        log_density = moves.scale_log_density(
            values - getattr(point, f"{name}_mean"), median=median, log_sd=case.priors.log_scale_sd
        )
        moved = deepcopy(point)
        setattr(moved, f"{name}_scale", scale * np.exp(0.4))
        found = log_density(np.log(scale) + 0.4) - log_density(np.log(scale))
        assert found == pytest.approx(case.gain(moved) + 0.4)


@pytest.mark.parametrize("copies", [1, 12])
def test_scale_of_abilities_given_abilities(two_pl_cases, copies):
    case = two_pl_cases(("one", False, True), copies)
    assert case.problem.standard == (copies == 1)
    point = case.point
    log_density = moves.scale_log_density(
        point.ability - point.center(case.problem), median=1.3, log_sd=case.priors.log_scale_sd
    )
    moved = deepcopy(point)
    moved.ability_scale *= np.exp(0.4)
    found = log_density(np.log(moved.ability_scale)) - log_density(np.log(point.ability_scale))
    assert found == pytest.approx(case.gain(moved) + 0.4)
