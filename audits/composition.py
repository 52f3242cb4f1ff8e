"""Composition bootstrap: what if the benchmark had been composed of other sources (P0, C.7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neartie.audits.anchors import Subtest
from neartie.audits.ranking import BANDS, Pairs
from neartie.audits.replicates import ReplicateCounts, banded, count_chunk, stack
from neartie.audits.scoring import (
    EXACT_LIMIT,
    exact_sign,
    group_multipliers,
    item_groups,
    item_weights,
)

type Integers = NDArray[np.int64]

MIN_SOURCES = 5
CLUSTERS = 100
CHUNK = 250


def composition_units(
    source: ArrayLike, *, index: NDArray[np.integer] | None = None
) -> tuple[list[str], NDArray[np.intp]]:
    """Return the bootstrap units and every item's unit.

    Parameters
    ----------
    source : (n_item,) str
    index : (n_item,) int, optional
        Original item index. Row number when left out.

    Returns
    -------
    names : list of str
        The sources, sorted, if there are at least five; else `items 1-10`, ...: 100 contiguous
        near-equal clusters of the original item order (one an item, if there are fewer).
    unit : (n_item,) int

    References
    ----------
    P0, appendix C.7.

    Examples
    --------
    >>> composition_units(["a"] * 3)[0]
    ['item 1', 'item 2', 'item 3']
    """
    sources = np.asarray(source).astype(str)
    names, unit = np.unique(sources, return_inverse=True)
    if len(names) >= MIN_SOURCES:
        return [str(name) for name in names], unit.astype(np.intp)
    n = len(sources)
    order = np.argsort(np.arange(n) if index is None else np.asarray(index), kind="stable")
    unit = np.empty(n, dtype=np.intp)
    labels = []
    first = 1
    for number, part in enumerate(np.array_split(order, min(CLUSTERS, n))):
        unit[part] = number
        last = first + len(part) - 1
        labels.append(f"item {first}" if first == last else f"items {first}-{last}")
        first = last + 1
    return labels, unit


def draw_multiplicities(
    n_unit: int, n: int, *, rng: np.random.Generator | int | None = None
) -> Integers:
    """Return how often every unit occurs in every recomposed benchmark (P0, eq 36).

    Parameters
    ----------
    n_unit : int
    n : int
        Number of replicates.
    rng : Generator, int or None

    Returns
    -------
    (n, n_unit) int
        Rows sum to `n_unit`. One draw serves both halves.
    """
    rng = np.random.default_rng(rng)
    return rng.multinomial(n_unit, np.full(n_unit, 1 / n_unit), size=n).astype(np.int64)


def recomposed_reversals(
    values: NDArray[np.int8],
    subtest: Subtest,
    pairs: Pairs,
    *,
    unit: NDArray[np.intp],
    multiplicities: Integers,
    bands: Sequence[Fraction] = BANDS,
    progress: Callable[[int], None] | None = None,
) -> ReplicateCounts:
    r"""Return reversal counts of recomposed benchmarks in one target half.

    Parameters
    ----------
    values : (n_item, n_model) int8
        Complete answers of the target representatives.
    subtest : Subtest
        Anchors of the other half.
    pairs : Pairs
        Near ties are frozen from the observed full scores that it holds.
    unit : (n_item,) int
    multiplicities : (n_replicate, n_unit) int
    bands : sequence of Fraction, rising, proportion
    progress : callable, optional
        Called with the number of replicates done.

    Returns
    -------
    ReplicateCounts
        Pairs tied in a replicate, on either score, leave its denominator. A replicate that
        holds no anchor of this half has no anchor score: all its pairs leave.

    Notes
    -----
    Full and anchor scores are each divided by their own resampled mass (eq 37). The masses are
    the same for all models, so that the order of two models needs the numerators only.

    References
    ----------
    P0, eqs 36 and 37.
    """
    n_unit = multiplicities.shape[1]
    near, start = banded(pairs, bands)
    weight, tolerance = item_weights(subtest, mass=n_unit * len(values))
    full_by_unit = _by_unit(values, np.ones(len(values)), unit, n_unit)
    anchor_by_unit = _by_unit(values, weight * subtest.selected, unit, n_unit)
    group, size = item_groups(subtest)
    multiplier = group_multipliers(subtest)
    exact = subtest.denominator * n_unit * len(values) < EXACT_LIMIT
    chunks = []
    for first in range(0, len(multiplicities), CHUNK):
        chunk = multiplicities[first : first + CHUNK]

        def resolve(
            r: int, a: NDArray[np.intp], b: NDArray[np.intp], chunk: Integers = chunk
        ) -> NDArray[np.int8]:
            times = chunk[r][unit] * size * subtest.selected
            rows = np.flatnonzero(times)
            difference = values[rows][:, a].astype(np.int64) - values[rows][:, b]
            totals = np.zeros((len(multiplier), len(a)), dtype=np.int64)
            np.add.at(totals, group[rows], difference * times[rows, None])
            return exact_sign(totals.T, multiplier)

        counts = chunk.astype(np.float64)
        chunks.append(
            count_chunk(
                counts @ full_by_unit,
                counts @ anchor_by_unit,
                near,
                start,
                tolerance,
                None if exact else resolve,
            )
        )
        if progress is not None:
            progress(min(first + CHUNK, len(multiplicities)))
    return stack(chunks)


def _by_unit(
    values: NDArray[np.int8], weight: NDArray[np.float64], unit: NDArray[np.intp], n_unit: int
) -> NDArray[np.float64]:
    """Return the weighted number of right answers of every model in every unit."""
    indicator = np.zeros((n_unit, len(values)))
    indicator[unit, np.arange(len(values))] = weight
    return indicator @ values.astype(np.float64)
