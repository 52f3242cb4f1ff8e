"""Owner-disjoint halves, balanced within every family (P0, C.1)."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pandas as pd
from numpy.typing import NDArray

MAX_REFINEMENT = 100


def assign_halves(table: pd.DataFrame) -> NDArray[np.intp]:
    """Return a half for every model, with all models of an owner in the same half.

    Parameters
    ----------
    table : DataFrame
        Retained models: `model`, `owner`, `family`, `n_correct`.

    Returns
    -------
    (n_model,) int, 0 or 1

    Notes
    -----
    Owners are placed one by one, those with most models first (then by id), each in the half
    that leaves the smaller imbalance: the sum over families of the squared difference in
    number of models plus the squared difference in summed accuracy, the latter in units of the
    mean accuracy, so that both count models. Then single owners are moved, and pairs of owners
    exchanged, as long as that lowers the imbalance. Whole-number arithmetic; the result
    depends on ids and counts alone, not on the order of rows.

    References
    ----------
    P0, appendix C.1 (the paper's greedy procedure is not printed).

    Examples
    --------
    >>> table = pd.DataFrame({"model": list("abcd"), "owner": list("abcd"),
    ...                       "family": ["x", "x", "y", "y"], "n_correct": [5, 5, 7, 7]})
    >>> assign_halves(table)
    array([0, 1, 0, 1])
    """
    families = sorted(set(table["family"]))
    n, total = len(table), max(1, int(table["n_correct"].sum()))
    # every owner's contribution to the imbalance, count and accuracy side by side, as integers:
    # the accuracy difference over the mean accuracy is difference * n / total
    vectors: dict[str, NDArray[np.object_]] = defaultdict(
        lambda: np.array([0] * (2 * len(families)), dtype=object)
    )
    size: dict[str, int] = defaultdict(int)
    for owner, family, correct in zip(
        table["owner"], table["family"], table["n_correct"], strict=True
    ):
        column = families.index(family)
        vectors[owner][column] += total
        vectors[owner][len(families) + column] += n * int(correct)
        size[owner] += 1
    owners = sorted(vectors, key=lambda owner: (-size[owner], owner))
    side: dict[str, int] = {}
    balance = np.array([0] * (2 * len(families)), dtype=object)
    for owner in owners:
        to_first = _norm(balance + vectors[owner]) <= _norm(balance - vectors[owner])
        side[owner] = 1 if to_first else -1
        balance = balance + side[owner] * vectors[owner]
    _refine(owners, vectors, side, balance)
    first = side[owners[0]] if owners else 1
    return np.array([0 if side[owner] == first else 1 for owner in table["owner"]], dtype=np.intp)


def _norm(balance: NDArray[np.object_]) -> int:
    return int((balance * balance).sum())


def _refine(
    owners: list[str],
    vectors: dict[str, NDArray[np.object_]],
    side: dict[str, int],
    balance: NDArray[np.object_],
) -> None:
    """Move or exchange owners, best improvement first, until nothing lowers the imbalance.

    Doubles only propose; every step is accepted on whole numbers, which strictly fall, so that
    the search ends; `MAX_REFINEMENT` bounds the work where there are very many owners.
    """
    matrix = np.array([[float(x) for x in vectors[owner]] for owner in owners])
    for _ in range(MAX_REFINEMENT):
        signs = np.array([side[owner] for owner in owners], dtype=float)
        flip = -2.0 * signs[:, None] * matrix
        current = np.array([float(x) for x in balance])
        # change of the norm: one flip, and two flips together
        single = 2 * flip @ current + (flip * flip).sum(axis=1)
        double = single[:, None] + single[None, :] + 2 * flip @ flip.T
        np.fill_diagonal(double, single)
        best = np.unravel_index(int(np.argmin(double)), double.shape)
        moved = sorted({int(best[0]), int(best[1])})
        change = sum(
            (-2 * side[owners[i]] * vectors[owners[i]] for i in moved),
            start=np.array([0] * len(balance), dtype=object),
        )
        if _norm(balance + change) >= _norm(balance):
            return
        balance = balance + change
        for i in moved:
            side[owners[i]] *= -1
