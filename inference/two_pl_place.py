"""From a point in the penalised 2PL likelihood to what is reported: centre, unit, errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from neartie.inference.two_pl_arrow import Floats, Mask, Penalised
from neartie.inference.two_pl_climb import Summit, best_unit

#: Models beyond which the covariance of their abilities is left out.
MOST_MODELS: Final = 2000


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Placed:
    """Estimates with standard errors, as `TwoPLFit` has them, of the items that were fitted."""

    ability: Floats
    se: Floats
    se_items_known: Floats
    covariance: Floats
    items: dict[str, Floats]
    shift: float
    unit: float
    posterior_unit: float


def place(problem: Penalised, summit: Summit, *, unit: str, within: bool) -> Placed:
    """Return estimates with their standard errors, re-centred and in the unit asked for.

    Parameters
    ----------
    problem : Penalised
    summit : Summit
    unit : {'mode', 'posterior'}
        See `neartie.inference.two_pl_map.fit_two_pl_map`.
    within : bool
        Whether the mean of the abilities was held at zero, so that nothing is to be taken off.

    Returns
    -------
    Placed
        Models without answers do not count for the mean, and stand at their prior.
    """
    ability, difficulty, log_slope = problem.split(summit.point)
    used, n_model = summit.factor, problem.n_model
    answered: Mask = problem.observed.any(axis=0)
    counted_in = answered if not within else np.full(n_model, True)
    share = np.concatenate([counted_in / counted_in.sum(), np.zeros(2 * problem.n_item)])
    shift = float(share[:n_model] @ ability)
    # Covariance of all parameters with the mean of the abilities, and the variance of that.
    along = used.solve(share)
    of_mean = float(share @ along)
    of_place = along[n_model : n_model + problem.n_item]
    of_slope = along[n_model + problem.n_item :]
    blocks, model_variance = used.item_covariance(), used.model_variance()
    squares = np.concatenate(
        [np.square(ability) + model_variance, np.square(difficulty) + blocks[:, 0, 0]]
    )
    # A model without answers says nothing of the unit: its prior follows whichever is chosen.
    squares[:n_model][~answered] = 0.0
    volume = int(answered.sum()) + problem.n_item
    posterior = best_unit(problem, squares, log_slope, volume=volume)
    c = posterior if unit == "posterior" else 1.0
    if within:
        # Knowing the mean takes away what it told of each parameter.
        of_difficulty = blocks[:, 0, 0] - of_place**2 / of_mean
        slope = blocks[:, 1, 1] - of_slope**2 / of_mean
    else:
        of_difficulty, slope = blocks[:, 0, 0] - 2 * of_place + of_mean, blocks[:, 1, 1]
    covariance = np.empty((0, 0))
    own = along[:n_model]
    if n_model <= MOST_MODELS:
        covariance = used.model_covariance()
        covariance += _centring(own[:, None], own[None, :], of_mean, within=within)
        variance = np.diag(covariance).copy()
    else:
        variance = model_variance + _centring(own, own, of_mean, within=within)
    known = c / np.sqrt(used.arrow.model)
    variance, covariance = variance * c**2, covariance * c**2
    moved = c * (ability - shift)
    prior_sd = 1 / np.sqrt(problem.precision[:n_model])
    for m in np.flatnonzero(~answered):
        moved[m], known[m], variance[m] = 0.0, prior_sd[m], prior_sd[m] ** 2
        if covariance.size:
            covariance[m], covariance[:, m] = 0.0, 0.0
            covariance[m, m] = variance[m]
    discrimination = np.exp(log_slope) / c
    log_se = np.sqrt(np.maximum(slope, 0.0))
    return Placed(
        ability=moved,
        se=np.sqrt(np.maximum(variance, 0.0)),
        se_items_known=known,
        covariance=covariance,
        items={
            "difficulty": c * (difficulty - shift),
            "difficulty_se": c * np.sqrt(np.maximum(of_difficulty, 0.0)),
            "discrimination": discrimination,
            "discrimination_se": discrimination * log_se,
            "log_discrimination_se": log_se,
        },
        shift=shift,
        unit=c,
        posterior_unit=posterior,
    )


def _centring(first: Floats, second: Floats, of_mean: float, *, within: bool) -> Floats:
    """Return what the covariance changes by when the mean is taken off, or held."""
    return -first * second / of_mean if within else of_mean - first - second
