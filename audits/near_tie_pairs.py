"""How many pairs of models are within a point of each other, also where answers are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neartie.audits.anchors import exact_fraction
from neartie.audits.ranking import cross_family_pairs

type Integers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ComparedPairs:
    """The pairs that may be near-tied.

    Attributes
    ----------
    first, second : (n_pair,) int
        Positions of the two models.
    across : str
        Which pairs these are, in words.
    """

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    across: str


def compared_pairs(
    n_model: int, *, families: Sequence[str] = (), owners: Sequence[str] = ()
) -> ComparedPairs:
    """Return all pairs of models with different families and different owners.

    Parameters
    ----------
    n_model : int
    families, owners : sequence of str, n_model of them, optional
        What is left out parts no pair.

    Returns
    -------
    ComparedPairs

    Examples
    --------
    >>> pairs = compared_pairs(3, families=["x", "x", "y"])
    >>> pairs.first, pairs.second, pairs.across
    (array([0, 1]), array([2, 2]), 'pairs of different families')
    """
    own = [str(position) for position in range(n_model)]
    pairs = cross_family_pairs(
        np.zeros(n_model), owner=list(owners) or own, family=list(families) or own, n_items=1
    )
    parts = [name for name, given in (("families", families), ("owners", owners)) if len(given)]
    across = f"pairs of different {' and '.join(parts)}" if parts else "all pairs"
    return ComparedPairs(first=pairs.first, second=pairs.second, across=across)


def count_near_ties(
    pairs: ComparedPairs, halves: ArrayLike, n: ArrayLike, *, epsilon: float | str | Fraction
) -> int:
    r"""Return how many pairs have rates at most `epsilon` apart, ties included.

    Parameters
    ----------
    pairs : ComparedPairs
    halves : (n_model,) int
        Twice what each model scored, so that half a win is a whole number.
    n : (n_model,) int
        Of how many. A pair with a model without any is no near-tie.
    epsilon : number >= 0, proportion

    Returns
    -------
    int

    Notes
    -----
    :math:`|c_1/n_1 - c_2/n_2| \le p/q` is decided as
    :math:`q\,|c_1 n_2 - c_2 n_1| \le p\,n_1 n_2` in whole numbers. Where all models answered the
    same items, this is `Pairs.within` of the near-tie audit.

    Examples
    --------
    >>> pairs = compared_pairs(3)
    >>> count_near_ties(pairs, [162, 160, 120], [100, 100, 100], epsilon=0.01)
    1
    """
    share = exact_fraction(epsilon)
    if share < 0:
        raise ValueError(f"a band is a gap of at least 0, got {epsilon}")
    score, total = np.asarray(halves, dtype=np.int64), np.asarray(n, dtype=np.int64)
    first, second = pairs.first, pairs.second
    gap = np.abs(score[first] * total[second] - score[second] * total[first])
    room = 2 * total[first] * total[second]
    # Floor division keeps the products small: gap <= floor(room * p / q) is the same for whole gaps.
    limit = _times(room, share)
    return int(np.count_nonzero((gap <= limit) & (room > 0)))


def _times(room: Integers, share: Fraction) -> Integers:
    """Return floor(room * share), exact."""
    whole, rest = np.divmod(room, share.denominator)
    return np.asarray(whole * share.numerator + rest * share.numerator // share.denominator)
