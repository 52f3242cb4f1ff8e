"""What the 2PL's Gibbs sampler draws from is what the model says: every conditional and move."""

from __future__ import annotations

import itertools
from copy import deepcopy
from typing import Any

import numpy as np
import pandas as pd
import pytest

from neartie.data.responses import Responses
from neartie.inference import gibbs_two_pl_items as item_kernel
from neartie.inference import gibbs_two_pl_kernel as kernel
from neartie.inference import gibbs_two_pl_moves as moves
from neartie.inference import gibbs_two_pl_steps as steps
from neartie.inference.gibbs_two_pl import TwoPLSampler, gibbs_two_pl
from neartie.models.bradley_terry_model import build_bradley_terry
from neartie.models.priors import TwoPLPriors
from neartie.models.record import ModelRecord
from neartie.models.two_pl import build_two_pl
from neartie.models.two_pl_density import two_pl_log_density

N_ITEM, N_MODEL = 6, 7
FAMILY = np.array([0, 1, 2, 0, 1, 0, 2])
PRIORS = TwoPLPriors(
    ability_sd=1.3,
    difficulty_sd=0.8,
    log_discrimination_mean=0.2,
    discrimination_mean=0.8,
    family_mean_sd=0.7,
    difficulty_mean_sd=1.1,
)
OPTIONS = [
    (discrimination, hierarchical, family_means)
    for discrimination, hierarchical, family_means in itertools.product(
        ("free", "one", "signed"), (False, True), (False, True)
    )
    if not (discrimination == "signed" and hierarchical)
]
every_option = pytest.mark.parametrize("options", OPTIONS)


def leaderboard(*, missing: bool, copies: int = 1) -> Responses:
    rng = np.random.default_rng(3)
    values = rng.integers(0, 2, size=(N_ITEM * copies, N_MODEL)).astype(np.int8)
    values[0], values[1] = 0, 1
    if missing:
        values[[0, 1, 3, 3], [2, 2, 0, 5]] = -1
        values[:, 6] = -1
    models = pd.DataFrame(
        {"model": [f"m{m}" for m in range(N_MODEL)], "family": [f"f{f}" for f in FAMILY]}
    )
    return Responses.build(values, items=[f"q{i:02d}" for i in range(len(values))], models=models)


class Case:
    """A sampler, a point in its posterior's range, and the model's density in plain NumPy."""

    def __init__(self, options: tuple[str, bool, bool], *, missing: bool, copies: int = 1) -> None:
        self.discrimination, self.hierarchical, family_means = options
        self.responses = leaderboard(missing=missing, copies=copies)
        self.model = build_two_pl(
            self.responses,
            priors=PRIORS,
            discrimination=self.discrimination,
            hierarchical=self.hierarchical,
            family_means=family_means,
        )
        self.sampler = gibbs_two_pl(self.model)
        self.problem = self.sampler.problem
        self.family = FAMILY if family_means else None
        rng = np.random.default_rng(8)
        self.state = self.sampler.start(rng)
        for _ in range(3):
            self.sampler.sweep(self.state, rng, tuning=False)
        self.point = self.sampler.read(self.state)

    def density(self, point: Any) -> float:
        state = deepcopy(self.state)
        self.sampler._write(point, state)
        terms = two_pl_log_density(
            {name: state[name] for name in self.sampler.names},
            self.responses.values,
            priors=PRIORS,
            discrimination=self.discrimination,
            hierarchical=self.hierarchical,
            family=self.family,
        )
        total = sum(terms.values())
        if self.problem.standard:
            # what is moved is the ability, whose density has this factor
            total -= N_MODEL * np.log(point.ability_scale)
        return total

    def gain(self, moved: Any) -> float:
        return self.density(moved) - self.density(self.point)


@pytest.fixture(scope="module", params=[False, True], ids=["complete", "missing"])
def case_of(request):
    built: dict[Any, Case] = {}

    def build(options, copies=1):
        key = options, copies
        if key not in built:
            built[key] = Case(options, missing=request.param, copies=copies)
        return built[key]

    return build


def answers_of(cells: kernel.Cells, unit: int, n_other: int) -> tuple[np.ndarray, np.ndarray]:
    right = cells.right[cells.right_start[unit] : cells.right_start[unit + 1]]
    if cells.complete:
        return right, np.arange(n_other)
    return right, cells.seen[cells.seen_start[unit] : cells.seen_start[unit + 1]]


@every_option
def test_a_start_has_the_free_variables_of_the_model(case_of, options):
    case = case_of(options)
    names = [name for name in case.state if not name.startswith("_")]
    assert tuple(names) == tuple(variable.name for variable in case.model.free_RVs)
    for variable in case.model.free_RVs:
        assert case.state[variable.name].shape == tuple(variable.shape.eval())
        assert case.state[variable.name].dtype == np.float64


@every_option
def test_abilities_given_items(case_of, options):
    case = case_of(options)
    point, problem = case.point, case.problem
    slope, mean = point.slope(problem), point.center(problem)
    for unit, change in ((0, 0.7), (3, -1.9), (6, 4.0)):
        right, seen = answers_of(problem.by_model, unit, problem.n_item)
        moved = deepcopy(point)
        moved.ability[unit] += change
        values = [
            sum(
                kernel.value_log_density(
                    one.ability[unit],
                    slope[right].sum(),
                    slope[seen],
                    point.intercept[seen],
                    mean[unit],
                    point.ability_scale**-2,
                )
            )
            for one in (moved, point)
        ]
        assert values[0] - values[1] == pytest.approx(case.gain(moved), abs=1e-9)


@pytest.mark.parametrize("options", [options for options in OPTIONS if options[0] != "one"])
def test_items_given_abilities(case_of, options):
    case = case_of(options)
    point, problem = case.point, case.problem
    for unit, first, intercept in ((0, 0.3, -0.4), (1, -0.9, 2.0), (4, 1.5, 0.1)):
        right, seen = answers_of(problem.by_item, unit, N_MODEL)
        totals = float(point.ability[right].sum()), float(len(right))
        moved = deepcopy(point)
        moved.first[unit] += first
        moved.intercept[unit] += intercept
        values = [
            sum(
                item_kernel.item_log_density(
                    one.first[unit],
                    one.intercept[unit],
                    totals,
                    point.ability[seen],
                    point.item_prior(problem),
                )
            )
            for one in (moved, point)
        ]
        # log |db/dd|, where the model's variable is the difficulty
        jacobian = 0.0 if case.discrimination == "signed" else -first
        assert values[0] - values[1] == pytest.approx(case.gain(moved) + jacobian, abs=1e-9)


def test_difficulties_given_abilities(case_of):
    case = case_of(("one", True, True))
    point, problem = case.point, case.problem
    for unit, change in ((0, 0.7), (1, -2.0)):
        right, seen = answers_of(problem.by_item, unit, N_MODEL)
        moved = deepcopy(point)
        moved.intercept[unit] += change
        values = [
            sum(
                kernel.value_log_density(
                    one.intercept[unit],
                    float(len(right)),
                    np.ones(len(seen)),
                    point.ability[seen],
                    -point.second_mean,
                    point.second_scale**-2,
                )
            )
            for one in (moved, point)
        ]
        assert values[0] - values[1] == pytest.approx(case.gain(moved), abs=1e-9)


@pytest.mark.parametrize("signed", [False, True])
def test_slopes_and_curvature_of_an_item(signed):
    rng = np.random.default_rng(4)
    ability, totals = rng.normal(size=30), (4.0, 17.0)
    prior = item_kernel.ItemPrior(signed, 0.4, 0.6, -0.3, 1.4)
    at, step = np.array([0.3, 0.5]), 1e-4

    def values(x):
        return np.array(item_kernel.item_derivatives(x[0], x[1], totals, ability, prior))

    here = values(at)
    likelihood, log_prior = item_kernel.item_log_density(at[0], at[1], totals, ability, prior)
    assert here[0] == pytest.approx(likelihood + log_prior)
    for axis in (0, 1):
        ahead, behind = values(at + step * np.eye(2)[axis]), values(at - step * np.eye(2)[axis])
        assert (ahead[0] - behind[0]) / (2 * step) == pytest.approx(here[1 + axis], rel=1e-6)
        curvature = -(ahead[1:3] - behind[1:3]) / (2 * step)
        assert curvature == pytest.approx(here[3 + axis : 5 + axis], rel=1e-6)


def test_likelihood_comes_with_the_draws(case_of):
    """Blocks hand on the log-likelihood that steps start from."""
    for options in OPTIONS:
        case = case_of(options)
        state, point = deepcopy(case.state), deepcopy(case.point)
        _, told = case.sampler._draw_items(point, state, np.random.default_rng(1))
        assert told == pytest.approx(steps.log_likelihood(point, case.problem), abs=1e-9)


@every_option
def test_shift_of_location(case_of, options):
    case = case_of(options)
    precision, pull = moves.location_terms(case.point, case.problem)
    for shift in (0.8, -1.7):
        moved = deepcopy(case.point)
        moves.shift_location(moved, case.problem, shift)
        expected = case.gain(moved)
        assert pull * shift - 0.5 * precision * shift**2 == pytest.approx(expected, abs=1e-9)
        assert steps.log_likelihood(moved, case.problem) == pytest.approx(
            steps.log_likelihood(case.point, case.problem), abs=1e-9
        )


@pytest.mark.parametrize("options", [options for options in OPTIONS if options[0] != "one"])
def test_stretch_of_the_unit(case_of, options):
    case = case_of(options)
    along = moves.unit_log_density(case.point, case.problem)
    scaled = N_MODEL + (2 if case.family is not None else 0)
    # difficulties, their mean and scale; or slopes, which shrink
    scaled += -N_ITEM if options[0] == "signed" else N_ITEM
    scaled += 2 if case.hierarchical else 0
    for log_unit in (0.4, -0.9):
        moved = deepcopy(case.point)
        moves.stretch_unit(moved, case.problem, log_unit)
        expected = case.gain(moved) + scaled * log_unit
        assert along(log_unit) - along(0.0) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("family_means", [False, True])
def test_turn_of_the_direction(case_of, family_means):
    case = case_of(("signed", False, family_means))
    turned = deepcopy(case.point)
    for name in ("ability", "first", "family_mean"):
        setattr(turned, name, -getattr(turned, name))
    assert moves.flip_log_ratio(case.point) == pytest.approx(case.gain(turned), abs=1e-9)


@every_option
def test_steps_with_means_and_scales(case_of, options):
    case = case_of(options)
    available = steps.available_steps(case.problem)
    estimated = {name for name in case.sampler.names if name.endswith(("_scale", "_mean"))}
    assert set(available) == estimated - {"family_mean"}
    for name, step in available.items():
        # a scale and what it scales
        size = {"ability_scale": N_MODEL + 1}.get(name, N_ITEM + 1) * name.endswith("_scale")
        for change in (0.3, -0.7):
            moved = step(case.point, case.problem, change)
            expected = case.gain(moved) + size * change
            found = [
                steps.log_likelihood(one, case.problem) + steps.scales_log_prior(one, case.problem)
                for one in (moved, case.point)
            ]
            assert found[0] - found[1] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("options", [options for options in OPTIONS if options[2]])
def test_shift_of_a_family(case_of, options):
    case = case_of(options)
    before = deepcopy(case.point)
    for family, shift in ((0, 0.6), (2, -1.1)):
        moved, gain = steps.shifted_family(case.point, case.problem, family, shift)
        assert gain == pytest.approx(case.gain(moved), abs=1e-9)
        assert moved.family_mean.sum() == pytest.approx(0, abs=1e-12)
    for name in ("ability", "intercept", "family_mean"):
        assert np.array_equal(getattr(case.point, name), getattr(before, name))


class Fixed:
    """A generator whose normal values are given."""

    def __init__(self, *values: float) -> None:
        self.values = np.array(values)

    def standard_normal(self, shape: Any = None) -> Any:
        return self.values if shape is not None else float(self.values[0])


@pytest.mark.parametrize("options", [options for options in OPTIONS if options[2]])
def test_family_means_given_abilities(case_of, options):
    """The draw without noise is the mode; its covariance is the inverse of the curvature there."""
    case = case_of(options)

    def drawn(*noise):
        moved = deepcopy(case.point)
        moves.draw_family_means(moved, case.problem, Fixed(*noise))
        return moved

    mode = drawn(0, 0, 0).family_mean
    spread = np.array([drawn(*row).family_mean - mode for row in np.eye(3)]).T
    basis = np.linalg.svd(np.ones((1, 3)))[2][1:]
    curvature = np.empty((2, 2))

    def density(offset):
        moved = deepcopy(case.point)
        moved.family_mean = mode + offset
        return case.density(moved)

    for i, j in np.ndindex(2, 2):
        curvature[i, j] = -0.25 * sum(
            a * b * density(a * basis[i] + b * basis[j]) for a in (1, -1) for b in (1, -1)
        )
        assert density(basis[i]) == pytest.approx(density(-basis[i]), abs=1e-9)
    covariance = basis @ spread @ spread.T @ basis.T
    assert covariance == pytest.approx(np.linalg.inv(curvature), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("options", [options for options in OPTIONS if options[1]])
def test_means_and_scales_given_items(case_of, options):
    case = case_of(options)
    point, problem = case.point, case.problem
    groups = [("second", point.difficulty(problem), 0.0, 1.1, 0.8)]
    if options[0] == "free":
        groups.append(("first", point.first, 0.2, PRIORS.log_discrimination_mean_sd, 0.5))
    for name, values, mean, mean_sd, median in groups:
        scale = getattr(point, f"{name}_scale")
        drawn = [
            moves.draw_mean(values, scale, mean=mean, sd=mean_sd, rng=Fixed(noise))
            for noise in (-1.0, 0.0, 1.0)
        ]
        heights = []
        for place in drawn:
            moved = deepcopy(point)
            setattr(moved, f"{name}_mean", place)
            heights.append(case.density(moved))
        assert heights[0] - heights[1] == pytest.approx(-0.5)
        assert heights[2] - heights[1] == pytest.approx(-0.5)
        log_density = moves.scale_log_density(
            values - getattr(point, f"{name}_mean"), median=median, log_sd=PRIORS.log_scale_sd
        )
        moved = deepcopy(point)
        setattr(moved, f"{name}_scale", scale * np.exp(0.4))
        found = log_density(np.log(scale) + 0.4) - log_density(np.log(scale))
        assert found == pytest.approx(case.gain(moved) + 0.4)


@pytest.mark.parametrize("copies", [1, 12])
def test_scale_of_abilities_given_abilities(case_of, copies):
    case = case_of(("one", False, True), copies)
    assert case.problem.standard == (copies == 1)
    point = case.point
    log_density = moves.scale_log_density(
        point.ability - point.center(case.problem), median=1.3, log_sd=PRIORS.log_scale_sd
    )
    moved = deepcopy(point)
    moved.ability_scale *= np.exp(0.4)
    found = log_density(np.log(moved.ability_scale)) - log_density(np.log(point.ability_scale))
    assert found == pytest.approx(case.gain(moved) + 0.4)


@every_option
def test_reading_and_writing_are_inverse(case_of, options):
    case = case_of(options)
    state = deepcopy(case.state)
    case.sampler._write(case.sampler.read(state), state)
    for name in case.sampler.names:
        assert state[name] == pytest.approx(case.state[name], rel=1e-12, abs=1e-12)


def chain(sampler: TwoPLSampler, n: int = 30, seed: int = 5) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    state = sampler.start(rng)
    for sweep in range(n):
        sampler.sweep(state, rng, tuning=sweep < n // 2)
    return state


@every_option
def test_same_seed_same_bytes_and_the_state_is_all_there_is(case_of, options):
    sampler = case_of(options).sampler
    first, second = chain(sampler), chain(sampler)
    assert {k: v.tobytes() for k, v in first.items()} == {k: v.tobytes() for k, v in second.items()}
    assert all(value.dtype == np.float64 for value in first.values())
    # a copy of state and generator goes on as the original does
    rng, other = np.random.default_rng(1), np.random.default_rng(1)
    copied = {name: value.copy() for name, value in first.items()}
    for _ in range(3):
        sampler.sweep(first, rng, tuning=True)
        gibbs_two_pl(case_of(options).model).sweep(copied, other, tuning=True)
    assert all(np.array_equal(first[name], copied[name]) for name in first)


def test_order_of_rows_and_columns_changes_nothing():
    responses = leaderboard(missing=True)
    items, columns = np.arange(N_ITEM)[::-1], np.array([3, 0, 6, 1, 5, 2, 4])
    turned = Responses.build(
        responses.values[np.ix_(items, columns)],
        items=responses.items.iloc[items],
        models=responses.models.iloc[columns],
    )
    first, second = (
        chain(gibbs_two_pl(build_two_pl(one, family_means=True))) for one in (responses, turned)
    )
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_nothing_adapts_after_tuning(case_of):
    case = case_of(("free", True, True))
    state, rng = chain(case.sampler), np.random.default_rng(1)
    before = {name: value.copy() for name, value in state.items()}
    case.sampler.sweep(state, rng, tuning=False)
    changed = {name for name in state if not np.array_equal(state[name], before[name])}
    assert changed == {*case.sampler.names, "_tally"}
    shares = case.sampler.counts(state)
    assert all(0 <= share <= 1 for share in shares.values())
    assert {"accepted_ability", "accepted_item", "accepted_family_mean"} <= set(shares)


@pytest.mark.parametrize("discrimination", ["free", "one", "signed"])
def test_extreme_answers_and_starts(discrimination):
    """A test of one item, answers all right or wrong or none, starts far away."""
    values = np.full((40, 6), -1, dtype=np.int8)
    values[:, 0], values[:, 1], values[0, 2] = 1, 0, 1
    responses = Responses.build(
        values, items=[f"q{i:02d}" for i in range(40)], models=[f"m{m}" for m in range(6)]
    )
    sampler = gibbs_two_pl(build_two_pl(responses, discrimination=discrimination))
    rng = np.random.default_rng(1)
    state = sampler.start(rng)
    for name in ("ability", "difficulty", "easiness"):
        if name in state:
            state[name][...] = 60.0
    for name in ("_anchor_ability", "_anchor_intercept", "_anchor_first"):
        state[name][...] = -25.0
    for _ in range(60):
        sampler.sweep(state, rng, tuning=False)
    assert all(np.isfinite(state[name]).all() for name in sampler.names)
    assert np.abs(state["ability"]).max() < 20


@pytest.mark.parametrize("size", [1e2, 1e25, 1e200, 1e306])
def test_logits_beyond_measure_are_never_likely(case_of, size):
    """The difference of two huge sums must not pass for a likelihood."""
    case = case_of(("free", True, True))
    sums = np.array([3.0, 1.0]), np.array([0.5, -0.2])
    found = [
        kernel.value_log_density(size, 3.0, *sums, 0.0, 1.0)[0],
        item_kernel.item_log_density(
            np.log(size),
            1.0,
            (1.0, 1.0),
            np.array([2.0, -1.0]),
            case.point.item_prior(case.problem),
        )[0],
        kernel.log_likelihood_along(
            np.full(N_MODEL, size),
            np.ones(N_ITEM),
            np.zeros(N_ITEM),
            np.arange(N_MODEL),
            case.problem.by_model,
        ),
    ]
    assert all(value <= 0.0 for value in found)
    assert all(np.isneginf(value) for value in found) == (size > 1e9)


def test_other_models_and_options_are_refused():
    from neartie.data.battles import Battles

    battles = Battles.build(["a", "b", "c"], ["b", "c", "a"], ["a", "a", "b"])
    with pytest.raises(ValueError, match="kind 'two-pl', got 'bradley-terry'"):
        gibbs_two_pl(build_bradley_terry(battles))
    model = build_two_pl(leaderboard(missing=False))
    record = model.neartie.to_dict()
    record["options"] = {**record["options"], "guessing": True}
    model.neartie = ModelRecord(**record)
    with pytest.raises(ValueError, match="does not know the option 'guessing'; use engine='nuts'"):
        gibbs_two_pl(model)
    with pytest.raises(TypeError, match="carries no record"):
        gibbs_two_pl(object())
