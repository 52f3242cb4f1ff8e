"""Density of the residual-DIF model: a logistic response with a fixed offset (P0, eqs 1-3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

type Floats = NDArray[np.float64]


def linear_predictor(
    offset: Floats, easiness: Floats, effects: Floats, family: NDArray[np.intp]
) -> Floats:
    r"""Return the logit of every response probability.

    Parameters
    ----------
    offset : (n_item, n_model) float, logit
        The part that a spectral or other MIRT model explains.
    easiness : (n_item,) float, logit
    effects : (n_item, n_family) float, logit
    family : (n_model,) int
        Position of each model's family in the columns of `effects`.

    Returns
    -------
    (n_item, n_model) float, logit
        :math:`\xi_{im} = o_{im} + b_i + \delta_{i f(m)}` (P0, eq 24)

    Examples
    --------
    >>> linear_predictor(np.zeros((1, 2)), np.ones(1), np.array([[0.5, -0.5]]), np.array([0, 1]))
    array([[1.5, 0.5]])
    """
    return offset + easiness[:, None] + effects[:, family]


def penalised_loss(
    values: NDArray[np.int8],
    offset: Floats,
    easiness: Floats,
    effects: Floats,
    family: NDArray[np.intp],
    *,
    penalty: float = 1.0,
) -> Floats:
    r"""Return the penalised negative log-likelihood of every item.

    Parameters
    ----------
    values : (n_item, n_model) int8
        1 right, 0 wrong, -1 missing (no likelihood).
    offset, easiness, effects, family
        As in `linear_predictor`.
    penalty : float
        :math:`\lambda`, the precision of the effects.

    Returns
    -------
    (n_item,) float, nat
        The terms of P0, eq 3, one an item; they share no parameter.

    Examples
    --------
    >>> penalised_loss(np.array([[1, 0]], dtype=np.int8), np.zeros((1, 2)), np.zeros(1),
    ...                np.zeros((1, 2)), np.array([0, 1])).round(4)
    array([1.3863])
    """
    logit = linear_predictor(offset, easiness, effects, family)
    sign = np.where(values == 1, 1.0, -1.0)
    loss = np.where(values >= 0, -log_expit(sign * logit), 0.0)
    return np.asarray(loss.sum(axis=1) + 0.5 * penalty * np.square(effects).sum(axis=1))
