r"""Densities of paired comparisons: Bradley–Terry, and Davidson's and Rao and Kupper's ties.

Throughout :math:`\delta` is the log strength of the first model minus that of the second, plus the
first-shown effect where there is one. Ties are one of

- `half`: no outcome of their own, but half a win for either side;
- `davidson`: probabilities in the ratio :math:`e^{\delta/2} : e^{-\delta/2} : e^{\tau}` for a win
  of the first, of the second, and a tie;
- `rao-kupper`: the first wins with probability :math:`\sigma(\delta - \tau)`, the second with
  :math:`\sigma(-\delta - \tau)`, :math:`\tau > 0`.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_expit

type Floats = NDArray[np.float64]
type TieModel = Literal["half", "davidson", "rao-kupper"]

TIE_MODELS: tuple[str, ...] = get_args(TieModel.__value__)


class Terms(NamedTuple):
    """Log-likelihood of battles between pairs of models, with first and second derivatives.

    Attributes
    ----------
    value : (n_pair,) float, nat
    by_logit, by_tie : (n_pair,) float
        Derivatives with respect to :math:`\\delta` and :math:`\\tau`.
    info_logit, info_tie, info_cross : (n_pair,) float
        Minus the second derivatives: twice in :math:`\\delta`, twice in :math:`\\tau`, once in
        each.
    """

    value: Floats
    by_logit: Floats
    by_tie: Floats
    info_logit: Floats
    info_tie: Floats
    info_cross: Floats


def outcome_log_probabilities(
    logit: ArrayLike, tie: float = 0.0, *, ties: TieModel = "half"
) -> tuple[Floats, Floats, Floats]:
    r"""Return the log probabilities that the first wins, that the second does, and of a tie.

    Parameters
    ----------
    logit : array of float, logit
        :math:`\delta`.
    tie : float
        :math:`\tau`. For `davidson` the log of the paper's :math:`\nu`, for `rao-kupper` that of
        its :math:`\theta`, which is positive; without meaning for `half`.
    ties : {'half', 'davidson', 'rao-kupper'}
        The model.

    Returns
    -------
    first, second, tied : array of float, nat
        Like `logit`. For `half`, what a tie contributes to the likelihood: the mean of the other
        two, which is no probability.

    References
    ----------
    Bradley and Terry (1952), Biometrika 39, 324-345. doi:10.2307/2334029
    Davidson (1970), Journal of the American Statistical Association 65, 317-328.
    doi:10.1080/01621459.1970.10481082
    Rao and Kupper (1967), Journal of the American Statistical Association 62, 194-204.
    doi:10.1080/01621459.1967.10482901

    Examples
    --------
    >>> first, second, tied = outcome_log_probabilities(0.0, 0.0, ties="davidson")
    >>> np.exp([first, second, tied]).round(4)
    array([0.3333, 0.3333, 0.3333])
    """
    delta = np.asarray(logit, dtype=np.float64)
    if ties == "half":
        first, second = log_expit(delta), log_expit(-delta)
        return first, second, 0.5 * (first + second)
    if ties == "davidson":
        total = np.logaddexp(np.logaddexp(0.5 * delta, -0.5 * delta), tie)
        return 0.5 * delta - total, -0.5 * delta - total, tie - total
    first, second = log_expit(delta - tie), log_expit(-delta - tie)
    # The tie's share: exp(2 tau) - 1 times the product of the other two.
    return first, second, first + second + 2 * tie + np.log(-np.expm1(-2 * tie))


def log_likelihood(
    logit: Floats,
    wins: Floats,
    losses: Floats,
    tied: Floats,
    *,
    ties: TieModel = "half",
    tie: float = 0.0,
) -> Terms:
    r"""Return the log-likelihood of each pair's battles, with derivatives.

    Parameters
    ----------
    logit : (n_pair,) float, logit
        :math:`\delta`.
    wins, losses, tied : (n_pair,) float, battles
        How many the first won, lost, and nobody won. Any weights of at least 0.
    ties : {'half', 'davidson', 'rao-kupper'}
        The model of ties.
    tie : float
        :math:`\tau`, as in `outcome_log_probabilities`.

    Returns
    -------
    Terms
        The log-likelihood is jointly concave in :math:`\delta` and :math:`\tau`.

    Examples
    --------
    >>> terms = log_likelihood(np.zeros(1), np.array([3.0]), np.array([1.0]), np.zeros(1))
    >>> terms.value.round(4), terms.by_logit, terms.info_logit
    (array([-2.7726]), array([1.]), array([1.]))
    """
    if ties == "half":
        return _half(logit, wins + 0.5 * tied, losses + 0.5 * tied)
    if ties == "davidson":
        return _davidson(logit, wins, losses, tied, tie)
    return _rao_kupper(logit, wins + tied, losses + tied, tied, tie)


def _half(delta: Floats, wins: Floats, losses: Floats) -> Terms:
    # One exponential and one logarithm for all; none of them overflows or cancels.
    tail = np.exp(-np.abs(delta))
    larger = 1 / (1 + tail)
    smaller = tail * larger
    total = wins + losses
    ahead = delta >= 0
    nothing = np.zeros_like(delta)
    beaten = np.where(ahead, losses, wins)
    return Terms(
        value=-beaten * np.abs(delta) - total * np.log1p(tail),
        by_logit=wins - total * np.where(ahead, larger, smaller),
        by_tie=nothing,
        info_logit=total * larger * smaller,
        info_tie=nothing,
        info_cross=nothing,
    )


def _davidson(delta: Floats, wins: Floats, losses: Floats, tied: Floats, tie: float) -> Terms:
    first, second, draw = outcome_log_probabilities(delta, tie, ties="davidson")
    p, q, r = np.exp(first), np.exp(second), np.exp(draw)
    total = wins + losses + tied
    mean = 0.5 * (p - q)
    return Terms(
        value=wins * first + losses * second + tied * draw,
        by_logit=0.5 * (wins - losses) - total * mean,
        by_tie=tied - total * r,
        info_logit=total * (0.25 * (p + q) - np.square(mean)),
        info_tie=total * r * (p + q),
        info_cross=-total * r * mean,
    )


def _rao_kupper(delta: Floats, forth: Floats, back: Floats, tied: Floats, tie: float) -> Terms:
    """Of a tie, each side counts once: it is neither won nor lost beyond the threshold."""
    lack, excess = expit(tie - delta), expit(tie + delta)
    forth_info = forth * lack * expit(delta - tie)
    back_info = back * excess * expit(-delta - tie)
    share = 2 * tie + np.log(-np.expm1(-2 * tie))
    return Terms(
        value=forth * log_expit(delta - tie) + back * log_expit(-delta - tie) + tied * share,
        by_logit=forth * lack - back * excess,
        by_tie=-forth * lack - back * excess + tied * (-2 / np.expm1(-2 * tie)),
        info_logit=forth_info + back_info,
        info_tie=forth_info + back_info + tied / np.square(np.sinh(tie)),
        info_cross=back_info - forth_info,
    )
