"""The settings of a simulated leaderboard, and the rules that they must meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neartie.data.labels import FAMILY_PATTERNS


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaderboardDesign:
    """The settings of `simulate_leaderboard`, which documents them.

    Raises
    ------
    ValueError
        If a setting is out of range, or the sizes do not fit together.
    """

    n_items: int
    n_models: int
    n_owners: int
    families: tuple[str, ...]
    families_per_owner: float
    n_unclassified: int
    n_sources: int
    n_dimensions: int
    easiness: float
    easiness_sd: float
    source_sd: float
    discrimination: float
    secondary_discrimination: float
    checkpoint_sd: float
    impact: float
    dif_share: float
    dif_effect: float
    direction: str
    direction_sd: float
    missing: float

    def __post_init__(self) -> None:
        n_family = len(self.families)
        for name in ("n_items", "n_models", "n_owners", "n_sources", "n_dimensions"):
            _require(getattr(self, name) >= 1, f"{name} must be at least 1", getattr(self, name))
        _require(
            self.n_sources <= self.n_items,
            f"n_sources must be at most the number of items ({self.n_items})",
            self.n_sources,
        )
        _require(
            self.n_owners >= n_family,
            f"n_owners must be at least the number of families ({n_family})",
            self.n_owners,
        )
        _require(self.n_unclassified >= 0, "n_unclassified must be 0 or more", self.n_unclassified)
        _require(
            self.n_models >= self.n_owners + self.n_unclassified,
            "n_models must be at least n_owners plus n_unclassified "
            f"({self.n_owners} + {self.n_unclassified}): every owner has a model",
            self.n_models,
        )
        _require(
            1 <= self.families_per_owner < np.inf,
            "families_per_owner must be at least 1, and finite",
            self.families_per_owner,
        )
        for name in ("checkpoint_sd", "dif_share"):
            value = getattr(self, name)
            _require(0 <= value <= 1, f"{name} must lie in [0, 1]", value)
        _require(0 <= self.missing < 1, "missing must lie in [0, 1)", self.missing)
        _require(np.isfinite(self.easiness), "easiness must be finite", self.easiness)
        for name in (
            "easiness_sd",
            "source_sd",
            "discrimination",
            "secondary_discrimination",
            "impact",
            "dif_effect",
            "direction_sd",
        ):
            value = getattr(self, name)
            _require(0 <= value < np.inf, f"{name} must be 0 or more, and finite", value)
        _require(
            self.direction in ("random", "shared", *self.families),
            "direction must be 'random', 'shared' or a family of this leaderboard "
            f"({', '.join(self.families)})",
            self.direction,
        )
        _require(
            n_family > 1 or self.dif_share == 0 or self.dif_effect == 0,
            "family effects need at least two families: with one, dif_share must be 0",
            self.dif_share,
        )


def _require(holds: bool | np.bool_, rule: str, value: object) -> None:
    if not holds:
        raise ValueError(f"{rule}, got {value!r}")


def family_names(families: int | Sequence[str]) -> tuple[str, ...]:
    """Return the families of a leaderboard.

    Parameters
    ----------
    families : int or sequence of str
        How many, in the order of `FAMILY_PATTERNS`, or their names.

    Returns
    -------
    tuple of str

    Raises
    ------
    TypeError
        If it is a text.
    ValueError
        If there are too many, or a name is unknown or stands twice.

    Examples
    --------
    >>> family_names(2)
    ('Qwen', 'Llama')
    """
    known = tuple(FAMILY_PATTERNS)
    if isinstance(families, str):
        raise TypeError(f"families is a number or a list of names, got the text {families!r}")
    if not isinstance(families, Sequence):
        _require(1 <= families <= len(known), f"families must lie in 1..{len(known)}", families)
        return known[:families]
    _require(
        bool(families) and len(set(families)) == len(families),
        "families must be distinct names, at least one",
        list(families),
    )
    for name in families:
        _require(name in known, f"a family must be one of {', '.join(known)}", name)
    return tuple(families)
