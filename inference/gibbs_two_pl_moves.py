r"""Moves of the 2PL's Gibbs sampler that no single block can make.

Block by block a sampler creeps along whatever the answers do not fix: a common shift of abilities
and difficulties, a common unit, and scales together with what they scale. Here whole groups of
unknowns move at once. Where the answers do not notice, the move is drawn exactly from its
conditional (Liu and Sabatti 2000: the density along the orbit, with the Jacobian of the group); where
they do, a step is proposed and accepted by Metropolis's rule. A scale is drawn both ways, given what
it scales and together with it (Yu and Meng 2011): one of the two mixes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_two_pl_point import Point, Problem
from neartie.inference.slice_step import slice_step

type Floats = NDArray[np.float64]


def draw_family_means(point: Point, problem: Problem, rng: np.random.Generator) -> None:
    """Draw the means of families given the abilities: normal, with sum zero.

    The sum is taken off in proportion to the variances, which conditions independent normal
    values on it.
    """
    size = np.bincount(problem.family, minlength=problem.n_family)
    total = np.bincount(problem.family, weights=point.ability, minlength=problem.n_family)
    weight = point.ability_scale**-2
    variance = 1.0 / (problem.priors.family_mean_sd**-2 + weight * size)
    drawn = variance * weight * total + np.sqrt(variance) * rng.standard_normal(size.shape)
    point.family_mean = drawn - variance * (drawn.sum() / variance.sum())
    point.family_mean -= point.family_mean.mean()  # rounding


def scale_log_density(
    residual: Floats, *, median: float, log_sd: float
) -> Callable[[float], float]:
    """Return the log density of the log of a scale, given the values of mean 0 that it scales."""
    n, squares, middle = residual.size, float(residual @ residual), math.log(median)

    def log_density(log_scale: float) -> float:
        z = (log_scale - middle) / log_sd
        return -n * log_scale - 0.5 * squares * math.exp(-2.0 * log_scale) - 0.5 * z * z

    return log_density


def draw_scale(
    residual: Floats, scale: float, *, median: float, log_sd: float, rng: np.random.Generator
) -> float:
    """Draw a log-normal scale given the values of mean 0 that it scales."""
    log_density = scale_log_density(residual, median=median, log_sd=log_sd)
    width = 2.0 / math.sqrt(2.0 * residual.size + log_sd**-2)
    return math.exp(slice_step(log_density, math.log(scale), width=width, rng=rng))


def draw_mean(
    values: Floats, scale: float, *, mean: float, sd: float, rng: np.random.Generator
) -> float:
    """Draw a normal mean given the values around it."""
    precision = sd**-2 + values.size / scale**2
    center = (mean / sd**2 + float(values.sum()) / scale**2) / precision
    return center + float(rng.standard_normal()) / math.sqrt(precision)


def draw_populations(point: Point, problem: Problem, rng: np.random.Generator) -> None:
    """Draw the means and scales of items, and the scale of abilities, where they are estimated."""
    priors = problem.priors
    if problem.discrimination == "one":
        residual = point.ability - point.center(problem)
        point.ability_scale = draw_scale(
            residual,
            point.ability_scale,
            median=priors.ability_sd,
            log_sd=priors.log_scale_sd,
            rng=rng,
        )
    if not problem.hierarchical:
        return
    difficulty = point.difficulty(problem)
    point.second_mean = draw_mean(
        difficulty, point.second_scale, mean=0.0, sd=priors.difficulty_mean_sd, rng=rng
    )
    point.second_scale = draw_scale(
        difficulty - point.second_mean,
        point.second_scale,
        median=priors.difficulty_sd,
        log_sd=priors.log_scale_sd,
        rng=rng,
    )
    if problem.discrimination == "one":
        return
    point.first_mean = draw_mean(
        point.first,
        point.first_scale,
        mean=priors.log_discrimination_mean,
        sd=priors.log_discrimination_mean_sd,
        rng=rng,
    )
    point.first_scale = draw_scale(
        point.first - point.first_mean,
        point.first_scale,
        median=priors.log_discrimination_sd,
        log_sd=priors.log_scale_sd,
        rng=rng,
    )


def move_location(point: Point, problem: Problem, rng: np.random.Generator) -> None:
    """Add one number to all abilities and difficulties; no answer notices."""
    precision, pull = location_terms(point, problem)
    shift = (pull + math.sqrt(precision) * float(rng.standard_normal())) / precision
    shift_location(point, problem, shift)


def location_terms(point: Point, problem: Problem) -> tuple[float, float]:
    """Return precision and slope, at 0, of the log density along `shift_location`."""
    weight = point.ability_scale**-2
    residual = point.ability - point.center(problem)
    precision, pull = weight * residual.size, -weight * float(residual.sum())
    if problem.discrimination == "signed":
        slope, weight = point.first, point.second_scale**-2
        precision += weight * float(slope @ slope)
        pull += weight * float(slope @ (point.intercept - point.second_mean))
    elif problem.hierarchical:
        weight = problem.priors.difficulty_mean_sd**-2
        precision += weight
        pull -= weight * point.second_mean
    else:
        weight = point.second_scale**-2
        rest = point.difficulty(problem) - point.second_mean
        precision += weight * rest.size
        pull -= weight * float(rest.sum())
    return precision, pull


def shift_location(point: Point, problem: Problem, shift: float) -> None:
    """Move abilities and difficulties, and the mean of these where it is estimated."""
    point.ability += shift
    point.intercept -= shift * point.slope(problem)
    if problem.hierarchical:
        point.second_mean += shift


def unit_log_density(point: Point, problem: Problem) -> Callable[[float], float]:
    r"""Return the log density along `stretch_unit`, with the group's Jacobian.

    A scale that is estimated moves with what it scales: the densities of these then cancel
    against their Jacobians, and the prior of the scale itself remains.
    """
    priors = problem.priors
    residual = point.ability - point.center(problem)
    squares = float(residual @ residual) / point.ability_scale**2
    power = residual.size
    if problem.n_family:
        squares += float(point.family_mean @ point.family_mean) / priors.family_mean_sd**2
        power += problem.n_family - 1
    if problem.discrimination == "signed":
        power -= problem.n_item
        scaled = float(point.first @ point.first), float(point.first.sum())
        weight = point.first_scale**-2

        def signed(log_unit: float) -> float:
            less = math.exp(-log_unit)
            slopes = weight * (0.5 * less * less * scaled[0] - less * point.first_mean * scaled[1])
            return power * log_unit - 0.5 * squares * math.exp(2.0 * log_unit) - slopes

        return signed
    z, log_sd = 0.0, np.inf
    if problem.hierarchical:
        squares += (point.second_mean / priors.difficulty_mean_sd) ** 2
        power += 1
        z, log_sd = math.log(point.second_scale / priors.difficulty_sd), priors.log_scale_sd
        count, weight = 1.0, priors.log_discrimination_mean_sd**-2
        gap = point.first_mean - priors.log_discrimination_mean
    else:
        difficulty = point.difficulty(problem)
        squares += float(difficulty @ difficulty) / point.second_scale**2
        power += problem.n_item
        count, weight = float(problem.n_item), point.first_scale**-2
        gap = float(np.mean(point.first)) - point.first_mean

    def positive(log_unit: float) -> float:
        rest = weight * count * (gap - log_unit) ** 2 + ((z + log_unit) / log_sd) ** 2
        rest += squares * math.exp(2.0 * log_unit)
        return power * log_unit - 0.5 * rest

    return positive


def stretch_unit(point: Point, problem: Problem, log_unit: float) -> None:
    """Multiply abilities, difficulties and their means and scales, and divide slopes."""
    factor = math.exp(log_unit)
    point.ability *= factor
    point.family_mean *= factor
    if problem.discrimination == "signed":
        point.first /= factor
        return
    point.first -= log_unit  # the intercept, -a b, stays
    if problem.hierarchical:
        point.first_mean -= log_unit
        point.second_mean *= factor
        point.second_scale *= factor


def move_unit(point: Point, problem: Problem, rng: np.random.Generator) -> None:
    """Change the unit of ability, and the slopes against it; no answer notices."""
    width = 2.0 / math.sqrt(2.0 * (problem.n_model + problem.n_item))
    log_unit = slice_step(unit_log_density(point, problem), 0.0, width=width, rng=rng)
    stretch_unit(point, problem, log_unit)


def flip_log_ratio(point: Point) -> float:
    """Return the gain in log density when abilities and signed slopes turn round, nat.

    Only the prior of the slopes tells one direction from the other.
    """
    return -2.0 * point.first_mean * float(point.first.sum()) / point.first_scale**2


def flip_direction(point: Point, rng: np.random.Generator) -> None:
    """Propose to turn abilities and signed slopes round, and accept it or stay."""
    if math.log1p(-rng.random()) < flip_log_ratio(point):
        point.ability *= -1.0
        point.first *= -1.0
        point.family_mean *= -1.0
