r"""Columns under which Pólya–Gamma densities lie: most exact draws at the price of two uniforms.

For tilts :math:`z_g` on a grid, the density :math:`f_{z_g}` (notation of `polya_gamma_series`) is
covered by columns of equal area, which march from its mode to both sides, and by the first terms
of the series beyond the outermost columns. A draw for a tilt :math:`z \ge z_g` is a point from
this cover that is kept if it lies below

.. math:: f_{z_g}(x)\, e^{-\delta x}, \quad \delta = (z^2 - z_g^2) / 2,

a multiple of the density wanted. Nearly always it lies below the lowest point of the density over
the column, reduced by :math:`1 - \delta x \le e^{-\delta x}`: then no function is evaluated. Only
in between does the series decide, so that draws are exact, as they are from the series alone.

The columns cover: the variate is a sum of exponential ones, hence its density is log-concave, which
no tilt changes, and so it rises to one mode and falls. The highest point of a column is its edge
towards the mode, the lowest its other edge.

References
----------
Marsaglia and Tsang (2000), Journal of Statistical Software 5(8), for the idea of columns of equal
area. doi:10.18637/jss.v005.i08
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from neartie.inference.pairwise_bits import compiled
from neartie.inference.polya_gamma_series import (
    CHANGE,
    accept_by_series,
    draw_by_series,
    draw_left,
    draw_right,
    left_decay,
    left_mass,
    left_term,
    right_decay,
    right_mass,
    right_term,
)

type Floats = NDArray[np.float64]
# Inner edge, outer edge, lowest over highest point.
type Column = tuple[float, float, float]

# Tilts of the grid stand this far apart, so that at most a share of 1/8 is rejected for it.
_STEP: Final = 0.125
_N_GRID: Final = 64
_LARGEST: Final = _STEP * _N_GRID
# Of each column, with all of the density as 1. A tail smaller than that is left to the series.
_AREA: Final = 1 / 128


def density(x: float, z: float) -> float:
    """Return the density of X at tilt z, to the last digits.

    Parameters
    ----------
    x : float
        Positive.
    z : float
        In [0, 30].

    Examples
    --------
    >>> round(density(0.5, 0.0), 6), round(density(1.0, 2.0), 6)
    (0.829379, 0.232871)
    """
    left = x <= CHANGE
    decay = 2 / x if left else 0.5 * math.pi**2 * x
    series = sum((-1) ** n * (2 * n + 1) * math.exp(-decay * n * (n + 1)) for n in range(5))
    first = _plain(left_term if left else right_term)(x, 0.5 * z * z * x)
    return float(math.cosh(z) * first * series)


def _plain(function: Callable[[float, float], float]) -> Callable[[float, float], float]:
    """Return a kernel as Python runs it, since nothing should be compiled when imported."""
    return cast(Callable[[float, float], float], cast(Any, function).py_func)


def _mode(z: float) -> float:
    low, high = 0.02, 1.0
    while high - low > 1e-8:
        third = (high - low) / 3
        if density(low + third, z) < density(high - third, z):
            low += third
        else:
            high -= third
    return 0.5 * (low + high)


def _tail(x: float, z: float, side: int) -> float:
    """Return the mass of the first term beyond x, which covers the density there."""
    mass = _plain(left_mass if side < 0 else right_mass)(z, x)
    return float(math.cosh(z) * mass)


def _march(x: float, z: float, side: int) -> tuple[list[Column], float, float]:
    """Return the columns from x to one side, where they end, and the mass beyond in columns."""
    columns: list[Column] = []
    high = density(x, z)
    while True:
        tail = _tail(x, z, side)
        outer = x + side * _AREA / high
        # Close to zero a column would be as wide as what is left.
        if tail < _AREA or outer < 0.6 * x:
            return columns, x, tail / _AREA
        low = density(outer, z)
        columns.append((x, outer, low / high))
        x, high = outer, low


def _cover() -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return the columns of all tilts (lower edge, width, lowest over highest), tails, numbers.

    A tail is where it begins and its mass in columns, first the left one, then the right one.
    """
    columns, tails = [], []
    for place in range(_N_GRID):
        z = place * _STEP
        mode = _mode(z)
        left, start, left_tail = _march(mode, z, -1)
        right, end, right_tail = _march(mode, z, 1)
        columns.append([(min(a, b), abs(b - a), low) for a, b, low in left + right])
        tails.append((start, left_tail, end, right_tail))
    numbers = np.array([len(own) for own in columns])
    table = np.zeros((_N_GRID, numbers.max(), 3))
    for place, own in enumerate(columns):
        table[place, : len(own)] = own
    return table, np.array(tails), numbers


_COLUMNS, _TAILS, _NUMBERS = _cover()


@compiled
def draw_by_table(rng: np.random.Generator, z: float) -> float:
    """Return an exact draw of X.

    Parameters
    ----------
    rng : Generator
    z : float
        At least 0; half the argument of the Pólya–Gamma variate.
    """
    if not z < _LARGEST:
        return draw_by_series(rng, z)
    place = int(z / _STEP)
    grid = place * _STEP
    excess = 0.5 * (z * z - grid * grid)
    n = _NUMBERS[place]
    total = n + _TAILS[place, 1] + _TAILS[place, 3]
    while True:
        spot = rng.random() * total
        column = int(spot)
        if column >= n:
            x = _draw_tail(rng, place, spot - n)
            # a negative value says that the point was rejected
            if x > 0.0 and rng.standard_exponential() > excess * x:
                return x
            continue
        x = _COLUMNS[place, column, 0] + rng.random() * _COLUMNS[place, column, 1]
        height = spot - column
        if height < _COLUMNS[place, column, 2] * (1.0 - excess * x):
            return float(x)
        if _below(height * _AREA / _COLUMNS[place, column, 1], x, z, grid):
            return float(x)


@compiled
def _below(height: float, x: float, z: float, grid: float) -> bool:
    """Return whether a height lies below the density of the grid's tilt, tilted on to z."""
    tilt = 0.5 * z * z * x
    height /= math.cosh(grid)
    if x <= CHANGE:
        return accept_by_series(height / left_term(x, tilt), left_decay(x))
    return accept_by_series(height / right_term(x, tilt), right_decay(x))


@compiled
def _draw_tail(rng: np.random.Generator, place: int, spot: float) -> float:
    """Return a point of a tail at a tilt of the grid, or -1 where it is rejected."""
    grid = place * _STEP
    if spot < _TAILS[place, 1]:
        x = draw_left(rng, grid, _TAILS[place, 0])
        decay = left_decay(x)
    else:
        x = draw_right(rng, grid, _TAILS[place, 2])
        decay = right_decay(x)
    return x if accept_by_series(rng.random(), decay) else -1.0
