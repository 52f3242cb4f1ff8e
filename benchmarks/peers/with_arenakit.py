"""arenakit: strengths by MM, and percentile intervals of its bootstrap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import arenakit
import numpy as np

PACKAGE = "arenakit"


def arena(data: dict[str, Any]) -> Any:
    """Return the battles in the package's form, an object a battle."""
    names = [f"model-{k:05d}" for k in range(data["n_model"])]
    pairs = zip(data["winner"].tolist(), data["loser"].tolist(), strict=True)
    battles = [arenakit.Battle(model_a=names[w], model_b=names[v], winner="a") for w, v in pairs]
    return arenakit.Arena(battles, models=names)


def strengths(data: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """The estimate alone, counting included."""
    battles = arena(data)
    return lambda: {"strength": arenakit.fit_bt(battles.counts()).scores}


def bootstrap(data: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """The bootstrap over battles."""
    battles = arena(data)

    def fit() -> dict[str, Any]:
        found = arenakit.bootstrap(battles, n_resamples=data["rounds"], seed=20261130)
        low, high = np.asarray(found.score_ci()).T
        return {"strength": found.point, "low": low, "high": high, "draws": found.scores}

    return fit


METHODS = {"fit_bt": strengths, "bootstrap": bootstrap}
