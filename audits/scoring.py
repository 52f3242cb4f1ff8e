"""Exact full and anchor scores: whole numbers and fractions, never rounded doubles (P0, eq 8)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neartie.audits.anchors import Subtest, exact_fraction
from neartie.data.errors import CaveatWarning, DataError

type Floats = NDArray[np.float64]
type Integers = NDArray[np.int64]

# Whole numbers up to here are exact in a double, sums and differences included.
EXACT_LIMIT = 2**53


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ModelScores:
    """Scores of the models of one target half.

    Attributes
    ----------
    full : (n_model,) int
        Number of right answers, of `n_items`.
    anchor : tuple of Fraction, n_model
        Weighted share of right anchor answers, exact.
    n_items : int
    """

    full: Integers
    anchor: tuple[Fraction, ...]
    n_items: int

    @property
    def anchor_level(self) -> Integers:
        """Dense rank of the anchor score, (n_model,) int; equal scores share a level."""
        level = {score: i for i, score in enumerate(sorted(set(self.anchor)))}
        return np.array([level[score] for score in self.anchor], dtype=np.int64)


def score_models(values: NDArray[np.int8], subtest: Subtest) -> ModelScores:
    r"""Return full and anchor scores.

    Parameters
    ----------
    values : (n_item, n_model) int8
        Complete answers of the models to be scored.
    subtest : Subtest
        Selected without their owners' answers.

    Returns
    -------
    ModelScores
        :math:`A_m = I^{-1}\sum_i Y_{im}` as a count and
        :math:`\tilde A_m = \sum_i w_i Y_{im} / \sum_i w_i` as a fraction.

    Raises
    ------
    DataError
        If a cell is missing.

    References
    ----------
    P0, eq 8.
    """
    if (values < 0).any():
        raise DataError(f"scoring needs complete answers; {int((values < 0).sum())} are missing")
    groups = group_counts(values, subtest)
    multiplier = group_multipliers(subtest)
    total = subtest.denominator * len(values)
    anchor = tuple(
        Fraction(sum(w * int(g) for w, g in zip(multiplier, column, strict=True)), total)
        for column in groups.T
    )
    return ModelScores(full=values.sum(axis=0, dtype=np.int64), anchor=anchor, n_items=len(values))


def group_counts(values: NDArray[np.int8], subtest: Subtest) -> Integers:
    """Return, for every distinct k, the sum of n_c times right answers over cells that keep k.

    The anchor numerator is a combination of these whole numbers with the reciprocals of k, so
    that scores can be compared exactly however many distinct k there are.

    Parameters
    ----------
    values : (n_item, n_model) int8
    subtest : Subtest

    Returns
    -------
    (n_group, n_model) int
        Groups in rising order of k.
    """
    group, size = item_groups(subtest)
    n_group = int(group.max()) + 1
    indicator = np.zeros((n_group, len(values)))
    rows = np.flatnonzero(subtest.selected)
    indicator[group[rows], rows] = size[rows]
    return np.rint(indicator @ values.astype(np.float64)).astype(np.int64)


def item_groups(subtest: Subtest) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return every item's group (distinct k of its cell, in rising order) and cell size."""
    _, of_cell = np.unique(subtest.kept, return_inverse=True)
    return of_cell[subtest.cells.code], subtest.cells.size[subtest.cells.code]


def group_multipliers(subtest: Subtest) -> list[int]:
    """Return the common denominator over k, for every distinct k in rising order."""
    return [subtest.denominator // int(k) for k in np.unique(subtest.kept)]


def item_weights(subtest: Subtest, *, mass: int) -> tuple[Floats, float]:
    """Return item weights for floating-point scoring, and below what a difference is in doubt.

    Parameters
    ----------
    subtest : Subtest
    mass : int
        Upper bound of the weighted score in items.

    Returns
    -------
    weight : (n_item,) float
        Of every item, as if it were selected. Whole numbers (over the common denominator)
        where every score then stays below 2**53 and is exact; cell size over kept items
        otherwise.
    tolerance : float
        Differences up to this size are to be decided exactly; below 1 for whole numbers, where
        they are ties.
    """
    cell = subtest.cells
    denominator = subtest.denominator
    if denominator * mass < EXACT_LIMIT:
        multiplier = np.array([denominator // k for k in subtest.kept.tolist()], dtype=np.float64)
        return (cell.size * multiplier)[cell.code], 0.5
    # bound of the rounding of a sum of n terms, doubled for the weights' own rounding and again
    # for the difference of two sums
    tolerance = 4.0 * (len(cell.code) + 2) * np.finfo(np.float64).eps * mass
    return (cell.size / subtest.kept)[cell.code], float(tolerance)


def exact_sign(groups: Integers, multiplier: Sequence[int]) -> NDArray[np.int8]:
    """Return the sign of differences of anchor numerators, by whole numbers of any size.

    Parameters
    ----------
    groups : (n_pair, n_group) int
        Differences of `group_counts`.
    multiplier : sequence of int, n_group
        From `group_multipliers`.

    Returns
    -------
    (n_pair,) int8 in {-1, 0, 1}

    Examples
    --------
    >>> exact_sign(np.array([[2, -3], [1, -1]]), [3, 2])
    array([0, 1], dtype=int8)
    """
    total = groups.astype(object) @ np.array(multiplier, dtype=object)
    return np.array([(t > 0) - (t < 0) for t in total], dtype=np.int8)


def weighted_scores(
    values: NDArray[np.int8],
    weights: Sequence[float | str | Fraction],
    *,
    source: ArrayLike | None = None,
) -> tuple[Fraction, ...]:
    """Return exact scores under weights that a user brings.

    Parameters
    ----------
    values : (n_item, n_model) int8
        Complete answers.
    weights : (n_item,) number or text, items
        Not negative; decimals and fractions such as `10/3` are read exactly.
    source : (n_item,) str, optional
        Blueprint cells, whose weights should add up to their number of items.

    Returns
    -------
    tuple of Fraction, n_model
        Weighted share of right answers, in [0, 1].

    Raises
    ------
    DataError
        If no item has a weight, a weight is negative, or a cell is missing.

    Warns
    -----
    CaveatWarning
        If the weights of a source do not add up to its number of items; names the sources.

    References
    ----------
    P0, eqs 7 and 8.

    Examples
    --------
    >>> weighted_scores(np.array([[1, 0], [1, 1]], dtype=np.int8), ["3/2", 0.5])
    (Fraction(1, 1), Fraction(1, 4))
    """
    exact = [exact_fraction(weight) for weight in weights]
    if len(exact) != len(values):
        raise DataError(f"{len(values)} items have {len(exact)} weights")
    if (values < 0).any():
        raise DataError(f"scoring needs complete answers; {int((values < 0).sum())} are missing")
    negative = [i for i, weight in enumerate(exact) if weight < 0]
    if negative:
        raise DataError(f"the weight of item {negative[0] + 1} is negative: {exact[negative[0]]}")
    total = sum(exact, start=Fraction(0))
    if total == 0:
        raise DataError(
            "no anchor items left: every weight is 0, so that no score is defined; "
            "keep at least one item with a positive weight"
        )
    if source is not None:
        _warn_of_lost_mass(exact, [str(name) for name in np.asarray(source).tolist()])
    columns = values.T.tolist()
    return tuple(
        sum((w for w, y in zip(exact, column, strict=True) if y == 1), start=Fraction(0)) / total
        for column in columns
    )


def _warn_of_lost_mass(weights: list[Fraction], source: list[str]) -> None:
    size: dict[str, int] = {}
    mass: dict[str, Fraction] = {}
    for name, weight in zip(source, weights, strict=True):
        size[name] = size.get(name, 0) + 1
        mass[name] = mass.get(name, Fraction(0)) + weight
    off = [
        f"{n!r} has weight {mass[n]} for {size[n]} items"
        for n in sorted(size)
        if mass[n] != size[n]
    ]
    if off:
        warnings.warn(
            f"weights do not restore the blueprint: source {'; source '.join(off)}",
            CaveatWarning,
            stacklevel=3,
        )
