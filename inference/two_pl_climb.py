"""To the optimum of the penalised 2PL likelihood: damped Newton steps, or Adam as P1 prints it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from neartie.inference.two_pl_arrow import (
    Factor,
    Floats,
    Penalised,
    curvature,
    factor,
    value_and_gradient,
)

TOLERANCE: Final = 1e-10
CONVERGED: Final = 1e-6
MAX_NEWTON: Final = 200
LONGEST_STEP: Final = 1.0
# P1 prints the stopping rule, but neither rate nor decay: the rate is ours, the decay Adam's own.
ADAM_RATE: Final = 0.05
ADAM_DECAY: Final = (0.9, 0.999)
ADAM_RULE: Final = 1e-6
MAX_ADAM: Final = 500


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Summit:
    """Where an iteration ended.

    Attributes
    ----------
    point : (n_model + 2 n_item,) float
    value : float, nat
        Minus the log posterior density there, up to a constant.
    factor : Factor
        Of its second derivatives there; of their expectation if they are not positive definite.
    is_minimum : bool
        Whether they are positive definite.
    n_iterations : int
    largest_step : float
        Largest change of a parameter that Newton's next step would make: the distance from the
        optimum, to first order.
    converged : bool
        For Newton, whether that is below 1e-6; for Adam, whether the printed rule was met.
    """

    point: Floats
    value: float
    factor: Factor
    is_minimum: bool
    n_iterations: int
    largest_step: float
    converged: bool


def warm_start(problem: Penalised) -> Floats:
    """Return the start that P1 prints: log odds of the accuracies of models and items.

    Parameters
    ----------
    problem : Penalised

    Returns
    -------
    (n_model + 2 n_item,) float
        Abilities have mean zero and a standard deviation of at most one; slopes are one.
    """
    right, seen = problem.right, problem.observed
    of_item = (right.sum(axis=1) + 0.5) / (seen.sum(axis=1) + 1.0)
    of_model = (right.sum(axis=0) + 0.5) / (seen.sum(axis=0) + 1.0)
    ability = np.log(of_model / (1 - of_model))
    ability -= ability.mean()
    ability /= max(1.0, float(ability.std()))
    place = -np.log(of_item / (1 - of_item))
    return in_best_unit(problem, np.concatenate([ability, place, np.zeros(problem.n_item)]))


def in_best_unit(problem: Penalised, point: Floats) -> Floats:
    """Return the point with abilities and difficulties in the unit that the priors like best.

    The likelihood is the same in every unit, if slopes are divided by it.
    """
    n = problem.n_model + problem.n_item
    unit = best_unit(problem, np.square(point[:n]), point[n:], volume=0)
    return np.concatenate([point[:n] * unit, point[n:] - np.log(unit)])


def best_unit(problem: Penalised, squares: Floats, log_slope: Floats, *, volume: int) -> float:
    r"""Return the unit of ability that the priors like best, in units of the values at hand.

    Parameters
    ----------
    problem : Penalised
    squares : (n_model + n_item,) float
        Of abilities and difficulties, or their expectations.
    log_slope : (n_item,) float
    volume : int
        Number of parameters that grow with the unit, to count how much room each unit has; 0 to
        compare densities alone.

    Returns
    -------
    float
        The c that maximises
        :math:`v \log c - c^2 \sum \tau s/2 - \sum \tau (\log a - \log c - \mu)^2/2`.
    """
    n = problem.n_model + problem.n_item
    weight, precision = float(problem.precision[:n] @ squares), problem.precision[n:]
    pull = float(precision @ (log_slope - problem.mean[n:])) + volume
    total, log_unit = float(precision.sum()), 0.0
    # Concave in the log unit; steps are kept short, so that the first does not overshoot.
    for _ in range(100):
        stretched = weight * np.exp(2 * log_unit)
        step = (pull - total * log_unit - stretched) / (2 * stretched + total)
        log_unit += float(np.clip(step, -0.5, 0.5))
        if abs(step) < 1e-12:
            break
    return float(np.exp(log_unit))


def random_start(problem: Penalised, rng: np.random.Generator) -> Floats:
    """Return a draw from the priors."""
    return problem.mean + rng.normal(size=len(problem.mean)) / np.sqrt(problem.precision)


def newton(
    problem: Penalised,
    start: Floats,
    *,
    sum_zero: bool = False,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_NEWTON,
) -> Summit:
    """Climb by Newton's method.

    Parameters
    ----------
    problem : Penalised
    start : (n_model + 2 n_item,) float
    sum_zero : bool
        Keep the sum of the abilities at zero, which is another optimum than the free one.
    tolerance : float
        End when no parameter moves further in one step.
    max_iterations : int

    Returns
    -------
    Summit

    Notes
    -----
    A step solves with the second derivatives where they are positive definite, and with their
    expectation elsewhere; it is halved until the objective falls.
    """
    point = start.copy()
    if sum_zero:
        point[: problem.n_model] -= point[: problem.n_model].mean()
    value, gradient = value_and_gradient(problem, point)
    used, is_minimum = _factor_at(problem, point)
    n = 0
    while True:
        step = _step(used, gradient, problem.n_model, sum_zero=sum_zero)
        largest = float(np.abs(step).max(initial=0.0))
        if n == max_iterations or (largest < tolerance and is_minimum):
            break
        step, slope = _shortened(step, gradient, problem.n_model, sum_zero=sum_zero)
        size, slack = 1.0, 1e-13 * (1 + abs(value))
        while True:
            reached, gradient_there = value_and_gradient(problem, point + size * step)
            if reached <= value + 1e-4 * size * slope + slack or size < 1e-10:
                break
            size /= 2
        # Nothing but rounding is left to gain.
        if largest < 1e-8 and reached > value:
            break
        point, value, gradient = point + size * step, reached, gradient_there
        used, is_minimum = _factor_at(problem, point)
        n += 1
    return Summit(
        point=point,
        value=value,
        factor=used,
        is_minimum=is_minimum,
        n_iterations=n,
        largest_step=largest,
        converged=is_minimum and largest < CONVERGED,
    )


def adam(
    problem: Penalised,
    start: Floats,
    *,
    rate: float = ADAM_RATE,
    rule: float = ADAM_RULE,
    max_iterations: int = MAX_ADAM,
) -> Summit:
    """Climb as P1 prints it: Adam, abilities centred after each step, a relative stopping rule.

    Parameters
    ----------
    problem : Penalised
    start : (n_model + 2 n_item,) float
    rate : float
        Learning rate, which P1 does not print.
    rule : float
        End when the objective changes by less than this share of itself.
    max_iterations : int

    Returns
    -------
    Summit
        Near the optimum among abilities with mean zero, some hundredths of a logit from it.

    Notes
    -----
    The printed recipe does not end at that optimum, however small its steps. Adam divides each
    gradient by its own size, so that steps of equal sign are equally long and cancel in the
    re-centring, where gradients themselves would not.

    References
    ----------
    P1, "Estimation". Kingma and Ba (2015), algorithm 1. arXiv:1412.6980
    """
    point, n_model, n_item = start.copy(), problem.n_model, problem.n_item
    first, second = np.zeros_like(point), np.zeros_like(point)
    value, gradient = value_and_gradient(problem, point)
    n, met = 0, False
    while n < max_iterations and not met:
        n += 1
        for moment, decay, new in (
            (first, ADAM_DECAY[0], gradient),
            (second, ADAM_DECAY[1], gradient**2),
        ):
            moment *= decay
            moment += (1 - decay) * new
        ahead = first / (1 - ADAM_DECAY[0] ** n)
        scale = np.sqrt(second / (1 - ADAM_DECAY[1] ** n)) + 1e-8
        point = point - rate * ahead / scale
        shift = point[:n_model].mean()
        point[: n_model + n_item] -= shift
        before = value
        value, gradient = value_and_gradient(problem, point)
        met = abs(value - before) < rule * abs(before)
    used, is_minimum = _factor_at(problem, point)
    step = _step(used, gradient, n_model, sum_zero=True)
    return Summit(
        point=point,
        value=value,
        factor=used,
        is_minimum=is_minimum,
        n_iterations=n,
        largest_step=float(np.abs(step).max(initial=0.0)),
        converged=met,
    )


def _factor_at(problem: Penalised, point: Floats) -> tuple[Factor, bool]:
    found = factor(curvature(problem, point))
    if found is not None:
        return found, True
    expected = factor(curvature(problem, point, expected=True))
    if expected is None:
        raise ValueError(
            "the expected information is not positive definite: a parameter is not finite"
        )
    return expected, False


def _step(used: Factor, gradient: Floats, n_model: int, *, sum_zero: bool) -> Floats:
    step = -used.solve(gradient)
    if not sum_zero:
        return step
    along = used.solve(np.repeat([1.0, 0.0], [n_model, len(gradient) - n_model]))
    return step - along * (step[:n_model].sum() / along[:n_model].sum())


def _shortened(
    step: Floats, gradient: Floats, n_model: int, *, sum_zero: bool
) -> tuple[Floats, float]:
    """Return a step in which no parameter moves too far, and how the objective falls along it.

    Single parameters are held back, so that one item far from its place does not slow all others.
    """
    longest = float(np.abs(step).max(initial=0.0))
    if longest <= LONGEST_STEP:
        return step, float(gradient @ step)
    held = np.clip(step, -LONGEST_STEP, LONGEST_STEP)
    if sum_zero:
        held[:n_model] -= held[:n_model].mean()
    slope = float(gradient @ held)
    if slope < 0:
        return held, slope
    return step * (LONGEST_STEP / longest), float(gradient @ step) * (LONGEST_STEP / longest)
