"""Posterior mode of the two-parameter logistic model under P1's objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from neartie.inference.pairwise_bits import compiled, in_row_blocks

ABILITY_SD: Final = 1.0
DIFFICULTY_SD: Final = 1.5
LOG_DISCRIMINATION_SD: Final = 0.5
STEP_TOLERANCE: Final = 1e-6
NEWTON_TOLERANCE: Final = 1e-10
MAX_NEWTON_STEPS: Final = 12
MAX_ITERATIONS: Final = 500
BLOCK: Final = 64


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TwoPLMode:
    """The mode, as it comes out of the objective: abilities are not re-centred.

    Attributes
    ----------
    ability : (n_model,) float, logit
    difficulty : (n_item,) float, logit
    discrimination : (n_item,) float
    n_iterations : int
    largest_step : float, logit
        Largest change of a parameter in the last Newton step.
    converged : bool
        Whether that is below 1e-6.
    """

    ability: NDArray[np.float64]
    difficulty: NDArray[np.float64]
    discrimination: NDArray[np.float64]
    n_iterations: int
    largest_step: float
    converged: bool


@compiled
def _fill_rows(
    start: int,
    stop: int,
    right: NDArray[np.bool_],
    observed: NDArray[np.bool_],
    ability: NDArray[np.float64],
    difficulty: NDArray[np.float64],
    slope: NDArray[np.float64],
    item: NDArray[np.float64],
    ability_gradient: NDArray[np.float64],
) -> None:
    """Fill (misfit, gradient in difficulty, gradient in log slope) and add to the abilities'."""
    for i in range(start, stop):
        misfit, error_sum, error_logit = 0.0, 0.0, 0.0
        for m in range(ability.shape[0]):
            if not observed[i, m]:
                continue
            logit = slope[i] * (ability[m] - difficulty[i])
            tail = np.exp(-abs(logit))
            chance = 1.0 / (1.0 + tail) if logit >= 0.0 else tail / (1.0 + tail)
            misfit += max(logit, 0.0) + np.log1p(tail)
            if right[i, m]:
                misfit -= logit
                chance -= 1.0
            error_sum += chance
            error_logit += chance * logit
            ability_gradient[m] += chance * slope[i]
        item[0, i], item[1, i], item[2, i] = misfit, -slope[i] * error_sum, error_logit


def negative_log_posterior(
    point: NDArray[np.float64], right: NDArray[np.bool_], observed: NDArray[np.bool_]
) -> tuple[float, NDArray[np.float64]]:
    r"""Return minus the log posterior density, up to a constant, and its gradient.

    Parameters
    ----------
    point : (n_model + 2 n_item,) float
        Abilities, difficulties, log discriminations.
    right, observed : (n_item, n_model) bool
        Right answers, and where there is an answer.

    Returns
    -------
    float, nat
        :math:`-\sum x\eta - \log(1 + e^\eta)` with :math:`\eta = a_i(\theta_m - b_i)`, plus
        :math:`\sum\theta^2/2 + \sum b^2/(2\cdot 1.5^2) + \sum(\log a)^2/(2\cdot 0.5^2)`.
    (n_model + 2 n_item,) float

    References
    ----------
    P1, equation for the penalized likelihood (`eq:map`).
    """
    n_item, n_model = right.shape
    ability, difficulty, log_slope = np.split(point, [n_model, n_model + n_item])
    item = np.empty((3, n_item))
    # One row for each block, added in their order, so that threads change nothing.
    ability_gradient = np.zeros((-(-n_item // BLOCK), n_model))
    data = (right, observed, ability, difficulty, np.exp(log_slope), item)

    def work(start: int, stop: int) -> None:
        _fill_rows(start, stop, *data, ability_gradient[start // BLOCK])

    in_row_blocks(work, n_item, block=BLOCK)
    precision = np.repeat(
        [ABILITY_SD**-2, DIFFICULTY_SD**-2, LOG_DISCRIMINATION_SD**-2], [n_model, n_item, n_item]
    )
    gradient = np.concatenate([ability_gradient.sum(axis=0), item[1], item[2]])
    penalty = 0.5 * float(point @ (precision * point))
    return float(item[0].sum()) + penalty, gradient + precision * point


def newton_step(
    point: NDArray[np.float64], right: NDArray[np.bool_], observed: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the Newton step toward the mode, by eliminating the items.

    Parameters
    ----------
    point : (n_model + 2 n_item,) float
        As in `negative_log_posterior`; near the mode.
    right, observed : (n_item, n_model) bool

    Returns
    -------
    (n_model + 2 n_item,) float
        To be added to `point`. The Hessian is an arrow: diagonal in the abilities, two by two
        in each item, so what is solved is one system of the size of the models.
    """
    n_item, n_model = right.shape
    ability, difficulty, log_slope = np.split(point, [n_model, n_model + n_item])
    slope = np.exp(log_slope)[:, None]
    logit = slope * (ability - difficulty[:, None])
    chance = 1.0 / (1.0 + np.exp(-np.clip(logit, -700.0, 700.0)))
    weight, error = observed * chance * (1.0 - chance), observed * chance - right
    cross = np.stack([-(slope**2) * weight, slope * (error + weight * logit)], axis=1)
    own = np.empty((n_item, 2, 2))
    own[:, 0, 0] = -cross[:, 0].sum(axis=1) + DIFFICULTY_SD**-2
    own[:, 0, 1] = own[:, 1, 0] = -cross[:, 1].sum(axis=1)
    own[:, 1, 1] = ((weight * logit + error) * logit).sum(axis=1) + LOG_DISCRIMINATION_SD**-2
    diagonal = (slope**2 * weight).sum(axis=0) + ABILITY_SD**-2
    gradient = negative_log_posterior(point, right, observed)[1]
    item_gradient = gradient[n_model:].reshape(2, n_item).T
    solved = np.linalg.solve(own, cross)
    flat = cross.reshape(2 * n_item, n_model)
    system = np.diag(diagonal) - flat.T @ solved.reshape(2 * n_item, n_model)
    shift = np.linalg.solve(own, item_gradient[:, :, None])[:, :, 0]
    ability_step = -np.linalg.solve(system, gradient[:n_model] - flat.T @ shift.ravel())
    item_step = -shift - solved @ ability_step
    return np.concatenate([ability_step, item_step.T.ravel()])


def two_pl_mode(right: NDArray[np.bool_], observed: NDArray[np.bool_]) -> TwoPLMode:
    """Return the posterior mode of abilities, difficulties and discriminations.

    Parameters
    ----------
    right, observed : (n_item, n_model) bool
        Right answers, and where there is an answer.

    Returns
    -------
    TwoPLMode
        `converged` says whether the iteration reached it.

    Notes
    -----
    Priors: ability ~ N(0, 1), difficulty ~ N(0, 1.5²), log discrimination ~ N(0, 0.5²). The
    iteration is limited-memory BFGS on parameters scaled by their curvature at the start, then
    Newton's method, which needs few steps and leaves nothing to the stopping rule. With many
    models and a handful of items the joint mode runs toward small abilities and steep slopes,
    and may not be reached; a marginal or full posterior has no such trouble.

    References
    ----------
    P1, section on estimation.

    Examples
    --------
    >>> right = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]], dtype=bool)
    >>> bool(np.all(np.diff(two_pl_mode(right, np.ones((3, 4), dtype=bool)).difficulty) > 0))
    True
    """
    x, seen = right & observed, observed
    n_item, n_model = x.shape
    share = (x.sum(axis=1) + 0.5) / (seen.sum(axis=1) + 1.0)
    quality = (x.sum(axis=0) + 0.5) / (seen.sum(axis=0) + 1.0)
    start = np.concatenate([np.log(quality / (1 - quality)), -np.log(share / (1 - share))])
    start = np.concatenate([start - start[:n_model].mean(), np.zeros(n_item)])
    start[:n_model] /= max(1.0, float(start[:n_model].std()))
    information = np.concatenate([0.2 * seen.sum(axis=0) + 1, 0.2 * seen.sum(axis=1) + 0.5])
    scale = 1 / np.sqrt(np.concatenate([information, 0.2 * seen.sum(axis=1) + 4]))

    def scaled(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, gradient = negative_log_posterior(point * scale, x, seen)
        return value, gradient * scale

    result = minimize(
        scaled,
        start / scale,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": MAX_ITERATIONS, "maxcor": 30, "ftol": 1e-11, "gtol": 1e-9},
    )
    mode = np.asarray(result.x) * scale
    value, largest = negative_log_posterior(mode, x, seen)[0], np.inf
    for _ in range(MAX_NEWTON_STEPS):
        step = newton_step(mode, x, seen)
        following = float(np.abs(step).max(initial=0.0))
        reached = negative_log_posterior(mode + step, x, seen)[0]
        # Far from the mode a step may lead away; then it is not taken, and its length is said.
        if reached > value + 1e-9 * abs(value):
            largest = max(following, 2 * STEP_TOLERANCE)
            break
        mode, value, largest = mode + step, reached, following
        if largest < NEWTON_TOLERANCE:
            break
    ability, difficulty, log_slope = np.split(mode, [n_model, n_model + n_item])
    return TwoPLMode(
        ability=ability,
        difficulty=difficulty,
        discrimination=np.exp(log_slope),
        n_iterations=int(result.nit),
        largest_step=largest,
        converged=largest < STEP_TOLERANCE,
    )
