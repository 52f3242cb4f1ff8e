"""R-hat and effective sample sizes of many quantities at once: numpy, scipy and numba only.

What convergence of a large posterior is judged by are some hundred thousand quantities. They are taken
by blocks, so that memory does not grow with their number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri

from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]

FEWEST_DRAWS: Final = 4
TAILS: Final = (0.05, 0.95)
# Numbers of a block: a dozen arrays of this size are held at a time.
_BLOCK: Final = 2**19
_OFFSET: Final = 3 / 8


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Mixing:
    """How well chains mix, a number a quantity.

    Attributes
    ----------
    varies : (n,) bool
        Whether all draws are finite and not all are equal; the rest is NaN where not.
    r_hat : (n,) float
        Rank-normalised, of half chains, the larger one of draws and of their distances from the
        median; NaN with one chain.
    ess_bulk : (n,) float
        Of the rank-normalised draws.
    ess_tail : (n,) float
        The smaller one of those of the 5 % and the 95 % quantile.
    """

    varies: NDArray[np.bool_]
    r_hat: Floats
    ess_bulk: Floats
    ess_tail: Floats


def mixing(draws: NDArray[np.floating]) -> Mixing:
    """Return R-hat and effective sample sizes of every quantity.

    Parameters
    ----------
    draws : (n, n_chain, n_draw) float

    Returns
    -------
    Mixing
        Nothing but NaN of fewer than four draws a chain.

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), Bayesian Analysis 16, 667-718,
    sections 3 and 4. doi:10.1214/20-BA1221

    Examples
    --------
    >>> draws = np.random.default_rng(1).standard_normal((3, 2, 1000))
    >>> said = mixing(draws)
    >>> bool((said.r_hat < 1.01).all()), bool((said.ess_bulk > 1500).all())
    (True, True)
    """
    n, n_chain, n_draw = draws.shape
    found = np.full((3, n), np.nan)
    varies = np.zeros(n, dtype=bool)
    step = max(_BLOCK // max(n_chain * n_draw, 1), 1)
    for first in range(0, n, step):
        here = slice(first, first + step)
        block = np.ascontiguousarray(draws[here], dtype=np.float64)
        varies[here] = vary(block)
        if n_draw >= FEWEST_DRAWS and varies[here].any():
            places = first + np.flatnonzero(varies[here])
            found[:, places] = _of_block(block[varies[here]])
    return Mixing(varies=varies, r_hat=found[0], ess_bulk=found[1], ess_tail=found[2])


def vary(draws: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Say of every quantity whether all draws are finite, and not all of them equal.

    Parameters
    ----------
    draws : (n, n_chain, n_draw) float

    Returns
    -------
    (n,) bool

    Examples
    --------
    >>> vary(np.array([[[1.0, 2.0]], [[1.0, 1.0]], [[1.0, np.nan]]]))
    array([ True, False, False])
    """
    if not draws.size:
        return np.zeros(len(draws), dtype=bool)
    low, high = draws.min(axis=(1, 2)), draws.max(axis=(1, 2))
    return np.asarray(np.isfinite(low) & np.isfinite(high) & (low < high))


def _of_block(block: Floats) -> Floats:
    """Return R-hat and both sample sizes, (3, n), of quantities that vary."""
    n, n_chain, _ = block.shape
    halves = _halves(block)
    flat = halves.reshape(n, -1)
    scores = normal_scores(flat).reshape(halves.shape)
    rhat = np.full(n, np.nan)
    if n_chain > 1:
        folded = np.abs(flat - np.median(flat, axis=1, keepdims=True))
        rhat, apart = _rhat(scores), _rhat(normal_scores(folded).reshape(halves.shape))
        # Of two values the distances do not vary, and have no R-hat.
        rhat = np.where(apart > rhat, apart, rhat)
    low, high = np.quantile(block.reshape(n, -1), TAILS, axis=1)
    tails = [
        sample_sizes((halves <= limit[:, None, None]).astype(np.float64)) for limit in (low, high)
    ]
    return np.array([rhat, sample_sizes(scores), np.minimum(*tails)])


def _halves(block: Floats) -> Floats:
    """Return the first and the last half of every chain as chains; an odd draw between is left out."""
    half = block.shape[2] // 2
    return np.concatenate([block[:, :, :half], block[:, :, -half:]], axis=1)


def normal_scores(values: Floats) -> Floats:
    """Return what the normal distribution has at the ranks of each row's numbers.

    Parameters
    ----------
    values : (n, m) float
        Equal numbers share the mean of their ranks.

    Returns
    -------
    (n, m) float

    References
    ----------
    Blom (1958), Statistical Estimates and Transformed Beta-Variables.

    Examples
    --------
    >>> normal_scores(np.array([[3.0, 1.0, 2.0]])).round(4)
    array([[ 0.8694, -0.8694,  0.    ]])
    """
    n, m = values.shape
    ranks = np.arange(2, 2 * m + 1) / 2  # those of ties are halves
    table = ndtri((ranks - _OFFSET) / (m - 2 * _OFFSET + 1))
    scores = np.empty((n, m))
    _look_up(values, np.argsort(values, axis=1), table, scores)
    return scores


@compiled
def _look_up(values: Floats, order: NDArray[np.intp], table: Floats, scores: Floats) -> None:
    m = values.shape[1]
    for i in range(values.shape[0]):
        first = 0
        while first < m:
            last = first
            while last + 1 < m and values[i, order[i, last + 1]] == values[i, order[i, first]]:
                last += 1
            for place in range(first, last + 1):
                scores[i, order[i, place]] = table[first + last]
            first = last + 1


def _rhat(chains: Floats) -> Floats:
    n_draw = chains.shape[2]
    between = chains.mean(axis=2).var(axis=1, ddof=1)
    within = chains.var(axis=2, ddof=1).mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.sqrt(between / within + (n_draw - 1) / n_draw))


def sample_sizes(chains: Floats) -> Floats:
    """Return the effective sample size for the mean of every quantity.

    Parameters
    ----------
    chains : (n, n_chain, n_draw) float
        At least two draws.

    Returns
    -------
    (n,) float
        At most n log10 n for a total of n draws; n of what does not vary.

    Notes
    -----
    Autocorrelations of all chains together come from one inverse transform of the mean of their
    spectra; they are summed by pairs as long as these are positive, and made monotone.

    References
    ----------
    Geyer (1992), Statistical Science 7, 473-483, section 3.3. doi:10.1214/ss/1177011137

    Examples
    --------
    >>> sample_sizes(np.array([[[1.0, 1.0, 1.0]]]))
    array([3.])
    """
    n, n_chain, n_draw = chains.shape
    means = chains.mean(axis=2)
    length = next_fast_len(2 * n_draw, real=True)
    spectrum = rfft(chains - means[:, :, None], n=length, axis=2)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=1)
    covariance = irfft(power, n=length, axis=1)[:, :n_draw] / n_draw
    between = means.var(axis=1, ddof=1) if n_chain > 1 else np.zeros(n)
    spread = np.ptp(chains, axis=(1, 2))
    sizes = np.empty(n)
    _from_covariances(covariance, between, spread, n_chain, sizes)
    return sizes


@compiled
def _from_covariances(
    covariance: Floats, between: Floats, spread: Floats, n_chain: int, sizes: Floats
) -> None:
    """Write sample sizes, given mean autocovariances and the variance of the chains' means."""
    n_draw = covariance.shape[1]
    total = n_chain * n_draw
    for i in range(len(sizes)):
        if spread[i] < 1e-15:
            sizes[i] = total
            continue
        within = covariance[i, 0] * n_draw / (n_draw - 1.0)
        pooled = covariance[i, 0] + between[i]
        even, odd = 1.0, 1.0 - (within - covariance[i, 1]) / pooled
        pair, lag, time = even + odd, 1, -1.0
        bound = math.inf
        while lag < n_draw - 3 and pair > 0.0:
            bound = min(pair, bound)
            time += 2.0 * bound
            even = 1.0 - (within - covariance[i, lag + 1]) / pooled
            odd = 1.0 - (within - covariance[i, lag + 2]) / pooled
            pair = even + odd
            lag += 2
        # Half of the last pair, which need not be positive, where that makes the time no shorter.
        if even > 0.0 or pair >= 0.0:
            time += even
        sizes[i] = total / max(time, 1.0 / math.log10(total))
