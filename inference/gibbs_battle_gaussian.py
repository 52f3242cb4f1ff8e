r"""One joint normal draw of all strengths and effects, given the weights of the battles.

Unknowns are shared by all rows (strengths, the advantage of the first shown, slopes of covariates)
or belong to one judge (deviations of strengths and of that advantage). Given what is shared,
judges are independent, so that each is eliminated in turn and put back afterwards: the cost is
that of factoring one matrix of the number of models, and one of the models seen by each judge.

Sums of zero need no extra step. Battles tell of differences only, and the priors are those of
independent normal numbers given that they sum to zero; so without that condition the mean of
strengths (or of a judge's deviations) is independent of all else, and taking it off afterwards
leaves a draw under the condition.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_battle_kernel import Rows
from neartie.inference.gibbs_gaussian import (
    draw_from_factor,
    factor_in_place,
    solve_transposed,
    solve_upper,
)
from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]
type Codes = NDArray[np.int64]

# From here on LAPACK is quicker than loops.
_LARGE: Final = 96


class Judges(NamedTuple):
    """Who judged what.

    Attributes
    ----------
    rows : (n_judge + 2,) int
        Rows from one entry to the next: of nobody named, then of each judge.
    members : (n_member,) int
        Models that each judge saw, judge after judge.
    starts : (n_judge + 1,) int
        Where a judge's members begin.
    first, second : (n_row,) int
        Positions of a row's models among its judge's members.
    """

    rows: Codes
    members: Codes
    starts: Codes
    first: Codes
    second: Codes


def judges_of(rows: Rows, *, n_judge: int) -> Judges:
    """Return who judged what.

    Parameters
    ----------
    rows : Rows
        In the order of judges.
    n_judge : int

    Returns
    -------
    Judges

    Examples
    --------
    >>> rows = Rows(first=np.array([0, 2]), second=np.array([1, 3]), shown=np.zeros(2),
    ...             judge=np.array([-1, 0]))
    >>> judges = judges_of(rows, n_judge=1)
    >>> judges.members, judges.first
    (array([2, 3]), array([0, 0]))
    """
    bounds = np.searchsorted(rows.judge, np.arange(-1, n_judge + 1)).astype(np.int64)
    first, second = np.zeros_like(rows.first), np.zeros_like(rows.second)
    members, starts = [], [0]
    for judge in range(n_judge):
        own = slice(bounds[judge + 1], bounds[judge + 2])
        seen, place = np.unique(np.stack([rows.first[own], rows.second[own]]), return_inverse=True)
        first[own], second[own] = place.reshape(2, -1)
        members.append(seen)
        starts.append(starts[-1] + len(seen))
    return Judges(
        rows=bounds,
        members=np.concatenate([np.zeros(0, dtype=np.int64), *members]),
        starts=np.array(starts),
        first=first,
        second=second,
    )


@compiled
def add_rows(
    rows: Rows,
    start: int,
    stop: int,
    first: Codes,
    second: Codes,
    shown_at: int,
    precision: Floats,
    linear: Floats,
    matrix: Floats,
    vector: Floats,
) -> None:
    """Add what some rows say to the precision matrix and linear vector of a block.

    Parameters
    ----------
    rows : Rows
    start, stop : int
        Which rows.
    first, second : (n_row,) int
        Positions of their models in the block.
    shown_at : int
        Position of the advantage of the first shown, behind all models; -1 for none.
    precision, linear : (n_row,) float
        As `draw_weights` fills them.
    matrix : (n, n) float
        Its upper triangle grows.
    vector : (n,) float
        Grows.
    """
    for r in range(start, stop):
        a, b, weight, lean = first[r], second[r], precision[r], linear[r]
        matrix[a, a] += weight
        matrix[b, b] += weight
        matrix[min(a, b), max(a, b)] -= weight
        vector[a] += lean
        vector[b] -= lean
        if shown_at >= 0 and rows.shown[r] != 0.0:
            matrix[a, shown_at] += weight
            matrix[b, shown_at] -= weight
            matrix[shown_at, shown_at] += weight
            vector[shown_at] += lean


@compiled
def eliminate_judge(gram: Floats, prior: Floats, lean: Floats, factor: Floats) -> None:
    r"""Replace what a judge's rows say by what they say once the judge is integrated out.

    Parameters
    ----------
    gram : (n, n) float
        Upper triangle of G, what the rows say of the sum of shared and own effects; becomes
        :math:`G - G (G + P)^{-1} G`.
    prior : (n,) float
        Diagonal of P, the precisions of the judge's own effects.
    lean : (n,) float
        h; becomes :math:`h - G (G + P)^{-1} h`.
    factor : (n, n) float
        Filled in its upper triangle: R with :math:`R^\top R = G + P`.
    """
    n = len(prior)
    solved = np.empty((n, n))
    for i in range(n):
        for j in range(i, n):
            factor[i, j] = solved[i, j] = solved[j, i] = gram[i, j]
        factor[i, i] += prior[i]
    factor_in_place(factor)
    own = lean.copy()
    solve_transposed(factor, own)
    for i in range(n):
        solve_transposed(factor, solved[i])
    for i in range(n):
        lean[i] -= np.dot(solved[i], own)
        for j in range(i, n):
            gram[i, j] -= np.dot(solved[i], solved[j])


@compiled
def gather_judges(
    rows: Rows,
    judges: Judges,
    shown_at: int,
    precision: Floats,
    linear: Floats,
    priors: Floats,
    matrix: Floats,
    vector: Floats,
) -> None:
    """Add what every judge's rows say of the shared unknowns, with the judges integrated out.

    Parameters
    ----------
    rows, judges, shown_at, precision, linear, matrix, vector
        As in `add_rows`; `shown_at` is the position among the shared unknowns.
    priors : (2,) float
        Precisions of a judge's deviations of strengths, and of the advantage.
    """
    extra = 1 if shown_at >= 0 else 0
    for judge in range(len(judges.starts) - 1):
        members = judges.members[judges.starts[judge] : judges.starts[judge + 1]]
        gram, lean, prior = _own_block(rows, judges, judge, extra, precision, linear, priors)
        eliminate_judge(gram, prior, lean, np.empty_like(gram))
        n = len(members)
        for i in range(n + extra):
            p = members[i] if i < n else shown_at
            vector[p] += lean[i]
            for j in range(i, n + extra):
                matrix[p, members[j] if j < n else shown_at] += gram[i, j]


@compiled
def draw_judges(
    rng: np.random.Generator,
    rows: Rows,
    judges: Judges,
    shown_at: int,
    precision: Floats,
    linear: Floats,
    priors: Floats,
    shared: Floats,
    deviation: Floats,
    advantage: Floats,
) -> None:
    """Draw every judge's deviations, given the shared unknowns.

    Parameters
    ----------
    rng : Generator
    rows, judges, shown_at, precision, linear, priors
        As in `gather_judges`.
    shared : (n,) float
    deviation : (n_judge, n_model) float
        Filled: of strengths, each judge's sum to zero.
    advantage : (n_judge,) float
        Filled where `shown_at` is a position.
    """
    extra = 1 if shown_at >= 0 else 0
    spread = 1.0 / np.sqrt(priors[0])
    for judge in range(len(judges.starts) - 1):
        members = judges.members[judges.starts[judge] : judges.starts[judge + 1]]
        gram, lean, prior = _own_block(rows, judges, judge, extra, precision, linear, priors)
        n = len(members)
        known = np.empty(n + extra)
        for i in range(n + extra):
            known[i] = shared[members[i] if i < n else shown_at]
        for i in range(n + extra):
            lean[i] -= gram[i, i] * known[i]
            for j in range(i + 1, n + extra):
                lean[i] -= gram[i, j] * known[j]
                lean[j] -= gram[i, j] * known[i]
            gram[i, i] += prior[i]
        factor_in_place(gram)
        draw_from_factor(gram, lean, rng)
        # The other models have no battle of this judge: the prior alone.
        own = deviation[judge]
        for model in range(len(own)):
            own[model] = spread * rng.standard_normal()
        own[members] = lean[:n]
        own -= own.mean()
        if extra == 1:
            advantage[judge] = lean[n]


@compiled
def _own_block(
    rows: Rows,
    judges: Judges,
    judge: int,
    extra: int,
    precision: Floats,
    linear: Floats,
    priors: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Return what a judge's rows say of its members and the advantage, and the priors there."""
    n = judges.starts[judge + 1] - judges.starts[judge]
    gram, lean = np.zeros((n + extra, n + extra)), np.zeros(n + extra)
    start, stop = judges.rows[judge + 1], judges.rows[judge + 2]
    place = n if extra == 1 else -1
    add_rows(rows, start, stop, judges.first, judges.second, place, precision, linear, gram, lean)
    prior = np.full(n + extra, priors[0])
    if extra == 1:
        prior[n] = priors[1]
    return gram, lean, prior


def draw_shared(matrix: Floats, vector: Floats, *, rng: np.random.Generator) -> Floats:
    r"""Return a draw from :math:`N(Q^{-1} h, Q^{-1})`.

    Parameters
    ----------
    matrix : (n, n) float
        Q; its upper triangle is read, and overwritten.
    vector : (n,) float
        h; overwritten.
    rng : Generator

    Returns
    -------
    (n,) float
    """
    if len(vector) < _LARGE:
        factor_in_place(matrix)
    else:
        matrix = np.ascontiguousarray(np.linalg.cholesky(matrix, upper=True))
    solve_transposed(matrix, vector)
    vector += rng.standard_normal(len(vector))
    solve_upper(matrix, vector)
    return vector
