"""Tests of whether positions of truths among draws are uniform, with errors clustered by data set."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

type Floats = NDArray[np.float64]

N_POINT = 20


def ecdf_p_value(positions: ArrayLike, *, n_point: int = N_POINT) -> float:
    r"""Return the p-value of the empirical distribution function against the uniform one.

    Parameters
    ----------
    positions : (n,) float in [0, 1]
        Independent and uniform under the hypothesis.
    n_point : int
        The distribution functions are compared at 1/n_point, 2/n_point, ...

    Returns
    -------
    float in [0, 1], probability

    Notes
    -----
    At each point the count of positions below it is binomial, with two-sided p-value
    :math:`2\min(F(x), 1 - F(x - 1))`. The statistic is the smallest of these over the points; its
    p-value is the probability that the path of counts leaves the band of equal pointwise level,
    found exactly from the Markov chain of the counts. The values are discrete, so the test is
    slightly conservative.

    References
    ----------
    Säilynoja, Bürkner and Vehtari (2022), Statistics and Computing 32, 32,
    doi:10.1007/s11222-022-10090-6, section 2.

    Examples
    --------
    >>> ecdf_p_value((np.arange(100) + 0.5) / 100)
    1.0
    >>> ecdf_p_value(np.linspace(0, 0.8, 100)) < 1e-4
    True
    """
    values = np.asarray(positions, dtype=np.float64)
    counts = (values[:, None] <= np.arange(1, n_point) / n_point).sum(axis=0)
    pointwise, transitions = _binomials(len(values), n_point)
    smallest = float(pointwise[np.arange(n_point - 1), counts].min())
    return min(1.0, max(0.0, 1.0 - _chance_within(pointwise, transitions, smallest)))


def ecdf_band(
    n: int, *, level: float = 0.95, n_point: int = N_POINT
) -> tuple[Floats, Floats, Floats]:
    """Return the band that `ecdf_p_value` tests by: of shares of positions below each point.

    Parameters
    ----------
    n : int
        Positions.
    level : float in (0, 1)
        Chance that all of a path lies within, at least.
    n_point : int

    Returns
    -------
    point, low, high : (n_point - 1,) float in [0, 1]
        A path outside somewhere has a p-value of at most 1 - level, and one within has not.

    Examples
    --------
    >>> point, low, high = ecdf_band(100)
    >>> middle = len(point) // 2
    >>> point[middle], low[middle], high[middle]
    (np.float64(0.5), np.float64(0.37), np.float64(0.63))
    """
    pointwise, transitions = _binomials(n, n_point)
    limits = np.unique(pointwise)
    first, last = -1, len(limits) - 1
    # the largest pointwise level that a path falls to with at most the probability 1 - level
    while last - first > 1:
        middle = (first + last) // 2
        if 1.0 - _chance_within(pointwise, transitions, limits[middle]) <= 1.0 - level:
            first = middle
        else:
            last = middle
    within = pointwise > (limits[first] if first >= 0 else 0.0) * (1 + 1e-9)
    count = np.arange(n + 1)
    low = np.array([count[row].min() for row in within])
    high = np.array([count[row].max() for row in within])
    return np.arange(1, n_point) / n_point, low / n, high / n


def _chance_within(pointwise: Floats, transitions: tuple[Floats, ...], smallest: float) -> float:
    """Return the chance that a path has no pointwise p-value as small as this."""
    inside = np.eye(1, pointwise.shape[1])[0]
    for step, transition in enumerate(transitions):
        # A slack of a few rounding errors: equal p-values of two points count as equal.
        inside = (inside @ transition) * (pointwise[step] > smallest * (1 + 1e-9))
    return float(inside.sum())


def smallest_ecdf_p_value(positions: Floats) -> float:
    """Return the smallest ECDF p-value of many quantities, times their number.

    Parameters
    ----------
    positions : (n, n_quantity) float in [0, 1]

    Returns
    -------
    float in [0, 1], probability
        Bonferroni's bound: it holds whatever the dependence between quantities.
    """
    return float(min(1.0, positions.shape[1] * min(map(ecdf_p_value, positions.T))))


def mean_test(values: ArrayLike, *, expected: float = 0.0) -> tuple[float, float, float]:
    """Return mean and standard error of one value a data set, and the p-value of the expected.

    Parameters
    ----------
    values : (n,) float
        Independent, one a data set: means over what a data set's quantities share errors in.
    expected : float

    Returns
    -------
    mean, standard_error, p_value : float
        Student's t, two-sided. Without spread p is 1 at the expected mean and else 0.

    Examples
    --------
    >>> mean_test([1.0, -1.0, 2.0, -2.0])
    (0.0, 0.9128709291752769, 1.0)
    """
    array = np.asarray(values, dtype=np.float64)
    mean, error = float(array.mean()), float(array.std(ddof=1) / np.sqrt(len(array)))
    if error == 0.0:
        return mean, error, float(mean == expected)
    return mean, error, float(2 * stats.t.sf(abs(mean - expected) / error, len(array) - 1))


def holm(p_values: ArrayLike) -> Floats:
    """Return p-values adjusted for their number by Holm's method.

    Parameters
    ----------
    p_values : (n,) float, probability

    Returns
    -------
    (n,) float, probability
        Below alpha with a probability of at most alpha if every hypothesis holds, whatever their
        dependence.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6, 65-70.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.5]).round(3)
    array([0.03, 0.08, 0.5 ])
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values)
    scaled = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(scaled, 1.0)
    return adjusted


@cache
def _binomials(n: int, n_point: int) -> tuple[Floats, tuple[Floats, ...]]:
    """Return pointwise p-values (point, count), and the chances to go from count to count."""
    count = np.arange(n + 1)
    level = np.arange(1, n_point)[:, None] / n_point
    below, above = stats.binom.cdf(count, n, level), stats.binom.sf(count - 1, n, level)
    pointwise = np.minimum(1.0, 2 * np.minimum(below, above))
    added = count - count[:, None]
    transitions = tuple(
        np.asarray(stats.binom.pmf(added, (n - count)[:, None], 1 / (n_point - step)))
        for step in range(n_point - 1)
    )
    return pointwise, transitions
