"""Draws around the joint mode: the whole curvature, reported errors, rotations, laws, errors."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from neartie.data.errors import ConvergenceError, DataError
from neartie.data.responses import Responses
from neartie.inference.mirt_curvature import CurvatureRoot
from neartie.inference.mirt_dif_map import fit_mirt_dif_map
from neartie.inference.mirt_laplace_draws import draw_around_mode, draw_mirt_laplace
from neartie.inference.mirt_newton import MirtSummit
from neartie.inference.mirt_objective import PenalisedMirt, Point, curved, evaluate
from neartie.inference.mirt_scales import MirtDifScales

SCALES = MirtDifScales(loading_scale=0.9, easiness_mean=0.2, easiness_scale=1.2, dif_scale=0.4)
ZERO_SUMS = ["families", "families_and_items"]


def simulate(n_item, n_model, seed, *, n_family=3, share=0.85):
    rng = np.random.default_rng(seed)
    family = np.arange(n_model) % n_family
    dif = 0.4 * rng.normal(size=(n_item, n_family))
    dif -= dif.mean(axis=1, keepdims=True)
    predictor = rng.normal(size=(n_item, 2)) @ rng.normal(size=(2, n_model))
    predictor += rng.normal(size=(n_item, 1)) + dif[:, family]
    values = (rng.random(predictor.shape) < expit(predictor)).astype(np.int8)
    values[rng.random(values.shape) >= share] = -1
    models = pd.DataFrame(
        {"model": [f"m{m:03d}" for m in range(n_model)], "family": [f"f{f}" for f in family]}
    )
    return Responses.build(values, items=[f"q{i:04d}" for i in range(n_item)], models=models)


@pytest.fixture(scope="module")
def data():
    return simulate(14, 21, 1)


@pytest.fixture(scope="module", params=ZERO_SUMS)
def mode(request, data):
    options = {"scales": SCALES, "zero_sum": request.param, "errors": "joint"}
    return fit_mirt_dif_map(data, dimension=2, **options)


def at(data, mode):
    """The objective and the mode's place."""
    problem = SCALES.hold(
        PenalisedMirt.of(
            data.values == 1,
            data.observed,
            mode.family,
            dimension=mode.dimension,
            sums_over_items=mode.zero_sum == "families_and_items",
        )
    )
    point = Point(
        item=np.hstack([mode.loading, mode.easiness[:, None], mode.dif @ problem.basis]),
        ability=mode.ability,
    )
    state = evaluate(problem, point)
    ended = {"n_iterations": 0, "n_products": 0, "largest_slope": 0.0}
    return problem, MirtSummit(point=point, state=state, **ended)


def said(problem, point, moved):
    """First-order change of easiness, effects and predictor when parameters move."""
    k = problem.dimension
    predictor = moved.item @ problem.design(point.ability) + point.item[:, :k] @ moved.ability
    return np.concatenate(
        [moved.item[:, k], (moved.item[:, k + 1 :] @ problem.basis.T).ravel(), predictor.ravel()]
    )


def covariance_of_draws(problem, summit):
    """Exact: what the root makes of every standard normal number, one at a time."""
    root = CurvatureRoot.at(problem, summit)
    n_ability, shape = summit.point.ability.size, summit.point.item.shape
    still, none = np.zeros(summit.point.ability.shape), np.zeros(shape)
    columns = []
    for away in root.abilities(np.eye(n_ability)):
        moved = Point(item=root.items(away, none), ability=away)
        columns.append(said(problem, summit.point, moved))
    for unit in np.eye(none.size):
        moved = Point(item=root.items(still, unit.reshape(shape)), ability=still)
        columns.append(said(problem, summit.point, moved))
    jacobian = np.array(columns).T
    return jacobian @ jacobian.T


def test_covariance_is_that_of_the_whole_curvature(data, mode):
    """Dense: all second derivatives, inverted but for the one rotation."""
    problem, summit = at(data, mode)
    point, shape = summit.point, summit.point.item.shape
    size = point.item.size + point.ability.size

    def shaped(vector):
        item, ability = np.split(vector, [point.item.size])
        return Point(item=item.reshape(shape), ability=ability.reshape(point.ability.shape))

    bent = [curved(problem, point, summit.state, shaped(unit)) for unit in np.eye(size)]
    hessian = np.array([np.concatenate([b.item.ravel(), b.ability.ravel()]) for b in bent])
    free = np.eye(size)
    if problem.sums_over_items:
        sums = np.zeros((2, size))
        for effect in range(2):
            sums[effect, np.arange(data.n_item) * shape[1] + 3 + effect] = 1
        free = np.linalg.svd(sums)[2][2:].T
    curvature, axes = np.linalg.eigh(free.T @ hessian @ free)
    assert curvature[0] < 1e-7 < curvature[1]
    axes = free @ axes[:, 1:] / np.sqrt(curvature[1:])
    expected = np.array([said(problem, point, shaped(axis)) for axis in axes.T]).T
    found = covariance_of_draws(problem, summit)
    np.testing.assert_allclose(found, expected @ expected.T, atol=1e-8)


def test_covariance_is_that_of_the_reported_errors(data, mode):
    problem, summit = at(data, mode)
    covariance = covariance_of_draws(problem, summit)
    n_item, n_model = data.values.shape
    se = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(se[:n_item], mode.easiness_se, atol=1e-9)
    np.testing.assert_allclose(se[n_item : 4 * n_item], mode.dif_se.ravel(), atol=1e-9)
    chance = expit(mode.linear_predictor())
    weights = np.zeros((n_model, n_item, n_model))
    for m in range(n_model):
        weights[m, :, m] = (chance * (1 - chance))[:, m] / n_item
    weights = weights.reshape(n_model, -1)
    of_scores = weights @ covariance[4 * n_item :, 4 * n_item :] @ weights.T
    np.testing.assert_allclose(of_scores, mode.covariance, atol=1e-10)


def test_drawn_items_have_the_reported_errors(data, mode):
    n = 4000
    drawn = draw_around_mode(data, mode, draws=n, rng=1)
    # 14 means and 42 effects by 5 standard errors; a standard deviation's is 1/sqrt(2n)
    away = (drawn.easiness.mean(axis=0) - mode.easiness) / mode.easiness_se
    assert np.abs(away).max() < 5 / np.sqrt(n)
    assert np.abs(drawn.easiness.std(axis=0) / mode.easiness_se - 1).max() < 5 / np.sqrt(2 * n)
    assert np.abs(drawn.effects.std(axis=0) / mode.dif_se - 1).max() < 5 / np.sqrt(2 * n)
    away = (drawn.effects.mean(axis=0) - mode.dif) / mode.dif_se
    assert np.abs(away).max() < 5 / np.sqrt(n)


def test_scores_of_draws_spread_as_the_delta_method_says_where_answers_are_many():
    data = simulate(150, 90, 2, share=1.0)
    mode = fit_mirt_dif_map(data, dimension=2, errors="joint")
    n = 400
    drawn = draw_around_mode(data, mode, draws=n, rng=3)
    scores = np.array([expit(drawn.linear_predictor(s)).mean(axis=0) for s in range(n)])
    # the delta method leaves out the curvature of logistic and product: a tenth at this size
    ratio = scores.std(axis=0) / mode.se
    assert np.median(ratio) == pytest.approx(1, abs=0.1)
    assert np.abs(ratio - 1).max() < 0.1 + 5 / np.sqrt(2 * n)
    assert np.abs(scores.mean(axis=0) - mode.expected_score).max() < 0.5 * mode.se.max()


def test_axes_of_the_mode_change_nothing_that_is_delivered(data, mode):
    """Turned axes give the same covariance to first order, and the same second-order shift."""
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(2, 2)))[0]
    turned = dataclasses.replace(mode, ability=turn.T @ mode.ability, loading=mode.loading @ turn)
    one, two = (covariance_of_draws(*at(data, fit)) for fit in (mode, turned))
    np.testing.assert_allclose(two, one, atol=1e-9)

    def shifts(fit):
        """Expectations of drawn loadings times drawn abilities, less those of the mode."""
        problem, summit = at(data, fit)
        root = CurvatureRoot.at(problem, summit)
        aways = root.abilities(np.eye(summit.point.ability.size))
        none = np.zeros(summit.point.item.shape)
        return sum(root.items(away, none)[:, :2] @ away for away in aways)

    np.testing.assert_allclose(shifts(turned), shifts(mode), atol=1e-9)


def test_no_draw_has_a_part_along_a_rotation(data, mode):
    drawn = draw_around_mode(data, mode, draws=20, rng=2)
    generator = np.array([[0.0, -1.0], [1.0, 0.0]]) @ mode.ability
    along = np.einsum("skm,km->s", drawn.ability - mode.ability, generator)
    assert np.abs(along).max() < 1e-10 * np.abs(generator).sum()


def test_sums_are_zero_and_predictor_is_the_sum_of_its_parts(data, mode):
    drawn = draw_around_mode(data, mode, draws=5, rng=2)
    assert np.abs(drawn.effects.sum(axis=2)).max() < 1e-12
    if mode.zero_sum == "families_and_items":
        assert np.abs(drawn.effects.sum(axis=1)).max() < 1e-12
    whole, chosen = drawn.linear_predictor(3), np.array([4, 0])
    np.testing.assert_array_equal(drawn.linear_predictor(3, models=chosen), whole[:, chosen])
    expected = drawn.loading[3] @ drawn.ability[3] + drawn.easiness[3][:, None]
    expected += drawn.effects[3][:, mode.family]
    np.testing.assert_allclose(whole, expected, atol=1e-12)


def test_order_of_rows_and_columns_changes_no_bit(data):
    rng = np.random.default_rng(4)
    mixed = data.take(items=rng.permutation(data.n_item), models=rng.permutation(data.n_model))
    options = {"dimension": 2, "scales": SCALES, "draws": 6, "rng": 9}
    one, two = draw_mirt_laplace(data, **options), draw_mirt_laplace(mixed, **options)
    for s in range(6):
        np.testing.assert_array_equal(one.linear_predictor(s), two.linear_predictor(s))
    assert one.facts["draws"] == one.n_draw == 6
    assert one.facts["converged"]


def test_fewer_draws_are_the_first_of_more(data, mode):
    more, fewer = (draw_around_mode(data, mode, draws=n, rng=9) for n in (7, 3))
    # products of matrices of other sizes differ in the last digits
    np.testing.assert_allclose(fewer.loading, more.loading[:3], atol=1e-12)
    np.testing.assert_allclose(fewer.ability, more.ability[:3], atol=1e-12)


def test_a_silent_model_and_a_constant_item_rest_on_the_prior():
    data = simulate(30, 20, 6, share=1.0)
    values = data.values.copy()
    values[0], values[:, 3] = 1, -1
    data = Responses.build(values, items=data.item_ids, models=data.models)
    mode = fit_mirt_dif_map(data, dimension=1, scales=SCALES)
    drawn = draw_around_mode(data, mode, draws=4000, rng=7)
    # nothing is known of its ability but the prior's standard deviation of one
    assert drawn.ability[:, 0, 3].std() == pytest.approx(1, abs=5 / np.sqrt(8000))
    assert np.isfinite(drawn.easiness).all()


def test_what_cannot_be_is_refused(data):
    mode = fit_mirt_dif_map(data, dimension=2, scales=SCALES, errors="known")
    with pytest.raises(ValueError, match="draws must be at least 1, got 0"):
        draw_around_mode(data, mode, draws=0)
    with pytest.raises(DataError, match="the mode is of 14 items and 21 models"):
        draw_around_mode(data.take(items=np.arange(13)), mode)
    with pytest.raises(DataError, match=r"needs .* MB of memory"):
        draw_around_mode(data, mode, draws=10**9)
    # at no abilities and loadings the curvature is that of a saddle
    saddle = dataclasses.replace(
        mode,
        ability=0 * mode.ability,
        loading=0 * mode.loading,
        scales=dataclasses.replace(SCALES, loading_scale=3.0),
    )
    with pytest.raises(ConvergenceError, match="not that of a maximum"):
        draw_around_mode(data, saddle)
