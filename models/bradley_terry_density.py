"""Log density of the Bayesian Bradley–Terry model in NumPy: likelihood and prior.

The plain twin of `neartie.models.bradley_terry_model`, term by term, without Jacobians of any
transformation.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.special import xlogy

from neartie.models.bradley_terry import TieModel, outcome_log_probabilities
from neartie.models.bradley_terry_design import BattleDesign
from neartie.models.bradley_terry_priors import BradleyTerryPriors

type Floats = NDArray[np.float64]
type Point = Mapping[str, ArrayLike]


def strengths(point: Point, design: BattleDesign) -> Floats:
    """Return log strengths.

    Parameters
    ----------
    point : mapping of name to value
        Free variables of the model, constrained: `strength`, or `covariate_effect` and
        `residual_strength`; and what the options add.
    design : BattleDesign

    Returns
    -------
    (n_model,) float, logit
        Zero-sum.
    """
    if not design.covariates:
        return np.asarray(point["strength"], dtype=np.float64)
    explained = design.values @ np.asarray(point["covariate_effect"], dtype=np.float64)
    return np.asarray(explained + np.asarray(point["residual_strength"], dtype=np.float64))


def logits(point: Point, design: BattleDesign) -> Floats:
    """Return the log odds that the first of each row wins, before ties.

    Parameters
    ----------
    point, design
        As in `strengths`.

    Returns
    -------
    (n_row,) float, logit
    """
    strength = strengths(point, design)
    first, second = design.first, design.second
    logit = strength[first] - strength[second]
    named = design.judge >= 0
    if "first_shown_effect" in point:
        advantage = np.full(len(first), float(np.asarray(point["first_shown_effect"])))
        if "judge_first_shown_z" in point:
            own = np.asarray(point["judge_first_shown_scale"]) * np.asarray(
                point["judge_first_shown_z"]
            )
            advantage += np.where(named, own[design.judge], 0.0)
        logit = logit + design.shown * advantage
    if "judge_effect_z" in point:
        effect = np.asarray(point["judge_strength_scale"]) * np.asarray(point["judge_effect_z"])
        logit += np.where(named, effect[design.judge, first] - effect[design.judge, second], 0.0)
    return np.asarray(logit)


def row_log_likelihood(point: Point, design: BattleDesign, *, ties: TieModel = "half") -> Floats:
    """Return the log-likelihood of each row's battles.

    Parameters
    ----------
    point, design
        As in `strengths`.
    ties : {'half', 'davidson', 'rao-kupper'}

    Returns
    -------
    (n_row,) float, nat
        Of the battles in a given order: without binomial coefficients, which no parameter
        changes.

    Examples
    --------
    >>> from neartie.data.battles import Battles
    >>> from neartie.models.bradley_terry_design import design_battles
    >>> design = design_battles(Battles.build(["owl", "owl"], ["ant", "ant"], ["a", "tie"]))
    >>> row_log_likelihood({"strength": [0.0, 0.0]}, design).round(4)
    array([-1.3863])
    """
    tie = float(np.asarray(point["log_tie"])) if ties != "half" else 0.0
    chances = outcome_log_probabilities(logits(point, design), tie, ties=ties)
    return np.asarray((design.outcome * np.stack(chances, axis=1)).sum(axis=1))


def log_prior(
    point: Point,
    design: BattleDesign,
    *,
    ties: TieModel = "half",
    priors: BradleyTerryPriors | None = None,
) -> float:
    """Return the log density of the prior.

    Parameters
    ----------
    point, design
        As in `strengths`.
    ties : {'half', 'davidson', 'rao-kupper'}
    priors : BradleyTerryPriors, optional

    Returns
    -------
    float, nat
        With respect to the constrained variables; zero-sum ones on their subspace.
    """
    prior = priors or BradleyTerryPriors()
    total = 0.0
    scale = prior.strength_sd
    if "strength_scale" in point:
        scale = float(np.asarray(point["strength_scale"]))
        total += _half_normal(scale, prior.strength_scale_sd)
    free = "residual_strength" if design.covariates else "strength"
    total += zero_sum_log_density(point[free], scale)
    if design.covariates:
        total += _normal(point["covariate_effect"], 0.0, prior.covariate_sd)
    if ties == "davidson":
        total += _normal(point["log_tie"], prior.log_tie_mean, prior.log_tie_sd)
    elif ties == "rao-kupper":
        total += _half_normal(point["log_tie"], prior.log_threshold_sd)
    if "first_shown_effect" in point:
        total += _normal(point["first_shown_effect"], 0.0, prior.first_shown_sd)
    if "judge_first_shown_z" in point:
        total += _half_normal(point["judge_first_shown_scale"], prior.judge_first_shown_sd)
        total += _normal(point["judge_first_shown_z"], 0.0, 1.0)
    if "judge_effect_z" in point:
        total += _half_normal(point["judge_strength_scale"], prior.judge_strength_sd)
        total += zero_sum_log_density(point["judge_effect_z"], 1.0)
    return total


def log_density(
    point: Point,
    design: BattleDesign,
    *,
    ties: TieModel = "half",
    priors: BradleyTerryPriors | None = None,
) -> float:
    """Return the log posterior density up to its constant: likelihood plus prior.

    Parameters
    ----------
    point, design, ties, priors
        As in `log_prior`.

    Returns
    -------
    float, nat
    """
    likelihood = float(row_log_likelihood(point, design, ties=ties).sum())
    return likelihood + log_prior(point, design, ties=ties, priors=priors)


def zero_sum_log_density(values: ArrayLike, scale: float) -> float:
    r"""Return the log density of normal values given that they sum to zero over the last axis.

    Parameters
    ----------
    values : (..., n) float
        Zero-sum over the last axis.
    scale : float
        Standard deviation before centring.

    Returns
    -------
    float, nat
        :math:`-(n-1)\log(s\sqrt{2\pi}) - \sum_i x_i^2 / 2s^2`, added up over the other axes. The
        difference of any two values is normal with standard deviation :math:`s\sqrt 2`,
        whatever their number: further models change no prior of a difference.

    Examples
    --------
    >>> round(zero_sum_log_density([1.0, -1.0], 1.0), 4)
    -1.9189
    """
    x = np.asarray(values, dtype=np.float64)
    n_free = x.size // x.shape[-1] * (x.shape[-1] - 1)
    return float(-0.5 * np.square(x / scale).sum() - xlogy(n_free, scale * np.sqrt(2 * np.pi)))


def _normal(value: ArrayLike, mean: float, sd: float) -> float:
    return float(np.sum(stats.norm.logpdf(np.asarray(value), mean, sd)))


def _half_normal(value: ArrayLike, sd: float) -> float:
    return float(np.sum(stats.halfnorm.logpdf(np.asarray(value), scale=sd)))
