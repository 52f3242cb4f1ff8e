"""The two-parameter logistic model, with its one-parameter and signed relatives, in PyMC."""

from __future__ import annotations

from typing import Any, Final, Literal, get_args

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from neartie.data.responses import Responses
from neartie.models.answers import checked_answers, family_notices, family_positions
from neartie.models.predictor import item_model_coords, observe_answers
from neartie.models.priors import TwoPLPriors
from neartie.models.record import ModelRecord

type Discrimination = Literal["free", "one", "signed"]

DISCRIMINATIONS: Final[tuple[str, ...]] = get_args(Discrimination.__value__)
# Up to so many answers a model, on average, its ability follows the scale more than the answers.
FEW_ANSWERS: Final = 10.0


def build_two_pl(
    responses: Responses,
    *,
    priors: TwoPLPriors | None = None,
    discrimination: Discrimination = "free",
    hierarchical: bool = False,
    family_means: bool = False,
) -> pm.Model:
    r"""Return the two-parameter logistic model of right/wrong answers.

    Parameters
    ----------
    responses : Responses
        Right/wrong answers; missing cells have no likelihood. The order of rows and columns
        changes nothing.
    priors : TwoPLPriors, optional
        Those of P1 by default.
    discrimination : {'free', 'one', 'signed'}
        `free`: a positive discrimination an item (2PL). `one`: 1 for all (1PL, Rasch); the scale
        of ability is estimated instead. `signed`: of either sign, to find reverse-keyed items,
        with an easiness in the place of the difficulty.
    hierarchical : bool
        Estimate mean and scale of difficulties and log discriminations.
    family_means : bool
        Let the mean ability differ between families (`impact`); the model table has the column
        `family`.

    Returns
    -------
    pm.Model
        With `model.neartie`, its `ModelRecord`. Dims `item`, `model`, `family` with the user's
        labels. Variables:

        - `ability` (model), higher is more correct;
        - `difficulty` (item), higher is harder, in the unit of ability;
        - `log_discrimination`, `discrimination` (item): logit per unit of ability (`free`);
        - `discrimination`, `easiness` (item, logit): `signed`;
        - `ability_scale`: `one`; with few answers also `ability_standard` (model);
        - `family_mean` (family): with `family_means`;
        - `difficulty_mean`, `difficulty_scale`, `log_discrimination_mean`,
          `log_discrimination_scale`: with `hierarchical`;
        - `score`, observed.

    Raises
    ------
    DataError
        If a score is graded, there is no answer, or families are needed and missing.
    ValueError
        If an option is unknown, or `hierarchical` is asked for with signed discriminations.

    Notes
    -----
    ::

        score[i, m] ~ Bernoulli(logit = discrimination[i] * (ability[m] - difficulty[i]))
        ability[m] ~ Normal(family_mean[f(m)], ability_sd)
        difficulty[i] ~ Normal(0, difficulty_sd)
        log_discrimination[i] ~ Normal(log_discrimination_mean, log_discrimination_sd)
        family_mean ~ ZeroSumNormal(family_mean_sd)                     (else 0)

    `one`: discrimination 1 and ability_sd replaced by
    ability_scale ~ LogNormal(log ability_sd, log_scale_sd). With at most 10 answers a model on
    average the same is written ability = family_mean + ability_scale * ability_standard,
    ability_standard ~ Normal(0, 1): a sampler does not reach the narrow end of the other form.

    `signed`: logit = discrimination[i] * ability[m] + easiness[i],
    discrimination[i] ~ Normal(discrimination_mean, discrimination_sd),
    easiness[i] ~ Normal(0, easiness_sd).

    `hierarchical`: difficulty[i] ~ Normal(difficulty_mean, difficulty_scale), and likewise log
    discriminations; means are normal, scales log-normal with the fixed values as medians.

    Location and unit are set by the prior of ability; the direction by positive slopes, or for
    `signed` by their positive prior mean. Means and scales of items are then identified.

    References
    ----------
    P1, equations `eq:2pl` and `eq:map`.

    Examples
    --------
    >>> answers = Responses.build([[1, 0], [1, 1]], items=["q1", "q2"], models=["a", "b"])
    >>> model = build_two_pl(answers)
    >>> model.neartie.ranking, model.coords["item"]
    ('ability', ('q1', 'q2'))
    """
    if discrimination not in DISCRIMINATIONS:
        raise ValueError(
            f"discrimination must be one of {', '.join(DISCRIMINATIONS)}, got {discrimination!r}"
        )
    if hierarchical and discrimination == "signed":
        raise ValueError(
            "hierarchical=True needs positive discriminations: the prior mean of signed ones is "
            "what gives ability its direction"
        )
    chosen = TwoPLPriors() if priors is None else priors
    answers = checked_answers(responses)
    coords: dict[str, Any] = dict(item_model_coords(answers))
    notices = answers.notices
    if family_means:
        families, position = family_positions(answers.responses)
        coords["family"], notices = families, notices + family_notices(families, position)
    with pm.Model(coords=coords) as model:
        center: Any = 0.0
        if family_means:
            pm.Data("model_family", position, dims="model")
            center = pm.ZeroSumNormal("family_mean", sigma=chosen.family_mean_sd, dims="family")
            center = center[position]
        few = len(answers.values) <= FEW_ANSWERS * len(coords["model"])
        ability = _ability(chosen, center, estimated=discrimination == "one", few=few)
        slope, intercept = _items(chosen, discrimination, hierarchical=hierarchical)
        left = pt.stack([slope, intercept], axis=1)
        right = pt.stack([ability, pt.ones(len(coords["model"]))], axis=0)
        observe_answers(answers, left, right)
    model.neartie = ModelRecord(
        kind="two-pl",
        options={
            "discrimination": discrimination,
            "hierarchical": hierarchical,
            "family_means": family_means,
        },
        priors=chosen.to_dict(),
        diagnosed=tuple(
            "ability" if variable.name == "ability_standard" else variable.name
            for variable in model.free_RVs
        ),
        ranking="ability",
        notices=notices,
    )
    return model


def _ability(priors: TwoPLPriors, center: Any, *, estimated: bool, few: bool) -> Any:
    if not estimated:
        return pm.Normal("ability", center, priors.ability_sd, dims="model")
    scale = pm.LogNormal("ability_scale", np.log(priors.ability_sd), priors.log_scale_sd)
    if not few:
        return pm.Normal("ability", center, scale, dims="model")
    standard = pm.Normal("ability_standard", 0.0, 1.0, dims="model")
    return pm.Deterministic("ability", center + scale * standard, dims="model")


def _items(
    priors: TwoPLPriors, discrimination: Discrimination, *, hierarchical: bool
) -> tuple[Any, Any]:
    """Return slope and intercept of every item."""
    if discrimination == "signed":
        mean, sd = priors.discrimination_mean, priors.discrimination_sd
        slope = pm.Normal("discrimination", mean, sd, dims="item")
        return slope, pm.Normal("easiness", 0.0, priors.easiness_sd, dims="item")
    difficulty = _population(
        "difficulty",
        mean=0.0,
        mean_sd=priors.difficulty_mean_sd,
        sd=priors.difficulty_sd,
        log_scale_sd=priors.log_scale_sd,
        estimated=hierarchical,
    )
    if discrimination == "one":
        return pt.ones_like(difficulty), -difficulty
    log_slope = _population(
        "log_discrimination",
        mean=priors.log_discrimination_mean,
        mean_sd=priors.log_discrimination_mean_sd,
        sd=priors.log_discrimination_sd,
        log_scale_sd=priors.log_scale_sd,
        estimated=hierarchical,
    )
    slope = pm.Deterministic("discrimination", pt.exp(log_slope), dims="item")
    return slope, -slope * difficulty


def _population(
    name: str, *, mean: float, mean_sd: float, sd: float, log_scale_sd: float, estimated: bool
) -> Any:
    """Return one normal value an item, with mean and scale given or estimated."""
    if not estimated:
        return pm.Normal(name, mean, sd, dims="item")
    center = pm.Normal(f"{name}_mean", mean, mean_sd)
    scale = pm.LogNormal(f"{name}_scale", np.log(sd), log_scale_sd)
    return pm.Normal(name, center, scale, dims="item")
