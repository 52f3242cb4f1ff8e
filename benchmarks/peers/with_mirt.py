"""The Python package mirt: EM for one dimension, GVEM, EM and MHRM for several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mirt
import numpy as np
from mirt.estimation.gvem import GVEMEstimator

PACKAGE = "mirt"


def em(data: dict[str, Any], **options: Any) -> Callable[[], dict[str, Any]]:
    """Marginal maximum likelihood at the defaults, then EAP scores."""
    answers = data["answers"].astype(np.int64)

    def fit() -> dict[str, Any]:
        found = mirt.fit_mirt(answers, model="2PL", **options)
        nodes = options.get("n_quadpts")
        scores = mirt.fscores(found, answers, method="EAP", n_quadpts=nodes)
        values = found.model.parameters
        return {
            "ability": np.ravel(scores.theta),
            "se": np.ravel(scores.standard_error),
            "slope": np.ravel(values["discrimination"]),
            "difficulty": np.ravel(values["difficulty"]),
        }

    return fit


def predictor(values: Any, theta: Any) -> dict[str, Any]:
    """Return the linear predictor, in which a difficulty counts once for each of the slopes."""
    slope = np.asarray(values["discrimination"])
    return {"predictor": theta @ slope.T - slope.sum(axis=1) * np.ravel(values["difficulty"])}


def gvem(data: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """Gaussian variational EM at its defaults; abilities are its variational means."""
    answers = data["answers"].astype(np.int64)

    def fit() -> dict[str, Any]:
        model = mirt.TwoParameterLogistic(answers.shape[1], n_factors=data["dimension"])
        estimator = GVEMEstimator()
        found = estimator.fit(model, answers)
        return predictor(found.model.parameters, estimator.variational_means)

    return fit


def several(data: dict[str, Any], estimation: str, **options: Any) -> Callable[[], dict[str, Any]]:
    """EM or MHRM for several dimensions, then MAP scores."""
    answers = data["answers"].astype(np.int64)

    def fit() -> dict[str, Any]:
        found = mirt.fit_mirt(
            answers,
            model="2PL",
            n_factors=data["dimension"],
            estimation=estimation,
            compute_standard_errors=False,
            **options,
        )
        theta = mirt.fscores(found, answers, method="MAP").theta
        return predictor(found.model.parameters, np.asarray(theta))

    return fit


METHODS: dict[str, Callable[[dict[str, Any]], Callable[[], dict[str, Any]]]] = {
    "EM": lambda data: em(data, compute_standard_errors=False),
    "EM, with errors of items": em,
    "EM, 121 nodes": lambda data: em(data, compute_standard_errors=False, n_quadpts=121),
    "GVEM": gvem,
    "MHRM": lambda data: several(data, "MHRM"),
    "EM, 7 nodes a dimension": lambda data: several(data, "EM", n_quadpts=7),
}
