"""Items of Gibbs samplers with family effects, given abilities and Pólya–Gamma weights.

In the coordinates x = (a, b, z) of `neartie.inference.gibbs_item_kernel`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_gaussian import draw_from_factor, factor_in_place, inverse_columns
from neartie.inference.gibbs_item_kernel import ItemSums
from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]


class ItemPriors(NamedTuple):
    """Normal priors of x, independent over items.

    Attributes
    ----------
    loading_precision : float
    easiness_mean, easiness_precision : float
        A precision of zero is a flat prior.
    width : (n_item,) float, logit
        Of the effects: what a standard effect is multiplied by.
    contrasts : (F, F - 1) float
        H.
    """

    loading_precision: float
    easiness_mean: float
    easiness_precision: float
    width: Floats
    contrasts: Floats


def draw_items(
    sums: ItemSums, priors: ItemPriors, *, tied: bool, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Return a draw of all items given abilities and weights.

    Parameters
    ----------
    sums : ItemSums
    priors : ItemPriors
    tied : bool
        Whether effects sum to zero over items too.
    rng : Generator

    Returns
    -------
    loading : (n_item, K) float
    easiness : (n_item,) float, logit
    effects : (n_item, F - 1) float
        z, standard effects as contrasts.
    """
    n_item, n_family, n_factor = sums.cross.shape
    size = n_factor + n_family
    items = np.empty((n_item, size))
    spread = np.empty((n_item, n_family - 1, size) if tied else (0, 0, 0))
    draw_each_item(rng, sums, priors, items, spread)
    if tied:
        tie_items(items, spread)
    parts = items[:, :n_factor], items[:, n_factor], items[:, n_factor + 1 :]
    loading, easiness, effects = (np.ascontiguousarray(part) for part in parts)
    return loading, easiness, effects


@compiled
def fill_item(sums: ItemSums, priors: ItemPriors, i: int, matrix: Floats, vector: Floats) -> None:
    r"""Write the precision (upper triangle) and the linear coefficients of one item's x.

    Parameters
    ----------
    sums : ItemSums
    priors : ItemPriors
    i : int
    matrix : (K + F, K + F) float
    vector : (K + F,) float
    """
    n_family, n_factor = sums.cross.shape[1:]
    contrasts, width = priors.contrasts, priors.width[i]
    size = n_factor + n_family
    matrix[:] = 0.0
    place = 0
    for k in range(n_factor):
        for j in range(k, n_factor):
            matrix[k, j] = sums.gram[i, place]
            place += 1
        matrix[k, k] += priors.loading_precision
        vector[k] = sums.lean_ability[i, k]
    b = n_factor
    vector[b:] = 0.0
    for f in range(n_family):
        total, lean = sums.total[i, f], sums.lean[i, f]
        for k in range(n_factor):
            matrix[k, b] += sums.cross[i, f, k]
        matrix[b, b] += total
        vector[b] += lean
        for c in range(n_family - 1):
            share = width * contrasts[f, c]
            for k in range(n_factor):
                matrix[k, b + 1 + c] += share * sums.cross[i, f, k]
            matrix[b, b + 1 + c] += share * total
            vector[b + 1 + c] += share * lean
            for d in range(c, n_family - 1):
                matrix[b + 1 + c, b + 1 + d] += share * width * contrasts[f, d] * total
    matrix[b, b] += priors.easiness_precision
    vector[b] += priors.easiness_precision * priors.easiness_mean
    for c in range(b + 1, size):
        matrix[c, c] += 1.0


@compiled
def draw_each_item(
    rng: np.random.Generator, sums: ItemSums, priors: ItemPriors, items: Floats, spread: Floats
) -> None:
    r"""Write a draw of every item's x given abilities and weights.

    Parameters
    ----------
    rng : Generator
    sums : ItemSums
    priors : ItemPriors
    items : (n_item, K + F) float
        Written.
    spread : (n_item, F - 1, K + F) float, or (0, 0, 0)
        Written where it has items: the covariances of z with all of x.
    """
    size = items.shape[1]
    n_free = priors.contrasts.shape[1]
    matrix = np.empty((size, size))
    for i in range(items.shape[0]):
        fill_item(sums, priors, i, matrix, items[i])
        factor_in_place(matrix)
        draw_from_factor(matrix, items[i], rng)
        if len(spread):
            inverse_columns(matrix, size - n_free, spread[i])


def tie_items(items: Floats, spread: Floats) -> None:
    r"""Condition independent draws of items, in place, on effects that sum to zero over items.

    Parameters
    ----------
    items : (n_item, K + F) float
    spread : (n_item, F - 1, K + F) float
        Covariances of z with all of x, as `draw_each_item` writes them.

    Notes
    -----
    With :math:`S = \sum_i z_i` and :math:`V_i = \mathrm{Cov}(x_i, z_i)`, a draw becomes
    :math:`x_i - V_i (\sum_j \mathrm{Cov}(z_j))^{-1} S`.

    References
    ----------
    Rue and Held (2005), Gaussian Markov Random Fields, section 2.3.3.
    """
    n_free = spread.shape[1]
    excess = items[:, -n_free:].sum(axis=0)
    items -= np.linalg.solve(spread[:, :, -n_free:].sum(axis=0), excess) @ spread
    # What is left is rounding.
    items[:, -n_free:] -= items[:, -n_free:].mean(axis=0)


def contrast_basis(n: int) -> Floats:
    """Return orthonormal columns that sum to zero.

    Parameters
    ----------
    n : int

    Returns
    -------
    (n, n - 1) float
        Helmert's: every column weighs one place against those before it.

    Examples
    --------
    >>> contrast_basis(2).round(4)
    array([[ 0.7071],
           [-0.7071]])
    """
    basis = np.zeros((n, n - 1))
    for c in range(n - 1):
        root = math.sqrt((c + 1) * (c + 2))
        basis[: c + 1, c] = 1.0 / root
        basis[c + 1, c] = -(c + 1) / root
    return basis
