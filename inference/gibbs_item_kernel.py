r"""Kernels of Gibbs samplers with family effects: Pólya–Gamma weights, and their sums an item.

The linear predictor of item i and model m of family f is, but for a known offset,

.. math:: \eta_{im} = a_i \cdot \theta_m + c_{if}, \qquad c_{if} = b_i + w_i\,(H z_i)_f,

with loadings a, easiness b and the standard effects :math:`H z_i`; the columns of H are
orthonormal and sum to zero, so that z has free coordinates, standard normal ones. :math:`w_i` is
the width of the effects. In these coordinates the precision of an item given weights and abilities
stays well conditioned where :math:`w_i` vanishes.

An unknown vector of an item is x = (a, b, z): K + F numbers for K dimensions and F families.
Models come family by family: family f has the columns start[f] to start[f + 1] - 1.

A Gaussian likelihood needs a few sums over models, held in `ItemSums`. Packed matrices hold the
upper triangle row by row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neartie.inference.pairwise_bits import compiled
from neartie.inference.polya_gamma import draw_polya_gamma

type Floats = NDArray[np.float64]
type Whole = NDArray[np.intp]


class ItemSums(NamedTuple):
    r"""What abilities, weights :math:`\omega` and answers say of items.

    Attributes
    ----------
    gram : (n_item, K (K + 1) / 2) float
        :math:`\sum_m \omega_{im} \theta_m \theta_m^\top`, packed.
    cross : (n_item, F, K) float
        :math:`\sum_{m \in f} \omega_{im} \theta_m`
    total : (n_item, F) float
        :math:`\sum_{m \in f} \omega_{im}`
    lean_ability : (n_item, K) float
        :math:`\sum_m t_{im} \theta_m`, with t the answer as 1/2 or -1/2, less the weight times
        the offset.
    lean : (n_item, F) float
        :math:`\sum_{m \in f} t_{im}`
    """

    gram: Floats
    cross: Floats
    total: Floats
    lean_ability: Floats
    lean: Floats


def empty_sums(n_item: int, n_family: int, n_factor: int) -> ItemSums:
    """Return room for the sums of that many items."""
    return ItemSums(
        gram=np.empty((n_item, n_factor * (n_factor + 1) // 2)),
        cross=np.empty((n_item, n_family, n_factor)),
        total=np.empty((n_item, n_family)),
        lean_ability=np.empty((n_item, n_factor)),
        lean=np.empty((n_item, n_family)),
    )


@compiled
def draw_weights(
    rng: np.random.Generator,
    answers: NDArray[np.int8],
    offset: Floats,
    loading: Floats,
    intercept: Floats,
    ability: Floats,
    start: Whole,
    weights: Floats,
) -> None:
    r"""Write the Pólya–Gamma weight of every answer, PG(1, :math:`\eta`), 0 where there is none.

    Parameters
    ----------
    rng : Generator
    answers : (n_item, n_model) int8
    offset : (n_item, n_model) or (0, 0) float, logit
    loading : (n_item, K) float
    intercept : (n_item, F) float, logit
        :math:`c_{if}`
    ability : (K, n_model) float
    start : (F + 1,) int
    weights : (n_item, n_model) float
        Written.
    """
    for i in range(answers.shape[0]):
        row = weights[i]
        for f in range(len(start) - 1):
            row[start[f] : start[f + 1]] = intercept[i, f]
        if len(offset):
            row += offset[i]
        for k in range(loading.shape[1]):
            row += loading[i, k] * ability[k]
        for m in range(len(row)):
            row[m] = draw_polya_gamma(rng, row[m]) if answers[i, m] >= 0 else 0.0


@compiled
def packed_products(rows: Floats, width: int) -> Floats:
    """Return the packed products of every row with itself, and the row after them.

    Parameters
    ----------
    rows : (n, K) float
    width : int
        K (K + 1) / 2 + K

    Returns
    -------
    (n, width) float

    Examples
    --------
    >>> packed_products(np.array([[2.0, 3.0]]), 5)
    array([[4., 6., 9., 2., 3.]])
    """
    products = np.empty((rows.shape[0], width))
    for m in range(rows.shape[0]):
        place = 0
        for k in range(rows.shape[1]):
            for j in range(k, rows.shape[1]):
                products[m, place] = rows[m, k] * rows[m, j]
                place += 1
        products[m, place:] = rows[m]
    return products


@compiled
def add_item_sums(
    weights: Floats,
    answers: NDArray[np.int8],
    offset: Floats,
    products: Floats,
    start: Whole,
    sums: ItemSums,
) -> None:
    """Write the sums over models that items need.

    Parameters
    ----------
    weights, answers, offset, start
        As in `draw_weights`.
    products : (n_model, K (K + 1) / 2 + K) float
        Of abilities, as `packed_products` makes them.
    sums : ItemSums
        Written.
    """
    n_packed = sums.gram.shape[1]
    n_factor = products.shape[1] - n_packed
    both = np.empty(products.shape[1])
    target = np.empty(weights.shape[1])
    for i in range(weights.shape[0]):
        weight = weights[i]
        for m in range(len(weight)):
            answer = answers[i, m]
            target[m] = answer - 0.5 if answer >= 0 else 0.0
        if len(offset):
            target -= weight * offset[i]
        sums.gram[i] = 0.0
        sums.lean_ability[i] = 0.0
        for f in range(len(start) - 1):
            both[:] = 0.0
            total, lean = 0.0, 0.0
            for m in range(start[f], start[f + 1]):
                total += weight[m]
                lean += target[m]
                for k in range(n_factor):
                    sums.lean_ability[i, k] += target[m] * products[m, n_packed + k]
            _add_weighted(weight, products, start[f], start[f + 1], both)
            sums.gram[i] += both[:n_packed]
            sums.cross[i, f] = both[n_packed:]
            sums.total[i, f] = total
            sums.lean[i, f] = lean


@compiled
def _add_weighted(weight: Floats, rows: Floats, first: int, last: int, sums: Floats) -> None:
    """Add weighted rows, four at a time: a quarter of the traffic with the sums."""
    m = first
    while m + 4 <= last:
        w0, w1, w2, w3 = weight[m], weight[m + 1], weight[m + 2], weight[m + 3]
        r0, r1, r2, r3 = rows[m], rows[m + 1], rows[m + 2], rows[m + 3]
        for p in range(len(sums)):
            sums[p] += (w0 * r0[p] + w1 * r1[p]) + (w2 * r2[p] + w3 * r3[p])
        m += 4
    while m < last:
        for p in range(len(sums)):
            sums[p] += weight[m] * rows[m, p]
        m += 1
