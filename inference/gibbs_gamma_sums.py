r"""Normal weights for paired comparisons of any size and kind, as short sums of gamma variates.

The likelihood of paired comparisons is made of factors :math:`F(y)^b` with

.. math::
    F(y) = \frac{1 + C}{\cosh(y / 2) + C}
         = \prod_{k \ge 0} \big(1 + \tfrac{a_k}{2} y^2\big)^{-1},
    \qquad a_k = \frac{1}{2 c_k^2}, \quad c_k = \pi \mp \theta, 3\pi \mp \theta, \dots,

where :math:`C = \cos\theta \in [0, 1]`; C = 0 is Bradley and Terry's, and then the weight is
Pólya–Gamma. Each term of the product is the transform
:math:`\mathrm{E}\, e^{-\omega y^2 / 2}` of a gamma variate times :math:`a_k`, for every
:math:`b > 0`, whole or not. Here the first terms are kept and all others replaced by one gamma
variate with their mean and variance, which gives a factor :math:`\hat F` very close to F, from
which weights are drawn exactly, in a time that does not grow with b. What is left,
:math:`b \log F(y) / \hat F(y)`, is for a Metropolis step to correct: about
:math:`10^{-7} b` at y = 2.

References
----------
Polson, Scott and Windle (2013), doi:10.1080/01621459.2013.829001, equation 2, for C = 0.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]

# Gamma variates a weight, before the one that stands for all others.
N_TERM: Final = 3
_LOG_2: Final = math.log(2.0)


class GammaSum(NamedTuple):
    """The law of a weight for b = 1 and y = 0.

    Attributes
    ----------
    cosine : float
        C, at least 0 and at most 1.
    first : (N_TERM,) float
        The largest of the numbers a.
    shape, scale : float
        Of the gamma variate that stands for all others.
    """

    cosine: float
    first: Floats
    shape: float
    scale: float


def gamma_sum(cosine: float) -> GammaSum:
    """Return the sum of gamma variates for one value of C.

    Parameters
    ----------
    cosine : float
        C, at least 0 and at most 1.

    Returns
    -------
    GammaSum

    Notes
    -----
    The sums of all numbers a and of their squares come from the series of log F in y.

    Examples
    --------
    >>> law = gamma_sum(0.0)
    >>> float(round(law.first.sum() + law.shape * law.scale, 6))  # the mean of PG(1, 0)
    0.25
    """
    angle = math.acos(cosine)
    places = math.pi * np.array([1.0, 1.0, 3.0, 3.0]) + angle * np.array([-1.0, 1.0, -1.0, 1.0])
    first = 0.5 / places[:N_TERM] ** 2
    whole = 1.0 + cosine
    mean = 0.25 / whole - first.sum()
    variance = (0.25 / whole**2 - 1.0 / (12.0 * whole)) / 4.0 - np.square(first).sum()
    return GammaSum(
        cosine=cosine, first=first, shape=float(mean**2 / variance), scale=float(variance / mean)
    )


@compiled
def draw_gamma_sum(rng: np.random.Generator, b: float, y: float, law: GammaSum) -> float:
    r"""Return a draw of the weight of :math:`\hat F(y)^b`, given y.

    Parameters
    ----------
    rng : Generator
    b : float
        At least 0.
    y : float, logit
    law : GammaSum
    """
    half = 0.5 * y * y
    total = 0.0
    for a in law.first:
        total += rng.standard_gamma(b) * a / (1.0 + half * a)
    return total + rng.standard_gamma(b * law.shape) * law.scale / (1.0 + half * law.scale)


def log_factor(y: Floats, cosine: float) -> Floats:
    r"""Return :math:`-\log(\cosh(y / 2) + C)` for any C above -1.

    Parameters
    ----------
    y : (n,) float, logit
    cosine : float

    Returns
    -------
    (n,) float, nat

    Examples
    --------
    >>> log_factor(np.array([0.0, 3000.0]), 0.0).round(4) + 0.0
    array([    0.    , -1499.3069])
    """
    size = 0.5 * np.abs(y)
    tail = np.exp(-size)
    tail *= 2.0 * cosine + tail
    np.log1p(tail, out=tail)
    return _LOG_2 - (size + tail)


def log_excess(y: Floats, law: GammaSum) -> Floats:
    r"""Return :math:`\log F(y) / \hat F(y)`: what the sum of gamma variates leaves out.

    Parameters
    ----------
    y : (n,) float, logit
    law : GammaSum

    Returns
    -------
    (n,) float, nat
    """
    half = 0.5 * np.square(y)
    product = np.ones_like(half)
    for a in law.first:
        product *= 1.0 + half * a
    sums = np.log(product) + law.shape * np.log1p(half * law.scale)
    return np.asarray(log_factor(y, law.cosine) + math.log1p(law.cosine) + sums)
