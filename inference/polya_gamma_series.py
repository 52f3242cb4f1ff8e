r"""Exact Pólya–Gamma draws from the alternating series of the density, and the parts they are made of.

Everything here is on the scale of :math:`X = 4\,\mathrm{PG}(1, 2z)` with :math:`z \ge 0`, whose
density is

.. math:: f_z(x) = \cosh(z)\, e^{-z^2 x / 2} \sum_{n \ge 0} (-1)^n a_n(x),

where :math:`a_n` has two forms, one that falls fast with n to the left and one to the right:

.. math::
    a_n(x) = \pi (n + \tfrac12) \Big(\frac{2}{\pi x}\Big)^{3/2} e^{-2 (n + 1/2)^2 / x}
    \quad\text{and}\quad
    a_n(x) = \pi (n + \tfrac12)\, e^{-(n + 1/2)^2 \pi^2 x / 2}.

Both hold everywhere. The first falls with n for :math:`x < 4 / \log 3 = 3.6`, the second for
:math:`x > \log 3 / \pi^2 = 0.11`; there partial sums are bounds from above and below by turns.

References
----------
Polson, Scott and Windle (2013), Journal of the American Statistical Association 108, 1339-1349,
section 4. doi:10.1080/01621459.2013.829001
Devroye (2009), Statistics & Probability Letters 79, 2251-2259. doi:10.1016/j.spl.2009.07.028
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from neartie.inference.pairwise_bits import compiled

# Where the two forms of the series change over: the paper's choice, near the best.
CHANGE: Final = 0.64
# Beyond this the right part has less than 1e-100 of the mass: no draw would ever find it.
_NO_RIGHT_PART: Final = 30.0
_HALF_PI: Final = 0.5 * math.pi
_DECAY: Final = 0.5 * math.pi**2
_LEFT_FACTOR: Final = math.sqrt(2.0 / math.pi)


@compiled
def left_term(x: float, tilt: float) -> float:
    """Return the first left term at x times the exponential of minus `tilt`."""
    return _LEFT_FACTOR * math.exp(-0.5 / x - tilt) / (x * math.sqrt(x))


@compiled
def right_term(x: float, tilt: float) -> float:
    """Return the first right term at x times the exponential of minus `tilt`."""
    return _HALF_PI * math.exp(-0.25 * _DECAY * x - tilt)


@compiled
def left_mass(z: float, end: float) -> float:
    r"""Return the integral over (0, end) of the first left term times :math:`e^{-z^2 x / 2}`.

    Parameters
    ----------
    z : float
        In [0, 30].
    end : float
        Positive.

    Notes
    -----
    :math:`2 e^{-z}` times the distribution function of the inverse Gaussian with mean 1 / z and
    shape 1, written so that it holds at z = 0.
    """
    root = math.sqrt(2.0 * end)
    return math.exp(-z) * math.erfc((1.0 - z * end) / root) + math.exp(z) * math.erfc(
        (1.0 + z * end) / root
    )


@compiled
def right_mass(z: float, start: float) -> float:
    r"""Return the integral over (start, ∞) of the first right term times :math:`e^{-z^2 x / 2}`."""
    rate = 0.25 * _DECAY + 0.5 * z * z
    return _HALF_PI * math.exp(-rate * start) / rate


@compiled
def draw_left(rng: np.random.Generator, z: float, end: float) -> float:
    r"""Return a draw from the first left term times :math:`e^{-z^2 x / 2}` on (0, end).

    An inverse Gaussian variate with mean 1 / z and shape 1, given that it is below `end`.
    """
    if z * end < 1.0:
        while True:
            # 1 / x is a squared normal beyond 1 / sqrt(end): the tail by two exponentials
            step = rng.standard_exponential()
            while step * step > 2.0 * rng.standard_exponential() / end:
                step = rng.standard_exponential()
            x = end / ((1.0 + end * step) * (1.0 + end * step))
            if 0.5 * z * z * x < rng.standard_exponential():
                return x
    mean = 1.0 / z
    while True:
        normal = rng.standard_normal()
        scaled = mean * normal * normal
        x = mean * (1.0 + 0.5 * (scaled - math.sqrt(scaled * (4.0 + scaled))))
        if rng.random() * (mean + x) > mean:
            x = mean * mean / x
        if x < end:
            return x


@compiled
def draw_right(rng: np.random.Generator, z: float, start: float) -> float:
    r"""Return a draw from the first right term times :math:`e^{-z^2 x / 2}` beyond `start`."""
    return start + rng.standard_exponential() / (0.25 * _DECAY + 0.5 * z * z)


@compiled
def left_decay(x: float) -> float:
    """Return how fast the left terms fall at x, as `accept_by_series` takes it."""
    return 2.0 / x


@compiled
def right_decay(x: float) -> float:
    """Return how fast the right terms fall at x, as `accept_by_series` takes it."""
    return _DECAY * x


@compiled
def accept_by_series(level: float, decay: float) -> bool:
    """Return whether a density exceeds `level` times the first term of its series.

    Parameters
    ----------
    level : float
        Uniform on (0, 1) for a draw from the first term.
    decay : float
        At least log 3 / 2: the n-th term over the first is 2 n + 1 times the exponential of
        minus n (n + 1) `decay`.
    """
    total = 1.0
    n = 0
    while True:
        n += 1
        term = (2.0 * n + 1.0) * math.exp(-decay * n * (n + 1.0))
        if n % 2 == 1:
            total -= term
            if level <= total:
                return True
        else:
            total += term
            if level > total:
                return False


@compiled
def draw_by_series(rng: np.random.Generator, z: float) -> float:
    """Return an exact draw of X.

    Parameters
    ----------
    rng : Generator
    z : float
        At least 0; half the argument of the Pólya–Gamma variate.

    Notes
    -----
    A point from the mixture of both first terms is accepted with the probability that the series
    settles, at least .999 for every z.
    """
    share = 0.0
    if z < _NO_RIGHT_PART:
        right = right_mass(z, CHANGE)
        share = right / (right + left_mass(z, CHANGE))
    while True:
        if rng.random() < share:
            x = draw_right(rng, z, CHANGE)
            decay = right_decay(x)
        else:
            x = draw_left(rng, z, CHANGE)
            decay = left_decay(x)
        if accept_by_series(rng.random(), decay):
            return x
