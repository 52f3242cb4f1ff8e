"""How large an item's coefficient would be if its answers had nothing to do with the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from neartie.data.responses import Responses
from neartie.inference.isotonic_pairs import graded_pair_sums
from neartie.inference.pairwise_binary import binary_pair_sums

BAND: Final = (0.025, 0.975)
# Pairs that one null distribution may cost in all, in units of one model's answers to a pair.
BINARY_BUDGET: Final = 3e11
GRADED_BUDGET: Final = 2e9
FEWEST_CLASSES: Final = 8
CLASSES_AT_ONCE: Final = 32
# A draw that equals the observed coefficient but for the order of a sum is a tie.
TIE: Final = 1e-12


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PermutationNull:
    """The coefficient under shuffled answers.

    Attributes
    ----------
    low, high : (n_item,) float
        2.5 % and 97.5 % points; NaN for items without a coefficient.
    p_value : (n_item,) float
        (1 + draws at least as large as the observed) / (draws + 1): small for an item that goes
        with the others.
    p_below : (n_item,) float
        The same with draws at most as large: small for an item that goes against the others.
    n_draws : int
    n_classes : int
        Items whose answers were shuffled.
    exact : bool
        Whether each item has its own null distribution, or that of an item with the same number
        of right answers in complete data, which is the same; otherwise it is the distribution
        of the item nearest in accuracy.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    p_value: NDArray[np.float64]
    p_below: NDArray[np.float64]
    n_draws: int
    n_classes: int
    exact: bool


def permutation_null(
    responses: Responses,
    coefficient: NDArray[np.float64],
    *,
    form: str = "symmetric",
    direction: str = "fit",
    neighbours: NDArray[np.int64] | None = None,
    n_draws: int = 200,
    rng: np.random.Generator,
) -> PermutationNull:
    """Return the distribution of each item's coefficient when its own answers are shuffled.

    Parameters
    ----------
    responses : Responses
    coefficient : (n_item,) float
        Observed; NaN where undefined.
    form, direction, neighbours
        As for the observed coefficient.
    n_draws : int >= 1
        Shuffles an item. They exchange answers among the models that answered it, so that
        accuracy and missing cells stay, and leave all other items as they are.
    rng : Generator

    Returns
    -------
    PermutationNull

    Notes
    -----
    In complete right/wrong data the distribution depends on the item through its number of
    right answers alone (apart from its own place among the partners), so one item for each
    number is shuffled; where even these are too many, evenly spaced ones. In other data items with
    the same answers share their shuffles (unless each item has partners of its own). A draw that
    differs from the observed value by rounding alone counts as equal to it, on both sides. So
    items that were answered alike get the same p-values to the last digit.
    """
    use = np.flatnonzero(~np.isnan(coefficient))
    low, high, p_value, p_below = (np.full(responses.n_item, np.nan) for _ in range(4))
    if len(use) == 0:
        return PermutationNull(
            low=low,
            high=high,
            p_value=p_value,
            p_below=p_below,
            n_draws=n_draws,
            n_classes=0,
            exact=True,
        )
    chosen, own_class, exact = _classes(responses, use, neighbours, n_draws)
    streams = rng.spawn(len(chosen))
    if responses.is_binary and neighbours is None:
        draws = _shuffled_binary(responses, chosen, n_draws, streams)
    else:
        draws = np.stack(
            [
                _shuffled(responses, item, form, direction, neighbours, n_draws, stream)
                for item, stream in zip(chosen, streams, strict=True)
            ]
        )
    low[use], high[use] = np.quantile(draws, BAND, axis=1)[:, own_class]
    draws.sort(axis=1)
    for item, k in zip(use, own_class, strict=True):
        n_below = np.searchsorted(draws[k], coefficient[item] - TIE, side="left")
        n_at_most = np.searchsorted(draws[k], coefficient[item] + TIE, side="right")
        p_value[item] = (1 + n_draws - n_below) / (n_draws + 1)
        p_below[item] = (1 + n_at_most) / (n_draws + 1)
    return PermutationNull(
        low=low,
        high=high,
        p_value=p_value,
        p_below=p_below,
        n_draws=n_draws,
        n_classes=len(chosen),
        exact=exact,
    )


def _classes(
    responses: Responses,
    use: NDArray[np.intp],
    neighbours: NDArray[np.int64] | None,
    n_draws: int,
) -> tuple[NDArray[np.intp], NDArray[np.intp], bool]:
    """Return the items to shuffle, the class of each used item, and whether that is exact."""
    accuracy = responses.item_accuracy()["accuracy"].to_numpy()[use]
    order = np.argsort(accuracy, kind="stable")
    same = responses.is_binary and responses.n_missing == 0 and neighbours is None
    if same:
        code = np.unique(accuracy[order], return_inverse=True)[1]
    elif neighbours is None:
        code = _contents(responses, use[order])
    else:
        code = np.arange(len(use))
    n_code = int(code.max()) + 1
    n_partner = responses.n_item if neighbours is None else neighbours.shape[1]
    budget = BINARY_BUDGET if responses.is_binary else GRADED_BUDGET
    most = max(FEWEST_CLASSES, int(budget / (n_draws * n_partner * max(64, responses.n_model))))
    if n_code > most:
        code = code * most // n_code
    members = [order[code == k] for k in np.unique(code)]
    chosen = np.array([use[group[len(group) // 2]] for group in members], dtype=np.intp)
    own_class = np.empty(len(use), dtype=np.intp)
    for k, group in enumerate(members):
        own_class[group] = k
    return chosen, own_class, n_code <= most


def _contents(responses: Responses, items: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return a number for each item, the same for items with the same answers."""
    seen: dict[bytes, int] = {}
    keys = (responses.values[item].tobytes() for item in items)
    return np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.intp)


def _shuffles(
    responses: Responses, item: int, n_draws: int, rng: np.random.Generator
) -> NDArray[np.int8] | NDArray[np.float32]:
    """(n_draws, n_model): the answers to an item, exchanged among the models that answered it."""
    answered = np.flatnonzero(responses.observed[item])
    shuffled = np.tile(responses.values[item], (n_draws, 1))
    shuffled[:, answered] = rng.permuted(shuffled[:, answered], axis=1)
    return shuffled


def _shuffled_binary(
    responses: Responses,
    items: NDArray[np.intp],
    n_draws: int,
    streams: list[np.random.Generator],
) -> NDArray[np.float64]:
    """(n_class, n_draws) float: coefficients of shuffled items with all others, many at once."""
    found = []
    for first in range(0, len(items), CLASSES_AT_ONCE):
        chosen = items[first : first + CLASSES_AT_ONCE]
        extra = [
            _shuffles(responses, item, n_draws, streams[first + k]) for k, item in enumerate(chosen)
        ]
        table = np.concatenate([responses.values, *extra])
        pairs = binary_pair_sums(
            table == 1,
            table >= 0,
            rows=np.arange(responses.n_item, len(table)),
            own=np.repeat(chosen, n_draws),
            n_partner=responses.n_item,
            full=False,
        )
        found.append(pairs.mean("signed_isotonic_r2").reshape(len(chosen), n_draws))
    return np.concatenate(found)


def _shuffled(
    responses: Responses,
    item: int,
    form: str,
    direction: str,
    neighbours: NDArray[np.int64] | None,
    n_draws: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """(n_draws,) float: the item's coefficient with its answers shuffled."""
    n_item = responses.n_item
    table = np.concatenate([responses.values, _shuffles(responses, item, n_draws, rng)])
    partners = np.arange(n_item) if neighbours is None else neighbours[item]
    partners = np.tile(partners[partners != item], (n_draws, 1)).astype(np.int64)
    rows = np.arange(n_item, n_item + n_draws)
    if responses.is_binary:
        pairs = binary_pair_sums(table == 1, table >= 0, rows=rows, neighbours=partners, full=False)
        return pairs.mean("signed_isotonic_r2")
    graded = graded_pair_sums(
        table.astype(np.float64), direction=direction, rows=rows, neighbours=partners
    )
    predictor, outcome = graded.mean("predictor"), graded.mean("outcome")
    return {"predictor": predictor, "outcome": outcome}.get(form, (predictor + outcome) / 2)
