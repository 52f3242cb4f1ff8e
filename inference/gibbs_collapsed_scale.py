r"""The scale of all family effects given Pólya–Gamma weights, with the effects summed over.

Given the effects, their scale is nearly known where there are many of them; given the effects in units
of it, it is nearly known where there are many answers. With both it creeps. Given weights, loadings
and easiness, the effects of an item are normal, so that they can be integrated out: with
:math:`S_i = H^\top\mathrm{diag}(\sum_{m\in f}\omega_{im})H` and
:math:`r_i = H^\top(\sum_{m \in f} t_{im} - \omega_{im}(a_i\cdot\theta_m + b_i))_f`,

.. math:: \log p(\tau) = \sum_i -\tfrac12\log|I + \tau^2 S_i|
    + \tfrac12\tau^2 r_i^\top(I + \tau^2 S_i)^{-1} r_i + \log p_0(\tau).

Effects must be drawn right after, given the scale.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_item_kernel import ItemSums
from neartie.inference.gibbs_slice import LIMIT
from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]

_MOST_STEPS: Final = 50
# The slice is one of the scale itself, which comes from afar in one step. Of many effects a look at the
# density costs time: it is then mostly one of the log, whose first interval is about as wide as what
# they leave unknown of the scale.
_MANY: Final = 5000
_NARROW_SHARE: Final = 0.75
# Products of determinants are taken up to here, so that logarithms are few.
_LARGE: Final = 1e100


@compiled
def effect_terms(
    sums: ItemSums, loading: Floats, easiness: Floats, contrasts: Floats
) -> tuple[Floats, Floats]:
    r"""Return what the answers say, given weights, of the effects of every item.

    Parameters
    ----------
    sums : ItemSums
    loading : (n_item, K) float
    easiness : (n_item,) float, logit
    contrasts : (F, F - 1) float
        H.

    Returns
    -------
    precision : (n_item, F - 1, F - 1) float
        :math:`S_i`, its upper triangle.
    lean : (n_item, F - 1) float
        :math:`r_i`
    """
    n_item, n_family, n_factor = sums.cross.shape
    n_free = contrasts.shape[1]
    precision, lean = np.zeros((n_item, n_free, n_free)), np.zeros((n_item, n_free))
    for i in range(n_item):
        for f in range(n_family):
            total = sums.total[i, f]
            rest = sums.lean[i, f] - total * easiness[i]
            for k in range(n_factor):
                rest -= sums.cross[i, f, k] * loading[i, k]
            for c in range(n_free):
                lean[i, c] += contrasts[f, c] * rest
                for d in range(c, n_free):
                    precision[i, c, d] += contrasts[f, c] * contrasts[f, d] * total
    return precision, lean


@compiled
def collapsed_log_density(u: float, precision: Floats, lean: Floats, sd: float) -> float:
    """Return the log density of the log u of the scale, up to a constant, nat.

    Parameters
    ----------
    u : float
    precision, lean
        As `effect_terms` returns them.
    sd : float, logit
        Of the half-normal prior.
    """
    if abs(u) > LIMIT:
        return -math.inf
    size = math.exp(u)
    square = size * size
    value, determinant = u - 0.5 * square / sd**2, 1.0
    n_item, n_free = lean.shape
    matrix, vector = np.empty((n_free, n_free)), np.empty(n_free)
    for i in range(n_item):
        for c in range(n_free):
            vector[c] = size * lean[i, c]
            for d in range(c, n_free):
                matrix[c, d] = square * precision[i, c, d]
            matrix[c, c] += 1.0
        # Elimination without roots.
        for c in range(n_free):
            pivot, part = matrix[c, c], vector[c]
            inverse = 1.0 / pivot
            determinant *= pivot
            value += 0.5 * part * part * inverse
            for d in range(c + 1, n_free):
                share = matrix[c, d] * inverse
                vector[d] -= share * part
                for e in range(d, n_free):
                    matrix[d, e] -= share * matrix[c, e]
        if determinant > _LARGE:
            value -= 0.5 * math.log(determinant)
            determinant = 1.0
    return float(value - 0.5 * math.log(determinant))


@compiled
def _log_density(x: float, logs: bool, precision: Floats, lean: Floats, sd: float) -> float:
    """Return the log density of the log of the scale, or of the scale itself."""
    if logs:
        return collapsed_log_density(x, precision, lean, sd)
    if x <= 0.0:
        return -math.inf
    return collapsed_log_density(math.log(x), precision, lean, sd) - math.log(x)


@compiled
def draw_collapsed_scale(
    rng: np.random.Generator, scale: float, precision: Floats, lean: Floats, sd: float
) -> float:
    """Return one draw of the scale, by a slice.

    Parameters
    ----------
    rng : Generator
    scale : float, logit
        As it is.
    precision, lean, sd
        As in `collapsed_log_density`.

    Returns
    -------
    float, logit

    References
    ----------
    Neal (2003), Annals of Statistics 31, 705-767, figures 3 and 5. doi:10.1214/aos/1056562461
    """
    logs = lean.size > _MANY and rng.random() < _NARROW_SHARE
    width = 4.0 / math.sqrt(2.0 * lean.size) if logs else sd
    start = math.log(scale) if logs else scale
    level = _log_density(start, logs, precision, lean, sd) - rng.standard_exponential()
    low = start - width * rng.random()
    high = low + width
    # Who may step how often is settled before, or the chain could not go back.
    below = int(_MOST_STEPS * rng.random())
    above = _MOST_STEPS - 1 - below
    while below > 0 and _log_density(low, logs, precision, lean, sd) > level:
        low, below = low - width, below - 1
    while above > 0 and _log_density(high, logs, precision, lean, sd) > level:
        high, above = high + width, above - 1
    proposal = low + (high - low) * rng.random()
    while _log_density(proposal, logs, precision, lean, sd) <= level:
        if proposal < start:
            low = proposal
        else:
            high = proposal
        proposal = low + (high - low) * rng.random()
    return math.exp(proposal) if logs else proposal
