"""Kernel that counts reversals of many replicates: arrays in, arrays out."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]


@numba.njit(parallel=True, cache=True)
def count_replicates(
    full: Floats,
    score: Floats,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    band: NDArray[np.intp],
    n_band: int,
    tolerance: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return eligible pairs and reversals by band, and pairs left undecided, of each replicate.

    `full` and `score` are (n_replicate, n_model); one row of `full` serves all replicates.
    `full` holds whole numbers. `band[p]` is the narrowest band of pair p. Pairs whose scores
    differ by at most `tolerance` are counted in the third answer only.
    """
    n_replicate = score.shape[0]
    eligible = np.zeros((n_replicate, n_band), dtype=np.int64)
    reversed_ = np.zeros((n_replicate, n_band), dtype=np.int64)
    close = np.zeros(n_replicate, dtype=np.int64)
    # 0 where one row serves all replicates, else 1
    stride = min(full.shape[0] - 1, 1)
    for r in numba.prange(n_replicate):
        row = r * stride
        for p in range(len(first)):
            a = first[p]
            b = second[p]
            gap = full[row, a] - full[row, b]
            if gap == 0.0:
                continue
            other = score[r, a] - score[r, b]
            if abs(other) <= tolerance:
                close[r] += 1
                continue
            eligible[r, band[p]] += 1
            if (gap > 0.0) != (other > 0.0):
                reversed_[r, band[p]] += 1
    return eligible, reversed_, close
