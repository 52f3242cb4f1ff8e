"""The answers of a model with family effects, as its Gibbs sampler takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from neartie.data.errors import ConvergenceError
from neartie.inference.flat_model import data_of, observed_arrays
from neartie.inference.gibbs_easiness_kernel import shift_easiness
from neartie.inference.gibbs_item_kernel import (
    ItemSums,
    add_item_sums,
    draw_weights,
    empty_sums,
    packed_products,
)

type Floats = NDArray[np.float64]

# Items with a smaller share of right or of wrong answers have their easiness drawn twice.
ONE_SIDED: Final = 0.1


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FamilyCells:
    """Answers with the models of one family side by side.

    Attributes
    ----------
    answers : (n_item, n_model) int8
        1 right, 0 wrong, -1 missing; columns in the order `order`.
    order : (n_model,) int
        Position in the model of every column, family by family.
    start : (n_family + 1,) int
        Family f has the columns start[f] to start[f + 1] - 1.
    offset : (n_item, n_model) float, logit
        A known part of the linear predictor, columns in the same order; (0, 0) where there is
        none.
    lean : (n_item, n_family) float
        Sum over a family's answers of 1/2 for a right and -1/2 for a wrong one.
    one_sided : (n,) int
        Items that almost all models solve, or almost all fail.
    family : (n_model,) int
        Of every column.
    by_model : (n_model, n_item) int8
        The answers again, a row a model.
    share_right : (n_item,) float
        Share of right answers, shrunk to a half by one answer.
    """

    answers: NDArray[np.int8]
    order: NDArray[np.intp]
    start: NDArray[np.intp]
    offset: Floats
    lean: Floats
    one_sided: NDArray[np.intp]
    family: NDArray[np.intp]
    by_model: NDArray[np.int8]
    share_right: Floats

    @property
    def n_family(self) -> int:
        """Return how many families there are."""
        return len(self.start) - 1


def family_cells(model: Any) -> FamilyCells:
    """Return the answers of a model that `build_mirt_dif` or `build_residual_dif` built.

    Parameters
    ----------
    model : pm.Model

    Returns
    -------
    FamilyCells
    """
    data = {variable.name: np.asarray(data_of(variable)) for variable in model.data_vars}
    score = observed_arrays(model)["score"]
    family = data["model_family"]
    if "cell_item" in data:
        values = np.full((len(model.coords["item"]), len(family)), -1, dtype=np.int8)
        values[data["cell_item"], data["cell_model"]] = score
    else:
        values = score.astype(np.int8)
    return arrange_cells(values, family, offset=data.get("offset"))


def arrange_cells(
    values: NDArray[np.int8], family: NDArray[np.intp], *, offset: Floats | None = None
) -> FamilyCells:
    """Return answers with the columns of one family side by side.

    Parameters
    ----------
    values : (n_item, n_model) int8
        1 right, 0 wrong, -1 missing.
    family : (n_model,) int
        Every family has a model.
    offset : (n_item, n_model) float, logit, optional

    Returns
    -------
    FamilyCells

    Examples
    --------
    >>> cells = arrange_cells(np.array([[1, 0, 1]], dtype=np.int8), np.array([1, 0, 1]))
    >>> cells.order, cells.start, cells.lean
    (array([1, 0, 2]), array([0, 1, 3]), array([[-0.5,  1. ]]))
    """
    order = np.argsort(family, kind="stable")
    size = np.bincount(family)
    start = np.concatenate([[0], np.cumsum(size)])
    answers = np.ascontiguousarray(values[:, order], dtype=np.int8)
    right, wrong = answers == 1, answers == 0
    n_seen = (right | wrong).sum(axis=1)
    fewer = np.minimum(right.sum(axis=1), wrong.sum(axis=1))
    return FamilyCells(
        answers=answers,
        order=order,
        start=start,
        offset=np.empty((0, 0)) if offset is None else np.ascontiguousarray(offset[:, order]),
        lean=np.add.reduceat(0.5 * right - 0.5 * wrong, start[:-1], axis=1),
        one_sided=np.flatnonzero(fewer < ONE_SIDED * n_seen),
        family=np.repeat(np.arange(len(size)), size),
        by_model=np.ascontiguousarray(answers.T),
        share_right=(right.sum(axis=1) + 0.5) / (n_seen + 1.0),
    )


def weigh_answers(
    cells: FamilyCells,
    loading: Floats,
    easiness: Floats,
    effects: Floats,
    ability: Floats,
    *,
    easiness_prior: tuple[float, float],
    rng: np.random.Generator,
) -> tuple[Floats, ItemSums]:
    """Draw the Pólya–Gamma weights and, before them, the easiness of one-sided items.

    Parameters
    ----------
    cells : FamilyCells
    loading : (n_item, K) float
        K may be 0.
    easiness : (n_item,) float, logit
        Changed in place for one-sided items.
    effects : (n_item, F) float, logit
    ability : (n_model, K) float
        In the order of the cells.
    easiness_prior : (float, float)
        Mean and precision.
    rng : Generator

    Returns
    -------
    weights : (n_item, n_model) float
        0 where there is no answer.
    sums : ItemSums
        Of the weights, over models.

    Raises
    ------
    ConvergenceError
        If a number is not finite: no weight could be drawn.
    """
    require_finite(loading, easiness, effects, ability)
    weights = np.empty(cells.answers.shape)
    by_factor = np.ascontiguousarray(ability.T)
    intercept = easiness[:, None] + effects
    place = cells.answers, cells.offset, loading, intercept, by_factor, cells.start
    if len(cells.one_sided):
        shift_easiness(rng, cells.one_sided, *place, np.array(easiness_prior), easiness)
    draw_weights(rng, *place, weights)
    n_item, n_factor = loading.shape
    n_packed = n_factor * (n_factor + 1) // 2
    sums = empty_sums(n_item, cells.n_family, n_factor)
    products = packed_products(ability, n_packed + n_factor)
    add_item_sums(weights, cells.answers, cells.offset, products, cells.start, sums)
    return weights, sums


def require_finite(*parts: Floats) -> None:
    """Raise a ConvergenceError if a number is not finite: nothing can be drawn given it."""
    if not all(np.isfinite(part).all() for part in parts):
        raise ConvergenceError(
            "the Gibbs sampler has left the range of numbers: check the priors, or use the "
            "engine nuts"
        )
