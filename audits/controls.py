"""Matched-random subtests: as many items from every cell, chosen without looking at DIF (P0, C.6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from neartie.audits.anchors import Subtest
from neartie.audits.ranking import BANDS, Pairs, ReversalCount
from neartie.audits.replicates import ReplicateCounts, banded, count_chunk, stack
from neartie.audits.scoring import exact_sign, group_multipliers, item_groups, item_weights

type Floats = NDArray[np.float64]

CHUNK = 128


def draw_subtests(
    subtest: Subtest, n: int, *, rng: np.random.Generator | int | None = None
) -> NDArray[np.bool_]:
    """Return random subtests with the same number of items in every cell.

    Parameters
    ----------
    subtest : Subtest
        The anchors to match.
    n : int
    rng : Generator, int or None
        Draws one number an item and subtest, in row order.

    Returns
    -------
    (n, n_item) bool
        Selected items, uniform without replacement from each cell's pool.

    References
    ----------
    P0, eq 34.
    """
    rng = np.random.default_rng(rng)
    key = rng.random((n, len(subtest.selected)))
    selected = np.zeros(key.shape, dtype=bool)
    rows = np.arange(n)[:, None]
    for cell, kept in enumerate(subtest.kept.tolist()):
        members = np.flatnonzero((subtest.cells.code == cell) & subtest.pool)
        if kept < len(members):
            part = np.argpartition(key[:, members], kept - 1, axis=1)[:, :kept]
            selected[rows, members[part]] = True
        else:
            selected[:, members] = True
    return selected


def score_subtests(
    values: NDArray[np.int8],
    selections: NDArray[np.bool_],
    subtest: Subtest,
    pairs: Pairs,
    *,
    bands: Sequence[Fraction] = BANDS,
) -> ReplicateCounts:
    """Return reversal counts of given subtests with the anchors' cells and sizes.

    Parameters
    ----------
    values : (n_item, n_model) int8
        Complete answers of the target representatives.
    selections : (n_replicate, n_item) bool
    subtest : Subtest
        The anchors that they match.
    pairs : Pairs
        Of the target representatives.
    bands : sequence of Fraction, rising, proportion

    Returns
    -------
    ReplicateCounts
    """
    scorer = _Scorer.prepare(values, subtest, pairs, bands)
    return stack(
        [
            scorer.count(selections[first : first + CHUNK])
            for first in range(0, len(selections), CHUNK)
        ]
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Scorer:
    """What all chunks of subtests share."""

    values: NDArray[np.int8]
    answers: Floats
    full: Floats
    near: Pairs
    start: NDArray[np.intp]
    subtest: Subtest
    weight: Floats
    tolerance: float

    @classmethod
    def prepare(
        cls,
        values: NDArray[np.int8],
        subtest: Subtest,
        pairs: Pairs,
        bands: Sequence[Fraction],
    ) -> _Scorer:
        near, start = banded(pairs, bands)
        weight, tolerance = item_weights(subtest, mass=len(values))
        answers = values.astype(np.float64)
        return cls(
            values=values,
            answers=answers,
            full=answers.sum(axis=0)[None, :],
            near=near,
            start=start,
            subtest=subtest,
            weight=weight,
            tolerance=tolerance,
        )

    def count(self, selections: NDArray[np.bool_]) -> ReplicateCounts:
        group, size = item_groups(self.subtest)
        multiplier = group_multipliers(self.subtest)

        def resolve(r: int, a: NDArray[np.intp], b: NDArray[np.intp]) -> NDArray[np.int8]:
            rows = np.flatnonzero(selections[r])
            chosen = self.values[rows].astype(np.int64)
            totals = np.zeros((len(multiplier), len(a)), dtype=np.int64)
            np.add.at(totals, group[rows], (chosen[:, a] - chosen[:, b]) * size[rows, None])
            return exact_sign(totals.T, multiplier)

        score = (selections * self.weight) @ self.answers
        # whole numbers within half of each other are equal
        exact = self.tolerance == 0.5
        return count_chunk(
            self.full, score, self.near, self.start, self.tolerance, None if exact else resolve
        )


def matched_random(
    values: NDArray[np.int8],
    subtest: Subtest,
    pairs: Pairs,
    *,
    bands: Sequence[Fraction] = BANDS,
    controls: int = 1000,
    rng: np.random.Generator | int | None = None,
    progress: Callable[[int], None] | None = None,
) -> ReplicateCounts:
    """Return reversal counts of matched-random subtests in one target half.

    Parameters
    ----------
    values, subtest, pairs, bands
        As in `score_subtests`.
    controls : int
        Number of replicates.
    rng : Generator, int or None
    progress : callable, optional
        Called with the number of replicates done.

    Returns
    -------
    ReplicateCounts
        Replicate r of the two halves is pooled by adding them up (P0, eq 35).

    References
    ----------
    P0, appendix C.6.
    """
    rng = np.random.default_rng(rng)
    scorer = _Scorer.prepare(values, subtest, pairs, bands)
    parts = []
    for first in range(0, controls, CHUNK):
        selections = draw_subtests(subtest, min(CHUNK, controls - first), rng=rng)
        parts.append(scorer.count(selections))
        if progress is not None:
            progress(min(first + CHUNK, controls))
    return stack(parts)


@dataclass(frozen=True, kw_only=True, slots=True)
class RandomComparison:
    """An observed rate against matched-random ones, in one band.

    Attributes
    ----------
    median, low, high : float or None, proportion
        Median and 2.5th and 97.5th percentile of the defined random rates.
    excess_pp : float or None, percentage points
        Observed rate minus the median (P0, eq 10).
    p_value : float or None
        One-sided (P0, eq 11); None where the observed rate is undefined.
    n_undefined : int
        Replicates without an eligible pair. They count as at least the observed rate.
    """

    median: float | None
    low: float | None
    high: float | None
    excess_pp: float | None
    p_value: float | None
    n_undefined: int


def compare_with_random(
    observed: ReversalCount, counts: ReplicateCounts, band: int
) -> RandomComparison:
    """Return excess and randomization p-value of one band.

    Parameters
    ----------
    observed : ReversalCount
        Pooled over the halves.
    counts : ReplicateCounts
        Pooled over the halves.
    band : int
        Column of `counts`.

    Returns
    -------
    RandomComparison
        Rates are compared as fractions, so that equal rates count as equal.

    References
    ----------
    P0, eqs 10 and 11. Phipson and Smyth (2010), doi:10.2202/1544-6115.1585.
    """
    eligible, reversed_ = counts.n_eligible[:, band], counts.n_reversed[:, band]
    defined = eligible > 0
    rates = counts.rate[defined, band]
    n_undefined = int((~defined).sum())
    median = low = high = None
    if len(rates):
        low, median, high = (float(q) for q in np.quantile(rates, [0.025, 0.5, 0.975]))
    if observed.rate is None or not len(eligible):
        excess = p_value = None
    else:
        above = reversed_ * observed.n_eligible >= observed.n_reversed * eligible
        p_value = (1 + int(above[defined].sum()) + n_undefined) / (len(eligible) + 1)
        excess = None if median is None else 100 * (observed.rate - median)
    return RandomComparison(
        median=median,
        low=low,
        high=high,
        excess_pp=excess,
        p_value=p_value,
        n_undefined=n_undefined,
    )
