"""Truths and answers of the two-parameter model and its relatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neartie.inference.truths import (
    Values,
    answer_likelihood,
    bernoulli,
    cells_of,
    constant,
    in_blocks,
    zero_sum,
)
from neartie.models.record import record_of

type Floats = NDArray[np.float64]


class TwoPLTruths:
    """As `neartie.inference.truths.Truths` has it, after the formulas of `build_two_pl`.

    Parameters
    ----------
    model : pm.Model
    priors : mapping
        Hyperparameters of the truths.
    """

    ranking = "ability"

    def __init__(self, model: Any, *, priors: Mapping[str, Any]) -> None:
        self.options, self.priors = record_of(model).options, priors
        self.n_item, self.n_model = len(model.coords["item"]), len(model.coords["model"])
        self.family, self.cells = constant(model, "model_family"), cells_of(model)

    def draw(self, rng: np.random.Generator) -> dict[str, Floats]:
        """Return abilities and items."""
        prior, kind = self.priors, self.options["discrimination"]
        truth: dict[str, Any] = {}
        scale = prior["ability_sd"]
        if kind == "one":
            truth["ability_scale"] = scale = scale * np.exp(prior["log_scale_sd"] * rng.normal())
        center: Any = 0.0
        if self.family is not None:
            n_family = int(self.family.max()) + 1
            truth["family_mean"] = prior["family_mean_sd"] * zero_sum(rng, (n_family,))
            center = truth["family_mean"][self.family]
        truth["ability"] = center + scale * rng.normal(size=self.n_model)
        if kind == "signed":
            spread = prior["discrimination_sd"] * rng.normal(size=self.n_item)
            truth["discrimination"] = prior["discrimination_mean"] + spread
            truth["easiness"] = prior["easiness_sd"] * rng.normal(size=self.n_item)
        else:
            self._draw_items(truth, rng)
        return {name: np.asarray(value) for name, value in truth.items()}

    def _draw_items(self, truth: dict[str, Any], rng: np.random.Generator) -> None:
        prior = self.priors
        both = ("difficulty", "log_discrimination")
        for name in both[:1] if self.options["discrimination"] == "one" else both:
            mean, spread = prior.get(f"{name}_mean", 0.0), prior[f"{name}_sd"]
            if self.options["hierarchical"]:
                truth[f"{name}_mean"] = mean = mean + prior[f"{name}_mean_sd"] * rng.normal()
                spread = spread * np.exp(prior["log_scale_sd"] * rng.normal())
                truth[f"{name}_scale"] = spread
            truth[name] = mean + spread * rng.normal(size=self.n_item)

    def data(self, truth: Values, rng: np.random.Generator) -> dict[str, Floats]:
        """Return answers."""
        logit = self.logit({name: value[None] for name, value in truth.items()})[0]
        return {"score": bernoulli(rng, logit)}

    def logit(self, values: Values) -> Floats:
        """Return logits (n_draw, n_item, n_model), or (n_draw, n_cell) with missing answers."""
        ability = values["ability"][:, None, :]
        if "easiness" in values:
            logit = values["discrimination"][:, :, None] * ability
            logit = logit + values["easiness"][:, :, None]
        else:
            gap = ability - values["difficulty"][:, :, None]
            logit = gap
            if "log_discrimination" in values:
                logit = np.exp(values["log_discrimination"])[:, :, None] * gap
        return logit if self.cells is None else logit[:, self.cells[0], self.cells[1]]

    def quantities(self, values: Values, data: Values) -> dict[str, Floats]:
        """Return the parameters, and the log-likelihood of the data."""
        dropped = {"score", "ability_standard"}
        if "log_discrimination" in values:
            dropped.add("discrimination")
        kept = {name: value for name, value in values.items() if name not in dropped}
        total = np.empty(len(values["ability"]))
        for block, logit in in_blocks(kept, self.n_item * self.n_model, self.logit):
            total[block] = answer_likelihood(logit, data["score"])
        return {**kept, "log_likelihood": total}
