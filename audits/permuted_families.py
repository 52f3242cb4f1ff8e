"""Anchors under permuted family labels: what the excess owes to families (beyond the paper).

Random subtests share source and easiness with the anchors but not information: items with little
residual DIF are also flatter. Anchors that were rebuilt under meaningless labels share that too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from neartie.audits.anchors import Subtest
from neartie.audits.perturbations import Base
from neartie.audits.prepared_half import Offset, PreparedHalf, half_offset, prepare_half
from neartie.audits.purification import Purification, purify_prepared
from neartie.audits.steps import Items

type Rerun = Literal["all", "last"]

PERMUTATIONS: Final = 99


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LabelledHalf:
    """One audit half, ready to be purified under any family label of its owner-family cells.

    Attributes
    ----------
    prepared : PreparedHalf
    cell : (n_model,) int
        Owner-family cell of every prepared model.
    labels : (n_cell,) str
        Family of every cell.
    offset : Offset
        Of the first round that is run for every permutation.
    rounds : int
        How many are.
    items : Items
    base : Base
    dimension : int
    seed : int
        For the randomized decomposition.
    """

    prepared: PreparedHalf
    cell: NDArray[np.intp]
    labels: NDArray[np.str_]
    offset: Offset
    rounds: int
    items: Items
    base: Base
    dimension: int
    seed: int

    def purify(self, labels: NDArray[np.str_]) -> Subtest:
        """Return the anchors under given labels of the cells.

        Parameters
        ----------
        labels : (n_cell,) str

        Returns
        -------
        Subtest
        """
        return self.fit(labels).subtest

    def fit(self, labels: NDArray[np.str_], *, refit: bool = False) -> Purification:
        """Return the purification under given labels of the cells.

        Parameters
        ----------
        labels : (n_cell,) str
        refit : bool
            Whether to fit once more on the final anchors, for item signatures.

        Returns
        -------
        Purification
        """
        settings = self.base.settings
        return purify_prepared(
            self.prepared,
            family=labels[self.cell],
            source=self.items.source,
            dimension=self.dimension,
            first=self.offset,
            alpha=settings.alphas[0],
            rounds=self.rounds,
            strata=settings.strata,
            penalty=settings.penalty,
            cycles=settings.cycles,
            constant_items=settings.constant_items,
            refit=refit,
            index=self.items.index,
            limit=settings.offset_limit,
            decomposition=settings.decomposition,
            rng=self.seed,
        )


def label_half(
    base: Base,
    items: Items,
    half: int,
    *,
    dimension: int,
    rerun: Rerun = "all",
    seed: int = 0,
) -> LabelledHalf:
    """Return one audit half, ready to be purified under permuted labels.

    Parameters
    ----------
    base : Base
    items : Items
    half : int
        The half that chooses the anchors.
    dimension : int
        K, which no label has a part in.
    rerun : {"all", "last"}
        Whether every permutation runs through all purification rounds, or only the last one with
        the directions that the true labels led to.
    seed : int
        For the randomized decomposition.

    Returns
    -------
    LabelledHalf

    Raises
    ------
    ValueError
        If `rerun` is unknown.

    Notes
    -----
    If families make no difference in the audit half, labels of its owner-family cells are
    exchangeable, and with all rounds rerun the true labels are one draw among equals: the test is
    exact. With the last round alone they are not, as the directions have seen the true labels.
    """
    if rerun not in ("all", "last"):
        raise ValueError(f"rerun must be 'all' or 'last', got {rerun!r}")
    settings, population = base.settings, base.population
    table = population.table.iloc[population.half(half)]
    blocks = np.argsort(table["family"].to_numpy(dtype=str), kind="stable")
    table = table.iloc[blocks]
    cells, cell = np.unique(
        (table["owner"] + "\0" + table["family"]).to_numpy(dtype=str), return_inverse=True
    )
    labels: NDArray[np.str_] = np.array([name.rpartition("\0")[2] for name in cells.tolist()])
    values = population.responses.values[:, population.half(half)].astype(np.int8)
    prepared = prepare_half(values, order=blocks)
    everything = np.ones(len(values), dtype=bool)
    offset = _offset(prepared, everything, base, dimension, seed)
    whole = LabelledHalf(
        prepared=prepared,
        cell=cell.astype(np.intp),
        labels=labels,
        offset=offset,
        rounds=settings.rounds,
        items=items,
        base=base,
        dimension=dimension,
        seed=seed,
    )
    if rerun == "all" or settings.rounds == 1:
        return whole
    before = replace(whole, rounds=settings.rounds - 1).purify(labels)
    last = _offset(prepared, before.selected, base, dimension, seed)
    return replace(whole, rounds=1, offset=last)


def _offset(
    prepared: PreparedHalf, selected: NDArray[np.bool_], base: Base, dimension: int, seed: int
) -> Offset:
    return half_offset(
        prepared,
        selected,
        dimension=dimension,
        limit=base.settings.offset_limit,
        decomposition=base.settings.decomposition,
        rng=seed,
    )


def permute_labels(
    half: LabelledHalf, n: int, *, rng: np.random.Generator | int | None = None
) -> list[NDArray[np.str_]]:
    """Return permutations of the family labels over the owner-family cells of a half.

    Parameters
    ----------
    half : LabelledHalf
    n : int
    rng : Generator, int or None

    Returns
    -------
    list of (n_cell,) str
        All checkpoints of a cell move together. The number of cells of a family stays, that of
        its checkpoints need not.
    """
    rng = np.random.default_rng(rng)
    return [rng.permutation(half.labels) for _ in range(n)]
