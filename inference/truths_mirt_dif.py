"""Truths and answers of the multidimensional model with family effects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from neartie.inference.truths import (
    Values,
    answer_likelihood,
    bernoulli,
    cells_of,
    constant,
    in_blocks,
    zero_sum,
)
from neartie.inference.truths_dif import draw_dif_scale, draw_effects
from neartie.models.record import record_of

type Floats = NDArray[np.float64]

# Up to so many logits all are quantities; of more, the cells by which convergence is judged.
MOST_LOGITS: Final = 300
_KEPT: Final = (
    "easiness",
    "dif",
    "dif_scale",
    "loading_scale",
    "easiness_mean",
    "easiness_scale",
)


class MirtDifTruths:
    """As `neartie.inference.truths.Truths` has it, after the formulas of `build_mirt_dif`.

    Parameters
    ----------
    model : pm.Model
    priors : mapping
        Hyperparameters of the truths; see `neartie.inference.truths.truths_of` for planted effects.
    """

    ranking = "expected_score"

    def __init__(self, model: Any, *, priors: Mapping[str, Any]) -> None:
        self.options, self.priors = record_of(model).options, priors
        coords = model.coords
        self.n_item, self.n_model = len(coords["item"]), len(coords["model"])
        self.n_family = len(coords["family"])
        self.family, self.cells = constant(model, "model_family"), cells_of(model)
        self.probe = constant(model, "probe_item"), constant(model, "probe_model")

    def draw(self, rng: np.random.Generator) -> dict[str, Floats]:
        """Return abilities, items, family effects and scales."""
        n, prior, sparse = self.options["dimension"], self.priors, self.options["sparse"]
        log_sd, truth = prior["log_scale_sd"], {}
        if not sparse and "dif_share" not in prior:
            truth["dif_scale"] = draw_dif_scale(rng, prior)
        median = prior["loading_spread"] / np.sqrt(n)
        truth["loading_scale"] = median * np.exp(log_sd * rng.normal(size=()))
        truth["easiness_mean"] = prior["easiness_mean_sd"] * rng.normal(size=())
        truth["easiness_scale"] = prior["easiness_scale"] * np.exp(log_sd * rng.normal(size=()))
        truth["ability"] = rng.normal(size=(n, self.n_model))
        if self.options["family_means"]:
            means = prior["family_mean_sd"] * zero_sum(rng, (n, self.n_family))
            truth["ability"] = truth["ability"] + means[:, self.family]
        truth["loading"] = truth["loading_scale"] * rng.normal(size=(self.n_item, n))
        spread = truth["easiness_scale"] * rng.normal(size=self.n_item)
        truth["easiness"] = truth["easiness_mean"] + spread
        shape, scale = (self.n_item, self.n_family), truth.get("dif_scale")
        truth |= draw_effects(rng, prior, self.options, shape, scale=scale)
        return {name: np.asarray(value) for name, value in truth.items()}

    def data(self, truth: Values, rng: np.random.Generator) -> dict[str, Floats]:
        """Return answers."""
        logit = self.logit({name: value[None] for name, value in truth.items()})
        return {"score": bernoulli(rng, self._answered(logit)[0])}

    def logit(self, values: Values) -> Floats:
        """Return logits (n_draw, n_item, n_model)."""
        logit = values["loading"] @ values["ability"]
        logit = logit + values["easiness"][:, :, None]
        return np.asarray(logit + values["dif"][:, :, self.family])

    def _answered(self, logit: Floats) -> Floats:
        return logit if self.cells is None else logit[:, self.cells[0], self.cells[1]]

    def quantities(self, values: Values, data: Values) -> dict[str, Floats]:
        """Return what no rotation changes: scales, effects, logits, expected scores."""
        n_draw, n_cell = len(values["easiness"]), self.n_item * self.n_model
        kept = {name: values[name] for name in _KEPT if name in values}
        likelihood, scores = np.empty(n_draw), np.empty((n_draw, self.n_model))
        logits = []
        used = {name: values[name] for name in ("loading", "ability", "easiness", "dif")}
        for block, logit in in_blocks(used, n_cell, self.logit):
            logits.append(logit if n_cell <= MOST_LOGITS else logit[:, *self.probe])
            scores[block] = expit(logit).mean(axis=1)
            likelihood[block] = answer_likelihood(self._answered(logit), data["score"])
        return {
            **kept,
            "dif_range": np.ptp(values["dif"], axis=-1),
            "linear_predictor": np.concatenate(logits),
            "expected_score": scores,
            "log_likelihood": likelihood,
        }
