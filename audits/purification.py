"""Three-round anchor purification in one owner half (P0, 3.3 and C.5)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from neartie.audits.anchors import (
    STRATA,
    Cells,
    ConstantItems,
    Subtest,
    build_cells,
    jaccard,
    select_anchors,
)
from neartie.audits.prepared_half import Offset, PreparedHalf, half_offset, prepare_half
from neartie.inference.residual_dif import ResidualDif, fit_residual_dif
from neartie.inference.spectral import (
    OFFSET_LIMIT,
    Decomposition,
)

ROUNDS = 3


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Purification:
    """Anchors of one half, with the fits that chose them.

    Attributes
    ----------
    subtest : Subtest
        Anchors and cells at the end of the last round; they score the other half.
    before : (n_item,) bool
        Items that the offset of the last round was learned from: the anchors of the round before it,
        all items where there was one round.
    selecting : ResidualDif
        Fit of the last round, whose easiness and DIF range selected the anchors.
    signature : ResidualDif
        Refit on the final anchors: the stored item signatures. The same as `selecting` when the
        refit was left out.
    rounds : DataFrame
        `round`, `k`, `n_anchor`, `jaccard` with the round before (missing in the first),
        `n_iteration`, `largest_update`, `converged`, `n_constant`.
    settled : int or None
        Round from which on the anchor set did not change, or None if it still changed in the last.
    """

    subtest: Subtest
    before: NDArray[np.bool_]
    selecting: ResidualDif
    signature: ResidualDif
    rounds: pd.DataFrame
    settled: int | None

    @property
    def cells(self) -> Cells:
        """Cells of the last round."""
        return self.subtest.cells


def purify_anchors(
    values: NDArray[np.int8],
    *,
    family: ArrayLike,
    source: ArrayLike,
    dimension: int,
    alpha: float | str | Fraction = Fraction(1, 2),
    rounds: int = ROUNDS,
    strata: int = STRATA,
    penalty: float = 1.0,
    cycles: int | None = None,
    constant_items: ConstantItems = "keep",
    refit: bool = True,
    index: NDArray[np.integer] | None = None,
    limit: float = OFFSET_LIMIT,
    decomposition: Decomposition = "exact",
    rng: np.random.Generator | int | None = None,
) -> Purification:
    """Return low-DIF anchors after a fixed number of purification rounds.

    Parameters
    ----------
    values : (n_item, n_model) int8
        Complete responses of all retained models of one owner half.
    family : (n_model,) str
    source : (n_item,) str
    dimension : int
        K of the spectral model; cut to the rank of the anchors' matrix where that is smaller.
    alpha : number in (0, 1]
        Fraction of each cell to retain.
    rounds : int
        Fixed: convergence is reported, not used to stop.
    strata : int
        Easiness strata a source.
    penalty, cycles
        See `fit_residual_dif`.
    constant_items
        See `select_anchors`.
    refit : bool
        Whether to fit once more on the final anchors.
    index : (n_item,) int, optional
        Original item index, for ties.
    limit, decomposition, rng
        See `spectral_coordinates` and `spectral_offset`.

    Returns
    -------
    Purification

    Raises
    ------
    DataError
        If cells are missing, or there is one family only.
    ConvergenceError
        If residual effects do not converge.

    References
    ----------
    P0, appendix C.5.
    """
    # in family blocks the fits need not copy the matrix round by round
    blocks = np.argsort(np.asarray(family).astype(str), kind="stable")
    return purify_prepared(
        prepare_half(values, order=blocks),
        family=np.asarray(family)[blocks],
        source=source,
        dimension=dimension,
        alpha=alpha,
        rounds=rounds,
        strata=strata,
        penalty=penalty,
        cycles=cycles,
        constant_items=constant_items,
        refit=refit,
        index=index,
        limit=limit,
        decomposition=decomposition,
        rng=rng,
    )


def purify_prepared(
    prepared: PreparedHalf,
    *,
    family: ArrayLike,
    source: ArrayLike,
    dimension: int,
    first: Offset | None = None,
    alpha: float | str | Fraction = Fraction(1, 2),
    rounds: int = ROUNDS,
    strata: int = STRATA,
    penalty: float = 1.0,
    cycles: int | None = None,
    constant_items: ConstantItems = "keep",
    refit: bool = True,
    index: NDArray[np.integer] | None = None,
    limit: float = OFFSET_LIMIT,
    decomposition: Decomposition = "exact",
    rng: np.random.Generator | int | None = None,
) -> Purification:
    """Return low-DIF anchors of a prepared half, as `purify_anchors` does.

    Parameters
    ----------
    prepared : PreparedHalf
    family : (n_model,) str
        In the order of the prepared models.
    first : Offset, optional
        Of the first round; from all items when left out.
    source, dimension, alpha, rounds, strata, penalty, cycles, constant_items, refit, index
        See `purify_anchors`.
    limit, decomposition, rng
        See `purify_anchors`.

    Returns
    -------
    Purification

    Raises
    ------
    DataError
        If there is one family only.
    ConvergenceError
        If residual effects do not converge.
    """
    rng = np.random.default_rng(rng)
    patterns = prepared.patterns
    selected = np.ones(len(patterns.of_item), dtype=bool)
    fit: ResidualDif | None = None
    subtest: Subtest | None = None
    before = selected
    selecting: list[ResidualDif] = []
    rows: list[dict[str, Any]] = []
    for number in range(1, rounds + 1 + int(refit)):
        offset = first if number == 1 else None
        if offset is None:
            offset = half_offset(
                prepared,
                selected,
                dimension=dimension,
                limit=limit,
                decomposition=decomposition,
                rng=rng,
            )
        fit = fit_residual_dif(
            prepared.values,
            family=family,
            offset=offset.values,
            penalty=penalty,
            cycles=cycles,
            start=fit if cycles is None else None,
        )
        whole = patterns.spread(fit)
        selecting.append(whole)
        row = _round_row(number, offset.k, whole)
        if number <= rounds:
            cells = build_cells(source, whole.order_easiness, strata=strata, index=index)
            subtest = select_anchors(
                cells,
                whole.dif_range,
                alpha=alpha,
                constant=whole.constant != 0,
                constant_items=constant_items,
                index=index,
            )
            row["jaccard"] = jaccard(selected, subtest.selected) if number > 1 else np.nan
            before, selected = selected, subtest.selected
        rows.append(row | {"n_anchor": int(selected.sum())})
    if subtest is None:
        raise ValueError(f"rounds must be at least 1, got {rounds}")
    table = pd.DataFrame(rows)
    return Purification(
        subtest=subtest,
        before=before,
        selecting=selecting[rounds - 1],
        signature=selecting[-1],
        rounds=table,
        settled=_settled(table["jaccard"].tolist()[:rounds]),
    )


def _round_row(number: int, k: int, fit: ResidualDif) -> dict[str, Any]:
    return {
        "round": number,
        "k": k,
        "n_anchor": 0,
        "jaccard": np.nan,
        "n_iteration": int(fit.iterations.max()),
        "largest_update": float(fit.last_update.max()),
        "converged": int(fit.converged),
        "n_constant": int((fit.constant != 0).sum()),
    }


def _settled(overlap: list[float]) -> int | None:
    """Return the first round after which every later set was the same."""
    settled = None
    for number in range(len(overlap), 1, -1):
        if overlap[number - 1] != 1.0:
            break
        settled = number - 1
    return settled
