"""Plain log density of the residual-DIF model, likelihood and priors, in NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neartie.models.prior_density import family_effects_terms, normal, response_log_likelihood
from neartie.models.priors import ResidualDifPriors
from neartie.models.residual_dif import linear_predictor

type Floats = NDArray[np.float64]


def residual_dif_log_density(
    point: dict[str, Floats],
    values: NDArray[np.int8],
    offset: Floats,
    *,
    family: NDArray[np.intp],
    priors: ResidualDifPriors,
    zero_sum: str = "families",
    hierarchical: bool = False,
    sparse: bool = False,
) -> dict[str, float]:
    r"""Return the terms of the log density of parameters and answers.

    Parameters
    ----------
    point : dict of name to array
        The free variables of `build_residual_dif`, on their own scale.
    values : (n_item, n_model) int8
        1 right, 0 wrong, -1 missing.
    offset : (n_item, n_model) float, logit
    family : (n_model,) int
        Position of each model's family.
    priors : ResidualDifPriors
    zero_sum, hierarchical, sparse
        As in `build_residual_dif`.

    Returns
    -------
    dict of name to float, nat
        One term a variable, without Jacobians; `score` is the log-likelihood, and a flat prior
        is 0. With the defaults their sum is minus `neartie.models.residual_dif.penalised_loss`,
        summed over items, up to a constant.

    References
    ----------
    P0, equation 3.

    Examples
    --------
    >>> terms = residual_dif_log_density(
    ...     {"easiness": np.zeros(1), "dif": np.zeros((1, 2))}, np.array([[1, 0]], dtype=np.int8),
    ...     np.zeros((1, 2)), family=np.array([0, 1]), priors=ResidualDifPriors())
    >>> {name: round(value, 4) for name, value in terms.items()}
    {'dif': -0.9189, 'easiness': 0.0, 'score': -1.3863}
    """
    terms, effects = family_effects_terms(
        point,
        priors,
        zero_sum=zero_sum,
        sparse=sparse,
        fixed_scale=None if hierarchical or sparse else priors.dif_sd,
    )
    prior = 0.0
    if priors.easiness_sd is not None:
        prior = normal(point["easiness"], priors.easiness_mean, priors.easiness_sd)
    logit = linear_predictor(offset, point["easiness"], effects, family)
    return terms | {
        "easiness": prior,
        "score": float(response_log_likelihood(values, logit).sum()),
    }
