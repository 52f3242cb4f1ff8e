"""Replicated signs of extreme source effects under shuffled labels: arrays in, counts out."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

type Floats = NDArray[np.float64]


@njit(cache=True)
def count_replicated_signs(
    code: NDArray[np.int32],
    first: Floats,
    second: Floats,
    eligible: NDArray[np.intp],
    extremes: int,
) -> NDArray[np.int64]:
    """Return the number of extreme source means that keep their sign, for every labelling.

    Parameters
    ----------
    code : (n_shuffle, n_item) int
        Source of every item; sizes are the same in every row, so that sums stand for means only
        within a source: they are divided by its size.
    first, second : (n_item, n_family) float, logit
    eligible : (n_eligible,) int
        Sources that may be chosen; at least two.
    extremes : int

    Returns
    -------
    (n_shuffle,) int
    """
    n_shuffle, n_item = code.shape
    n_family = first.shape[1]
    n_source = 0
    for i in range(n_item):
        n_source = max(n_source, code[0, i] + 1)
    n_small = min(extremes, len(eligible) // 2)
    n_large = min(extremes, len(eligible) - n_small)
    hits = np.zeros(n_shuffle, dtype=np.int64)
    for r in range(n_shuffle):
        size = np.zeros(n_source)
        one = np.zeros((n_source, n_family))
        two = np.zeros((n_source, n_family))
        for i in range(n_item):
            s = code[r, i]
            size[s] += 1
            for f in range(n_family):
                one[s, f] += first[i, f]
                two[s, f] += second[i, f]
        for f in range(n_family):
            means = np.empty(len(eligible))
            for e in range(len(eligible)):
                means[e] = one[eligible[e], f] / size[eligible[e]]
            order = np.argsort(means)
            for e in range(len(eligible)):
                if n_small <= e < len(eligible) - n_large:
                    continue
                s = eligible[order[e]]
                if one[s, f] * two[s, f] > 0:
                    hits[r] += 1
    return hits
