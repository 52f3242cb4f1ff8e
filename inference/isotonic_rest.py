"""Each item against the rest score: monotone R², correlation and mutual information."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neartie.inference.isotonic import explained_by, signed_r2
from neartie.inference.pairwise_bits import compiled, in_row_blocks

# Rest scores that differ by less than this part of their range are the same score with another
# rounding: 0.1 + 0.2 is not 0.3.
SCORE_TIE = 1e-10


@compiled
def _fill_rest(
    i: int,
    scores: NDArray[Any],
    observed: NDArray[np.bool_],
    total: NDArray[np.float64],
    n_answered: NDArray[np.int64],
    rest: NDArray[np.float64],
    score: NDArray[np.float64],
) -> int:
    """Fill the rest score (a mean) and the item's score of the models that have both."""
    n = 0
    for m in range(scores.shape[1]):
        if observed[i, m] and n_answered[m] > 1:
            rest[n] = (total[m] - scores[i, m]) / (n_answered[m] - 1)
            score[n] = scores[i, m]
            n += 1
    return n


@compiled
def _entropy_of_levels(sorted_values: NDArray[np.float64]) -> float:
    """Return the sum of n log n over runs of equal values."""
    total, first, n = 0.0, 0, sorted_values.shape[0]
    while first < n:
        after = first
        while after < n and sorted_values[after] == sorted_values[first]:
            after += 1
        total += (after - first) * np.log(float(after - first))
        first = after
    return total


@compiled
def _against_rest(
    score: NDArray[np.float64],
    rest: NDArray[np.float64],
    level_sum: NDArray[np.float64],
    level_count: NDArray[np.float64],
    block_sum: NDArray[np.float64],
    block_count: NDArray[np.float64],
) -> tuple[float, float, float]:
    """Return (signed isotonic R², correlation, mutual information)."""
    n = score.shape[0]
    mean, rest_mean = score.mean(), rest.mean()
    order = np.argsort(rest)
    tie = SCORE_TIE * (rest[order[-1]] - rest[order[0]])
    variation, rest_variation, together, joint, marginal = 0.0, 0.0, 0.0, 0.0, 0.0
    n_level, first = 0, 0
    while first < n:
        after = first
        level_sum[n_level] = 0.0
        while after < n and rest[order[after]] - rest[order[first]] <= tie:
            centred, rest_centred = score[order[after]] - mean, rest[order[after]] - rest_mean
            level_sum[n_level] += centred
            variation += centred * centred
            rest_variation += rest_centred * rest_centred
            together += centred * rest_centred
            after += 1
        size = float(after - first)
        level_count[n_level] = size
        marginal += size * np.log(size)
        if after - first > 1:
            joint += _entropy_of_levels(np.sort(score[order[first:after]]))
        n_level += 1
        first = after
    if n_level < 2 or variation <= 0.0 or score.min() == score.max():
        return np.nan, np.nan, np.nan
    marginal += _entropy_of_levels(np.sort(score))
    rising = explained_by(level_sum, level_count, n_level, 1.0, block_sum, block_count)
    falling = explained_by(level_sum, level_count, n_level, -1.0, block_sum, block_count)
    return (
        signed_r2(rising, falling, variation, np.nan),
        together / np.sqrt(variation * rest_variation),
        (joint - marginal + n * np.log(float(n))) / n,
    )


@compiled
def _fill_rows(
    start: int,
    stop: int,
    scores: NDArray[Any],
    observed: NDArray[np.bool_],
    total: NDArray[np.float64],
    n_answered: NDArray[np.int64],
    answer: NDArray[np.float64],
) -> None:
    n_model = scores.shape[1]
    rest, score = np.empty(n_model), np.empty(n_model)
    levels = (np.empty(n_model), np.empty(n_model), np.empty(n_model), np.empty(n_model))
    for i in range(start, stop):
        n = _fill_rest(i, scores, observed, total, n_answered, rest, score)
        if n > 1:
            answer[i, 0], answer[i, 1], answer[i, 2] = _against_rest(score[:n], rest[:n], *levels)


def rest_statistics(scores: NDArray[Any], observed: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return how each item goes with the mean score on all the others.

    Parameters
    ----------
    scores : (n_item, n_model) number
        What stands in a missing cell is not read.
    observed : (n_item, n_model) bool
        Where there is an answer. The rest score of a model is the mean over the other items
        that it answered; for complete answers that orders models as the sum does.

    Returns
    -------
    (n_item, 3) float
        Signed isotonic R² of the item's score explained by the rest score (P2, Table 1,
        R²_iso); their correlation; their mutual information in nats, on the levels as they
        stand. NaN where a side does not vary.

    Examples
    --------
    >>> scores = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0]])
    >>> rest_statistics(scores, np.ones((3, 4), dtype=bool))[0].round(4)
    array([0.3333, 0.3015, 0.3466])
    """
    total = np.sum(scores, axis=0, where=observed, dtype=np.float64)
    n_answered = observed.sum(axis=0, dtype=np.int64)
    answer = np.full((len(scores), 3), np.nan)

    def work(start: int, stop: int) -> None:
        _fill_rows(start, stop, scores, observed, total, n_answered, answer)

    in_row_blocks(work, len(scores), block=16)
    return answer
