"""P1's phantom wins: adding them, and saying how far they move differences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from neartie.data.errors import DataError
from neartie.inference.bradley_terry_existence import refuse_infinite
from neartie.inference.bradley_terry_kernel import Codes, Problem, covariance, evaluate, newton
from neartie.models.bradley_terry import Floats

# In standard errors. An interval off its place by half of one holds the truth in 92 %, not 95 %.
WORTH_SAYING: Final = 0.5
# Share of a standard error. Intervals of three quarters of their length hold the truth in 86 %.
LEAST_KEPT: Final = 0.75


def add_phantoms(problem: Problem, component: Codes, phantom_wins: float) -> Problem:
    """Return the problem with wins for both sides of every pair within a connected set.

    Parameters
    ----------
    problem : Problem
    component : (n_model,) int
        Connected sets.
    phantom_wins : float, battles
        To each side of each pair, played or not; shown in no order.

    Returns
    -------
    Problem
        One entry for each pair; two more where orders are kept apart.
    """
    if phantom_wins == 0:
        return problem
    n = problem.n_model
    first, second = np.triu_indices(n, 1)
    together = component[first] == component[second]
    if not together.all():
        first, second = first[together], second[together]
    extra = np.full(len(first), phantom_wins)
    none = np.zeros(len(first))
    if problem.has_order:
        return replace(
            problem,
            first=np.concatenate([problem.first, first]),
            second=np.concatenate([problem.second, second]),
            shown=np.concatenate([problem.shown, none]),
            wins=np.concatenate([problem.wins, extra]),
            losses=np.concatenate([problem.losses, extra]),
            tied=np.concatenate([problem.tied, none]),
        )
    # Without orders each pair stands once, the smaller position first, as in `triu_indices`.
    place = np.empty(n * n, dtype=np.int64)
    place[first * n + second] = np.arange(len(first))
    at = place[problem.first * n + problem.second]
    wins, losses, tied = extra, extra.copy(), none
    wins[at] += problem.wins
    losses[at] += problem.losses
    tied[at] += problem.tied
    return replace(
        problem,
        first=first,
        second=second,
        shown=np.zeros(len(first)),
        wins=wins,
        losses=losses,
        tied=tied,
    )


def phantom_notices(
    problem: Problem, point: Floats, spread: Floats, *, models: tuple[str, ...]
) -> list[str]:
    """Say what phantom wins do to differences, if it is much.

    Parameters
    ----------
    problem : Problem
        Without phantom wins, and finite: differences are taken within its groups.
    point : (n_parameter,) float, logit
        The optimum with phantom wins.
    spread : (n_parameter, n_parameter) float
        The covariance with phantom wins.
    models : tuple of str

    Returns
    -------
    list of str
        A sentence if some difference moves by more than half of the standard error that it has
        without phantom wins, and one if some standard error shrinks by more than a quarter. Empty
        where there is nothing to compare with.

    Notes
    -----
    The share of phantom wins among all battles says little: on a chain of models their pull adds
    up from link to link. Newton's method from the point at hand takes a few steps.
    """
    try:
        refuse_infinite(problem)
    except DataError:
        return []
    start = point if len(point) == problem.n_parameter else None
    unaided = newton(problem, start=start, tolerance=1e-6)
    if not unaided.converged:
        return []
    n = problem.n_model
    without = unaided.point[:n]
    full = covariance(problem, evaluate(problem, unaided.point).information)
    apart = problem.group[:, None] != problem.group[None, :]
    se = _gap_se(full[:n, :n], apart)
    shift = without - point[:n]
    moved = np.abs(shift[:, None] - shift[None, :]) / se
    aided = _gap_se(spread[:n, :n], apart)
    kept = np.divide(aided, se, out=np.ones_like(se), where=np.isfinite(se))
    return [*_moved(moved, without, point, models), *_shrunk(kept, se, models)]


def _gap_se(spread: Floats, apart: NDArray[np.bool_]) -> Floats:
    """Return standard errors of all differences, infinite between groups and with oneself."""
    own = np.diag(spread)
    variance = own[:, None] + own[None, :] - 2 * spread
    return np.where(apart | (variance <= 0), np.inf, np.sqrt(np.maximum(variance, 0.0)))


def _moved(moved: Floats, without: Floats, point: Floats, models: tuple[str, ...]) -> Iterator[str]:
    a, b = (int(m) for m in np.unravel_index(np.argmax(moved), moved.shape))
    if moved[a, b] > WORTH_SAYING:
        if without[a] < without[b]:
            a, b = b, a
        yield (
            f"phantom wins move the difference of {models[a]!r} and {models[b]!r} from "
            f"{without[a] - without[b]:.2f} to {point[a] - point[b]:.2f} logits, "
            f"{moved[a, b]:.1f} standard errors; phantom_wins=0 leaves them out"
        )


def _shrunk(kept: Floats, se: Floats, models: tuple[str, ...]) -> Iterator[str]:
    a, b = (int(m) for m in np.unravel_index(np.argmin(kept), kept.shape))
    if kept[a, b] < LEAST_KEPT:
        yield (
            f"phantom wins pass for battles: they shorten the standard error of the difference of "
            f"{models[a]!r} and {models[b]!r} from {se[a, b]:.2f} to {kept[a, b] * se[a, b]:.2f} "
            "logits; phantom_wins=0 leaves them out"
        )
