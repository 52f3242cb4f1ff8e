"""torch_measure: joint maximum likelihood with a ridge, and variational inference.

Both at the settings that the functions of the package have as their defaults. `TwoPL.fit` replaces
some of them by others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch_measure.models import LogisticFM, TwoPL

PACKAGE = "torch-measure"


def two_pl(data: dict[str, Any], method: str, **options: Any) -> Callable[[], dict[str, Any]]:
    """The 2PL; of the variational posterior, with the scales that the package gives."""
    answers = torch.tensor(data["answers"], dtype=torch.float32)

    def fit() -> dict[str, Any]:
        torch.manual_seed(20261130)
        model = TwoPL(*answers.shape)
        history = model.fit(answers, method=method, verbose=False, **options)
        found = {
            "ability": model.ability.detach().numpy(),
            "slope": model.discrimination.detach().numpy(),
            "difficulty": model.difficulty.detach().numpy(),
        }
        if "posterior" in history:
            found["se"] = history["posterior"]["ability"]["scale"].numpy()
        return found

    return fit


def several(data: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """The factor model, by joint maximum likelihood with a ridge."""
    answers = torch.tensor(data["answers"], dtype=torch.float32)

    def fit() -> dict[str, Any]:
        torch.manual_seed(20261130)
        model = LogisticFM(*answers.shape, n_factors=data["dimension"])
        model.fit(answers, method="jml", verbose=False, max_epochs=500, lr=0.1)
        with torch.no_grad():
            predictor = model.U @ model.V.T + model.Z
        return {"predictor": predictor.numpy().astype(np.float64)}

    return fit


METHODS: dict[str, Callable[[dict[str, Any]], Callable[[], dict[str, Any]]]] = {
    "joint ML, ridge": lambda data: two_pl(data, "jml", max_epochs=500, lr=0.1),
    "SVI, 1,000 steps": lambda data: two_pl(data, "svi", max_epochs=1000),
    "EM": lambda data: two_pl(data, "em"),
    "factor model, joint ML": several,
}
