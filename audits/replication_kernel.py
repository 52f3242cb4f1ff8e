"""Replication statistics under many permutations: arrays in, whole numbers out."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

type Integers = NDArray[np.int64]


@njit(cache=True)
def count_permuted(
    permutation: NDArray[np.int32],
    rank_first: Integers,
    rank_second: Integers,
    top_first: NDArray[np.bool_],
    top_second: NDArray[np.bool_],
    advantaged_first: NDArray[np.intp],
    advantaged_second: NDArray[np.intp],
) -> tuple[Integers, Integers, Integers]:
    """Return rank products, shared top items and agreements under every permutation.

    Parameters
    ----------
    permutation : (n_permutation, n_item) int
        Entry i is the item whose second signature is put at item i.
    rank_first, rank_second : (n_item, n_family) int
        Doubled mid-ranks, centred: whole numbers, so that their products are exact.
    top_first, top_second : (n_item,) bool
    advantaged_first, advantaged_second : (n_item,) int
        Negative where no family is advantaged: agrees with nothing.

    Returns
    -------
    products : (n_permutation, n_family) int
    n_both, n_agree : (n_permutation,) int
    """
    n_permutation, n_item = permutation.shape
    n_family = rank_first.shape[1]
    products = np.zeros((n_permutation, n_family), dtype=np.int64)
    n_both = np.zeros(n_permutation, dtype=np.int64)
    n_agree = np.zeros(n_permutation, dtype=np.int64)
    for r in range(n_permutation):
        for i in range(n_item):
            j = permutation[r, i]
            for f in range(n_family):
                products[r, f] += rank_first[i, f] * rank_second[j, f]
            if top_first[i] and top_second[j]:
                n_both[r] += 1
                if advantaged_first[i] >= 0 and advantaged_first[i] == advantaged_second[j]:
                    n_agree[r] += 1
    return products, n_both, n_agree
