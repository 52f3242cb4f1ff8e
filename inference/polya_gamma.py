r"""Pólya–Gamma draws: what makes logistic likelihoods normal, one weight an answer.

For counts n and logits :math:`\psi`, with :math:`\omega \sim \mathrm{PG}(n, 0)`,

.. math:: \frac{(e^\psi)^y}{(1 + e^\psi)^n} = 2^{-n} e^{(y - n/2) \psi}
    \, \mathrm{E}\, e^{-\omega \psi^2 / 2},

so that given :math:`\omega` the likelihood is that of a normal observation with precision
:math:`\omega`; and given everything else :math:`\omega \sim \mathrm{PG}(n, \psi)`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neartie.inference.pairwise_bits import compiled
from neartie.inference.polya_gamma_table import draw_by_table

type Floats = NDArray[np.float64]


@compiled
def draw_polya_gamma(rng: np.random.Generator, z: float) -> float:
    """Return an exact draw of PG(1, z), inside other compiled code.

    Parameters
    ----------
    rng : Generator
    z : float, logit
        Finite; its sign does not matter.
    """
    return 0.25 * draw_by_table(rng, 0.5 * abs(z))


@compiled
def draw_polya_gamma_sum(rng: np.random.Generator, n: int, z: float) -> float:
    """Return an exact draw of PG(n, z), the sum of n draws of PG(1, z), inside compiled code.

    Parameters
    ----------
    rng : Generator
    n : int
        At least 0. Time grows with it.
    z : float, logit
        Finite.
    """
    total = 0.0
    for _ in range(n):
        total += draw_polya_gamma(rng, z)
    return total


def polya_gamma(
    z: ArrayLike, n: ArrayLike = 1, *, rng: np.random.Generator | int | None = None
) -> Floats:
    r"""Return exact draws of PG(n, z).

    Parameters
    ----------
    z : array of float, logit
        The tilt; the same for z and -z.
    n : array of int
        Shapes, at least 0; broadcast against `z`.
    rng : Generator, int or None

    Returns
    -------
    array of float
        Of mean :math:`n \tanh(z/2) / 2z`, or n / 4 where z is 0.

    Raises
    ------
    ValueError
        If a value of `z` is not finite, or one of `n` is negative or no whole number.

    References
    ----------
    Polson, Scott and Windle (2013), Journal of the American Statistical Association 108,
    1339-1349. doi:10.1080/01621459.2013.829001

    Examples
    --------
    >>> draws = polya_gamma(np.full(10_000, 2.0), rng=1)
    >>> bool(abs(draws.mean() - np.tanh(1.0) / 4) < 0.005)
    True
    """
    tilt, shape = np.broadcast_arrays(np.asarray(z, dtype=np.float64), np.asarray(n))
    if not np.isfinite(tilt).all():
        raise ValueError(f"z must be finite, got {tilt[~np.isfinite(tilt)][0]}")
    odd = (shape < 0) | (shape != np.floor(shape))
    if odd.any():
        raise ValueError(f"n must be whole numbers of at least 0, got {shape[odd][0]}")
    draws = np.empty(tilt.shape)
    _fill(
        np.random.default_rng(rng),
        np.ascontiguousarray(shape, dtype=np.int64).ravel(),
        np.ascontiguousarray(tilt).ravel(),
        draws.ravel() if draws.ndim else draws.reshape(1),
    )
    return draws


@compiled
def _fill(rng: np.random.Generator, n: NDArray[np.int64], z: Floats, draws: Floats) -> None:
    for place in range(len(z)):
        draws[place] = draw_polya_gamma_sum(rng, n[place], z[place])
