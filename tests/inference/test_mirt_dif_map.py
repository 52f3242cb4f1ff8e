"""The joint mode of the multidimensional model: the model's own gradient, laws, bare answers."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from neartie.data.responses import Responses
from neartie.inference.mirt_dif_map import fit_mirt_dif_map
from neartie.inference.mirt_scales import MirtDifScales


def penalised(data, fit):
    """The negative log density over whole effects, written apart from the engine."""
    right, seen = data.values == 1, data.observed
    n_item, n_model = right.shape
    k, n_family, scales = fit.dimension, len(fit.families), fit.scales
    indicator = np.eye(n_family)[fit.family]
    cuts = np.cumsum([k * n_model, k * n_item, n_item])

    def parts(vector):
        ability, loading, easiness, dif = np.split(vector, cuts)
        dif = dif.reshape(n_item, n_family)
        dif = dif - dif.mean(axis=1, keepdims=True)
        if fit.zero_sum == "families_and_items":
            dif = dif - dif.mean(axis=0)
        return ability.reshape(k, n_model), loading.reshape(n_item, k), easiness, dif

    def value(vector):
        ability, loading, easiness, dif = parts(vector)
        logit = loading @ ability + easiness[:, None] + dif @ indicator.T
        away = easiness - scales.easiness_mean
        total = (seen * (np.logaddexp(0, logit) - right * logit)).sum()
        total += 0.5 * (ability**2).sum() + 0.5 * (loading**2).sum() / scales.loading_scale**2
        total += 0.5 * (away**2).sum() / scales.easiness_scale**2
        total += 0.5 * (dif**2).sum() / scales.dif_scale**2
        miss = seen * (expit(logit) - right)
        of_dif = miss @ indicator + dif / scales.dif_scale**2
        of_dif = of_dif - of_dif.mean(axis=1, keepdims=True)
        if fit.zero_sum == "families_and_items":
            of_dif = of_dif - of_dif.mean(axis=0)
        gradient = [
            loading.T @ miss + ability,
            miss @ ability.T + loading / scales.loading_scale**2,
            miss.sum(axis=1) + away / scales.easiness_scale**2,
            of_dif,
        ]
        return total, np.concatenate([g.ravel() for g in gradient])

    def predictor(vector):
        ability, loading, easiness, dif = parts(vector)
        return loading @ ability + easiness[:, None] + dif @ indicator.T

    return value, predictor, int(cuts[-1]) + n_item * n_family


@pytest.mark.parametrize("zero_sum", ["families", "families_and_items"])
@pytest.mark.parametrize("seed", [1, 2])
def test_an_independent_optimiser_ends_there(small_mirt, mirt_scales, zero_sum, seed):
    fit = fit_mirt_dif_map(small_mirt, dimension=2, scales=mirt_scales, zero_sum=zero_sum)
    value, predictor, size = penalised(small_mirt, fit)
    found = minimize(
        value,
        np.random.default_rng(seed).normal(size=size),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 0, "gtol": 1e-9, "maxcor": 50},
    )
    np.testing.assert_allclose(predictor(found.x), fit.linear_predictor(), atol=1e-5)
    assert found.fun == pytest.approx(-fit.log_posterior, abs=1e-9)


@pytest.mark.parametrize("zero_sum", ["families", "families_and_items"])
def test_the_models_own_gradient_vanishes_there(simulate_mirt, zero_sum):
    """Of the PyMC model with its scales held at those of the mode."""
    import pytensor.tensor as pt

    from neartie.models.mirt_dif import build_mirt_dif

    data = simulate_mirt(7, 9, 2, share=0.9)[0]
    fit = fit_mirt_dif_map(data, dimension=2, zero_sum=zero_sum)
    model = build_mirt_dif(data, dimension=2, zero_sum=zero_sum)
    point = {
        "ability": fit.ability,
        "loading": fit.loading,
        "easiness": fit.easiness,
        "dif_standard": fit.dif / fit.scales.dif_scale,
        **fit.scales.to_dict(),
    }
    start = {}
    for variable in model.free_RVs:
        transform, value = model.rvs_to_transforms[variable], np.asarray(point[variable.name])
        if transform is not None:
            value = transform.forward(pt.as_tensor(value), *variable.owner.inputs)
            value = value.eval(mode="FAST_COMPILE")
        start[model.rvs_to_values[variable].name] = value
    held = [v for v in model.free_RVs if v.name in ("ability", "loading", "easiness")]
    held.append(model["dif_standard"])
    slope = model.compile_dlogp(vars=held, mode="FAST_COMPILE")(start)
    np.testing.assert_allclose(slope, 0, atol=1e-6)


def test_sums_are_zero_and_predictor_is_the_sum_of_its_parts(small_mirt):
    for zero_sum in ("families", "families_and_items"):
        fit = fit_mirt_dif_map(small_mirt, dimension=2, zero_sum=zero_sum)
        np.testing.assert_allclose(fit.dif.sum(axis=1), 0, atol=1e-12)
        if zero_sum == "families_and_items":
            np.testing.assert_allclose(fit.dif.sum(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(
            fit.expected_score, expit(fit.linear_predictor()).mean(axis=0), atol=1e-12
        )
        assert (np.diff(np.square(fit.ability).sum(axis=1)) <= 0).all()
        assert (fit.loading.sum(axis=0) >= 0).all()


def test_order_of_rows_and_columns_changes_no_bit(small_mirt):
    rng = np.random.default_rng(4)
    mixed = small_mirt.take(
        items=rng.permutation(small_mirt.n_item), models=rng.permutation(small_mirt.n_model)
    )
    one, two = fit_mirt_dif_map(small_mirt, dimension=2), fit_mirt_dif_map(mixed, dimension=2)
    assert one.table().equals(two.table())
    assert one.item_table().equals(two.item_table())
    assert one.dif_table().equals(two.dif_table())


def test_turning_all_answers_round_turns_all_signs(small_mirt, mirt_scales):
    values = np.where(small_mirt.observed, 1 - small_mirt.values, -1).astype(np.int8)
    turned = Responses.build(values, items=small_mirt.item_ids, models=small_mirt.models)
    around = MirtDifScales(**{**mirt_scales.to_dict(), "easiness_mean": -mirt_scales.easiness_mean})
    one = fit_mirt_dif_map(small_mirt, dimension=2, scales=mirt_scales)
    two = fit_mirt_dif_map(turned, dimension=2, scales=around)
    np.testing.assert_allclose(two.linear_predictor(), -one.linear_predictor(), atol=1e-6)
    np.testing.assert_allclose(two.se, one.se, atol=1e-8)
    np.testing.assert_allclose(two.dif, -one.dif, atol=1e-6)


def test_all_items_twice_is_the_same_with_answers_counted_twice(small_mirt, mirt_scales):
    """Copies of an item have the same estimates."""
    twice = Responses.build(
        np.vstack([small_mirt.values, small_mirt.values]),
        items=[*small_mirt.item_ids, *(f"z{i}" for i in small_mirt.item_ids)],
        models=small_mirt.models,
    )
    fit = fit_mirt_dif_map(twice, dimension=2, scales=mirt_scales)
    n = small_mirt.n_item
    np.testing.assert_allclose(fit.easiness[:n], fit.easiness[n:], atol=1e-6)
    np.testing.assert_allclose(fit.dif[:n], fit.dif[n:], atol=1e-6)


def test_more_dimensions_than_the_answers_carry_stay_empty(simulate_mirt):
    """Where no singular value of the residuals exceeds the penalty, K does not matter."""
    data = simulate_mirt(12, 8, 5)[0]
    tight = MirtDifScales(loading_scale=0.3, easiness_mean=0.0, easiness_scale=1.5, dif_scale=0.3)
    few = fit_mirt_dif_map(data, dimension=8, scales=tight)
    many = fit_mirt_dif_map(data, dimension=128, scales=tight, errors="known")
    np.testing.assert_allclose(many.linear_predictor(), few.linear_predictor(), atol=1e-6)
    residual = data.values - expit(few.linear_predictor())
    assert np.linalg.norm(residual, 2) <= 1 / 0.3 + 1e-6
    assert "of 128 dimensions hold nothing at the mode" in " ".join(many.notices)
    assert many.is_maximum


@pytest.mark.parametrize(("n_item", "n_model", "dimension"), [(1, 2, 1), (3, 2, 4), (2, 30, 2)])
def test_small_shapes_have_a_mode(simulate_mirt, n_item, n_model, dimension):
    data = simulate_mirt(n_item, n_model, 6, n_family=2)[0]
    fit = fit_mirt_dif_map(data, dimension=dimension)
    assert fit.converged
    assert np.isfinite(fit.se).all()
    assert (fit.se >= fit.se_items_known - 1e-12).all()


def test_silent_items_and_models_rest_on_the_prior(mirt_scales, simulate_mirt):
    values = simulate_mirt(10, 12, 7)[0].values.copy()
    values[0], values[1], values[:, 3] = 1, -1, -1
    values[1, 0] = 1
    models = simulate_mirt(10, 12, 7)[0].models
    data = Responses.build(values, items=[f"q{i:04d}" for i in range(10)], models=models)
    fit = fit_mirt_dif_map(data, dimension=1, scales=mirt_scales)
    assert fit.flags[:2] == ("prior only: every answer right", "prior only: one answer")
    assert "'q0000'" in " ".join(fit.notices)
    assert "'m003'" in " ".join(fit.notices)
    # Nothing is known of it but that its ability comes from the prior, whose mean is 0.
    np.testing.assert_allclose(fit.ability[:, 3], 0, atol=1e-9)
    assert fit.n[3] == 0
    own = expit(fit.linear_predictor()[:, 3])
    slope = (own * (1 - own)) @ fit.loading[:, 0] / 10
    assert fit.se_items_known[3] == pytest.approx(abs(slope), abs=1e-9)


def test_constant_answers_have_a_mode(mirt_scales):
    models = pd.DataFrame({"model": list("abcd"), "family": list("xyxy")})
    data = Responses.build(np.ones((3, 4), dtype=np.int8), items=list("pqr"), models=models)
    fit = fit_mirt_dif_map(data, dimension=2, scales=mirt_scales)
    assert fit.converged
    np.testing.assert_allclose(fit.expected_score, fit.expected_score[0], atol=1e-8)
