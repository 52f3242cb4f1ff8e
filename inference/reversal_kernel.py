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
    start: NDArray[np.intp],
    tolerance: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return eligible pairs and reversals by band, and pairs left undecided, of each replicate.

    `full` and `score` are (n_replicate, n_model); one row of `full` serves all replicates.
    `full` holds whole numbers. Pairs stand in blocks of one narrowest band: band k holds pairs
    start[k] to start[k + 1]. Pairs whose scores differ by at most `tolerance` are counted in the
    third answer only. The loop has no branch, since the sign of a near tie cannot be predicted.
    """
    n_replicate = score.shape[0]
    n_band = len(start) - 1
    eligible = np.zeros((n_replicate, n_band), dtype=np.int64)
    reversed_ = np.zeros((n_replicate, n_band), dtype=np.int64)
    close = np.zeros(n_replicate, dtype=np.int64)
    # 0 where one row serves all replicates, else 1
    stride = min(full.shape[0] - 1, 1)
    for r in numba.prange(n_replicate):
        row = r * stride
        for k in range(n_band):
            n_apart = 0
            n_decided = 0
            n_reversed = 0
            for p in range(start[k], start[k + 1]):
                gap = full[row, first[p]] - full[row, second[p]]
                other = score[r, first[p]] - score[r, second[p]]
                apart = gap != 0.0
                decided = apart & (abs(other) > tolerance)
                n_apart += apart
                n_decided += decided
                n_reversed += decided & ((gap > 0.0) != (other > 0.0))
            eligible[r, k] = n_decided
            reversed_[r, k] = n_reversed
            close[r] += n_apart - n_decided
    return eligible, reversed_, close
