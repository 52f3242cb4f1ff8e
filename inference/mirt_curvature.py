"""Second derivatives of the penalised multidimensional likelihood once items are eliminated.

Items hang together through abilities alone. So what is left of the second derivatives is a matrix
of the size of all abilities, less a product for every item: its rows are whitened by the root of
the item's own second derivatives, and taken by blocks of items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from os import cpu_count
from typing import Final, Self

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from neartie.inference.mirt_newton import MirtSummit
from neartie.inference.mirt_objective import Floats, PenalisedMirt, item_blocks, model_blocks

# Numbers that a block of items may hold.
_NUMBERS: Final = 2**22


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ItemParts:
    """Items by blocks.

    Attributes
    ----------
    problem : PenalisedMirt
    summit : MirtSummit
    root : (n_item, q, q) float
        Inverses of the lower Cholesky factors of the items' blocks, q parameters an item.
    """

    problem: PenalisedMirt
    summit: MirtSummit
    root: Floats

    @classmethod
    def at(cls, problem: PenalisedMirt, summit: MirtSummit) -> Self:
        """Return the parts at a point.

        Raises
        ------
        LinAlgError
            If an item's block is not positive definite.
        """
        root = np.linalg.inv(np.linalg.cholesky(item_blocks(problem, summit.state)))
        return cls(problem=problem, summit=summit, root=root)

    def spans(self) -> list[slice]:
        """Return blocks of items."""
        width = len(self.problem.mean) * self.problem.n_model * self.problem.dimension
        step = max(1, _NUMBERS // width)
        return [
            slice(start, min(start + step, self.problem.n_item))
            for start in range(0, self.problem.n_item, step)
        ]

    def over[T](self, work: Callable[[slice], T]) -> Iterator[T]:
        """Yield what the work gives for each block, in their order, computed two at a time."""
        with ThreadPoolExecutor(max_workers=min(2, cpu_count() or 1)) as pool:
            yield from pool.map(work, self.spans())

    def total(self, work: Callable[[slice], list[Floats]]) -> list[Floats]:
        """Return the sums over all blocks of what the work gives, added in their order."""
        found = self.over(work)
        total = next(found)
        for following in found:
            for sums, part in zip(total, following, strict=True):
                sums += part
        return total

    def coupling(self, rows: slice) -> Floats:
        """Return whitened second derivatives with all abilities, (n q, n_model dimension)."""
        problem, point, state = self.problem, self.summit.point, self.summit.state
        k, q = problem.dimension, len(problem.mean)
        loading = point.item[rows, :k]
        found = np.einsum(
            "im,qm,ik->iqmk", state.weight[rows], state.design, loading, optimize=True
        )
        for axis in range(k):
            found[:, axis, :, axis] += state.residual[rows]
        whitened = self.root[rows] @ found.reshape(len(loading), q, -1)
        return np.asarray(whitened.reshape(len(loading) * q, -1))

    def sums(self, rows: slice) -> Floats:
        """Return the whitened sums of effects over items, (n q, n_family - 1)."""
        first = self.problem.dimension + 1
        part = self.root[rows][:, :, first:]
        return part.reshape(-1, part.shape[2])

    def ability_products(self, rows: slice) -> list[Floats]:
        """Return the sums over these items of products of abilities and constraints."""
        abilities, sums = self.coupling(rows), self.sums(rows)
        return [abilities.T @ abilities, sums.T @ sums, sums.T @ abilities]


def ability_curvature(problem: PenalisedMirt, summit: MirtSummit, eliminated: Floats) -> Floats:
    """Return the second derivatives of abilities less what items take, with rotations filled in.

    Parameters
    ----------
    problem : PenalisedMirt
    summit : MirtSummit
    eliminated : (n_model dimension, n_model dimension) float
        The sum over items of the products of `ItemParts.coupling`; overwritten.

    Returns
    -------
    (n_model dimension, n_model dimension) float
        The rows of a model stand together. A rotation of the axes changes nothing, so that
        the matrix would be singular along K(K-1)/2 known directions; curvature is added along these.
    """
    system = np.negative(eliminated, out=eliminated)
    k = problem.dimension
    for m, own in enumerate(model_blocks(problem, summit.point, summit.state)):
        mine = slice(m * k, (m + 1) * k)
        system[mine, mine] += own
    turns = rotations(summit.point.ability)
    system += float(np.median(np.diag(system))) * (turns @ turns.T)
    return system


def rotations(ability: Floats) -> Floats:
    """Return orthonormal directions in which a rotation moves all abilities, in columns.

    Parameters
    ----------
    ability : (dimension, n_model) float

    Returns
    -------
    (n_model dimension, n_direction) float
        The rows of a model stand together. Between the principal axes of the abilities they are
        orthogonal by themselves.
    """
    square, axes = np.linalg.eigh(ability @ ability.T)
    turned = axes.T @ ability
    first, second = np.triu_indices(len(square), 1)
    length = np.sqrt(np.maximum(square[first] + square[second], 0.0))
    # Between two axes without abilities there is nothing to turn.
    kept = length > 1e-8 * np.sqrt(max(float(square.max()), 1e-300))
    first, second, length = first[kept], second[kept], length[kept]
    turns = axes[None, :, first] * turned[second].T[:, None, :]
    turns -= axes[None, :, second] * turned[first].T[:, None, :]
    return np.asarray((turns / length).reshape(ability.size, -1))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CurvatureRoot:
    """Turns standard normal numbers into what lies beside the mode.

    Attributes
    ----------
    parts : ItemParts
    lower : (n_model dimension, n_model dimension) float
        Lower Cholesky factor of the abilities' precision.
    turns : (n_model dimension, n_direction) float
        Orthonormal rotations.
    pull : (n_item, q, n_family - 1) float
        How items give way to sums of effects over items; no column where these are free.
    """

    parts: ItemParts
    lower: Floats
    turns: Floats
    pull: Floats

    @classmethod
    def at(cls, problem: PenalisedMirt, summit: MirtSummit) -> Self:
        """Return the root at a mode.

        Raises
        ------
        LinAlgError
            If the curvature is not that of a maximum.
        """
        parts = ItemParts.at(problem, summit)
        system, of_sums, cross = parts.total(parts.ability_products)
        pull = np.empty((problem.n_item, len(problem.mean), 0))
        if problem.sums_over_items:
            system -= cross.T @ np.linalg.solve(of_sums, cross)
            first = problem.dimension + 1
            inverse = np.swapaxes(parts.root, 1, 2) @ parts.root[:, :, first:]
            pull = np.swapaxes(np.linalg.solve(of_sums, np.swapaxes(inverse, 1, 2)), 1, 2)
        system = ability_curvature(problem, summit, system)
        return cls(
            parts=parts,
            lower=cholesky(system, lower=True, overwrite_a=True, check_finite=False),
            turns=rotations(summit.point.ability),
            pull=pull,
        )

    def abilities(self, normal: Floats) -> Floats:
        """Return how far abilities are from the mode.

        Parameters
        ----------
        normal : (n_draw, n_model dimension) float

        Returns
        -------
        (n_draw, dimension, n_model) float
        """
        found = solve_triangular(self.lower, normal.T, lower=True, trans="T", check_finite=False)
        found -= self.turns @ (self.turns.T @ found)
        k = self.parts.problem.dimension
        return np.ascontiguousarray(found.T.reshape(len(normal), -1, k).swapaxes(1, 2))

    def items(self, away: Floats, normal: Floats) -> Floats:
        """Return how far items are from the mode, given how far abilities are.

        Parameters
        ----------
        away : (dimension, n_model) float
        normal : (n_item, q) float

        Returns
        -------
        (n_item, q) float
        """
        problem, summit, root = self.parts.problem, self.parts.summit, self.parts.root
        k, state = problem.dimension, summit.state
        moved = summit.point.item[:, :k] @ away
        moved *= state.weight
        slope = moved @ state.design.T
        slope[:, :k] += state.residual @ away.T
        whitened = normal - (root @ slope[:, :, None])[:, :, 0]
        found = (whitened[:, None, :] @ root)[:, 0]
        if self.pull.shape[2]:
            found -= self.pull @ found[:, k + 1 :].sum(axis=0)
        return np.asarray(found)
