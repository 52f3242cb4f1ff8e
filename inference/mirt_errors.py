"""Standard errors at the mode of the multidimensional model, of what does not turn with its axes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.special import expit

from neartie.inference.mirt_curvature import ItemParts, ability_curvature
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
    try:
        parts = _ItemErrors.at(problem, summit)
    except LinAlgError:
        return None
    k, n_model = problem.dimension, problem.n_model
    system, cross, own, of_sums, abilities_sums, scores_sums = parts.total(parts.products)
    if problem.sums_over_items:
        # Without the directions that would change the sums of effects over items.
        for sums, left, right in (
            (system, abilities_sums, abilities_sums),
            (cross, abilities_sums, scores_sums),
            (own, scores_sums, scores_sums),
        ):
            sums -= left.T @ np.linalg.solve(of_sums, right)
    system = ability_curvature(problem, summit, system)
    slope = _slopes(problem, summit.point, summit.state.design) / problem.n_item
    gradient = slope.T @ summit.point.item[:, :k]
    np.negative(cross, out=cross)
    for m in range(n_model):
        cross[m * k : (m + 1) * k, m] += gradient[m]
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
class _ItemErrors(ItemParts):
    """Items by blocks, with expected scores."""

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


def _of_items(problem: PenalisedMirt, own: Floats) -> tuple[Floats, Floats]:
    """Return standard errors of easiness and effects from their covariance in the basis."""
    dif = np.einsum("fa,iab,fb->if", problem.basis, own[:, 1:, 1:], problem.basis, optimize=True)
    return np.sqrt(own[:, 0, 0]), np.sqrt(np.maximum(dif, 0.0))
