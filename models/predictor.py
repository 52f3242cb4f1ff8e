"""The observed answers of a PyMC model, given two factors of the matrix of logits."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray

from neartie.models.answers import Answers

# Below this share of answered cells the logits of the answered cells alone are computed; above it
# one product of matrices is quicker, although part of it is thrown away.
SPARSE: Final = 0.05


def item_model_coords(answers: Answers) -> dict[str, list[str]]:
    """Return the coords `item` and `model`: the user's labels in canonical order."""
    return {"item": answers.responses.item_ids, "model": answers.responses.model_ids}


def observe_answers(
    answers: Answers, left: Any, right: Any, *, offset: NDArray[np.float64] | None = None
) -> None:
    r"""Add the observed variable `score` to the model at hand.

    Parameters
    ----------
    answers : Answers
    left : (n_item, r) tensor
    right : (r, n_model) tensor
        The logits are `left @ right`, plus the offset.
    offset : (n_item, n_model) float, logit, optional

    Notes
    -----
    Complete answers have dims `item`, `model`. Otherwise `score` has the dim `cell`, one entry an
    answered cell, and the constant data `cell_item`, `cell_model` say which: a missing cell has
    no likelihood.

    The density is that of `pm.Bernoulli`, written :math:`y\eta - \log(1 + e^\eta)`: one
    transcendental function a cell instead of several.
    """
    if answers.complete:
        logit = pt.dot(left, right)
        observed: NDArray[Any] = answers.responses.values
        dims: tuple[str, ...] = ("item", "model")
    else:
        pm.modelcontext(None).add_coord("cell", range(len(answers.values)))
        pm.Data("cell_item", answers.cell_item, dims="cell")
        pm.Data("cell_model", answers.cell_model, dims="cell")
        logit = at_cells(
            left, right, answers.cell_item, answers.cell_model, whole=answers.share >= SPARSE
        )
        observed, dims = answers.values, ("cell",)
    if offset is not None:
        cells = offset if answers.complete else offset[answers.cell_item, answers.cell_model]
        logit = logit + cells
    pm.CustomDist(
        "score",
        logit,
        dist=_bernoulli,
        logp=_log_likelihood,
        observed=observed,
        dims=dims,
        class_name="Bernoulli",
    )


def at_cells(
    left: Any, right: Any, item: NDArray[np.intp], model: NDArray[np.intp], *, whole: bool
) -> Any:
    """Return `left @ right` at some cells, from the whole product or from them alone."""
    if whole:
        return pt.dot(left, right)[item, model]
    return (left[item] * right.T[model]).sum(axis=1)


def _bernoulli(logit: Any, size: Any) -> Any:
    return pm.Bernoulli.dist(logit_p=logit, size=size)


def _log_likelihood(value: Any, logit: Any) -> Any:
    return value * logit - pt.softplus(logit)
