"""Truths and outcomes of the Bradley–Terry model and its extensions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

from neartie.data.errors import DataError
from neartie.inference.flat_model import data_of
from neartie.inference.truths import Values, in_blocks, zero_sum
from neartie.models.record import record_of

type Floats = NDArray[np.float64]

_KEPT: Final = (
    "strength",
    "strength_scale",
    "covariate_effect",
    "log_tie",
    "first_shown_effect",
    "judge_first_shown_scale",
    "judge_first_shown",
    "judge_strength_scale",
    "judge_effect",
)


class BradleyTerryTruths:
    """As `neartie.inference.truths.Truths` has it, after the formulas of `build_bradley_terry`.

    Parameters
    ----------
    model : pm.Model
        Its pairs, orders, judges and numbers of battles are those that are drawn again.
    priors : mapping
        Hyperparameters of the truths.

    Raises
    ------
    DataError
        If weights of battles are no whole numbers.
    """

    ranking = "strength"

    def __init__(self, model: Any, *, priors: Mapping[str, Any]) -> None:
        self.options, self.priors = record_of(model).options, priors
        stored = {v.name: np.asarray(data_of(v)) for v in model.data_vars}
        self.first, self.second = stored["pair_first"], stored["pair_second"]
        self.shown, self.judge = stored["pair_shown"], stored["pair_judge"]
        self.covariates: Floats | None = stored.get("covariate_value")
        self.n_model = len(model.coords["model"])
        self.n_judge = len(model.coords.get("judge", ()))
        total = stored["pair_total"]
        if np.abs(total - total.round()).max() > 1e-9:
            raise DataError(
                "some battles have weights that are no whole numbers: how many battles to draw is "
                "not defined; give the battles without weights"
            )
        self.total = total.round().astype(int)

    def draw(self, rng: np.random.Generator) -> dict[str, Floats]:
        """Return strengths, and what the options add."""
        prior, options = self.priors, self.options
        truth: dict[str, Any] = {}
        scale: Any = prior["strength_sd"]
        if options["hierarchical"]:
            scale = np.abs(prior["strength_scale_sd"] * rng.normal(size=()))
            truth["strength_scale"] = scale
        truth["strength"] = scale * zero_sum(rng, (self.n_model,))
        if self.covariates is not None:
            n_covariate = self.covariates.shape[1]
            effect = prior["covariate_sd"] * rng.normal(size=n_covariate)
            truth["covariate_effect"] = effect
            truth["strength"] = self.covariates @ effect + truth["strength"]
        if options["ties"] == "davidson":
            truth["log_tie"] = prior["log_tie_mean"] + prior["log_tie_sd"] * rng.normal(size=())
        if options["ties"] == "rao-kupper":
            truth["log_tie"] = np.abs(prior["log_threshold_sd"] * rng.normal(size=()))
        if options["first_shown"]:
            truth["first_shown_effect"] = prior["first_shown_sd"] * rng.normal(size=())
        if options["judge_effects"]:
            self._draw_judges(truth, rng)
        return {name: np.asarray(value) for name, value in truth.items()}

    def _draw_judges(self, truth: dict[str, Any], rng: np.random.Generator) -> None:
        prior = self.priors
        if self.options["first_shown"]:
            own = np.abs(prior["judge_first_shown_sd"] * rng.normal(size=()))
            truth["judge_first_shown_scale"] = own
            deviation = own * rng.normal(size=self.n_judge)
            truth["judge_first_shown"] = truth["first_shown_effect"] + deviation
        scale = np.abs(prior["judge_strength_sd"] * rng.normal(size=()))
        truth["judge_strength_scale"] = scale
        truth["judge_effect"] = scale * zero_sum(rng, (self.n_judge, self.n_model))

    def data(self, truth: Values, rng: np.random.Generator) -> dict[str, Floats]:
        """Return outcomes; with ties as half wins, which is a way to count them, none is a tie."""
        chances = self.chances({name: value[None] for name, value in truth.items()})[0]
        return {"outcome": rng.multinomial(self.total, chances).astype(float)}

    def logit(self, values: Values) -> Floats:
        """Return the log odds (n_draw, n_row) that the first of each row wins, before ties."""
        strength, named = values["strength"], self.judge >= 0
        logit = strength[:, self.first] - strength[:, self.second]
        if "first_shown_effect" in values:
            advantage = values["first_shown_effect"][:, None]
            if "judge_first_shown" in values:
                own = values["judge_first_shown"][:, self.judge]
                advantage = np.where(named, own, advantage)
            logit = logit + self.shown * advantage
        if "judge_effect" in values:
            effect = values["judge_effect"]
            own = effect[:, self.judge, self.first] - effect[:, self.judge, self.second]
            logit = logit + np.where(named, own, 0.0)
        return np.asarray(logit)

    def chances(self, values: Values) -> Floats:
        """Return the chances (n_draw, n_row, 3) of a win, a loss and a tie."""
        logit = self.logit(values)
        if self.options["ties"] == "half":
            return np.stack([expit(logit), expit(-logit), np.zeros_like(logit)], axis=-1)
        tie = values["log_tie"][:, None]
        if self.options["ties"] == "davidson":
            parts = [np.exp(logit / 2), np.exp(-logit / 2), np.exp(tie) + 0 * logit]
            weight = np.stack(parts, axis=-1)
            return np.asarray(weight / weight.sum(axis=-1, keepdims=True))
        won, lost = expit(logit - tie), expit(-logit - tie)
        return np.stack([won, lost, np.maximum(0.0, 1 - won - lost)], axis=-1)

    def quantities(self, values: Values, data: Values) -> dict[str, Floats]:
        """Return the parameters, and the log-likelihood of the data."""
        kept = {name: values[name] for name in _KEPT if name in values}
        total = np.empty(len(values["strength"]))
        for block, chances in in_blocks(kept, 3 * len(self.first), self.chances):
            total[block] = xlogy(data["outcome"], chances).sum(axis=(1, 2))
        return {**kept, "log_likelihood": total}
