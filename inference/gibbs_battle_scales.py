"""Scales and the tie parameter of a Bradley–Terry model: given values, and along with them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_battle_effects import BattlePoint, BattleProblem
from neartie.inference.gibbs_battle_kernel import (
    Factors,
    davidson_likelihood,
    likelihood_along,
    rao_kupper_likelihood,
    row_logits,
)
from neartie.inference.gibbs_slice import LIMIT, draw_log_scale

type Floats = NDArray[np.float64]

SCALES: Final = ("strength_scale", "deviation_scale", "advantage_scale")


def draw_scales_apart(
    point: BattlePoint, problem: BattleProblem, *, rng: np.random.Generator
) -> None:
    """Draw every scale given the values of what it scales, in place."""
    priors, n_free = problem.priors, problem.n_model - 1
    if problem.hierarchical:
        point.strength_scale = _half_normal_scale(
            point.strength_scale,
            point.residual(problem),
            n_free,
            priors.strength_scale_sd,
            rng=rng,
        )
    if not problem.n_judge:
        return
    point.deviation_scale = _half_normal_scale(
        point.deviation_scale,
        point.deviation,
        problem.n_judge * n_free,
        priors.judge_strength_sd,
        rng=rng,
    )
    if problem.first_shown:
        point.advantage_scale = _half_normal_scale(
            point.advantage_scale,
            point.advantage,
            problem.n_judge,
            priors.judge_first_shown_sd,
            rng=rng,
        )


def _half_normal_scale(
    scale: float, values: Floats, n_free: int, sd: float, *, rng: np.random.Generator
) -> float:
    square_sum = float(np.square(values).sum())
    log_scale = draw_log_scale(
        rng, math.log(scale), 1.0 - n_free, 0.5 * sd**-2, 0.5 * square_sum, 0.0, 0.0, 0.0
    )
    return math.exp(log_scale)


def draw_scales_together(
    point: BattlePoint,
    problem: BattleProblem,
    factors: Factors,
    logit: Floats,
    widths: Floats,
    *,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Draw every scale along with what it scales, in place: values in its units stay.

    Parameters
    ----------
    point, problem, factors, logit, rng
        As in `draw_effects`.
    widths : (4,) float, log scale
        Of first intervals: strengths, deviations, advantages; the last is not used.

    Returns
    -------
    logit : (n_row,) float, logit
    moved : (4,) float, log scale
        By how much each scale has moved; NaN for those that the model lacks.

    References
    ----------
    Yu and Meng (2011), Journal of Computational and Graphical Statistics 20, 531-570.
    doi:10.1198/jcgs.2011.203main
    """
    moved = np.full(4, np.nan)
    for place, name in enumerate(SCALES):
        direction = scale_direction(point, problem, name)
        if direction is None:
            continue
        fixed, scale = logit - direction, float(getattr(point, name))
        density = scale_density(name, scale, problem, fixed, direction, factors)
        step = slice_draw(0.0, density, width=float(widths[place]), rng=rng)
        factor = math.exp(step)
        _stretch(point, problem, name, factor)
        logit = fixed + factor * direction
        moved[place] = step
    return logit, moved


def scale_direction(point: BattlePoint, problem: BattleProblem, name: str) -> Floats | None:
    """Return the part of the logits that a scale multiplies, (n_row,); None if it is fixed."""
    no_effect, nobody = np.zeros(problem.n_judge + 1), np.zeros((0, problem.n_model))
    rows, zeros = problem.rows, np.zeros(problem.n_model)
    if name == "strength_scale":
        if not problem.hierarchical:
            return None
        return row_logits(rows, point.residual(problem), no_effect, nobody)
    if not problem.n_judge:
        return None
    if name == "deviation_scale":
        return row_logits(rows, zeros, no_effect, point.deviation)
    if not problem.first_shown:
        return None
    return row_logits(rows, zeros, np.append(point.advantage, 0.0), nobody)


def scale_density(
    name: str,
    scale: float,
    problem: BattleProblem,
    fixed: Floats,
    direction: Floats,
    factors: Factors,
) -> Callable[[float], float]:
    """Return the log density of the log of the factor that a scale and its values grow by."""
    priors = problem.priors
    sds = priors.strength_scale_sd, priors.judge_strength_sd, priors.judge_first_shown_sd
    sd = sds[SCALES.index(name)]

    def density(step: float) -> float:
        factor = math.exp(min(max(step, -LIMIT), LIMIT))
        prior = step - 0.5 * (scale * factor / sd) ** 2
        return prior + likelihood_along(factor, fixed, direction, factors)

    return density


def _stretch(point: BattlePoint, problem: BattleProblem, name: str, factor: float) -> None:
    if name == "strength_scale":
        point.strength = point.strength + (factor - 1.0) * point.residual(problem)
    elif name == "deviation_scale":
        point.deviation = factor * point.deviation
    else:
        point.advantage = factor * point.advantage
    setattr(point, name, factor * getattr(point, name))


def tie_density(problem: BattleProblem, logit: Floats) -> Callable[[float], float]:
    """Return the log density of the tie parameter: of log nu, or of the log of the threshold."""
    won, lost, tied = problem.outcome.T
    n_tied, priors = float(tied.sum()), problem.priors
    if problem.ties == "davidson":
        total = won + lost + tied
        mean, sd = priors.log_tie_mean, priors.log_tie_sd

        def log_nu(value: float) -> float:
            prior = -0.5 * ((value - mean) / sd) ** 2
            return prior + davidson_likelihood(value, logit, total, n_tied)

        return log_nu
    ahead, behind, spread = won + tied, lost + tied, priors.log_threshold_sd

    def log_threshold(value: float) -> float:
        tie = math.exp(min(max(value, -LIMIT), LIMIT))
        prior = value - 0.5 * (tie / spread) ** 2
        return prior + rao_kupper_likelihood(tie, logit, ahead, behind, n_tied)

    return log_threshold


def draw_tie(
    point: BattlePoint,
    problem: BattleProblem,
    logit: Floats,
    *,
    width: float,
    rng: np.random.Generator,
) -> float:
    """Draw the tie parameter given all logits, in place; return by how much it has moved."""
    density = tie_density(problem, logit)
    if problem.ties == "davidson":
        start = point.tie
        drawn = point.tie = slice_draw(start, density, width=width, rng=rng)
    else:
        start = math.log(point.tie)
        drawn = slice_draw(start, density, width=width, rng=rng)
        point.tie = math.exp(drawn)
    return drawn - start


def slice_draw(
    start: float, density: Callable[[float], float], *, width: float, rng: np.random.Generator
) -> float:
    """Return one draw of a number by slice sampling, stepping out from an interval of a width.

    References
    ----------
    Neal (2003), Annals of Statistics 31, 705-767, figures 3 and 5. doi:10.1214/aos/1056562461
    """
    level = density(start) - rng.standard_exponential()
    low = start - width * rng.random()
    high = low + width
    while density(low) > level:
        low -= width
    while density(high) > level:
        high += width
    while True:
        drawn = low + (high - low) * rng.random()
        if density(drawn) > level:
            return float(drawn)
        if drawn < start:
            low = drawn
        else:
            high = drawn
