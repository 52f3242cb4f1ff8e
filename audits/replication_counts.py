"""Replication statistics as whole numbers, and within-cell permutations (P0, D.3)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from neartie.audits.anchors import Cells
from neartie.audits.replication_kernel import count_permuted
from neartie.audits.signatures import Signatures

type Floats = NDArray[np.float64]
type Integers = NDArray[np.int64]

STATISTICS = ("median_rho", "overlap", "agreement")
CHUNK = 250


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ReplicationCounts:
    """Statistics of some permutations, as whole numbers and what they are divided by."""

    products: Integers  # (n_permutation, n_family)
    scale: Floats  # (n_family,), 0 where a side is constant
    n_both: Integers
    n_agree: Integers
    n_top: int

    @property
    def rho(self) -> Floats:
        rho = np.full(self.products.shape, np.nan)
        np.divide(self.products, self.scale, out=rho, where=self.scale > 0)
        return rho

    def statistic(self, name: str) -> Floats:
        if name == "median_rho":
            defined = self.rho[:, self.scale > 0]
            if not defined.shape[1]:
                return np.full(len(defined), np.nan)
            return np.asarray(np.median(defined, axis=1), dtype=np.float64)
        if name == "overlap":
            return self.n_both / self.n_top
        out = np.full(len(self.n_both), np.nan)
        np.divide(self.n_agree, self.n_both, out=out, where=self.n_both > 0)
        return out

    def at_least(self, observed: ReplicationCounts, name: str) -> NDArray[np.bool_]:
        """Which permutations reach the observed statistic; undefined ones do."""
        if name == "median_rho":
            # equal rank products give equal doubles: no rounding decides
            return self.statistic(name) >= observed.statistic(name)
        if name == "overlap":
            return self.n_both >= observed.n_both
        return self.n_agree * observed.n_both >= observed.n_agree * self.n_both


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Sides:
    """Ranks, top items and advantaged families of both halves."""

    rank: Integers  # (2, n_item, n_family)
    top: NDArray[np.bool_]
    advantaged: NDArray[np.intp]

    @classmethod
    def prepare(cls, signatures: Signatures, cells: Cells, share: Fraction) -> Sides:
        n = len(signatures.items)
        mid = stats.rankdata(signatures.centred(cells), axis=1)
        return cls(
            rank=np.rint(2 * mid).astype(np.int64) - (n + 1),
            top=signatures.top_items(cells, share=share),
            advantaged=signatures.advantaged,
        )

    def count(self, permutation: NDArray[np.int32]) -> ReplicationCounts:
        products, n_both, n_agree = count_permuted(
            np.ascontiguousarray(permutation, dtype=np.int32),
            self.rank[0],
            self.rank[1],
            self.top[0],
            self.top[1],
            self.advantaged[0],
            self.advantaged[1],
        )
        squares = (self.rank.astype(np.float64) ** 2).sum(axis=1)
        return ReplicationCounts(
            products=products,
            scale=np.sqrt(squares[0] * squares[1]),
            n_both=n_both,
            n_agree=n_agree,
            n_top=int(self.top[0].sum()),
        )


def permute_within(
    code: NDArray[np.intp], n: int, *, rng: np.random.Generator | int | None = None
) -> NDArray[np.int32]:
    """Return permutations that move items within their group only.

    Parameters
    ----------
    code : (n_item,) int
        Group of each item.
    n : int
    rng : Generator, int or None

    Returns
    -------
    (n, n_item) int
        Each uniform, independent.

    Examples
    --------
    >>> permute_within(np.array([0, 1, 0, 1]), 2, rng=2)
    array([[0, 3, 2, 1],
           [2, 1, 0, 3]], dtype=int32)
    """
    rng = np.random.default_rng(rng)
    out = np.empty((n, len(code)), dtype=np.int32)
    for group in range(int(code.max(initial=-1)) + 1):
        members = np.flatnonzero(code == group).astype(np.int32)
        out[:, members] = rng.permuted(np.tile(members, (n, 1)), axis=1)
    return out


def count_drawn(sides: Sides, cells: Cells, n: int, rng: np.random.Generator) -> ReplicationCounts:
    starts = range(0, max(n, 1), CHUNK)
    parts = [
        sides.count(permute_within(cells.code, min(CHUNK, n - first), rng=rng)) for first in starts
    ]
    return ReplicationCounts(
        products=np.concatenate([part.products for part in parts]),
        scale=parts[0].scale,
        n_both=np.concatenate([part.n_both for part in parts]),
        n_agree=np.concatenate([part.n_agree for part in parts]),
        n_top=parts[0].n_top,
    )
