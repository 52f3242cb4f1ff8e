"""What is kept of a rung once its draws are gone: rates of every draw, and pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neartie.audits.draw_reversals import Orders

type Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CellResult:
    """One rung, one kind of anchors, one kind of scores, pooled over both halves.

    Attributes
    ----------
    anchors, scores : str
    rate : (n_draw,) float, proportion
        Reversal rate of every draw; NaN without an eligible pair. One where nothing varies.
    random : (n_draw,) float, proportion
        Median rate of the matched-random subtests, scored as the draw is; empty for observed
        scores, of which the audit has it.
    above : (n_draw,) float, proportion
        Share of these subtests that reverse at least as much as the draw's anchors.
    reversal : (n_pair,) float, probability
        That a near tie reverses, given that it does not tie; NaN if it always ties. Pairs of half 0
        first.
    first_full, first_anchor : (n_pair,) float, probability
        That the first model is above the second on the full test, and on the anchors; a tie counts
        one half.
    """

    anchors: str
    scores: str
    rate: Floats
    random: Floats
    above: Floats
    reversal: Floats
    first_full: Floats
    first_anchor: Floats

    @property
    def varies(self) -> bool:
        """Whether there are draws, so that an interval can be given."""
        return len(self.rate) > 1


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RungResult:
    """Everything that a rung says.

    Attributes
    ----------
    name : str
    cells : tuple of CellResult
    spearman_d, jaccard : dict of anchors to float
        Agreement with the plug-in, mean of the halves.
    mean_range : (2, n_item) float, logit
        Of every half: D of the mean effects.
    chosen : dict of anchors to (2, n_item) float in [0, 1]
        Of every half: 1 for an anchor; of `draws` the share of draws in which an item is one.
    facts : (dict, dict)
        Of the fits of the halves.
    seconds : float
        Wall-clock time.
    """

    name: str
    cells: tuple[CellResult, ...]
    spearman_d: dict[str, float]
    jaccard: dict[str, float]
    mean_range: Floats
    chosen: dict[str, Floats]
    facts: tuple[dict[str, Any], dict[str, Any]]
    seconds: float

    def cell(self, anchors: str, scores: str) -> CellResult | None:
        """Return a cell, or None if the rung does not have it."""
        wanted = (anchors, scores)
        return next((c for c in self.cells if (c.anchors, c.scores) == wanted), None)


def pool_cell(anchors: str, scores: str, halves: tuple[Orders, Orders]) -> CellResult:
    """Return a cell from the orders of both target halves (P0, eqs 35 and 40).

    Parameters
    ----------
    anchors, scores : str
    halves : (Orders, Orders)
        With as many draws.

    Returns
    -------
    CellResult
    """
    product = np.hstack([orders.product for orders in halves])
    full = np.hstack([orders.full for orders in halves])
    anchor = np.hstack([orders.anchor for orders in halves])
    eligible = (product != 0).sum(axis=1)
    apart = (product != 0).sum(axis=0)
    rate = _share((product < 0).sum(axis=1), eligible)
    random = above = np.empty(0)
    first, second = halves[0].random, halves[1].random
    if first is not None and second is not None:
        rates = (first + second).rate
        defined = ~np.isnan(rates).all(axis=1)
        random = np.full(len(rates), np.nan)
        random[defined] = np.nanmedian(rates[defined], axis=1)
        # An undefined rate counts as at least the draw's, as in the audit.
        above = (~(rates < rate[:, None])).mean(axis=1)
    return CellResult(
        anchors=anchors,
        scores=scores,
        rate=rate,
        random=random,
        above=above,
        reversal=_share((product < 0).sum(axis=0), apart),
        first_full=(1.0 + full.mean(axis=0)) / 2,
        first_anchor=(1.0 + anchor.mean(axis=0)) / 2,
    )


def _share(part: NDArray[np.intp], whole: NDArray[np.intp]) -> Floats:
    share = np.full(len(whole), np.nan)
    np.divide(part, whole, out=share, where=whole > 0)
    return share
