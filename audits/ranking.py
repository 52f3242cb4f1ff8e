"""Near-tied pairs, strict reversals and rank agreement, decided on counts (P0, 3.4 and D.1)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from neartie.audits.anchors import exact_fraction
from neartie.audits.scoring import ModelScores

type Integers = NDArray[np.int64]

BANDS = tuple(Fraction(text) for text in ("0.0025", "0.005", "0.01", "0.02", "0.03", "0.05"))
PRIMARY_BAND = Fraction("0.01")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Pairs:
    """Pairs of representatives with different owners and different families.

    Attributes
    ----------
    first, second : (n_pair,) int
        Positions of the two models, first < second.
    gap : (n_pair,) int, items
        Full count of the first minus that of the second; 0 for an exact tie.
    n_items : int
    """

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    gap: Integers
    n_items: int

    def within(self, epsilon: float | str | Fraction) -> NDArray[np.bool_]:
        """Return which pairs are at most `epsilon` apart on the full benchmark, ties included.

        Decided on counts: .81 - .80 exceeds .01 in floating point.
        """
        return np.abs(self.gap) <= band_limit(epsilon, self.n_items)

    def take(self, mask: NDArray[np.bool_] | NDArray[np.intp]) -> Pairs:
        """Return some of the pairs, by a mask or by positions."""
        return Pairs(
            first=self.first[mask],
            second=self.second[mask],
            gap=self.gap[mask],
            n_items=self.n_items,
        )


def band_limit(epsilon: float | str | Fraction, n_items: int) -> int:
    """Return the largest gap in items that lies within a band, its edge included.

    Parameters
    ----------
    epsilon : number >= 0, proportion
        Read as the decimal number that it is written as.
    n_items : int

    Returns
    -------
    int

    Examples
    --------
    >>> band_limit(0.01, 100), band_limit("0.0025", 1075)
    (1, 2)
    """
    share = exact_fraction(epsilon)
    if share < 0:
        raise ValueError(f"a band is a gap of at least 0, got {epsilon}")
    return int(share * n_items // 1)


def cross_family_pairs(
    full: ArrayLike, *, owner: ArrayLike, family: ArrayLike, n_items: int
) -> Pairs:
    """Return all pairs with different owners and different families (P0, eq 38).

    Parameters
    ----------
    full : (n_model,) int
        Right answers.
    owner, family : (n_model,) str
    n_items : int

    Returns
    -------
    Pairs
        Full ties included; they are no candidates for a reversal.

    Examples
    --------
    >>> cross_family_pairs([81, 80, 80], owner=list("abc"), family=list("xyz"), n_items=100).gap
    array([1, 1, 0])
    """
    count = np.asarray(full, dtype=np.int64)
    _, owners = np.unique(np.asarray(owner).astype(str), return_inverse=True)
    _, families = np.unique(np.asarray(family).astype(str), return_inverse=True)
    first, second = np.triu_indices(len(count), k=1)
    mask = (owners[first] != owners[second]) & (families[first] != families[second])
    first, second = first[mask], second[mask]
    return Pairs(first=first, second=second, gap=count[first] - count[second], n_items=n_items)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReversalCount:
    """Counts of one band and half.

    Attributes
    ----------
    n_band : int
        Pairs within the band, ties included.
    n_tied : int
        Of these, tied on the full benchmark or under the alternative score.
    n_reversed : int
        Of the rest, in strictly opposite order.
    """

    n_band: int
    n_tied: int
    n_reversed: int

    @property
    def n_eligible(self) -> int:
        """Pairs in the denominator."""
        return self.n_band - self.n_tied

    @property
    def rate(self) -> float | None:
        """Reversed over eligible pairs, or None without eligible pairs: undefined, not 0."""
        return self.n_reversed / self.n_eligible if self.n_eligible else None

    def __add__(self, other: ReversalCount) -> ReversalCount:
        """Pool two halves (P0, eq 40)."""
        return ReversalCount(
            n_band=self.n_band + other.n_band,
            n_tied=self.n_tied + other.n_tied,
            n_reversed=self.n_reversed + other.n_reversed,
        )


def anchor_signs(pairs: Pairs, scores: ModelScores) -> NDArray[np.int8]:
    """Return the exact sign of every pair's anchor gap (first minus second)."""
    level = scores.anchor_level
    return np.sign(level[pairs.first] - level[pairs.second]).astype(np.int8)


def count_reversals(
    pairs: Pairs, sign: NDArray[np.int8], *, epsilon: float | str | Fraction | None = None
) -> ReversalCount:
    """Return how many pairs of a band reverse under an alternative score (P0, eqs 38-40).

    Parameters
    ----------
    pairs : Pairs
    sign : (n_pair,) int in {-1, 0, 1}
        Sign of the alternative score's gap.
    epsilon : number, proportion, optional
        All pairs when left out (the all-cross-family rate).

    Returns
    -------
    ReversalCount

    Examples
    --------
    >>> pairs = cross_family_pairs([81, 80, 80], owner=list("abc"), family=list("xyz"), n_items=100)
    >>> count_reversals(pairs, np.array([-1, 1, 1]), epsilon="0.01")
    ReversalCount(n_band=3, n_tied=1, n_reversed=1)
    """
    mask = np.ones(len(pairs.gap), bool) if epsilon is None else pairs.within(epsilon)
    product = np.sign(pairs.gap[mask]) * sign[mask]
    return ReversalCount(
        n_band=int(mask.sum()),
        n_tied=int((product == 0).sum()),
        n_reversed=int((product < 0).sum()),
    )


def kendall_tau_b(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return the tie-corrected rank correlation, or None where it is undefined.

    Parameters
    ----------
    first, second : (n,) numbers
        Compared exactly: pass counts or levels, not rounded scores.

    Returns
    -------
    float in [-1, 1] or None
        None if one side is constant or there are fewer than two values.

    References
    ----------
    Kendall (1945), Biometrika 33, 239-251, doi:10.1093/biomet/33.3.239.

    Examples
    --------
    >>> round(kendall_tau_b([1, 2, 2, 3, 4], [1, 1, 2, 3, 3]), 4)
    0.825
    >>> kendall_tau_b([1, 2], [5, 5]) is None
    True
    """
    x, y = np.asarray(first), np.asarray(second)
    if len(x) < 2 or (x == x[0]).all() or (y == y[0]).all():
        return None
    return float(stats.kendalltau(x, y, variant="b").statistic)


def shared_rank(score: ArrayLike) -> NDArray[np.intp]:
    """Return competition ranks: 1 is best, equal scores share the best rank of their group.

    Examples
    --------
    >>> shared_rank([81, 80, 80, 69])
    array([1, 2, 2, 4])
    """
    return np.asarray(stats.rankdata(-np.asarray(score), method="min"), dtype=np.intp)
