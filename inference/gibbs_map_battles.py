"""Starts about the joint mode, of Bradley–Terry models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from neartie.inference.bradley_terry_kernel import Problem, covariance, evaluate, newton
from neartie.inference.gibbs_battle_effects import BattleProblem
from neartie.inference.gibbs_bradley_terry import BradleyTerrySampler
from neartie.inference.gibbs_map_start import SCALE_SPREAD, SPREAD, Starts, scattered
from neartie.models.bradley_terry import TieModel

type Floats = NDArray[np.float64]


def bradley_terry_starts(model: Any, sampler: BradleyTerrySampler) -> Callable[[], Starts]:
    """Return a search for the mode of strengths by Newton's method.

    Parameters
    ----------
    model : pm.Model
    sampler : BradleyTerrySampler

    Notes
    -----
    Of models with judges' effects it is the mode without them; these start where they do in a
    dispersed chain, about their prior. Slopes of covariates are those of the strengths. Without a
    tie the tie parameter of a tie model has no estimate, and starts about its prior too.
    """
    problem = sampler.problem

    def search() -> Starts:
        plain = _plain(problem)
        with threadpool_limits(limits=1, user_api="blas"):
            optimum = newton(plain)
            matrix = covariance(plain, evaluate(plain, optimum.point).information)
        se = np.sqrt(np.maximum(np.diag(matrix), 0.0))
        n, hierarchical = problem.n_model, problem.hierarchical
        point = optimum.point
        spread = float(np.sqrt(np.mean(np.square(point[:n]) + np.square(se[:n]))))

        def starts(rng: np.random.Generator) -> dict[str, Floats]:
            drawn = point + SPREAD * se * rng.standard_normal(len(point))
            strength = drawn[:n] - drawn[:n].mean()
            scale = scattered(rng, spread) if hierarchical else problem.priors.strength_sd
            slope = _slopes(problem, strength, scale)
            residual = strength - problem.values @ slope
            values: dict[str, Any] = {
                "strength": strength,
                "covariate_effect": slope,
                "residual_strength": residual - residual.mean(),
                "strength_scale": scale,
            }
            if plain.has_order:
                values["first_shown_effect"] = drawn[n]
            if plain.has_tie:
                # Rao and Kupper's is positive.
                factor = np.exp(SCALE_SPREAD * rng.standard_normal())
                is_positive = problem.ties == "rao-kupper"
                values["log_tie"] = point[-1] * factor if is_positive else drawn[-1]
            return {name: values[name] for name in sampler.names if name in values}

        return starts

    return search


def _plain(problem: BattleProblem) -> Problem:
    """Return what is maximised: battles, and the prior of strengths, all in one sum of zero."""
    rows, priors = problem.rows, problem.priors
    won, lost, tied = (np.ascontiguousarray(part) for part in problem.outcome.T)
    sd = priors.strength_scale_sd if problem.hierarchical else priors.strength_sd
    return Problem(
        n_model=problem.n_model,
        first=rows.first,
        second=rows.second,
        shown=rows.shown,
        wins=won,
        losses=lost,
        tied=tied,
        group=np.zeros(problem.n_model, dtype=np.int64),
        ties=cast(TieModel, problem.ties if tied.any() else "half"),
        has_order=problem.first_shown,
        precision=sd**-2,
    )


def _slopes(problem: BattleProblem, strength: Floats, scale: float) -> Floats:
    """Return the slopes of covariates that strengths make most probable."""
    values = problem.values
    gram = values.T @ values
    ratio = (scale / problem.priors.covariate_sd) ** 2
    return np.asarray(np.linalg.solve(gram + ratio * np.eye(len(gram)), values.T @ strength))
