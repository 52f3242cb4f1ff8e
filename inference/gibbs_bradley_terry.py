"""A blocked Gibbs sampler of the Bradley–Terry model with all of its options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from neartie.inference.flat_model import data_of, observed_arrays
from neartie.inference.gibbs_battle_effects import BattlePoint, BattleProblem, draw_effects
from neartie.inference.gibbs_battle_gaussian import judges_of
from neartie.inference.gibbs_battle_kernel import Rows, factors_of
from neartie.inference.gibbs_battle_scales import draw_scales_apart, draw_scales_together, draw_tie
from neartie.inference.gibbs_protocol import State
from neartie.models.bradley_terry import TIE_MODELS
from neartie.models.bradley_terry_priors import BradleyTerryPriors
from neartie.models.record import record_of

type Floats = NDArray[np.float64]

_OPTIONS: Final = frozenset({"ties", "first_shown", "judge_effects", "covariates", "hierarchical"})
# Spread of starting values, logit, and of the logs of starting scales.
_START_NOISE: Final = 0.5
# Of a slice's first interval, in mean moves; and how slowly that mean forgets.
_WIDTH: Final = 3.0
_LEAST_GAIN: Final = 0.05
_LEAST_WIDTH: Final = 1e-3


def gibbs_bradley_terry(model: Any) -> BradleyTerrySampler:
    """Return the Gibbs sampler of a model that `build_bradley_terry` built, with any options.

    Parameters
    ----------
    model : pm.Model

    Returns
    -------
    BradleyTerrySampler

    Raises
    ------
    ValueError
        If the model is of another kind, or has an option or a value that is not known here.
    TypeError
        If it carries no record of neartie.

    Examples
    --------
    >>> from neartie.data.battles import Battles
    >>> from neartie.models.bradley_terry_model import build_bradley_terry
    >>> battles = Battles.build(["owl"] * 10, ["ant"] * 10, ["a"] * 7 + ["b"] * 3)
    >>> sampler = gibbs_bradley_terry(build_bradley_terry(battles, hierarchical=True))
    >>> rng = np.random.default_rng(1)
    >>> state = sampler.start(rng)
    >>> sampler.sweep(state, rng, tuning=True)
    >>> [name for name in state if not name.startswith("_")]
    ['strength_scale', 'strength']
    """
    record = record_of(model)
    if record.kind != "bradley-terry":
        raise ValueError(
            f"gibbs_bradley_terry samples models of kind 'bradley-terry', got {record.kind!r}"
        )
    unknown = sorted(set(record.options) - _OPTIONS)
    if unknown:
        raise ValueError(
            f"the Gibbs sampler of Bradley–Terry models does not know the option {unknown[0]!r}; "
            "use engine='nuts'"
        )
    ties = str(record.options["ties"])
    if ties not in TIE_MODELS:
        raise ValueError(
            f"the Gibbs sampler of Bradley–Terry models does not know ties={ties!r}; use "
            "engine='nuts'"
        )
    constant = {variable.name: np.asarray(data_of(variable)) for variable in model.data_vars}
    outcome = np.asarray(observed_arrays(model)["outcome"], dtype=np.float64)
    order = np.argsort(constant["pair_judge"], kind="stable")
    rows = Rows(
        first=constant["pair_first"].astype(np.int64)[order],
        second=constant["pair_second"].astype(np.int64)[order],
        shown=constant["pair_shown"].astype(np.float64)[order],
        judge=constant["pair_judge"].astype(np.int64)[order],
    )
    n_model = len(model.coords["model"])
    problem = BattleProblem(
        rows=rows,
        outcome=np.ascontiguousarray(outcome[order]),
        judges=judges_of(rows, n_judge=len(model.coords.get("judge", ()))),
        values=np.ascontiguousarray(constant.get("covariate_value", np.empty((n_model, 0)))),
        n_model=n_model,
        ties=ties,
        first_shown=bool(record.options["first_shown"]),
        hierarchical=bool(record.options["hierarchical"]),
        priors=BradleyTerryPriors(**record.priors),
    )
    return BradleyTerrySampler(tuple(variable.name for variable in model.free_RVs), problem)


class BradleyTerrySampler:
    r"""Draws the unknowns of a Bradley–Terry model, block by block.

    Attributes
    ----------
    names : tuple of str
        The free variables of the PyMC model.
    problem : BattleProblem

    Notes
    -----
    A sweep draws

    1. strengths, slopes of covariates, the advantage of the first shown and all judges'
       deviations in one joint normal draw, given the weights that make the likelihood normal;
    2. every scale given what it scales, and again together with it;
    3. the tie parameter given the logits.

    Ties as half wins need weights :math:`\mathrm{PG}(n, \delta)` with n the number of battles,
    since a tie adds half to both sides. Where a pair has more than a few battles, or n is not
    whole, the weight is a short sum of gamma variates, and a Metropolis step, nearly always
    accepted, makes up for the terms left out (`neartie.inference.gibbs_gamma_sums`).

    State has, beside the free variables, `_width` (of slices) and `_tuned`, which stay as they are
    once tuning is over, and `_tally`.

    References
    ----------
    Polson, Scott and Windle (2013), doi:10.1080/01621459.2013.829001.
    """

    def __init__(self, names: tuple[str, ...], problem: BattleProblem) -> None:
        self.names = names
        self.problem = problem

    def start(self, rng: np.random.Generator) -> State:
        """Return values around what the models' shares of wins say."""
        problem, priors = self.problem, self.problem.priors
        n_model, n_judge = problem.n_model, problem.n_judge
        strength = _log_odds(problem) + _START_NOISE * rng.standard_normal(n_model)
        scales = np.exp(_START_NOISE * rng.standard_normal(3))
        deviation = priors.judge_strength_sd * rng.standard_normal((n_judge, n_model))
        tie = priors.log_tie_mean + _START_NOISE * priors.log_tie_sd * float(rng.standard_normal())
        if problem.ties == "rao-kupper":
            tie = priors.log_threshold_sd * _START_NOISE * float(scales[0])
        point = BattlePoint(
            strength=strength - strength.mean(),
            slope=np.asarray(_START_NOISE * rng.standard_normal(problem.values.shape[1])),
            deviation=deviation - deviation.mean(axis=1, keepdims=True),
            advantage=priors.judge_first_shown_sd * rng.standard_normal(n_judge),
            shown_effect=_START_NOISE * float(rng.standard_normal()),
            strength_scale=priors.strength_sd * float(scales[0]),
            deviation_scale=priors.judge_strength_sd * float(scales[1]),
            advantage_scale=priors.judge_first_shown_sd * float(scales[2]),
            tie=tie,
        )
        state = {name: np.array(value) for name, value in self._values(point).items()}
        return state | {"_width": np.ones(4), "_tuned": np.zeros(()), "_tally": np.zeros(2)}

    def place_anchors(self, state: State) -> None:
        """Do nothing: no mode is searched for."""

    def sweep(self, state: State, rng: np.random.Generator, *, tuning: bool) -> None:
        """Draw every block once, in place."""
        problem, point, width = self.problem, self.read(state), state["_width"]
        factors = factors_of(problem.ties, problem.outcome, point.tie)
        logit, accepted = draw_effects(point, problem, factors, point.logits(problem), rng=rng)
        draw_scales_apart(point, problem, rng=rng)
        logit, moved = draw_scales_together(point, problem, factors, logit, width, rng=rng)
        if problem.ties != "half":
            moved[3] = draw_tie(point, problem, logit, width=float(width[3]), rng=rng)
        for name, value in self._values(point).items():
            state[name][...] = value
        if tuning:
            state["_tuned"] += 1.0
            gain = max(1.0 / (float(state["_tuned"]) + 1.0), _LEAST_GAIN)
            change = np.where(np.isnan(moved), 0.0, _WIDTH * np.abs(moved) - width)
            width[...] = np.maximum(width + gain * change, _LEAST_WIDTH)
        else:
            state["_tally"] += np.array([1.0, accepted])

    def counts(self, state: State) -> Mapping[str, float]:
        """Return the share of joint draws of the strengths that were accepted, after tuning."""
        proposed, accepted = state["_tally"]
        return {"accepted_strength": float(accepted / max(proposed, 1.0))}

    def read(self, state: State) -> BattlePoint:
        """Return the point that a state holds."""
        problem, names = self.problem, self.names
        n_model, n_judge = problem.n_model, problem.n_judge

        def number(name: str, otherwise: float) -> float:
            return float(state[name]) if name in names else otherwise

        deviation_scale = number("judge_strength_scale", 1.0)
        advantage_scale = number("judge_first_shown_scale", 1.0)
        deviation, advantage = np.zeros((n_judge, n_model)), np.zeros(n_judge)
        if "judge_effect_z" in names:
            deviation = deviation_scale * state["judge_effect_z"]
        if "judge_first_shown_z" in names:
            advantage = advantage_scale * state["judge_first_shown_z"]
        slope = np.zeros(0)
        if "covariate_effect" in names:
            slope = state["covariate_effect"].copy()
            strength = problem.values @ slope + state["residual_strength"]
        else:
            strength = state["strength"].copy()
        return BattlePoint(
            strength=strength,
            slope=slope,
            deviation=deviation,
            advantage=advantage,
            shown_effect=number("first_shown_effect", 0.0),
            strength_scale=number("strength_scale", problem.priors.strength_sd),
            deviation_scale=deviation_scale,
            advantage_scale=advantage_scale,
            tie=number("log_tie", 0.0),
        )

    def _values(self, point: BattlePoint) -> dict[str, Any]:
        """Return the free variables at a point."""
        values = {
            "strength": point.strength,
            "residual_strength": point.residual(self.problem),
            "covariate_effect": point.slope,
            "strength_scale": point.strength_scale,
            "log_tie": point.tie,
            "first_shown_effect": point.shown_effect,
            "judge_first_shown_scale": point.advantage_scale,
            "judge_first_shown_z": point.advantage / point.advantage_scale,
            "judge_strength_scale": point.deviation_scale,
            "judge_effect_z": point.deviation / point.deviation_scale,
        }
        return {name: values[name] for name in self.names}


def _log_odds(problem: BattleProblem) -> Floats:
    """Return the log odds of each model's wins, ties as halves, with one added to either side."""
    won, lost, tied = problem.outcome.T
    rows, n = problem.rows, problem.n_model
    wins = np.bincount(rows.first, won + 0.5 * tied, n)
    wins += np.bincount(rows.second, lost + 0.5 * tied, n)
    total = np.bincount(rows.first, won + lost + tied, n)
    total += np.bincount(rows.second, won + lost + tied, n)
    return np.asarray(np.log((wins + 1.0) / (total - wins + 1.0)))
