r"""Moves of Gibbs samplers along which the linear predictor does not change.

Where a group acts on the unknowns without changing the likelihood, one-at-a-time draws creep along
its orbits: factors given loadings keep their scale, loadings given factors keep it too. A draw of
the group element from the density of what it leads to, times the Jacobian and the Haar measure,
leaves the posterior invariant and crosses the orbit in one step. The elements here are

- regular matrices A: :math:`\theta \to A\theta, a \to aA^{-1}`, as one rotation and elementary
  matrices, each a group of one parameter; all of them see only two K x K matrices;
- one factor for all dimensions, together with the scale of the loadings;
- shifts of the abilities of each family, against easiness and family effects.

References: Liu and Sabatti (2000), Biometrika 87, 353-369, theorem 1. doi:10.1093/biomet/87.2.353
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_gaussian import draw_conditioned
from neartie.inference.gibbs_slice import draw_log_scale
from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]


def random_rotation(n: int, *, rng: np.random.Generator) -> Floats:
    """Return a uniformly distributed orthogonal matrix.

    Parameters
    ----------
    n : int
    rng : Generator

    Returns
    -------
    (n, n) float
        Haar distributed, reflections included.

    References
    ----------
    Mezzadri (2007), Notices of the AMS 54, 592-604, section 5.

    Examples
    --------
    >>> turn = random_rotation(3, rng=np.random.default_rng(0))
    >>> bool(np.allclose(turn @ turn.T, np.eye(3)))
    True
    """
    turn = rng.standard_normal((n, n))
    make_orthonormal(turn)
    return turn


@compiled
def make_orthonormal(rows: Floats) -> None:
    """Make the rows of a square matrix orthonormal, in place, each less its part along those before.

    Of normal rows this gives uniformly distributed ones. Twice, since once leaves rounding.
    """
    for k in range(rows.shape[0]):
        row = rows[k]
        for _ in range(2):
            for j in range(k):
                share = 0.0
                for p in range(row.shape[0]):
                    share += row[p] * rows[j, p]
                for p in range(row.shape[0]):
                    row[p] -= share * rows[j, p]
            square = 0.0
            for p in range(row.shape[0]):
                square += row[p] * row[p]
            for p in range(row.shape[0]):
                row[p] /= math.sqrt(square)


@compiled
def mix_factors(
    rng: np.random.Generator,
    ability_gram: Floats,
    loading_gram: Floats,
    power: float,
    forward: Floats,
    backward: Floats,
) -> None:
    r"""Draw elementary matrices one after another and multiply them onto A and its inverse.

    Parameters
    ----------
    rng : Generator
    ability_gram : (K, K) float
        T with the log prior of abilities :math:`-\mathrm{tr}(A T A^\top)/2`; it goes along.
    loading_gram : (K, K) float
        S with that of loadings :math:`-\mathrm{tr}(A^{-\top} S A^{-1})/2`; it goes along.
    power : float
        Rows of abilities less rows of loadings: the Jacobian is its power of the determinant.
    forward, backward : (K, K) float
        A and its inverse, in place.

    Notes
    -----
    Dimension k times c has the log density :math:`p\log c - c^2T_{kk}/2 - c^{-2}S_{kk}/2` against
    the Haar measure :math:`dc/c`. Adding c times dimension k to j takes c times the loadings of j
    from those of k, without Jacobian: a normal density, of mean
    :math:`(S_{jk} - T_{jk})/(T_{kk} + S_{jj})` and variance one over that denominator.
    """
    size = len(ability_gram)
    for k in range(size):
        u = draw_log_scale(
            rng, 0.0, power, 0.5 * ability_gram[k, k], 0.5 * loading_gram[k, k], 0.0, 0.0, 0.0
        )
        c = math.exp(u)
        for p in range(size):
            forward[k, p] *= c
            backward[p, k] /= c
            ability_gram[k, p] *= c
            loading_gram[k, p] /= c
        for p in range(size):
            ability_gram[p, k] *= c
            loading_gram[p, k] /= c
        for j in range(size):
            if j == k:
                continue
            precision = ability_gram[k, k] + loading_gram[j, j]
            c = (loading_gram[j, k] - ability_gram[j, k]) / precision
            c += rng.standard_normal() / math.sqrt(precision)
            for p in range(size):
                forward[j, p] += c * forward[k, p]
                backward[p, k] -= c * backward[p, j]
                ability_gram[j, p] += c * ability_gram[k, p]
                loading_gram[k, p] -= c * loading_gram[j, p]
            for p in range(size):
                ability_gram[p, j] += c * ability_gram[p, k]
                loading_gram[p, k] -= c * loading_gram[p, j]


def draw_factor_map(
    ability_gram: Floats, loading_gram: Floats, *, power: float, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return a regular matrix and its inverse: a rotation, then every elementary matrix.

    Parameters
    ----------
    ability_gram, loading_gram, power
        As in `mix_factors`; not changed.
    rng : Generator

    Returns
    -------
    forward, backward : (K, K) float
        For abilities in columns from the left, for loadings in rows from the right.
    """
    turn = random_rotation(len(ability_gram), rng=rng)
    forward, backward = turn.copy(), np.ascontiguousarray(turn.T)
    ability = turn @ ability_gram @ turn.T
    loading = turn @ loading_gram @ turn.T
    mix_factors(rng, ability, loading, power, forward, backward)
    return forward, backward


class ShiftTerms(NamedTuple):
    r"""The Gaussian log density of shifts, before what ties them.

    Attributes
    ----------
    precision : (n, n) float
    shift : (n,) float
        Linear coefficients.

    Notes
    -----
    The unknowns are, dimension by dimension within each, the common shift :math:`\bar v` (K
    numbers), the contrasts U of the families' shifts (F - 1 times K), and with family means their
    contrasts W (F - 1 times K). Family f moves by :math:`v_f = \bar v + U H_f`.
    """

    precision: Floats
    shift: Floats


def shift_terms(
    ability: Floats,
    start: NDArray[np.intp],
    loading: Floats,
    easiness: Floats,
    effects: Floats,
    *,
    width: Floats,
    contrasts: Floats,
    easiness_precision: float,
    family_mean_sd: float | None,
) -> ShiftTerms:
    r"""Return the log density of shifts of abilities that leave the linear predictor as it is.

    Parameters
    ----------
    ability : (n_model, K) float
        Family by family, not centred.
    start : (F + 1,) int
        Where families begin.
    loading : (n_item, K) float
    easiness : (n_item,) float, logit
        Less its prior mean.
    effects : (n_item, F - 1) float
        z, standard contrasts of the family effects.
    width : (n_item,) float, logit
        What they are multiplied by.
    contrasts : (F, F - 1) float
        H.
    easiness_precision : float
        0 for a flat prior.
    family_mean_sd : float or None
        Prior scale of the family means; None where they are zero.

    Returns
    -------
    ShiftTerms

    Notes
    -----
    Easiness becomes :math:`b_i - a_i \cdot \bar v` and effects :math:`z_i - a_i^\top U / w_i`;
    abilities are N(0, 1) about :math:`W H_f`. Shifts have no Jacobian.
    """
    n_factor, n_free = loading.shape[1], contrasts.shape[1]
    with_means = family_mean_sd is not None
    size = n_factor * (1 + n_free * (1 + with_means))
    # One row a family: how its centred abilities move with each block of unknowns.
    moves = np.hstack([np.ones((len(contrasts), 1)), contrasts])
    if with_means:
        moves = np.hstack([moves, -contrasts])
    precision, shift = np.zeros((size, size)), np.zeros(size)
    _add_abilities(ability, start, moves, precision, shift)
    first = slice(0, n_factor)
    precision[first, first] += easiness_precision * (loading.T @ loading)
    shift[first] += easiness_precision * (loading.T @ easiness)
    scaled = loading / width[:, None]
    gram, cross = scaled.T @ scaled, scaled.T @ effects
    for c in range(n_free):
        block = slice((1 + c) * n_factor, (2 + c) * n_factor)
        precision[block, block] += gram
        shift[block] += cross[:, c]
    if family_mean_sd is not None:
        means = np.arange(size - n_free * n_factor, size)
        precision[means, means] += family_mean_sd**-2
    return ShiftTerms(precision=precision, shift=shift)


@compiled
def _add_abilities(
    ability: Floats, start: NDArray[np.intp], moves: Floats, precision: Floats, shift: Floats
) -> None:
    n_factor = ability.shape[1]
    for f in range(moves.shape[0]):
        for p in range(moves.shape[1]):
            for q in range(moves.shape[1]):
                size = (start[f + 1] - start[f]) * moves[f, p] * moves[f, q]
                for k in range(n_factor):
                    precision[p * n_factor + k, q * n_factor + k] += size
            for m in range(start[f], start[f + 1]):
                for k in range(n_factor):
                    shift[p * n_factor + k] -= moves[f, p] * ability[m, k]


def draw_shifts(
    terms: ShiftTerms,
    *,
    n_factor: int,
    n_free: int,
    tied: Floats | None,
    rng: np.random.Generator,
) -> tuple[Floats, Floats, Floats]:
    r"""Return shifts, and family means where they are unknown.

    Parameters
    ----------
    terms : ShiftTerms
        Overwritten.
    n_factor, n_free : int
        K and F - 1.
    tied : (K,) float, optional
        Sum of the loadings over items: shifts of families then keep the sum of effects over
        items, :math:`(\sum_i a_i)^\top U = 0`.
    rng : Generator

    Returns
    -------
    common : (K,) float
    between : (F - 1, K) float
        U, one contrast a row.
    means : (F - 1, K) or (0, K) float
        W.
    """
    size = len(terms.shift)
    constraint = np.zeros((0 if tied is None else n_free, size))
    if tied is not None:
        for c in range(n_free):
            constraint[c, (1 + c) * n_factor : (2 + c) * n_factor] = tied
    drawn = draw_conditioned(terms.precision, terms.shift, constraint, rng).reshape(-1, n_factor)
    return drawn[0], drawn[1 : 1 + n_free], drawn[1 + n_free :]
