"""Who decides: the items and sources that carry the sign of a pair's gap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy import special

from neartie.data.errors import DataError
from neartie.data.responses import Responses
from neartie.data.wording import listed

type Floats = NDArray[np.float64]

_BLOCK: Final = 256


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class GapDeciders:
    """What the gap between two models rests on.

    Attributes
    ----------
    model_a, model_b : str
    gap : float, proportion
        Mean score of model_a minus that of model_b, over `n_items` items.
    p_above : float in [0, 1], probability
        That the gap is positive; half of what is exactly zero counts.
    n_items : int
    n_to_flip : int
        The fewest items whose removal turns the gap around (0 if it is zero already).
    items : DataFrame
        Those that speak for the leader most come first: `item`, `source`, `gap` (its part of the
        gap, proportion), `p_favours_a`, `p_decides` (probability that the order is the other way
        round without it), `gap_left` (of the whole, without it and all above it).
    sources : DataFrame
        `source`, `n_items`, `gap`, `gap_without` (mean gap over the other items), `p_favours_a`,
        `p_decides`.
    basis : {'responses', 'posterior'}
    """

    model_a: str
    model_b: str
    gap: float
    p_above: float
    n_items: int
    n_to_flip: int
    items: pd.DataFrame
    sources: pd.DataFrame
    basis: str

    def __str__(self) -> str:
        return (
            f"{self.model_a} is {100 * self.gap:+.2f} points from {self.model_b} over "
            f"{self.n_items:,} items (P(above) {self.p_above:.2f}); without the "
            f"{self.n_to_flip:,} items that speak for the leader most, the order turns around"
        )


def who_decides(
    source: Responses | xr.DataTree,
    model_a: str,
    model_b: str,
    *,
    sources: Sequence[str] | None = None,
    n_draws: int = 4000,
    rng: np.random.Generator | int | None = None,
) -> GapDeciders:
    """Return the items and sources that carry the sign of the gap between two models.

    Parameters
    ----------
    source : Responses or DataTree
        Answers, of which the items that both models answered count; or a posterior of a 2PL or a
        multidimensional model, of which the expected scores on all items count.
    model_a, model_b : str
        Two different models.
    sources : sequence of str, optional
        Of the items of a posterior, in its order. Responses bring their own; else all are one.
    n_draws : int
        For responses: how often the sums of the sources are drawn.
    rng : Generator, int or None
        For responses.

    Returns
    -------
    GapDeciders

    Raises
    ------
    DataError
        If a model is unknown, the two have no item in common, or the posterior has no items.

    Notes
    -----
    With responses the probabilities take a source's items as a random sample from what it could
    have asked: the sum of their contributions is drawn from a normal distribution with the
    variance that they show. An item's own contribution is known, so that its probabilities are 0
    or 1 (one half where both do the same). With a posterior they are shares of draws, and items
    are those that there are.

    Examples
    --------
    >>> right = [[1, 0], [1, 0], [1, 0], [0, 1], [1, 1]]
    >>> data = Responses.build(right, items=[f"q{i}" for i in range(5)], models=["owl", "ant"])
    >>> found = who_decides(data, "owl", "ant", rng=1)
    >>> round(found.gap, 2), found.n_to_flip, found.items["item"].iloc[0]
    (0.4, 3, 'q0')
    """
    if model_a == model_b:
        raise DataError(f"a gap needs two different models, got {model_a!r} twice")
    if isinstance(source, Responses):
        return _from_responses(source, model_a, model_b, n_draws, np.random.default_rng(rng))
    return _from_posterior(source, model_a, model_b, sources)


def fewest_to_flip(contribution: Floats) -> int:
    """Return how few contributions must go for the sign of their sum to turn around.

    Parameters
    ----------
    contribution : (n_item,) float

    Returns
    -------
    int
        0 where the sum is zero, and the number of all that favour the leader where even without
        them nothing speaks for the other (the order then ends in a tie).

    Examples
    --------
    >>> fewest_to_flip(np.array([1.0, 1.0, 1.0, -1.0])), fewest_to_flip(np.array([2.0, 0.0]))
    (3, 1)
    """
    total = contribution.sum()
    if total == 0:
        return 0
    toward = np.sort(np.sign(total) * contribution)[::-1]
    left = abs(total) - np.cumsum(toward)
    # A rounding error is no turned sign.
    turned = np.flatnonzero(left < -1e-12 * np.abs(contribution).sum())
    return int(turned[0]) + 1 if len(turned) else int(np.count_nonzero(toward > 0))


@dataclass(kw_only=True, slots=True)
class _Shares:
    """Draws of contributions, added up."""

    n: int
    positive: Floats
    decides: Floats
    above: float


def _tally(blocks: Iterator[Floats], n_part: int) -> _Shares:
    """Add up in how many draws each part is positive, and decides the sign of the sum."""
    found = _Shares(n=0, positive=np.zeros(n_part), decides=np.zeros(n_part), above=0.0)
    for block in blocks:
        gap = block.sum(axis=1, keepdims=True)
        without = np.sign(gap - block)
        found.n += len(block)
        found.positive += ((np.sign(block) + 1) / 2).sum(axis=0)
        found.decides += (without * np.sign(gap) < 0).sum(axis=0)
        found.above += float(((np.sign(gap) + 1) / 2).sum())
    return found


def _from_responses(
    data: Responses, model_a: str, model_b: str, n_draws: int, rng: np.random.Generator
) -> GapDeciders:
    names = list(data.model_ids)
    values = data.values.astype(np.float64)
    pair = []
    for model in (model_a, model_b):
        if model not in names:
            raise DataError(f"there is no model {model!r}; some of them: {listed(names)}")
        column = values[:, names.index(model)]
        pair.append(
            np.where(column < 0, np.nan, column) if data.values.dtype == np.int8 else column
        )
    both = np.isfinite(pair[0]) & np.isfinite(pair[1])
    if not both.any():
        raise DataError(f"{model_a!r} and {model_b!r} answered no item in common")
    items = [item for item, kept in zip(data.item_ids, both, strict=True) if kept]
    labels = data.items["source"].astype(str).to_numpy() if "source" in data.items else None
    source = np.full(len(items), "all", dtype=object) if labels is None else labels[both]
    part = (pair[0] - pair[1])[both] / len(items)
    order, code = np.unique(source.astype(str), return_inverse=True)
    size = np.bincount(code)
    total = np.bincount(code, weights=part)
    square = np.bincount(code, weights=part**2) - total**2 / size
    # ddof 1; a source with one item shows no variance.
    variance = size * square / np.maximum(size - 1, 1)
    draws = total + rng.standard_normal((n_draws, len(order))) * np.sqrt(np.maximum(variance, 0))
    by_source = _tally(iter([draws]), len(order))
    by_item = _tally(iter([part[None, :]]), len(part))
    return _collect(
        (model_a, model_b), items, source, part, order, by_item, by_source, basis="responses"
    )


def _from_posterior(
    tree: xr.DataTree, model_a: str, model_b: str, sources: Sequence[str] | None
) -> GapDeciders:
    draws = tree["posterior"].to_dataset()
    if "item" not in draws.dims or "model" not in draws.coords:
        raise DataError("this posterior has no items and models, so that no item decides anything")
    names = [str(name) for name in draws["model"].to_numpy()]
    for model in (model_a, model_b):
        if model not in names:
            raise DataError(f"there is no model {model!r}; some of them: {listed(names)}")
    items = [str(item) for item in draws["item"].to_numpy()]
    source = np.array(["all"] * len(items) if sources is None else [str(s) for s in sources])
    if source.shape != (len(items),):
        raise DataError(f"sources needs one for each of {len(items)} items, got {len(source)}")
    order, code = np.unique(source, return_inverse=True)
    place = [names.index(model_a), names.index(model_b)]
    membership = np.eye(len(order))[code]
    mean = np.zeros(len(items))
    by_item = _Shares(n=0, positive=np.zeros(len(items)), decides=np.zeros(len(items)), above=0.0)
    by_source = _tally(iter([]), len(order))
    for block in _contributions(tree, place):
        mean += block.sum(axis=0)
        for shares, part in ((by_item, block), (by_source, block @ membership)):
            more = _tally(iter([part]), part.shape[1])
            shares.n += more.n
            shares.positive += more.positive
            shares.decides += more.decides
            shares.above += more.above
    return _collect(
        (model_a, model_b),
        items,
        source,
        mean / by_item.n,
        order,
        by_item,
        by_source,
        basis="posterior",
    )


def _contributions(tree: xr.DataTree, place: list[int]) -> Iterator[Floats]:
    """Yield (draw, item): what an item adds to the gap of two expected scores, block by block."""
    draws = tree["posterior"].to_dataset().stack(sample=("chain", "draw"), create_index=False)
    constants = tree["constant_data"].to_dataset() if "constant_data" in tree.children else None
    n_item = draws.sizes["item"]
    for start in range(0, draws.sizes["sample"], _BLOCK):
        part = draws.isel(sample=slice(start, start + _BLOCK))
        terms = [_matched(part, place)] if "ability" in part else []
        terms += [part["easiness"]] if "easiness" in part else []
        if "dif" in part and constants is not None:
            family = constants["model_family"].to_numpy()[place]
            effects = part["dif"].isel(family=xr.DataArray(family, dims="model"))
            terms.append(effects.drop_vars("family", errors="ignore"))
        if constants is not None and "offset" in constants:
            terms.append(constants["offset"].isel(model=place))
        eta = sum(terms[1:], terms[0]).transpose("sample", "item", "model")
        p = special.expit(eta.to_numpy())
        yield (p[:, :, 0] - p[:, :, 1]) / n_item


def _matched(part: xr.Dataset, place: list[int]) -> xr.DataArray:
    """The part of the linear predictor that comes from abilities."""
    ability = part["ability"].isel(model=place)
    if "loading" in part:
        product: xr.DataArray = xr.dot(part["loading"], ability, dim="factor")
        return product
    eta = ability - part["difficulty"] if "difficulty" in part else ability
    return eta * part["discrimination"] if "discrimination" in part else eta


def _collect(
    pair: tuple[str, str],
    items: list[str],
    source: NDArray[np.object_] | NDArray[np.str_],
    part: Floats,
    order: NDArray[np.str_],
    by_item: _Shares,
    by_source: _Shares,
    *,
    basis: str,
) -> GapDeciders:
    gap = float(part.sum())
    lead = -1.0 if gap < 0 else 1.0
    table = pd.DataFrame(
        {
            "item": pd.Series(items, dtype="str"),
            "source": pd.Series(source.astype(str), dtype="str"),
            "gap": part,
            "p_favours_a": by_item.positive / by_item.n,
            "p_decides": by_item.decides / by_item.n,
        }
    ).iloc[np.argsort(-lead * part, kind="stable")]
    table["gap_left"] = gap - table["gap"].cumsum()
    code = np.searchsorted(order, source.astype(str))
    size, total = np.bincount(code), np.bincount(code, weights=part)
    rest = np.where(size < len(items), len(items) - size, np.nan)
    sources = pd.DataFrame(
        {
            "source": pd.Series(order, dtype="str"),
            "n_items": size,
            "gap": total,
            "gap_without": (gap - total) * len(items) / rest,
            "p_favours_a": by_source.positive / by_source.n,
            "p_decides": by_source.decides / by_source.n,
        }
    )
    return GapDeciders(
        model_a=pair[0],
        model_b=pair[1],
        gap=gap,
        p_above=by_source.above / by_source.n,
        n_items=len(items),
        n_to_flip=fewest_to_flip(part),
        items=table.reset_index(drop=True),
        sources=sources,
        basis=basis,
    )
