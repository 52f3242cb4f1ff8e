"""What `calibration.py` calibrates: each model at small size, with truths from its prior.

Truths and data come from `neartie.inference.truths`: plain NumPy after the formulas of the
factories' documentation, which shares no code with these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.data.battles import Battles
from neartie.data.responses import Responses
from neartie.inference.truths import truths_of
from neartie.models.bradley_terry_model import build_bradley_terry
from neartie.models.mirt_dif import build_mirt_dif
from neartie.models.priors import ResidualDifPriors
from neartie.models.residual_dif_model import build_residual_dif
from neartie.models.two_pl import build_two_pl

type Floats = NDArray[np.float64]
type Values = Mapping[str, Floats]
type Generator = np.random.Generator


def names(letter: str, n: int) -> list[str]:
    """Return ids in order."""
    return [f"{letter}{k:02d}" for k in range(n)]


def blank(n_item: int, n_model: int, *, missing: float = 0.0) -> Responses:
    """Return answers that are there for their shape alone: two families, some cells missing."""
    rng = np.random.default_rng(1)
    values = rng.integers(2, size=(n_item, n_model)).astype(np.int8)
    values[rng.random(values.shape) < missing] = -1
    families = [("Ash", "Birch")[k % 2] for k in range(n_model)]
    models = pd.DataFrame({"model": names("m", n_model), "family": families})
    return Responses.build(values, items=names("q", n_item), models=models)


def battles(*, ties: str, judges: bool, first_shown: bool) -> Battles:
    """Return battles of 8 models, 6 a pair, three judges taking turns, for their shape alone."""
    label = np.array(names("m", 8))
    first, second = (np.repeat(side, 6) for side in np.triu_indices(8, 1))
    n, swap = len(first), np.arange(len(first)) % 2 == 1
    columns: dict[str, Any] = {}
    if judges:
        columns["judge"] = [("ana", "ben", "cai")[k // 2 % 3] for k in range(n)]
    if first_shown:
        columns["first_shown"] = ["a"] * n
    return Battles.build(
        label[np.where(swap, second, first)],
        label[np.where(swap, first, second)],
        (["a", "b", "tie"] * n)[:n] if ties != "half" else (["a", "b"] * n)[:n],
        **columns,
    )


class Study:
    """A model, and what draws truths and data of its shape."""

    def __init__(self, model: Any) -> None:
        self.model, self.truths = model, truths_of(model)
        self.ranking = self.truths.ranking

    def simulate(self, rng: Generator) -> tuple[Values, Values]:
        """Draw from the prior, and data."""
        truth = self.truths.draw(rng)
        return truth, self.truths.data(truth, rng)

    def quantities(self, values: Values, data: Values) -> Values:
        """Return what is tested: all but D, which the tables leave out."""
        found = self.truths.quantities(values, data)
        return {name: value for name, value in found.items() if name != "dif_range"}


class TwoPL(Study):
    """The two-parameter model and its relatives, 12 models and 15 items."""

    def __init__(self, *, missing: float = 0.0, **options: Any) -> None:
        super().__init__(build_two_pl(blank(15, 12, missing=missing), **options))


class MirtDif(Study):
    """Abilities of one or two dimensions and two families, 16 models and 14 items."""

    def __init__(self, **options: Any) -> None:
        super().__init__(build_mirt_dif(blank(14, 16), **options))


class ResidualDif(Study):
    """Family effects beside a fixed offset, 14 items and 16 models."""

    def __init__(self, **options: Any) -> None:
        offset = np.random.default_rng(2).normal(size=(14, 16))
        priors = ResidualDifPriors(easiness_sd=1.5)
        super().__init__(build_residual_dif(blank(14, 16), offset, priors=priors, **options))


class BradleyTerry(Study):
    """Battles of 8 models, 6 a pair, three judges taking turns."""

    def __init__(self, **options: Any) -> None:
        shape = battles(
            ties=options.get("ties", "half"),
            judges=bool(options.get("judge_effects")),
            first_shown=bool(options.get("first_shown")),
        )
        super().__init__(build_bradley_terry(shape, **options))
