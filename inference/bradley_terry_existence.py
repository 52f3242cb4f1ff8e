"""Whether the first-shown effect and the tie parameter have finite maximum-likelihood estimates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array

from neartie.data.errors import DataError
from neartie.inference.bradley_terry_kernel import Problem


def refuse_infinite(problem: Problem) -> None:
    """Refuse a problem whose likelihood rises without end in one of its common parameters.

    Parameters
    ----------
    problem : Problem
        Strengths alone have a finite maximum: groups are strongly connected, or there is a prior.

    Raises
    ------
    DataError
        If the first-shown effect or the tie parameter has no finite estimate, or none at all.

    Notes
    -----
    The log-likelihood is concave. It has no finite maximum if along some direction it never falls
    and moves a parameter. With direction :math:`d` in the strengths, :math:`g` in the first-shown
    effect and :math:`e` in the tie parameter, such a direction meets, for every pair with
    :math:`\\delta = d_i - d_j + g` (without :math:`g` where nobody was shown first),

    - :math:`\\delta \\ge 0` and :math:`\\delta \\ge s e` where the first won,
    - :math:`-\\delta \\ge 0` and :math:`-\\delta \\ge s e` where the second won,
    - :math:`s e \\ge |\\delta|` where they tied (:math:`\\delta = 0` for half wins),

    with :math:`s = 2` for Davidson and 1 for Rao and Kupper. Linear programs look for one.

    References
    ----------
    Albert and Anderson (1984), Biometrika 71, 1-10. doi:10.1093/biomet/71.1.1
    """
    if not (problem.has_order or problem.has_tie):
        return
    if problem.has_order and not problem.shown.any():
        raise DataError(
            "who was shown first is not known for any battle, so that a first-shown effect "
            "cannot be estimated"
        )
    if _is_finite_at_a_glance(problem):
        return
    constraints, n = _constraints(problem), problem.n_model
    if problem.has_tie and _can_move(constraints, n + problem.has_order, 1.0, problem):
        reason = "no chain of wins leads back to where it began, so that ties are never unlikely"
        if not (problem.wins.any() or problem.losses.any()):
            reason = "every battle is a tie"
        raise DataError(
            f"the tie parameter of {problem.ties!r} has no finite estimate: {reason}; take ties "
            "as half wins"
        )
    if problem.has_order and any(_can_move(constraints, n, sign, problem) for sign in (1.0, -1.0)):
        raise DataError(
            "the first-shown effect has no finite estimate: these battles can be explained by "
            "position alone, or it cannot be told from strength; fit without it"
        )


def _is_finite_at_a_glance(problem: Problem) -> bool:
    """Whether one pair settles it, as in nearly all real data.

    A pair with wins on both sides under one order leaves no direction for that order's logit and
    none for ties; two models with such records in two different orders leave none for the effect.
    """
    mixed = (problem.wins > 0) & (problem.losses > 0)
    if not problem.has_order:
        return bool(mixed.any())
    if not problem.has_tie:
        mixed |= problem.tied > 0
    n = problem.n_model
    swapped = problem.first > problem.second
    low = np.minimum(problem.first, problem.second)
    high = np.maximum(problem.first, problem.second)
    kind = np.where(problem.shown == 0, 0, np.where(swapped, 2, 1))
    found = np.unique((low * n + high)[mixed] * 3 + kind[mixed])
    _, orders = np.unique(found // 3, return_counts=True)
    return bool((orders > 1).any())


def _constraints(problem: Problem) -> Any:
    """Return rows A with A x >= 0 for the directions x along which no pair's term falls."""
    n = problem.n_model
    scale = 2.0 if problem.ties == "davidson" else 1.0
    won, lost, tied = problem.wins > 0, problem.losses > 0, problem.tied > 0
    rows: list[tuple[NDArray[np.intp], float, float]] = []
    # Each kind of row: which pairs, sign of delta, factor of the tie parameter.
    rows += [(np.flatnonzero(won), 1.0, 0.0), (np.flatnonzero(lost), -1.0, 0.0)]
    if problem.has_tie:
        rows += [(np.flatnonzero(won), 1.0, -scale), (np.flatnonzero(lost), -1.0, -scale)]
        rows += [(np.flatnonzero(tied), 1.0, scale), (np.flatnonzero(tied), -1.0, scale)]
    else:
        rows += [(np.flatnonzero(tied), 1.0, 0.0), (np.flatnonzero(tied), -1.0, 0.0)]
    row_of, column_of, value_of = [], [], []
    start = 0
    for pairs, sign, factor in rows:
        at = start + np.arange(len(pairs))
        entries: list[tuple[NDArray[Any], Any]] = [
            (problem.first[pairs], sign),
            (problem.second[pairs], -sign),
        ]
        if problem.has_order:
            entries.append((np.full(len(pairs), n), sign * problem.shown[pairs]))
        if problem.has_tie:
            entries.append((np.full(len(pairs), n + problem.has_order), factor))
        for column, value in entries:
            row_of.append(at)
            column_of.append(column)
            value_of.append(np.broadcast_to(value, len(pairs)))
        start += len(pairs)
    values = np.concatenate(value_of)
    indices = (np.concatenate(row_of), np.concatenate(column_of))
    return coo_array((values, indices), shape=(start, problem.n_parameter)).tocsr()


def _can_move(constraints: Any, column: int, sign: float, problem: Problem) -> bool:
    """Return whether some direction moves a parameter to one side."""
    cost = np.zeros(problem.n_parameter)
    cost[column] = -sign
    bounds: list[tuple[float | None, float | None]] = [(None, None)] * problem.n_parameter
    if problem.precision > 0:
        # A prior on strengths lets no direction move them.
        bounds[: problem.n_model] = [(0.0, 0.0)] * problem.n_model
    bounds[column] = (0.0, 1.0) if sign > 0 else (-1.0, 0.0)
    found = linprog(
        cost, A_ub=-constraints, b_ub=np.zeros(constraints.shape[0]), bounds=bounds, method="highs"
    )
    return found.x is not None and bool(abs(found.x[column]) > 0.5)
