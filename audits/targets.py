"""Representatives of one half scored with the anchors of the other (P0, 3.3 and 3.4)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from neartie.audits.population import Population
from neartie.audits.purification import Purification
from neartie.audits.ranking import (
    Pairs,
    ReversalCount,
    anchor_signs,
    count_reversals,
    cross_family_pairs,
    kendall_tau_b,
)
from neartie.audits.scoring import ModelScores, score_models


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Target:
    """One target half scored with the anchors of the other.

    Attributes
    ----------
    half : int
        The half of the scored representatives.
    positions : (n,) int
        Rows of the population table.
    values : (n_item, n) int8
    scores : ModelScores
    pairs : Pairs
    signs : (n_pair,) int8
        Exact sign of every pair's anchor gap.
    """

    half: int
    positions: NDArray[np.intp]
    values: NDArray[np.int8]
    scores: ModelScores
    pairs: Pairs
    signs: NDArray[np.int8]

    @property
    def tau_b(self) -> float | None:
        """Rank agreement of full and anchor scores over all representatives of the half."""
        return kendall_tau_b(self.scores.full, self.scores.anchor_level)


def score_target(population: Population, half: int, purified: Purification) -> Target:
    """Return the representatives of a half scored with anchors from the other half.

    Parameters
    ----------
    population : Population
    half : int
        Target half.
    purified : Purification
        Of the other half.

    Returns
    -------
    Target
    """
    positions = population.half(half, representatives=True)
    table = population.table.iloc[positions]
    values = np.ascontiguousarray(population.responses.values[:, positions]).astype(np.int8)
    scores = score_models(values, purified.subtest)
    pairs = cross_family_pairs(
        scores.full, owner=table["owner"], family=table["family"], n_items=len(values)
    )
    return Target(
        half=half,
        positions=positions,
        values=values,
        scores=scores,
        pairs=pairs,
        signs=anchor_signs(pairs, scores),
    )


def pooled(targets: list[Target], epsilon: float | str | Fraction | None = None) -> ReversalCount:
    """Return the reversal count of a band, pooled over both targets (P0, eq 40)."""
    first, second = (count_reversals(t.pairs, t.signs, epsilon=epsilon) for t in targets)
    return first + second


def mean_tau_b(targets: list[Target]) -> float | None:
    """Return the mean of the halves' rank agreements, or None if one is undefined."""
    values = [target.tau_b for target in targets]
    return None if None in values else float(np.mean([v for v in values if v is not None]))
