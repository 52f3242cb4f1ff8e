"""What the rungs of a comparison should find on a simulated leaderboard, where truth is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from neartie.audits.anchors import Subtest
from neartie.audits.comparison_base import ComparisonBase
from neartie.audits.comparison_settings import ComparisonSettings
from neartie.audits.draw_anchors import DRAWS, PLUG_IN
from neartie.audits.draw_reversals import LATENT, OBSERVED, PREDICTIVE
from neartie.audits.half_draws import HalfDraws
from neartie.audits.rung_result import CellResult
from neartie.audits.rung_run import judge_draws, stream_seed
from neartie.audits.steps import silent
from neartie.data.truth import LeaderboardTruth

type Floats = NDArray[np.float64]

_TRUTH: Final = "truth"
# Far below any effect, far above rounding: it orders only what is equal.
_TIE: Final = 1e-9


@dataclass(frozen=True, kw_only=True, slots=True)
class Targets:
    """True values of what the cells of a ladder estimate.

    Attributes
    ----------
    rate : dict of (anchors, scores) to float, proportion
        Reversal rates.
    excess : dict of (anchors, scores) to float, proportion
        Over the median of matched-random subtests scored in the same way.
    """

    rate: dict[tuple[str, str], float]
    excess: dict[tuple[str, str], float]

    def of(self, anchors: str, scores: str) -> tuple[str, str]:
        """Return which target belongs to a cell.

        Examples
        --------
        >>> Targets(rate={}, excess={}).of("mean", "latent")
        ('draws', 'latent')
        """
        by_plug_in = anchors == PLUG_IN and scores != OBSERVED
        return (PLUG_IN if by_plug_in else DRAWS), scores


def true_targets(
    base: ComparisonBase, truth: LeaderboardTruth, settings: ComparisonSettings, *, seed: int
) -> Targets:
    """Return the true values that belong to the cells of a ladder.

    Parameters
    ----------
    base : ComparisonBase
        Of the simulated answers.
    truth : LeaderboardTruth
    settings : ComparisonSettings
        Whose number of draws and of random subtests hold.
    seed : int

    Returns
    -------
    Targets
        With observed scores: the rate of the observed answers under the anchors of the true D.
        With latent scores: that of the true expected scores, under the plug-in's anchors
        (`plug-in`) or under those of the true D (all others). With predictive scores: the mean
        rate of answers replicated from the truth, under the same anchors.

    Notes
    -----
    Where the true D of items is equal (0, of all that have no effect), which of them are anchors
    is decided at random, anew for every draw, and the rates are averaged: without any effects the
    target is the mean rate of random subtests. The functions are those that score a rung.
    """
    halves = [_true_draws(base, truth, half, settings, seed) for half in (0, 1)]
    rung = judge_draws(
        base, _TRUTH, halves, settings, seed=seed, kinds=(PLUG_IN, DRAWS), progress=silent
    )
    median = base.audit.band()["random_median"]
    observed = np.nan if median is None else median
    rate, excess = {}, {}
    for key in (
        (DRAWS, OBSERVED),
        (PLUG_IN, LATENT),
        (DRAWS, LATENT),
        (PLUG_IN, PREDICTIVE),
        (DRAWS, PREDICTIVE),
    ):
        cell = rung.cell(*key)
        if cell is not None:
            rate[key] = float(np.nanmean(cell.rate)) if _defined(cell.rate) else np.nan
            over = cell.rate - (observed if key[1] == OBSERVED else cell.random)
            excess[key] = float(np.nanmean(over)) if _defined(over) else np.nan
    return Targets(rate=rate, excess=excess)


def _defined(values: Floats) -> bool:
    return bool((~np.isnan(values)).any())


def _true_draws(
    base: ComparisonBase,
    truth: LeaderboardTruth,
    number: int,
    settings: ComparisonSettings,
    seed: int,
) -> HalfDraws:
    """Return the truth of a half as draws that differ in nothing but the order of equal D."""
    half = base.halves[number]
    row = {name: i for i, name in enumerate(truth.items)}
    column = {name: i for i, name in enumerate(truth.models)}
    rows = np.array([row[name] for name in half.responses.item_ids])
    models = np.array(half.responses.model_ids)[half.representatives]
    columns = np.array([column[name] for name in models.tolist()])
    predictor = truth.linear_predictor()[np.ix_(rows, columns)]
    families = [truth.families.index(name) for name in base.families]
    effects = truth.dif[rows][:, families]
    rng = np.random.default_rng(stream_seed(seed, _TRUTH, number))
    tie = _TIE * rng.random((settings.draws, len(rows)))
    drawn = np.repeat(effects[None], settings.draws, axis=0)
    # Added to the largest effect alone, so that D grows by it, whatever the other effects are.
    largest = np.argmax(effects, axis=1)
    drawn[:, np.arange(len(rows)), largest] += tie
    return HalfDraws(
        easiness=np.repeat(truth.easiness[rows][None], settings.draws, axis=0),
        effects=drawn,
        predictor=lambda s: predictor,
    )


def true_range(base: ComparisonBase, truth: LeaderboardTruth) -> Floats:
    """Return the true D of the items, in the audit's order.

    Returns
    -------
    (n_item,) float, logit
        Over the families of the audit.
    """
    row = {name: i for i, name in enumerate(truth.items)}
    rows = np.array([row[name] for name in base.halves[0].responses.item_ids])
    families = [truth.families.index(name) for name in base.families]
    return np.asarray(np.ptp(truth.dif[rows][:, families], axis=1))


def anchor_gain(anchors: Subtest, share: Floats, true: Floats) -> float:
    """Return how much of the avoidable DIF a choice of anchors avoids.

    Parameters
    ----------
    anchors : Subtest
        Whose cells and numbers hold.
    share : (n_item,) float in [0, 1]
        1 for a chosen item; of many choices how often each item is chosen.
    true : (n_item,) float, logit
        D.

    Returns
    -------
    float
        1 for the items with the least true D of every cell, 0 for a choice at random, negative for
        worse; NaN where all choices are equal. Items count by their weight.

    Examples
    --------
    >>> from neartie.audits.anchors import build_cells, select_anchors
    >>> true = np.array([0.0, 0.0, 1.0, 1.0])
    >>> best = select_anchors(build_cells(["s"] * 4, np.zeros(4), strata=1), true)
    >>> anchor_gain(best, best.selected.astype(float), true), anchor_gain(best, 0.75 - true / 2, true)
    (1.0, 0.5)
    """
    cells = anchors.cells
    weight = cells.size / anchors.kept
    best = chance = 0.0
    for cell, kept in enumerate(anchors.kept.tolist()):
        own = np.sort(true[(cells.code == cell) & anchors.pool])
        best += weight[cell] * own[:kept].sum()
        chance += weight[cell] * kept * own.mean()
    chosen = float((weight[cells.code] * share * true).sum())
    return float((chance - chosen) / (chance - best)) if chance - best > _TIE * 1e3 else np.nan


def target_of(targets: Targets, cell: CellResult) -> tuple[float, float]:
    """Return the true rate and the true excess of a cell."""
    key = targets.of(cell.anchors, cell.scores)
    return targets.rate[key], targets.excess[key]
