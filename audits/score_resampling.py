"""How much a domain's composite would move with other items: its terms resampled together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neartie.audits.confidence import confidence_bins
from neartie.audits.scorecard_settings import ScoreSettings
from neartie.audits.stability import resistance

type Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ItemTerms:
    """What one model's terms in one domain rest on, item by item.

    Attributes
    ----------
    correct, confidence, anchor, share, influence : (n_item,) float
        Score, confidence, 1 for an anchor and 0 for a fresh item, share of the modal answer, and
        by how much the answer moved the ability (logit); NaN where there is none.
    """

    correct: Floats
    confidence: Floats
    anchor: Floats
    share: Floats
    influence: Floats


def spread_of_terms(
    terms: ItemTerms, settings: ScoreSettings, rng: np.random.Generator
) -> tuple[float, float]:
    r"""Return the variance of the terms beside accuracy, and their covariance with ability.

    Parameters
    ----------
    terms : ItemTerms
    settings : ScoreSettings
        For the weights, the bins and the number of resamples.
    rng : Generator

    Returns
    -------
    variance : float
        Of :math:`\sum w t` over consistency, calibration and resistance as far as measured, not
        divided by the weights.
    covariance : float, logit
        Of the same with the ability, items known, to first order.

    Notes
    -----
    Items are resampled with replacement, anchors and others apart. The calibration error of a
    resample is larger than that of the sample; only its spread is used.

    Examples
    --------
    >>> n = 200
    >>> right = np.tile([1.0, 0.0], n // 2)
    >>> none = np.full(n, np.nan)
    >>> terms = ItemTerms(correct=right, confidence=none, anchor=none, share=right * 0.5 + 0.5,
    ...                   influence=none)
    >>> settings = ScoreSettings(n_resamples=5000)
    >>> variance, covariance = spread_of_terms(terms, settings, np.random.default_rng(1))
    >>> round(variance / (0.15**2 * 0.25**2 / n), 1), covariance
    (1.0, 0.0)
    """
    counts = _resamples(terms.anchor, settings.n_resamples, rng)
    weights = settings.weights
    total = np.zeros(settings.n_resamples)
    if not np.isnan(terms.share).all():
        total += weights["consistency"] * _mean(counts, terms.share)
    scored = ~np.isnan(terms.correct)
    stated = scored & ~np.isnan(terms.confidence)
    if stated.any():
        total -= weights["calibration"] * _ece(counts[:, stated], terms, stated, settings)
    old, new = (scored & (terms.anchor == kind) for kind in (1, 0))
    if old.any() and new.any():
        gap = _mean(counts[:, old], terms.correct[old]) - _mean(counts[:, new], terms.correct[new])
        total += weights["resistance"] * resistance(gap, gap_limit=settings.gap_limit)
    moved = (counts - 1) @ np.nan_to_num(terms.influence)
    cross = np.cov(total, moved)
    return float(cross[0, 0]), float(cross[0, 1])


def _resamples(anchor: Floats, n: int, rng: np.random.Generator) -> Floats:
    counts = np.zeros((n, len(anchor)))
    is_anchor = anchor == 1
    for stratum in (np.flatnonzero(is_anchor), np.flatnonzero(~is_anchor)):
        if len(stratum):
            drawn = rng.multinomial(len(stratum), np.full(len(stratum), 1 / len(stratum)), size=n)
            counts[:, stratum] = drawn
    return counts


def _mean(counts: Floats, values: Floats) -> Floats:
    """Return the mean of what is not missing in every resample, that of all where none is."""
    known = ~np.isnan(values)
    n = counts[:, known].sum(axis=1)
    total = counts[:, known] @ values[known]
    mean: Floats = np.divide(total, n, out=np.full(len(counts), values[known].mean()), where=n > 0)
    return mean


def _ece(
    counts: Floats, terms: ItemTerms, stated: NDArray[np.bool_], settings: ScoreSettings
) -> Floats:
    c = terms.confidence[stated]
    code = confidence_bins(
        c, n_bins=settings.n_bins, closed=settings.closed, binning=settings.binning
    )
    excess = np.zeros((len(c), settings.n_bins))
    excess[np.arange(len(c)), code] = terms.correct[stated] - c
    n = np.maximum(counts.sum(axis=1), 1)
    error: Floats = np.abs(counts @ excess).sum(axis=1) / n
    return error
