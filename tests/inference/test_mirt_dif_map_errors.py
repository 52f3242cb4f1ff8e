"""Standard errors of the multidimensional model's joint mode, and what it refuses and says."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from neartie.data.errors import CaveatWarning, DataError
from neartie.data.responses import Responses
from neartie.inference.mirt_dif_map import fit_mirt_dif_map
from neartie.inference.mirt_errors import joint_errors
from neartie.inference.mirt_newton import climb, curves_upwards
from neartie.inference.mirt_objective import PenalisedMirt, Point, curved, evaluate
from neartie.inference.mirt_start import spectral_start


@pytest.mark.parametrize("zero_sum", ["families", "families_and_items"])
def test_errors_are_those_of_the_whole_curvature(small_mirt, mirt_scales, zero_sum):
    """Dense: all second derivatives, slopes of what is reported by finite differences."""
    fit = fit_mirt_dif_map(
        small_mirt, dimension=2, scales=mirt_scales, zero_sum=zero_sum, errors="joint"
    )
    problem = mirt_scales.hold(
        PenalisedMirt.of(
            small_mirt.values == 1,
            small_mirt.observed,
            fit.family,
            dimension=2,
            sums_over_items=False,
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
            sums[effect, np.arange(small_mirt.n_item) * q + 3 + effect] = 1
        free = np.linalg.svd(sums)[2][2:].T
    size, axes = np.linalg.eigh(free.T @ hessian @ free)
    assert (size > 1e-7).sum() == len(size) - 1  # one rotation
    axes = free @ axes[:, 1:]
    covariance = slopes @ (axes / size[1:]) @ axes.T @ slopes.T
    n = small_mirt.n_model
    np.testing.assert_allclose(fit.covariance, covariance[:n, :n], atol=1e-9)
    se = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(fit.se, se[:n], atol=1e-8)
    np.testing.assert_allclose(fit.easiness_se, se[n : n + small_mirt.n_item], atol=1e-7)
    np.testing.assert_allclose(fit.dif_se.ravel(), se[n + small_mirt.n_item :], atol=1e-7)

    # Abilities known: the same without their rows. Items known: without those of items.
    of_items = free[:cut] if zero_sum == "families" else np.linalg.svd(sums[:, :cut])[2][2:].T
    if zero_sum == "families":
        of_items = np.eye(cut)
    inner = of_items @ np.linalg.solve(of_items.T @ hessian[:cut, :cut] @ of_items, of_items.T)
    known = np.sqrt(np.diag(slopes[n:, :cut] @ inner @ slopes[n:, :cut].T))
    np.testing.assert_allclose(
        fit.easiness_se_abilities_known, known[: small_mirt.n_item], atol=1e-7
    )
    np.testing.assert_allclose(
        fit.dif_se_abilities_known.ravel(), known[small_mirt.n_item :], atol=1e-7
    )
    outer = slopes[:n, cut:] @ np.linalg.solve(hessian[cut:, cut:], slopes[:n, cut:].T)
    np.testing.assert_allclose(fit.se_items_known, np.sqrt(np.diag(outer)), atol=1e-8)


def test_known_errors_are_said(small_mirt, mirt_scales):
    fit = fit_mirt_dif_map(small_mirt, dimension=2, scales=mirt_scales, errors="known")
    assert fit.errors == "known"
    np.testing.assert_array_equal(fit.se, fit.se_items_known)
    np.testing.assert_allclose(fit.covariance, np.diag(fit.se**2))
    joint = fit_mirt_dif_map(small_mirt, dimension=2, scales=mirt_scales)
    assert joint.errors == "joint"
    assert (joint.se > fit.se).all()
    assert (joint.dif_se > fit.dif_se).all()


def test_work_that_would_take_minutes_is_left_out_and_said(small_mirt, monkeypatch):
    monkeypatch.setattr("neartie.inference.mirt_dif_map.MOST_WORK", 10)
    fit = fit_mirt_dif_map(small_mirt, dimension=2)
    assert fit.errors == "known"
    assert "standard errors of scores take items as known" in " ".join(fit.notices)


def test_a_point_that_is_no_maximum_has_no_joint_errors(small_mirt, mirt_scales):
    """A saddle: both dimensions empty under a weak penalty, everything else at its optimum."""
    family = fit_mirt_dif_map(small_mirt, dimension=1, scales=mirt_scales).family
    problem = mirt_scales.hold(
        PenalisedMirt.of(
            small_mirt.values == 1, small_mirt.observed, family, dimension=2, sums_over_items=False
        )
    )
    flat = Point(item=np.zeros((small_mirt.n_item, 5)), ability=np.zeros((2, small_mirt.n_model)))
    saddle = climb(problem, flat)
    assert saddle.converged
    assert np.all(saddle.point.ability == 0)
    assert joint_errors(problem, saddle) is None
    assert not curves_upwards(problem, saddle)
    top = climb(problem, spectral_start(problem))
    assert top.state.value < saddle.state.value - 1
    assert joint_errors(problem, top) is not None
    assert curves_upwards(problem, top)


def test_many_models_have_errors_but_no_covariance(small_mirt, monkeypatch):
    monkeypatch.setattr("neartie.inference.mirt_dif_map.MOST_MODELS", 5)
    assert fit_mirt_dif_map(small_mirt, dimension=1, errors="joint").covariance.size == 0


def test_what_did_not_converge_warns(small_mirt, mirt_scales):
    with pytest.warns(CaveatWarning, match="the mode was not reached: after 1 iteration"):
        fit = fit_mirt_dif_map(small_mirt, dimension=2, scales=mirt_scales, max_iterations=1)
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
def test_options_out_of_range_are_refused(small_mirt, options, message):
    with pytest.raises(ValueError, match=message):
        fit_mirt_dif_map(small_mirt, **{"dimension": 1, **options})


def test_graded_scores_and_single_families_are_refused():
    models = pd.DataFrame({"model": ["a", "b"], "family": ["x", "y"]})
    graded = Responses.build([[0.5, 1.0]], items=["p"], models=models)
    with pytest.raises(DataError, match="rounds nothing"):
        fit_mirt_dif_map(graded, dimension=1)
    single = Responses.build([[0, 1]], items=["p"], models=models.assign(family="x"))
    with pytest.raises(DataError, match="all models are 'x'"):
        fit_mirt_dif_map(single, dimension=1)


def test_level_out_of_range_is_refused(small_mirt, mirt_scales):
    fit = fit_mirt_dif_map(small_mirt, dimension=1, scales=mirt_scales)
    with pytest.raises(ValueError, match=r"level must lie in \(0, 1\), got 95"):
        fit.table(level=95)


def test_it_prints_verdict_models_and_notes(small_mirt):
    fit = fit_mirt_dif_map(small_mirt, dimension=2)
    text = str(fit)
    assert text.startswith("Multidimensional model, joint mode: 21 models, 14 items, 3 families.")
    assert "Converged: " in text
    assert "and 1 more models" in text
    assert "note: half of the items have" in text
    assert fit.to_dict()["settings"]["scales_from"] == "answers"
