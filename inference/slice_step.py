"""One draw of a single number by slice sampling: exact for any density, without tuning."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

# The interval grows by at most so many widths.
_MOST_STEPS: Final = 50


def slice_step(
    log_density: Callable[[float], float],
    start: float,
    *,
    width: float,
    rng: np.random.Generator,
) -> float:
    """Return the next value of a chain that has a density as its distribution.

    Parameters
    ----------
    log_density : callable
        Up to a constant, nat.
    start : float
        The present value, with a finite log density.
    width : float
        Of the first interval; it must not depend on the present value. Any is valid, one near the
        width of the density is quick.
    rng : Generator

    Returns
    -------
    float

    References
    ----------
    Neal (2003), Annals of Statistics 31, figures 3 and 5, doi:10.1214/aos/1056562461.

    Examples
    --------
    >>> rng, value, values = np.random.default_rng(1), 0.0, []
    >>> for _ in range(2000):
    ...     value = slice_step(lambda x: -0.5 * x * x, value, width=2.0, rng=rng)
    ...     values.append(value)
    >>> abs(np.mean(values)) < 0.1 and abs(np.std(values) - 1) < 0.1
    np.True_
    """
    level = log_density(start) + math.log1p(-rng.random())
    low = start - width * rng.random()
    high = low + width
    # Who may step how often is settled before, or the chain could not go back.
    below = int(_MOST_STEPS * rng.random())
    above = _MOST_STEPS - 1 - below
    while below > 0 and log_density(low) > level:
        low, below = low - width, below - 1
    while above > 0 and log_density(high) > level:
        high, above = high + width, above - 1
    while True:
        value = low + (high - low) * rng.random()
        if log_density(value) >= level or value == start:
            return float(value)
        if value < start:
            low = value
        else:
            high = value
