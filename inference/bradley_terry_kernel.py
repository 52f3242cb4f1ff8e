"""Maximising the Bradley–Terry likelihood by Newton's method, and inverting its information."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.lapack import dpotri

from neartie.inference.bradley_terry_pass import half_win_pass
from neartie.models.bradley_terry import Floats, TieModel, log_likelihood

type Codes = NDArray[np.int64]

START_TIE = {"half": 0.0, "davidson": 0.0, "rao-kupper": 0.5}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Problem:
    """What is maximised.

    Attributes
    ----------
    n_model : int
    first, second : (n_pair,) int
        Positions of two different models; a pair may stand more than once.
    shown : (n_pair,) float
        1 where the first was shown first, else 0.
    wins, losses, tied : (n_pair,) float, battles
    group : (n_model,) int
        Sets within which strengths sum to zero; no pair crosses them.
    ties : {'half', 'davidson', 'rao-kupper'}
        The other two have a tie parameter.
    has_order : bool
        Whether the first-shown effect is estimated.
    precision : float
        Of the normal prior of each strength; 0 for none.
    """

    n_model: int
    first: Codes
    second: Codes
    shown: Floats
    wins: Floats
    losses: Floats
    tied: Floats
    group: Codes
    ties: TieModel
    has_order: bool
    precision: float

    @property
    def has_tie(self) -> bool:
        """Whether there is a tie parameter."""
        return self.ties != "half"

    @property
    def n_parameter(self) -> int:
        """Strengths, then the first-shown effect, then the tie parameter, where there are any."""
        return self.n_model + self.has_order + self.has_tie

    def start(self) -> Floats:
        """Return where Newton's method begins: the log odds of each model's win rate."""
        point = np.zeros(self.n_parameter)
        n, half = self.n_model, 0.5 * self.tied
        won = np.bincount(self.first, weights=self.wins + half, minlength=n)
        won += np.bincount(self.second, weights=self.losses + half, minlength=n)
        lost = np.bincount(self.first, weights=self.losses + half, minlength=n)
        lost += np.bincount(self.second, weights=self.wins + half, minlength=n)
        point[:n] = np.log((won + 1) / (lost + 1))
        point = centred(self, point)
        if self.has_tie:
            point[-1] = START_TIE[self.ties]
        return point


class Curve(NamedTuple):
    """Penalised log-likelihood at a point, with gradient and information."""

    value: float
    gradient: Floats
    information: Floats


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Optimum:
    """Where an iteration ended.

    Attributes
    ----------
    point : (n_parameter,) float, logit
    n_iterations : int
    largest_step : float, logit
        Largest change of a parameter in the last step.
    converged : bool
    """

    point: Floats
    n_iterations: int
    largest_step: float
    converged: bool


def evaluate(problem: Problem, point: Floats, *, curvature: bool = True) -> Curve:
    """Return the penalised log-likelihood with gradient and, if asked, information.

    Parameters
    ----------
    problem : Problem
    point : (n_parameter,) float
    curvature : bool
        Without it the information is empty.

    Returns
    -------
    Curve
    """
    if problem.has_tie:
        return _evaluate_with_ties(problem, point, curvature)
    n = problem.n_model
    strength, order, _ = split(problem, point)
    gradient, own, cross = np.zeros(n + 1), np.zeros(n), np.zeros(n + 1)
    joint = np.zeros((n, n) if curvature else (0, 0))
    value = half_win_pass(
        problem.first,
        problem.second,
        problem.shown,
        problem.wins,
        problem.losses,
        problem.tied,
        strength,
        order,
        gradient,
        joint,
        own,
        cross,
        curvature,
    )
    value -= 0.5 * problem.precision * float(strength @ strength)
    gradient[:n] -= problem.precision * strength
    size = problem.n_parameter
    if not curvature:
        return Curve(value, gradient[:size], joint)
    information = np.empty((size, size))
    np.add(joint, joint.T, out=information[:n, :n])
    np.negative(information[:n, :n], out=information[:n, :n])
    information[np.arange(n), np.arange(n)] = own + problem.precision
    if problem.has_order:
        information[n], information[:n, n] = cross, cross[:n]
    return Curve(value, gradient[:size], information)


def _evaluate_with_ties(problem: Problem, point: Floats, curvature: bool) -> Curve:
    """Return the same where ties are an outcome of their own."""
    n = problem.n_model
    strength, order, tie = split(problem, point)
    logit = strength[problem.first] - strength[problem.second] + order * problem.shown
    terms = log_likelihood(
        logit, problem.wins, problem.losses, problem.tied, ties=problem.ties, tie=tie
    )
    value = float(terms.value.sum()) - 0.5 * problem.precision * float(strength @ strength)
    gradient = np.empty(problem.n_parameter)
    gradient[:n] = _across(problem, terms.by_logit) - problem.precision * strength
    if problem.has_order:
        gradient[n] = problem.shown @ terms.by_logit
    gradient[-1] = terms.by_tie.sum()
    if not curvature:
        return Curve(value, gradient, np.empty((0, 0)))
    information = np.zeros((problem.n_parameter, problem.n_parameter))
    _fill_strengths(problem, terms.info_logit, information)
    if problem.has_order:
        seen = problem.shown * terms.info_logit
        information[n, :n] = information[:n, n] = _across(problem, seen)
        information[n, n] = problem.shown @ seen
        information[-1, n] = information[n, -1] = problem.shown @ terms.info_cross
    information[-1, :n] = information[:n, -1] = _across(problem, terms.info_cross)
    information[-1, -1] = terms.info_tie.sum()
    return Curve(value, gradient, information)


def split(problem: Problem, point: Floats) -> tuple[Floats, float, float]:
    """Return strengths, first-shown effect and tie parameter; 0 for one that is not there."""
    n = problem.n_model
    order = float(point[n]) if problem.has_order else 0.0
    return point[:n], order, float(point[-1]) if problem.has_tie else 0.0


def _across(problem: Problem, values: Floats) -> Floats:
    n = problem.n_model
    forth = np.bincount(problem.first, weights=values, minlength=n)
    return np.asarray(forth - np.bincount(problem.second, weights=values, minlength=n))


def _fill_strengths(problem: Problem, weight: Floats, information: Floats) -> None:
    """Write the information of the strengths: a weighted graph Laplacian."""
    n = problem.n_model
    cells = np.bincount(problem.first * n + problem.second, weights=weight, minlength=n * n)
    joint = cells.reshape(n, n)
    block = information[:n, :n]
    np.subtract(block, joint, out=block)
    np.subtract(block, joint.T, out=block)
    block[np.diag_indices(n)] = -block.sum(axis=1) + problem.precision


def newton(
    problem: Problem,
    *,
    start: Floats | None = None,
    tolerance: float = 1e-10,
    max_iterations: int = 100,
) -> Optimum:
    """Return the maximum by Newton's method with step halving.

    Parameters
    ----------
    problem : Problem
        With a finite maximum; the log-likelihood is concave.
    start : (n_parameter,) float, optional
        Where to begin.
    tolerance : float, logit
        End when no parameter moves further than this in a full step.
    max_iterations : int

    Returns
    -------
    Optimum
        Strengths sum to zero within groups.
    """
    point = problem.start() if start is None else start.copy()
    gauge = gauge_of(problem.group)
    curve = evaluate(problem, point)
    largest = float(np.inf)
    for iteration in range(1, max_iterations + 1):
        try:
            step = cho_solve(_factor(problem, curve.information, gauge), curve.gradient)
        except LinAlgError:
            return Optimum(
                point=point, n_iterations=iteration, largest_step=np.inf, converged=False
            )
        largest = float(np.abs(step).max())
        if largest <= tolerance:
            # So small a step needs no check; the next one would be about its square.
            point = centred(problem, point + step)
            return Optimum(
                point=point, n_iterations=iteration, largest_step=largest, converged=True
            )
        size, reached, next_curve = 1.0, point + step, None
        while size > 1e-12:
            if _is_allowed(problem, reached):
                next_curve = evaluate(problem, reached)
                # Rounding may take away what the last digits of a value gain.
                if next_curve.value >= curve.value - 1e-12 * abs(curve.value):
                    break
            size *= 0.5
            reached = point + size * step
        if next_curve is None:
            break
        point, curve = centred(problem, reached), next_curve
    return Optimum(point=point, n_iterations=max_iterations, largest_step=largest, converged=False)


def covariance(problem: Problem, information: Floats) -> Floats:
    """Return the inverse information on the space where strengths sum to zero within groups.

    Parameters
    ----------
    problem : Problem
    information : (n_parameter, n_parameter) float
        At the optimum.

    Returns
    -------
    (n_parameter, n_parameter) float
        For the strengths alone and without prior, the Moore-Penrose inverse.
    """
    n = problem.n_model
    gauge = gauge_of(problem.group)
    factor, _ = _factor(problem, information, gauge)
    inverse, status = dpotri(factor, lower=1, overwrite_c=1)
    if status:
        raise LinAlgError("the information cannot be inverted")
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    inverse[:n, :n] -= gauge / (_gauge_scale(problem, information) + problem.precision)
    return np.asarray(inverse)


def gauge_of(group: Codes) -> Floats:
    """Return the projection on vectors that are constant within groups."""
    same = group[:, None] == group[None, :]
    return np.asarray(same / np.bincount(group)[group])


def _gauge_scale(problem: Problem, information: Floats) -> float:
    scale = float(np.mean(np.diag(information)[: problem.n_model]))
    return scale if scale > 0 else 1.0


def _factor(problem: Problem, information: Floats, gauge: Floats) -> tuple[Floats, bool]:
    # Constants within a group are the null space of the information; this fills it, and so
    # the solution keeps the sum of each group.
    n = problem.n_model
    matrix = information.copy()
    matrix[:n, :n] += _gauge_scale(problem, information) * gauge
    factor, lower = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    return factor, bool(lower)


def centred(problem: Problem, point: Floats) -> Floats:
    """Return a point whose strengths sum to zero within each group."""
    n, group = problem.n_model, problem.group
    result = point.copy()
    means = np.bincount(group, weights=point[:n]) / np.bincount(group)
    result[:n] -= means[group]
    return result


def _is_allowed(problem: Problem, point: Floats) -> bool:
    return bool(np.isfinite(point).all()) and not (
        problem.ties == "rao-kupper" and problem.has_tie and point[-1] <= 0
    )
