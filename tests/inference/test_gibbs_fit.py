"""`fit(engine="gibbs")`: the same kind of answer as NUTS, wherever the chains run."""

from __future__ import annotations

import json
import pickle
from concurrent.futures import Future
from typing import Any

import numpy as np
import pymc as pm
import pytest

from neartie.data.responses import Responses
from neartie.inference.fit import fit

SETTINGS: dict[str, Any] = {
    "rng": 4,
    "engine": "gibbs",
    "draws": 500,
    "tune": 100,
    "thin": 10,
    "chains": 2,
}


@pytest.fixture(scope="module")
def answers() -> Responses:
    rng = np.random.default_rng(2)
    logit = rng.normal(size=(1, 9)) - rng.normal(size=(12, 1))
    return Responses.build(
        (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(int),
        items=[f"q{i}" for i in range(12)],
        models=[f"m{i}" for i in range(9)],
    )


@pytest.fixture(scope="module")
def tree(answers: Responses) -> Any:
    return fit(answers, **SETTINGS)


def test_the_answer_has_what_one_of_nuts_has(tree: Any) -> None:
    posterior = tree["posterior"]
    assert posterior["ability"].dims == ("chain", "draw", "model")
    assert posterior["discrimination"].sizes == {"chain": 2, "draw": 500, "item": 12}
    np.testing.assert_allclose(
        posterior["discrimination"], np.exp(posterior["log_discrimination"]), rtol=1e-14
    )
    assert tree.attrs["engine"] == "gibbs"
    assert json.loads(tree.attrs["settings"])["thin"] == 10
    assert json.loads(tree.attrs["facts"])["sweeps"] == 5100
    assert tree["observed_data"]["score"].shape == (12, 9)
    assert tree.attrs["converged"] == "yes"


class PicklingClient:
    """What is asked of a Dask client, without Dask: all goes through pickles."""

    def scatter(self, data: Any, **_: Any) -> bytes:
        return pickle.dumps(data)

    def submit(self, function: Any, sent: bytes, work: Any, **_: Any) -> Any:
        future: Future[Any] = Future()
        done = function(pickle.loads(sent), pickle.loads(pickle.dumps(work)))
        future.set_result(pickle.loads(pickle.dumps(done)))
        return future


def test_a_client_changes_no_bit(answers: Responses, tree: Any) -> None:
    spread = fit(answers, **SETTINGS, client=PicklingClient())
    np.testing.assert_array_equal(spread["posterior"]["ability"], tree["posterior"]["ability"])


@pytest.mark.slow
def test_workers_change_no_bit(answers: Responses, tree: Any) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        spread = fit(answers, **SETTINGS, client=client)
    np.testing.assert_array_equal(spread["posterior"]["ability"], tree["posterior"]["ability"])


def test_the_order_of_the_answers_changes_no_bit(answers: Responses, tree: Any) -> None:
    turned = answers.take(items=np.arange(12)[::-1], models=np.arange(9)[::-1])
    again = fit(turned, **SETTINGS)
    np.testing.assert_array_equal(again["posterior"]["ability"], tree["posterior"]["ability"])


def test_an_adaptive_fit_reaches_what_it_was_asked_for(answers: Responses) -> None:
    found = fit(answers, **{**SETTINGS, "thin": 2, "min_ess": 400})
    assert found.attrs["converged"] == "yes"
    assert min(found.attrs["min_ess_bulk"], found.attrs["min_ess_tail"]) >= 400
    assert found["posterior"].sizes["draw"] <= 500


def test_a_client_for_another_engine_is_refused(answers: Responses) -> None:
    with pytest.raises(ValueError, match="client is for the engine gibbs, not for laplace"):
        fit(answers, engine="laplace", client=PicklingClient())


def test_a_model_from_elsewhere_is_refused() -> None:
    with pm.Model() as model:
        pm.Normal("x")
    with pytest.raises(TypeError, match="use the engine nuts"):
        fit(model, engine="gibbs")
