"""Geweke's test of the samplers with family effects: sweeps and fresh answers keep the prior.

Geweke (2004), Journal of the American Statistical Association 99, 799-804,
doi:10.1198/016214504000001132. Drawing parameters by a sweep given answers, and answers given
parameters, in turn has the joint distribution as its limit, so that parameters alone keep their
prior. Any wrong conditional, Jacobian or constant shows.
"""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from neartie.data.responses import Responses
from neartie.inference.calibration import calibrate
from neartie.inference.gibbs_cells import arrange_cells
from neartie.inference.gibbs_mirt_dif import gibbs_mirt_dif
from neartie.inference.gibbs_residual_dif import gibbs_residual_dif
from neartie.models.mirt_dif import build_mirt_dif
from neartie.models.priors import MirtDifPriors, ResidualDifPriors
from neartie.models.residual_dif_model import build_residual_dif

N_ITEM, N_MODEL, K = 5, 7, 2
FAMILY = np.array([0, 1, 2, 0, 1, 0, 2])
N_BATCH = 40
OFFSET = np.random.default_rng(5).normal(size=(N_ITEM, N_MODEL))
MIRT = {
    "plain": {},
    "tied": {"zero_sum": "families_and_items"},
    "means": {"family_means": True},
    "tied means": {"zero_sum": "families_and_items", "family_means": True},
    "sparse": {"sparse": True},
    "sparse means": {"sparse": True, "family_means": True},
}
RESIDUAL = {
    f"{scale} {zero_sum}": {
        "zero_sum": zero_sum,
        **({scale: True} if scale != "fixed" else {}),
    }
    for scale, zero_sum in itertools.product(
        ("fixed", "hierarchical", "sparse"), ("families", "families_and_items")
    )
    if (scale, zero_sum) != ("sparse", "families_and_items")
}
# Lighter tails than the defaults: means of heavy tails prove nothing in short runs.
SHARED = {"dif_scale_sd": 0.8, "dif_global_scale": 0.5, "dif_local_df": 3.0, "dif_slab_df": 6.0}
MIRT_PRIORS = MirtDifPriors(
    loading_spread=0.9, easiness_scale=0.8, log_scale_sd=0.4, easiness_mean_sd=0.8, **SHARED
)
RESIDUAL_PRIORS = ResidualDifPriors(dif_sd=0.7, easiness_mean=0.4, easiness_sd=0.9, **SHARED)


def answers(seed=1) -> Responses:
    """Random answers; every seventh cell is missing."""
    values = np.random.default_rng(seed).integers(0, 2, size=(N_ITEM, N_MODEL)).astype(np.int8)
    values.ravel()[::7] = -1
    models = pd.DataFrame(
        {"model": [f"m{m}" for m in range(N_MODEL)], "family": [f"f{f}" for f in FAMILY]}
    )
    return Responses.build(values, items=[f"q{i}" for i in range(N_ITEM)], models=models)


def zero_sum(rng, shape, *, axes) -> np.ndarray:
    values = rng.normal(size=shape)
    for axis in range(1, axes + 1):
        values = values - values.mean(axis=-axis, keepdims=True)
    return values


def prior_effects(rng, priors, options) -> dict[str, np.ndarray]:
    """Draw the parameters of family effects, and `dif`, from their prior."""
    shape, axes = (N_ITEM, 3), 1 if options.get("zero_sum", "families") == "families" else 2
    if options.get("sparse"):
        scale = stats.halfcauchy(scale=priors.dif_global_scale).rvs(random_state=rng)
        local = abs(stats.t(priors.dif_local_df).rvs(N_ITEM, random_state=rng))
        half = 0.5 * priors.dif_slab_df
        slab = stats.invgamma(half, scale=half * priors.dif_slab_scale**2).rvs(random_state=rng)
        standard = zero_sum(rng, shape, axes=1)
        width = scale * local / np.sqrt(1 + (scale * local) ** 2 / slab)
        return {
            "dif_scale": np.array(scale),
            "dif_local": local,
            "dif_slab_variance": np.array(slab),
            "dif_standard": standard,
            "dif": width[:, None] * standard,
        }
    standard = zero_sum(rng, shape, axes=axes)
    if isinstance(priors, ResidualDifPriors) and not options.get("hierarchical"):
        return {"dif": priors.dif_sd * standard}
    scale = abs(rng.normal(0, priors.dif_scale_sd))
    return {
        "dif_scale": np.array(scale),
        "dif_standard": standard,
        "dif": scale * standard,
    }


def mirt_prior(rng, options) -> dict[str, np.ndarray]:
    priors = MIRT_PRIORS
    means = np.zeros((K, 3))
    if options.get("family_means"):
        means = priors.family_mean_sd * zero_sum(rng, (K, 3), axes=1)
    log_sd = priors.log_scale_sd
    loading_scale = priors.loading_spread / np.sqrt(K) * np.exp(log_sd * rng.normal())
    easiness_scale = priors.easiness_scale * np.exp(log_sd * rng.normal())
    easiness_mean = rng.normal(0, priors.easiness_mean_sd)
    drawn = {
        "ability": means[:, FAMILY] + rng.normal(size=(K, N_MODEL)),
        "loading_scale": np.array(loading_scale),
        "loading": rng.normal(0, loading_scale, (N_ITEM, K)),
        "easiness_mean": np.array(easiness_mean),
        "easiness_scale": np.array(easiness_scale),
        "easiness": rng.normal(easiness_mean, easiness_scale, N_ITEM),
        **prior_effects(rng, priors, options),
    }
    return drawn | ({"family_mean": means} if options.get("family_means") else {})


def residual_prior(rng, options) -> dict[str, np.ndarray]:
    priors = RESIDUAL_PRIORS
    easiness = rng.normal(priors.easiness_mean, priors.easiness_sd, N_ITEM)
    return {"easiness": easiness, **prior_effects(rng, priors, options)}


def effects_of(point) -> np.ndarray:
    if "dif_local" in point:
        size = point["dif_scale"] * point["dif_local"]
        width = size / np.sqrt(1 + size**2 / point["dif_slab_variance"])
        return width[:, None] * point["dif_standard"]
    if "dif_scale" in point:
        return point["dif_scale"] * point["dif_standard"]
    return point["dif"]


def predictor(point) -> np.ndarray:
    factors = point["loading"] @ point["ability"] if "loading" in point else OFFSET
    return factors + point["easiness"][:, None] + effects_of(point)[:, FAMILY]


def features(point) -> dict[str, float]:
    """Numbers that a wrong conditional moves; heavy tails on the log scale or bounded."""
    effects, eta = effects_of(point), predictor(point)
    found = {
        "predictor": np.tanh(eta[0, 0]),
        "predictor squared": np.tanh(eta[1, 2]) ** 2,
        "largest predictor": np.log(abs(eta).max()),
        "easiness": point["easiness"][0],
        "easiness squared": point["easiness"][1] ** 2,
        "easiness products": point["easiness"][0] * point["easiness"][1],
        "effect": np.tanh(effects[0, 0]),
        "size of effects": np.log((effects**2).sum()),
        "effects of an item": np.log(np.ptp(effects[2])),
        "effects of two families": np.tanh(effects[0, 0] * effects[0, 1]),
        "easiness and effect": np.tanh(point["easiness"][0] * effects[0, 2]),
    }
    for name in ("loading_scale", "easiness_scale", "dif_scale", "dif_slab_variance"):
        if name in point:
            logs = np.log(point[name])
            found |= {name: logs, f"{name} squared": logs**2}
    if "dif_local" in point:
        found["dif_local"] = np.log(point["dif_local"][0])
        found["dif_local squared"] = np.log(point["dif_local"][1]) ** 2
    if "ability" in point:
        found |= {
            "easiness_mean": float(point["easiness_mean"]),
            "easiness_mean squared": float(point["easiness_mean"]) ** 2,
            "ability": point["ability"][0, 0],
            "ability squared": point["ability"][0, 1] ** 2,
            "abilities": (point["ability"] ** 2).sum(),
            "two abilities": (point["ability"][:, 0] * point["ability"][:, 3]).sum(),
            "loadings": np.log((point["loading"] ** 2).sum()),
            "two loadings": np.tanh(point["loading"][0] @ point["loading"][1]),
            "scale and ability": np.log(point["loading_scale"]) * (point["ability"] ** 2).mean(),
        }
    if "family_mean" in point:
        found["family_mean squared"] = point["family_mean"][0, 0] ** 2
        found["family means"] = point["family_mean"][0] @ point["family_mean"][1]
        found["mean and ability"] = (point["family_mean"][:, FAMILY] * point["ability"]).sum()
    return {name: float(value) for name, value in found.items()}


def geweke(sampler, prior, options, *, n: int, seed: int) -> pd.Series:
    """Return the z-score of every feature: means over n steps against n draws from the prior."""
    rng = np.random.default_rng(seed)
    seen = sampler.cells.answers[:, np.argsort(sampler.cells.order)] >= 0
    offset = OFFSET if len(sampler.cells.offset) else None
    direct = pd.DataFrame([features(prior(rng, options)) for _ in range(n)])
    drawn = prior(rng, options)
    state = {name: np.array(drawn[name]) for name in sampler.names}
    rows = []
    for _ in range(n):
        right = rng.random(seen.shape) < 1 / (1 + np.exp(-predictor(state)))
        values = np.where(seen, right, -1).astype(np.int8)
        cells = arrange_cells(values, FAMILY, offset=offset)
        replace(sampler, cells=cells).sweep(state, rng, tuning=False)
        rows.append(features(state))
    batches = pd.DataFrame(rows).groupby(np.arange(n) * N_BATCH // n).mean()
    error = np.sqrt(batches.var() / N_BATCH + direct.var() / n)
    return (batches.mean() - direct.mean()) / error


def check(z: pd.Series, *, limit: float) -> None:
    far = z[abs(z) > limit]
    assert far.empty, far.to_string()


# t with 39 degrees of freedom: |z| > 5 has probability 1e-5 a feature, 3e-4 a test.
LIMIT = 5.0


@pytest.mark.parametrize("name", ["plain", "tied means"])
def test_mirt_dif_in_short(name):
    model = build_mirt_dif(answers(), dimension=K, priors=MIRT_PRIORS, **MIRT[name])
    check(geweke(gibbs_mirt_dif(model), mirt_prior, MIRT[name], n=2000, seed=1), limit=LIMIT)


@pytest.mark.parametrize("name", ["hierarchical families", "fixed families_and_items"])
def test_residual_dif_in_short(name):
    options = RESIDUAL[name]
    model = build_residual_dif(answers(), OFFSET, priors=RESIDUAL_PRIORS, **options)
    check(geweke(gibbs_residual_dif(model), residual_prior, options, n=2000, seed=2), limit=LIMIT)


@pytest.mark.slow
@pytest.mark.parametrize("name", MIRT)
def test_mirt_dif(name):
    model = build_mirt_dif(answers(), dimension=K, priors=MIRT_PRIORS, **MIRT[name])
    check(geweke(gibbs_mirt_dif(model), mirt_prior, MIRT[name], n=20_000, seed=3), limit=LIMIT)


@pytest.mark.slow
@pytest.mark.parametrize("name", RESIDUAL)
def test_residual_dif(name):
    options = RESIDUAL[name]
    model = build_residual_dif(answers(), OFFSET, priors=RESIDUAL_PRIORS, **options)
    z = geweke(gibbs_residual_dif(model), residual_prior, options, n=20_000, seed=4)
    check(z, limit=LIMIT)


CALIBRATED = [("mirt", name) for name in MIRT] + [("residual", name) for name in RESIDUAL]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), CALIBRATED)
def test_posteriors_are_calibrated(kind, name):
    """Truths from the prior lie among draws as they should: false alarms 1e-3 a case."""
    if kind == "mirt":
        options, prior = MIRT[name], mirt_prior
        model = build_mirt_dif(answers(), dimension=K, priors=MIRT_PRIORS, **options)
    else:
        options, prior = RESIDUAL[name], residual_prior
        model = build_residual_dif(answers(), OFFSET, priors=RESIDUAL_PRIORS, **options)
    cells = np.nonzero(answers().values >= 0)

    def simulate(rng):
        truth = prior(rng, options)
        right = rng.random((N_ITEM, N_MODEL)) < 1 / (1 + np.exp(-predictor(truth)))
        return truth, {"score": right[cells].astype(np.int8)}

    found = calibrate(model, simulate, engine="gibbs", n_replicates=80, thin=6, tune=200, rng=6)
    table = found.table().set_index("quantity")
    assert table["p_adjusted"].min() > 1e-3, table


def test_a_wrong_prior_shows():
    """The test itself can fail: 2,000 steps see a scale of family effects that is off by half."""
    model = build_mirt_dif(answers(), dimension=K, priors=MIRT_PRIORS)
    sampler = gibbs_mirt_dif(model)
    wrong = replace(sampler, effects=replace(sampler.effects, scale_sd=0.4))
    z = geweke(wrong, mirt_prior, {}, n=2000, seed=5)
    assert abs(z).max() > LIMIT
