r"""Easiness given all else but the Pólya–Gamma weights: for items that almost all models solve or fail.

Weights say a great deal of an item, and where nearly all answers are equal they say much more than
the answers do: draws given them creep (Johndrow, Smith, Pillai and Dunson 2019, Journal of the
American Statistical Association 114, 1394-1403, doi:10.1080/01621459.2018.1505626). A slice move
under the logistic likelihood itself takes one step through it. Weights must be drawn right after.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]
type Whole = NDArray[np.intp]

WIDTH = 1.0
# Four factors below its exponential have a product that does not overflow.
SAFE = 150.0


@compiled
def shift_log_density(
    shift: float, predictor: Floats, odds: Floats, right: int, start: float, prior: Floats
) -> float:
    r"""Return the log density of an item whose linear predictor moves by a shift.

    Parameters
    ----------
    shift : float, logit
    predictor, odds : (n,) float
        :math:`\eta` of the answered cells, and :math:`e^\eta`.
    right : int
        Right answers among them.
    start : float, logit
        Easiness without the shift.
    prior : (2,) float
        Mean and precision of easiness.

    Returns
    -------
    float, nat
        Up to a constant.

    Examples
    --------
    >>> eta, prior = np.array([0.5, -1.0, 2.0, 0.0, 0.3]), np.array([0.0, 1.0])
    >>> ends = [shift_log_density(s, eta, np.exp(eta), 3, 0.2, prior) for s in (0.0, 200.0)]
    >>> expected = [3 * s - np.logaddexp(0, eta + s).sum() - 0.5 * (0.2 + s) ** 2
    ...             for s in (0.0, 200.0)]
    >>> bool(np.allclose(ends, expected))
    True
    """
    value = right * shift - 0.5 * prior[1] * (start + shift - prior[0]) ** 2
    n = len(predictor)
    largest = -math.inf
    for m in range(n):
        largest = max(largest, predictor[m])
    if largest + shift > SAFE or shift > SAFE:
        for m in range(n):
            eta = predictor[m] + shift
            value -= max(eta, 0.0) + math.log1p(math.exp(-abs(eta)))
        return float(value)
    factor, m = math.exp(shift), 0
    while m + 4 <= n:
        product = (1.0 + odds[m] * factor) * (1.0 + odds[m + 1] * factor)
        product *= (1.0 + odds[m + 2] * factor) * (1.0 + odds[m + 3] * factor)
        value -= math.log(product)
        m += 4
    while m < n:
        value -= math.log(1.0 + odds[m] * factor)
        m += 1
    return float(value)


@compiled
def shift_easiness(
    rng: np.random.Generator,
    items: Whole,
    answers: NDArray[np.int8],
    offset: Floats,
    loading: Floats,
    intercept: Floats,
    ability: Floats,
    start: Whole,
    prior: Floats,
    easiness: Floats,
) -> None:
    """Draw the easiness of some items by a slice, in place, with their intercepts.

    Parameters
    ----------
    rng : Generator
    items : (n,) int
        Which.
    answers, offset, loading, intercept, ability, start
        As in `neartie.inference.gibbs_item_kernel.draw_weights`; intercepts go along.
    prior : (2,) float
        Mean and precision of easiness.
    easiness : (n_item,) float, logit

    References
    ----------
    Neal (2003), Annals of Statistics 31, 705-767. doi:10.1214/aos/1056562461
    """
    row = np.empty(answers.shape[1])
    predictor, odds = np.empty(len(row)), np.empty(len(row))
    for i in items:
        for f in range(len(start) - 1):
            row[start[f] : start[f + 1]] = intercept[i, f]
        if len(offset):
            row += offset[i]
        for k in range(loading.shape[1]):
            row += loading[i, k] * ability[k]
        n, right = 0, 0
        for m in range(len(row)):
            if answers[i, m] >= 0:
                predictor[n] = row[m]
                odds[n] = math.exp(min(row[m], 2.0 * SAFE))
                right += answers[i, m]
                n += 1
        eta, ratio, b = predictor[:n], odds[:n], easiness[i]
        level = shift_log_density(0.0, eta, ratio, right, b, prior) - rng.standard_exponential()
        low = -WIDTH * rng.random()
        high = low + WIDTH
        while shift_log_density(low, eta, ratio, right, b, prior) > level:
            low -= WIDTH
        while shift_log_density(high, eta, ratio, right, b, prior) > level:
            high += WIDTH
        shift = low + (high - low) * rng.random()
        while shift_log_density(shift, eta, ratio, right, b, prior) <= level:
            if shift < 0.0:
                low = shift
            else:
                high = shift
            shift = low + (high - low) * rng.random()
        easiness[i] += shift
        for f in range(len(start) - 1):
            intercept[i, f] += shift
