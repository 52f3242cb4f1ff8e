"""Items given abilities without weights: every item's vector about the mode of its conditional.

In the coordinates x = (a, b, z) of `neartie.inference.gibbs_item_kernel`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_direct_kernel import (
    MAX_STEPS,
    NEAR,
    add_rows,
    dot,
    log_likelihood,
    newton_step,
    propose,
    read_answers,
    total,
    weigh,
)
from neartie.inference.gibbs_item_draws import ItemPriors, fill_item
from neartie.inference.gibbs_item_kernel import ItemSums
from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]
type Whole = NDArray[np.intp]


@compiled
def fill_logits(
    x: Floats, rows: Floats, start: Whole, width: float, contrasts: Floats, logit: Floats
) -> None:
    """Write the logits of one item, with models family by family.

    Parameters
    ----------
    x : (K + F,) float
    rows : (K, n_model) float
        Abilities.
    start : (F + 1,) int
    width : float, logit
    contrasts : (F, F - 1) float
    logit : (n_model,) float
    """
    size = rows.shape[0]
    for f in range(contrasts.shape[0]):
        level = x[size]
        for c in range(contrasts.shape[1]):
            level += width * contrasts[f, c] * x[size + 1 + c]
        logit[start[f] : start[f + 1]] = level
    add_rows(x, rows, logit)


@compiled
def item_log_prior(x: Floats, priors: ItemPriors) -> float:
    """Return the log prior density of one item's x, up to a constant."""
    b = x.shape[0] - priors.contrasts.shape[0]
    value = -0.5 * priors.easiness_precision * (x[b] - priors.easiness_mean) ** 2
    for k in range(b):
        value -= 0.5 * priors.loading_precision * x[k] * x[k]
    for c in range(b + 1, x.shape[0]):
        value -= 0.5 * x[c] * x[c]
    return float(value)


@compiled
def seek_item(
    x: Floats,
    i: int,
    right: Floats,
    seen: Floats,
    rows: Floats,
    products: Floats,
    start: Whole,
    priors: ItemPriors,
    sums: ItemSums,
    matrix: Floats,
) -> None:
    """Move a start to near the mode of an item's x, in place, and write the factor there.

    Parameters
    ----------
    x : (K + F,) float
        Where the search begins.
    i : int
        Which item.
    right, seen : (n_model,) float
    rows, products : (K, n_model), (K (K + 1) / 2, n_model) float
        Abilities, and their packed products.
    start : (F + 1,) int
    priors : ItemPriors
    sums : ItemSums
        Room for those of all items; those of this one are overwritten.
    matrix : (K + F, K + F) float
        Its upper triangle is written: the factor of the curvature before the last step.
    """
    n_factor, n = rows.shape
    b = n_factor
    logit, chance, weight = np.empty(n), np.empty(n), np.empty(n)
    gradient = np.empty(x.shape[0])
    for _ in range(MAX_STEPS):
        fill_logits(x, rows, start, priors.width[i], priors.contrasts, logit)
        weigh(logit, seen, chance, weight)
        for p in range(products.shape[0]):
            sums.gram[i, p] = dot(weight, products[p])
        # What is left of the answers, in place of the chances.
        for m in range(n):
            chance[m] = right[m] - chance[m]
        for k in range(n_factor):
            sums.lean_ability[i, k] = dot(chance, rows[k])
        for f in range(start.shape[0] - 1):
            part = slice(start[f], start[f + 1])
            sums.total[i, f] = total(weight[part])
            sums.lean[i, f] = total(chance[part])
            for k in range(n_factor):
                sums.cross[i, f, k] = dot(weight[part], rows[k, part])
        fill_item(sums, priors, i, matrix, gradient)
        for k in range(n_factor):
            gradient[k] -= priors.loading_precision * x[k]
        gradient[b] -= priors.easiness_precision * x[b]
        for c in range(b + 1, x.shape[0]):
            gradient[c] -= x[c]
        if newton_step(x, matrix, gradient) < NEAR:
            break


@compiled
def draw_items_directly(
    rng: np.random.Generator,
    items: Floats,
    begin: Floats,
    answers: NDArray[np.int8],
    rows: Floats,
    products: Floats,
    start: Whole,
    priors: ItemPriors,
    sums: ItemSums,
) -> int:
    """Draw every item's x given the abilities, in place; return how many proposals were accepted.

    Parameters
    ----------
    rng : Generator
    items, begin : (n_item, K + F) float
        As they are, and where searches for modes begin.
    answers : (n_item, n_model) int8
        1 right, 0 wrong, -1 missing.
    rows, products, start, priors, sums
        As in `seek_item`.
    """
    n, size = answers.shape[1], items.shape[1]
    right, seen = np.empty(n), np.empty(n)
    mode, proposed = np.empty(size), np.empty(size)
    logit = np.empty(n)
    matrix = np.empty((size, size))
    n_accepted = 0
    for i in range(items.shape[0]):
        read_answers(answers[i], right, seen)
        x, width = items[i], priors.width[i]
        mode[:] = begin[i]
        seek_item(mode, i, right, seen, rows, products, start, priors, sums, matrix)
        ratio = propose(rng, x, mode, matrix, proposed)
        fill_logits(x, rows, start, width, priors.contrasts, logit)
        ratio -= log_likelihood(logit, right, seen) + item_log_prior(x, priors)
        fill_logits(proposed, rows, start, width, priors.contrasts, logit)
        ratio += log_likelihood(logit, right, seen) + item_log_prior(proposed, priors)
        if math.log(1.0 - rng.random()) < ratio:
            x[:] = proposed
            n_accepted += 1
    return n_accepted
