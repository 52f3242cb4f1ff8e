"""Wilcoxon's signed-rank test of paired differences, zeros dropped, ties corrected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


@dataclass(frozen=True, kw_only=True, slots=True)
class SignedRanks:
    """A signed-rank test.

    Attributes
    ----------
    n_pairs : int
        Pairs with a difference, zeros included.
    n_different : int
        Pairs that differ; the test uses no others.
    w_plus : float
        Sum of the mid-ranks of positive differences.
    p_value : float in [0, 1]
        Two-sided, normal with tie correction, without continuity correction; 1 if no pair differs.
    """

    n_pairs: int
    n_different: int
    w_plus: float
    p_value: float


def signed_rank_test(difference: ArrayLike) -> SignedRanks:
    """Return Wilcoxon's signed-rank test of whether differences are symmetric about zero.

    Parameters
    ----------
    difference : (n_pair,) number
        NaN where a side is missing.

    Returns
    -------
    SignedRanks

    References
    ----------
    Wilcoxon (1945), Biometrics Bulletin 1, 80-83, doi:10.2307/3001968.

    Examples
    --------
    >>> found = signed_rank_test([1, 1, 2, -1, 0, 3])
    >>> found.n_different, found.w_plus, round(found.p_value, 4)
    (5, 13.0, 0.1308)
    """
    d = np.asarray(difference, dtype=np.float64)
    d = d[~np.isnan(d)]
    moved = d[d != 0]
    if not len(moved):
        return SignedRanks(n_pairs=len(d), n_different=0, w_plus=0.0, p_value=1.0)
    rank = stats.rankdata(np.abs(moved))
    test = stats.wilcoxon(moved, zero_method="wilcox", correction=False, method="asymptotic")
    return SignedRanks(
        n_pairs=len(d),
        n_different=len(moved),
        w_plus=float(rank[moved > 0].sum()),
        p_value=min(1.0, float(test.pvalue)),
    )
