"""Samplers beside the plain densities of their models; answers simulated in several dimensions."""

import itertools
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from neartie.data.battles import Battles
from neartie.data.responses import Responses
from neartie.inference.gibbs_bradley_terry import gibbs_bradley_terry
from neartie.inference.gibbs_two_pl import gibbs_two_pl
from neartie.inference.mirt_scales import MirtDifScales
from neartie.models.bradley_terry_density import log_density, log_prior
from neartie.models.bradley_terry_design import design_battles
from neartie.models.bradley_terry_model import build_bradley_terry
from neartie.models.bradley_terry_priors import BradleyTerryPriors
from neartie.models.priors import TwoPLPriors
from neartie.models.two_pl_density import two_pl_log_density

BATTLE_OPTIONS = {
    "half": {"ties": "half"},
    "half, scale": {"ties": "half", "hierarchical": True, "first_shown": True},
    "half, judges": {"ties": "half", "judge_effects": True, "hierarchical": True},
    "davidson": {"ties": "davidson", "covariates": True, "hierarchical": True},
    "rao-kupper": {"ties": "rao-kupper", "covariates": True, "first_shown": True},
    "all": {
        "ties": "davidson",
        "judge_effects": True,
        "first_shown": True,
        "covariates": True,
        "hierarchical": True,
    },
}
COVARIATES = pd.DataFrame(
    {"model": list("abcd"), "size": [1.0, 2.0, 4.0, 9.0], "age": [3.0, 1.0, 2.0, 2.5]}
)
# Tighter than the defaults: what is drawn from them is not lost in the tails.
BATTLE_PRIORS = BradleyTerryPriors(strength_sd=1.0, strength_scale_sd=1.0, log_tie_mean=0.3)
TWO_PL_FAMILY = np.array([0, 1, 2, 0, 1, 0, 2])
TWO_PL_PRIORS = TwoPLPriors(
    ability_sd=1.3,
    difficulty_sd=0.8,
    log_discrimination_mean=0.2,
    discrimination_mean=0.8,
    family_mean_sd=0.7,
    difficulty_mean_sd=1.1,
)
# Discrimination, hierarchical, family means.
TWO_PL_OPTIONS = [
    options
    for options in itertools.product(("free", "one", "signed"), (False, True), (False, True))
    if options[:2] != ("signed", True)
]


@pytest.fixture(scope="session")
def battle_setups():
    return {name: BattleSetup(name, weighted=name == "half") for name in BATTLE_OPTIONS}


@pytest.fixture(params=list(BATTLE_OPTIONS))
def battle_setup(request, battle_setups):
    return battle_setups[request.param]


@pytest.fixture(scope="session")
def sixty_battles():
    return battles_of_four


def battles_of_four(*, weighted=False, seed=1, order=None):
    rng = np.random.default_rng(seed)
    n = 60
    first = rng.integers(4, size=n)
    second = (first + rng.integers(1, 4, size=n)) % 4
    columns = {
        "model_a": np.array(list("abcd"))[first],
        "model_b": np.array(list("abcd"))[second],
        "winner": rng.choice(["a", "b", "tie"], size=n, p=[0.5, 0.3, 0.2]),
        "judge": rng.choice(["j", "k", "l", ""], size=n),
        "weight": rng.choice([0.5, 1.0, 2.25], size=n) if weighted else np.ones(n),
    }
    table = pd.DataFrame(columns)
    if order is not None:
        table = table.iloc[order]
    return Battles.build(
        table["model_a"],
        table["model_b"],
        table["winner"],
        judge=table["judge"],
        weight=table["weight"].to_numpy(),
    )


class BattleSetup:
    """A sampler with the plain description of its data beside it."""

    def __init__(self, name, *, weighted=False):
        options = dict(BATTLE_OPTIONS[name])
        self.ties = options["ties"]
        if options.get("covariates"):
            options["covariates"] = COVARIATES
        data = battles_of_four(weighted=weighted)
        self.model = build_bradley_terry(data, priors=BATTLE_PRIORS, **options)
        self.sampler = gibbs_bradley_terry(self.model)
        design = {key: options[key] for key in options if key not in ("ties", "hierarchical")}
        self.design = design_battles(data, **design)
        self.order = np.argsort(self.design.judge, kind="stable")

    def problem(self, outcome):
        return replace(self.sampler.problem, outcome=np.ascontiguousarray(outcome[self.order]))

    def density(self, state):
        return log_density(state, self.design, ties=self.ties, priors=BATTLE_PRIORS)

    def log_prior(self, state):
        return log_prior(state, self.design, ties=self.ties, priors=BATTLE_PRIORS)

    def prior(self, rng):
        """A draw of all free variables from the prior."""
        names, n_model, n_judge = self.sampler.names, 4, len(self.design.judges)

        def zero_sum(scale, *shape):
            values = scale * rng.standard_normal((*shape, n_model))
            return values - values.mean(axis=-1, keepdims=True)

        scale = abs(rng.normal(0, BATTLE_PRIORS.strength_scale_sd))
        if "strength_scale" not in names:
            scale = BATTLE_PRIORS.strength_sd
        tie = rng.normal(BATTLE_PRIORS.log_tie_mean, BATTLE_PRIORS.log_tie_sd)
        if self.ties == "rao-kupper":
            tie = abs(rng.normal(0, BATTLE_PRIORS.log_threshold_sd))
        values = {
            "strength_scale": scale,
            "strength": zero_sum(scale),
            "residual_strength": zero_sum(scale),
            "covariate_effect": rng.normal(0, BATTLE_PRIORS.covariate_sd, 2),
            "log_tie": tie,
            "first_shown_effect": rng.normal(0, BATTLE_PRIORS.first_shown_sd),
            "judge_first_shown_scale": abs(rng.normal(0, BATTLE_PRIORS.judge_first_shown_sd)),
            "judge_first_shown_z": rng.standard_normal(n_judge),
            "judge_strength_scale": abs(rng.normal(0, BATTLE_PRIORS.judge_strength_sd)),
            "judge_effect_z": zero_sum(1.0, n_judge),
        }
        return {name: np.array(values[name]) for name in names}


@pytest.fixture(params=TWO_PL_OPTIONS)
def two_pl_options(request):
    return request.param


@pytest.fixture(params=[options for options in TWO_PL_OPTIONS if options[0] != "one"])
def two_pl_slope_options(request):
    return request.param


@pytest.fixture(params=[options for options in TWO_PL_OPTIONS if options[1]])
def two_pl_hierarchical_options(request):
    return request.param


@pytest.fixture(params=[options for options in TWO_PL_OPTIONS if options[2]])
def two_pl_family_options(request):
    return request.param


@pytest.fixture(scope="module", params=[False, True], ids=["complete", "missing"])
def two_pl_cases(request):
    return TwoPLCases(missing=request.param)


@pytest.fixture(scope="session")
def two_pl_answers():
    return answers_of_seven


def answers_of_seven(*, missing: bool, copies: int = 1) -> Responses:
    rng = np.random.default_rng(3)
    values = rng.integers(0, 2, size=(6 * copies, len(TWO_PL_FAMILY))).astype(np.int8)
    values[0], values[1] = 0, 1
    if missing:
        values[[0, 1, 3, 3], [2, 2, 0, 5]] = -1
        values[:, 6] = -1
    models = pd.DataFrame(
        {
            "model": [f"m{m}" for m in range(len(TWO_PL_FAMILY))],
            "family": [f"f{f}" for f in TWO_PL_FAMILY],
        }
    )
    return Responses.build(values, items=[f"q{i:02d}" for i in range(len(values))], models=models)


class TwoPLCase:
    """A sampler, a point in its posterior's range, and the model's density in plain NumPy."""

    priors = TWO_PL_PRIORS

    def __init__(self, options: tuple[str, bool, bool], *, missing: bool, copies: int = 1) -> None:
        from neartie.models.two_pl import build_two_pl

        self.discrimination, self.hierarchical, family_means = options
        self.responses = answers_of_seven(missing=missing, copies=copies)
        self.model = build_two_pl(
            self.responses,
            priors=self.priors,
            discrimination=self.discrimination,
            hierarchical=self.hierarchical,
            family_means=family_means,
        )
        self.sampler = gibbs_two_pl(self.model)
        self.problem = self.sampler.problem
        self.family = TWO_PL_FAMILY if family_means else None
        rng = np.random.default_rng(8)
        self.state = self.sampler.start(rng)
        for _ in range(3):
            self.sampler.sweep(self.state, rng, tuning=False)
        self.point = self.sampler.read(self.state)

    def density(self, point: Any) -> float:
        state = deepcopy(self.state)
        self.sampler._write(point, state)
        terms = two_pl_log_density(
            {name: state[name] for name in self.sampler.names},
            self.responses.values,
            priors=self.priors,
            discrimination=self.discrimination,
            hierarchical=self.hierarchical,
            family=self.family,
        )
        total = sum(terms.values())
        if self.problem.standard:
            # what is moved is the ability, whose density has this factor
            total -= self.problem.n_model * np.log(point.ability_scale)
        return total

    def gain(self, moved: Any) -> float:
        return self.density(moved) - self.density(self.point)


class TwoPLCases:
    """Cases by their options, each built when first asked for."""

    options = TWO_PL_OPTIONS

    def __init__(self, *, missing: bool) -> None:
        self.missing = missing
        self.built: dict[Any, TwoPLCase] = {}

    def __call__(self, options: tuple[str, bool, bool], copies: int = 1) -> TwoPLCase:
        key = options, copies
        if key not in self.built:
            self.built[key] = TwoPLCase(options, missing=self.missing, copies=copies)
        return self.built[key]


@pytest.fixture(scope="session")
def mirt_scales() -> MirtDifScales:
    return MirtDifScales(loading_scale=0.9, easiness_mean=0.2, easiness_scale=1.2, dif_scale=0.4)


@pytest.fixture(scope="session")
def simulate_mirt() -> Callable[..., tuple[Responses, dict[str, Any]]]:
    return _simulate_mirt


@pytest.fixture(scope="session")
def small_mirt() -> Responses:
    return _simulate_mirt(14, 21, 1, share=0.85)[0]


def _simulate_mirt(n_item, n_model, seed, *, dimension=2, n_family=3, dif_scale=0.4, share=1.0):
    """Answers of a model of that dimension, and the truth behind them."""
    rng = np.random.default_rng(seed)
    family = np.arange(n_model) % n_family
    loading = 0.2 * rng.normal(size=(n_item, dimension))
    loading[np.arange(n_item), np.arange(n_item) % dimension] = np.exp(
        0.4 * rng.normal(size=n_item)
    )
    dif = dif_scale * rng.normal(size=(n_item, n_family))
    dif -= dif.mean(axis=1, keepdims=True)
    easiness = rng.normal(size=n_item)
    predictor = loading @ rng.normal(size=(dimension, n_model)) + easiness[:, None] + dif[:, family]
    values = (rng.random(predictor.shape) < expit(predictor)).astype(np.int8)
    values[rng.random(values.shape) >= share] = -1
    models = pd.DataFrame(
        {
            "model": [f"m{m:03d}" for m in range(n_model)],
            "family": [f"family {f}" for f in family],
        }
    )
    data = Responses.build(values, items=[f"q{i:04d}" for i in range(n_item)], models=models)
    return data, {"predictor": predictor, "easiness": easiness, "dif": dif}
