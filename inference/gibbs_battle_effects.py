"""Unknowns of a Bradley–Terry model, and the joint draw of all that are normal given weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_battle_gaussian import (
    Judges,
    add_rows,
    draw_judges,
    draw_shared,
    gather_judges,
)
from neartie.inference.gibbs_battle_kernel import (
    Factors,
    Rows,
    draw_weights,
    row_logits,
    total_excess,
)
from neartie.models.bradley_terry_priors import BradleyTerryPriors

type Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class BattleProblem:
    """What a Bradley–Terry model is told, in the order in which the sampler wants it.

    Attributes
    ----------
    rows : Rows
        In the order of judges.
    outcome : (n_row, 3) float, battles
        Won, lost, tied.
    judges : Judges
        None of them where the model has no judges.
    values : (n_model, n_covariate) float
    n_model : int
    ties : str
    first_shown, hierarchical : bool
    priors : BradleyTerryPriors
    """

    rows: Rows
    outcome: Floats
    judges: Judges
    values: Floats
    n_model: int
    ties: str
    first_shown: bool
    hierarchical: bool
    priors: BradleyTerryPriors

    @property
    def n_judge(self) -> int:
        """Number of judges."""
        return len(self.judges.starts) - 1


@dataclass(kw_only=True, slots=True, eq=False)
class BattlePoint:
    """Values of all unknowns; those that a model lacks have no effect.

    Attributes
    ----------
    strength : (n_model,) float, logit
        Zero-sum.
    slope : (n_covariate,) float, logit
    deviation : (n_judge, n_model) float, logit
        Of the strengths that a judge sees; zero-sum over models.
    advantage : (n_judge,) float, logit
        Of the first shown with a judge, less that with all judges.
    shown_effect : float, logit
    strength_scale, deviation_scale, advantage_scale : float, logit
    tie : float
    """

    strength: Floats
    slope: Floats
    deviation: Floats
    advantage: Floats
    shown_effect: float
    strength_scale: float
    deviation_scale: float
    advantage_scale: float
    tie: float

    def residual(self, problem: BattleProblem) -> Floats:
        """Return what covariates leave of the strengths; zero-sum."""
        left = self.strength - problem.values @ self.slope
        return np.asarray(left - left.mean())

    def logits(self, problem: BattleProblem) -> Floats:
        """Return the log odds of every row."""
        advantage = self.shown_effect + np.append(self.advantage, 0.0)
        return row_logits(problem.rows, self.strength, advantage, self.deviation)


def draw_effects(
    point: BattlePoint,
    problem: BattleProblem,
    factors: Factors,
    logit: Floats,
    *,
    rng: np.random.Generator,
) -> tuple[Floats, bool]:
    """Draw strengths, the advantage of the first shown, slopes and judges, all at once.

    Parameters
    ----------
    point : BattlePoint
        Changed where the proposal is accepted.
    problem : BattleProblem
    factors : Factors
        At the point's tie parameter.
    logit : (n_row,) float, logit
        At the point.
    rng : Generator

    Returns
    -------
    logit : (n_row,) float, logit
        At the point as it is left.
    accepted : bool

    Notes
    -----
    Drawing weights and then the effects given them leaves the posterior under the factors that
    weights are drawn for as it is, and is reversible; so it is a proposal whose acceptance needs
    only the ratio of the likelihood to that of those factors, here and there.
    """
    n_row, n_model = len(logit), problem.n_model
    precision, linear = np.empty(n_row), np.empty(n_row)
    draw_weights(rng, logit, factors, precision, linear)
    matrix, vector = _shared_prior(point, problem)
    rows, judges = problem.rows, problem.judges
    shown_at = n_model if problem.first_shown else -1
    unnamed = int(judges.rows[1])
    add_rows(rows, 0, unnamed, rows.first, rows.second, shown_at, precision, linear, matrix, vector)
    priors = np.array([point.deviation_scale, point.advantage_scale]) ** -2.0
    if problem.n_judge:
        gather_judges(rows, judges, shown_at, precision, linear, priors, matrix, vector)
    shared = draw_shared(matrix, vector, rng=rng)
    deviation, advantage = np.empty_like(point.deviation), np.zeros_like(point.advantage)
    if problem.n_judge:
        draw_judges(
            rng, rows, judges, shown_at, precision, linear, priors, shared, deviation, advantage
        )
    drawn = BattlePoint(
        strength=shared[:n_model] - shared[:n_model].mean(),
        slope=shared[len(shared) - problem.values.shape[1] :],
        deviation=deviation,
        advantage=advantage,
        shown_effect=float(shared[shown_at]) if problem.first_shown else 0.0,
        strength_scale=point.strength_scale,
        deviation_scale=point.deviation_scale,
        advantage_scale=point.advantage_scale,
        tie=point.tie,
    )
    proposed = drawn.logits(problem)
    gain = total_excess(proposed, factors) - total_excess(logit, factors)
    if gain < -rng.standard_exponential():
        return logit, False
    for name in ("strength", "slope", "deviation", "advantage", "shown_effect"):
        setattr(point, name, getattr(drawn, name))
    return proposed, True


def _shared_prior(point: BattlePoint, problem: BattleProblem) -> tuple[Floats, Floats]:
    """Return the prior precision (upper triangle) of what is shared, and a vector of zeros."""
    n_model, n_covariate = problem.values.shape
    n = n_model + int(problem.first_shown) + n_covariate
    matrix = np.zeros((n, n))
    weight = point.strength_scale**-2
    models = np.arange(n_model)
    matrix[models, models] = weight
    if problem.first_shown:
        matrix[n_model, n_model] = problem.priors.first_shown_sd**-2
    if n_covariate:
        # Of strengths, whose mean the covariates are, and of slopes together.
        values = problem.values
        matrix[:n_model, n - n_covariate :] = -weight * values
        own = weight * values.T @ values + problem.priors.covariate_sd**-2 * np.eye(n_covariate)
        matrix[n - n_covariate :, n - n_covariate :] = own
    return matrix, np.zeros(n)
