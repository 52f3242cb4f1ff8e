"""What was observed beside what replicates say: intervals, tail probabilities, shares outside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

type Floats = NDArray[np.float64]

#: Bins of an accuracy, closed on the left, the last on both sides.
N_BINS = 20


def predictive_table(
    observed: ArrayLike, replicates: ArrayLike, *, ids: Sequence[str], column: str, level: float
) -> pd.DataFrame:
    r"""Return each observed quantity beside the distribution of its replicates.

    Parameters
    ----------
    observed : (n,) float
    replicates : (n_draw, n) float
        NaN where a replicate leaves a quantity undefined; such draws are left out.
    ids : sequence of str, n of them
    column : str
        Name of the column of ids.
    level : float in (0, 1)
        Of the intervals.

    Returns
    -------
    DataFrame, n rows
        The ids; `observed`; `predicted`, the mean; `low`, `high`, the smallest interval of values
        that leaves at most (1 - level)/2 of the replicates on either side; `p`, the share of
        replicates above the observed value plus half of those equal to it; `outside`, 1 where
        the observed value is not within the interval. Missing where nothing is defined.

    Notes
    -----
    The half makes p symmetric for counts: its mean is 1/2 where data are drawn from what the
    replicates are drawn from, whatever the share of ties (Lancaster, 1961, mid-p).

    Examples
    --------
    >>> predictive_table([2], [[0], [1], [2], [3]], ids=["q"], column="item", level=0.5)
      item  observed  predicted  low  high      p  outside
    0    q       2.0        1.5  0.0   2.0  0.375        0
    """
    value = np.asarray(observed, dtype=np.float64)
    drawn = np.asarray(replicates, dtype=np.float64)
    known = np.isfinite(drawn)
    n = known.sum(axis=0)
    low, high = (_quantile(drawn, share, n > 0) for share in (0.5 - level / 2, 0.5 + level / 2))
    # Float noise must not decide whether two equal statistics differ.
    slack = 1e-9 * np.maximum(1.0, np.abs(value))
    above = ((drawn > value + slack) & known).sum(axis=0)
    equal = ((np.abs(drawn - value) <= slack) & known).sum(axis=0)
    defined = (n > 0) & np.isfinite(value)
    p = np.divide(above + 0.5 * equal, n, out=np.full(len(value), np.nan), where=defined)
    total = np.where(known, drawn, 0.0).sum(axis=0)
    mean = np.divide(total, n, out=np.full(len(value), np.nan), where=n > 0)
    outside = defined & ((value < low - slack) | (value > high + slack))
    return pd.DataFrame(
        {
            column: pd.Series(list(ids), dtype="str"),
            "observed": value,
            "predicted": mean,
            "low": low,
            "high": high,
            "p": p,
            "outside": outside.astype(int),
        }
    )


def expected_outside(replicates: ArrayLike, table: pd.DataFrame) -> float:
    """Return the share of the replicates themselves that lie outside the intervals.

    Parameters
    ----------
    replicates : (n_draw, n) float
    table : DataFrame
        Of `predictive_table` for them.

    Returns
    -------
    float in [0, 1]
        Counts cannot have exactly `1 - level` outside, so this is what to compare with.
    """
    drawn = np.asarray(replicates, dtype=np.float64)
    low, high = table["low"].to_numpy(), table["high"].to_numpy()
    known = np.isfinite(drawn)
    out = known & ((drawn < low) | (drawn > high))
    return float(out.sum() / known.sum()) if known.any() else float("nan")


def accuracy_histogram(parts: dict[str, Floats]) -> pd.DataFrame:
    """Return the share of accuracies in each of twenty bins.

    Parameters
    ----------
    parts : dict of name to array of float in [0, 1]
        NaN are left out.

    Returns
    -------
    DataFrame, 20 rows
        `low`, `high` of the bin, and a column for each part; zeros for an empty one.

    Examples
    --------
    >>> accuracy_histogram({"models": np.array([0.0, 0.05, 1.0])})["models"].to_numpy()[[0, 1, -1]]
    array([0.33333333, 0.33333333, 0.33333333])
    """
    edges = np.arange(N_BINS + 1) / N_BINS
    table = {"low": edges[:-1], "high": edges[1:]}
    for name, values in parts.items():
        known = values[np.isfinite(values)]
        # A share such as 3/20 must fall into the bin that it begins.
        place = np.minimum(np.floor(known * N_BINS + 1e-9).astype(np.intp), N_BINS - 1)
        table[name] = np.bincount(place, minlength=N_BINS) / max(len(known), 1)
    return pd.DataFrame(table)


def _quantile(drawn: Floats, share: float, some: NDArray[np.bool_]) -> Floats:
    found = np.full(drawn.shape[1], np.nan)
    if some.any():
        # A value that was drawn, not one between two counts.
        found[some] = np.nanquantile(drawn[:, some], share, axis=0, method="inverted_cdf")
    return found
