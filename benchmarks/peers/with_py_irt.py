"""py-irt: stochastic variational inference, as its command line does it; no errors are exported."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from py_irt.config import IrtConfig
from py_irt.dataset import Dataset
from py_irt.training import IrtModelTrainer

PACKAGE = "py-irt"


def trainer(data: dict[str, Any], config: IrtConfig) -> IrtModelTrainer:
    """Return a trainer for the answers, which have to be read from a file of lines."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "answers.jsonlines"
        with path.open("w") as out:
            for model, row in enumerate(data["answers"].tolist()):
                answers = {f"q{item:05d}": right for item, right in enumerate(row)}
                out.write(json.dumps({"subject_id": f"m{model:05d}", "responses": answers}) + "\n")
        dataset = Dataset.from_jsonlines(path)
        return IrtModelTrainer(data_path=path, config=config, dataset=dataset, verbose=False)


def in_order(values: Any, ids: dict[int, str]) -> Any:
    """Return values in the order of the ids, which is that of the data."""
    return np.asarray(values)[np.argsort([ids[place] for place in sorted(ids)])]


def two_pl(data: dict[str, Any], epochs: int) -> Callable[[], dict[str, Any]]:
    """The 2PL with hierarchical priors; the vague ones have an sd of .1 for difficulties."""
    config = IrtConfig(model_type="2pl", priors="hierarchical", epochs=epochs, seed=20261130)
    training = trainer(data, config)

    def fit() -> dict[str, Any]:
        training.train(device="cpu")
        found = training.last_params
        items, models = found["item_ids"], found["subject_ids"]
        return {
            "ability": in_order(found["ability"], models),
            "slope": in_order(found["disc"], items),
            "difficulty": in_order(found["diff"], items),
        }

    return fit


def several(data: dict[str, Any], epochs: int, rate: float) -> Callable[[], dict[str, Any]]:
    """The 2PL of several dimensions."""
    config = IrtConfig(
        model_type="multidim_2pl",
        priors="hierarchical",
        dims=data["dimension"],
        epochs=epochs,
        lr=rate,
        seed=20261130,
    )
    training = trainer(data, config)

    def fit() -> dict[str, Any]:
        training.train(device="cpu")
        found = training.last_params
        items, models = found["item_ids"], found["subject_ids"]
        slope, ability = in_order(found["disc"], items), in_order(found["ability"], models)
        intercept = -np.sum(slope * in_order(found["diff"], items), axis=1)
        return {"predictor": ability @ slope.T + intercept}

    return fit


METHODS: dict[str, Callable[[dict[str, Any]], Callable[[], dict[str, Any]]]] = {
    "SVI, 50 epochs": lambda data: two_pl(data, 50),
    "SVI, 500 epochs": lambda data: two_pl(data, 500),
    "SVI, 2,000 epochs": lambda data: two_pl(data, 2000),
    "several, 1,200 epochs, rate .05": lambda data: several(data, 1200, 0.05),
    "several, 500 epochs, rate .1": lambda data: several(data, 500, 0.1),
}
