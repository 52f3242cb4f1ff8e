"""Random subtests that match the anchors in discrimination too (beyond the paper)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neartie.audits.anchors import Cells, Subtest

type Floats = NDArray[np.float64]

STRATA = 4


def rest_correlation(values: NDArray[np.int8]) -> Floats:
    """Return every item's correlation with the number of other items that a model has right.

    Parameters
    ----------
    values : (n_item, n_model) int8
        Complete answers.

    Returns
    -------
    (n_item,) float in [-1, 1]
        No family label has a part in it. 0 where the item or the rest is constant.

    Examples
    --------
    >>> rest_correlation(np.array([[1, 1, 0], [1, 1, 0], [1, 1, 1]], dtype=np.int8)).round(4)
    array([1., 1., 0.])
    """
    answers = values.astype(np.float64)
    centred = answers - answers.mean(axis=1, keepdims=True)
    total = centred.sum(axis=0)
    variance = (centred**2).sum(axis=1)
    shared = centred @ total
    rest_variance = (total**2).sum() - 2 * shared + variance
    scale = np.sqrt(variance * np.maximum(rest_variance, 0.0))
    result = np.zeros(len(values))
    np.divide(shared - variance, scale, out=result, where=scale > 1e-9)
    return result


def discrimination_strata(
    subtest: Subtest,
    discrimination: Floats,
    *,
    strata: int = STRATA,
    index: NDArray[np.integer] | None = None,
) -> Subtest:
    """Return the anchors with their cells cut into strata of discrimination.

    Parameters
    ----------
    subtest : Subtest
        The anchors.
    discrimination : (n_item,) float
    strata : int
        Near-equal strata of the items of a cell that can be selected, fewer in small cells.
    index : (n_item,) int, optional
        Original item index, which breaks ties.

    Returns
    -------
    Subtest
        For `draw_subtests` only: a cell may keep none of its items. Scores take the weights of
        the anchors' own cells.

    Examples
    --------
    >>> from neartie.audits.anchors import build_cells, select_anchors
    >>> cells = build_cells(["s"] * 8, np.zeros(8), strata=1)
    >>> anchors = select_anchors(cells, np.arange(8.0))
    >>> discrimination_strata(anchors, np.arange(8.0), strata=2).kept
    array([4, 0])
    """
    if strata < 1:
        raise ValueError(f"strata must be at least 1, got {strata}")
    ties = np.arange(len(discrimination)) if index is None else np.asarray(index)
    code = np.zeros(len(discrimination), dtype=np.intp)
    names: list[str] = []
    numbers: list[int] = []
    for cell, name in enumerate(subtest.cells.names):
        members = np.flatnonzero((subtest.cells.code == cell) & subtest.pool)
        ordered = members[np.lexsort((ties[members], discrimination[members]))]
        # items that cannot be selected stay with the first stratum: the pool leaves them out
        code[subtest.cells.code == cell] = len(names)
        for number, part in enumerate(np.array_split(ordered, min(strata, len(ordered)))):
            code[part] = len(names)
            names.append(name)
            numbers.append(number)
    n = len(names)
    return Subtest(
        cells=Cells(
            code=code,
            source=tuple(names),
            stratum=np.array(numbers, dtype=np.intp),
            size=np.bincount(code, minlength=n),
        ),
        selected=subtest.selected,
        pool=subtest.pool,
        kept=np.bincount(code[subtest.selected], minlength=n),
    )
