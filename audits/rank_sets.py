"""Sets of ranks, and intervals of differences, that hold for all models at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neartie.audits.rank_pairs import Comparison
from neartie.inference.rank_kernel import place_models

type Floats = NDArray[np.float64]
type Ranks = NDArray[np.int64]

_BLOCK = 512


def critical_value(deviation: Floats, *, level: float) -> float:
    """Return the smallest factor that holds all differences of enough draws at once.

    Parameters
    ----------
    deviation : (n_draw,) float
        Of each draw, the largest studentised distance of a difference from its mean.
    level : float in (0, 1)

    Returns
    -------
    float
        At least the share `level` of the draws lie within it.

    Examples
    --------
    >>> critical_value(np.arange(1.0, 101.0), level=0.95)
    95.0
    """
    return float(np.sort(deviation)[_enough(len(deviation), level) - 1])


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
    margin = critical * found.se
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


def sets_from_ranks(draws: Floats, mass: Floats, *, level: float) -> tuple[Ranks, Ranks]:
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
    return _within(mass, least)


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
