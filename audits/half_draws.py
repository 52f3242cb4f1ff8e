"""What a rung of the ladder says of one half: draws of item effects, and of every answer's odds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class HalfDraws:
    """Draws from what a rung knows of one half, made from the answers of that half alone.

    Attributes
    ----------
    easiness : (n_draw, n_item) float, logit
        Infinite for items that all models of the half solve or miss, where the rung has no finite
        one.
    effects : (n_draw, n_item, n_family) float, logit
        Sum zero over families, in the order of the comparison's families.
    predictor : callable
        Takes the number of a draw; gives the (n_item, n_representative) log odds of a right answer
        of the half's representatives.
    facts : dict
        What is to be known of the fit: `converged`, `verdict`, ...
    """

    easiness: Floats
    effects: Floats
    predictor: Callable[[int], Floats]
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def n_draw(self) -> int:
        """Number of draws; 1 for a point estimate."""
        return len(self.effects)

    @property
    def dif_range(self) -> Floats:
        """(n_draw, n_item) float, logit: D of every draw (P0, eq 5)."""
        return np.asarray(self.effects.max(axis=2) - self.effects.min(axis=2))

    @property
    def mean_range(self) -> Floats:
        """(n_item,) float, logit: D of the mean effects."""
        mean = self.effects.mean(axis=0)
        return np.asarray(mean.max(axis=1) - mean.min(axis=1))
