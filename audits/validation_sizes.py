"""Invented data of given sizes: for their shape alone, with placeholders for answers and outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from neartie.data.battles import Battles
from neartie.data.memory import require_memory
from neartie.data.responses import MISSING, Responses

# Of a cell: its place twice over, its answer, and what is made of them on the way.
_BYTES_A_CELL: Final = 40
# Of a battle: names, outcome, order and judge, as text and as numbers.
_BYTES_A_BATTLE: Final = 400
# Which answers are missing depends on the sizes alone.
_GAP_SEED: Final = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Sizes:
    """How much there is of what, where no data are copied.

    Attributes
    ----------
    items, models : int
    families : int
        That models belong to in turn; 0 for none.
    missing : float in [0, 1)
        Share of the answers that is missing.
    battles : int
        Spread evenly over the pairs; of fewer battles than pairs, over those next to each other.
    judges : int
        Who take turns; 0 for none.

    Raises
    ------
    ValueError
        If a size is out of range.
    """

    items: int
    models: int
    families: int
    missing: float
    battles: int
    judges: int

    def __post_init__(self) -> None:
        for name, value, least in (
            ("items", self.items, 1),
            ("models", self.models, 2),
            ("families", self.families, 0),
            ("battles", self.battles, 1),
            ("judges", self.judges, 0),
        ):
            if value < least:
                raise ValueError(f"the number of {name} must be at least {least}, got {value}")
        if self.families > self.models:
            raise ValueError(
                f"there are {self.families} families and only {self.models} models: a family "
                "needs a model"
            )
        if not 0 <= self.missing < 1:
            raise ValueError(f"missing must lie in [0, 1), got {self.missing:g}")


def check_dimension(dimension: int, *, items: int, models: int) -> None:
    """Refuse more dimensions than there are items, or than models can differ in.

    Parameters
    ----------
    dimension : int
    items, models : int

    Raises
    ------
    ValueError

    Examples
    --------
    >>> check_dimension(3, items=10, models=4)
    >>> check_dimension(4, items=10, models=4)
    Traceback (most recent call last):
    ValueError: dimension is 4, which takes at least 4 items and 5 models; this design has 10 and 4
    """
    if dimension < 1:
        raise ValueError(f"dimension must be at least 1, got {dimension}")
    if dimension > min(items, models - 1):
        raise ValueError(
            f"dimension is {dimension}, which takes at least {dimension} items and "
            f"{dimension + 1} models; this design has {items} and {models}"
        )


def blank_responses(sizes: Sizes) -> Responses:
    """Return responses of these sizes.

    Examples
    --------
    >>> sizes = Sizes(items=3, models=4, families=2, missing=0.0, battles=1, judges=0)
    >>> blank_responses(sizes).models["family"].tolist()
    ['family-1', 'family-2', 'family-1', 'family-2']
    """
    require_memory(
        _BYTES_A_CELL * sizes.items * sizes.models,
        purpose=f"a design of {sizes.items:,} items and {sizes.models:,} models",
    )
    values = (np.indices((sizes.items, sizes.models)).sum(axis=0) % 2).astype(np.int8)
    gaps = round(sizes.missing * values.size)
    chosen = np.random.default_rng(_GAP_SEED).permutation(values.size)[:gaps]
    values.flat[chosen] = MISSING
    models: dict[str, Any] = {"model": _names("model", sizes.models)}
    if sizes.families:
        families = _names("family", sizes.families)
        models["family"] = [families[k % sizes.families] for k in range(sizes.models)]
    return Responses.build(values, items=_names("item", sizes.items), models=pd.DataFrame(models))


def blank_battles(sizes: Sizes, options: Mapping[str, Any]) -> Battles:
    """Return battles of these sizes: each model is shown first in turn.

    Parameters
    ----------
    sizes : Sizes
    options : mapping
        Of `build_bradley_terry`: whether there are ties.

    Examples
    --------
    >>> sizes = Sizes(items=1, models=4, families=0, missing=0.0, battles=9, judges=2)
    >>> blank_battles(sizes, {})
    Battles(9 battles, 4 models, 0 ties)
    """
    require_memory(
        _BYTES_A_BATTLE * sizes.battles + _BYTES_A_CELL * sizes.models**2,
        purpose=f"a design of {sizes.battles:,} battles of {sizes.models:,} models",
    )
    n, number = sizes.models, np.arange(sizes.battles)
    first, second = np.triu_indices(n, 1)
    apart = np.minimum(second - first, n - (second - first))
    # neighbours on a circle first, so that few battles connect all
    order = np.lexsort((first, apart))[number % len(first)]
    label = np.array(_names("model", n))
    one, other = label[first[order]], label[second[order]]
    swap = (number // len(first) + number) % 2 == 1
    kinds = ["a", "b"] if options.get("ties", "half") == "half" else ["a", "b", "tie"]
    judges = _names("judge", sizes.judges)
    return Battles.build(
        np.where(swap, other, one).tolist(),
        np.where(swap, one, other).tolist(),
        [kinds[k % len(kinds)] for k in number],
        first_shown=["a"] * sizes.battles,
        # a judge has the same pair in either order
        judge=[judges[k // 2 % sizes.judges] for k in number] if judges else None,
    )


def _names(word: str, n: int) -> list[str]:
    width = len(str(n))
    return [f"{word}-{k + 1:0{width}d}" for k in range(n)]
