"""arena-rank: Bradley–Terry by L-BFGS in JAX, with sandwich standard errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset

PACKAGE = "arena-rank"


def sandwich(data: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """The estimate with its intervals, counting included."""
    names = np.array([f"model-{k:05d}" for k in range(data["n_model"])])
    frame = pd.DataFrame(
        {
            "model_a": names[data["winner"]],
            "model_b": names[data["loser"]],
            "winner": "model_a",
        }
    )

    def fit() -> dict[str, Any]:
        pairs = PairDataset.from_pandas(frame)
        model = BradleyTerry(n_competitors=pairs.n_competitors)
        found = model.compute_ratings_and_cis(pairs)
        unit, origin = model.alpha, model.init_rating
        order = np.argsort(found["competitors"])
        low, point, high = (
            (np.asarray(found[key])[order] - origin) / unit
            for key in ("rating_lower", "ratings", "rating_upper")
        )
        return {"strength": point, "low": low, "high": high}

    return fit


METHODS = {"sandwich": sandwich}
