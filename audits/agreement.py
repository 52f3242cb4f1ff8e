"""Agreement of two annotators: Cohen's kappa and Spearman's correlation, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from neartie.data.errors import DataError


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement:
    """How far two lists of labels of the same items agree.

    Attributes
    ----------
    n : int
        Items that both labelled; no others count.
    observed : float, proportion
        Share of equal labels; NaN without items.
    expected : float, proportion
        Share of equal labels by chance, from the two margins; NaN without items.
    value : float or None
        Cohen's kappa, or Spearman's rho; None where it is undefined.
    reason : str
        Why it is undefined; blank otherwise.
    """

    n: int
    observed: float
    expected: float
    value: float | None
    reason: str


def cohen_kappa(first: ArrayLike, second: ArrayLike) -> Agreement:
    """Return Cohen's kappa of two annotators.

    Parameters
    ----------
    first, second : (n_item,) number
        Labels of the same items in the same order; NaN where not labelled.

    Returns
    -------
    Agreement
        Undefined only if both gave one and the same label throughout (expected agreement 1): then
        the labels cannot show that the annotators agree by more than chance. 0 if one of them
        alone is constant.

    Raises
    ------
    DataError
        If the lists differ in length.

    References
    ----------
    Cohen (1960), Educational and Psychological Measurement 20, 37-46.

    Examples
    --------
    >>> cohen_kappa([1, 1, 1, 0], [1, 1, 0, 0]).value
    0.5
    >>> cohen_kappa([1, 1], [1, 1]).reason
    'both gave the label 1 throughout'
    """
    x, y = _shared(first, second)
    if not len(x):
        return Agreement(n=0, observed=np.nan, expected=np.nan, value=None, reason="no shared item")
    labels = np.union1d(x, y)
    # whole numbers decide whether expected agreement is 1
    a, b = ((side[:, None] == labels).sum(axis=0) for side in (x, y))
    n, equal, chance = len(x), int((x == y).sum()), int((a * b).sum())
    value, reason = None, ""
    if chance == n * n:
        reason = f"both gave the label {labels[0]:g} throughout"
    else:
        value = (n * equal - chance) / (n * n - chance)
    return Agreement(n=n, observed=equal / n, expected=chance / (n * n), value=value, reason=reason)


def rank_agreement(first: ArrayLike, second: ArrayLike) -> Agreement:
    """Return Spearman's correlation of two annotators' ordinal labels, ties as mid-ranks.

    Parameters
    ----------
    first, second : (n_item,) number
        NaN where not labelled.

    Returns
    -------
    Agreement
        Undefined if one of them gave the same label throughout.

    Examples
    --------
    >>> rank_agreement([0, 1, 2], [1, 2, 3]).value
    1.0
    """
    x, y = _shared(first, second)
    observed = float((x == y).mean()) if len(x) else np.nan
    kappa = cohen_kappa(x, y)
    if len(x) < 2 or (x == x[0]).all() or (y == y[0]).all():
        reason = "fewer than two shared items" if len(x) < 2 else "a side is constant"
        return Agreement(
            n=len(x), observed=observed, expected=kappa.expected, value=None, reason=reason
        )
    value = float(np.corrcoef(stats.rankdata(x), stats.rankdata(y))[0, 1])
    return Agreement(n=len(x), observed=observed, expected=kappa.expected, value=value, reason="")


def _shared(first: ArrayLike, second: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise DataError(
            f"two lists of labels of one length are needed, got {x.shape} and {y.shape}"
        )
    both = ~np.isnan(x) & ~np.isnan(y)
    return x[both], y[both]
