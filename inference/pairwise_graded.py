"""Counts on the levels of two graded items: concordance, entropies, nested margins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neartie.inference.pairwise_bits import compiled


def level_codes(
    scores: NDArray[np.float64],
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]:
    """Return the levels of each item.

    Parameters
    ----------
    scores : (n_item, n_model) float
        NaN where missing.

    Returns
    -------
    codes : (n_item, n_model) int32
        Rank of the score among the item's distinct scores, from 0; -1 where missing.
    n_level : (n_item,) int
    levels : (n_item, largest number of levels) float
        The distinct scores, NaN beyond.

    Examples
    --------
    >>> level_codes(np.array([[0.5, 0.0, np.nan, 0.5]]))[0]
    array([[ 1,  0, -1,  1]], dtype=int32)
    """
    codes = np.full(scores.shape, -1, dtype=np.int32)
    found = []
    for i, row in enumerate(scores):
        seen = ~np.isnan(row)
        distinct, inverse = np.unique(row[seen], return_inverse=True)
        codes[i, seen] = inverse
        found.append(distinct)
    n_level = np.array([len(distinct) for distinct in found], dtype=np.int64)
    levels = np.full((len(scores), max(1, int(n_level.max(initial=0)))), np.nan)
    for i, distinct in enumerate(found):
        levels[i, : len(distinct)] = distinct
    return codes, n_level, levels


@compiled
def concordance(
    x: NDArray[np.int32],
    y: NDArray[np.int32],
    order: NDArray[np.int64],
    n_level: int,
    tree: NDArray[np.int64],
) -> int:
    """Return the concordant minus the discordant pairs of rows: Kendall's S, whose sign is tau's.

    Parameters
    ----------
    x, y : (n,) int32
        Level codes, -1 where missing.
    order : (n,) int
        Rows in the order of `x`.
    n_level : int
        Levels of `y`.
    tree : (n_level + 1,) int
        Overwritten: counts of the levels of `y` met so far, summed as a binary indexed tree.

    Returns
    -------
    int
    """
    tree[: n_level + 1] = 0
    total, n_before, first = 0, 0, 0
    n = order.shape[0]
    while first < n:
        after = first
        while after < n and x[order[after]] == x[order[first]]:
            after += 1
        if x[order[first]] >= 0:
            n_tied = 0
            for t in range(first, after):
                level = y[order[t]]
                if level < 0:
                    continue
                n_tied += 1
                below, k = 0, level
                while k > 0:
                    below += tree[k]
                    k -= k & -k
                up_to, k = 0, level + 1
                while k > 0:
                    up_to += tree[k]
                    k -= k & -k
                total += below - (n_before - up_to)
            for t in range(first, after):
                k = y[order[t]] + 1
                while 0 < k <= n_level:
                    tree[k] += 1
                    k += k & -k
            n_before += n_tied
        first = after
    return total


@compiled
def entropy_sum(count: NDArray[np.float64], n_level: int) -> float:
    """Return the sum of n log n over the levels."""
    total = 0.0
    for k in range(n_level):
        if count[k] > 0.0:
            total += count[k] * np.log(count[k])
    return total


@compiled
def joint_entropy_sum(
    x: NDArray[np.int32],
    y: NDArray[np.int32],
    order: NDArray[np.int64],
    cell: NDArray[np.float64],
) -> float:
    """Return the sum of n log n over the cells of the cross table; `cell` is zero and stays so."""
    total, first, n = 0.0, 0, order.shape[0]
    while first < n:
        after = first
        while after < n and x[order[after]] == x[order[first]]:
            if x[order[first]] >= 0 and y[order[after]] >= 0:
                cell[y[order[after]]] += 1.0
            after += 1
        for t in range(first, after):
            level = y[order[t]]
            if level >= 0 and cell[level] > 0.0:
                total += cell[level] * np.log(cell[level])
                cell[level] = 0.0
        first = after
    return total


@compiled
def nested_product(
    count_x: NDArray[np.float64],
    count_y: NDArray[np.float64],
    x_levels: NDArray[np.float64],
    y_levels: NDArray[np.float64],
    mean_x: float,
    mean_y: float,
) -> float:
    """Return the sum of products of two items with these margins, both put in order."""
    total, a, b = 0.0, 0, 0
    left_x, left_y = count_x[0], count_y[0]
    while True:
        while left_x == 0.0:
            a += 1
            if a == count_x.shape[0]:
                return total
            left_x = count_x[a]
        while left_y == 0.0:
            b += 1
            if b == count_y.shape[0]:
                return total
            left_y = count_y[b]
        shared = min(left_x, left_y)
        total += shared * (x_levels[a] - mean_x) * (y_levels[b] - mean_y)
        left_x -= shared
        left_y -= shared
