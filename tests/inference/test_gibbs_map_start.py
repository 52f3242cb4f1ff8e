"""`start="map"`: chains start about the joint mode, apart, and draw from the same posterior."""

from __future__ import annotations

import json
import pickle
from concurrent.futures import Future
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from neartie.data.battles import Battles
from neartie.data.errors import DataError
from neartie.data.responses import Responses
from neartie.inference import (
    gibbs_chains,
    gibbs_map_battles,
    gibbs_map_dif,
    gibbs_map_start,
    gibbs_map_two_pl,
)
from neartie.inference.bradley_terry import fit_bradley_terry
from neartie.inference.fit import fit
from neartie.inference.gibbs import block_sampler
from neartie.inference.gibbs_effects import HELD, HELD_SWEEPS
from neartie.inference.gibbs_item_draws import contrast_basis
from neartie.inference.gibbs_map_start import block_roots, map_start
from neartie.inference.mirt_dif_map import fit_mirt_dif_map
from neartie.inference.residual_dif import fit_residual_dif
from neartie.inference.two_pl_map import fit_two_pl_map
from neartie.models.bradley_terry_model import build_bradley_terry
from neartie.models.mirt_dif import build_mirt_dif
from neartie.models.priors import ResidualDifPriors
from neartie.models.residual_dif_model import build_residual_dif
from neartie.models.two_pl import build_two_pl

N_ITEM, N_MODEL = 9, 14
OFFSET = np.random.default_rng(4).normal(size=(N_ITEM, N_MODEL))
QUICK: dict[str, Any] = {"engine": "gibbs", "draws": 60, "tune": 10, "chains": 2, "rng": 4}


def answers(*, missing: bool = True) -> Responses:
    """Answers of ability and difficulty; no item has equal ones; families out of order."""
    rng = np.random.default_rng(3)
    logit = rng.normal(size=(1, N_MODEL)) - rng.normal(size=(N_ITEM, 1))
    values = (rng.random(logit.shape) < expit(logit)).astype(np.int8)
    if missing:
        values[rng.random(values.shape) < 0.15] = -1
    values[:, 3], values[:, 5] = 0, 1
    models = pd.DataFrame(
        {
            "model": [f"m{m:02d}" for m in range(N_MODEL)],
            "family": [("C", "A", "B")[m % 3] for m in range(N_MODEL)],
        }
    )
    return Responses.build(values, items=[f"q{i}" for i in range(N_ITEM)], models=models)


def battles() -> Battles:
    rng = np.random.default_rng(1)
    first = rng.integers(5, size=120)
    second = (first + rng.integers(1, 5, size=120)) % 5
    names = np.array(list("abcde"))
    return Battles.build(
        names[first],
        names[second],
        rng.choice(["a", "b", "tie"], size=120, p=[0.5, 0.3, 0.2]),
        judge=rng.choice(["j", "k"], size=120),
    )


SIZES = pd.DataFrame({"model": list("abcde"), "size": [1.0, 2.0, 4.0, 9.0, 3.0]})
MODELS: dict[str, Any] = {
    "two-pl": lambda: build_two_pl(answers()),
    "two-pl, hierarchical": lambda: build_two_pl(answers(), hierarchical=True),
    "two-pl, means": lambda: build_two_pl(answers(missing=False), family_means=True),
    "mirt": lambda: build_mirt_dif(answers(), dimension=2),
    "mirt, tied, means": lambda: build_mirt_dif(
        answers(missing=False), dimension=2, zero_sum="families_and_items", family_means=True
    ),
    "mirt, sparse": lambda: build_mirt_dif(answers(), dimension=2, sparse=True),
    "residual": lambda: build_residual_dif(answers(), OFFSET),
    "residual, tied": lambda: build_residual_dif(answers(), OFFSET, zero_sum="families_and_items"),
    "residual, scale": lambda: build_residual_dif(answers(), OFFSET, hierarchical=True),
    "residual, sparse": lambda: build_residual_dif(answers(), OFFSET, sparse=True),
    "battles": lambda: build_bradley_terry(battles()),
    "battles, all": lambda: build_bradley_terry(
        battles(), ties="davidson", judge_effects=True, covariates=SIZES, hierarchical=True
    ),
    "battles, threshold": lambda: build_bradley_terry(battles(), ties="rao-kupper"),
}


def start_of(model: Any, *seeds: int) -> list[dict[str, np.ndarray]]:
    start = map_start(model, block_sampler(model))
    return [start(np.random.default_rng(seed)) for seed in seeds]


@pytest.fixture
def no_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (gibbs_map_start, gibbs_map_dif, gibbs_map_two_pl, gibbs_map_battles):
        for name in ("SPREAD", "SCALE_SPREAD"):
            monkeypatch.setattr(module, name, 0.0, raising=False)


@pytest.mark.parametrize("name", MODELS)
def test_starts_are_states_of_their_own(name: str) -> None:
    model = MODELS[name]()
    sampler = block_sampler(model)
    one, other, again = start_of(model, 1, 2, 1)
    plain = sampler.start(np.random.default_rng(1))
    assert list(one) == list(plain)
    for part, values in one.items():
        assert values.shape == plain[part].shape, part
        assert values.dtype == np.float64
        assert values.flags.c_contiguous
        assert np.isfinite(values).all(), part
        assert values.tobytes() == again[part].tobytes()
        if part in sampler.names:
            assert (values != other[part]).any(), part
    for part in ("dif", "dif_standard", "family_mean", "strength", "residual_strength"):
        if part in one:
            np.testing.assert_allclose(one[part].sum(axis=-1), 0.0, atol=1e-12)
    for part in ("dif", "dif_standard"):
        if part in one and model.neartie.options["zero_sum"] == "families_and_items":
            np.testing.assert_allclose(one[part].sum(axis=0), 0.0, atol=1e-12)
    rng = np.random.default_rng(3)
    for _ in range(10):
        sampler.sweep(one, rng, tuning=True)
    assert all(np.isfinite(values).all() for values in one.values())


def test_roots_are_those_of_plain_inverses() -> None:
    rng = np.random.default_rng(2)
    weight, design = rng.random((4, 7)), rng.normal(size=(3, 7))
    precision = np.array([1.0, 2.0, 0.5])
    for root, w in zip(block_roots(weight, design, precision), weight, strict=True):
        plain = np.linalg.inv((w * design) @ design.T + np.diag(precision))
        np.testing.assert_allclose(root @ root.T, plain, rtol=1e-10)


@pytest.mark.usefixtures("no_noise")
@pytest.mark.parametrize("zero_sum", ["families", "families_and_items"])
def test_without_noise_a_multidimensional_start_is_the_mode(zero_sum: Any) -> None:
    data = answers()
    found = fit_mirt_dif_map(data, dimension=2, zero_sum=zero_sum, errors="known")
    (state,) = start_of(build_mirt_dif(data, dimension=2, zero_sum=zero_sum), 1)
    dif = state["dif_scale"] * state["dif_standard"]
    logit = state["loading"] @ state["ability"] + state["easiness"][:, None] + dif[:, found.family]
    np.testing.assert_allclose(logit, found.linear_predictor(), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(dif, found.dif, atol=1e-9)
    for name, value in found.scales.to_dict().items():
        assert float(state[name]) == pytest.approx(value)


@pytest.mark.usefixtures("no_noise")
def test_without_noise_other_starts_are_the_modes() -> None:
    data = answers()
    found = fit_two_pl_map(data, constant_items="keep")
    (state,) = start_of(build_two_pl(data), 1)
    np.testing.assert_allclose(state["ability"], found.ability)
    np.testing.assert_allclose(state["difficulty"], found.difficulty)
    np.testing.assert_allclose(np.exp(state["log_discrimination"]), found.discrimination)
    np.testing.assert_allclose(state["_anchor_first"], state["log_discrimination"])
    priors = ResidualDifPriors(dif_sd=0.7)
    family = data.models["family"].tolist()
    fixed = fit_residual_dif(data.values, family=family, offset=OFFSET, penalty=0.7**-2)
    (state,) = start_of(build_residual_dif(data, OFFSET, priors=priors), 1)
    np.testing.assert_allclose(state["easiness"], fixed.easiness, atol=1e-6)
    np.testing.assert_allclose(state["dif"], fixed.effects, atol=1e-6)
    for ties in ("half", "davidson", "rao-kupper"):
        newton = fit_bradley_terry(battles(), ties=ties, prior_sd=1.5)
        (state,) = start_of(build_bradley_terry(battles(), ties=ties), 1)
        np.testing.assert_allclose(state["strength"], newton.strength, atol=1e-7)


def test_noise_is_twice_the_conditional_spread() -> None:
    """1,000 starts: standard deviations within 5 errors of twice the plain ones, false alarms 1e-4."""
    data, n = answers(), 1000
    start = map_start(model := build_residual_dif(data, OFFSET), block_sampler(model))
    rng = np.random.default_rng(7)
    states = [start(rng) for _ in range(n)]
    families, family = np.unique(data.models["family"], return_inverse=True)
    mode = fit_residual_dif(data.values, family=list(families[family]), offset=OFFSET)
    chance = expit(OFFSET + mode.easiness[:, None] + mode.effects[:, family])
    weight = np.where(data.values >= 0, chance * (1 - chance), 0.0)
    design = np.vstack([np.ones(N_MODEL), contrast_basis(3)[family].T])
    for i in range(N_ITEM):
        plain = np.linalg.inv((weight[i] * design) @ design.T + np.diag([0.0, 1.0, 1.0]))
        drawn = np.array([state["easiness"][i] for state in states])
        assert drawn.std() == pytest.approx(2 * np.sqrt(plain[0, 0]), rel=5 / np.sqrt(2 * n))
        assert abs(drawn.mean() - mode.easiness[i]) < 5 * drawn.std() / np.sqrt(n)


def test_sparse_scales_start_about_their_medians_and_wait() -> None:
    """The half-Cauchy's median is its scale; that of 400 factors exp(N(0, .2)) is 1 within .05."""
    model = MODELS["mirt, sparse"]()
    states = start_of(model, *range(400))
    assert np.median([state["dif_scale"] for state in states]) == pytest.approx(0.1, rel=0.05)
    assert np.median([state["dif_local"] for state in states]) == pytest.approx(1.0, rel=0.05)
    assert states[0][HELD] == HELD_SWEEPS
    assert start_of(MODELS["mirt"](), 1)[0][HELD] == 0


def test_an_item_of_equal_answers_starts_where_a_dispersed_chain_does() -> None:
    data = answers(missing=False)
    values = data.values.copy()
    values[0], values[1] = 1, -1
    data = Responses.build(values, items=data.items, models=data.models)
    model = build_residual_dif(data, OFFSET, priors=ResidualDifPriors(easiness_sd=2.0))
    (state,) = start_of(model, 1)
    assert np.isfinite(state["easiness"]).all()
    assert state["easiness"][0] > 0


def test_draws_are_of_the_same_posterior() -> None:
    """Means of 1,500 draws from either start, 5 Monte Carlo errors (an ESS of a fifth)."""
    found = {
        start: fit(answers(), **{**QUICK, "draws": 750, "tune": 100}, start=start)["posterior"]
        for start in ("map", "dispersed")
    }
    for name in ("ability", "difficulty", "log_discrimination"):
        one, other = (found[start][name] for start in ("map", "dispersed"))
        error = one.std(("chain", "draw")) * np.sqrt(2 / 300)
        gap = abs(one.mean(("chain", "draw")) - other.mean(("chain", "draw")))
        assert (gap < 5 * error).all()


class PicklingClient:
    """What is asked of a Dask client, without Dask: all goes through pickles."""

    def scatter(self, data: Any, **_: Any) -> bytes:
        return pickle.dumps(data)

    def submit(self, function: Any, sent: bytes, work: Any, **_: Any) -> Any:
        future: Future[Any] = Future()
        future.set_result(function(pickle.loads(sent), pickle.loads(pickle.dumps(work))))
        return future


@pytest.mark.filterwarnings("ignore::neartie.data.errors.CaveatWarning")
def test_workers_change_no_bit() -> None:
    asked = {**QUICK, "kind": "mirt-dif", "options": {"dimension": 2}, "start": "map"}
    data = answers()
    tree = fit(data, **asked, cores=1)
    turned = data.take(items=np.arange(N_ITEM)[::-1], models=np.arange(N_MODEL)[::-1])
    others = fit(data, **asked, cores=2), fit(turned, **asked, client=PicklingClient())
    for other in others:
        np.testing.assert_array_equal(other["posterior"]["easiness"], tree["posterior"]["easiness"])
    assert json.loads(tree.attrs["settings"])["start"] == "map"


@pytest.mark.filterwarnings("ignore::neartie.data.errors.CaveatWarning")
def test_a_run_goes_on_without_looking_for_the_mode_again(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = fit(battles(), **QUICK, start="map")
    monkeypatch.setattr(gibbs_chains, "_CHECKPOINT_SECONDS", -1.0)
    monkeypatch.setattr(gibbs_chains, "_CHECKPOINT_SHARE", 1e9)
    monkeypatch.setattr(gibbs_chains, "_BLOCK_SECONDS", 0.0)
    write, written = gibbs_chains.write_checkpoint, []

    def once(*arguments: Any, **named: Any) -> None:
        write(*arguments, **named)
        written.append(1)
        if len(written) == 20:
            raise KeyboardInterrupt

    path = tmp_path / "run.npz"
    monkeypatch.setattr(gibbs_chains, "write_checkpoint", once)
    with pytest.raises(KeyboardInterrupt):
        fit(battles(), **QUICK, start="map", checkpoint=path)
    with pytest.raises(DataError, match="differs in: start"):
        fit(battles(), **QUICK, checkpoint=path)

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the mode is sought again")

    monkeypatch.setattr(gibbs_map_battles, "newton", refuse)
    resumed = fit(battles(), **QUICK, start="map", checkpoint=path)
    np.testing.assert_array_equal(resumed["posterior"]["strength"], whole["posterior"]["strength"])


@pytest.mark.parametrize("slopes", ["one", "signed"])
def test_models_without_a_joint_mode_are_refused_by_name(slopes: str) -> None:
    with pytest.raises(DataError, match=f"discrimination='{slopes}'; use start='dispersed'"):
        fit(answers(), options={"discrimination": slopes}, **QUICK, start="map")


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="start must be dispersed or map, got 'there'"):
        fit(answers(), **QUICK, start="there")
    with pytest.raises(ValueError, match="start is for the engine gibbs, not for nuts"):
        fit(answers(), engine="nuts", start="map")
