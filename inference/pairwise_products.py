"""Sums over pairs of right/wrong items by matrix products of their answers, without compiling.

For a table that a product handles in a moment this spares the loading of compiled code, which
takes longer than the work; `pairwise_binary` chooses.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

#: Cells of a block of pairs: a few tables of them fit into a processor's cache.
BLOCK_CELLS: Final = 1 << 17


def fill_by_products(
    right: NDArray[np.bool_],
    observed: NDArray[np.bool_] | None,
    rows: NDArray[np.int64],
    own: NDArray[np.int64],
    n_partner: int,
    group: NDArray[np.int64],
    sums: NDArray[np.float64],
    counts: NDArray[np.int64],
    group_sums: NDArray[np.float64],
    group_pairs: NDArray[np.int64],
) -> None:
    """Fill the sums of all rows; see `neartie.inference.pairwise_binary.binary_pair_sums`.

    Parameters
    ----------
    right : (n_item, n_model) bool
    observed : (n_item, n_model) bool or None
        None for complete answers.
    rows, own : (n_row,) int
        Items asked for, and the partner that each passes over.
    n_partner : int
        The first so many items are partners.
    group : (n_item,) int
    sums, counts, group_sums, group_pairs
        Arrays of zeros, filled; with five columns of sums the linear statistics alone.

    Notes
    -----
    Counts are whole numbers below 2^24, which single precision holds exactly.
    """
    n_model = right.shape[1]
    answers = right.astype(np.float32)
    seen = None if observed is None else observed.astype(np.float32)
    n_right = right.sum(axis=1, dtype=np.float64)
    member = (np.arange(group_sums.shape[1]) == group[:n_partner, None]).astype(np.float64)
    x_log_x = np.arange(n_model + 1, dtype=np.float64)
    x_log_x *= np.log(np.maximum(x_log_x, 1.0))
    step = max(1, BLOCK_CELLS // max(1, n_partner))
    for start in range(0, len(rows), step):
        here = slice(start, min(start + step, len(rows)))
        i = rows[here]
        both = (answers[i] @ answers[:n_partner].T).astype(np.float64)
        if seen is None:
            n: NDArray[np.float64] = np.full((1, 1), float(n_model))
            a, b = n_right[i, None], n_right[None, :n_partner]
        else:
            n = (seen[i] @ seen[:n_partner].T).astype(np.float64)
            a = (answers[i] @ seen[:n_partner].T).astype(np.float64)
            b = (seen[i] @ answers[:n_partner].T).astype(np.float64)
        spread = (a * (n - a)) * (b * (n - b))
        listed = own[here] < n_partner
        spread[np.flatnonzero(listed), own[here][listed]] = 0.0
        defined = spread > 0.0
        values = _linear(n, a, b, both, spread, defined)
        if sums.shape[1] > len(values):
            values += _agreement(n, a, b, both, defined, x_log_x)
        for column, value in enumerate(values):
            sums[here, column] = value.sum(axis=1)
        counts[here, 0] = defined.sum(axis=1)
        counts[here, 1] = n_partner - listed - counts[here, 0]
        counts[here, 2] = (values[0] < 0.0).sum(axis=1)
        group_sums[here] = values[0] @ member
        group_pairs[here] = defined @ member


def _linear(
    n: NDArray[np.float64],
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    both: NDArray[np.float64],
    spread: NDArray[np.float64],
    defined: NDArray[np.bool_],
) -> list[NDArray[np.float64]]:
    """Return the coefficient, covariance, variance product, largest covariance and phi."""
    d = n * both - a * b
    per_spread = np.divide(1.0, spread, out=np.zeros_like(spread), where=defined)
    per_square = np.where(defined, 1.0 / np.maximum(n * n, 1.0), 0.0)
    return [
        d * np.abs(d) * per_spread,
        d * per_square,
        spread * per_square * per_square,
        (n * np.minimum(a, b) - a * b) * per_square,
        d * np.sqrt(per_spread),
    ]


def _agreement(
    n: NDArray[np.float64],
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    both: NDArray[np.float64],
    defined: NDArray[np.bool_],
    x_log_x: NDArray[np.float64],
) -> list[NDArray[np.float64]]:
    """Return accuracy, F1, agreement, information, kappa and uncertainty, 0 where undefined."""

    def entropy(count: NDArray[np.float64]) -> NDArray[np.float64]:
        return x_log_x[count.astype(np.int64)]

    neither = n - a - b + both
    agree = (both + neither) / np.maximum(n, 1.0)
    chance = (a * b + (n - a) * (n - b)) / np.maximum(n * n, 1.0)
    marginal = entropy(a) + entropy(n - a) + entropy(b) + entropy(n - b)
    joint = entropy(both) + entropy(a - both) + entropy(b - both) + entropy(neither)
    information = joint - marginal + entropy(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = [
            both / n,
            2.0 * both / (a + b),
            agree,
            information / n,
            (agree - chance) / (1.0 - chance),
            2.0 * information / (2.0 * entropy(n) - marginal),
        ]
    return [np.where(defined, value, 0.0) for value in found]
