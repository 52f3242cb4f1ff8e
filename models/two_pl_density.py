"""Plain log density of the two-parameter logistic model: what `build_two_pl` says, in NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neartie.models.prior_density import (
    log_normal,
    normal,
    response_log_likelihood,
    zero_sum_normal,
)
from neartie.models.priors import TwoPLPriors

type Floats = NDArray[np.float64]


def two_pl_logit(point: dict[str, Floats]) -> Floats:
    r"""Return the logit of every response probability.

    Parameters
    ----------
    point : dict of name to array
        `ability` (n_model,) and `difficulty` (n_item,), with `log_discrimination` (n_item,)
        unless slopes are 1; or `ability`, `discrimination` and `easiness`.

    Returns
    -------
    (n_item, n_model) float, logit
        :math:`a_i(\theta_m - b_i)` (P1, `eq:2pl`), or :math:`a_i\theta_m + d_i`.

    Examples
    --------
    >>> two_pl_logit({"ability": np.array([0.0, 1.0]), "difficulty": np.array([0.5])})
    array([[-0.5,  0.5]])
    """
    ability = point["ability"][None, :]
    if "easiness" in point:
        return point["discrimination"][:, None] * ability + point["easiness"][:, None]
    difference = ability - point["difficulty"][:, None]
    if "log_discrimination" not in point:
        return difference
    return np.exp(point["log_discrimination"])[:, None] * difference


def two_pl_log_density(
    point: dict[str, Floats],
    values: NDArray[np.int8],
    *,
    priors: TwoPLPriors,
    discrimination: str = "free",
    hierarchical: bool = False,
    family: NDArray[np.intp] | None = None,
) -> dict[str, float]:
    """Return the terms of the log density of parameters and answers.

    Parameters
    ----------
    point : dict of name to array
        The variables of `build_two_pl`, on their own scale; `ability_standard` takes the place
        of `ability` where it is there.
    values : (n_item, n_model) int8
        1 right, 0 wrong, -1 missing.
    priors : TwoPLPriors
    discrimination, hierarchical
        As in `build_two_pl`.
    family : (n_model,) int, optional
        Position of each model's family, for family means.

    Returns
    -------
    dict of name to float, nat
        One term a variable; `score` is the log-likelihood. No Jacobians: the densities are of
        the variables as they are named.

    References
    ----------
    P1, equation `eq:map`.

    Examples
    --------
    >>> point = {"ability": np.zeros(1), "difficulty": np.zeros(1),
    ...          "log_discrimination": np.zeros(1)}
    >>> terms = two_pl_log_density(point, np.array([[1]], dtype=np.int8), priors=TwoPLPriors())
    >>> {name: round(value, 4) for name, value in terms.items()}["score"]
    -0.6931
    """
    terms: dict[str, float] = {}
    center: Floats | float = 0.0
    if family is not None:
        center = point["family_mean"][family]
        terms["family_mean"] = zero_sum_normal(point["family_mean"], priors.family_mean_sd)
    sd = priors.ability_sd
    if discrimination == "one":
        sd = float(point["ability_scale"])
        terms["ability_scale"] = log_normal(sd, priors.ability_sd, priors.log_scale_sd)
    if "ability_standard" in point:
        terms["ability_standard"] = normal(point["ability_standard"], 0.0, 1.0)
        point = point | {"ability": center + sd * point["ability_standard"]}
    else:
        terms["ability"] = normal(point["ability"], center, sd)
    terms |= _item_terms(point, priors, discrimination, hierarchical=hierarchical)
    terms["score"] = float(response_log_likelihood(values, two_pl_logit(point)).sum())
    return terms


def _item_terms(
    point: dict[str, Floats], priors: TwoPLPriors, discrimination: str, *, hierarchical: bool
) -> dict[str, float]:
    if discrimination == "signed":
        mean, sd = priors.discrimination_mean, priors.discrimination_sd
        return {
            "discrimination": normal(point["discrimination"], mean, sd),
            "easiness": normal(point["easiness"], 0.0, priors.easiness_sd),
        }
    populations = {"difficulty": (0.0, priors.difficulty_mean_sd, priors.difficulty_sd)}
    if discrimination == "free":
        populations["log_discrimination"] = (
            priors.log_discrimination_mean,
            priors.log_discrimination_mean_sd,
            priors.log_discrimination_sd,
        )
    terms: dict[str, float] = {}
    for name, (mean, mean_sd, sd) in populations.items():
        if hierarchical:
            center, scale = float(point[f"{name}_mean"]), float(point[f"{name}_scale"])
            terms[f"{name}_mean"] = normal(center, mean, mean_sd)
            terms[f"{name}_scale"] = log_normal(scale, sd, priors.log_scale_sd)
            mean, sd = center, scale
        terms[name] = normal(point[name], mean, sd)
    return terms
