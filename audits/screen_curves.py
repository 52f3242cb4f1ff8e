"""Item characteristics over the rest score, for the items that a reviewer looks at first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.screen_statistics import varying_items
from neartie.data.responses import Responses
from neartie.inference.isotonic import isotonic_fit

MOST_GROUPS: Final = 10
COLUMNS: Final = ["item", "rest", "score", "n", "fit"]


def item_curves(
    responses: Responses,
    items: list[str],
    *,
    groups: Sequence[NDArray[np.intp]] | None = None,
) -> pd.DataFrame:
    """Return the mean score on an item in groups of models alike in rest score.

    Parameters
    ----------
    responses : Responses
    items : list of str
        Ids, in the order wanted.
    groups : sequence of (n,) int, optional
        Positions of items that are compared with each other; the rest score of an item is over
        those of its group. All items when left out.

    Returns
    -------
    DataFrame
        `item`; `rest`, mean over the other varying items that a model answered, averaged over
        the group; `score` on the item; `n` models in the group; `fit`, the best monotone
        function of the rest score, in the direction that fits better. Models that tie in the
        rest score share a group.
    """
    found: dict[str, pd.DataFrame] = {}
    for members in groups if groups is not None else [np.arange(responses.n_item)]:
        part = responses.take(items=members) if groups is not None else responses
        found |= _group_curves(part, set(items) & set(part.item_ids))
    frames = [found[item] for item in items]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS)


def _group_curves(part: Responses, items: set[str]) -> dict[str, pd.DataFrame]:
    if not items:
        return {}
    position = {item: i for i, item in enumerate(part.item_ids)}
    observed = part.observed
    counted = observed & varying_items(part)[:, None]
    total = np.sum(part.values, axis=0, where=counted, dtype=np.float64)
    n_answered = counted.sum(axis=0)
    curves = {}
    for item in items:
        i = position[item]
        own, n_rest = counted[i], n_answered - counted[i]
        use = observed[i] & (n_rest > 0)
        score = part.values[i, use].astype(np.float64)
        rest = (total - np.where(own, part.values[i], 0))[use] / n_rest[use]
        curves[item] = _curve(rest.round(12), score).assign(item=item)[COLUMNS]
    return curves


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
