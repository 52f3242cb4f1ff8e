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

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_gaussian import factor_in_place, solve_transposed
from neartie.inference.gibbs_item_kernel import ItemSums
from neartie.inference.gibbs_slice import LIMIT, WIDTH
from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]


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
    value = u - 0.5 * (size / sd) ** 2
    n_item, n_free = lean.shape
    matrix, vector = np.empty((n_free, n_free)), np.empty(n_free)
    for i in range(n_item):
        for c in range(n_free):
            vector[c] = size * lean[i, c]
            for d in range(c, n_free):
                matrix[c, d] = size * size * precision[i, c, d]
            matrix[c, c] += 1.0
        factor_in_place(matrix)
        solve_transposed(matrix, vector)
        determinant = 1.0
        for c in range(n_free):
            determinant *= matrix[c, c]
            value += 0.5 * vector[c] * vector[c]
        value -= math.log(determinant)
    return value


@compiled
def draw_collapsed_scale(
    rng: np.random.Generator, scale: float, precision: Floats, lean: Floats, sd: float
) -> float:
    """Return one draw of the scale, by a slice on the log scale.

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
    start = math.log(scale)
    level = collapsed_log_density(start, precision, lean, sd) - rng.standard_exponential()
    low = start - WIDTH * rng.random()
    high = low + WIDTH
    while collapsed_log_density(low, precision, lean, sd) > level:
        low -= WIDTH
    while collapsed_log_density(high, precision, lean, sd) > level:
        high += WIDTH
    proposal = low + (high - low) * rng.random()
    while collapsed_log_density(proposal, precision, lean, sd) <= level:
        if proposal < start:
            low = proposal
        else:
            high = proposal
        proposal = low + (high - low) * rng.random()
    return math.exp(proposal)
