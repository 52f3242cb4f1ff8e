"""Sets of ranks, and intervals of differences, that hold for all models at once."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from neartie.audits.rank_pairs import Comparison
from neartie.inference.rank_kernel import place_models

type Floats = NDArray[np.float64]
type Ranks = NDArray[np.int64]

_BLOCK = 512


def critical_value(deviation: Floats, *, level: float, known: bool) -> float:
    r"""Return the smallest factor that holds all differences of enough draws at once.

    Parameters
    ----------
    deviation : (n_draw,) float
        Of each draw, the largest studentised distance of a difference from its mean.
    level : float in (0, 1)
    known : bool
        Whether the means and standard deviations behind `deviation` are known, and not taken from
        these very draws.

    Returns
    -------
    float
        With known moments, at least the share `level` of the draws lie within it. Else each draw
        is judged by the moments of all others, and the factor is such that one more draw lies
        within it with at least the probability `level`; infinite where the draws are too few for
        that.

    Notes
    -----
    Of S draws that lie z of their own standard deviations from their own mean, leaving the draw
    itself out of both makes

    .. math:: \frac{S}{S-1}\, z \Big/ \sqrt{\frac{S-1}{S-2} - \frac{S z^2}{(S-1)(S-2)}},

    which rises with z, so that it may be taken of the largest z of a draw. Draws hold themselves
    too well otherwise: of a hundred draws of 200 models, 95 % lie within a factor that holds only
    75 % of new ones.

    Examples
    --------
    >>> critical_value(np.arange(1.0, 101.0), level=0.95, known=True)
    95.0
    >>> round(critical_value(np.linspace(2.0, 4.5, 100), level=0.95, known=False), 3)
    4.935
    """
    n = len(deviation)
    ordered = np.sort(deviation)
    if known:
        return float(ordered[_enough(n, level) - 1])
    z = float(ordered[min(_enough(n + 1, level), n) - 1])
    left = (n - 1) / (n - 2) - n * z * z / ((n - 1) * (n - 2))
    return z * n / (n - 1) / math.sqrt(left) if left > 1e-12 else math.inf


def joint_intervals(found: Comparison, critical: float) -> tuple[Floats, Floats]:
    """Return intervals of all differences that hold together.

    Parameters
    ----------
    found : Comparison
    critical : float
        From `critical_value`.

    Returns
    -------
    low, high : (n_model, n_model) float
        Of row minus column; never within the interval that a difference has for itself, so that
        what is resolved jointly is resolved.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm (2024), Inference for Ranks with Applications to Mobility
    across Neighbourhoods and Academic Achievement across Countries, Review of Economic Studies
    91(1), 476-518, section 3. doi:10.1093/restud/rdad006. The single step, without its stepwise
    refinement, so that the intervals and all that follows from them hold together.
    """
    # Where nothing varies there is no margin, however large the factor.
    margin = np.where(found.se > 0, critical * np.where(found.se > 0, found.se, 1.0), 0.0)
    low = np.minimum(found.difference - margin, found.low)
    return low, np.maximum(found.difference + margin, found.high)


def sets_from_differences(low: Floats, high: Floats) -> tuple[Ranks, Ranks]:
    """Return the ranks that are left open by intervals of all differences.

    Parameters
    ----------
    low, high : (n_model, n_model) float
        Of row minus column.

    Returns
    -------
    best, worst : (n_model,) int
        One more than the models surely above; all but the models surely below.

    Examples
    --------
    >>> sets_from_differences(np.array([[0.0, 0.1], [-0.5, 0.0]]), np.array([[0, 0.5], [-0.1, 0]]))
    (array([1, 2]), array([1, 2]))
    """
    n = len(low)
    return 1 + np.sum(high < 0, axis=1), n - np.sum(low > 0, axis=1)


def rank_masses(draws: Floats) -> Floats:
    """Return the distribution of each model's rank over draws.

    Parameters
    ----------
    draws : (n_draw, n_model) float

    Returns
    -------
    (n_model, n_model) float in [0, 1], probability
        Of model (row) and rank (column, from 1). Ties within a draw count as if broken at random.

    Examples
    --------
    >>> rank_masses(np.array([[3.0, 2.0, 1.0], [2.0, 2.0, 1.0]]))
    array([[0.75, 0.25, 0.  ],
           [0.25, 0.75, 0.  ],
           [0.  , 0.  , 1.  ]])
    """
    n_draw, n_model = draws.shape
    mass = np.zeros((n_model, n_model))
    for start in range(0, n_draw, _BLOCK):
        block = np.ascontiguousarray(draws[start : start + _BLOCK])
        first, last = np.empty((2, *block.shape), dtype=np.int32)
        place_models(block, first, last, mass)
    return np.asarray(mass / n_draw)


def central_ranks(mass: Floats, *, level: float) -> tuple[Ranks, Ranks]:
    """Return the central interval of each rank by itself.

    Parameters
    ----------
    mass : (n_model, n_rank) float, probability
    level : float in (0, 1)

    Returns
    -------
    best, worst : (n_model,) int
        From 1. At most (1 - level) / 2 of the distribution lies on either side.
    """
    return _within(mass, (1 - level) / 2)


def sets_from_ranks(draws: Floats, mass: Floats, *, level: float) -> tuple[Ranks, Ranks, float]:
    """Return the smallest central rank intervals of one common level that hold all ranks at once.

    Parameters
    ----------
    draws : (n_draw, n_model) float
    mass : (n_model, n_model) float, probability
        From `rank_masses` of the same draws.
    level : float in (0, 1)

    Returns
    -------
    best, worst : (n_model,) int
        At least the share `level` of the draws has every model's rank within.
    held : float in [0, 1]
        The share of draws that sets made in the same way from all other draws would hold: less
        than `level` where the draws are few, or the models many.

    References
    ----------
    Besag, Green, Higdon and Mengersen (1995), Bayesian Computation and Stochastic Systems,
    Statistical Science 10(1), 3-41, section 6.3. doi:10.1214/ss/1177010123
    """
    n_draw, n_model = draws.shape
    up_to = np.cumsum(mass, axis=1)
    down_to = np.cumsum(mass[:, ::-1], axis=1)[:, ::-1]
    rows = np.arange(n_model)
    depth = np.empty(n_draw)
    unused = np.zeros_like(mass)
    for start in range(0, n_draw, _BLOCK):
        block = np.ascontiguousarray(draws[start : start + _BLOCK])
        first, last = np.empty((2, *block.shape), dtype=np.int32)
        place_models(block, first, last, unused)
        inner = np.minimum(up_to[rows, first], down_to[rows, last])
        depth[start : start + _BLOCK] = inner.min(axis=1)
    # The draws that lie deepest in all their margins, as many as it takes.
    least = float(np.sort(depth)[::-1][_enough(n_draw, level) - 1])
    others = (n_draw * depth - 1) / max(n_draw - 1, 1)
    held = float(np.mean(others >= least * (1 - 1e-9)))
    return *_within(mass, least), held


def _within(mass: Floats, tail: float) -> tuple[Ranks, Ranks]:
    """Ranks with at least `tail` of the distribution at or before them, and at or behind them."""
    slack = tail * (1 - 1e-9)
    up_to = np.cumsum(mass, axis=1)
    down_to = np.cumsum(mass[:, ::-1], axis=1)[:, ::-1]
    inside = (up_to >= slack) & (down_to >= slack)
    n_rank = mass.shape[1]
    return np.argmax(inside, axis=1) + 1, n_rank - np.argmax(inside[:, ::-1], axis=1)


def _enough(n_draw: int, level: float) -> int:
    # The slack undoes rounding: 0.95 * 100 is no more than 95.
    return max(1, int(np.ceil(level * n_draw * (1 - 1e-12))))
