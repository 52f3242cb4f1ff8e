"""Every choice of a near-tie audit, with the paper's values as defaults (P0, table C.8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np

from neartie.audits.anchors import STRATA, ConstantItems, exact_fraction
from neartie.audits.population import MIN_FAMILY_SIZE, OWNER_CAP, Missing
from neartie.audits.purification import ROUNDS
from neartie.audits.ranking import BANDS, PRIMARY_BAND
from neartie.inference.dimension import DIMENSION_GRID, Rule
from neartie.inference.spectral import OFFSET_LIMIT, Decomposition

ALPHAS = (Fraction(1, 2), Fraction(3, 10), Fraction(7, 10))


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditSettings:
    """Settings of `audit_near_ties`.

    Attributes
    ----------
    dimension : int, (int, int) or None
        K in both halves, or in halves 0 and 1; None chooses it by held-out loss.
    grid : sequence of int
        Candidates for K.
    rule : {"one-se", "paired", "minimum"}
        See `select_dimension`.
    alpha : number or sequence of numbers in (0, 1]
        Anchor fractions. The first is primary, the others are a sensitivity analysis.
    bands : sequence of numbers, proportion
        Largest full-score gaps.
    primary_band : number, proportion
        One of the bands.
    controls, bootstraps : int
        Number of matched-random subtests and of recomposed benchmarks; 0 leaves them out.
    min_family_size, owner_cap, missing
        See `build_population`.
    rounds, strata, penalty, cycles, constant_items
        See `purify_anchors`. `cycles=5` with `decomposition="randomized"` is the printed
        procedure; the defaults compute its exact optimum.
    offset_limit : float, logit
        Truncation of the spectral offset.
    decomposition : {"exact", "randomized"}
        See `spectral_coordinates`.
    """

    dimension: int | tuple[int, int] | None = None
    grid: Sequence[int] = DIMENSION_GRID
    rule: Rule = "one-se"
    alpha: float | str | Fraction | Sequence[float | str | Fraction] = ALPHAS
    bands: Sequence[float | str | Fraction] = BANDS
    primary_band: float | str | Fraction = PRIMARY_BAND
    controls: int = 1000
    bootstraps: int = 2000
    min_family_size: int = MIN_FAMILY_SIZE
    owner_cap: int = OWNER_CAP
    missing: Missing = "stop"
    rounds: int = ROUNDS
    strata: int = STRATA
    penalty: float = 1.0
    cycles: int | None = None
    constant_items: ConstantItems = "keep"
    offset_limit: float = OFFSET_LIMIT
    decomposition: Decomposition = "exact"

    def __post_init__(self) -> None:
        """Refuse settings that no audit can run with."""
        self._refuse_what_is_not_whole()
        for name in ("min_family_size", "owner_cap", "rounds", "strata"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("controls", "bootstraps"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative, got {getattr(self, name)}")
        for name in ("penalty", "offset_limit"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)}")
        if self.dimension is not None and min(self.dimensions) < 1:
            raise ValueError(f"dimension must be at least 1, got {self.dimension}")
        if self.cycles is not None and self.cycles < 1:
            raise ValueError(f"cycles must be at least 1, got {self.cycles}")
        if not self.grid or min(self.grid) < 1:
            raise ValueError(f"grid must hold dimensions of at least 1, got {list(self.grid)}")
        if not self.alphas:
            raise ValueError("alpha must name at least one anchor fraction")
        for share in self.alphas:
            if not 0 < share <= 1:
                raise ValueError(f"alpha must lie in (0, 1], got {float(share):g}")
        if any(not 0 < band <= 1 for band in self.exact_bands):
            raise ValueError("bands must lie in (0, 1]: they are proportions, 0.01 is one point")
        if exact_fraction(self.primary_band) not in self.exact_bands:
            raise ValueError(f"primary_band {self.primary_band} is not among the bands")

    def _refuse_what_is_not_whole(self) -> None:
        """Refuse fractions, and truth values, which Python would count as 0 and 1."""
        given = self.dimension if isinstance(self.dimension, (tuple, list)) else (self.dimension,)
        if len(given) not in (1, 2):
            raise ValueError(f"dimension takes one number, or two, got {self.dimension}")
        numbers = [("dimension", number) for number in given if self.dimension is not None]
        numbers += [("grid", number) for number in self.grid]
        names = ("controls", "bootstraps", "min_family_size", "owner_cap", "rounds", "strata")
        numbers += [(name, getattr(self, name)) for name in names]
        if self.cycles is not None:
            numbers.append(("cycles", self.cycles))
        for name, number in numbers:
            if not _is_whole(number):
                raise ValueError(f"{name} must be a whole number, got {number!r}")

    @property
    def dimensions(self) -> tuple[int, int]:
        """Given dimensions of halves 0 and 1; (0, 0) when they are to be chosen."""
        if self.dimension is None:
            return 0, 0
        if isinstance(self.dimension, int):
            return self.dimension, self.dimension
        return self.dimension

    @property
    def alphas(self) -> tuple[Fraction, ...]:
        """Exact anchor fractions without repeats, the primary one first."""
        given = self.alpha
        single = isinstance(given, (int, float, str, Fraction))
        values = [given] if single else list(given)  # type: ignore[arg-type]
        return tuple(dict.fromkeys(exact_fraction(value) for value in values))  # type: ignore[arg-type]

    @property
    def exact_bands(self) -> tuple[Fraction, ...]:
        """Exact bands in rising order."""
        return tuple(sorted({exact_fraction(band) for band in self.bands}))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain numbers and text."""
        plain = asdict(self)
        plain["grid"] = list(self.grid)
        plain["dimension"] = None if self.dimension is None else list(self.dimensions)
        plain["alpha"] = [float(share) for share in self.alphas]
        plain["bands"] = [float(band) for band in self.exact_bands]
        plain["primary_band"] = float(exact_fraction(self.primary_band))
        return plain


def _is_whole(number: object) -> bool:
    return isinstance(number, Integral) and not isinstance(number, bool | np.bool_)
