"""`fit(engine="gibbs", keep=...)`: draws of some variables, moments of the rest, on line."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pymc as pm
import pytest

from neartie.data.errors import DataError
from neartie.data.responses import Responses
from neartie.inference import gibbs_chains
from neartie.inference.fit import fit, posterior_memory
from neartie.inference.free_values import free_values
from neartie.inference.gibbs_chains import Length, sample_gibbs
from neartie.inference.gibbs_protocol import State
from neartie.inference.gibbs_record import add_draw, recorder_of
from neartie.inference.posterior_file import read_posterior, write_posterior
from neartie.inference.posterior_tables import dif_table, item_table, parameter_table
from neartie.models.mirt_dif import build_mirt_dif

QUICK: dict[str, Any] = {
    "kind": "mirt-dif",
    "options": {"dimension": 2},
    "engine": "gibbs",
    "draws": 40,
    "tune": 10,
    "thin": 2,
    "chains": 2,
    "rng": 4,
}
KEEP = ("dif_range", "easiness", "loading_scale")

pytestmark = pytest.mark.filterwarnings("ignore::neartie.data.errors.CaveatWarning")


@pytest.fixture(scope="module")
def answers() -> Responses:
    rng = np.random.default_rng(2)
    models = pd.DataFrame(
        {"model": [f"m{m}" for m in range(8)], "family": [("A", "B")[m % 2] for m in range(8)]}
    )
    values = rng.integers(0, 2, (6, 8)).astype(np.int8)
    return Responses.build(values, items=[f"q{i}" for i in range(6)], models=models)


@pytest.fixture(scope="module")
def whole(answers: Responses) -> Any:
    return fit(answers, **QUICK)


@pytest.fixture(scope="module")
def thrifty(answers: Responses) -> Any:
    return fit(answers, **QUICK, keep=KEEP)


def test_kept_draws_are_those_of_a_run_that_keeps_all(whole: Any, thrifty: Any) -> None:
    assert set(thrifty["posterior"].data_vars) == {*KEEP, "expected_score"}
    for name in thrifty["posterior"].data_vars:
        one, other = thrifty["posterior"][name], whole["posterior"][name]
        assert one.dims == other.dims
        np.testing.assert_array_equal(one, other)
        for dim in one.dims:
            np.testing.assert_array_equal(one[dim], other[dim])
    assert json.loads(thrifty.attrs["settings"])["keep"] == sorted(KEEP)


def test_moments_are_those_of_all_draws(whole: Any, thrifty: Any) -> None:
    draws, means, sds = whole["posterior"], thrifty["posterior_mean"], thrifty["posterior_sd"]
    wanted = {"dif", "dif_standard", "dif_scale", "easiness_mean", "easiness_scale"}
    wanted |= {"linear_predictor"}
    assert set(means.data_vars) == set(sds.data_vars) == wanted
    for name in wanted:
        flat = draws[name].stack(all=("chain", "draw"))
        assert means[name].dims == draws[name].dims[2:]
        np.testing.assert_allclose(means[name], flat.mean("all"), atol=1e-12)
        np.testing.assert_allclose(sds[name], flat.std("all", ddof=1), rtol=1e-9)
    assert means["dif"].sel(family="B", item="q3").size == 1


def test_running_moments_are_plain_ones_far_from_zero() -> None:
    values = 1e8 + np.random.default_rng(1).normal(size=(200, 3))
    moments = np.zeros((2, 3))
    for n, row in enumerate(values, start=1):
        add_draw(moments, row, n)
    np.testing.assert_allclose(moments[0], values.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(moments[1] / 200, values.var(axis=0), rtol=1e-5)


def test_tables_have_moments_where_there_are_no_draws(whole: Any, thrifty: Any) -> None:
    items, full = item_table(thrifty), item_table(whole)
    # easiness and the range were kept, so that all is the same
    pd.testing.assert_frame_equal(items, full)
    effects, parameters = dif_table(thrifty), parameter_table(thrifty)
    assert list(effects["item"]) == list(dif_table(whole)["item"])
    for column in ("effect", "sd"):
        np.testing.assert_allclose(effects[column], dif_table(whole)[column], atol=1e-12)
    assert effects[["low", "high"]].isna().all(axis=None)
    wanted = parameter_table(whole)
    assert list(parameters["parameter"]) == list(wanted["parameter"])
    np.testing.assert_allclose(parameters["sd"], wanted["sd"], rtol=1e-9)
    assert list(parameters["low"].notna()) == list(wanted["parameter"] == "loading_scale")


def test_the_verdict_says_what_was_not_judged(thrifty: Any) -> None:
    said = "Not judged, since draws were not kept: linear_predictor, dif, dif_scale"
    assert said in thrifty.attrs["verdict"]


def test_files_hold_moments_too(thrifty: Any, tmp_path: Path) -> None:
    read = read_posterior(write_posterior(thrifty, tmp_path / "posterior.nc"))
    np.testing.assert_array_equal(read["posterior_sd"]["dif"], thrifty["posterior_sd"]["dif"])


class PicklingClient:
    """What is asked of a Dask client, without Dask: all goes through pickles."""

    def scatter(self, data: Any, **_: Any) -> bytes:
        return pickle.dumps(data)

    def submit(self, function: Any, sent: bytes, work: Any, **_: Any) -> Any:
        future: Future[Any] = Future()
        future.set_result(function(pickle.loads(sent), pickle.loads(pickle.dumps(work))))
        return future


def same(one: Any, other: Any) -> None:
    for group in ("posterior", "posterior_mean", "posterior_sd"):
        for name in one[group].data_vars:
            assert one[group][name].to_numpy().tobytes() == other[group][name].to_numpy().tobytes()


def test_workers_and_a_stop_change_no_bit(
    answers: Responses, thrifty: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    same(thrifty, fit(answers, **QUICK, keep=KEEP[::-1], cores=1))
    same(thrifty, fit(answers, **QUICK, keep=KEEP, client=PicklingClient()))
    monkeypatch.setattr(gibbs_chains, "_CHECKPOINT_SECONDS", -1.0)
    monkeypatch.setattr(gibbs_chains, "_CHECKPOINT_SHARE", 1e9)
    monkeypatch.setattr(gibbs_chains, "_BLOCK_SECONDS", 0.0)
    write, written = gibbs_chains.write_checkpoint, []

    def once(*arguments: Any, **named: Any) -> None:
        write(*arguments, **named)
        written.append(1)
        if len(written) == 45:
            raise KeyboardInterrupt

    path = tmp_path / "run.npz"
    monkeypatch.setattr(gibbs_chains, "write_checkpoint", once)
    with pytest.raises(KeyboardInterrupt):
        fit(answers, **QUICK, keep=KEEP, checkpoint=path)
    with pytest.raises(DataError, match="differs in: keep"):
        fit(answers, **QUICK, checkpoint=path)
    same(thrifty, fit(answers, **QUICK, keep=KEEP, checkpoint=path))


class Walk:
    """A slow walk beside noise: a run of adaptive length goes on for long."""

    names = ("x", "y")

    def start(self, rng: np.random.Generator) -> State:
        return {"x": np.zeros(1), "y": np.zeros(2)}

    def sweep(self, state: State, rng: np.random.Generator, *, tuning: bool) -> None:
        state["x"] *= 0.9
        state["x"] += rng.standard_normal(1)
        state["y"][...] = rng.standard_normal(2)

    def place_anchors(self, state: State) -> None:
        """Do nothing."""

    def counts(self, state: State) -> Mapping[str, float]:
        return {}


def test_moments_of_an_adaptive_run_are_of_all_draws_that_it_made() -> None:
    """The sweeps that it kept at some time, from a plain loop: every one, then every second, ..."""
    with pm.Model(coords={"two": [0, 1]}) as model:
        pm.Normal("x", shape=1)
        pm.Normal("y", dims="two")
    model.neartie = SimpleNamespace(ranking="x")
    layout = free_values(model)
    found = sample_gibbs(
        Walk(),
        layout,
        length=Length(draws=50, tune=3, min_ess=60.0),
        chains=2,
        cores=1,
        recorder=recorder_of(model, layout, ["x"]),
        watch=("x",),
        seed=5,
    )
    thin, sweeps = found.facts["thin"], found.facts["sweeps"]
    assert thin >= 4
    made = [n for step in (2**k for k in range(20)) for n in _kept_at(step, thin, sweeps - 3)]
    states = []
    for part in np.random.SeedSequence(5).spawn(2):
        rng, state = np.random.default_rng(part), {"x": np.zeros(1), "y": np.zeros(2)}
        values = []
        for _ in range(sweeps):
            Walk().sweep(state, rng, tuning=False)
            values.append(state["y"].copy())
        states.append(np.array(values)[3:][np.array(made) - 1])
    plain = np.concatenate(states)
    mean, sd = found.moments["y"]
    np.testing.assert_allclose(mean, plain.mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(sd, plain.std(axis=0, ddof=1), rtol=1e-10)


def _kept_at(step: int, last: int, sweeps: int) -> range:
    """Sweeps after tuning that are kept while every `step`-th one is, of which 50 are held."""
    first = 1 if step == 1 else 25 * step + step
    return range(first, min(50 * step, sweeps) + 1, step) if step <= last else range(0)


def test_two_pl_keeps_what_it_ranks_by(answers: Responses) -> None:
    asked = {**QUICK, "kind": "two-pl", "options": {}}
    tree = fit(answers, **asked, keep=["ability"])
    assert set(tree["posterior"].data_vars) == {"ability"}
    assert "discrimination" in tree["posterior_mean"]


def test_memory_is_that_of_what_is_kept(answers: Responses) -> None:
    model = build_mirt_dif(answers, dimension=2)
    asked: dict[str, Any] = {"draws": 1000, "tune": 10, "chains": 2, "engine": "gibbs"}
    assert posterior_memory(model, **asked, keep=["dif_range"]) < (
        0.2 * posterior_memory(model, **asked)
    )


def test_what_makes_no_sense_is_refused(answers: Responses) -> None:
    with pytest.raises(DataError, match="keep names 'D', but the model's variables are ability"):
        fit(answers, **QUICK, keep=["D"])
    for nothing in ("ability", []):
        with pytest.raises(DataError, match="must be names of variables, at least one"):
            fit(answers, **QUICK, keep=nothing)
    with pytest.raises(ValueError, match="keep is for the engine gibbs, not for nuts"):
        fit(answers, kind="two-pl", engine="nuts", keep=["ability"])
    with pytest.raises(ValueError, match="log_likelihood needs the draws of all variables"):
        fit(answers, **QUICK, keep=KEEP, log_likelihood=True)
