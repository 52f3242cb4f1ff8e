"""Steps of the 2PL's Gibbs sampler along lines that the answers notice: Metropolis's rule.

Each moves a mean or a scale together with all that it is the mean or scale of, so that what these
have left over from it stays: the counterpart of the draws given them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_two_pl_kernel import log_likelihood_along
from neartie.inference.gibbs_two_pl_moves import shift_location
from neartie.inference.gibbs_two_pl_point import Point, Problem

type Floats = NDArray[np.float64]
type Step = Callable[[Point, Problem, float], Point]


def stretch_abilities(point: Point, problem: Problem, step: float) -> Point:
    """Multiply the scale of abilities, and what they have left over from their mean, by e^step."""
    moved, factor, center = copy(point), math.exp(step), point.center(problem)
    moved.ability = center + factor * (point.ability - center)
    moved.ability_scale = factor * point.ability_scale
    return moved


def shift_difficulties(point: Point, problem: Problem, step: float) -> Point:
    """Add the step to all difficulties and their mean."""
    moved = copy(point)
    moved.intercept = point.intercept - step * point.slope(problem)
    moved.second_mean = point.second_mean + step
    return moved


def stretch_difficulties(point: Point, problem: Problem, step: float) -> Point:
    """Multiply the scale of difficulties by e^step."""
    moved, factor = copy(point), math.exp(step)
    difficulty = point.second_mean + factor * (point.difficulty(problem) - point.second_mean)
    moved.intercept = -difficulty * point.slope(problem)
    moved.second_scale = factor * point.second_scale
    return moved


def shift_slopes(point: Point, problem: Problem, step: float) -> Point:
    """Add the step to all log discriminations and their mean; difficulties stay."""
    moved = copy(point)
    moved.first = point.first + step
    moved.intercept = point.intercept * math.exp(step)
    moved.first_mean = point.first_mean + step
    return moved


def stretch_slopes(point: Point, problem: Problem, step: float) -> Point:
    """Multiply the scale of log discriminations by e^step; difficulties stay."""
    moved, factor = copy(point), math.exp(step)
    moved.first = point.first_mean + factor * (point.first - point.first_mean)
    moved.intercept = point.intercept * np.exp(moved.first - point.first)
    moved.first_scale = factor * point.first_scale
    return moved


def available_steps(problem: Problem) -> dict[str, Step]:
    """Return the steps of a model with its options, by the name of the mean or scale.

    What mixes slowest otherwise comes last.
    """
    steps: dict[str, Step] = {}
    if problem.hierarchical:
        steps |= {"difficulty_mean": shift_difficulties, "difficulty_scale": stretch_difficulties}
        if problem.discrimination == "free":
            steps |= {
                "log_discrimination_mean": shift_slopes,
                "log_discrimination_scale": stretch_slopes,
            }
    if problem.discrimination == "one":
        steps["ability_scale"] = stretch_abilities
    return steps


def scales_log_prior(point: Point, problem: Problem) -> float:
    """Return the log prior density of means and log scales, where they are estimated, nat.

    That of a log scale, not of the scale: a step in the log has no further Jacobian then.
    """
    priors, total = problem.priors, 0.0
    pairs = []
    if problem.discrimination == "one":
        total += (math.log(point.ability_scale / priors.ability_sd) / priors.log_scale_sd) ** 2
    if problem.hierarchical:
        pairs.append((point.second_scale, priors.difficulty_sd))
        total += (point.second_mean / priors.difficulty_mean_sd) ** 2
        if problem.discrimination == "free":
            pairs.append((point.first_scale, priors.log_discrimination_sd))
            rest = point.first_mean - priors.log_discrimination_mean
            total += (rest / priors.log_discrimination_mean_sd) ** 2
    for scale, median in pairs:
        total += (math.log(scale / median) / priors.log_scale_sd) ** 2
    return -0.5 * total


def log_likelihood(point: Point, problem: Problem) -> float:
    """Return the log-likelihood of all answers, nat."""
    return log_likelihood_along(
        point.ability,
        point.slope(problem),
        point.intercept,
        np.arange(problem.n_model),
        problem.by_model,
    )


def take_step(
    point: Point,
    problem: Problem,
    step: Step,
    *,
    here: float,
    width: float,
    rng: np.random.Generator,
) -> tuple[Point, float, bool]:
    """Propose a normal step along a line, and accept it or stay.

    Parameters
    ----------
    point : Point
    problem : Problem
    step : callable
    here : float, nat
        Log-likelihood at the point.
    width : float
        Standard deviation of the step.
    rng : Generator

    Returns
    -------
    point : Point
    log_likelihood : float, nat
    accepted : bool
    """
    moved = step(point, problem, width * float(rng.standard_normal()))
    there = log_likelihood(moved, problem)
    ratio = there - here + scales_log_prior(moved, problem) - scales_log_prior(point, problem)
    if math.log1p(-rng.random()) < ratio:
        return moved, there, True
    return point, here, False


def shifted_family(
    point: Point, problem: Problem, family: int, shift: float
) -> tuple[Point, float]:
    r"""Return a point with one family's mean moved, with its models, and the gain in log density.

    The mean of the family rises by c and all means fall by c over their number, each with the
    models' abilities; the difficulties fall likewise. Only the logits of the family change.
    """
    members = np.flatnonzero(problem.family == family)
    moved = copy(point)
    moved.ability = point.ability.copy()
    moved.ability[members] += shift
    slope = point.slope(problem)
    gain = log_likelihood_along(
        moved.ability, slope, point.intercept, members, problem.by_model
    ) - log_likelihood_along(point.ability, slope, point.intercept, members, problem.by_model)
    moved.family_mean = point.family_mean - shift / problem.n_family
    moved.family_mean[family] += shift
    moved.intercept = point.intercept.copy()
    shift_location(moved, problem, -shift / problem.n_family)
    return moved, gain + _family_log_prior(moved, problem) - _family_log_prior(point, problem)


def shift_family(
    point: Point, problem: Problem, family: int, *, width: float, rng: np.random.Generator
) -> tuple[Point, bool]:
    """Propose `shifted_family` by a normal shift of this width, and accept it or stay."""
    moved, gain = shifted_family(point, problem, family, width * float(rng.standard_normal()))
    accepted = math.log1p(-rng.random()) < gain
    return (moved if accepted else point), accepted


def _family_log_prior(point: Point, problem: Problem) -> float:
    """Return the log prior of family means, and of what a shift of location changes of items."""
    squares = float(point.family_mean @ point.family_mean) / problem.priors.family_mean_sd**2
    if problem.hierarchical:
        squares += (point.second_mean / problem.priors.difficulty_mean_sd) ** 2
    else:
        signed = problem.discrimination == "signed"
        values = point.intercept if signed else point.difficulty(problem)
        squares += float(np.sum(((values - point.second_mean) / point.second_scale) ** 2))
    return -0.5 * squares
