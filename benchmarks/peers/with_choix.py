"""choix: strengths by spectral and MM iterations; it has no standard errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import choix
import numpy as np

PACKAGE = "choix"


def dense(data: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """I-LSR on the matrix of wins, which is counted first."""
    winner, loser, n = data["winner"].astype(np.int64), data["loser"], data["n_model"]

    def fit() -> dict[str, Any]:
        wins = np.bincount(winner * n + loser, minlength=n * n).reshape(n, n).astype(float)
        return {"strength": choix.ilsr_pairwise_dense(wins)}

    return fit


def listed(data: dict[str, Any], method: Callable[..., Any]) -> Callable[[], dict[str, Any]]:
    """A method that takes battles one by one."""
    battles = list(zip(data["winner"].tolist(), data["loser"].tolist(), strict=True))
    return lambda: {"strength": method(data["n_model"], battles)}


METHODS: dict[str, Callable[[dict[str, Any]], Callable[[], dict[str, Any]]]] = {
    "I-LSR, counts": dense,
    "I-LSR, battles": lambda data: listed(data, choix.ilsr_pairwise),
    "MM, battles": lambda data: listed(data, choix.mm_pairwise),
}
