"""girth: joint maximum likelihood, then EAP scores, which have no standard errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import girth
import numpy as np

PACKAGE = "girth"


def joint(data: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """Joint maximum likelihood."""
    answers = data["answers"].T.astype(np.int64)

    def fit() -> dict[str, Any]:
        found = girth.twopl_jml(answers)
        slope, difficulty = found["Discrimination"], found["Difficulty"]
        ability = girth.ability_eap(answers, difficulty, slope)
        return {"ability": ability, "slope": slope, "difficulty": difficulty}

    return fit


def marginal(data: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """Marginal maximum likelihood; its program scores by EAP itself."""
    answers = data["answers"].T.astype(np.int64)

    def fit() -> dict[str, Any]:
        found = girth.twopl_mml(answers)
        return {
            "ability": found["Ability"],
            "slope": found["Discrimination"],
            "difficulty": found["Difficulty"],
        }

    return fit


def several(data: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """Marginal maximum likelihood of several dimensions."""
    answers = data["answers"].T.astype(np.int64)

    def fit() -> dict[str, Any]:
        found = girth.multidimensional_twopl_mml(answers, data["dimension"])
        slope, intercept = np.asarray(found["Discrimination"]), np.ravel(found["Difficulty"])
        theta = girth.multidimensional_ability_eap(answers, intercept, slope)
        return {"predictor": np.asarray(theta).reshape(-1, slope.shape[1]) @ slope.T + intercept}

    return fit


METHODS = {"joint ML": joint, "marginal ML": marginal, "marginal ML, several": several}
