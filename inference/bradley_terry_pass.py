"""One pass over pairs of models: the likelihood with ties as half wins, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neartie.inference.pairwise_bits import compiled

type Codes = NDArray[np.int64]
type Floats = NDArray[np.float64]


@compiled
def half_win_pass(
    first: Codes,
    second: Codes,
    shown: Floats,
    wins: Floats,
    losses: Floats,
    tied: Floats,
    strength: Floats,
    order: float,
    gradient: Floats,
    joint: Floats,
    own: Floats,
    cross: Floats,
    curvature: bool,
) -> float:
    """Return the log-likelihood, and write gradient and information.

    Parameters
    ----------
    first, second : (n_pair,) int
    shown, wins, losses, tied : (n_pair,) float
    strength : (n_model,) float, logit
    order : float, logit
        First-shown effect.
    gradient : (n_model + 1,) float
        Zeros, to be written: of strengths, then of the first-shown effect.
    joint : (n_model, n_model) float
        Zeros, to be written if there is to be curvature: the weight of each pair, which is minus
        its information, in the row of the first and the column of the second model only.
    own : (n_model,) float
        Zeros, to be written likewise: the diagonal of the information.
    cross : (n_model + 1,) float
        Zeros, to be written likewise: the last row of the information.
    curvature : bool

    Returns
    -------
    float, nat

    Notes
    -----
    What `neartie.models.bradley_terry.log_likelihood` gives pair by pair, added up.
    """
    n = strength.shape[0]
    value = 0.0
    for k in range(first.shape[0]):
        i, j, x = first[k], second[k], shown[k]
        won, lost = wins[k] + 0.5 * tied[k], losses[k] + 0.5 * tied[k]
        total = won + lost
        delta = strength[i] - strength[j] + order * x
        size = abs(delta)
        tail = np.exp(-size)
        larger = 1.0 / (1.0 + tail)
        value -= (lost if delta >= 0.0 else won) * size + total * np.log1p(tail)
        slope = won - total * (larger if delta >= 0.0 else tail * larger)
        gradient[i] += slope
        gradient[j] -= slope
        gradient[n] += x * slope
        if curvature:
            weight = total * larger * tail * larger
            joint[i, j] += weight
            own[i] += weight
            own[j] += weight
            if x != 0.0:
                cross[i] += x * weight
                cross[j] -= x * weight
                cross[n] += x * x * weight
    return value
