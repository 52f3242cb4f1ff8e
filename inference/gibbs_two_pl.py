"""A blocked Gibbs sampler of the two-parameter logistic model and its relatives."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from neartie.inference.flat_model import data_of, observed_arrays
from neartie.inference.gibbs_protocol import State
from neartie.inference.gibbs_two_pl_items import draw_items
from neartie.inference.gibbs_two_pl_kernel import draw_values
from neartie.inference.gibbs_two_pl_moves import (
    draw_family_means,
    draw_populations,
    flip_direction,
    move_location,
    move_unit,
)
from neartie.inference.gibbs_two_pl_point import Point, Problem, cells_of
from neartie.inference.gibbs_two_pl_steps import available_steps, shift_family, take_step
from neartie.models.priors import TwoPLPriors
from neartie.models.record import record_of

type Floats = NDArray[np.float64]

_OPTIONS: Final = frozenset({"discrimination", "hierarchical", "family_means"})
# Share of accepted steps that widths are tuned to: the best of one dimension.
_WANTED: Final = 0.44
# An anchor follows a chain, while it is tuned, as a mean over some of its last values.
_LEAST_GAIN: Final = 0.05
# Spread of starting abilities around what accuracies say, in standard deviations of abilities.
_START_NOISE: Final = 0.5


def gibbs_two_pl(model: Any) -> TwoPLSampler:
    """Return the Gibbs sampler of a model that `build_two_pl` built, with any of its options.

    Parameters
    ----------
    model : pm.Model

    Returns
    -------
    TwoPLSampler

    Raises
    ------
    ValueError
        If the model is of another kind, or has an option that is not known here.
    TypeError
        If it carries no record of neartie.

    Examples
    --------
    >>> from neartie.data.responses import Responses
    >>> from neartie.models.two_pl import build_two_pl
    >>> answers = Responses.build([[1, 0], [1, 1]], items=["q1", "q2"], models=["a", "b"])
    >>> sampler = gibbs_two_pl(build_two_pl(answers, discrimination="signed"))
    >>> rng = np.random.default_rng(1)
    >>> state = sampler.start(rng)
    >>> sampler.sweep(state, rng, tuning=True)
    >>> [name for name in state if not name.startswith("_")]
    ['ability', 'discrimination', 'easiness']
    """
    record = record_of(model)
    if record.kind != "two-pl":
        raise ValueError(f"gibbs_two_pl samples models of kind 'two-pl', got {record.kind!r}")
    unknown = sorted(set(record.options) - _OPTIONS)
    if unknown:
        raise ValueError(
            f"the Gibbs sampler of the 2PL does not know the option {unknown[0]!r}; use "
            "engine='nuts'"
        )
    names = tuple(variable.name for variable in model.free_RVs)
    constant = {variable.name: np.asarray(data_of(variable)) for variable in model.data_vars}
    score = observed_arrays(model)["score"]
    n_item, n_model = len(model.coords["item"]), len(model.coords["model"])
    if "cell_item" in constant:
        item, place = constant["cell_item"], constant["cell_model"]
    else:
        item, place = (axis.ravel() for axis in np.indices((n_item, n_model)))
    right = score.ravel() == 1
    family_means = bool(record.options["family_means"])
    family = constant["model_family"] if family_means else np.zeros(n_model, dtype=np.intp)
    problem = Problem(
        discrimination=str(record.options["discrimination"]),
        hierarchical=bool(record.options["hierarchical"]),
        standard="ability_standard" in names,
        priors=TwoPLPriors(**record.priors),
        family=family,
        n_family=len(model.coords["family"]) if family_means else 0,
        by_model=cells_of(place, item, right, n_unit=n_model, n_other=n_item),
        by_item=cells_of(item, place, right, n_unit=n_item, n_other=n_model),
    )
    return TwoPLSampler(names, problem)


class TwoPLSampler:
    r"""Draws the unknowns of a two-parameter model, block by block.

    Attributes
    ----------
    names : tuple of str
        The free variables of the PyMC model.
    problem : Problem
        The options and the data.

    Notes
    -----
    A sweep draws the abilities given the items, the items given the abilities, and then moves
    that take whole groups along: location and unit, for signed slopes the direction, means and
    scales given what they are of and together with it, family means likewise.

    State has, beside the free variables, `_anchor_ability`, `_anchor_first` and
    `_anchor_intercept` (where searches for conditional modes begin), `_log_width` (of steps) and
    `_tally`, with `_tuned`, how often each was tuned: all of which stay as they are once tuning is over,
    but for the tally.
    """

    def __init__(self, names: tuple[str, ...], problem: Problem) -> None:
        self.names = names
        self.problem = problem
        self._steps = tuple(available_steps(problem).items())
        labels = ["ability", "difficulty" if problem.discrimination == "one" else "item"]
        labels += [name for name, _ in self._steps]
        self._labels = (*labels, "family_mean") if problem.n_family else tuple(labels)

    def start(self, rng: np.random.Generator) -> State:
        """Return values around what accuracies say, with scales from their priors."""
        problem, priors = self.problem, self.problem.priors
        scales = np.exp(priors.log_scale_sd * rng.standard_normal(3))
        estimated = problem.discrimination == "one", problem.hierarchical, problem.hierarchical
        ability_scale, first_factor, second_factor = np.where(estimated, scales, 1.0).tolist()
        signed = problem.discrimination == "signed"
        point = Point(
            ability=_log_odds(problem.by_model, problem.n_item),
            first=np.zeros(problem.n_item),
            intercept=_log_odds(problem.by_item, problem.n_model),
            family_mean=np.zeros(max(problem.n_family, 1)),
            ability_scale=ability_scale * priors.ability_sd,
            first_mean=priors.discrimination_mean if signed else priors.log_discrimination_mean,
            first_scale=priors.discrimination_sd
            if signed
            else first_factor * priors.log_discrimination_sd,
            second_mean=0.0,
            second_scale=priors.easiness_sd if signed else second_factor * priors.difficulty_sd,
        )
        spread = max(1.0, float(point.ability.std()))
        noise = _START_NOISE * rng.standard_normal(problem.n_model)
        point.ability = priors.ability_sd * (
            (point.ability - point.ability.mean()) / spread + noise
        )
        point.intercept += _START_NOISE * rng.standard_normal(problem.n_item)
        if problem.discrimination != "one":
            point.first += 0.5 * point.first_scale * rng.standard_normal(problem.n_item)
            point.first += point.first_mean
        state: State = {
            "_anchor_ability": point.ability.copy(),
            "_anchor_first": point.first.copy(),
            "_anchor_intercept": point.intercept.copy(),
            "_log_width": np.full(len(self._labels), math.log(0.1)),
            "_tally": np.zeros((2, len(self._labels))),
            "_tuned": np.zeros(len(self._labels)),
        }
        shapes = {"ability": problem.n_model, "family_mean": problem.n_family}
        for name in self.names:
            is_scalar = name.endswith("_scale") or name in (
                "difficulty_mean",
                "log_discrimination_mean",
            )
            n = shapes.get(name.removesuffix("_standard"), problem.n_item)
            state[name] = np.zeros(() if is_scalar else n)
        self._write(point, state)
        ordered = {name: state[name] for name in self.names}
        return ordered | {name: state[name] for name in state if name.startswith("_")}

    def place_anchors(self, state: State) -> None:
        """Let searches for conditional modes begin at the values of a state."""
        point = self.read(state)
        state["_anchor_ability"][...] = point.ability
        state["_anchor_first"][...] = point.first
        state["_anchor_intercept"][...] = point.intercept

    def sweep(self, state: State, rng: np.random.Generator, *, tuning: bool) -> None:
        """Draw every block once, in place."""
        problem, point = self.problem, self.read(state)
        accepted = np.zeros((2, len(self._labels)))
        accepted[0, :2] = problem.n_model, problem.n_item
        accepted[1, 0], _ = draw_values(
            rng,
            point.ability,
            state["_anchor_ability"],
            point.slope(problem),
            point.intercept,
            point.center(problem),
            point.ability_scale**-2,
            problem.by_model,
        )
        accepted[1, 1], likelihood = self._draw_items(point, state, rng)
        widths = np.exp(state["_log_width"])
        for which in self._chosen_steps(rng):
            point, likelihood, taken = take_step(
                point,
                problem,
                self._steps[which][1],
                here=likelihood,
                width=float(widths[2 + which]),
                rng=rng,
            )
            accepted[:, 2 + which] = 1.0, taken
        if problem.n_family:
            family = int(rng.integers(problem.n_family))
            width = float(widths[-1])
            point, taken = shift_family(point, problem, family, width=width, rng=rng)
            accepted[:, -1] = 1.0, taken
        move_location(point, problem, rng)
        if problem.discrimination != "one":
            move_unit(point, problem, rng)
        if problem.discrimination == "signed":
            flip_direction(point, rng)
        draw_populations(point, problem, rng)
        if problem.n_family:
            draw_family_means(point, problem, rng)
        self._write(point, state)
        if tuning:
            self._tune(point, state, accepted)
        else:
            state["_tally"] += accepted

    def counts(self, state: State) -> Mapping[str, float]:
        """Return the share of accepted proposals of every kind, since tuning ended."""
        proposed, accepted = state["_tally"]
        return {
            f"accepted_{label}": float(accepted[k] / max(proposed[k], 1.0))
            for k, label in enumerate(self._labels)
        }

    def read(self, state: State) -> Point:
        """Return the point that a state holds."""
        problem, priors = self.problem, self.problem.priors
        signed = problem.discrimination == "signed"
        n_item, names = problem.n_item, self.names

        def number(name: str, otherwise: float) -> float:
            return float(state[name]) if name in names else otherwise

        center = state["family_mean"].copy() if problem.n_family else np.zeros(1)
        scale = number("ability_scale", priors.ability_sd)
        if problem.standard:
            ability = center[problem.family] + scale * state["ability_standard"]
        else:
            ability = state["ability"].copy()
        if signed:
            first, intercept = state["discrimination"].copy(), state["easiness"].copy()
        else:
            first = np.zeros(n_item)
            if "log_discrimination" in names:
                first = state["log_discrimination"].copy()
            intercept = -np.exp(first) * state["difficulty"]
        mean, sd = priors.log_discrimination_mean, priors.log_discrimination_sd
        if signed:
            mean, sd = priors.discrimination_mean, priors.discrimination_sd
        return Point(
            ability=ability,
            first=first,
            intercept=intercept,
            family_mean=center,
            ability_scale=scale,
            first_mean=number("log_discrimination_mean", mean),
            first_scale=number("log_discrimination_scale", sd),
            second_mean=number("difficulty_mean", 0.0),
            second_scale=number(
                "difficulty_scale", priors.easiness_sd if signed else priors.difficulty_sd
            ),
        )

    def _write(self, point: Point, state: State) -> None:
        problem = self.problem
        values: dict[str, Any] = {
            "ability": point.ability,
            "ability_scale": point.ability_scale,
            "family_mean": point.family_mean,
            "difficulty_mean": point.second_mean,
            "difficulty_scale": point.second_scale,
            "log_discrimination": point.first,
            "log_discrimination_mean": point.first_mean,
            "log_discrimination_scale": point.first_scale,
            "discrimination": point.first,
            "easiness": point.intercept,
        }
        if problem.standard:
            residual = point.ability - point.center(problem)
            values["ability_standard"] = residual / point.ability_scale
        if problem.discrimination != "signed":
            values["difficulty"] = point.difficulty(problem)
        for name in self.names:
            state[name][...] = values[name]

    def _chosen_steps(self, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the last step and one of the others: each costs a look at all answers."""
        others = len(self._steps) - 1
        if others < 1:
            return tuple(range(len(self._steps)))
        return int(rng.integers(others)), others

    def _draw_items(
        self, point: Point, state: State, rng: np.random.Generator
    ) -> tuple[int, float]:
        """Draw the items; return how many proposals were accepted, and the log-likelihood."""
        problem, anchor = self.problem, state["_anchor_intercept"]
        if problem.discrimination != "one":
            return draw_items(
                rng,
                point.first,
                point.intercept,
                state["_anchor_first"],
                anchor,
                point.ability,
                point.item_prior(problem),
                problem.by_item,
            )
        accepted, likelihood = draw_values(
            rng,
            point.intercept,
            anchor,
            np.ones(problem.n_model),
            point.ability,
            np.full(problem.n_item, -point.second_mean),
            point.second_scale**-2,
            problem.by_item,
        )
        n_right = np.diff(problem.by_model.right_start)
        return accepted, likelihood + float(n_right @ point.ability)

    def _tune(self, point: Point, state: State, accepted: Floats) -> None:
        tried = accepted[0] > 0
        state["_tuned"] += tried
        gain = max(1.0 / (float(state["_tuned"][0]) + 1.0), _LEAST_GAIN)
        for name, value in (
            ("_anchor_ability", point.ability),
            ("_anchor_first", point.first),
            ("_anchor_intercept", point.intercept),
        ):
            state[name] += gain * (value - state[name])
        short = accepted[1] - _WANTED * accepted[0]
        short[:2] = 0.0  # proposals of the blocks have no width
        state["_log_width"] += np.maximum(state["_tuned"], 1.0) ** -0.6 * short


def _log_odds(cells: Any, n_other: int) -> Floats:
    """Return the log odds of each unit's share of right answers, with one answer each way added."""
    n_right = np.diff(cells.right_start)
    n_seen = np.full(len(n_right), n_other) if cells.complete else np.diff(cells.seen_start)
    odds: Floats = np.log((n_right + 1.0) / (n_seen - n_right + 1.0))
    return odds
