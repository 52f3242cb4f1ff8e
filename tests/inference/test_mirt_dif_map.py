"""The joint mode of the multidimensional model: the model's own gradient, laws, errors, recovery."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from neartie.data.errors import CaveatWarning, DataError
from neartie.data.responses import Responses
from neartie.inference.mirt_dif_map import fit_mirt_dif_map
from neartie.inference.mirt_errors import joint_errors
from neartie.inference.mirt_newton import climb, curves_upwards
from neartie.inference.mirt_objective import PenalisedMirt, Point, curved, evaluate
from neartie.inference.mirt_scales import MirtDifScales, empirical_scales, prior_scales
from neartie.inference.mirt_start import spectral_start
from neartie.models.priors import MirtDifPriors

SCALES = MirtDifScales(loading_scale=0.9, easiness_mean=0.2, easiness_scale=1.2, dif_scale=0.4)


def simulated(n_item, n_model, seed, *, dimension=2, n_family=3, dif_scale=0.4, share=1.0):
    """Answers of a model of that dimension, and the truth behind them."""
    rng = np.random.default_rng(seed)
    family = np.arange(n_model) % n_family
    loading = 0.2 * rng.normal(size=(n_item, dimension))
    loading[np.arange(n_item), np.arange(n_item) % dimension] = np.exp(
        0.4 * rng.normal(size=n_item)
    )
    dif = dif_scale * rng.normal(size=(n_item, n_family))
    dif -= dif.mean(axis=1, keepdims=True)
    easiness = rng.normal(size=n_item)
    predictor = loading @ rng.normal(size=(dimension, n_model)) + easiness[:, None] + dif[:, family]
    values = (rng.random(predictor.shape) < expit(predictor)).astype(np.int8)
    values[rng.random(values.shape) >= share] = -1
    models = pd.DataFrame(
        {
            "model": [f"m{m:03d}" for m in range(n_model)],
            "family": [f"family {f}" for f in family],
        }
    )
    data = Responses.build(values, items=[f"q{i:04d}" for i in range(n_item)], models=models)
    return data, {"predictor": predictor, "easiness": easiness, "dif": dif}


@pytest.fixture(scope="module")
def small():
    return simulated(14, 21, 1, share=0.85)[0]


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
def test_an_independent_optimiser_ends_there(small, zero_sum, seed):
    fit = fit_mirt_dif_map(small, dimension=2, scales=SCALES, zero_sum=zero_sum)
    value, predictor, size = penalised(small, fit)
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
def test_the_models_own_gradient_vanishes_there(zero_sum):
    """Of the PyMC model with its scales held at those of the mode."""
    import pytensor.tensor as pt

    from neartie.models.mirt_dif import build_mirt_dif

    data = simulated(7, 9, 2, share=0.9)[0]
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


@pytest.mark.parametrize("dimension", [1, 2, 4])
@pytest.mark.parametrize("zero_sum", ["families", "families_and_items"])
def test_five_starts_find_one_predictor(dimension, zero_sum):
    data, _ = simulated(60, 40, 1, dimension=dimension, share=0.85)
    options = {"dimension": dimension, "scales": SCALES, "zero_sum": zero_sum}
    alone = fit_mirt_dif_map(data, **options)
    fit = fit_mirt_dif_map(data, **options, starts=5, rng=3)
    assert np.ptp(fit.start_log_posteriors) < 1e-8
    assert fit.converged
    assert fit.is_maximum
    np.testing.assert_allclose(fit.linear_predictor(), alone.linear_predictor(), atol=1e-6)
    np.testing.assert_allclose(fit.dif, alone.dif, atol=1e-6)


@pytest.mark.parametrize("zero_sum", ["families", "families_and_items"])
def test_errors_are_those_of_the_whole_curvature(small, zero_sum):
    """Dense: all second derivatives, slopes of what is reported by finite differences."""
    fit = fit_mirt_dif_map(small, dimension=2, scales=SCALES, zero_sum=zero_sum, errors="joint")
    problem = SCALES.hold(
        PenalisedMirt.of(
            small.values == 1, small.observed, fit.family, dimension=2, sums_over_items=False
        )
    )
    item = np.hstack([fit.loading, fit.easiness[:, None], fit.dif @ problem.basis])
    point = Point(item=item, ability=fit.ability)
    cut, q = item.size, item.shape[1]

    def shaped(vector):
        return Point(item=vector[:cut].reshape(item.shape), ability=vector[cut:].reshape(2, -1))

    def said(vector):
        at = shaped(vector)
        chance = expit(at.item @ problem.design(at.ability))
        effects = at.item[:, 3:] @ problem.basis.T
        return np.concatenate([chance.mean(axis=0), at.item[:, 2], effects.ravel()])

    vector = np.concatenate([item.ravel(), fit.ability.ravel()])
    units, width = np.eye(len(vector)), 1e-5
    state = evaluate(problem, point)
    columns = [curved(problem, point, state, shaped(unit)) for unit in units]
    hessian = np.array([np.concatenate([c.item.ravel(), c.ability.ravel()]) for c in columns])
    slopes = np.array(
        [(said(vector + width * u) - said(vector - width * u)) / (2 * width) for u in units]
    ).T
    free = units
    if zero_sum == "families_and_items":
        sums = np.zeros((2, len(vector)))
        for effect in range(2):
            sums[effect, np.arange(small.n_item) * q + 3 + effect] = 1
        free = np.linalg.svd(sums)[2][2:].T
    size, axes = np.linalg.eigh(free.T @ hessian @ free)
    assert (size > 1e-7).sum() == len(size) - 1  # one rotation
    axes = free @ axes[:, 1:]
    covariance = slopes @ (axes / size[1:]) @ axes.T @ slopes.T
    n = small.n_model
    np.testing.assert_allclose(fit.covariance, covariance[:n, :n], atol=1e-9)
    se = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(fit.se, se[:n], atol=1e-8)
    np.testing.assert_allclose(fit.easiness_se, se[n : n + small.n_item], atol=1e-7)
    np.testing.assert_allclose(fit.dif_se.ravel(), se[n + small.n_item :], atol=1e-7)

    # Abilities known: the same without their rows. Items known: without those of items.
    of_items = free[:cut] if zero_sum == "families" else np.linalg.svd(sums[:, :cut])[2][2:].T
    if zero_sum == "families":
        of_items = np.eye(cut)
    inner = of_items @ np.linalg.solve(of_items.T @ hessian[:cut, :cut] @ of_items, of_items.T)
    known = np.sqrt(np.diag(slopes[n:, :cut] @ inner @ slopes[n:, :cut].T))
    np.testing.assert_allclose(fit.easiness_se_abilities_known, known[: small.n_item], atol=1e-7)
    np.testing.assert_allclose(fit.dif_se_abilities_known.ravel(), known[small.n_item :], atol=1e-7)
    outer = slopes[:n, cut:] @ np.linalg.solve(hessian[cut:, cut:], slopes[:n, cut:].T)
    np.testing.assert_allclose(fit.se_items_known, np.sqrt(np.diag(outer)), atol=1e-8)


def test_starts_that_end_apart_are_said(small):
    """More dimensions than a few answers carry have several optima; the best one is reported."""
    fit = fit_mirt_dif_map(small, dimension=4, scales=SCALES, starts=5, rng=3)
    assert np.ptp(fit.start_log_posteriors) > 0.1
    assert fit.log_posterior == max(fit.start_log_posteriors)
    assert "nats apart; the best one is reported" in " ".join(fit.notices)


def test_sums_are_zero_and_predictor_is_the_sum_of_its_parts(small):
    for zero_sum in ("families", "families_and_items"):
        fit = fit_mirt_dif_map(small, dimension=2, zero_sum=zero_sum)
        np.testing.assert_allclose(fit.dif.sum(axis=1), 0, atol=1e-12)
        if zero_sum == "families_and_items":
            np.testing.assert_allclose(fit.dif.sum(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(
            fit.expected_score, expit(fit.linear_predictor()).mean(axis=0), atol=1e-12
        )
        assert (np.diff(np.square(fit.ability).sum(axis=1)) <= 0).all()
        assert (fit.loading.sum(axis=0) >= 0).all()


def test_order_of_rows_and_columns_changes_no_bit(small):
    rng = np.random.default_rng(4)
    mixed = small.take(items=rng.permutation(small.n_item), models=rng.permutation(small.n_model))
    one, two = fit_mirt_dif_map(small, dimension=2), fit_mirt_dif_map(mixed, dimension=2)
    assert one.table().equals(two.table())
    assert one.item_table().equals(two.item_table())
    assert one.dif_table().equals(two.dif_table())


def test_turning_all_answers_round_turns_all_signs(small):
    values = np.where(small.observed, 1 - small.values, -1).astype(np.int8)
    turned = Responses.build(values, items=small.item_ids, models=small.models)
    around = MirtDifScales(**{**SCALES.to_dict(), "easiness_mean": -SCALES.easiness_mean})
    one = fit_mirt_dif_map(small, dimension=2, scales=SCALES)
    two = fit_mirt_dif_map(turned, dimension=2, scales=around)
    np.testing.assert_allclose(two.linear_predictor(), -one.linear_predictor(), atol=1e-6)
    np.testing.assert_allclose(two.se, one.se, atol=1e-8)
    np.testing.assert_allclose(two.dif, -one.dif, atol=1e-6)


def test_all_items_twice_is_the_same_with_answers_counted_twice(small):
    """Copies of an item have the same estimates."""
    twice = Responses.build(
        np.vstack([small.values, small.values]),
        items=[*small.item_ids, *(f"z{i}" for i in small.item_ids)],
        models=small.models,
    )
    fit = fit_mirt_dif_map(twice, dimension=2, scales=SCALES)
    n = small.n_item
    np.testing.assert_allclose(fit.easiness[:n], fit.easiness[n:], atol=1e-6)
    np.testing.assert_allclose(fit.dif[:n], fit.dif[n:], atol=1e-6)


def test_more_dimensions_than_the_answers_carry_stay_empty():
    """Where no singular value of the residuals exceeds the penalty, K does not matter."""
    data = simulated(12, 8, 5)[0]
    tight = MirtDifScales(loading_scale=0.3, easiness_mean=0.0, easiness_scale=1.5, dif_scale=0.3)
    few = fit_mirt_dif_map(data, dimension=8, scales=tight)
    many = fit_mirt_dif_map(data, dimension=128, scales=tight, errors="known")
    np.testing.assert_allclose(many.linear_predictor(), few.linear_predictor(), atol=1e-6)
    residual = data.values - expit(few.linear_predictor())
    assert np.linalg.norm(residual, 2) <= 1 / 0.3 + 1e-6
    assert "of 128 dimensions hold nothing at the mode" in " ".join(many.notices)
    assert many.is_maximum


@pytest.mark.parametrize(("n_item", "n_model", "dimension"), [(1, 2, 1), (3, 2, 4), (2, 30, 2)])
def test_small_shapes_have_a_mode(n_item, n_model, dimension):
    data = simulated(n_item, n_model, 6, n_family=2)[0]
    fit = fit_mirt_dif_map(data, dimension=dimension)
    assert fit.converged
    assert np.isfinite(fit.se).all()
    assert (fit.se >= fit.se_items_known - 1e-12).all()


def test_silent_items_and_models_rest_on_the_prior():
    values = simulated(10, 12, 7)[0].values.copy()
    values[0], values[1], values[:, 3] = 1, -1, -1
    values[1, 0] = 1
    models = simulated(10, 12, 7)[0].models
    data = Responses.build(values, items=[f"q{i:04d}" for i in range(10)], models=models)
    fit = fit_mirt_dif_map(data, dimension=1, scales=SCALES)
    assert fit.flags[:2] == ("prior only: every answer right", "prior only: one answer")
    assert "'q0000'" in " ".join(fit.notices)
    assert "'m003'" in " ".join(fit.notices)
    # Nothing is known of it but that its ability comes from the prior, whose mean is 0.
    np.testing.assert_allclose(fit.ability[:, 3], 0, atol=1e-9)
    assert fit.n[3] == 0
    own = expit(fit.linear_predictor()[:, 3])
    slope = (own * (1 - own)) @ fit.loading[:, 0] / 10
    assert fit.se_items_known[3] == pytest.approx(abs(slope), abs=1e-9)


def test_constant_answers_have_a_mode():
    models = pd.DataFrame({"model": list("abcd"), "family": list("xyxy")})
    data = Responses.build(np.ones((3, 4), dtype=np.int8), items=list("pqr"), models=models)
    fit = fit_mirt_dif_map(data, dimension=2, scales=SCALES)
    assert fit.converged
    np.testing.assert_allclose(fit.expected_score, fit.expected_score[0], atol=1e-8)


def test_scales_are_found_again():
    """Simulated with loadings of root mean square 0.79, easiness 1, effects 0.4 or none."""
    for dif_scale in (0.4, 0.0):
        data, _ = simulated(400, 200, 8, n_family=4, dif_scale=dif_scale)
        scales = fit_mirt_dif_map(data, dimension=2, errors="known").scales
        assert scales.loading_scale == pytest.approx(0.79, abs=0.08)
        assert scales.easiness_scale == pytest.approx(1, abs=0.12)
        assert scales.dif_scale == pytest.approx(dif_scale, abs=0.06)


def test_scales_do_not_depend_on_where_the_search_starts():
    data, _ = simulated(60, 50, 9)
    codes = np.unique(data.models["family"], return_inverse=True)[1]
    problem = PenalisedMirt.of(
        data.values == 1, data.observed, codes, dimension=2, sums_over_items=False
    )
    priors = MirtDifPriors()
    one = empirical_scales(problem, spectral_start(problem), priors)
    far = Point(
        item=np.zeros((60, 5)),
        ability=np.random.default_rng(1).normal(size=(2, 50)),
    )
    two = empirical_scales(problem, far, priors)
    assert one.converged
    assert two.converged
    for name, value in one.scales.to_dict().items():
        assert getattr(two.scales, name) == pytest.approx(value, abs=5e-3)


def test_scales_of_the_prior_are_its_medians():
    scales = prior_scales(MirtDifPriors(loading_spread=2.0, dif_scale_sd=1.0), 4)
    assert scales.loading_scale == 1.0
    assert scales.dif_scale == pytest.approx(0.6745, abs=1e-4)
    data = simulated(10, 12, 10)[0]
    assert fit_mirt_dif_map(data, dimension=4, scales="prior").scales.loading_scale == 0.75


def test_scores_are_covered_and_the_truth_is_found():
    """Of 10 x 120 intervals: a little below 95 %, as the documentation's table has it."""
    shares, errors = [], []
    for seed in range(10):
        data, truth = simulated(120, 120, 100 + seed)
        fit = fit_mirt_dif_map(data, dimension=2)
        table = fit.table()
        score = expit(truth["predictor"]).mean(axis=0)
        shares.append(((table["low"] <= score) & (score <= table["high"])).mean())
        errors.append(np.sqrt(np.mean((fit.linear_predictor() - truth["predictor"]) ** 2)))
        assert np.corrcoef(fit.dif.ravel(), truth["dif"].ravel())[0, 1] > 0.5
    assert np.mean(shares) == pytest.approx(0.94, abs=0.02)
    assert np.mean(errors) < 0.65


def test_known_errors_are_said(small):
    fit = fit_mirt_dif_map(small, dimension=2, scales=SCALES, errors="known")
    assert fit.errors == "known"
    np.testing.assert_array_equal(fit.se, fit.se_items_known)
    np.testing.assert_allclose(fit.covariance, np.diag(fit.se**2))
    joint = fit_mirt_dif_map(small, dimension=2, scales=SCALES)
    assert joint.errors == "joint"
    assert (joint.se > fit.se).all()
    assert (joint.dif_se > fit.dif_se).all()


def test_work_that_would_take_minutes_is_left_out_and_said(small, monkeypatch):
    monkeypatch.setattr("neartie.inference.mirt_dif_map.MOST_WORK", 10)
    fit = fit_mirt_dif_map(small, dimension=2)
    assert fit.errors == "known"
    assert "standard errors of scores take items as known" in " ".join(fit.notices)


def test_a_point_that_is_no_maximum_has_no_joint_errors(small):
    """A saddle: both dimensions empty under a weak penalty, everything else at its optimum."""
    family = fit_mirt_dif_map(small, dimension=1, scales=SCALES).family
    problem = SCALES.hold(
        PenalisedMirt.of(
            small.values == 1, small.observed, family, dimension=2, sums_over_items=False
        )
    )
    flat = Point(item=np.zeros((small.n_item, 5)), ability=np.zeros((2, small.n_model)))
    saddle = climb(problem, flat)
    assert saddle.converged
    assert np.all(saddle.point.ability == 0)
    assert joint_errors(problem, saddle) is None
    assert not curves_upwards(problem, saddle)
    top = climb(problem, spectral_start(problem))
    assert top.state.value < saddle.state.value - 1
    assert joint_errors(problem, top) is not None
    assert curves_upwards(problem, top)


def test_many_models_have_errors_but_no_covariance(small, monkeypatch):
    monkeypatch.setattr("neartie.inference.mirt_dif_map.MOST_MODELS", 5)
    assert fit_mirt_dif_map(small, dimension=1, errors="joint").covariance.size == 0


def test_what_did_not_converge_warns(small):
    with pytest.warns(CaveatWarning, match="the mode was not reached: after 1 iteration"):
        fit = fit_mirt_dif_map(small, dimension=2, scales=SCALES, max_iterations=1)
    assert not fit.converged
    assert fit.verdict.startswith("Not converged: 1 iteration")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dimension": 0}, "dimension must be a whole number of at least 1, got 0"),
        ({"dimension": True}, "dimension must be a whole number"),
        ({"scales": "empirical"}, "scales must be one of answers, prior, or MirtDifScales"),
        ({"zero_sum": "items"}, "zero_sum must be one of families, families_and_items"),
        ({"errors": "right"}, "errors must be one of auto, joint, known, got 'right'"),
        ({"starts": 0}, "starts must be at least 1, got 0"),
        ({"max_iterations": 0}, "max_iterations must be at least 1, got 0"),
    ],
)
def test_options_out_of_range_are_refused(small, options, message):
    with pytest.raises(ValueError, match=message):
        fit_mirt_dif_map(small, **{"dimension": 1, **options})


def test_graded_scores_and_single_families_are_refused():
    models = pd.DataFrame({"model": ["a", "b"], "family": ["x", "y"]})
    graded = Responses.build([[0.5, 1.0]], items=["p"], models=models)
    with pytest.raises(DataError, match="rounds nothing"):
        fit_mirt_dif_map(graded, dimension=1)
    single = Responses.build([[0, 1]], items=["p"], models=models.assign(family="x"))
    with pytest.raises(DataError, match="all models are 'x'"):
        fit_mirt_dif_map(single, dimension=1)


def test_level_out_of_range_is_refused(small):
    fit = fit_mirt_dif_map(small, dimension=1, scales=SCALES)
    with pytest.raises(ValueError, match=r"level must lie in \(0, 1\), got 95"):
        fit.table(level=95)


def test_it_prints_verdict_models_and_notes(small):
    fit = fit_mirt_dif_map(small, dimension=2)
    text = str(fit)
    assert text.startswith("Multidimensional model, joint mode: 21 models, 14 items, 3 families.")
    assert "Converged: " in text
    assert "and 1 more models" in text
    assert "note: half of the items have" in text
    assert fit.to_dict()["settings"]["scales_from"] == "answers"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Not converged")
@pytest.mark.parametrize("dif_scale", [0.4, 0.0])
def test_scales_scores_and_errors_are_near_those_of_the_posterior(dif_scale):
    """Limits are wide: the mode is not the mean, and 1,200 draws do not pass the limit of R-hat."""
    from neartie.inference.fit import fit as find_posterior

    data, _ = simulated(100, 60, 11, dif_scale=dif_scale)
    mode = fit_mirt_dif_map(data, dimension=2)
    posterior = find_posterior(
        data,
        kind="mirt-dif",
        options={"dimension": 2},
        engine="gibbs",
        draws=600,
        tune=400,
        chains=2,
        rng=1,
    )["posterior"].to_dataset()
    sample = ("chain", "draw")
    for name, scale in mode.scales.to_dict().items():
        mean, sd = float(posterior[name].mean()), float(posterior[name].std())
        assert abs(scale - mean) < 2 * sd, name
    score = posterior["expected_score"].sel(model=list(mode.models))
    mean, sd = score.mean(sample).to_numpy(), score.std(sample).to_numpy()
    assert np.corrcoef(mode.expected_score, mean)[0, 1] > 0.995
    assert 0.9 < np.median(mode.se / sd) < 1.25
    easiness = posterior["easiness"].sel(item=list(mode.items))
    assert 0.85 < np.median(mode.easiness_se / easiness.std(sample).to_numpy()) < 1.1
    effects = posterior["dif"].sel(item=list(mode.items), family=list(mode.families))
    assert np.corrcoef(mode.dif.ravel(), effects.mean(sample).to_numpy().ravel())[0, 1] > 0.95
