"""How well a score finds the bad items: AUC with intervals, comparisons, precision at k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Auc:
    """Area under the ROC curve, with DeLong's variance.

    Attributes
    ----------
    n_bad, n_good : int
        Items in either class that have a score.
    auc : float in [0, 1], probability
        That a random bad item is more suspicious than a random good one, ties one half; NaN
        without items in either class.
    variance : float
        NaN with fewer than two items in a class.
    low, high : float
        Interval, cut to [0, 1]; NaN where the variance is unknown, or is zero because the two
        classes are apart: the data then say nothing about how far.
    reason : str
        Why something is missing; empty otherwise.
    """

    n_bad: int
    n_good: int
    auc: float
    variance: float
    low: float
    high: float
    reason: str


def _split(
    suspicion: ArrayLike, bad: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return scores of bad and good items, and which places hold a score and a label."""
    score = np.asarray(suspicion, dtype=np.float64)
    label = np.asarray(bad, dtype=np.float64)
    if score.shape != label.shape or score.ndim != 1:
        raise ValueError(
            f"scores and labels are two lists of one length, got {score.shape} and {label.shape}"
        )
    if not np.isin(label[~np.isnan(label)], (0.0, 1.0)).all():
        raise ValueError("labels are 1 for a bad item, 0 for a good one, or missing")
    known = ~np.isnan(score) & ~np.isnan(label)
    return score[known & (label == 1)], score[known & (label == 0)], known


def placements(
    bad: NDArray[np.float64], good: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the share of the other class that each item beats, ties one half.

    Parameters
    ----------
    bad, good : (n,) float
        Scores, larger = more suspicious.

    Returns
    -------
    (n_bad,) and (n_good,) float in [0, 1]
        For a bad item the share of good ones below it; for a good item that of bad ones above
        it. The mean of either is the AUC.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44, 837-845, doi:10.2307/2531595; by
    mid-ranks as in Sun and Xu (2014), IEEE Signal Processing Letters 21, 1389-1393,
    doi:10.1109/LSP.2014.2337313.
    """
    joint = stats.rankdata(np.concatenate([bad, good]))
    of_bad = (joint[: len(bad)] - stats.rankdata(bad)) / len(good)
    of_good = 1.0 - (joint[len(bad) :] - stats.rankdata(good)) / len(bad)
    return of_bad, of_good


def area_under_curve(suspicion: ArrayLike, bad: ArrayLike, *, level: float = 0.95) -> Auc:
    """Return the AUC of a score whose direction was fixed in advance.

    Parameters
    ----------
    suspicion : (n_item,) float
        Larger = more suspicious. Items without a score (NaN) are left out.
    bad : (n_item,) 0, 1 or NaN
        Labels; items without one are left out.
    level : float in (0, 1)
        Of the interval.

    Returns
    -------
    Auc

    Raises
    ------
    ValueError
        If the lists do not match, or a label or the level is not allowed.

    Notes
    -----
    P2, equation 4. The interval is DeLong's, AUC ± z times the standard error, cut to [0, 1].

    Examples
    --------
    >>> found = area_under_curve([3, 2, 2, 1, 0], [1, 1, 0, 0, 0])
    >>> round(found.auc, 4), round(found.low, 4), found.high
    (0.9167, 0.6857, 1.0)
    """
    _check_level(level)
    of_bad, of_good, _ = _split(suspicion, bad)
    n_bad, n_good = len(of_bad), len(of_good)
    if n_bad == 0 or n_good == 0:
        reason = f"no {'bad' if n_bad == 0 else 'good'} item has a score"
        return Auc(n_bad=n_bad, n_good=n_good, auc=np.nan, variance=np.nan, low=np.nan,
                   high=np.nan, reason=reason)  # fmt: skip
    v_bad, v_good = placements(of_bad, of_good)
    auc = float(v_bad.mean())
    variance, reason = np.nan, "fewer than two items in a class: no standard error"
    if min(n_bad, n_good) > 1:
        variance = float(v_bad.var(ddof=1) / n_bad + v_good.var(ddof=1) / n_good)
        reason = "" if variance > 0 else "the classes do not overlap: no standard error"
    half = stats.norm.ppf(0.5 + level / 2) * np.sqrt(variance) if variance > 0 else np.nan
    return Auc(
        n_bad=n_bad,
        n_good=n_good,
        auc=auc,
        variance=variance,
        low=float(np.clip(auc - half, 0, 1)),
        high=float(np.clip(auc + half, 0, 1)),
        reason=reason,
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class AucDifference:
    """Two scores compared on the items that have both.

    Attributes
    ----------
    n_bad, n_good : int
    first, second : float in [0, 1]
        AUC of each on the shared items.
    difference, low, high : float
        First minus second, with its interval; NaN limits where the standard error is unknown.
    p_value : float in [0, 1]
        Two-sided; 1 for scores that order all items alike.
    """

    n_bad: int
    n_good: int
    first: float
    second: float
    difference: float
    low: float
    high: float
    p_value: float


def compare_auc(
    first: ArrayLike, second: ArrayLike, bad: ArrayLike, *, level: float = 0.95
) -> AucDifference:
    """Return the difference of two AUCs on the same items, with DeLong's paired interval.

    Parameters
    ----------
    first, second : (n_item,) float
        Two scores, larger = more suspicious; items without both are left out.
    bad : (n_item,) 0, 1 or NaN
    level : float in (0, 1)

    Returns
    -------
    AucDifference

    Raises
    ------
    ValueError
        As `area_under_curve`, or if a class has fewer than two shared items.

    References
    ----------
    DeLong et al. (1988), as in `placements`.

    Examples
    --------
    >>> compare_auc([3, 2, 2, 1, 0], [3, 0, 2, 1, 0], [1, 1, 0, 0, 0]).difference.round(4)
    np.float64(0.3333)
    """
    _check_level(level)
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    both = np.where(np.isnan(one) | np.isnan(other), np.nan, 1.0)
    one_bad, one_good, known = _split(one * both, bad)
    other_bad, other_good, _ = _split(other * both, bad)
    if min(len(one_bad), len(one_good)) < 2:
        raise ValueError(
            f"a comparison needs two bad and two good items with both scores, got "
            f"{len(one_bad)} and {len(one_good)} of {len(known)}"
        )
    v_bad, v_good = placements(one_bad, one_good)
    w_bad, w_good = placements(other_bad, other_good)
    difference = v_bad.mean() - w_bad.mean()
    variance = (v_bad - w_bad).var(ddof=1) / len(v_bad) + (v_good - w_good).var(ddof=1) / len(
        v_good
    )
    error = np.sqrt(variance) if variance > 0 else np.nan
    half = stats.norm.ppf(0.5 + level / 2) * error
    p_value = 2 * stats.norm.sf(abs(difference) / error) if variance > 0 else np.nan
    return AucDifference(
        n_bad=len(v_bad),
        n_good=len(v_good),
        first=float(v_bad.mean()),
        second=float(w_bad.mean()),
        difference=difference,
        low=difference - half,
        high=difference + half,
        p_value=float(1.0 if variance == 0 and difference == 0 else p_value),
    )


def precision_at(suspicion: ArrayLike, bad: ArrayLike, *, k: int) -> float:
    """Return the share of bad items among the k most suspicious ones.

    Parameters
    ----------
    suspicion : (n_item,) float
        Larger = more suspicious; items without a score or label are left out.
    bad : (n_item,) 0, 1 or NaN
    k : int >= 1

    Returns
    -------
    float in [0, 1]
        Over k items, or over all with a score if those are fewer. Items that tie at the end of
        the list count with the share of their tie that is on it: the mean over all orders.

    Raises
    ------
    ValueError
        If `k` is not positive, or no item has a score and a label.

    Examples
    --------
    >>> precision_at([3, 2, 2, 1], [1, 1, 0, 0], k=2)
    0.75
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    of_bad, of_good, _ = _split(suspicion, bad)
    score = np.concatenate([of_bad, of_good])
    if len(score) == 0:
        raise ValueError("no item has both a score and a label")
    listed = min(k, len(score))
    cut = np.sort(score)[::-1][listed - 1]
    n_above, n_tied = int((score > cut).sum()), int((score == cut).sum())
    found = (of_bad > cut).sum() + (of_bad == cut).sum() * (listed - n_above) / n_tied
    return float(found / listed)


def auc_table(suspicion: pd.DataFrame, bad: ArrayLike, *, level: float = 0.95) -> pd.DataFrame:
    """Return the AUC of every column.

    Parameters
    ----------
    suspicion : DataFrame, n_item rows
        One column a statistic, larger = more suspicious.
    bad : (n_item,) 0, 1 or NaN
    level : float in (0, 1)

    Returns
    -------
    DataFrame
        `statistic, n_bad, n_good, auc, low, high, reason`, in the order of the columns.
    """
    rows = []
    for statistic in suspicion.columns:
        found = area_under_curve(suspicion[statistic].to_numpy(dtype=np.float64), bad, level=level)
        rows.append(
            {
                "statistic": statistic,
                "n_bad": found.n_bad,
                "n_good": found.n_good,
                "auc": found.auc,
                "low": found.low,
                "high": found.high,
                "reason": found.reason,
            }
        )
    columns = ["statistic", "n_bad", "n_good", "auc", "low", "high", "reason"]
    return pd.DataFrame(rows, columns=columns)


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level}")
