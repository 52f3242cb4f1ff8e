"""Penalised likelihood of the multidimensional model with family effects, and its derivatives.

What is minimised is minus the log density of `neartie.models.mirt_dif.build_mirt_dif` with its
scales held. An item's parameters stand in one row: loadings, easiness, and its effects in an
orthonormal basis of the sums of zero over families. So the linear predictor is a product of two
matrices, rows of items times columns of models, of which the models' lower part is known.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from os import cpu_count
from typing import Final

import numpy as np
from numpy.typing import NDArray

from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]
type Mask = NDArray[np.bool_]

#: Cells that one thread takes at a time. It does not depend on the machine, so that sums are
#: added in the same order everywhere.
CELLS: Final = 2**17


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Point:
    """Where the objective is evaluated, or a direction there.

    Attributes
    ----------
    item : (n_item, dimension + n_family) float
        Loadings, easiness (logit), effects (logit) in the basis of sums of zero.
    ability : (dimension, n_model) float
    """

    item: Floats
    ability: Floats

    def dot(self, other: Point) -> float:
        """Return the inner product."""
        return float(np.vdot(self.item, other.item) + np.vdot(self.ability, other.ability))

    def plus(self, other: Point, size: float = 1.0) -> Point:
        """Return this point and a multiple of the other."""
        return Point(
            item=self.item + size * other.item, ability=self.ability + size * other.ability
        )

    def largest(self) -> float:
        """Return the largest absolute value."""
        return max(
            float(np.abs(self.item).max(initial=0.0)), float(np.abs(self.ability).max(initial=0.0))
        )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PenalisedMirt:
    """Answers, and the normal priors of all parameters.

    Attributes
    ----------
    right, observed : (n_item, n_model) bool
        Right answers (no others than observed ones), and where there is an answer.
    basis : (n_family, n_family - 1) float
        Orthonormal columns that sum to zero.
    known : (n_family, n_model) float
        What each model multiplies an item's easiness and effects by.
    mean, precision : (dimension + n_family,) float
        Of the priors of an item's parameters.
    sums_over_items : bool
        Whether effects are to sum to zero over items too.
    """

    right: Mask
    observed: Mask
    basis: Floats
    known: Floats
    mean: Floats
    precision: Floats
    sums_over_items: bool

    @classmethod
    def of(
        cls,
        right: Mask,
        observed: Mask,
        family: NDArray[np.intp],
        *,
        dimension: int,
        sums_over_items: bool,
    ) -> PenalisedMirt:
        """Return the objective with priors yet to be set by `with_scales`."""
        n_family = int(family.max()) + 1
        basis = zero_sum_basis(n_family)
        size = dimension + n_family
        return cls(
            right=right & observed,
            observed=observed,
            basis=basis,
            known=np.vstack([np.ones(right.shape[1]), basis[family].T]),
            mean=np.zeros(size),
            precision=np.ones(size),
            sums_over_items=sums_over_items,
        )

    def with_scales(
        self, *, loading: float, easiness_mean: float, easiness: float, dif: float
    ) -> PenalisedMirt:
        """Return the objective under normal priors of these standard deviations."""
        k, n_family = self.dimension, len(self.basis)
        mean = np.zeros_like(self.mean)
        mean[k] = easiness_mean
        scale = np.repeat([loading, easiness, dif], [k, 1, n_family - 1])
        return PenalisedMirt(
            right=self.right,
            observed=self.observed,
            basis=self.basis,
            known=self.known,
            mean=mean,
            precision=scale**-2.0,
            sums_over_items=self.sums_over_items,
        )

    @property
    def dimension(self) -> int:
        """Number of dimensions of ability."""
        return len(self.mean) - len(self.basis)

    @property
    def n_item(self) -> int:
        """Number of items."""
        return len(self.right)

    @property
    def n_model(self) -> int:
        """Number of models."""
        return int(self.right.shape[1])

    def design(self, ability: Floats) -> Floats:
        """Return what models multiply an item's row by, (dimension + n_family, n_model)."""
        return np.vstack([ability, self.known])


def zero_sum_basis(n_family: int) -> Floats:
    """Return orthonormal columns that sum to zero, (n_family, n_family - 1).

    Examples
    --------
    >>> zero_sum_basis(2).round(4).tolist()
    [[0.7071], [-0.7071]]
    """
    basis = np.zeros((n_family, n_family - 1))
    for k in range(1, n_family):
        basis[:k, k - 1], basis[k, k - 1] = 1.0, -k
        basis[:, k - 1] /= np.sqrt(k * (k + 1.0))
    return basis


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class State:
    """The objective at a point.

    Attributes
    ----------
    value : float, nat
        Minus the log posterior density, up to a constant.
    gradient : Point
        Along the constraint, where there is one.
    residual, weight : (n_item, n_model) float
        Probability less answer, and variance of an answer; zero where there is none.
    design : (dimension + n_family, n_model) float
    """

    value: float
    gradient: Point
    residual: Floats
    weight: Floats
    design: Floats


def evaluate(problem: PenalisedMirt, point: Point) -> State:
    r"""Return value, gradient and what the second derivatives are made of.

    Parameters
    ----------
    problem : PenalisedMirt
    point : Point

    Returns
    -------
    State

    Notes
    -----
    The value is :math:`\sum[\log(1 + e^\eta) - y\eta] + \sum\theta^2/2 + \sum l^2/2\sigma_l^2 +
    \sum(b-\mu)^2/2\sigma_b^2 + \sum\delta^2/2\tau^2` over answered cells.
    """
    k, design = problem.dimension, problem.design(point.ability)
    residual = np.empty(problem.right.shape)
    weight = np.empty(problem.right.shape)
    misfit = np.empty(problem.n_item)
    away = point.item - problem.mean
    item = away * problem.precision

    def work(rows: slice) -> Floats:
        np.matmul(point.item[rows], design, out=residual[rows])
        _fill(
            problem.right[rows], problem.observed[rows], residual[rows], weight[rows], misfit[rows]
        )
        item[rows] += residual[rows] @ design.T
        return np.asarray(point.item[rows, :k].T @ residual[rows])

    ability = point.ability + sum_over_rows(work, problem)
    value = float(misfit.sum() + 0.5 * np.vdot(away, away * problem.precision))
    value += 0.5 * float(np.vdot(point.ability, point.ability))
    return State(
        value=value,
        gradient=Point(item=along_constraint(problem, item), ability=ability),
        residual=residual,
        weight=weight,
        design=design,
    )


def along_constraint(problem: PenalisedMirt, item: Floats) -> Floats:
    """Return rows of items without what changes the sums of effects over items, if these are 0."""
    if not problem.sums_over_items:
        return item
    effects = item[:, problem.dimension + 1 :]
    return np.hstack([item[:, : problem.dimension + 1], effects - effects.mean(axis=0)])


def curved(
    problem: PenalisedMirt, point: Point, state: State, direction: Point, *, share: float = 1.0
) -> Point:
    """Return the second derivatives times a direction, not yet along the constraint.

    Parameters
    ----------
    problem : PenalisedMirt
    point : Point
    state : State
    direction : Point
    share : float
        Of the residuals' part: 1 for the observed curvature, 0 for the expected one, which is
        positive definite everywhere.

    Returns
    -------
    Point
    """
    k = problem.dimension
    item = direction.item * problem.precision
    stacked = np.vstack([state.design, direction.ability])

    def work(rows: slice) -> Floats:
        loading = point.item[rows, :k]
        moved = np.hstack([direction.item[rows], loading]) @ stacked
        moved *= state.weight[rows]
        item[rows] += moved @ state.design.T
        ability = loading.T @ moved
        if share:
            item[rows, :k] += share * (state.residual[rows] @ direction.ability.T)
            ability += share * (direction.item[rows, :k].T @ state.residual[rows])
        return np.asarray(ability)

    return Point(item=item, ability=direction.ability + sum_over_rows(work, problem))


def item_blocks(problem: PenalisedMirt, state: State, rows: slice = slice(None)) -> Floats:
    """Return the second derivatives within each item, (n, dimension + n_family, the same)."""
    return _blocks(state.weight[rows], state.design, problem.precision)


def model_blocks(problem: PenalisedMirt, point: Point, state: State) -> Floats:
    """Return the second derivatives within each model, (n_model, dimension, dimension)."""
    loading = np.ascontiguousarray(point.item[:, : problem.dimension].T)
    return _blocks(state.weight.T, loading, np.ones(problem.dimension))


def _blocks(weight: Floats, factor: Floats, precision: Floats) -> Floats:
    """Return the sums of weighted outer products of columns, one matrix a row of `weight`.

    As one product with all pairs of rows of `factor`: for small matrices far quicker than one
    product each.
    """
    size = len(factor)
    first, second = np.triu_indices(size)
    found = np.empty((len(weight), size, size))
    pairs = (factor[first] * factor[second]).T
    step = max(1, 2**23 // max(1, pairs.shape[1]))
    for start in range(0, len(weight), step):
        sums = weight[start : start + step] @ pairs
        found[start : start + step, first, second] = sums
        found[start : start + step, second, first] = sums
    found[:, range(size), range(size)] += precision
    return found


def sum_over_rows(work: Callable[[slice], Floats], problem: PenalisedMirt) -> Floats:
    """Return the sum of what `work` gives for blocks of items, taken by several threads.

    It is added in the order of the blocks, so that the number of threads changes no bit.
    """
    step = max(1, CELLS // problem.n_model)
    spans = [slice(start, start + step) for start in range(0, problem.n_item, step)]
    if len(spans) == 1:
        return work(spans[0])
    with ThreadPoolExecutor(max_workers=min(len(spans), cpu_count() or 1)) as pool:
        total: Floats | None = None
        for part in pool.map(work, spans):
            total = part if total is None else np.add(total, part, out=total)
    return np.asarray(total)


@compiled
def _fill(
    right: NDArray[np.bool_],
    observed: NDArray[np.bool_],
    logit: NDArray[np.float64],
    weight: NDArray[np.float64],
    misfit: NDArray[np.float64],
) -> None:
    """Replace logits by residuals, and fill the variances and each item's misfit."""
    for i in range(logit.shape[0]):
        total = 0.0
        for m in range(logit.shape[1]):
            if not observed[i, m]:
                logit[i, m], weight[i, m] = 0.0, 0.0
                continue
            # Sign and logit of the answer given: what was unlikely has a large positive `against`.
            against = -logit[i, m] if right[i, m] else logit[i, m]
            tail = np.exp(-abs(against))
            total += max(against, 0.0) + np.log1p(tail)
            share = 1.0 / (1.0 + tail)
            unlikely = share if against >= 0.0 else tail * share
            logit[i, m] = -unlikely if right[i, m] else unlikely
            weight[i, m] = tail * share * share
        misfit[i] = total
