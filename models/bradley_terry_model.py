"""The Bayesian Bradley–Terry model as a PyMC model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from neartie.data.battles import Battles
from neartie.models.bradley_terry import TIE_MODELS, TieModel
from neartie.models.bradley_terry_design import BattleDesign, design_battles
from neartie.models.bradley_terry_priors import BradleyTerryPriors
from neartie.models.record import ModelRecord

if TYPE_CHECKING:
    import pymc as pm

RESULTS = ("won", "lost", "tied")


def build_bradley_terry(
    battles: Battles,
    *,
    ties: TieModel = "half",
    first_shown: bool = False,
    judge_effects: bool = False,
    covariates: pd.DataFrame | None = None,
    hierarchical: bool = False,
    priors: BradleyTerryPriors | None = None,
) -> pm.Model:
    r"""Return a model of log strengths, given battles.

    Parameters
    ----------
    battles : Battles
    ties : {'half', 'davidson', 'rao-kupper'}
        Ties as half a win for either side, or as an outcome of their own.
    first_shown : bool
        Whether the model that is shown first has an advantage.
    judge_effects : bool
        Whether judges differ in the strengths that they see, and, with `first_shown`, in the
        advantage that they give.
    covariates : DataFrame, optional
        Column `model` and columns of numbers that strength is regressed on, such as a model's
        size. Each is brought to mean 0 and standard deviation 1 over the models.
    hierarchical : bool
        Whether the scale of strengths is estimated.
    priors : BradleyTerryPriors, optional
        The default ones when left out.

    Returns
    -------
    pm.Model
        Dims `model`; `pair`, `result` (won, lost, tied); `judge`, `covariate` where asked for.
        `outcome` is observed; `strength` ranks models. In the constant data stand `pair_first`,
        `pair_second`, `pair_judge` (positions of the two models and of the judge, -1 for none),
        `pair_shown` (1 where the first was shown first), `pair_total` (battles) and `component`:
        models with different numbers are connected by no battle, so that the prior alone speaks
        on their difference. `model.neartie` is a `ModelRecord` with what the user should know.

    Raises
    ------
    DataError
        If there is no judge, nobody is known to have been shown first, or a covariate is missing,
        no number, or the same for all models.
    ValueError
        If the tie model is unknown.

    Notes
    -----
    With strengths :math:`s`, scales from `BradleyTerryPriors`, and brackets around what an option
    adds,

    - strength ~ ZeroSumNormal(sd) over all models;
      [hierarchical: sd = strength_scale ~ HalfNormal]
    - [covariates: covariate_effect ~ Normal, residual_strength ~ ZeroSumNormal(sd),
      strength = values · covariate_effect + residual_strength]
    - [Davidson: log_tie ~ Normal; Rao-Kupper: log_tie ~ HalfNormal]
    - [first_shown: first_shown_effect ~ Normal]
    - [judge_effects: judge_strength_scale ~ HalfNormal, judge_effect(judge, model) =
      judge_strength_scale · ZeroSumNormal(1) over models]
    - [both: judge_first_shown_scale ~ HalfNormal, judge_first_shown(judge) = first_shown_effect
      + judge_first_shown_scale · Normal(0, 1)]
    - logit of a battle = strength of the first - strength of the second [+ the judge's effects on
      the two, differenced] [+ the advantage of the first shown]
    - outcome ~ `neartie.models.bradley_terry.outcome_log_probabilities`, a battle of weight w
      counting as w battles.

    Sums over all models are zero, also where battles connect only some: the prior of a
    difference is then normal with sd·√2 whatever else is in the data, and unrelated models change
    no difference. Judges' effects sum to zero over models, not over judges: `strength` is what the
    mean of all judges of this kind would see, and is the less certain the fewer judges there are.
    Judges enter as deviations and not as slopes (a judge who discriminates better): a judge who
    decides at random then pulls all strengths together, as in every model without slopes.

    Battles are added up by pair, and by order and judge only where these matter, so that a million
    battles of 100 models are 4,950 rows. A row is also what the pointwise log-likelihood is of:
    leaving out one row leaves out all battles of a pair.

    References
    ----------
    Bradley and Terry (1952), doi:10.2307/2334029; Davidson (1970),
    doi:10.1080/01621459.1970.10481082; Rao and Kupper (1967), doi:10.1080/01621459.1967.10482901.

    Examples
    --------
    >>> battles = Battles.build(["owl"] * 10, ["ant"] * 10, ["a"] * 7 + ["b"] * 3)
    >>> model = build_bradley_terry(battles, hierarchical=True)
    >>> [variable.name for variable in model.free_RVs], model.neartie.ranking
    (['strength_scale', 'strength'], 'strength')
    """
    import pymc as pm

    if ties not in TIE_MODELS:
        raise ValueError(f"ties must be one of {', '.join(TIE_MODELS)}, got {ties!r}")
    prior = priors or BradleyTerryPriors()
    design = design_battles(
        battles, first_shown=first_shown, judge_effects=judge_effects, covariates=covariates
    )
    with pm.Model(coords=_coords(design)) as model:
        data = _constant_data(design)
        strength = _strength(design, data, prior, hierarchical)
        logit = strength[data["pair_first"]] - strength[data["pair_second"]]
        if first_shown:
            logit += data["pair_shown"] * _advantage(design, data, prior)
        if judge_effects:
            logit += _judge_difference(data, prior)
        pm.CustomDist(
            "outcome",
            _log_chances(logit, ties, prior),
            data["pair_total"],
            logp=_counts_log_likelihood,
            dist=_drawn(ties),
            signature="(k),()->(k)",
            observed=design.outcome,
            dims=("pair", "result"),
        )
    model.neartie = _record(model, design, prior, ties, first_shown, hierarchical)
    return model


def _coords(design: BattleDesign) -> dict[str, Any]:
    coords: dict[str, Any] = {
        "model": list(design.models),
        "pair": np.arange(len(design.first)),
        "result": list(RESULTS),
    }
    if design.judges:
        coords["judge"] = list(design.judges)
    if design.covariates:
        coords["covariate"] = list(design.covariates)
    return coords


def _constant_data(design: BattleDesign) -> dict[str, Any]:
    import pymc as pm

    data = {
        "pair_first": pm.Data("pair_first", design.first, dims="pair"),
        "pair_second": pm.Data("pair_second", design.second, dims="pair"),
        "pair_shown": pm.Data("pair_shown", design.shown, dims="pair"),
        "pair_judge": pm.Data("pair_judge", design.judge, dims="pair"),
        "pair_total": pm.Data("pair_total", design.outcome.sum(axis=1), dims="pair"),
        "component": pm.Data("component", design.component, dims="model"),
    }
    if design.covariates:
        data["value"] = pm.Data("covariate_value", design.values, dims=("model", "covariate"))
    return data


def _strength(
    design: BattleDesign, data: dict[str, Any], prior: BradleyTerryPriors, hierarchical: bool
) -> Any:
    import pymc as pm

    scale: Any = prior.strength_sd
    if hierarchical:
        scale = pm.HalfNormal("strength_scale", prior.strength_scale_sd)
    if not design.covariates:
        return pm.ZeroSumNormal("strength", scale, dims="model")
    effect = pm.Normal("covariate_effect", 0.0, prior.covariate_sd, dims="covariate")
    residual = pm.ZeroSumNormal("residual_strength", scale, dims="model")
    return pm.Deterministic("strength", data["value"] @ effect + residual, dims="model")


def _advantage(design: BattleDesign, data: dict[str, Any], prior: BradleyTerryPriors) -> Any:
    """Return the advantage of the first shown in each row."""
    import pymc as pm
    import pytensor.tensor as pt

    effect = pm.Normal("first_shown_effect", 0.0, prior.first_shown_sd)
    if not design.judges:
        return effect
    scale = pm.HalfNormal("judge_first_shown_scale", prior.judge_first_shown_sd)
    own = scale * pm.Normal("judge_first_shown_z", dims="judge")
    pm.Deterministic("judge_first_shown", effect + own, dims="judge")
    # Position -1, nobody, is the last: a deviation of zero.
    return effect + pt.concatenate([own, pt.zeros(1)])[data["pair_judge"]]


def _judge_difference(data: dict[str, Any], prior: BradleyTerryPriors) -> Any:
    """Return each row's difference of the judge's deviations for the two models."""
    import pymc as pm
    import pytensor.tensor as pt

    scale = pm.HalfNormal("judge_strength_scale", prior.judge_strength_sd)
    z = pm.ZeroSumNormal("judge_effect_z", 1.0, dims=("judge", "model"))
    effect = pm.Deterministic("judge_effect", scale * z, dims=("judge", "model"))
    # Position -1, nobody, is the last: deviations of zero.
    padded = pt.concatenate([effect, pt.zeros_like(effect[:1])])
    judge = data["pair_judge"]
    return padded[judge, data["pair_first"]] - padded[judge, data["pair_second"]]


def _log_chances(logit: Any, ties: TieModel, prior: BradleyTerryPriors) -> Any:
    """Return the log probabilities of winning, losing and a tie, one row a pair."""
    import pymc as pm
    import pytensor.tensor as pt

    if ties == "half":
        first, second = -pt.softplus(-logit), -pt.softplus(logit)
        return pt.stack([first, second, 0.5 * (first + second)], axis=-1)
    if ties == "davidson":
        tie = pm.Normal("log_tie", prior.log_tie_mean, prior.log_tie_sd)
        decided = 0.5 * logit + pt.softplus(-logit)
        total = decided + pt.softplus(tie - decided)
        return pt.stack([0.5 * logit - total, -0.5 * logit - total, tie - total], axis=-1)
    tie = pm.HalfNormal("log_tie", prior.log_threshold_sd)
    first, second = -pt.softplus(tie - logit), -pt.softplus(tie + logit)
    share = 2 * tie + pt.log(-pt.expm1(-2 * tie))
    return pt.stack([first, second, first + second + share], axis=-1)


def _counts_log_likelihood(value: Any, log_chances: Any, total: Any) -> Any:
    return (value * log_chances).sum(axis=-1)


def _drawn(ties: TieModel) -> Callable[..., Any]:
    """Return the distribution of new battles, as many a row; whole numbers of them."""

    def dist(log_chances: Any, total: Any, size: Any) -> Any:
        import pymc as pm
        import pytensor.tensor as pt

        chances = pt.exp(log_chances)
        if ties == "half":
            # Half wins are a way to count ties, not a way in which they arise.
            chances = chances * np.array([1.0, 1.0, 0.0])
        chances /= chances.sum(axis=-1, keepdims=True)
        n = pt.cast(pt.round(total), "int64")
        return pt.cast(pm.Multinomial.dist(n=n, p=chances, size=size), "float64")

    return dist


def _record(
    model: Any,
    design: BattleDesign,
    prior: BradleyTerryPriors,
    ties: TieModel,
    first_shown: bool,
    hierarchical: bool,
) -> ModelRecord:
    notices = list(design.notices)
    if ties != "half" and not design.outcome[:, 2].any():
        notices.append(
            f"there is no tie: how unlikely ties are by {ties!r} depends on the prior of log_tie"
        )
    order = (
        "strength",
        "log_tie",
        "first_shown_effect",
        "strength_scale",
        "covariate_effect",
        "judge_strength_scale",
        "judge_first_shown_scale",
        "judge_first_shown",
        "judge_effect",
    )
    return ModelRecord(
        kind="bradley-terry",
        options={
            "ties": ties,
            "first_shown": first_shown,
            "judge_effects": bool(design.judges),
            "covariates": ", ".join(design.covariates),
            "hierarchical": hierarchical,
        },
        priors=prior.to_dict(),
        diagnosed=tuple(name for name in order if name in model.named_vars),
        ranking="strength",
        notices=tuple(notices),
    )
