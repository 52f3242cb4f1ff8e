"""Plain log density of the multidimensional model with family effects, in NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neartie.models.prior_density import (
    family_effects_terms,
    log_normal,
    normal,
    response_log_likelihood,
    zero_sum_normal,
)
from neartie.models.priors import MirtDifPriors
from neartie.models.residual_dif import linear_predictor

type Floats = NDArray[np.float64]


def mirt_dif_log_density(
    point: dict[str, Floats],
    values: NDArray[np.int8],
    *,
    family: NDArray[np.intp],
    priors: MirtDifPriors,
    zero_sum: str = "families",
    sparse: bool = False,
    family_means: bool = False,
) -> dict[str, float]:
    """Return the terms of the log density of parameters and answers.

    Parameters
    ----------
    point : dict of name to array
        The free variables of `build_mirt_dif`, on their own scale.
    values : (n_item, n_model) int8
        1 right, 0 wrong, -1 missing.
    family : (n_model,) int
        Position of each model's family.
    priors : MirtDifPriors
    zero_sum, sparse, family_means
        As in `build_mirt_dif`.

    Returns
    -------
    dict of name to float, nat
        One term a variable, without Jacobians; `score` is the log-likelihood. A rotation of
        `ability` and `loading` together changes none of their sum.

    References
    ----------
    P0, equations 1 and 2.

    Examples
    --------
    >>> point = {"ability": np.zeros((1, 2)), "loading": np.zeros((1, 1)),
    ...          "loading_scale": np.array(1.5), "easiness": np.zeros(1),
    ...          "easiness_mean": np.array(0.0), "easiness_scale": np.array(1.5),
    ...          "dif_scale": np.array(0.5), "dif_standard": np.zeros((1, 2))}
    >>> terms = mirt_dif_log_density(
    ...     point, np.array([[1, 0]], dtype=np.int8), family=np.array([0, 1]),
    ...     priors=MirtDifPriors())
    >>> round(terms["score"], 4)
    -1.3863
    """
    ability, loading = point["ability"], point["loading"]
    loading_scale = float(point["loading_scale"])
    easiness_scale = float(point["easiness_scale"])
    median = priors.loading_spread / np.sqrt(loading.shape[1])
    terms, effects = family_effects_terms(point, priors, zero_sum=zero_sum, sparse=sparse)
    center: Floats | float = 0.0
    if family_means:
        center = point["family_mean"][:, family]
        terms["family_mean"] = zero_sum_normal(point["family_mean"], priors.family_mean_sd)
    logit = linear_predictor(loading @ ability, point["easiness"], effects, family)
    return terms | {
        "ability": normal(ability, center, 1.0),
        "loading_scale": log_normal(loading_scale, median, priors.log_scale_sd),
        "loading": normal(loading, 0.0, loading_scale),
        "easiness_mean": normal(point["easiness_mean"], 0.0, priors.easiness_mean_sd),
        "easiness_scale": log_normal(easiness_scale, priors.easiness_scale, priors.log_scale_sd),
        "easiness": normal(point["easiness"], point["easiness_mean"], easiness_scale),
        "score": float(response_log_likelihood(values, logit).sum()),
    }
