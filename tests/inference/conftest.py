"""Models whose answers have a known origin: leaderboards simulated in several dimensions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from neartie.data.responses import Responses
from neartie.inference.mirt_scales import MirtDifScales


@pytest.fixture(scope="session")
def mirt_scales() -> MirtDifScales:
    return MirtDifScales(loading_scale=0.9, easiness_mean=0.2, easiness_scale=1.2, dif_scale=0.4)


@pytest.fixture(scope="session")
def simulate_mirt() -> Callable[..., tuple[Responses, dict[str, Any]]]:
    return _simulate_mirt


@pytest.fixture(scope="session")
def small_mirt() -> Responses:
    return _simulate_mirt(14, 21, 1, share=0.85)[0]


def _simulate_mirt(n_item, n_model, seed, *, dimension=2, n_family=3, dif_scale=0.4, share=1.0):
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
