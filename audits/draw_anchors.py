"""Anchors by the audit's rule from draws of item effects: draw by draw, of the mean, by inclusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from neartie.audits.anchors import Subtest, jaccard, select_anchors
from neartie.audits.settings import AuditSettings

type Floats = NDArray[np.float64]

PLUG_IN: Final = "plug-in"
DRAWS: Final = "draws"
MEAN: Final = "mean"
INCLUSION: Final = "inclusion"
ANCHORS: Final = (PLUG_IN, DRAWS, MEAN, INCLUSION)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class DrawAnchors:
    """The anchors that a rung chooses in one audit half.

    Attributes
    ----------
    plug_in : Subtest
        The audit's.
    draws : (n_draw, n_item) bool
        By the D of every draw.
    mean : (n_item,) bool
        By the D of the mean effects.
    inclusion : (n_item,) bool
        The items that are most often anchors of a draw.
    share : (n_item,) float in [0, 1], proportion
        Of the draws in which an item is an anchor.
    """

    plug_in: Subtest
    draws: NDArray[np.bool_]
    mean: NDArray[np.bool_]
    inclusion: NDArray[np.bool_]
    share: Floats

    def selected(self, kind: str, draw: int) -> NDArray[np.bool_]:
        """Return the items of one kind of anchors, for one draw."""
        if kind == DRAWS:
            return np.asarray(self.draws[draw % len(self.draws)])
        fixed = {PLUG_IN: self.plug_in.selected, MEAN: self.mean, INCLUSION: self.inclusion}
        return np.asarray(fixed[kind])

    def shares(self, kind: str) -> Floats:
        """Return how often every item is an anchor of one kind, (n_item,) in [0, 1]."""
        return self.share if kind == DRAWS else self.selected(kind, 0).astype(np.float64)


def choose_anchors(
    plug_in: Subtest,
    ranges: Floats,
    mean_range: Floats,
    *,
    constant: NDArray[np.bool_],
    settings: AuditSettings,
    index: NDArray[np.integer] | None = None,
) -> DrawAnchors:
    """Return the anchors that draws of D choose in the cells of the audit.

    Parameters
    ----------
    plug_in : Subtest
        The audit's anchors. Their cells serve all kinds, so that they differ by D alone, and
        weights and random subtests are the audit's.
    ranges : (n_draw, n_item) float, logit
        D of every draw.
    mean_range : (n_item,) float, logit
        D of the mean effects.
    constant : (n_item,) bool
        Items with equal answers in the half.
    settings : AuditSettings
        Whose `alpha` and `constant_items` hold.
    index : (n_item,) int, optional
        Original item index, which breaks ties.

    Returns
    -------
    DrawAnchors
        With the D of the plug-in in place of the draws all kinds are the audit's anchors.

    Notes
    -----
    `inclusion` keeps, in every cell, the items that are anchors in most draws; the D of the mean
    effects breaks ties.

    Examples
    --------
    >>> from neartie.audits.anchors import build_cells
    >>> cells = build_cells(["s"] * 4, np.zeros(4), strata=1)
    >>> audit = select_anchors(cells, np.array([0.1, 0.2, 0.3, 0.4]))
    >>> found = choose_anchors(
    ...     audit,
    ...     np.array([[0.3, 0.1, 0.2, 0.4], [0.1, 0.9, 0.2, 0.4]]),
    ...     np.array([0.2, 0.5, 0.2, 0.4]),
    ...     constant=np.zeros(4, bool),
    ...     settings=AuditSettings(),
    ... )
    >>> found.share, found.inclusion
    (array([0.5, 0.5, 1. , 0. ]), array([ True, False,  True, False]))
    """

    def by_rule(d: Floats) -> NDArray[np.bool_]:
        return select_anchors(
            plug_in.cells,
            d,
            alpha=settings.alphas[0],
            constant=constant,
            constant_items=settings.constant_items,
            index=index,
        ).selected

    draws = np.array([by_rule(d) for d in ranges])
    count = draws.sum(axis=0)
    # Whole numbers for the draws that leave an item out; below one for what breaks ties.
    place = stats.rankdata(mean_range, method="min") / (len(mean_range) + 1)
    return DrawAnchors(
        plug_in=plug_in,
        draws=draws,
        mean=by_rule(mean_range),
        inclusion=by_rule(len(draws) - count + place),
        share=count / len(draws),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement:
    """How far a rung's D and anchors agree with the plug-in's, in one half.

    Attributes
    ----------
    spearman_d : dict of kind to float
        Rank correlation of D over items; of `draws` the mean over draws.
    jaccard : dict of kind to float
        Overlap of the anchors; of `draws` the mean over draws.
    """

    spearman_d: dict[str, float]
    jaccard: dict[str, float]


def agree_with_plug_in(
    anchors: DrawAnchors, plug_in: Floats, ranges: Floats, mean_range: Floats
) -> Agreement:
    """Return how far D and anchors of a rung agree with those of the plug-in.

    Parameters
    ----------
    anchors : DrawAnchors
    plug_in : (n_item,) float, logit
        D of the audit.
    ranges, mean_range
        See `choose_anchors`.

    Returns
    -------
    Agreement
        NaN where D does not vary.
    """
    return Agreement(
        spearman_d={
            PLUG_IN: 1.0,
            DRAWS: float(np.mean([rank_correlation(d, plug_in) for d in ranges])),
            MEAN: rank_correlation(mean_range, plug_in),
            INCLUSION: -rank_correlation(anchors.share, plug_in),
        },
        jaccard={
            PLUG_IN: 1.0,
            DRAWS: float(np.mean([jaccard(s, anchors.plug_in.selected) for s in anchors.draws])),
            MEAN: jaccard(anchors.mean, anchors.plug_in.selected),
            INCLUSION: jaccard(anchors.inclusion, anchors.plug_in.selected),
        },
    )


def rank_correlation(first: Floats, second: Floats) -> float:
    """Return Spearman's correlation, or NaN where one side is constant."""
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(np.corrcoef(stats.rankdata(first), stats.rankdata(second))[0, 1])
