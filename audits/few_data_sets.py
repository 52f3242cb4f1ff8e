"""How many simulated data sets it takes before anything is judged by them."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from neartie.data.wording import counted

#: With so many, a coverage of 95 % has a standard error below five points, one trial a data set.
ENOUGH: Final = 20
# The spread that equal numbers have on a computer.
_ROUNDING: Final = 1e-12


def too_few_words(n: int, noun: str) -> str:
    """Return that so many data sets are not judged by, and what to do; empty where they suffice.

    Parameters
    ----------
    n : int
        That there is a result of.
    noun : str
        What one of them is called.

    Returns
    -------
    str

    Examples
    --------
    >>> too_few_words(2, "data set")
    '2 data sets are too few to judge by: with 20, a coverage of 95% has a standard error of 5 \
points. Ask for more; they are added to those that are there.'
    >>> too_few_words(20, "data set")
    ''
    """
    if n >= ENOUGH:
        return ""
    return (
        f"{counted(n, noun)} {'is' if n == 1 else 'are'} too few to judge by: with {ENOUGH}, a "
        f"coverage of 95% has a standard error of {100 * math.sqrt(0.95 * 0.05 / ENOUGH):.0f} points. "
        "Ask for more; they are added to those that are there."
    )


def share_limits(shares: ArrayLike) -> tuple[float, float]:
    """Return 95 % limits of a mean share over data sets.

    Parameters
    ----------
    shares : (n_data_set,) float in [0, 1]

    Returns
    -------
    low, high : float in [0, 1]
        By Clopper and Pearson, as if each data set were one trial, where there are few, where each
        holds all or nothing, or where all shares are equal: cautious, and never of no width. By
        Student's t otherwise.

    Examples
    --------
    >>> low, high = share_limits(np.ones(40))
    >>> round(low, 3), high
    (0.912, 1.0)
    >>> low, high = share_limits([0.8, 1.0])
    >>> round(low, 3), round(high, 3)
    (0.112, 1.0)
    """
    values = np.asarray(shares, dtype=np.float64)
    n, mean = len(values), float(values.mean())
    if not _as_trials(values):
        half = float(stats.t.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n))
        return max(mean - half, 0.0), min(mean + half, 1.0)
    x = n * mean
    low = float(stats.beta.ppf(0.025, x, n - x + 1)) if x > 0 else 0.0
    high = float(stats.beta.ppf(0.975, x + 1, n - x)) if x < n else 1.0
    return low, high


def share_p_value(shares: ArrayLike, *, expected: float) -> float:
    """Return the p-value of an expected share, which is below .05 where `share_limits` leave it out.

    Parameters
    ----------
    shares : (n_data_set,) float in [0, 1]
    expected : float in (0, 1)

    Returns
    -------
    float in [0, 1], probability

    Examples
    --------
    >>> share_p_value([1.0, 1.0], expected=0.95)
    1.0
    >>> round(share_p_value([0.0, 0.0], expected=0.95), 4)
    0.005
    """
    values = np.asarray(shares, dtype=np.float64)
    n, mean = len(values), float(values.mean())
    if not _as_trials(values):
        error = values.std(ddof=1) / np.sqrt(n)
        return float(2 * stats.t.sf(abs(mean - expected) / error, n - 1))
    x = n * mean
    at_least = stats.beta.cdf(expected, x, n - x + 1) if x > 0 else 1.0
    at_most = stats.beta.sf(expected, x + 1, n - x) if x < n else 1.0
    return float(min(1.0, 2 * min(at_least, at_most)))


def error_or_unknown(error: float) -> float:
    """Return a standard error, or NaN for one of zero: equal values do not tell how they vary.

    Examples
    --------
    >>> error_or_unknown(0.1), error_or_unknown(0.0)
    (0.1, nan)
    """
    return error if error > _ROUNDING else math.nan


def _as_trials(values: NDArray[np.float64]) -> bool:
    """Return whether shares are too few, or too alike, for a standard error of their mean."""
    whole = np.isin(values, (0.0, 1.0)).all()
    return bool(len(values) < ENOUGH or whole or np.ptp(values) == 0)
