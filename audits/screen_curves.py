"""Item characteristics over the rest score, for the items that a reviewer looks at first."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.screen_statistics import varying_items
from neartie.data.responses import Responses
from neartie.inference.isotonic import isotonic_fit

MOST_GROUPS: Final = 10
COLUMNS: Final = ["item", "rest", "score", "n", "fit"]


def item_curves(responses: Responses, items: list[str]) -> pd.DataFrame:
    """Return the mean score on an item in groups of models alike in rest score.

    Parameters
    ----------
    responses : Responses
    items : list of str
        Ids, in the order wanted.

    Returns
    -------
    DataFrame
        `item`; `rest`, mean over the other varying items that a model answered, averaged over
        the group; `score` on the item; `n` models in the group; `fit`, the best monotone
        function of the rest score, in the direction that fits better. Models that tie in the
        rest score share a group.
    """
    varies, position = (
        varying_items(responses),
        {item: i for i, item in enumerate(responses.item_ids)},
    )
    observed = responses.observed
    counted = observed & varies[:, None]
    total = np.sum(responses.values, axis=0, where=counted, dtype=np.float64)
    n_answered = counted.sum(axis=0)
    frames = []
    for item in items:
        i = position[item]
        own, n_rest = counted[i], n_answered - counted[i]
        use = observed[i] & (n_rest > 0)
        score = responses.values[i, use].astype(np.float64)
        rest = (total - np.where(own, responses.values[i], 0))[use] / n_rest[use]
        frames.append(_curve(rest.round(12), score).assign(item=item)[COLUMNS])
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS)


def _curve(rest: NDArray[np.float64], score: NDArray[np.float64]) -> pd.DataFrame:
    fits = [isotonic_fit(rest, score, increasing=rising) for rising in (True, False)]
    errors = [float(((score - fit) ** 2).sum()) for fit in fits]
    models = pd.DataFrame(
        {
            "rest": rest,
            "score": score,
            "fit": fits[0] if errors[0] <= errors[1] + 1e-12 else fits[1],
        }
    )
    # Levels of the rest score stay whole, so groups are near-equal in size only.
    place = models["rest"].rank(method="min").to_numpy() - 1
    models["group"] = (place * min(MOST_GROUPS, len(models)) / len(models)).astype(int)
    grouped = models.groupby("group").agg(
        rest=("rest", "mean"), score=("score", "mean"), n=("score", "size"), fit=("fit", "mean")
    )
    return grouped.reset_index(drop=True)
