"""evalica: strengths by its Rust kernels, and percentile intervals of its bootstrap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import evalica
import numpy as np

PACKAGE = "evalica"


def battles(data: dict[str, Any]) -> tuple[list[str], list[str], list[Any], list[str]]:
    """Return winners and losers by name, who won, and all names."""
    names = np.array([f"model-{k:05d}" for k in range(data["n_model"])])
    first, second = names[data["winner"]].tolist(), names[data["loser"]].tolist()
    return first, second, [evalica.Winner.X] * len(first), names.tolist()


def strengths(data: dict[str, Any], method: Callable[..., Any]) -> Callable[[], dict[str, Any]]:
    """The estimate alone."""
    first, second, won, names = battles(data)
    return lambda: {"strength": np.log(method(first, second, won).scores.loc[names].to_numpy())}


def bootstrap(data: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """The bootstrap. Its default intervals, BCa, would fit anew without each battle in turn."""
    first, second, won, names = battles(data)
    method: Any = evalica.bradley_terry

    def fit() -> dict[str, Any]:
        found = evalica.bootstrap(
            method,
            first,
            second,
            won,
            n_resamples=data["rounds"],
            bootstrap_method="percentile",
            random_state=20261130,
        )
        return {
            "strength": np.log(found.result.scores.loc[names].to_numpy()),
            "low": np.log(found.low.loc[names].to_numpy()),
            "high": np.log(found.high.loc[names].to_numpy()),
            "draws": np.log(found.distribution[names].to_numpy()),
        }

    return fit


METHODS: dict[str, Callable[[dict[str, Any]], Callable[[], dict[str, Any]]]] = {
    "bradley_terry": lambda data: strengths(data, evalica.bradley_terry),
    "newman": lambda data: strengths(data, evalica.newman),
    "bootstrap": bootstrap,
}
