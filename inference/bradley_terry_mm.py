"""P1's iteration for Bradley–Terry strengths: minorisation-maximisation."""

from __future__ import annotations

import numpy as np

from neartie.inference.bradley_terry_kernel import Optimum, Problem, centred


def minorise(
    problem: Problem, *, tolerance: float = 1e-11, max_iterations: int = 100_000
) -> Optimum:
    r"""Return the maximum by minorisation-maximisation, P1's iteration.

    Parameters
    ----------
    problem : Problem
        With ties as half wins, without first-shown effect and prior.
    tolerance : float, logit
        End when no log strength moves further than this in one round.
    max_iterations : int

    Returns
    -------
    Optimum

    Notes
    -----
    All strengths are renewed together, :math:`p_i \leftarrow W_i / \sum_j N_{ij}/(p_i + p_j)`,
    and their logs are then centred within each group, which P1 leaves open. Convergence is
    linear: the distance to the optimum may exceed the last step many times over on sparse designs.

    References
    ----------
    P1, eq. (mm); Hunter (2004), Annals of Statistics 32, 384-406. doi:10.1214/aos/1079120141
    """
    n = problem.n_model
    half = 0.5 * problem.tied
    total = problem.wins + problem.losses + problem.tied
    wins = np.bincount(problem.first, weights=problem.wins + half, minlength=n)
    wins += np.bincount(problem.second, weights=problem.losses + half, minlength=n)
    played = wins > 0
    point, largest = np.zeros(n), np.inf
    for iteration in range(1, max_iterations + 1):
        strength = np.exp(point)
        share = total / (strength[problem.first] + strength[problem.second])
        rate = np.bincount(problem.first, weights=share, minlength=n)
        rate += np.bincount(problem.second, weights=share, minlength=n)
        renewed = np.log(np.divide(wins, rate, out=np.ones(n), where=played))
        renewed = centred(problem, renewed)
        largest = float(np.abs(renewed - point).max())
        point = renewed
        if largest <= tolerance:
            return Optimum(
                point=point, n_iterations=iteration, largest_step=largest, converged=True
            )
    return Optimum(point=point, n_iterations=max_iterations, largest_step=largest, converged=False)
