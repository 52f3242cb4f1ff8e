"""What `calibration.py` calibrates: each model with a truth from its prior and answers from that.

The simulations are plain NumPy and follow the formulas of the factories' documentation; they share
no code with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, log_expit, xlogy

from neartie.data.battles import Battles
from neartie.data.responses import Responses
from neartie.inference.flat_model import data_of
from neartie.models.bradley_terry_model import build_bradley_terry
from neartie.models.mirt_dif import build_mirt_dif
from neartie.models.priors import ResidualDifPriors
from neartie.models.residual_dif_model import build_residual_dif
from neartie.models.two_pl import build_two_pl

type Floats = NDArray[np.float64]
type Values = Mapping[str, Floats]
type Generator = np.random.Generator


def names(letter: str, n: int) -> list[str]:
    """Return ids in order."""
    return [f"{letter}{k:02d}" for k in range(n)]


def blank(n_item: int, n_model: int, *, missing: float = 0.0) -> Responses:
    """Return answers that are there for their shape alone: two families, some cells missing."""
    rng = np.random.default_rng(1)
    values = rng.integers(2, size=(n_item, n_model)).astype(np.int8)
    values[rng.random(values.shape) < missing] = -1
    families = [("Ash", "Birch")[k % 2] for k in range(n_model)]
    models = pd.DataFrame({"model": names("m", n_model), "family": families})
    return Responses.build(values, items=names("q", n_item), models=models)


def zero_sum(rng: Generator, shape: tuple[int, ...], axes: tuple[int, ...]) -> Floats:
    """Return standard normal values with their means along some axes taken off."""
    values = rng.standard_normal(shape)
    for axis in axes:
        values = values - values.mean(axis=axis, keepdims=True)
    return values


def bernoulli(rng: Generator, logit: Floats) -> Floats:
    """Return answers."""
    return cast(Floats, (rng.random(logit.shape) < expit(logit)).astype(float))


def answer_likelihood(logit: Floats, score: Floats) -> Floats:
    """Return the log-likelihood of each draw from its logits (draw, ...)."""
    terms = np.where(score == 1, log_expit(logit), log_expit(-logit))
    return cast(Floats, terms.reshape(len(logit), -1).sum(axis=1))


class TwoPL:
    """The two-parameter model and its relatives, 12 models and 15 items."""

    ranking = "ability"

    def __init__(self, *, missing: float = 0.0, **options: Any) -> None:
        self.options, responses = options, blank(15, 12, missing=missing)
        self.model = build_two_pl(responses, **options)
        self.cells = np.nonzero(responses.values >= 0) if missing else None

    def simulate(self, rng: Generator) -> tuple[Values, Values]:
        """Draw from the prior, and answers."""
        truth: dict[str, Any] = {}
        prior, one = self.model.neartie.priors, self.options.get("discrimination") == "one"
        scale = prior["ability_sd"]
        if one:
            truth["ability_scale"] = scale = scale * np.exp(prior["log_scale_sd"] * rng.normal())
        center: Any = 0.0
        if self.options.get("family_means"):
            truth["family_mean"] = prior["family_mean_sd"] * zero_sum(rng, (2,), (0,))
            center = truth["family_mean"][np.arange(12) % 2]
        truth["ability"] = center + scale * rng.normal(size=12)
        if self.options.get("discrimination") == "signed":
            spread = prior["discrimination_sd"] * rng.normal(size=15)
            truth["discrimination"] = prior["discrimination_mean"] + spread
            truth["easiness"] = prior["easiness_sd"] * rng.normal(size=15)
        for name in self._item_variables():
            mean, spread = 0.0, prior[f"{name}_sd"]
            if self.options.get("hierarchical"):
                truth[f"{name}_mean"] = mean = prior[f"{name}_mean_sd"] * rng.normal()
                spread = spread * np.exp(prior["log_scale_sd"] * rng.normal())
                truth[f"{name}_scale"] = spread
            truth[name] = mean + spread * rng.normal(size=15)
        truth = {name: np.asarray(value) for name, value in truth.items()}
        logit = self.logit({name: value[None] for name, value in truth.items()})[0]
        return truth, {"score": bernoulli(rng, logit)}

    def _item_variables(self) -> tuple[str, ...]:
        of_kind = {"one": ("difficulty",), "signed": ()}
        kind = str(self.options.get("discrimination"))
        return of_kind.get(kind, ("difficulty", "log_discrimination"))

    def logit(self, values: Values) -> Floats:
        """Return logits (draw, item, model), or (draw, cell) with missing answers."""
        if "easiness" in values:
            turned = values["discrimination"][:, :, None] * values["ability"][:, None, :]
            return turned + values["easiness"][:, :, None]
        slope = np.exp(values.get("log_discrimination", np.zeros_like(values["difficulty"])))
        gap = values["ability"][:, None, :] - values["difficulty"][:, :, None]
        logit = slope[:, :, None] * gap
        return logit if self.cells is None else logit[:, self.cells[0], self.cells[1]]

    def quantities(self, values: Values, data: Values) -> Values:
        """Return parameters and the log-likelihood."""
        dropped = ("score", "ability_standard")
        if "log_discrimination" in values:
            dropped += ("discrimination",)
        kept = {n: v for n, v in values.items() if n not in dropped}
        return {**kept, "log_likelihood": answer_likelihood(self.logit(values), data["score"])}


class MirtDif:
    """Abilities of one or two dimensions and two families, 16 models and 14 items."""

    ranking = "expected_score"
    kept = ("easiness", "dif", "dif_scale", "loading_scale", "easiness_mean", "easiness_scale")

    def __init__(self, **options: Any) -> None:
        self.options, self.family = options, np.arange(16) % 2
        self.model = build_mirt_dif(blank(14, 16), **options)

    def simulate(self, rng: Generator) -> tuple[Values, Values]:
        """Draw from the prior, and answers."""
        n, prior = self.options["dimension"], self.model.neartie.priors
        median, log_sd = prior["loading_spread"] / np.sqrt(n), prior["log_scale_sd"]
        axes = (1,) if self.options.get("zero_sum", "families") == "families" else (0, 1)
        truth = {
            "dif_scale": np.abs(prior["dif_scale_sd"] * rng.normal(size=())),
            "loading_scale": median * np.exp(log_sd * rng.normal(size=())),
            "easiness_mean": prior["easiness_mean_sd"] * rng.normal(size=()),
            "easiness_scale": prior["easiness_scale"] * np.exp(log_sd * rng.normal(size=())),
            "ability": rng.normal(size=(n, 16)),
        }
        truth["loading"] = truth["loading_scale"] * rng.normal(size=(14, n))
        spread = truth["easiness_scale"] * rng.normal(size=14)
        truth["easiness"] = truth["easiness_mean"] + spread
        truth["dif"] = truth["dif_scale"] * zero_sum(rng, (14, 2), axes)
        logit = self.logit({name: value[None] for name, value in truth.items()})[0]
        return truth, {"score": bernoulli(rng, logit)}

    def logit(self, values: Values) -> Floats:
        """Return logits (draw, item, model)."""
        by_ability = values["loading"] @ values["ability"]
        return by_ability + values["easiness"][:, :, None] + values["dif"][:, :, self.family]

    def quantities(self, values: Values, data: Values) -> Values:
        """Return what no rotation changes: scales, effects, logits, expected scores."""
        logit = self.logit(values)
        return {
            **{name: values[name] for name in self.kept},
            "linear_predictor": logit,
            "expected_score": expit(logit).mean(axis=1),
            "log_likelihood": answer_likelihood(logit, data["score"]),
        }


class ResidualDif:
    """Family effects beside a fixed offset, 14 items and 16 models."""

    ranking = "expected_score"

    def __init__(self, **options: Any) -> None:
        self.options, self.family = options, np.arange(16) % 2
        self.offset = np.random.default_rng(2).normal(size=(14, 16))
        priors = ResidualDifPriors(easiness_sd=1.5)
        self.model = build_residual_dif(blank(14, 16), self.offset, priors=priors, **options)

    def simulate(self, rng: Generator) -> tuple[Values, Values]:
        """Draw from the prior, and answers."""
        prior = self.model.neartie.priors
        truth, scale = {"easiness": prior["easiness_sd"] * rng.normal(size=14)}, prior["dif_sd"]
        if self.options.get("hierarchical"):
            truth["dif_scale"] = scale = np.abs(prior["dif_scale_sd"] * rng.normal(size=()))
        truth["dif"] = scale * zero_sum(rng, (14, 2), (1,))
        logit = self.logit({name: value[None] for name, value in truth.items()})[0]
        return truth, {"score": bernoulli(rng, logit)}

    def logit(self, values: Values) -> Floats:
        """Return logits (draw, item, model)."""
        return self.offset + values["easiness"][:, :, None] + values["dif"][:, :, self.family]

    def quantities(self, values: Values, data: Values) -> Values:
        """Return parameters, expected scores and the log-likelihood."""
        logit = self.logit(values)
        return {
            **{name: values[name] for name in ("easiness", "dif", "dif_scale") if name in values},
            "expected_score": expit(logit).mean(axis=1),
            "log_likelihood": answer_likelihood(logit, data["score"]),
        }


class BradleyTerry:
    """Battles of 8 models, 6 a pair, three judges taking turns."""

    ranking = "strength"
    kept = ("strength", "strength_scale", "log_tie", "first_shown_effect", "judge_strength_scale",
            "judge_effect")  # fmt: skip

    def __init__(self, **options: Any) -> None:
        self.options, label = options, np.array(names("m", 8))
        first, second = (np.repeat(side, 6) for side in np.triu_indices(8, 1))
        n, turn = len(first), np.arange(len(first))
        swap = turn % 2 == 1
        battles = Battles.build(
            label[np.where(swap, second, first)],
            label[np.where(swap, first, second)],
            (["a", "b", "tie"] * n)[:n] if self._ties() != "half" else (["a", "b"] * n)[:n],
            **self._columns(n),
        )
        self.model = build_bradley_terry(battles, **options)
        stored = {v.name: np.asarray(data_of(v)) for v in self.model.data_vars}
        self.first, self.second = stored["pair_first"], stored["pair_second"]
        self.shown, self.judge = stored["pair_shown"], stored["pair_judge"]
        self.total = stored["pair_total"].round().astype(int)

    def _ties(self) -> str:
        return str(self.options.get("ties", "half"))

    def _columns(self, n: int) -> dict[str, Any]:
        columns: dict[str, Any] = {}
        if self.options.get("judge_effects"):
            columns["judge"] = [("ana", "ben", "cai")[k // 2 % 3] for k in range(n)]
        if self.options.get("first_shown"):
            columns["first_shown"] = ["a"] * n
        return columns

    def simulate(self, rng: Generator) -> tuple[Values, Values]:
        """Draw from the prior, and outcomes."""
        truth: dict[str, Floats] = {}
        prior = self.model.neartie.priors
        scale: Any = prior["strength_sd"]
        if self.options.get("hierarchical"):
            scale = np.abs(prior["strength_scale_sd"] * rng.normal(size=()))
            truth["strength_scale"] = scale
        truth["strength"] = scale * zero_sum(rng, (8,), (0,))
        if self._ties() == "davidson":
            truth["log_tie"] = prior["log_tie_mean"] + prior["log_tie_sd"] * rng.normal(size=())
        if self._ties() == "rao-kupper":
            truth["log_tie"] = np.abs(prior["log_threshold_sd"] * rng.normal(size=()))
        if self.options.get("first_shown"):
            truth["first_shown_effect"] = prior["first_shown_sd"] * rng.normal(size=())
        if self.options.get("judge_effects"):
            judge_scale = np.abs(prior["judge_strength_sd"] * rng.normal(size=()))
            truth["judge_strength_scale"] = judge_scale
            truth["judge_effect"] = judge_scale * zero_sum(rng, (3, 8), (1,))
        chances = self.chances({name: value[None] for name, value in truth.items()})[0]
        return truth, {"outcome": rng.multinomial(self.total, chances).astype(float)}

    def chances(self, values: Values) -> Floats:
        """Return chances (draw, row, won lost tied)."""
        strength = values["strength"]
        logit = strength[:, self.first] - strength[:, self.second]
        if "first_shown_effect" in values:
            logit = logit + self.shown * values["first_shown_effect"][:, None]
        if "judge_effect" in values:
            effect = values["judge_effect"]
            logit = logit + effect[:, self.judge, self.first] - effect[:, self.judge, self.second]
        if self._ties() == "half":
            return np.stack([expit(logit), expit(-logit), np.zeros_like(logit)], axis=-1)
        tie = values["log_tie"][:, None]
        if self._ties() == "davidson":
            weight = np.stack(
                [np.exp(logit / 2), np.exp(-logit / 2), np.exp(tie) + 0 * logit], axis=-1
            )
            return cast(Floats, weight / weight.sum(axis=-1, keepdims=True))
        won, lost = expit(logit - tie), expit(-logit - tie)
        return np.stack([won, lost, np.maximum(0.0, 1 - won - lost)], axis=-1)

    def quantities(self, values: Values, data: Values) -> Values:
        """Return parameters and the log-likelihood."""
        likelihood = xlogy(data["outcome"], self.chances(values)).sum(axis=(1, 2))
        kept = {name: values[name] for name in self.kept if name in values}
        return {**kept, "log_likelihood": likelihood}
