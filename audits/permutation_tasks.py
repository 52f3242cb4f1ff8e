"""Permutations of family labels as tasks, here or on the workers of a Dask client."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from neartie.audits.controls import score_subtests
from neartie.audits.permuted_families import LabelledHalf
from neartie.audits.replicates import ReplicateCounts, stack
from neartie.audits.targets import Target
from neartie.data.dask import Client

CHUNK: Final = 4


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PermutationTask:
    """What a worker needs for any permutation of one audit half.

    Attributes
    ----------
    labelled : LabelledHalf
        The half that chooses the anchors.
    target : Target
        The half that is scored, with its own pairs.
    bands : tuple of Fraction
    """

    labelled: LabelledHalf
    target: Target
    bands: tuple[Fraction, ...]


def score_permutations(
    task: PermutationTask, labels: Sequence[NDArray[np.str_]]
) -> ReplicateCounts:
    """Return the reversal counts under some permutations of the labels, one a replicate.

    Parameters
    ----------
    task : PermutationTask
    labels : sequence of (n_cell,) str

    Returns
    -------
    ReplicateCounts
    """
    parts = []
    for own in labels:
        subtest = task.labelled.purify(own)
        selected = subtest.selected[None, :]
        target = task.target
        parts.append(
            score_subtests(target.values, selected, subtest, target.pairs, bands=task.bands)
        )
    return stack(parts)


def spread_permutations(
    task: PermutationTask, labels: Sequence[NDArray[np.str_]], *, client: Client | None
) -> Iterator[ReplicateCounts]:
    """Yield the counts of all permutations in their order, a few at a time.

    Parameters
    ----------
    task : PermutationTask
    labels : sequence of (n_cell,) str
    client : Dask client or None
        Its workers get the half once, and a few permutations a task.

    Yields
    ------
    ReplicateCounts
    """
    chunks = [labels[first : first + CHUNK] for first in range(0, len(labels), CHUNK)]
    if client is None:
        for chunk in chunks:
            yield score_permutations(task, chunk)
        return
    sent = client.scatter(task, hash=False)
    futures = [client.submit(score_permutations, sent, chunk, pure=False) for chunk in chunks]
    for future in futures:
        yield future.result()
