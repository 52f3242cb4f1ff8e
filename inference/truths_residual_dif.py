"""Truths and answers of the residual-DIF model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from neartie.data.errors import DataError
from neartie.inference.truths import (
    Values,
    answer_likelihood,
    bernoulli,
    cells_of,
    constant,
    in_blocks,
)
from neartie.inference.truths_dif import draw_dif_scale, draw_effects
from neartie.models.record import record_of

type Floats = NDArray[np.float64]


class ResidualDifTruths:
    """As `neartie.inference.truths.Truths` has it, after the formulas of `build_residual_dif`.

    Parameters
    ----------
    model : pm.Model
        Its offset is taken as true.
    priors : mapping
        Hyperparameters of the truths; see `neartie.inference.truths.truths_of` for planted effects.

    Raises
    ------
    DataError
        If the prior of easiness is flat.
    """

    ranking = "expected_score"

    def __init__(self, model: Any, *, priors: Mapping[str, Any]) -> None:
        if priors["easiness_sd"] is None:
            raise DataError(
                "the prior of easiness is flat, so that no truth can be drawn from it: give a "
                "standard deviation to the prior (easiness_sd=1.5), or to the truths alone"
            )
        self.options, self.priors = record_of(model).options, priors
        self.n_item, self.n_model = len(model.coords["item"]), len(model.coords["model"])
        self.n_family = len(model.coords["family"])
        self.family, self.cells = constant(model, "model_family"), cells_of(model)
        # always there: the factory puts it among the constant data
        self.offset = np.asarray(constant(model, "offset"), dtype=np.float64)

    def draw(self, rng: np.random.Generator) -> dict[str, Floats]:
        """Return easiness, family effects and their scale."""
        prior, scale = self.priors, self.priors["dif_sd"]
        spread = prior["easiness_sd"] * rng.normal(size=self.n_item)
        truth: dict[str, Any] = {"easiness": prior["easiness_mean"] + spread}
        if self.options["hierarchical"] and "dif_share" not in prior:
            truth["dif_scale"] = scale = draw_dif_scale(rng, prior)
        if self.options["sparse"]:
            scale = None
        shape = (self.n_item, self.n_family)
        truth |= draw_effects(rng, prior, self.options, shape, scale=scale)
        return {name: np.asarray(value) for name, value in truth.items()}

    def data(self, truth: Values, rng: np.random.Generator) -> dict[str, Floats]:
        """Return answers."""
        logit = self.logit({name: value[None] for name, value in truth.items()})
        return {"score": bernoulli(rng, self._answered(logit)[0])}

    def logit(self, values: Values) -> Floats:
        """Return logits (n_draw, n_item, n_model)."""
        own = self.offset + values["easiness"][:, :, None]
        return np.asarray(own + values["dif"][:, :, self.family])

    def _answered(self, logit: Floats) -> Floats:
        return logit if self.cells is None else logit[:, self.cells[0], self.cells[1]]

    def quantities(self, values: Values, data: Values) -> dict[str, Floats]:
        """Return parameters, D, expected scores and the log-likelihood."""
        names = ("easiness", "dif", "dif_scale")
        kept = {name: values[name] for name in names if name in values}
        n_draw = len(values["easiness"])
        likelihood, scores = np.empty(n_draw), np.empty((n_draw, self.n_model))
        used = {name: values[name] for name in ("easiness", "dif")}
        for block, logit in in_blocks(used, self.n_item * self.n_model, self.logit):
            scores[block] = expit(logit).mean(axis=1)
            likelihood[block] = answer_likelihood(self._answered(logit), data["score"])
        return {
            **kept,
            "dif_range": np.ptp(values["dif"], axis=-1),
            "expected_score": scores,
            "log_likelihood": likelihood,
        }
