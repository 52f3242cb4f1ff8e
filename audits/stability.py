"""Two robustness metrics of P1: consistency under resampling, and the anchor-versus-fresh gap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from neartie.data.errors import DataError

type Floats = NDArray[np.float64]

_Z: Final = float(special.ndtri(0.975))


@dataclass(frozen=True, kw_only=True, slots=True)
class Consistency:
    """How far repeated answers to the same items agree.

    Attributes
    ----------
    n_items : int
        Items with an extracted answer.
    n_samples : int
        Extracted answers to them.
    n_blank : int
        Samples without an extracted answer, which count nowhere.
    n_single : int
        Items with one extracted answer, which agrees with itself.
    value : float in (0, 1], proportion
        Mean share of the commonest answer; NaN without items.
    """

    n_items: int
    n_samples: int
    n_blank: int
    n_single: int
    value: float


@dataclass(frozen=True, kw_only=True, slots=True)
class ContaminationGap:
    """Accuracy on anchor items less that on fresh ones.

    Attributes
    ----------
    n_anchor, n_fresh : int
        Scored answers of either kind.
    anchor, fresh : float, proportion
        Accuracies; NaN without answers.
    gap : float, proportion
        NaN where one is missing.
    low, high : float, proportion
        Its 95 % interval (Newcombe's, from the Wilson limits of both accuracies).
    resistance : float in [0, 1]
        1 without advantage on anchors, 0 from the limit on.
    """

    n_anchor: int
    n_fresh: int
    anchor: float
    fresh: float
    gap: float
    low: float
    high: float
    resistance: float


def consistency(samples: Iterable[Sequence[str | None]]) -> Consistency:
    """Return the mean share of samples that agree with the modal answer.

    Parameters
    ----------
    samples : iterable of sequences of str or None
        The repeated answers of one model, item by item; None or blank where no answer could be
        extracted.

    Returns
    -------
    Consistency

    Notes
    -----
    The scored answer itself is none of the samples. Items without any extracted answer are left
    out, and a blank is no answer of its own: two blanks do not agree.

    References
    ----------
    P1, "Consistency".

    Examples
    --------
    >>> round(consistency([["7", "7", "8", None], ["3", "3"]]).value, 4)
    0.8333
    """
    share, n_samples, n_blank, n_single = [], 0, 0, 0
    for given in samples:
        answers = [answer for answer in given if answer is not None and answer.strip()]
        n_blank += len(given) - len(answers)
        if answers:
            share.append(max(Counter(answers).values()) / len(answers))
            n_samples += len(answers)
            n_single += len(answers) == 1
    return Consistency(
        n_items=len(share),
        n_samples=n_samples,
        n_blank=n_blank,
        n_single=n_single,
        value=float(np.mean(share)) if share else np.nan,
    )


def modal_shares(samples: pd.DataFrame) -> pd.DataFrame:
    """Return the share of the commonest answer, item by item, for many models at once.

    Parameters
    ----------
    samples : DataFrame
        `domain`, `model`, `item`, `answer` (text; blank where none was extracted).

    Returns
    -------
    DataFrame
        `domain`, `model`, `item` in plain order; `n` extracted answers, at least 1; `share`.

    Examples
    --------
    >>> modal_shares(pd.DataFrame({"domain": "d", "model": "m", "item": "q",
    ...                            "answer": ["7", "7", "8", ""]}))[["n", "share"]].round(3)
       n  share
    0  3  0.667
    """
    keys = ["domain", "model", "item"]
    extracted = samples[samples["answer"].str.strip() != ""]
    counts = extracted.groupby([*keys, "answer"], sort=True).size()
    by_item = counts.groupby(level=keys)
    table = pd.DataFrame({"n": by_item.sum(), "most": by_item.max()}).reset_index()
    table["share"] = table["most"] / table["n"]
    return table[[*keys, "n", "share"]]


def contamination_gap(
    correct: ArrayLike, anchor: ArrayLike, *, gap_limit: float = 0.2
) -> ContaminationGap:
    r"""Return how much better a model does on anchor items than on fresh ones.

    Parameters
    ----------
    correct : (n_answer,) float
        1 right, 0 wrong, NaN where not scored.
    anchor : (n_answer,) float
        1 for an item of the frozen stream, 0 for a fresh one, NaN where not known.
    gap_limit : float in (0, 1], proportion
        Gap at which resistance is zero.

    Returns
    -------
    ContaminationGap

    Raises
    ------
    DataError
        If the lists differ in length.

    Notes
    -----
    :math:`R = \min(1, \max(0, 1 - \Delta / 0.2))`. With a dozen anchors the standard error of the
    gap is about .15, three quarters of the way from full credit to none, so that the interval
    should be read with R.

    References
    ----------
    P1, equation `eq:contam`. Newcombe (1998), Statistics in Medicine 17, 873-890, method 10.

    Examples
    --------
    >>> found = contamination_gap([1, 1, 1, 0, 1, 0, 1, 1], [1, 1, 1, 1, 0, 0, 0, 0])
    >>> found.gap, found.resistance
    (0.0, 1.0)
    """
    x, a = np.asarray(correct, dtype=np.float64), np.asarray(anchor, dtype=np.float64)
    if x.shape != a.shape or x.ndim != 1:
        raise DataError(f"scores and anchors must be of one length, got {x.shape} and {a.shape}")
    scored = ~np.isnan(x)
    old, new = x[scored & (a == 1)], x[scored & (a == 0)]
    rates = [float(side.mean()) if len(side) else np.nan for side in (old, new)]
    gap = rates[0] - rates[1]
    low = high = np.nan
    if len(old) and len(new):
        (l1, u1), (l2, u2) = (
            _wilson(rate, len(side)) for rate, side in zip(rates, (old, new), strict=True)
        )
        low = gap - float(np.hypot(rates[0] - l1, u2 - rates[1]))
        high = gap + float(np.hypot(u1 - rates[0], rates[1] - l2))
    return ContaminationGap(
        n_anchor=len(old),
        n_fresh=len(new),
        anchor=rates[0],
        fresh=rates[1],
        gap=gap,
        low=low,
        high=high,
        resistance=float(resistance(np.array(gap), gap_limit=gap_limit)),
    )


def _wilson(rate: float, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % limits of a proportion; SciPy's are the same, at a hundred times the cost."""
    centre = (rate + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * np.sqrt(rate * (1 - rate) / n + _Z**2 / (4 * n**2))
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))


def resistance(gap: Floats, *, gap_limit: float = 0.2) -> Floats:
    """Return 1 where there is no advantage on anchors, falling to 0 at the limit.

    Examples
    --------
    >>> resistance(np.array([-0.1, 0.05, 0.2, 0.3, np.nan]))
    array([1.  , 0.75, 0.  , 0.  ,  nan])
    """
    return np.clip(1 - gap / gap_limit, 0.0, 1.0)
