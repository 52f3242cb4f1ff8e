"""Which items an item is compared with, when there are too many for all pairs (P2, 3.6)."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from neartie.audits.screen_statistics import varying_items
from neartie.data.errors import DataError
from neartie.data.responses import Responses
from neartie.inference.isotonic_rest import rest_statistics

CHOICES: Final = ("random", "difficulty", "correlation")


def choose_partners(
    responses: Responses,
    *,
    n_partners: int,
    choice: str = "random",
    rng: np.random.Generator,
) -> NDArray[np.int64] | None:
    """Return the partners of each item, or None where all pairs are no more.

    Parameters
    ----------
    responses : Responses
    n_partners : int >= 1
        Partners an item. Only items that vary are partners.
    choice : {"random", "difficulty", "correlation"}
        `random`: a simple random sample for each item. `difficulty`: items are sorted by
        accuracy and cut into that many strata, and each gives one partner at random.
        `correlation`: for all items the same partners, those most correlated with the rest
        score, which costs one pass over the data.
    rng : Generator

    Returns
    -------
    (n_item, n_partners) int or None
        Positions. An item that would be its own partner has the next one instead.

    Raises
    ------
    DataError
        If `n_partners` is not positive.
    ValueError
        If there is no such choice.
    """
    if choice not in CHOICES:
        raise ValueError(f"choice must be one of {', '.join(CHOICES)}, got {choice!r}")
    if n_partners < 1:
        raise DataError(f"an item needs at least one partner, got {n_partners}")
    candidates = np.flatnonzero(varying_items(responses))
    if len(candidates) <= n_partners + 1:
        return None
    if choice == "random":
        return _random(responses.n_item, candidates, n_partners, rng)
    if choice == "difficulty":
        accuracy = responses.item_accuracy()["accuracy"].to_numpy()[candidates]
        return _stratified(
            responses.n_item, candidates[np.argsort(accuracy, kind="stable")], n_partners, rng
        )
    rest = rest_statistics(responses.values[candidates], responses.observed[candidates])[:, 1]
    best = candidates[np.argsort(-np.nan_to_num(rest, nan=-2.0), kind="stable")]
    partners = np.tile(best[:n_partners], (responses.n_item, 1))
    own = partners == np.arange(responses.n_item)[:, None]
    partners[own] = best[n_partners]
    return partners


def _random(
    n_item: int, candidates: NDArray[np.intp], n_partners: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    partners = np.empty((n_item, n_partners), dtype=np.int64)
    for i in range(n_item):
        drawn = rng.choice(candidates, size=n_partners + 1, replace=False, shuffle=False)
        partners[i] = drawn[drawn != i][:n_partners]
    return partners


def _stratified(
    n_item: int, by_accuracy: NDArray[np.intp], n_partners: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    strata = np.array_split(by_accuracy, n_partners)
    partners = np.empty((n_item, n_partners), dtype=np.int64)
    for k, stratum in enumerate(strata):
        pick = rng.integers(len(stratum), size=n_item)
        chosen = stratum[pick]
        own = chosen == np.arange(n_item)
        chosen[own] = stratum[(pick[own] + 1) % len(stratum)]
        partners[:, k] = chosen
    # An item alone in its stratum has strata of its own, without it.
    for i in (int(stratum[0]) for stratum in strata if len(stratum) == 1):
        others = np.array_split(by_accuracy[by_accuracy != i], n_partners)
        partners[i] = [stratum[rng.integers(len(stratum))] for stratum in others]
    return partners
