"""Abilities given items without weights: every model's vector about the mode of its conditional."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_ability_kernel import fill_ability
from neartie.inference.gibbs_direct_kernel import (
    MAX_STEPS,
    NEAR,
    add_rows,
    dot,
    log_likelihood,
    newton_step,
    propose,
    read_answers,
    weigh,
)
from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]
type Whole = NDArray[np.intp]


@compiled
def ability_log_prior(x: Floats, center: Floats) -> float:
    """Return the log prior density of a model's ability, N(center, 1), up to a constant."""
    value = 0.0
    for k in range(x.shape[0]):
        value -= 0.5 * (x[k] - center[k]) ** 2
    return value


@compiled
def seek_ability(
    x: Floats,
    right_sums: Floats,
    seen: Floats,
    rows: Floats,
    products: Floats,
    intercept: Floats,
    center: Floats,
    matrix: Floats,
) -> None:
    """Move a start to near the mode of a model's ability, in place, and write the factor there.

    Parameters
    ----------
    x : (K,) float
        Where the search begins.
    right_sums : (K,) float
        Loadings summed over the right answers.
    seen : (n_item,) float
    rows : (K, n_item) float
        Loadings.
    products : (K (K + 1) / 2, n_item) float
        Of loadings, packed.
    intercept : (n_item,) float, logit
    center : (K,) float
    matrix : (K, K) float
        Its upper triangle is written: the factor of the curvature before the last step.
    """
    n_packed, n = products.shape
    gram, lean, gradient = np.empty(n_packed), np.empty(x.shape[0]), np.empty(x.shape[0])
    logit, chance, weight = np.empty(n), np.empty(n), np.empty(n)
    for _ in range(MAX_STEPS):
        logit[:] = intercept
        add_rows(x, rows, logit)
        weigh(logit, seen, chance, weight)
        for p in range(n_packed):
            gram[p] = dot(weight, products[p])
        for k in range(x.shape[0]):
            lean[k] = right_sums[k] - dot(chance, rows[k]) - x[k]
        fill_ability(gram, lean, center, matrix, gradient)
        if newton_step(x, matrix, gradient) < NEAR:
            break


@compiled
def draw_abilities_directly(
    rng: np.random.Generator,
    ability: Floats,
    begin: Floats,
    answers: NDArray[np.int8],
    rows: Floats,
    products: Floats,
    intercepts: Floats,
    family: Whole,
    center: Floats,
) -> int:
    """Draw every model's ability given the items, in place; return how many proposals were accepted.

    Parameters
    ----------
    rng : Generator
    ability, begin : (n_model, K) float
        As they are, and where searches for modes begin.
    answers : (n_model, n_item) int8
        1 right, 0 wrong, -1 missing.
    rows, products : (K, n_item), (K (K + 1) / 2, n_item) float
        Loadings, and their packed products.
    intercepts : (F, n_item) float, logit
    family : (n_model,) int
    center : (n_model, K) float
        Prior means.
    """
    n, size = rows.shape[1], rows.shape[0]
    right, seen = np.empty(n), np.empty(n)
    right_sums, mode, proposed = np.empty(size), np.empty(size), np.empty(size)
    old, new = np.empty(n), np.empty(n)
    matrix = np.empty((size, size))
    n_accepted = 0
    for m in range(ability.shape[0]):
        read_answers(answers[m], right, seen)
        intercept, x = intercepts[family[m]], ability[m]
        for k in range(size):
            right_sums[k] = dot(right, rows[k])
        mode[:] = begin[m]
        seek_ability(mode, right_sums, seen, rows, products, intercept, center[m], matrix)
        ratio = propose(rng, x, mode, matrix, proposed)
        old[:] = intercept
        new[:] = intercept
        add_rows(x, rows, old)
        add_rows(proposed, rows, new)
        ratio += log_likelihood(new, right, seen) + ability_log_prior(proposed, center[m])
        ratio -= log_likelihood(old, right, seen) + ability_log_prior(x, center[m])
        if math.log(1.0 - rng.random()) < ratio:
            x[:] = proposed
            n_accepted += 1
    return n_accepted
