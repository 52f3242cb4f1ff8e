r"""Abilities given items and Pólya–Gamma weights, in one pass over the answers.

The linear predictor is :math:`a_i \cdot \theta_m + c_{if}`; see
`neartie.inference.gibbs_item_kernel`, whose order of models and packed products are used.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_gaussian import draw_from_factor, factor_in_place
from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]
type Whole = NDArray[np.intp]

# Items whose products are added to the sums of a model at a time.
BLOCK = 4


@compiled
def ability_sums(
    weights: Floats,
    answers: NDArray[np.int8],
    intercept: Floats,
    products: Floats,
    start: Whole,
    gram: Floats,
    lean: Floats,
) -> None:
    r"""Write the sums over items that abilities need.

    Parameters
    ----------
    weights : (n_item, n_model) float
    answers : (n_item, n_model) int8
    intercept : (n_item, F) float, logit
        :math:`c_{if}`
    products : (n_item, K (K + 1) / 2 + K) float
        Of loadings, as `packed_products` makes them.
    start : (F + 1,) int
    gram : (n_model, K (K + 1) / 2) float
        :math:`\sum_i \omega_{im} a_i a_i^\top`, packed; written.
    lean : (n_model, K) float
        :math:`\sum_i (t_{im} - \omega_{im} c_{if}) a_i`, with t the answer as 1/2 or -1/2; written.
    """
    n_item = weights.shape[0]
    n_packed = gram.shape[1]
    gram[:] = 0.0
    lean[:] = 0.0
    for i in range(0, n_item, BLOCK):
        # The last block may be short: its missing items repeat the last one with no weight.
        full = i + BLOCK <= n_item
        i1, i2, i3 = min(i + 1, n_item - 1), min(i + 2, n_item - 1), min(i + 3, n_item - 1)
        p0, p1, p2, p3 = products[i], products[i1], products[i2], products[i3]
        for f in range(len(start) - 1):
            for m in range(start[f], start[f + 1]):
                w0, w1, w2, w3 = weights[i, m], weights[i1, m], weights[i2, m], weights[i3, m]
                t0 = _target(answers[i, m]) - w0 * intercept[i, f]
                t1 = _target(answers[i1, m]) - w1 * intercept[i1, f]
                t2 = _target(answers[i2, m]) - w2 * intercept[i2, f]
                t3 = _target(answers[i3, m]) - w3 * intercept[i3, f]
                if not full:
                    w3, t3 = 0.0, 0.0
                    if i + 2 >= n_item:
                        w2, t2 = 0.0, 0.0
                    if i + 1 >= n_item:
                        w1, t1 = 0.0, 0.0
                row = gram[m]
                for p in range(n_packed):
                    row[p] += (w0 * p0[p] + w1 * p1[p]) + (w2 * p2[p] + w3 * p3[p])
                side = lean[m]
                for k in range(len(side)):
                    p = n_packed + k
                    side[k] += (t0 * p0[p] + t1 * p1[p]) + (t2 * p2[p] + t3 * p3[p])


@compiled
def _target(answer: int) -> float:
    return answer - 0.5 if answer >= 0 else 0.0


@compiled
def fill_ability(
    gram: Floats, lean: Floats, center: Floats, matrix: Floats, vector: Floats
) -> None:
    """Write the precision (upper triangle) and linear coefficients of one model's ability.

    Parameters
    ----------
    gram : (K (K + 1) / 2,) float
    lean, center : (K,) float
        The model's sums, and the mean of its normal prior of variance 1.
    matrix : (K, K) float
    vector : (K,) float
    """
    place = 0
    for k in range(len(vector)):
        vector[k] = lean[k] + center[k]
        for j in range(k, len(vector)):
            matrix[k, j] = gram[place]
            place += 1
        matrix[k, k] += 1.0


@compiled
def draw_abilities(
    rng: np.random.Generator, gram: Floats, lean: Floats, center: Floats, ability: Floats
) -> None:
    """Write a draw of every ability given items and weights.

    Parameters
    ----------
    rng : Generator
    gram, lean
        As `ability_sums` writes them.
    center : (n_model, K) float
        Prior means.
    ability : (n_model, K) float
        Written.
    """
    matrix = np.empty((ability.shape[1], ability.shape[1]))
    for m in range(ability.shape[0]):
        fill_ability(gram[m], lean[m], center[m], matrix, ability[m])
        factor_in_place(matrix)
        draw_from_factor(matrix, ability[m], rng)
