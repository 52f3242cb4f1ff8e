"""Standard errors at the mode of the multidimensional model, of what does not turn with its axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from os import cpu_count
from typing import Final

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.special import expit

from neartie.inference.mirt_newton import MirtSummit
from neartie.inference.mirt_objective import (
    Floats,
    PenalisedMirt,
    Point,
    item_blocks,
    model_blocks,
)

#: Models beyond which the covariance of their expected scores is left out.
MOST_MODELS: Final = 2000
#: Multiplications beyond which joint errors take minutes.
MOST_WORK: Final = 4e11
# Numbers that a block of items may hold.
_NUMBERS: Final = 2**22


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class KnownErrors:
    """What is uncertain if the other side is known.

    Attributes
    ----------
    score : (n_model,) float, proportion
        Of expected scores, items known.
    easiness : (n_item,) float, logit
        Abilities known.
    dif : (n_item, n_family) float, logit
        Abilities known.
    """

    score: Floats
    easiness: Floats
    dif: Floats


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class JointErrors:
    """What is uncertain if nothing but the scales is known.

    Attributes
    ----------
    covariance : (n_model, n_model) float
        Of expected scores.
    easiness : (n_item,) float, logit
    dif : (n_item, n_family) float, logit
    """

    covariance: Floats
    easiness: Floats
    dif: Floats


def joint_work(problem: PenalisedMirt) -> float:
    """Return about how many multiplications joint errors take."""
    n_ability = float(problem.n_model * problem.dimension)
    n_turn = problem.dimension**2 / 2
    return n_ability**2 * (problem.n_item * len(problem.mean) + n_ability / 3 + n_turn)


def joint_memory(problem: PenalisedMirt) -> int:
    """Return about how many bytes joint errors take."""
    return 8 * (4 * (problem.n_model * problem.dimension) ** 2 + 6 * problem.right.size)


def known_errors(problem: PenalisedMirt, summit: MirtSummit) -> KnownErrors:
    """Return standard errors from the second derivatives within each item and each model.

    Parameters
    ----------
    problem : PenalisedMirt
    summit : MirtSummit

    Returns
    -------
    KnownErrors
    """
    point, state = summit.point, summit.state
    slope = _slopes(problem, point, state.design) / problem.n_item
    gradient = slope.T @ point.item[:, : problem.dimension]
    solved = np.linalg.solve(model_blocks(problem, point, state), gradient[:, :, None])[:, :, 0]
    score = np.sqrt((gradient * solved).sum(axis=1))
    inverse = np.linalg.inv(item_blocks(problem, state))
    first = problem.dimension
    own = inverse[:, first:, first:].copy()
    if problem.sums_over_items:
        cross, total = own[:, :, 1:], own[:, 1:, 1:].sum(axis=0)
        own -= cross @ np.linalg.solve(total, np.swapaxes(cross, 1, 2))
    easiness, dif = _of_items(problem, own)
    return KnownErrors(score=score, easiness=easiness, dif=dif)


def joint_errors(problem: PenalisedMirt, summit: MirtSummit) -> JointErrors | None:
    r"""Return standard errors from the inverse of all second derivatives.

    Parameters
    ----------
    problem : PenalisedMirt
    summit : MirtSummit
        At the optimum.

    Returns
    -------
    JointErrors or None
        None where the curvature is not that of a maximum of the density.

    Notes
    -----
    Items are eliminated: with H the second derivatives, :math:`S = H_{\theta\theta} -
    \sum_i C_i^T H_i^{-1} C_i` over items i, of the size of all abilities. A rotation of the axes
    changes nothing, so that S is singular along K(K-1)/2 known directions; curvature is added
    along these. What does not turn has no slope along them, so that its error is not touched.
    Expected scores :math:`\frac1n\sum_i P_{im}` have slopes in items and abilities (delta method).
    """
    blocks = item_blocks(problem, summit.state)
    try:
        root = np.linalg.inv(np.linalg.cholesky(blocks))
    except LinAlgError:
        return None
    k, n_model = problem.dimension, problem.n_model
    parts = _ItemParts(problem=problem, summit=summit, root=root)
    found = parts.over(parts.products)
    total = next(found)
    for following in found:
        for sums, part in zip(total, following, strict=True):
            sums += part
    system, cross, own, of_sums, abilities_sums, scores_sums = total
    if problem.sums_over_items:
        # Without the directions that would change the sums of effects over items.
        for sums, left, right in (
            (system, abilities_sums, abilities_sums),
            (cross, abilities_sums, scores_sums),
            (own, scores_sums, scores_sums),
        ):
            sums -= left.T @ np.linalg.solve(of_sums, right)
    np.negative(system, out=system)
    within = model_blocks(problem, summit.point, summit.state)
    slope = _slopes(problem, summit.point, summit.state.design) / problem.n_item
    gradient = slope.T @ summit.point.item[:, :k]
    np.negative(cross, out=cross)
    for m in range(n_model):
        mine = slice(m * k, (m + 1) * k)
        system[mine, mine] += within[m]
        cross[mine, m] += gradient[m]
    turns = _rotations(summit.point.ability)
    system += float(np.median(np.diag(system))) * (turns @ turns.T)
    try:
        lower = cholesky(system, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    spread = solve_triangular(lower, cross, lower=True, check_finite=False)
    pull = np.linalg.solve(of_sums, abilities_sums) if problem.sums_over_items else None
    work = partial(parts.variances, lower=lower, of_sums=of_sums, pull=pull)
    easiness, dif = _of_items(problem, np.concatenate(list(parts.over(work))))
    return JointErrors(covariance=own + spread.T @ spread, easiness=easiness, dif=dif)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _ItemParts:
    """Items by blocks: rows of each are whitened by the root of its own second derivatives.

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

    def products(self, rows: slice) -> list[Floats]:
        """Return the sums over these items of products of abilities, scores and constraints."""
        problem, design = self.problem, self.summit.state.design
        abilities, sums = self.coupling(rows), self.sums(rows)
        slope = _slopes(problem, self.summit.point, design, rows) / problem.n_item
        scores = self.root[rows] @ (slope[:, None, :] * design)
        scores = scores.reshape(-1, problem.n_model)
        return [
            abilities.T @ abilities,
            abilities.T @ scores,
            scores.T @ scores,
            sums.T @ sums,
            sums.T @ abilities,
            sums.T @ scores,
        ]

    def variances(
        self, rows: slice, *, lower: Floats, of_sums: Floats, pull: Floats | None
    ) -> Floats:
        """Return the inverse's blocks of easiness and effects, (n, n_family, n_family)."""
        q, first = len(self.problem.mean), self.problem.dimension
        abilities, chosen = self.coupling(rows), self.root[rows][:, :, first:]
        own = np.swapaxes(chosen, 1, 2) @ chosen
        if pull is not None:
            sums = self.sums(rows)
            abilities -= sums @ pull
            cross = np.swapaxes(chosen, 1, 2) @ sums.reshape(len(chosen), q, -1)
            own -= cross @ np.linalg.solve(of_sums, np.swapaxes(cross, 1, 2))
        reached = np.swapaxes(chosen, 1, 2) @ abilities.reshape(len(chosen), q, -1)
        flat = reached.reshape(-1, reached.shape[2])
        solved = solve_triangular(lower, flat.T, lower=True, check_finite=False)
        spread: Floats = np.asarray(solved.T).reshape(reached.shape)
        return np.asarray(own + spread @ np.swapaxes(spread, 1, 2))


def _slopes(
    problem: PenalisedMirt, point: Point, design: Floats, rows: slice = slice(None)
) -> Floats:
    """Return the slope of each probability in its logit, of cells without an answer too."""
    chance = expit(point.item[rows] @ design)
    return np.asarray(chance * (1 - chance))


def _rotations(ability: Floats) -> Floats:
    """Return orthonormal directions in which a rotation moves all abilities, in columns.

    Between the principal axes of the abilities they are orthogonal by themselves.
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


def _of_items(problem: PenalisedMirt, own: Floats) -> tuple[Floats, Floats]:
    """Return standard errors of easiness and effects from their covariance in the basis."""
    dif = np.einsum("fa,iab,fb->if", problem.basis, own[:, 1:, 1:], problem.basis, optimize=True)
    return np.sqrt(own[:, 0, 0]), np.sqrt(np.maximum(dif, 0.0))
