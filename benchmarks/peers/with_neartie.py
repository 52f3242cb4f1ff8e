"""neartie itself, by the same rules as its peers: data in memory, a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

PACKAGE = "neartie"


def responses(data: dict[str, Any]) -> Any:
    """Return the answers in neartie's form."""
    from neartie.data.responses import Responses

    answers = data["answers"].T
    return Responses.build(
        answers,
        items=[f"q{k:05d}" for k in range(answers.shape[0])],
        models=[f"m{k:05d}" for k in range(answers.shape[1])],
    )


def two_pl(data: dict[str, Any], **options: Any) -> Callable[[], dict[str, Any]]:
    """The joint mode with standard errors that count those of the items."""
    from neartie.inference.two_pl_map import fit_two_pl_map

    given, n_item = responses(data), data["answers"].shape[1]

    def fit() -> dict[str, Any]:
        found = fit_two_pl_map(given, **options)
        place = np.array([int(item[1:]) for item in found.items])
        slope, difficulty = np.full((2, n_item), np.nan)
        slope[place], difficulty[place] = found.discrimination, found.difficulty
        return {
            "ability": found.ability,
            "se": found.se,
            "slope": slope,
            "difficulty": difficulty,
        }

    return fit


def several(data: dict[str, Any], errors: str) -> Callable[[], dict[str, Any]]:
    """The joint mode of MIRT-DIF, which wants families: two, at random, and without effects."""
    import pandas as pd

    from neartie.data.responses import Responses
    from neartie.inference.mirt_dif_map import fit_mirt_dif_map

    answers = data["answers"].T
    names = [f"m{k:05d}" for k in range(answers.shape[1])]
    given = Responses.build(
        answers,
        items=[f"q{k:05d}" for k in range(answers.shape[0])],
        models=pd.DataFrame({"model": names, "family": ["Ash", "Birch"] * (len(names) // 2)}),
    )

    def fit() -> dict[str, Any]:
        found = fit_mirt_dif_map(given, dimension=data["dimension"], errors=errors)
        return {"predictor": found.linear_predictor().T}

    return fit


def battles(data: dict[str, Any]) -> Any:
    """Return the battles in neartie's form."""
    from neartie.data.battles import assemble

    n = len(data["winner"])
    none = np.full(n, -1, dtype=np.int64)
    return assemble(
        models=tuple(f"model-{k:05d}" for k in range(data["n_model"])),
        model_a=data["winner"].astype(np.int64),
        model_b=data["loser"].astype(np.int64),
        outcome=np.ones(n, dtype=np.int8),
        weight=np.ones(n),
        shown=np.ones(n, dtype=np.int8),
        shown_is_given=False,
        judges=(),
        judge=none,
        prompts=(),
        prompt=none,
        notices=(),
    )


def strengths(data: dict[str, Any], **options: Any) -> Callable[[], dict[str, Any]]:
    """Strengths with their full covariance, and what P1 prints: the diagonal taken alone."""
    from neartie.inference.bradley_terry import fit_bradley_terry

    given = battles(data)

    def fit() -> dict[str, Any]:
        found = fit_bradley_terry(given, **options)
        return {"strength": found.strength, "covariance": found.covariance}

    return fit


def printed(data: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """The same strengths by P1's MM, with its standard errors."""
    from neartie.inference.bradley_terry import fit_bradley_terry

    given = battles(data)

    def fit() -> dict[str, Any]:
        found = fit_bradley_terry(given, engine="mm", phantom_wins=0)
        return {"strength": found.strength, "covariance": np.diag(found.se_diagonal**2)}

    return fit


def ranks(data: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """Strengths, full covariance, intervals, and the joint sets of ranks."""
    from neartie.audits.ranks import rank_models
    from neartie.inference.bradley_terry import fit_bradley_terry

    given = battles(data)

    def fit() -> dict[str, Any]:
        found = fit_bradley_terry(given, phantom_wins=0)
        found.table()
        rank_models(found)
        return {"strength": found.strength, "covariance": found.covariance}

    return fit


def bootstrap(data: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """Strengths and the bootstrap over battles."""
    from neartie.inference.bradley_terry import fit_bradley_terry
    from neartie.inference.bradley_terry_bootstrap import bootstrap_bradley_terry

    given = battles(data)

    def fit() -> dict[str, Any]:
        point = fit_bradley_terry(given, phantom_wins=0)
        found = bootstrap_bradley_terry(given, point, rounds=data["rounds"], rng=20261130)
        table = found.table()
        return {
            "strength": point.strength,
            "low": table["low"].to_numpy(),
            "high": table["high"].to_numpy(),
            "draws": found.draws,
        }

    return fit


METHODS: dict[str, Callable[[dict[str, Any]], Callable[[], dict[str, Any]]]] = {
    "map": two_pl,
    "map, as printed (Adam)": lambda data: two_pl(data, optimiser="adam"),
    "map, with errors": lambda data: several(data, "auto"),
    "map, errors with items known": lambda data: several(data, "known"),
    "newton": lambda data: strengths(data, phantom_wins=0),
    "newton, .1 phantom wins": strengths,
    "mm, printed errors": printed,
    "newton, with sets of ranks": ranks,
    "bootstrap": bootstrap,
}
