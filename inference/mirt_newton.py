"""To the optimum of the penalised multidimensional likelihood: Newton's steps by conjugate gradients.

The second derivatives are blocks, one an item and one a model, and what couples them. The blocks'
inverses precondition the conjugate gradients, which see the coupling through products with a
direction only: nothing of the size of all parameters squared is ever made. A single such step is
the alternating one; about ten make Newton's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from neartie.inference.mirt_objective import (
    Floats,
    PenalisedMirt,
    Point,
    State,
    along_constraint,
    curved,
    evaluate,
    item_blocks,
    model_blocks,
)

#: Largest element of the gradient at which to end, and at which it is an optimum.
TOLERANCE: Final = 1e-8
CONVERGED: Final = 1e-6
MAX_ITERATIONS: Final = 200
MAX_PRODUCTS: Final = 300
# Of a direction's size in the blocks' metric: below it a curvature is that of a rotation, zero.
_FLAT: Final = 1e-9


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Blocks:
    """Inverses of the second derivatives within items and within models.

    Attributes
    ----------
    item : (n_item, dimension + n_family, dimension + n_family) float
    model : (n_model, dimension, dimension) float
    """

    item: Floats
    model: Floats

    @classmethod
    def at(cls, problem: PenalisedMirt, point: Point, state: State) -> Blocks:
        """Return the blocks at a point."""
        return cls(
            item=np.linalg.inv(item_blocks(problem, state)),
            model=np.linalg.inv(model_blocks(problem, point, state)),
        )

    def solve(self, problem: PenalisedMirt, right: Point) -> Point:
        """Return the solution without the coupling, with the sums of effects at zero if asked."""
        item = np.matmul(self.item, right.item[:, :, None])[:, :, 0]
        if problem.sums_over_items:
            first = problem.dimension + 1
            of_sums = self.item[:, :, first:]
            pull = np.linalg.solve(of_sums[:, first:].sum(axis=0), item[:, first:].sum(axis=0))
            item -= of_sums @ pull
        ability = np.matmul(self.model, right.ability.T[:, :, None])[:, :, 0].T
        return Point(item=item, ability=ability)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class MirtSummit:
    """Where an iteration ended.

    Attributes
    ----------
    point : Point
    state : State
    n_iterations : int
        Newton's steps.
    n_products : int
        Of second derivatives with a direction.
    largest_slope : float
        Largest absolute element of the gradient there.
    """

    point: Point
    state: State
    n_iterations: int
    n_products: int
    largest_slope: float

    @property
    def converged(self) -> bool:
        """Whether the gradient is below 1e-6."""
        return self.largest_slope < CONVERGED


def climb(
    problem: PenalisedMirt,
    start: Point,
    *,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> MirtSummit:
    """Minimise by Newton's method.

    Parameters
    ----------
    problem : PenalisedMirt
    start : Point
        Meets the constraint, where there is one.
    tolerance : float
        End when no element of the gradient is larger.
    max_iterations : int

    Returns
    -------
    MirtSummit

    Notes
    -----
    A step is solved the more exactly the closer the optimum is. Conjugate gradients end early
    where the objective curves downwards, with a direction that falls; steps are halved until the
    objective falls enough.
    """
    point = start
    state = evaluate(problem, point)
    n, products = 0, 0
    while n < max_iterations and state.gradient.largest() > tolerance:
        blocks = Blocks.at(problem, point, state)
        step, used = _newton_step(problem, point, state, blocks)
        products += used
        slope = step.dot(state.gradient)
        size, slack = 1.0, 1e-13 * (1 + abs(state.value))
        while True:
            ahead = point.plus(step, size)
            reached = evaluate(problem, ahead)
            if reached.value <= state.value + 1e-4 * size * slope + slack or size < 1e-10:
                break
            size /= 2
        # Nothing but rounding is left to gain.
        if reached.gradient.largest() >= state.gradient.largest() and -slope < 1e3 * slack:
            break
        point, state = ahead, reached
        n += 1
    return MirtSummit(
        point=point,
        state=state,
        n_iterations=n,
        n_products=products,
        largest_slope=state.gradient.largest(),
    )


def _newton_step(
    problem: PenalisedMirt, point: Point, state: State, blocks: Blocks
) -> tuple[Point, int]:
    """Return Newton's step, not solved to the end, and how many products it took."""
    right = Point(item=-state.gradient.item, ability=-state.gradient.ability)
    first = blocks.solve(problem, right)
    whole = right.dot(first)
    # In standard deviations of a parameter: far away it need not be exact.
    typical = np.sqrt(whole / max(1, right.item.size + right.ability.size))
    aim = max(whole * min(0.1, float(typical)) ** 2, 1e-22)
    step, used, _ = conjugate_gradients(problem, point, state, blocks, right, aim=aim)
    return step, used


def conjugate_gradients(
    problem: PenalisedMirt,
    point: Point,
    state: State,
    blocks: Blocks,
    right: Point,
    *,
    aim: float,
    limit: int = MAX_PRODUCTS,
) -> tuple[Point, int, bool]:
    """Solve with the second derivatives as far as needed.

    Parameters
    ----------
    problem : PenalisedMirt
    point : Point
    state : State
    blocks : Blocks
    right : Point
        Right-hand side, along the constraint.
    aim : float
        Squared size, in the blocks' metric, that the rest may have.
    limit : int
        Of products.

    Returns
    -------
    solution : Point
        Along the constraint. Where a downward curvature was met, what was found before it, or the
        blocks' solution if there is nothing.
    n_products : int
    upward : bool
        Whether the objective curved upwards in all directions tried.
    """
    solved = blocks.solve(problem, right)
    direction, left, size = solved, right, right.dot(solved)
    found = Point(item=np.zeros_like(right.item), ability=np.zeros_like(right.ability))
    for n in range(limit):
        if size <= aim:
            return found, n, True
        bent = curved(problem, point, state, direction)
        bent = Point(item=along_constraint(problem, bent.item), ability=bent.ability)
        curvature = direction.dot(bent)
        if curvature <= _FLAT * size:
            return (found if n else direction), n + 1, curvature > -_FLAT * size
        found = found.plus(direction, size / curvature)
        left = left.plus(bent, -size / curvature)
        solved = blocks.solve(problem, left)
        following = left.dot(solved)
        direction = solved.plus(direction, following / size)
        size = following
    return found, limit, True


def curves_upwards(problem: PenalisedMirt, summit: MirtSummit, *, limit: int = 100) -> bool:
    """Return whether no direction was found in which the objective curves downwards.

    Parameters
    ----------
    problem : PenalisedMirt
    summit : MirtSummit
    limit : int
        Of products to look with.

    Returns
    -------
    bool

    Notes
    -----
    Conjugate gradients meet a negative eigenvalue where the right-hand side has a part along it.
    It is a fixed pattern of normal numbers, which has one along nearly all directions, times the
    second derivatives, so that it has none along rotations.
    """
    rng = np.random.default_rng(0)
    point, state = summit.point, summit.state
    item: Floats = rng.normal(size=point.item.shape)
    ability: Floats = rng.normal(size=point.ability.shape)
    pattern = Point(item=along_constraint(problem, item), ability=ability)
    bent = curved(problem, point, state, pattern)
    right = Point(item=along_constraint(problem, bent.item), ability=bent.ability)
    blocks = Blocks.at(problem, point, state)
    aim = 1e-12 * right.dot(blocks.solve(problem, right))
    return conjugate_gradients(problem, point, state, blocks, right, aim=aim, limit=limit)[2]
