"""A rung's cells as rows: rates, differences, excess, agreement pair by pair, and a verdict."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.auc import area_under_curve
from neartie.audits.comparison_settings import ComparisonSettings
from neartie.audits.draw_reversals import OBSERVED
from neartie.audits.result import NearTieAudit
from neartie.audits.rung_result import CellResult, RungResult
from neartie.inference.mixing import mixing

type Floats = NDArray[np.float64]

#: Probability from which on a rung matches, and up to which it may differ.
SURE: Final = 0.95
UNLIKELY: Final = 0.05
MATCHES: Final = "matches"
DIFFERS: Final = "differs"
CANNOT_SAY: Final = "cannot say"
NO_INTERVAL: Final = "no interval"
BINS: Final = 10


def ladder_row(
    rung: RungResult,
    cell: CellResult,
    audit: NearTieAudit,
    settings: ComparisonSettings,
    verdicts: Floats,
) -> dict[str, Any]:
    """Return a cell's row of the ladder.

    Parameters
    ----------
    rung : RungResult
    cell : CellResult
        One of it.
    audit : NearTieAudit
        Gives the plug-in's rate and its matched-random rates.
    settings : ComparisonSettings
    verdicts : (n_pair,) float
        1 where the plug-in reverses a near tie, 0 where not, NaN where it ties.

    Returns
    -------
    dict
        NaN where something is not defined: intervals of what does not vary, among them.
    """
    plug_in = audit.band()["rate"]
    rate = _mean(cell.rate)
    difference = cell.rate - (math.nan if plug_in is None else plug_in)
    excess, p_value = _excess(cell, audit, settings)
    low, high = interval(cell.rate) if cell.varies else (math.nan, math.nan)
    difference_low, difference_high = interval(difference) if cell.varies else (math.nan, math.nan)
    excess_low, excess_high = interval(excess) if len(excess) > 1 else (math.nan, math.nan)
    within = _within(difference, settings.margin) if cell.varies else math.nan
    known = ~np.isnan(verdicts) & ~np.isnan(cell.reversal)
    row = {
        "rung": rung.name,
        "anchors": cell.anchors,
        "scores": cell.scores,
        "reversal_rate": rate,
        "low": low,
        "high": high,
        "difference": _mean(difference),
        "difference_low": difference_low,
        "difference_high": difference_high,
        settings.margin_name: within,
        "excess_pp": 100 * _mean(excess),
        "excess_low": 100 * excess_low,
        "excess_high": 100 * excess_high,
        "brier": _mean((cell.reversal[known] - verdicts[known]) ** 2),
        "auc": area_under_curve(cell.reversal, verdicts).auc,
        "spearman_d": rung.spearman_d[cell.anchors],
        "jaccard": rung.jaccard[cell.anchors],
        "seconds": rung.seconds,
        "p_value": p_value,
        "random_median": audit.band()["random_median"]
        if cell.scores == OBSERVED
        else _mean(cell.random),
        "n_draws": len(cell.rate),
        **_rate_mixing(rung, cell),
    }
    found = verdict(row, settings)
    # Draws of chains that do not agree judge nothing.
    apart = any(facts.get("converged") == "no" for facts in rung.facts)
    return row | {"verdict": CANNOT_SAY if apart and found != NO_INTERVAL else found}


def verdict(row: dict[str, Any], settings: ComparisonSettings) -> str:
    """Return whether a cell says what the plug-in says.

    Parameters
    ----------
    row : dict
        Of the ladder, with the differences from the plug-in.
    settings : ComparisonSettings
        Whose margin holds.

    Returns
    -------
    str
        `matches`: the difference is within the margin with a probability of at least .95.
        `differs`: its 95 % interval leaves out 0, and it is within the margin with a probability
        of at most .05. `no interval`: fixed anchors on observed answers, which nothing is uncertain
        of. `cannot say` otherwise, and wherever a fit did not converge.

    Examples
    --------
    >>> row = {"difference_low": -0.2, "difference_high": -0.1, "p_within_2pp": 0.0}
    >>> verdict(row, ComparisonSettings())
    'differs'
    """
    within = row[settings.margin_name]
    if math.isnan(within):
        return NO_INTERVAL
    if within >= SURE:
        return MATCHES
    apart = row["difference_low"] > 0 or row["difference_high"] < 0
    return DIFFERS if apart and within <= UNLIKELY else CANNOT_SAY


def interval(values: Floats) -> tuple[float, float]:
    """Return the 2.5th and 97.5th percentile of what is defined, or NaN."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return math.nan, math.nan
    low, high = np.quantile(defined, [0.025, 0.975])
    return float(low), float(high)


def _rate_mixing(rung: RungResult, cell: CellResult) -> dict[str, float]:
    """Return R-hat and effective sample size of the rate itself, where it comes from chains."""
    chains = {facts.get("chains") for facts in rung.facts}
    found = {"rate_r_hat": math.nan, "rate_ess_bulk": math.nan}
    if len(chains) > 1 or not cell.varies or np.isnan(cell.rate).any():
        return found
    n_chain = chains.pop() or 0
    if n_chain < 1 or len(cell.rate) % n_chain:
        return found
    said = mixing(cell.rate.reshape(1, n_chain, -1))
    return {"rate_r_hat": float(said.r_hat[0]), "rate_ess_bulk": float(said.ess_bulk[0])}


def _within(difference: Floats, margin: float) -> float:
    defined = difference[~np.isnan(difference)]
    return float((np.abs(defined) < margin).mean()) if len(defined) else math.nan


def _excess(
    cell: CellResult, audit: NearTieAudit, settings: ComparisonSettings
) -> tuple[Floats, float]:
    """Return the excess of every draw over matched-random subtests, and their p value.

    P0, eq 11: one more than the number of subtests that reverse at least as much, over one more
    than their number; the mean over draws.
    """
    if cell.scores != OBSERVED:
        n = settings.subtests
        return cell.rate - cell.random, _mean((1 + n * cell.above) / (n + 1))
    median = audit.band()["random_median"]
    if median is None:
        return np.full(len(cell.rate), math.nan), math.nan
    primary = audit.random_rates["epsilon"] == audit.primary_epsilon
    random = audit.random_rates.loc[primary, "rate"].to_numpy(dtype=float)
    # Undefined ones count as at least the observed rate, as in the audit.
    above = (~(random[:, None] < cell.rate)).sum(axis=0)
    return cell.rate - median, _mean((1 + above) / (len(random) + 1))


def calibration_rows(rung: RungResult, cell: CellResult, verdicts: Floats) -> list[dict[str, Any]]:
    """Return how often the plug-in reverses the pairs that a cell gives like probabilities.

    Parameters
    ----------
    rung, cell, verdicts
        As in `ladder_row`.

    Returns
    -------
    list of dict
        Ten equal bins, right-closed with 0 in the first; empty ones are left out.
    """
    known = ~np.isnan(verdicts) & ~np.isnan(cell.reversal)
    probability, reversed_ = cell.reversal[known], verdicts[known]
    number = np.clip(np.ceil(probability * BINS).astype(int) - 1, 0, BINS - 1)
    rows = []
    for b in np.unique(number):
        own = number == b
        rows.append(
            {
                "rung": rung.name,
                "anchors": cell.anchors,
                "scores": cell.scores,
                "bin_low": b / BINS,
                "bin_high": (b + 1) / BINS,
                "n_pairs": int(own.sum()),
                "mean_probability": _mean(probability[own]),
                "share_reversed": _mean(reversed_[own]),
            }
        )
    return rows


def pair_rows(pairs: pd.DataFrame, rung: RungResult, cell: CellResult) -> pd.DataFrame:
    """Return what a cell says of every near tie.

    Parameters
    ----------
    pairs : DataFrame
        `model_a`, `model_b`, `half`.
    rung, cell
        As in `ladder_row`.

    Returns
    -------
    DataFrame
        `rung`, `anchors`, `scores`, the columns of the pairs, `reversal`, `a_above_b_full`,
        `a_above_b_anchor` (probabilities).
    """
    table = pairs[["model_a", "model_b", "half"]].assign(
        reversal=cell.reversal,
        a_above_b_full=cell.first_full,
        a_above_b_anchor=cell.first_anchor,
    )
    table.insert(0, "rung", rung.name)
    table.insert(1, "anchors", cell.anchors)
    table.insert(2, "scores", cell.scores)
    return table


def _mean(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else math.nan
