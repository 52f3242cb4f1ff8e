"""Least-squares monotone regression on the levels of a predictor, and the signed R² of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neartie.inference.pairwise_bits import compiled, in_row_blocks

# Two directions that explain the same are told apart by rounding alone; such a tie counts as
# increasing (P2, appendix C.3). Relative to the variation of the outcome.
DIRECTION_TIE = 1e-12


@compiled
def pool_levels(
    level_sum: NDArray[np.float64],
    level_count: NDArray[np.float64],
    n_level: int,
    sign: float,
    block_sum: NDArray[np.float64],
    block_count: NDArray[np.float64],
) -> int:
    """Pool adjacent violators, and return the number of blocks.

    Parameters
    ----------
    level_sum, level_count : (n_level,) float
        Sum of the outcome and number of rows at each level of the predictor, in its order.
        Levels without rows are passed over.
    n_level : int
        How many entries count.
    sign : float
        1 for the best non-decreasing fit; -1 for the best non-increasing one, which is the
        non-decreasing fit of the outcome turned round.
    block_sum, block_count : (n_level,) float
        Filled with the blocks; the mean of each is its fitted value (times `sign`).

    Returns
    -------
    int

    References
    ----------
    Ayer, Brunk, Ewing, Reid and Silverman (1955), Annals of Mathematical Statistics 26, 641-647.
    doi:10.1214/aoms/1177728423
    """
    n_block = 0
    for level in range(n_level):
        if level_count[level] == 0.0:
            continue
        total, count = sign * level_sum[level], level_count[level]
        # Means compare as cross-products, which spares a division a step.
        while n_block > 0 and block_sum[n_block - 1] * count >= total * block_count[n_block - 1]:
            n_block -= 1
            total += block_sum[n_block]
            count += block_count[n_block]
        block_sum[n_block] = total
        block_count[n_block] = count
        n_block += 1
    return n_block


@compiled
def explained_by(
    level_sum: NDArray[np.float64],
    level_count: NDArray[np.float64],
    n_level: int,
    sign: float,
    block_sum: NDArray[np.float64],
    block_count: NDArray[np.float64],
) -> float:
    """Return the variation that the best monotone fit explains, for a centred outcome.

    Parameters as in `pool_levels`. The sum of block count times squared block mean.
    """
    n_block = pool_levels(level_sum, level_count, n_level, sign, block_sum, block_count)
    explained = 0.0
    for k in range(n_block):
        explained += block_sum[k] * block_sum[k] / block_count[k]
    return explained


@compiled
def signed_r2(increasing: float, decreasing: float, variation: float, concordance: float) -> float:
    """Return the signed R² from what either direction explains.

    Parameters
    ----------
    increasing, decreasing, variation : float
        Explained by the best fit of each direction, and in all.
    concordance : float
        NaN to let the better fit decide; else the sign of Kendall's tau, which does.

    Returns
    -------
    float in [-1, 1]
    """
    rising = concordance >= 0.0
    if np.isnan(concordance):
        rising = increasing >= decreasing - DIRECTION_TIE * variation
    return increasing / variation if rising else -decreasing / variation


@compiled
def _rows_against_own_predictor(
    start: int,
    stop: int,
    predictor: NDArray[np.float64],
    outcome: NDArray[np.float64],
    answer: NDArray[np.float64],
) -> None:
    n = predictor.shape[1]
    level_sum, level_count = np.empty(n), np.empty(n)
    block_sum, block_count = np.empty(n), np.empty(n)
    for i in range(start, stop):
        n_seen, mean = 0, 0.0
        for m in range(n):
            if not (np.isnan(predictor[i, m]) or np.isnan(outcome[i, m])):
                n_seen += 1
                mean += outcome[i, m]
        if n_seen == 0:
            continue
        mean /= n_seen
        variation, last, n_level = 0.0, np.nan, 0
        for m in np.argsort(predictor[i]):
            if np.isnan(predictor[i, m]) or np.isnan(outcome[i, m]):
                continue
            if predictor[i, m] != last:
                last = predictor[i, m]
                level_sum[n_level], level_count[n_level] = 0.0, 0.0
                n_level += 1
            centred = outcome[i, m] - mean
            level_sum[n_level - 1] += centred
            level_count[n_level - 1] += 1.0
            variation += centred * centred
        if n_level < 2 or variation <= 0.0:
            continue
        blocks = (block_sum, block_count)
        rising = explained_by(level_sum, level_count, n_level, 1.0, *blocks)
        falling = explained_by(level_sum, level_count, n_level, -1.0, *blocks)
        answer[i] = signed_r2(rising, falling, variation, np.nan)


def signed_isotonic_r2_rows(
    predictor: NDArray[np.float64], outcome: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the signed isotonic R² of each row of outcomes on the same row of predictors.

    Parameters
    ----------
    predictor, outcome : (n_item, n_model) float
        NaN where missing; such cells are left out.

    Returns
    -------
    (n_item,) float in [-1, 1]
        NaN where either side does not vary.

    References
    ----------
    P2, appendix C.3: the sign is that of the better-fitting direction, plus for a tie.

    Examples
    --------
    >>> signed_isotonic_r2_rows(np.array([[0.0, 1, 2, 3]]), np.array([[0.0, 1, 0, 1]])).round(4)
    array([0.5])
    """
    answer = np.full(len(predictor), np.nan)

    def work(start: int, stop: int) -> None:
        _rows_against_own_predictor(start, stop, predictor, outcome, answer)

    in_row_blocks(work, len(predictor))
    return answer


def signed_isotonic_r2(predictor: ArrayLike, outcome: ArrayLike) -> float:
    """Return the share of an outcome's variance that a monotone function of a predictor explains.

    Parameters
    ----------
    predictor, outcome : (n,) float
        NaN where missing; such places are left out.

    Returns
    -------
    float in [-1, 1]
        Negative where the best monotone function falls; NaN where either side does not vary.

    References
    ----------
    P2, equation 2 and appendix C.3.

    Examples
    --------
    Partial credit: the second item explained by the first.

    >>> round(signed_isotonic_r2([1, 0.5, 1, 0], [0.5, 0.5, 1, 0.5]), 4)
    0.3333
    """
    x, y = np.asarray(predictor, dtype=np.float64), np.asarray(outcome, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"predictor and outcome are two lists of one length, got {x.shape} and "
                         f"{y.shape}")  # fmt: skip
    return float(signed_isotonic_r2_rows(x[np.newaxis], y[np.newaxis])[0])


def isotonic_fit(
    predictor: ArrayLike, outcome: ArrayLike, *, increasing: bool = True
) -> NDArray[np.float64]:
    """Return the least-squares monotone fit, one value for each level of the predictor.

    Parameters
    ----------
    predictor, outcome : (n,) float
        Without missing values.
    increasing : bool
        Whether the fit may not fall, or may not rise.

    Returns
    -------
    (n,) float, unit of the outcome
        In the order of the rows. Rows that tie in the predictor share a value, so that the
        order of rows changes nothing.

    Examples
    --------
    >>> isotonic_fit([1, 2, 2, 3], [0, 3, 1, 1])
    array([0.        , 1.66666667, 1.66666667, 1.66666667])
    """
    x, y = np.asarray(predictor, dtype=np.float64), np.asarray(outcome, dtype=np.float64)
    _, level, counts = np.unique(x, return_inverse=True, return_counts=True)
    centre = y.mean()
    sums = np.bincount(level, weights=y - centre)
    block_sum, block_count = np.empty(len(sums)), np.empty(len(sums))
    sign = 1.0 if increasing else -1.0
    weights = counts.astype(np.float64)
    n_block = pool_levels(sums, weights, len(sums), sign, block_sum, block_count)
    value = sign * block_sum[:n_block] / block_count[:n_block]
    # A block ends where the number of rows so far is the number of rows in blocks so far.
    block = np.searchsorted(np.cumsum(block_count[:n_block]), np.cumsum(counts) - 0.5)
    fitted: NDArray[np.float64] = centre + value[block][level]
    return fitted
