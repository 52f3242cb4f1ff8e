"""Densities that the Gibbs sampler of Bradley–Terry models draws from are those of the model."""

import numpy as np
import pytest

from neartie.inference.gibbs_battle_effects import _shared_prior
from neartie.inference.gibbs_battle_gaussian import add_rows, gather_judges
from neartie.inference.gibbs_battle_kernel import factors_of, likelihood_along
from neartie.inference.gibbs_battle_scales import (
    SCALES,
    scale_density,
    scale_direction,
    tie_density,
)
from neartie.models.bradley_terry_density import logits, row_log_likelihood

# What the joint normal draw is conditional on.
CONDITIONS = ("strength_scale", "log_tie", "judge_first_shown_scale", "judge_strength_scale")


def points(setup, seed=3):
    rng = np.random.default_rng(seed)
    return setup.prior(rng), setup.prior(rng)


@pytest.mark.parametrize("tie", [-1.0, 0.5, 0.9, 2.0])
@pytest.mark.parametrize("ties", ["half", "davidson", "rao-kupper"])
def test_factors_are_the_likelihood(battle_setups, ties, tie):
    design = battle_setups["half"].design
    tie = abs(tie) if ties == "rao-kupper" else tie
    factors = factors_of(ties, design.outcome, tie)
    rng = np.random.default_rng(1)
    nothing = np.zeros(len(design.first))
    values = []
    for _ in range(2):
        point = {"strength": rng.normal(size=4) * 2, "log_tie": tie}
        logit = logits(point, design)
        values.append(
            likelihood_along(1.0, nothing, logit, factors)
            - row_log_likelihood(point, design, ties=ties).sum()
        )
    assert values[0] == pytest.approx(values[1], abs=1e-10)


def normal_terms(setup, state, precision, linear):
    """Prior and likelihood given weights, from the plain description."""
    logit = logits(state, setup.design)[setup.order]
    prior = setup.log_prior(state)
    return prior + linear @ logit - 0.5 * precision @ logit**2


@pytest.mark.parametrize("name", ["half", "half, scale", "davidson", "rao-kupper"])
def test_joint_normal_density_is_prior_plus_weighted_rows(battle_setups, name):
    setup = battle_setups[name]
    problem, rng = setup.sampler.problem, np.random.default_rng(2)
    n_row = len(problem.rows.first)
    precision, linear = rng.gamma(2.0, size=n_row), rng.normal(size=n_row)
    first, second = points(setup)
    values = []
    for state in (first, {**second, **{k: first[k] for k in first if k in CONDITIONS}}):
        point = setup.sampler.read(state)
        matrix, vector = _shared_prior(point, problem)
        shown_at = 4 if problem.first_shown else -1
        rows = problem.rows
        add_rows(
            rows, 0, n_row, rows.first, rows.second, shown_at, precision, linear, matrix, vector
        )
        effect = [point.shown_effect] if problem.first_shown else []
        shared = np.concatenate([point.strength, effect, point.slope])
        whole = np.triu(matrix) + np.triu(matrix, 1).T
        normal = vector @ shared - 0.5 * shared @ whole @ shared
        values.append(normal - normal_terms(setup, state, precision, linear))
    assert values[0] == pytest.approx(values[1], abs=1e-9)


@pytest.mark.parametrize("name", ["all", "half, judges"])
def test_judges_integrated_out_leave_the_density_of_the_others(battle_setups, name):
    setup = battle_setups[name]
    problem, rng = setup.sampler.problem, np.random.default_rng(2)
    rows, n_row, n_judge = problem.rows, len(problem.rows.first), problem.n_judge
    precision, linear = rng.gamma(2.0, size=n_row), rng.normal(size=n_row)
    point = setup.sampler.read(setup.prior(rng))
    scales = np.array([point.deviation_scale, point.advantage_scale])
    shown_at = 4 if problem.first_shown else -1
    matrix, vector = _shared_prior(point, problem)
    n = len(vector)
    # the plain way: all unknowns in one matrix, then the Schur complement
    n_own = 5 if problem.first_shown else 4
    size = n + n_judge * n_own
    design = np.zeros((n_row, size))
    for r in range(n_row):
        a, b, judge = rows.first[r], rows.second[r], rows.judge[r]
        blocks = [0] if judge < 0 else [0, n + judge * n_own]
        for start in blocks:
            design[r, start + a] += 1.0
            design[r, start + b] -= 1.0
            if problem.first_shown:
                design[r, start + 4] += rows.shown[r]
    own = np.repeat(scales**-2.0, [4, 1])[:n_own]
    whole = np.diag(np.concatenate([np.zeros(n), np.tile(own, n_judge)]))
    whole[:n, :n] = np.triu(matrix) + np.triu(matrix, 1).T
    whole += design.T @ (precision[:, None] * design)
    lean = design.T @ linear
    inner = np.linalg.solve(whole[n:, n:], np.column_stack([whole[n:, :n], lean[n:]]))
    expected = whole[:n, :n] - whole[:n, n:] @ inner[:, :-1]
    expected_lean = lean[:n] - whole[:n, n:] @ inner[:, -1]

    stop = int(problem.judges.rows[1])
    add_rows(rows, 0, stop, rows.first, rows.second, shown_at, precision, linear, matrix, vector)
    gather_judges(rows, problem.judges, shown_at, precision, linear, scales**-2.0, matrix, vector)
    assert np.triu(matrix) == pytest.approx(np.triu(expected), abs=1e-9)
    assert vector == pytest.approx(expected_lean, abs=1e-9)


@pytest.mark.parametrize("scale", SCALES)
def test_scale_density_is_that_of_the_model(battle_setup, scale):
    sampler = battle_setup.sampler
    problem, (state, _) = sampler.problem, points(battle_setup)
    point = sampler.read(state)
    direction = scale_direction(point, problem, scale)
    names = {
        "strength_scale": "strength_scale",
        "deviation_scale": "judge_strength_scale",
        "advantage_scale": "judge_first_shown_scale",
    }
    assert (direction is None) == (names[scale] not in sampler.names)
    if direction is None:
        return
    factors = factors_of(problem.ties, problem.outcome, point.tie)
    fixed = point.logits(problem) - direction
    density = scale_density(scale, getattr(point, scale), problem, fixed, direction, factors)
    step = 0.37
    moved = {**state, names[scale]: state[names[scale]] * np.exp(step)}
    jacobian = step
    if scale == "strength_scale":
        # the strengths go along: three dimensions for four that sum to zero
        free = "residual_strength" if "residual_strength" in state else "strength"
        moved[free] = state[free] * np.exp(step)
        jacobian = 4 * step
    expected = battle_setup.density(moved) + jacobian - battle_setup.density(state)
    assert density(step) - density(0.0) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", ["davidson", "rao-kupper", "all"])
def test_tie_density_is_that_of_the_model(battle_setups, name):
    setup = battle_setups[name]
    sampler, (state, _) = setup.sampler, points(setup)
    point = sampler.read(state)
    density = tie_density(sampler.problem, point.logits(sampler.problem))
    for value in (-0.7, 0.2, 1.1):
        threshold = setup.ties == "rao-kupper"
        tie = np.exp(value) if threshold else value
        start = np.log(point.tie) if threshold else point.tie
        expected = setup.density({**state, "log_tie": tie}) - setup.density(state)
        expected += value - start if threshold else 0.0
        assert density(value) - density(start) == pytest.approx(expected, abs=1e-9)
