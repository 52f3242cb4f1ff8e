"""Two models, or two graders, on the same items: McNemar's test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from neartie.data.errors import DataError


@dataclass(frozen=True, kw_only=True, slots=True)
class McNemar:
    """Two sets of right/wrong answers to the same items, compared.

    Attributes
    ----------
    n_shared : int
        Items that both answered; the test uses no others.
    n_first_only, n_second_only : int
        Items that one of them alone answered.
    b, c : int
        Items that the first alone got right, and the second alone.
    first, second : float in [0, 1], proportion
        Right answers among the shared items; NaN without any.
    p_value : float in [0, 1]
        Exact, two-sided: twice the smaller binomial tail, at most 1; 1 if b = c = 0.
    mid_p_value : float in [0, 1]
        The same with half the weight of the observed table; less conservative.
    """

    n_shared: int
    n_first_only: int
    n_second_only: int
    b: int
    c: int
    first: float
    second: float
    p_value: float
    mid_p_value: float

    def __str__(self) -> str:
        if self.n_shared == 0:
            return "no shared items: nothing to compare"
        left = ""
        if self.n_first_only or self.n_second_only:
            left = f"; left out: {self.n_first_only} + {self.n_second_only} items of one side alone"
        return (
            f"{self.n_shared} shared items, right {self.first:.3f} and {self.second:.3f}; "
            f"{self.b} to {self.c} where they differ, exact p = {self.p_value:.4f} "
            f"(mid-p {self.mid_p_value:.4f}){left}"
        )


def mcnemar(first: ArrayLike, second: ArrayLike) -> McNemar:
    """Return McNemar's test of two lists of answers to the same items, in the same order.

    Parameters
    ----------
    first, second : (n_item,) 0, 1 or NaN
        NaN where not answered. To compare by item id, use `mcnemar_by_item`.

    Returns
    -------
    McNemar

    Raises
    ------
    DataError
        If the lists differ in length, or hold something else.

    References
    ----------
    McNemar (1947), Psychometrika 12, 153-157, doi:10.1007/BF02295996. Mid-p: Fagerland, Lydersen
    and Laake (2013), BMC Medical Research Methodology 13, 91, doi:10.1186/1471-2288-13-91.

    Examples
    --------
    >>> print(mcnemar([1] * 9 + [0] * 2, [0] * 9 + [1] * 2))
    11 shared items, right 0.818 and 0.182; 9 to 2 where they differ, exact p = 0.0654 (mid-p 0.0386)
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise DataError(f"two lists of answers of one length are needed, got {x.shape} and "
                        f"{y.shape}; compare by item id instead")  # fmt: skip
    for values in (x, y):
        strange = values[~np.isnan(values) & ~np.isin(values, (0.0, 1.0))]
        if len(strange):
            raise DataError(f"answers are 1, 0 or missing, got {strange[0]:g}")
    in_first, in_second = ~np.isnan(x), ~np.isnan(y)
    shared = in_first & in_second
    n_shared = int(shared.sum())
    b = int((x[shared] > y[shared]).sum())
    c = int((x[shared] < y[shared]).sum())
    tail = float(stats.binom.cdf(min(b, c), b + c, 0.5)) if b + c else 1.0
    point = float(stats.binom.pmf(b, b + c, 0.5)) if b + c else 0.0
    return McNemar(
        n_shared=n_shared,
        n_first_only=int((in_first & ~in_second).sum()),
        n_second_only=int((in_second & ~in_first).sum()),
        b=b,
        c=c,
        first=float(x[shared].mean()) if n_shared else np.nan,
        second=float(y[shared].mean()) if n_shared else np.nan,
        p_value=min(1.0, 2 * tail),
        # With b = c the doubled mid tail is 1 as it stands.
        mid_p_value=min(1.0, 2 * tail - point) if b + c else 1.0,
    )


def mcnemar_by_item(first: pd.Series, second: pd.Series) -> McNemar:
    """Return McNemar's test of two sets of answers, joined by item id.

    Parameters
    ----------
    first, second : Series, 0, 1 or NaN
        Answers with the item ids as index. Order does not matter; items that only one of them
        holds are counted and left out.

    Returns
    -------
    McNemar

    Raises
    ------
    DataError
        If an item stands twice on one side.

    Examples
    --------
    >>> first = pd.Series([1, 1, 0], index=["q1", "q2", "q3"])
    >>> second = pd.Series([0, 1, 1], index=["q3", "q4", "q2"])
    >>> found = mcnemar_by_item(first, second)
    >>> found.n_shared, found.n_first_only, found.n_second_only
    (2, 1, 1)
    """
    for side in (first, second):
        repeated = side.index[side.index.duplicated()]
        if len(repeated):
            raise DataError(f"item {repeated[0]!r} stands more than once on one side")
    joined = pd.concat([first.rename("first"), second.rename("second")], axis=1)
    return mcnemar(
        joined["first"].to_numpy(dtype=np.float64), joined["second"].to_numpy(dtype=np.float64)
    )
