"""Calibration of stated confidences: bins, expected calibration error, Brier score (P1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from neartie.data.errors import DataError

type Floats = NDArray[np.float64]

_CLOSED: Final = ("right", "left")
_BINNING: Final = ("width", "mass")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ConfidenceCalibration:
    """How far stated confidences agree with the share of right answers.

    Attributes
    ----------
    n : int
        Answers with a score and a confidence; no others count.
    ece : float, proportion
        Expected calibration error; NaN without such answers.
    max_error : float, proportion
        Largest error of a bin with answers.
    brier : float
        Mean squared distance of confidence and score.
    overconfidence : float, proportion
        Mean confidence minus accuracy.
    bins : DataFrame, n_bins rows
        `bin`, `low`, `high` (edges; of equal-mass bins the smallest and the largest confidence),
        `n`, `accuracy`, `confidence` (means; missing for an empty bin), `error`.
    closed, binning : str
        Settings.
    """

    n: int
    ece: float
    max_error: float
    brier: float
    overconfidence: float
    bins: pd.DataFrame
    closed: str
    binning: str


def calibrate_confidence(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    n_bins: int = 10,
    closed: str = "right",
    binning: str = "width",
) -> ConfidenceCalibration:
    r"""Return calibration errors of confidences and the bins that they rest on.

    Parameters
    ----------
    confidence : (n_answer,) float in [0, 1], probability
        NaN where none was given: missing, not one half.
    correct : (n_answer,) float
        1 right, 0 wrong, NaN where not scored.
    n_bins : int
    closed : {'right', 'left'}
        Of bins of equal width: (lo, hi] with 0 in the first, or [lo, hi) with 1 in the last.
    binning : {'width', 'mass'}
        Equal widths, or about equally many answers in each bin.

    Returns
    -------
    ConfidenceCalibration

    Raises
    ------
    DataError
        If the two differ in length, a confidence lies outside [0, 1] or a score is not 0 or 1.
    ValueError
        If an option is out of range.

    Notes
    -----
    :math:`\mathrm{ECE} = \sum_b \frac{|B_b|}{N} |\mathrm{acc}(B_b) - \overline{\mathrm{conf}}(B_b)|`.
    Edges are the fractions k / n_bins themselves, not sums of steps, so that .3 and 30 % lie on
    one. Of few answers the error is above zero even for a perfectly calibrated model: see
    `expected_error_if_calibrated`.

    References
    ----------
    P1, "Calibration". Guo, Pleiss, Sun and Weinberger (2017), On calibration of modern neural
    networks, ICML. Brier (1950), Monthly Weather Review 78, 1-3.

    Examples
    --------
    >>> found = calibrate_confidence([0.9] * 20, [1] * 12 + [0] * 8)
    >>> round(found.ece, 4), round(found.brier, 4), int(found.bins["n"].sum())
    (0.3, 0.33, 20)
    """
    c, x = _answers(confidence, correct)
    # Sums in an order that the rows' does not change, not even in the last digit.
    order = np.lexsort((x, c))
    c, x = c[order], x[order]
    code = confidence_bins(c, n_bins=n_bins, closed=closed, binning=binning)
    n = np.bincount(code, minlength=n_bins)
    empty = n == 0
    mean_x, mean_c = (
        np.divide(
            np.bincount(code, weights=side, minlength=n_bins),
            n,
            out=np.full(n_bins, np.nan),
            where=~empty,
        )
        for side in (x, c)
    )
    error = np.abs(mean_x - mean_c)
    low, high = np.arange(n_bins) / n_bins, np.arange(1, n_bins + 1) / n_bins
    if binning == "mass":
        low, high = np.full(n_bins, np.nan), np.full(n_bins, np.nan)
        for b in np.flatnonzero(~empty):
            low[b], high[b] = c[code == b].min(), c[code == b].max()
    bins = pd.DataFrame(
        {
            "bin": np.arange(1, n_bins + 1),
            "low": low,
            "high": high,
            "n": n,
            "accuracy": mean_x,
            "confidence": mean_c,
            "error": error,
        }
    )
    total = len(c)
    return ConfidenceCalibration(
        n=total,
        ece=float(n[~empty] @ error[~empty] / total) if total else np.nan,
        max_error=float(error[~empty].max()) if total else np.nan,
        brier=float(np.mean((c - x) ** 2)) if total else np.nan,
        overconfidence=float(c.mean() - x.mean()) if total else np.nan,
        bins=bins,
        closed=closed,
        binning=binning,
    )


def confidence_bins(
    confidence: Floats, *, n_bins: int, closed: str = "right", binning: str = "width"
) -> NDArray[np.intp]:
    """Return the bin of each confidence, from 0.

    Parameters
    ----------
    confidence : (n_answer,) float in [0, 1]
        Without missing ones.
    n_bins, closed, binning
        As in `calibrate_confidence`.

    Returns
    -------
    (n_answer,) int
        With equal masses, equal confidences share the bin in which the middle of them falls, so
        that bins do not depend on the order of answers, and some may be empty.

    Raises
    ------
    ValueError
        If an option is out of range.

    Examples
    --------
    >>> confidence_bins(np.array([0.0, 0.1, 0.3, 1.0]), n_bins=10)
    array([0, 0, 2, 9])
    >>> confidence_bins(np.array([0.0, 0.1, 0.3, 1.0]), n_bins=10, closed="left")
    array([0, 1, 3, 9])
    """
    if closed not in _CLOSED or binning not in _BINNING:
        raise ValueError(
            f"closed must be one of {', '.join(_CLOSED)} and binning one of {', '.join(_BINNING)}, "
            f"got {closed!r} and {binning!r}"
        )
    if n_bins < 1:
        raise ValueError(f"n_bins must be at least 1, got {n_bins}")
    if binning == "mass":
        ordered = np.sort(confidence)
        first = np.searchsorted(ordered, confidence, side="left")
        last = np.searchsorted(ordered, confidence, side="right")
        # twice the middle rank, from 1 to 2 n - 1: whole numbers, so that no edge is rounded
        return (first + last) * n_bins // max(2 * len(confidence), 1)
    inner = np.arange(1, n_bins) / n_bins
    return np.searchsorted(inner, confidence, side="left" if closed == "right" else "right")


def expected_error_if_calibrated(
    confidence: ArrayLike,
    *,
    n_bins: int = 10,
    closed: str = "right",
    binning: str = "width",
    n_draws: int = 400,
    rng: np.random.Generator | int | None = None,
) -> float:
    """Return the ECE that perfectly calibrated answers with these confidences have on average.

    Parameters
    ----------
    confidence : (n_answer,) float in [0, 1], probability
        NaN is left out.
    n_bins, closed, binning
        As in `calibrate_confidence`.
    n_draws : int
    rng : Generator or int, optional

    Returns
    -------
    float, proportion
        NaN without a confidence. The order of answers changes nothing.

    Notes
    -----
    Right answers are drawn with the stated confidence as their probability. An ECE near this
    number is what calibration would look like with so few answers.

    Examples
    --------
    >>> round(expected_error_if_calibrated([0.5] * 50, rng=0), 3)
    0.058
    """
    c = np.asarray(confidence, dtype=np.float64)
    c = np.sort(c[~np.isnan(c)])
    if not len(c):
        return float("nan")
    rng = np.random.default_rng(rng)
    code = confidence_bins(c, n_bins=n_bins, closed=closed, binning=binning)
    member = np.zeros((len(c), n_bins))
    member[np.arange(len(c)), code] = 1
    excess = (rng.random((n_draws, len(c))) < c) - c
    return float(np.abs(excess @ member).sum(axis=1).mean() / len(c))


def _answers(confidence: ArrayLike, correct: ArrayLike) -> tuple[Floats, Floats]:
    c = np.asarray(confidence, dtype=np.float64)
    x = np.asarray(correct, dtype=np.float64)
    if c.shape != x.shape or c.ndim != 1:
        raise DataError(
            f"confidences and scores must be two lists of one length, got {c.shape} and {x.shape}"
        )
    wrong = np.flatnonzero(~np.isnan(c) & ~((c >= 0) & (c <= 1)))
    if len(wrong):
        raise DataError(
            f"confidence {wrong[0] + 1} is {c[wrong[0]]:g}, which is not between 0 and 1"
        )
    strange = np.flatnonzero(~np.isnan(x) & (x != 0) & (x != 1))
    if len(strange):
        raise DataError(f"score {strange[0] + 1} is {x[strange[0]]:g}, which is neither 0 nor 1")
    both = ~np.isnan(c) & ~np.isnan(x)
    return c[both], x[both]
