"""Association of every pair of right/wrong items, summed for each item as it is counted.

No item-by-item matrix is ever held: each pair is counted on bits, turned into all its statistics,
and added to the row of its item.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from neartie.inference.pair_sums import PairSums, sum_pairs
from neartie.inference.pairwise_bits import compiled, count_common, pack_rows
from neartie.inference.pairwise_products import fill_by_products

#: What is summed over the pairs of an item, in the order of the columns of `PairSums.sums`.
PAIR_STATISTICS: Final = (
    "signed_isotonic_r2",
    "covariance",
    "variance_product",
    "largest_covariance",
    "phi",
    "acc",
    "f1",
    "smc",
    "mi",
    "kappa",
    "u_sym",
)
N_LINEAR: Final = 5
# Up to so many products of two answers a matrix product is as fast as counting bits, and needs
# no compiled code: loading that takes a process longer than the work.
MOST_PRODUCTS: Final = 5e8
MOST_PRODUCT_PAIRS: Final = 1.5e6


@compiled
def _count_row(
    i: int,
    row: int,
    own: int,
    right: NDArray[np.uint64],
    observed: NDArray[np.uint64],
    n_right: NDArray[np.int64],
    neighbours: NDArray[np.int64],
    count: NDArray[np.float64],
) -> None:
    """Fill (n, right on i, right on j, right on both) for the partners j of item i.

    A partner that is the item itself gets n = 0 right answers, and so counts as undefined.
    """
    for t in range(count.shape[1]):
        j = neighbours[row, t] if neighbours.shape[0] else t
        count[3, t] = count_common(right, i, right, j)
        if observed.shape[0]:
            count[0, t] = count_common(observed, i, observed, j)
            count[1, t] = count_common(right, i, observed, j)
            count[2, t] = count_common(observed, i, right, j)
        else:
            count[1, t] = n_right[i]
            count[2, t] = n_right[j]
        if j == own:
            count[1:, t] = 0.0


@compiled
def _linear_row(count: NDArray[np.float64], value: NDArray[np.float64]) -> None:
    """Fill rows 0 to 4 of `value`, and 1 or 0 for defined or not into the last row."""
    for t in range(count.shape[1]):
        n, a, b, both = count[0, t], count[1, t], count[2, t], count[3, t]
        d = n * both - a * b
        spread = a * (n - a) * (b * (n - b))
        defined = spread > 0.0
        per_spread = 1.0 / spread if defined else 0.0
        per_square = 1.0 / (n * n) if defined else 0.0
        value[0, t] = d * abs(d) * per_spread
        value[1, t] = d * per_square
        value[2, t] = spread * per_square * per_square
        value[3, t] = (n * min(a, b) - a * b) * per_square
        value[4, t] = d * np.sqrt(per_spread)
        value[-1, t] = 1.0 if defined else 0.0


@compiled
def _agreement_row(
    count: NDArray[np.float64], x_log_x: NDArray[np.float64], value: NDArray[np.float64]
) -> None:
    """Fill rows 5 to 10 of `value`."""
    for t in range(count.shape[1]):
        if value[-1, t] == 0.0:
            value[5:-1, t] = 0.0
            continue
        n, a, b, both = int(count[0, t]), int(count[1, t]), int(count[2, t]), int(count[3, t])
        neither = n - a - b + both
        agree, chance = (both + neither) / n, (a * b + (n - a) * (n - b)) / float(n * n)
        marginal = x_log_x[a] + x_log_x[n - a] + x_log_x[b] + x_log_x[n - b]
        joint = x_log_x[both] + x_log_x[a - both] + x_log_x[b - both] + x_log_x[neither]
        information = joint - marginal + x_log_x[n]
        value[5, t] = both / n
        value[6, t] = 2.0 * both / (a + b)
        value[7, t] = agree
        value[8, t] = information / n
        value[9, t] = (agree - chance) / (1.0 - chance)
        value[10, t] = 2.0 * information / (2.0 * x_log_x[n] - marginal)


@compiled
def _sum_rows(
    start: int,
    stop: int,
    n_model: int,
    right: NDArray[np.uint64],
    observed: NDArray[np.uint64],
    n_right: NDArray[np.int64],
    rows: NDArray[np.int64],
    own: NDArray[np.int64],
    n_partner: int,
    neighbours: NDArray[np.int64],
    group: NDArray[np.int64],
    x_log_x: NDArray[np.float64],
    sums: NDArray[np.float64],
    counts: NDArray[np.int64],
    group_sums: NDArray[np.float64],
    group_pairs: NDArray[np.int64],
) -> None:
    count, value = np.full((4, n_partner), float(n_model)), np.zeros((12, n_partner))
    for r in range(start, stop):
        i = rows[r]
        # Two passes, so that the second one runs on several pairs at once.
        _count_row(i, r, own[r], right, observed, n_right, neighbours, count)
        _linear_row(count, value)
        if sums.shape[1] > N_LINEAR:
            _agreement_row(count, x_log_x, value)
        for s in range(sums.shape[1]):
            total = 0.0
            for t in range(n_partner):
                total += value[s, t]
            sums[r, s] = total
        for t in range(n_partner):
            j = neighbours[r, t] if neighbours.shape[0] else t
            if value[-1, t] == 0.0:
                counts[r, 1] += j != own[r]
                continue
            counts[r, 0] += 1
            counts[r, 2] += value[0, t] < 0.0
            group_sums[r, group[j]] += value[0, t]
            group_pairs[r, group[j]] += 1


def binary_pair_sums(
    right: NDArray[np.bool_],
    observed: NDArray[np.bool_],
    *,
    neighbours: NDArray[np.int64] | None = None,
    group: NDArray[np.int64] | None = None,
    rows: NDArray[np.int64] | None = None,
    own: NDArray[np.int64] | None = None,
    n_partner: int | None = None,
    full: bool = True,
) -> PairSums:
    r"""Return the sums over pairs of the statistics of P2's Table 1, for right/wrong items.

    Parameters
    ----------
    right : (n_item, n_model) bool
        Right answers. A missing answer is not right.
    observed : (n_item, n_model) bool
        Where there is an answer.
    neighbours : (n_row, n_neighbour) int, optional
        Partners of each of the items asked for; all other items when left out. An item that
        stands among its own partners is passed over.
    group : (n_item,) int, optional
        Group of each item, from 0; one group when left out.
    rows : (n_row,) int, optional
        The items asked for; all of them when left out.
    own : (n_row,) int, optional
        The partner that each of them passes over; itself when left out.
    n_partner : int, optional
        Without `neighbours`, only the first so many items are partners.
    full : bool
        Whether all statistics are wanted, or those up to `phi` alone.

    Returns
    -------
    PairSums

    Notes
    -----
    With n models that answered both items, a and b right answers on each and c on both, let
    d = n c - a b. Then phi² = d² / (a (n-a) b (n-b)). A monotone function of a predictor with two
    levels takes two values, and the best two are the two means, so the isotonic R² of two 0/1
    items is phi² in both directions and its sign that of d. All counts are exact integers; their
    table is the matrix product of the answers, taken in single precision for small tables and on
    bits for large ones.

    `covariance`, `variance_product` and `largest_covariance` divide by n (ddof 0); the last is
    that of two items with the same margins whose right answers are nested. Entropies are in nats.

    References
    ----------
    P2, Table 1 and appendix C.

    Examples
    --------
    >>> right = np.array([[1, 1, 0, 0], [1, 1, 1, 0]], dtype=bool)
    >>> pairs = binary_pair_sums(right, np.ones((2, 4), dtype=bool))
    >>> pairs.mean("signed_isotonic_r2").round(4)
    array([0.3333, 0.3333])
    """
    n_item, n_model = right.shape
    codes = np.zeros(n_item, dtype=np.int64) if group is None else group
    wanted = np.arange(n_item) if rows is None else rows
    passed = wanted if own is None else own
    n_first = n_item if n_partner is None else n_partner
    statistics = PAIR_STATISTICS if full else PAIR_STATISTICS[:N_LINEAR]
    complete = bool(observed.all())
    n_pair = len(wanted) * n_first
    small = n_pair <= MOST_PRODUCT_PAIRS and n_pair * n_model <= MOST_PRODUCTS
    if neighbours is None and small:
        mask = None if complete else observed
        # One block of rows, and one thread: two wait for each other on a busy machine.
        with threadpool_limits(limits=1, user_api="blas"):
            return sum_pairs(
                lambda start, stop, *totals: fill_by_products(
                    right, mask, wanted, passed, n_first, codes, *totals
                ),
                n_row=len(wanted),
                statistics=statistics,
                group=codes,
                block=max(1, len(wanted)),
            )
    answers = np.arange(n_model + 1, dtype=np.float64)
    x_log_x = answers * np.log(np.maximum(answers, 1.0))
    seen = np.zeros((0, 0), dtype=np.uint64) if complete else pack_rows(observed)
    partners = np.zeros((0, 0), dtype=np.int64) if neighbours is None else neighbours
    width = n_first if neighbours is None else neighbours.shape[1]
    n_right = right.sum(axis=1, dtype=np.int64)
    data = (pack_rows(right), seen, n_right, wanted, passed, width, partners, codes, x_log_x)
    return sum_pairs(
        lambda start, stop, *totals: _sum_rows(start, stop, n_model, *data, *totals),
        n_row=len(wanted),
        statistics=statistics,
        group=codes,
    )
