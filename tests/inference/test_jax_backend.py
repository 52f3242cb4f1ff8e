"""The density that JAX computes is that of numba, for every model; fits say what is missing."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pandas as pd
import pytest

from neartie.data.battles import Battles
from neartie.data.errors import DataError
from neartie.data.responses import Responses
from neartie.inference.fit import fit
from neartie.inference.flat_model import flatten_model
from neartie.models.bradley_terry_model import build_bradley_terry
from neartie.models.mirt_dif import build_mirt_dif
from neartie.models.residual_dif_model import build_residual_dif
from neartie.models.two_pl import build_two_pl


def answers(*, missing: bool = False) -> Responses:
    rng = np.random.default_rng(3)
    values = rng.integers(2, size=(7, 8)).astype(np.int8)
    if missing:
        values[rng.random(values.shape) < 0.3] = -1
    models = pd.DataFrame({"model": [f"m{k}" for k in range(8)], "family": list("ABABABAB")})
    return Responses.build(values, items=[f"q{k}" for k in range(7)], models=models)


MODELS = {
    "2PL with missing answers": lambda: build_two_pl(answers(missing=True), hierarchical=True),
    "MIRT-DIF": lambda: build_mirt_dif(answers(), dimension=2, zero_sum="families_and_items"),
    "residual DIF": lambda: build_residual_dif(answers(), np.zeros((7, 8)), hierarchical=True),
    "Bradley-Terry": lambda: build_bradley_terry(
        Battles.build(list("abcab"), list("bcaca"), ["a", "b", "tie", "a", "b"]),
        ties="davidson",
    ),
}


@pytest.mark.parametrize(
    "name",
    [
        "Bradley-Terry",
        *(
            pytest.param(name, marks=pytest.mark.slow)  # for the compilation
            for name in MODELS
            if name != "Bradley-Terry"
        ),
    ],
)
def test_density_and_gradient_are_those_of_numba(name: str) -> None:
    model = MODELS[name]()
    plain, other = flatten_model(model), flatten_model(model, backend="jax")
    for seed in range(3):
        point = plain.start + 0.5 * np.random.default_rng(seed).standard_normal(plain.size)
        (value, slope), (own_value, own_slope) = plain.evaluate(point), other.evaluate(point)
        # Sums in another order: some ten roundings of terms of the size of the density.
        assert own_value == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(own_slope, slope, rtol=1e-9, atol=1e-9)
        assert own_slope.flags.writeable


def test_nuts_runs_on_it_with_chains_at_a_time() -> None:
    settings: dict[str, Any] = {"draws": 200, "tune": 200, "chains": 2, "rng": 2}
    with pytest.warns(Warning, match="Not converged"):
        found = fit(answers(), backend="jax", cores=2, **settings)
    assert '"backend": "jax"' in found.attrs["settings"]
    assert found.attrs["max_rhat"] < 1.1


def test_without_jax_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "jax" else find(name)
    )
    with pytest.raises(DataError, match=r'pip install "neartie\[jax\]"'):
        fit(answers(), backend="jax")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"backend": "cuda"}, "backend must be numba or jax, got 'cuda'"),
        ({"backend": "jax", "engine": "gibbs"}, "the engine gibbs has no backend jax"),
    ],
)
def test_backends_that_are_not_there_are_refused(asked: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(answers(), **asked)  # type: ignore[arg-type]
