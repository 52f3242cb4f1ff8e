"""How each pair of models compares: over draws, or by the normal distribution of estimates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from threadpoolctl import threadpool_limits

from neartie.data.errors import DataError
from neartie.inference.pairwise_bits import in_row_blocks
from neartie.inference.rank_kernel import compare_rows, largest_ratio

type Floats = NDArray[np.float64]

_ROWS = 16
# Of the largest eigenvalue: below this a negative one is rounding, and none a variance.
_ROUNDING = 1e-8
# Three halves as many draws as a tail needs are expected beyond this normal quantile.
_TAIL_FACTOR = 1.5


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Comparison:
    """All pairs of some models that can be compared, each from both sides.

    Attributes
    ----------
    p_above, p_tied : (n_model, n_model) float in [0, 1], probability
        That the row's model is strictly above the column's; that the two are equal.
    difference : (n_model, n_model) float
        Row minus column.
    se : (n_model, n_model) float
        Standard deviation of the difference.
    low, high : (n_model, n_model) float
        Central interval of each difference, for itself.
    deviation : (n_draw,) float
        Of each draw, the largest distance of a difference from its mean, in units of its `se`.
    """

    p_above: Floats
    p_tied: Floats
    difference: Floats
    se: Floats
    low: Floats
    high: Floats
    deviation: Floats


def compare_draws(draws: Floats, *, level: float) -> Comparison:
    """Compare models over draws.

    Parameters
    ----------
    draws : (n_draw, n_model) float
        A number added to all values of a draw changes nothing but rounding.
    level : float in (0, 1)
        Of the intervals: order statistics, interpolated as `numpy.quantile` does.

    Returns
    -------
    Comparison
        Probabilities are shares of draws.

    Examples
    --------
    >>> found = compare_draws(np.array([[2.0, 1.0], [3.0, 1.0], [0.0, 1.0], [1.0, 1.0]]), level=0.5)
    >>> found.p_above[0, 1], found.p_above[1, 0], found.p_tied[0, 1]
    (np.float64(0.5), np.float64(0.25), np.float64(0.25))
    """
    n_draw, n_model = draws.shape
    # By models, so that a pair reads two rows; less the mean of each draw, which may be large.
    values = np.ascontiguousarray((draws - draws.mean(axis=1, keepdims=True)).T)
    counts = np.zeros((2, n_model, n_model), dtype=np.int32)
    moments = np.zeros((2, n_model, n_model))
    limits = np.zeros((2, n_model, n_model))
    share = (1 - level) / 2
    z = float(stats.norm.ppf(1 - min(0.5, _TAIL_FACTOR * share)))
    parts: list[Floats] = []

    def work(start: int, stop: int) -> None:
        deviation = np.zeros(n_draw)
        compare_rows(values, start, stop, share, z, counts, moments, limits, deviation)
        parts.append(deviation)

    in_row_blocks(work, n_model, block=_ROWS)
    above, tied = counts[0] / n_draw, counts[1] / n_draw
    below = np.triu(1 - above - tied, k=1)
    return Comparison(
        p_above=above + np.clip(below, 0, 1).T,
        p_tied=tied + tied.T + np.eye(n_model),
        difference=moments[0] - moments[0].T,
        se=moments[1] + moments[1].T,
        low=limits[0] - limits[1].T,
        high=limits[1] - limits[0].T,
        deviation=np.stack(parts).max(axis=0),
    )


def compare_normal(
    estimate: Floats, covariance: Floats, draws: Floats, *, level: float
) -> Comparison:
    """Compare models whose estimates are normal around the truth.

    Parameters
    ----------
    estimate : (n_model,) float
    covariance : (n_model, n_model) float
    draws : (n_draw, n_model) float
        From the normal distribution with this mean and covariance.
    level : float in (0, 1)
        Of the intervals.

    Returns
    -------
    Comparison
        Probabilities and intervals are exact; only `deviation` rests on the draws.

    Examples
    --------
    >>> found = compare_normal(np.array([1.0, 0.0]), np.eye(2) / 2, np.zeros((1, 2)), level=0.95)
    >>> found.p_above[0, 1].round(4), found.low[0, 1].round(3)
    (np.float64(0.8413), np.float64(-0.96))
    """
    variance = np.diag(covariance)
    square = variance[:, None] + variance[None, :] - 2 * covariance
    # What is left of rounding where two estimates are one and the same.
    square[square < 1e-12 * np.max(variance, initial=0.0)] = 0.0
    np.fill_diagonal(square, 0.0)
    se = np.sqrt(square)
    difference = estimate[:, None] - estimate[None, :]
    known = se > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(known, difference / se, np.sign(difference) * np.inf)
    tied = ~known & (difference == 0)
    margin = float(stats.norm.ppf(0.5 + level / 2)) * se
    return Comparison(
        p_above=np.where(tied, 0.0, stats.norm.cdf(ratio)),
        p_tied=tied.astype(np.float64),
        difference=difference,
        se=se,
        low=difference - margin,
        high=difference + margin,
        deviation=_largest(draws - estimate, se),
    )


def normal_draws(
    estimate: Floats, covariance: Floats, *, n_draw: int, rng: np.random.Generator
) -> Floats:
    """Draw from a normal distribution that only has to exist for differences.

    Parameters
    ----------
    estimate : (n_model,) float
    covariance : (n_model, n_model) float
        May be singular, as that of strengths which sum to zero.
    n_draw : int
    rng : Generator

    Returns
    -------
    (n_draw, n_model) float
        Differences have the mean and covariance given; all draws have the same sum.

    Raises
    ------
    DataError
        If some difference of sums of scores would have a negative variance.
    """
    n = len(estimate)
    centring = np.eye(n) - 1 / n
    # One thread, so that the machine's number of processors changes no digit.
    with threadpool_limits(limits=1, user_api="blas"):
        value, vector = np.linalg.eigh(centring @ covariance @ centring)
        largest = max(float(np.max(np.abs(value), initial=0.0)), 1e-300)
        if value.min(initial=0.0) < -_ROUNDING * largest:
            raise DataError(
                "the covariance is none: it gives a difference of scores the variance "
                f"{value.min():.3g} (the largest is {largest:.3g}); is it complete and rounded "
                "to enough digits?"
            )
        factor = vector * np.sqrt(np.maximum(value, 0.0))
        return np.asarray(estimate + rng.standard_normal((n_draw, n)) @ factor.T)


def _largest(noise: Floats, se: Floats) -> Floats:
    weight = np.divide(1.0, se, out=np.zeros_like(se), where=se > 0)
    values = np.ascontiguousarray(noise.T)
    parts: list[Floats] = []

    def work(start: int, stop: int) -> None:
        deviation = np.zeros(len(noise))
        largest_ratio(values, start, stop, weight, deviation)
        parts.append(deviation)

    in_row_blocks(work, len(values), block=_ROWS)
    return np.stack(parts).max(axis=0)
