"""Orders of frozen near ties under draws: observed, latent and replicated scores (P0, 3.4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from threadpoolctl import threadpool_limits

from neartie.audits.anchors import Subtest
from neartie.audits.comparison_base import ComparisonHalf
from neartie.audits.draw_anchors import ANCHORS, DRAWS, DrawAnchors
from neartie.audits.half_draws import HalfDraws
from neartie.audits.ranking import Pairs, anchor_signs
from neartie.audits.replicates import ReplicateCounts, stack
from neartie.audits.scoring import item_weights, score_models

type Floats = NDArray[np.float64]
type Signs = NDArray[np.int8]

OBSERVED: Final = "observed"
LATENT: Final = "latent"
PREDICTIVE: Final = "predictive"
SCORES: Final = (OBSERVED, LATENT, PREDICTIVE)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Orders:
    """Orders of the near ties of one target half under the draws of a cell.

    Attributes
    ----------
    full, anchor : (n_draw, n_pair) int8 in {-1, 0, 1}
        Sign of the first model's score minus the second's; one row where nothing varies.
    random : ReplicateCounts or None
        Reversals of matched-random subtests scored in the same way, (n_draw, n_subtest); None for
        observed scores, of which the audit has them.
    """

    full: Signs
    anchor: Signs
    random: ReplicateCounts | None = None

    @property
    def product(self) -> Signs:
        """-1 for a reversal, 1 for the same order, 0 for a tie, (n_draw, n_pair) int8."""
        return np.asarray(self.full * self.anchor, dtype=np.int8)


def order_draws(
    half: ComparisonHalf,
    draws: HalfDraws,
    anchors: DrawAnchors,
    selections: NDArray[np.bool_],
    *,
    kinds: Sequence[str] = ANCHORS,
    scores: Sequence[str] = SCORES,
    n: int,
    rng: np.random.Generator,
    progress: Callable[[int], None] | None = None,
) -> dict[tuple[str, str], Orders]:
    """Return the orders of a target half under draws of a rung, anchors by scores.

    Parameters
    ----------
    half : ComparisonHalf
        The target.
    draws : HalfDraws
        Of the target half.
    anchors : DrawAnchors
        Of the other half.
    selections : (n_subtest, n_item) bool
        Random subtests that match the anchors; see `draw_subtests`.
    kinds, scores : sequence of str
        Which cells.
    n : int
        Draws of latent and replicated scores.
    rng : Generator
        For replicated answers.
    progress : callable, optional
        Called with the number of draws done.

    Returns
    -------
    dict of (kind, scores) to Orders
        Draw s of anchors meets draw s of scores. They come from different halves, so that any
        pairing is as good.
    """
    scorer = _Scorer.prepare(half, anchors, selections)
    found = {
        (kind, OBSERVED): _observed(half, anchors, kind, scorer)
        for kind in kinds
        if OBSERVED in scores
    }
    wanted = [score for score in scores if score != OBSERVED]
    varies = draws.n_draw > 1 or len(anchors.draws) > 1
    rows: dict[tuple[str, str], list[tuple[Signs, Signs]]] = {
        (kind, score): [] for kind in kinds for score in wanted
    }
    random: dict[str, list[ReplicateCounts]] = {score: [] for score in wanted}
    # Many small products: a second BLAS thread would only wait for the first.
    with threadpool_limits(limits=1, user_api="blas"):
        steps = 0 if not wanted else 1 if wanted == [LATENT] and not varies else n
        for s in range(steps):
            chance = expit(draws.predictor(s % draws.n_draw))
            chosen = np.array([anchors.selected(kind, s) for kind in kinds])
            if LATENT in wanted and (varies or not s):
                signs, counts = scorer.latent(chance, chosen)
                _keep(rows, random, LATENT, kinds, signs, counts)
            if PREDICTIVE in wanted:
                answers = (rng.random(chance.shape) < chance).astype(np.int8)
                signs, counts = scorer.replicated(answers, chosen)
                _keep(rows, random, PREDICTIVE, kinds, signs, counts)
            if progress is not None:
                progress(s + 1)
    for (kind, score), pairs in rows.items():
        found[kind, score] = Orders(
            full=np.array([full for full, _ in pairs], dtype=np.int8),
            anchor=np.array([anchor for _, anchor in pairs], dtype=np.int8),
            random=stack(random[score]),
        )
    return found


def _keep(
    rows: dict[tuple[str, str], list[tuple[Signs, Signs]]],
    random: dict[str, list[ReplicateCounts]],
    score: str,
    kinds: Sequence[str],
    signs: tuple[Signs, Signs],
    counts: ReplicateCounts,
) -> None:
    full, anchor = signs
    for kind, own in zip(kinds, anchor, strict=True):
        rows[kind, score].append((full, own))
    random[score].append(counts)


def _observed(half: ComparisonHalf, anchors: DrawAnchors, kind: str, scorer: _Scorer) -> Orders:
    """Return the exact orders of observed full and anchor scores."""
    chosen = anchors.draws if kind == DRAWS else anchors.selected(kind, 0)[None]
    signs = scorer.exact_signs(half.target.values, chosen)
    full = np.sign(half.near.gap).astype(np.int8)
    return Orders(full=np.tile(full, (len(signs), 1)), anchor=signs)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Scorer:
    """What all draws share."""

    near: Pairs
    subtest: Subtest
    selections: NDArray[np.bool_]
    weight: Floats
    random: Floats
    exact: bool

    @classmethod
    def prepare(
        cls, half: ComparisonHalf, anchors: DrawAnchors, selections: NDArray[np.bool_]
    ) -> _Scorer:
        weight, tolerance = item_weights(anchors.plug_in, mass=half.near.n_items)
        return cls(
            near=half.near,
            subtest=anchors.plug_in,
            selections=selections,
            weight=weight,
            random=selections * weight,
            # whole numbers within half of each other are equal
            exact=tolerance == 0.5,
        )

    def latent(
        self, chance: Floats, chosen: NDArray[np.bool_]
    ) -> tuple[tuple[Signs, Signs], ReplicateCounts]:
        """Return orders of expected scores under the chosen items, and reversals of random ones."""
        full = self._signs(chance.sum(axis=0)[None])[0]
        score = np.vstack([chosen * self.weight, self.random]) @ chance
        return self._split(full, self._signs(score), len(chosen))

    def replicated(
        self, answers: NDArray[np.int8], chosen: NDArray[np.bool_]
    ) -> tuple[tuple[Signs, Signs], ReplicateCounts]:
        """Return the same of replicated answers, ties decided exactly."""
        full = self._signs(answers.sum(axis=0, dtype=np.int64)[None])[0]
        signs = self.exact_signs(answers, np.vstack([chosen, self.selections]))
        return self._split(full, signs, len(chosen))

    def exact_signs(self, answers: NDArray[np.int8], chosen: NDArray[np.bool_]) -> Signs:
        """Return the signs of anchor gaps of answers under chosen items, (n_row, n_pair)."""
        if self.exact:
            return self._signs(np.rint((chosen * self.weight) @ answers.astype(np.float64)))
        rows = [
            anchor_signs(self.near, score_models(answers, replace(self.subtest, selected=own)))
            for own in chosen
        ]
        return np.array(rows, dtype=np.int8)

    def _split(
        self, full: Signs, signs: Signs, n_chosen: int
    ) -> tuple[tuple[Signs, Signs], ReplicateCounts]:
        """Return the chosen items' orders, and how often those of random subtests are reversed."""
        product = signs[n_chosen:] * full
        counts = ReplicateCounts(
            n_eligible=(product != 0).sum(axis=1)[None],
            n_reversed=(product < 0).sum(axis=1)[None],
        )
        return (full, signs[:n_chosen]), counts

    def _signs(self, score: NDArray[np.number]) -> Signs:
        """Return the signs of the pairs' differences, (n_row, n_pair)."""
        first, second = self.near.first, self.near.second
        return np.sign(score[:, first] - score[:, second]).astype(np.int8)
