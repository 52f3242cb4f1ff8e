"""The engines against posteriors that are known: exactly, or by integration on a grid."""

import hashlib

import numpy as np
import pymc as pm
import pytest
from scipy.special import expit

from neartie.data.errors import ConvergenceError, DataError
from neartie.data.read import read_responses
from neartie.inference.advi import approximate_advi
from neartie.inference.flat_model import flatten_model, model_sizes
from neartie.inference.laplace import approximate_laplace
from neartie.inference.mode import find_mode, hessian
from neartie.inference.nuts import sample_nuts
from neartie.inference.pathfinder import approximate_pathfinder
from neartie.models.two_pl import build_two_pl

DESIGN = np.array([[1.0, 0.3], [0.2, -1.0], [0.7, 0.8], [-0.5, 1.5], [1.0, 1.0]])
OUTCOME = np.array([0.4, -1.0, 1.2, 0.3, 1.9])
PRECISION = DESIGN.T @ DESIGN + np.eye(2) / 4
MEAN = np.linalg.solve(PRECISION, DESIGN.T @ OUTCOME)


@pytest.fixture(scope="module")
def gaussian():
    """A regression whose posterior is normal."""
    with pm.Model(coords={"term": ["x", "z"], "cell": range(5)}) as model:
        slope = pm.Normal("slope", 0, 2, dims="term")
        pm.Normal("y", pm.math.dot(DESIGN, slope), 1, observed=OUTCOME, dims="cell")
    return model, flatten_model(model)


@pytest.fixture(scope="module")
def duel():
    """Two models, 7 wins of 10 battles, a normal prior on the gap, with a scale to transform."""
    with pm.Model() as model:
        scale = pm.HalfNormal("scale", 1)
        gap = pm.Normal("gap", 0, 1)
        pm.Deterministic("chance", pm.math.sigmoid(gap))
        pm.Binomial("wins", 10, logit_p=gap * scale, observed=7)
    return model, flatten_model(model)


@pytest.fixture(scope="module")
def duel_draws(duel):
    _, flat = duel
    return sample_nuts(flat, draws=2000, tune=500, chains=2, cores=1, target_accept=0.9, seed=3)


@pytest.fixture(scope="module")
def orientation(case_dir):
    model = build_two_pl(read_responses(case_dir / "C01" / "responses.csv"))
    return model, flatten_model(model)


def test_flat_density_is_the_models(duel):
    model, flat = duel
    assert flat.size == 2
    assert model_sizes(model) == (2, 3)
    assert set(flat.names) == {"scale", "gap", "chance"}
    compiled = model.compile_logp()
    for point in np.random.default_rng(1).normal(size=(4, 2)):
        named = {"scale_log__": point[0], "gap": point[1]}
        value, gradient = flat.evaluate(point)
        assert value == pytest.approx(compiled(named), abs=1e-10)
        for k in range(2):
            step = 1e-6 * np.eye(2)[k]
            slope = (flat.evaluate(point + step)[0] - flat.evaluate(point - step)[0]) / 2e-6
            assert gradient[k] == pytest.approx(slope, abs=1e-6)


def test_points_become_variables(duel):
    _, flat = duel
    points = np.random.default_rng(2).normal(size=(2, 3, 2))
    draws = flat.expand(points)
    np.testing.assert_allclose(draws["scale"], np.exp(points[..., 0]))
    np.testing.assert_allclose(draws["gap"], points[..., 1])
    np.testing.assert_allclose(draws["chance"], expit(points[..., 1]))


def test_nuts_has_the_moments_of_the_grid(duel, duel_draws):
    from arviz_stats.base import array_stats

    _, flat = duel
    log_scale, gap = np.meshgrid(np.linspace(-9, 2, 1201), np.linspace(-6, 6, 1201), indexing="ij")
    log_density = (
        -0.5 * np.exp(2 * log_scale)
        + log_scale
        - 0.5 * gap**2
        - 7 * np.logaddexp(0, -gap * np.exp(log_scale))
        - 3 * np.logaddexp(0, gap * np.exp(log_scale))
    )
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    draws = flat.expand(duel_draws.points)
    for name, values in (("gap", gap), ("scale", np.exp(log_scale))):
        for power in (1, 2):
            truth = float((weight * values**power).sum())
            sampled = draws[name].to_numpy() ** power
            error = float(array_stats.mcse(sampled))
            assert error < 0.1
            assert sampled.mean() == pytest.approx(truth, abs=4 * error)


def test_cores_do_not_change_the_draws(duel):
    _, flat = duel
    one, two = (
        sample_nuts(
            flat, draws=100, tune=100, chains=3, cores=cores, target_accept=0.9, seed=5
        ).points
        for cores in (1, 2)
    )
    # nutpie's own sums may differ in the last digit between runs, see docs/engines.md
    assert one == pytest.approx(two, abs=1e-8)


def test_nuts_reports_energy_and_density(duel, duel_draws):
    _, flat = duel
    stats = duel_draws.stats
    assert set(stats) >= {"diverging", "energy", "lp", "tree_depth", "acceptance_rate"}
    assert stats["lp"][1, 7] == flat.evaluate(duel_draws.points[1, 7])[0]
    # Kinetic and potential energy move against each other, and add up to what varies less.
    assert (np.var(stats["energy"] + stats["lp"], axis=1) > 0).all()
    assert np.corrcoef(stats["energy"].ravel(), stats["lp"].ravel())[0, 1] < 0


def test_progress_is_reported(duel):
    _, flat = duel
    said = []
    sample_nuts(
        flat,
        draws=20,
        tune=20,
        chains=1,
        cores=1,
        target_accept=0.9,
        seed=5,
        progress=lambda step, share: said.append((step, share)),
    )
    assert said[-1] == ("sampling", 1.0)


def test_hessian_of_a_gaussian_is_exact(gaussian):
    _, flat = gaussian
    np.testing.assert_allclose(-hessian(flat, np.array([0.3, -2.0])), PRECISION, rtol=1e-9)


def test_laplace_is_exact_on_a_gaussian(gaussian):
    _, flat = gaussian
    mode = find_mode(flat, rng=1)
    np.testing.assert_allclose(mode.point, MEAN, atol=1e-8)
    np.testing.assert_allclose(
        mode.directions @ np.diag(mode.curvature) @ mode.directions.T, PRECISION, rtol=1e-8
    )
    drawn = approximate_laplace(flat, draws=20_000, rng=2)
    covariance = np.linalg.inv(PRECISION)
    np.testing.assert_allclose(np.cov(drawn.points[0].T), covariance, atol=0.02)
    # Target and approximation are the same density, so the ratios do not vary.
    ratio = drawn.stats["lp"] - drawn.stats["log_q"]
    assert np.ptp(ratio) < 1e-6
    assert np.isnan(drawn.pareto_k)


def test_advi_finds_the_independent_normals(gaussian):
    """On a Gaussian the best factors have its mean, and the conditional variances."""
    _, flat = gaussian
    drawn = approximate_advi(flat, draws=20_000, rng=2)
    assert drawn.facts["optimiser_converged"]
    np.testing.assert_allclose(drawn.points[0].mean(axis=0), MEAN, atol=0.05)
    scale = 1 / np.sqrt(np.diag(PRECISION))
    np.testing.assert_allclose(drawn.points[0].std(axis=0), scale, rtol=0.05)


def test_advi_says_when_it_ran_out_of_steps(gaussian):
    _, flat = gaussian
    assert not approximate_advi(flat, draws=10, max_steps=400, rng=2).facts["optimiser_converged"]


def test_pathfinder_comes_near_a_gaussian(gaussian):
    _, flat = gaussian
    drawn = approximate_pathfinder(flat, draws=2000, paths=2, rng=3)
    assert drawn.facts == {"optimiser_converged": True, "paths": {"converged": 2}}
    np.testing.assert_allclose(drawn.points[0].mean(axis=0), MEAN, atol=0.1)
    covariance = np.linalg.inv(PRECISION)
    np.testing.assert_allclose(np.cov(drawn.points[0].T), covariance, atol=0.1)
    # NaN: equal ratios, the approximation is the posterior.
    assert not drawn.pareto_k > 0.7


def test_pathfinder_comes_near_laplace(orientation):
    """On a small 2PL, whose posterior is not far from normal."""
    _, flat = orientation
    found = approximate_pathfinder(flat, draws=1000, rng=1)
    again = approximate_pathfinder(flat, draws=1000, rng=1)
    other = approximate_laplace(flat, draws=4000, rng=2).points[0]
    assert found.points.tobytes() == again.points.tobytes()
    points = found.points[0]
    assert np.abs((points.mean(axis=0) - other.mean(axis=0)) / other.std(axis=0)).max() < 1.0
    assert 0.6 < np.median(points.std(axis=0) / other.std(axis=0)) < 1.6


def test_pathfinder_stops_before_a_scale_has_gone_to_zero():
    """The lower bound prefers a point of the path where the density is still bounded."""
    with pm.Model() as model:
        scale = pm.HalfNormal("scale", 1)
        pm.Normal("effect", 0, scale, shape=8)
    drawn = approximate_pathfinder(flatten_model(model), draws=200, rng=1)
    assert np.isfinite(drawn.points).all()
    assert drawn.points[0, :, 0].mean() > -4  # log scale


def test_pathfinder_says_when_it_ran_out_of_steps(orientation):
    _, flat = orientation
    drawn = approximate_pathfinder(flat, draws=60, paths=1, max_steps=2, rng=1)
    assert drawn.facts == {"optimiser_converged": False, "paths": {"ran out of steps": 1}}


def test_no_mode_is_an_error():
    """A hierarchical scale runs to zero, where the density has no bound."""
    with pm.Model() as model:
        scale = pm.HalfNormal("scale", 1)
        pm.Normal("effect", 0, scale, shape=8)
    with pytest.raises(ConvergenceError, match="no mode was found"):
        find_mode(flatten_model(model), rng=1)


def test_discrete_unknowns_are_refused():
    with pm.Model() as model:
        pm.Bernoulli("flag", 0.5)
    with pytest.raises(DataError, match="continuous unknowns; discrete: flag"):
        flatten_model(model)


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_more_correct_is_higher_for_every_seed(orientation, case_dir, seed):
    """C01: neither chains nor modes come out upside down."""
    from scipy.stats import spearmanr

    _, flat = orientation
    data = read_responses(case_dir / "C01" / "responses.csv")
    totals = data.values.sum(axis=0)
    sampled = sample_nuts(
        flat, draws=300, tune=300, chains=2, cores=1, target_accept=0.9, seed=seed
    )
    approximate = approximate_laplace(flat, draws=300, rng=seed)
    for drawn in (sampled, approximate):
        draws = flat.expand(drawn.points)
        for chain in range(draws.sizes["chain"]):
            ability = (
                draws["ability"]
                .isel(chain=chain)
                .mean("draw")
                .sel(model=data.models["model"].to_list())
            )
            assert np.isfinite(ability).all()
            assert spearmanr(ability, totals).statistic > 0.95
            assert ability.idxmax() == "top"
            assert ability.idxmin() == "low"
        assert (draws["discrimination"] > 0).all()


def test_modes_of_five_starts_agree(case_dir):
    """C11: the mode does not depend on the start."""
    data = read_responses(case_dir / "C11" / "responses.csv")
    flat = flatten_model(build_two_pl(data))
    modes = [find_mode(flat, rng=seed) for seed in range(5)]
    first = modes[0]
    for mode in modes[1:]:
        assert mode.log_density == pytest.approx(first.log_density, abs=1e-8)
        np.testing.assert_allclose(mode.point, first.point, atol=1e-5)


def test_same_seed_same_bytes(orientation):
    _, flat = orientation
    for approximate in (approximate_laplace, approximate_advi):
        digests = [
            hashlib.sha256(approximate(flat, draws=50, rng=4).points.tobytes()).hexdigest()
            for _ in range(2)
        ]
        assert digests[0] == digests[1]
