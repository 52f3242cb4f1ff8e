"""scikit-learn: Bradley–Terry as a logistic regression on the pairs, as arena notebooks do it.

Battles are counted first, so that a row is a pair and who won, with their number as its weight.
Intervals are percentiles over weights that are drawn anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

PACKAGE = "scikit-learn"


def rows(data: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Return the design, who won, and how often."""
    winner, loser, n = data["winner"].astype(np.int64), data["loser"], data["n_model"]
    code, count = np.unique(winner * n + loser, return_counts=True)
    first, second = np.divmod(code, n)
    swapped = first > second
    left, right = np.minimum(first, second), np.maximum(first, second)
    where = np.arange(len(code))
    design = csr_matrix(
        (
            np.concatenate([np.ones(len(code)), -np.ones(len(code))]),
            (np.concatenate([where, where]), np.concatenate([left, right])),
        ),
        shape=(len(code), n),
    )
    return design, ~swapped, count


def regression(design: Any, won: Any, weight: Any) -> Any:
    """Return centred coefficients without a penalty."""
    used = weight > 0
    model = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-8, max_iter=1000)
    model.fit(design[used], won[used], sample_weight=weight[used])
    return model.coef_[0] - model.coef_[0].mean()


def strengths(data: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """The estimate alone, counting included."""
    return lambda: {"strength": regression(*rows(data))}


def bootstrap(data: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """The bootstrap over battles."""

    def fit() -> dict[str, Any]:
        rng = np.random.default_rng(20261130)
        design, won, count = rows(data)
        n = int(count.sum())
        weights = rng.multinomial(n, count / n, size=data["rounds"])
        draws = np.array([regression(design, won, weight) for weight in weights])
        low, high = np.quantile(draws, [0.025, 0.975], axis=0)
        point = regression(design, won, count)
        return {"strength": point, "low": low, "high": high, "draws": draws}

    return fit


METHODS = {"logistic regression": strengths, "bootstrap": bootstrap}
