"""The penalised multidimensional likelihood: derivatives, constraint, agreement with its twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neartie.inference.mirt_objective import (
    CELLS,
    PenalisedMirt,
    Point,
    curved,
    evaluate,
    item_blocks,
    model_blocks,
    zero_sum_basis,
)
from neartie.models.mirt_dif_density import mirt_dif_log_density
from neartie.models.priors import MirtDifPriors

SCALES = {"loading": 0.7, "easiness_mean": 0.4, "easiness": 1.3, "dif": 0.45}


def problem_of(seed, n_item=5, n_model=7, n_family=3, dimension=2, *, sums=False):
    rng = np.random.default_rng(seed)
    family = np.arange(n_model) % n_family
    observed = rng.random((n_item, n_model)) < 0.8
    right = rng.random((n_item, n_model)) < 0.5
    problem = PenalisedMirt.of(right, observed, family, dimension=dimension, sums_over_items=sums)
    problem = problem.with_scales(**SCALES)
    item = rng.normal(size=(n_item, dimension + n_family))
    if sums:
        item[:, dimension + 1 :] -= item[:, dimension + 1 :].mean(axis=0)
    return problem, Point(item=item, ability=rng.normal(size=(dimension, n_model))), family


def flat(point):
    return np.concatenate([point.item.ravel(), point.ability.ravel()])


def shaped(vector, like):
    cut = like.item.size
    return Point(
        item=vector[:cut].reshape(like.item.shape),
        ability=vector[cut:].reshape(like.ability.shape),
    )


@given(st.integers(2, 9))
def test_basis_is_orthonormal_and_sums_to_zero(n_family):
    basis = zero_sum_basis(n_family)
    np.testing.assert_allclose(basis.T @ basis, np.eye(n_family - 1), atol=1e-12)
    np.testing.assert_allclose(basis.sum(axis=0), 0, atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_gradient_and_curvature_are_those_of_finite_differences(seed):
    problem, point, _ = problem_of(seed)
    vector, width = flat(point), 1e-5
    state = evaluate(problem, point)
    slopes, bends = [], []
    for unit in np.eye(len(vector)):
        ahead = evaluate(problem, shaped(vector + width * unit, point))
        behind = evaluate(problem, shaped(vector - width * unit, point))
        slopes.append((ahead.value - behind.value) / (2 * width))
        bends.append((flat(ahead.gradient) - flat(behind.gradient)) / (2 * width))
    np.testing.assert_allclose(flat(state.gradient), slopes, atol=1e-7)
    whole = [
        flat(curved(problem, point, state, shaped(unit, point))) for unit in np.eye(len(vector))
    ]
    np.testing.assert_allclose(whole, bends, atol=1e-7)
    q, k = point.item.shape[1], problem.dimension
    for i, block in enumerate(item_blocks(problem, state)):
        mine = slice(i * q, (i + 1) * q)
        np.testing.assert_allclose(np.array(whole)[mine, mine], block, atol=1e-10)
    for m, block in enumerate(model_blocks(problem, point, state)):
        mine = [point.item.size + axis * problem.n_model + m for axis in range(k)]
        np.testing.assert_allclose(np.array(whole)[np.ix_(mine, mine)], block, atol=1e-10)


@pytest.mark.parametrize("sums", [False, True])
def test_value_is_minus_the_log_density_of_the_model(sums):
    """Up to a constant: differences between points, with the scales held."""
    values = []
    for scale in (1.0, 0.3):
        problem, point, family = problem_of(3, sums=sums)
        moved = Point(item=scale * point.item, ability=scale * point.ability)
        effects = moved.item[:, 3:] @ problem.basis.T
        answers = np.where(problem.observed, problem.right, -1).astype(np.int8)
        terms = mirt_dif_log_density(
            {
                "ability": moved.ability,
                "loading": moved.item[:, :2],
                "loading_scale": np.array(SCALES["loading"]),
                "easiness": moved.item[:, 2],
                "easiness_mean": np.array(SCALES["easiness_mean"]),
                "easiness_scale": np.array(SCALES["easiness"]),
                "dif_scale": np.array(SCALES["dif"]),
                "dif_standard": effects / SCALES["dif"],
            },
            answers,
            family=family,
            priors=MirtDifPriors(),
            zero_sum="families_and_items" if sums else "families",
        )
        values.append((evaluate(problem, moved).value, sum(terms.values())))
    (one, density_of_one), (two, density_of_two) = values
    assert one - two == pytest.approx(density_of_two - density_of_one, abs=1e-9)


def test_gradient_stays_along_the_constraint():
    problem, point, _ = problem_of(4, sums=True)
    effects = evaluate(problem, point).gradient.item[:, 3:]
    np.testing.assert_allclose(effects.sum(axis=0), 0, atol=1e-12)


def test_blocks_of_items_change_no_sum(monkeypatch):
    problem, point, _ = problem_of(5, n_item=40)
    assert problem.right.size < CELLS
    whole = evaluate(problem, point)
    monkeypatch.setattr("neartie.inference.mirt_objective.CELLS", 3 * problem.n_model)
    parts = evaluate(problem, point)
    assert parts.value == pytest.approx(whole.value, rel=1e-14)
    np.testing.assert_allclose(flat(parts.gradient), flat(whole.gradient), atol=1e-12)


def test_extreme_logits_stay_finite():
    problem, point, _ = problem_of(6)
    far = Point(item=1e4 * point.item, ability=point.ability)
    state = evaluate(problem, far)
    assert np.isfinite(state.value)
    assert np.abs(state.residual).max() <= 1
    assert state.weight.min() >= 0
