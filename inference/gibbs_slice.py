"""Slice sampling on the log scale: of one scale of a known form, and of many numbers at once."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]

# On the log scale; stepping out and shrinking find the right size from here.
WIDTH = 1.0
# No scale is below 1e-26 or above 1e26: priors give that as much mass, and a slice from a start far
# out in a tail would otherwise run to where numbers end.
LIMIT = 60.0


@compiled
def log_scale_density(
    u: float,
    power: float,
    square: float,
    inverse: float,
    linear: float,
    center: float,
    precision: float,
) -> float:
    r"""Return a log density of the log u of a scale, up to a constant.

    Returns
    -------
    float, nat
        :math:`p u - \alpha e^{2u} - \beta e^{-2u} + l e^u - (u - m)^2 q / 2` with power p, square
        :math:`\alpha`, inverse :math:`\beta`, linear l, center m and precision q: everything that
        a scale meets here. Normal values of that scale give p and :math:`\beta`; a linear
        predictor that the scale multiplies l and :math:`\alpha`; a half-normal prior
        :math:`\alpha`; a log-normal one m and q.

    Examples
    --------
    >>> log_scale_density(0.0, 1.0, 2.0, 3.0, 4.0, 0.0, 1.0)
    -1.0
    """
    if abs(u) > LIMIT:
        return -math.inf
    size = math.exp(u)
    value = power * u + linear * size - 0.5 * precision * (u - center) ** 2
    return value - square * size * size - inverse / (size * size)


@compiled
def draw_log_scale(
    rng: np.random.Generator,
    start: float,
    power: float,
    square: float,
    inverse: float,
    linear: float,
    center: float,
    precision: float,
) -> float:
    """Return one draw of the log of a scale whose log density is `log_scale_density`.

    Parameters
    ----------
    rng : Generator
    start : float, log scale
        As it is.
    power, square, inverse, linear, center, precision : float
        See `log_scale_density`.

    Returns
    -------
    float, log scale

    References
    ----------
    Neal (2003), Annals of Statistics 31, 705-767, figures 3 and 5. doi:10.1214/aos/1056562461

    Examples
    --------
    >>> rng, u, draws = np.random.default_rng(0), 0.0, []
    >>> for _ in range(4000):
    ...     u = draw_log_scale(rng, u, 0.0, 0.0, 0.0, 0.0, 1.0, 4.0)
    ...     draws.append(u)
    >>> bool(abs(np.mean(draws) - 1.0) < 0.05), bool(abs(np.std(draws) - 0.5) < 0.05)
    (True, True)
    """
    level = log_scale_density(start, power, square, inverse, linear, center, precision)
    level -= rng.standard_exponential()
    low = start - WIDTH * rng.random()
    high = low + WIDTH
    while log_scale_density(low, power, square, inverse, linear, center, precision) > level:
        low -= WIDTH
    while log_scale_density(high, power, square, inverse, linear, center, precision) > level:
        high += WIDTH
    proposal = low + (high - low) * rng.random()
    while log_scale_density(proposal, power, square, inverse, linear, center, precision) <= level:
        if proposal < start:
            low = proposal
        else:
            high = proposal
        proposal = low + (high - low) * rng.random()
    return proposal


def slice_draws(
    start: Floats, density: Callable[[Floats], Floats], *, rng: np.random.Generator
) -> Floats:
    """Return one draw of each of many independent numbers.

    Parameters
    ----------
    start : (n,) float
        The numbers as they are.
    density : callable
        Takes (n,) numbers, returns their (n,) log densities, each of its own number alone.
    rng : Generator

    Returns
    -------
    (n,) float

    References
    ----------
    Neal (2003), as in `draw_log_scale`.

    Examples
    --------
    >>> rng, x = np.random.default_rng(0), np.zeros(4000)
    >>> for _ in range(10):
    ...     x = slice_draws(x, lambda x: -0.5 * (x - 1.0) ** 2, rng=rng)
    >>> bool(abs(x.mean() - 1.0) < 0.05), bool(abs(x.std() - 1.0) < 0.05)
    (True, True)
    """
    level = density(start) - rng.standard_exponential(len(start))
    low = start - WIDTH * rng.random(len(start))
    high = low + WIDTH
    for bound, step in ((low, -WIDTH), (high, WIDTH)):
        outside = density(bound) > level
        while outside.any():
            bound[outside] += step
            outside &= density(bound) > level
    drawn = low + (high - low) * rng.random(len(start))
    wrong = density(drawn) <= level
    while wrong.any():
        low[wrong] = np.where(drawn < start, drawn, low)[wrong]
        high[wrong] = np.where(drawn < start, high, drawn)[wrong]
        drawn[wrong] = (low + (high - low) * rng.random(len(start)))[wrong]
        wrong &= density(drawn) <= level
    return drawn
