"""The joint mode is found from any start, and with it scales, truths and the posterior."""

import numpy as np
import pytest
from scipy.special import expit

from neartie.inference.mirt_dif_map import fit_mirt_dif_map
from neartie.inference.mirt_objective import PenalisedMirt, Point
from neartie.inference.mirt_scales import empirical_scales, prior_scales
from neartie.inference.mirt_start import spectral_start
from neartie.models.priors import MirtDifPriors


@pytest.mark.parametrize("dimension", [1, 2, 4])
@pytest.mark.parametrize("zero_sum", ["families", "families_and_items"])
def test_five_starts_find_one_predictor(mirt_scales, simulate_mirt, dimension, zero_sum):
    data, _ = simulate_mirt(60, 40, 1, dimension=dimension, share=0.85)
    options = {"dimension": dimension, "scales": mirt_scales, "zero_sum": zero_sum}
    alone = fit_mirt_dif_map(data, **options)
    fit = fit_mirt_dif_map(data, **options, starts=5, rng=3)
    assert np.ptp(fit.start_log_posteriors) < 1e-8
    assert fit.converged
    assert fit.is_maximum
    np.testing.assert_allclose(fit.linear_predictor(), alone.linear_predictor(), atol=1e-6)
    np.testing.assert_allclose(fit.dif, alone.dif, atol=1e-6)


def test_starts_that_end_apart_are_said(small_mirt, mirt_scales):
    """More dimensions than a few answers carry have several optima; the best one is reported."""
    fit = fit_mirt_dif_map(small_mirt, dimension=4, scales=mirt_scales, starts=5, rng=3)
    assert np.ptp(fit.start_log_posteriors) > 0.1
    assert fit.log_posterior == max(fit.start_log_posteriors)
    assert "nats apart; the best one is reported" in " ".join(fit.notices)


def test_scales_are_found_again(simulate_mirt):
    """Simulated with loadings of root mean square 0.79, easiness 1, effects 0.4 or none."""
    for dif_scale in (0.4, 0.0):
        data, _ = simulate_mirt(400, 200, 8, n_family=4, dif_scale=dif_scale)
        scales = fit_mirt_dif_map(data, dimension=2, errors="known").scales
        assert scales.loading_scale == pytest.approx(0.79, abs=0.08)
        assert scales.easiness_scale == pytest.approx(1, abs=0.12)
        assert scales.dif_scale == pytest.approx(dif_scale, abs=0.06)


def test_scales_do_not_depend_on_where_the_search_starts(simulate_mirt):
    data, _ = simulate_mirt(60, 50, 9)
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


def test_scales_of_the_prior_are_its_medians(simulate_mirt):
    scales = prior_scales(MirtDifPriors(loading_spread=2.0, dif_scale_sd=1.0), 4)
    assert scales.loading_scale == 1.0
    assert scales.dif_scale == pytest.approx(0.6745, abs=1e-4)
    data = simulate_mirt(10, 12, 10)[0]
    assert fit_mirt_dif_map(data, dimension=4, scales="prior").scales.loading_scale == 0.75


def test_scores_are_covered_and_the_truth_is_found(simulate_mirt):
    """Of 10 x 120 intervals: a little below 95 %, as the documentation's table has it."""
    shares, errors = [], []
    for seed in range(10):
        data, truth = simulate_mirt(120, 120, 100 + seed)
        fit = fit_mirt_dif_map(data, dimension=2)
        table = fit.table()
        score = expit(truth["predictor"]).mean(axis=0)
        shares.append(((table["low"] <= score) & (score <= table["high"])).mean())
        errors.append(np.sqrt(np.mean((fit.linear_predictor() - truth["predictor"]) ** 2)))
        assert np.corrcoef(fit.dif.ravel(), truth["dif"].ravel())[0, 1] > 0.5
    assert np.mean(shares) == pytest.approx(0.94, abs=0.02)
    assert np.mean(errors) < 0.65


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Not converged")
@pytest.mark.parametrize("dif_scale", [0.4, 0.0])
def test_scales_scores_and_errors_are_near_those_of_the_posterior(simulate_mirt, dif_scale):
    """Limits are wide: the mode is not the mean, and 1,200 draws do not pass the limit of R-hat."""
    from neartie.inference.fit import fit as find_posterior

    data, _ = simulate_mirt(100, 60, 11, dif_scale=dif_scale)
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
