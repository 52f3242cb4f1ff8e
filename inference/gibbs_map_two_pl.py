"""Starts about the joint mode, of the two-parameter model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neartie.data.responses import Responses
from neartie.inference.flat_model import data_of, observed_arrays
from neartie.inference.gibbs_map_start import SPREAD, Starts, scattered
from neartie.inference.gibbs_two_pl import TwoPLSampler
from neartie.inference.two_pl_map import fit_two_pl_map

type Floats = NDArray[np.float64]


def two_pl_starts(model: Any, sampler: TwoPLSampler) -> Callable[[], Starts]:
    """Return a search for the joint mode of the two-parameter model, in the posterior's unit.

    Parameters
    ----------
    model : pm.Model
    sampler : TwoPLSampler

    Raises
    ------
    ValueError
        For slopes that are equal, or of either sign: the joint mode is that of positive ones.

    Notes
    -----
    Means and scales of items, where they are estimated, start at those of the mode's items, the
    items' own errors counted. Family means are those of the mode's abilities, drawn to zero.
    """
    problem = sampler.problem
    if problem.discrimination != "free":
        raise ValueError(
            "start='map' has no joint mode to begin at for "
            f"discrimination={problem.discrimination!r}; use start='dispersed'"
        )
    priors = problem.priors

    def search() -> Starts:
        found = fit_two_pl_map(
            _responses_of(model), priors=priors, unit="posterior", constant_items="keep"
        )
        log_slope = np.log(found.discrimination)
        populations = {
            "difficulty": _population(found.difficulty, found.difficulty_se),
            "log_discrimination": _population(log_slope, found.log_discrimination_se),
        }

        def starts(rng: np.random.Generator) -> dict[str, Floats]:
            values: dict[str, Any] = {
                "ability": _noisy(rng, found.ability, found.se),
                "difficulty": _noisy(rng, found.difficulty, found.difficulty_se),
                "log_discrimination": _noisy(rng, log_slope, found.log_discrimination_se),
            }
            if problem.hierarchical:
                for name, (mean, scale) in populations.items():
                    spread = SPREAD * scale / np.sqrt(problem.n_item)
                    values[f"{name}_mean"] = mean + spread * rng.standard_normal()
                    values[f"{name}_scale"] = scattered(rng, scale)
            if problem.n_family:
                ratio = (priors.ability_sd / priors.family_mean_sd) ** 2
                size = np.bincount(problem.family, minlength=problem.n_family)
                means = np.bincount(problem.family, values["ability"]) / (size + ratio)
                values["family_mean"] = means - means.mean()
            return values

        return starts

    return search


def _responses_of(model: Any) -> Responses:
    """Return the answers that a model was built of."""
    constant = {variable.name: np.asarray(data_of(variable)) for variable in model.data_vars}
    score = observed_arrays(model)["score"]
    items, models = list(model.coords["item"]), list(model.coords["model"])
    values = np.full((len(items), len(models)), -1, dtype=np.int8)
    if "cell_item" in constant:
        values[constant["cell_item"], constant["cell_model"]] = score
    else:
        values[...] = score
    return Responses.build(values, items=items, models=models)


def _noisy(rng: np.random.Generator, values: Floats, se: Floats) -> Floats:
    return values + SPREAD * se * rng.standard_normal(len(values))


def _population(values: Floats, se: Floats) -> tuple[float, float]:
    """Return mean and standard deviation of what the values estimate."""
    mean = float(values.mean())
    return mean, float(np.sqrt(np.mean(np.square(values - mean) + np.square(se))))
