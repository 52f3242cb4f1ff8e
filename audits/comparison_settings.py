"""Every choice of a comparison of the plug-in with posteriors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from neartie.audits.draw_anchors import ANCHORS
from neartie.audits.draw_reversals import SCORES

PLUG_IN: Final = "plug-in"
RESIDUAL: Final = "residual"
BOOTSTRAP: Final = "residual-bootstrap"
LAPLACE: Final = "laplace"
PATHFINDER: Final = "pathfinder"
ADVI: Final = "advi"
FULL: Final = "full"
RUNGS: Final = (PLUG_IN, RESIDUAL, BOOTSTRAP, LAPLACE, PATHFINDER, ADVI, FULL)
LADDER: Final = (PLUG_IN, RESIDUAL, BOOTSTRAP, LAPLACE, ADVI, FULL)
# What changes a rung, beyond what changes all.
_FITTED: Final = ("dimension", "options")
_MATTERS: Final = {
    PLUG_IN: (),
    RESIDUAL: (),
    BOOTSTRAP: ("offsets",),
    LAPLACE: _FITTED,
    PATHFINDER: _FITTED,
    ADVI: _FITTED,
    FULL: (*_FITTED, "engine", "chains", "tune", "thin", "min_ess"),
}
#: Dimensions beyond which the models that are sampled are cut.
MOST_DIMENSIONS: Final = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparisonSettings:
    """Settings of `compare`.

    Attributes
    ----------
    rungs : sequence of str
        Of `plug-in` (always there, and first), `residual`, `residual-bootstrap`, `laplace`,
        `pathfinder`, `advi` and `full`.
    draws : int
        Draws that every rung is compared by.
    offsets : int
        Of `residual-bootstrap`: times that the offset is estimated anew; it divides `draws`.
    dimension : int or (int, int), optional
        K of the models that are not the audit's, in both halves or in halves 0 and 1; the audit's
        when left out, cut to 32.
    engine : {"gibbs", "nuts"}
        Of `full`.
    chains, tune, thin : int
        Of `full`. `draws` is shared among the chains; every `thin`-th draw is kept.
    min_ess : float, optional
        Of `full` by `gibbs`: sample until the smallest effective sample size reaches it.
    options : mapping
        Further arguments of `build_mirt_dif`, of all rungs that fit it but `laplace`: `sparse`,
        `zero_sum`, `family_means`, `priors`.
    margin : float, proportion
        Differences below it are held for none.
    subtests : int
        Matched-random subtests, the same for all draws.
    headline : (str, str)
        The cell, anchors and scores, that stands for a rung in lists of pairs.
    """

    rungs: tuple[str, ...] = LADDER
    draws: int = 400
    offsets: int = 50
    dimension: int | tuple[int, int] | None = None
    engine: str = "gibbs"
    chains: int = 2
    tune: int = 500
    thin: int = 2
    min_ess: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    margin: float = 0.02
    subtests: int = 200
    headline: tuple[str, str] = ("draws", "latent")

    def __post_init__(self) -> None:
        """Refuse settings that no comparison can run with."""
        unknown = [name for name in self.rungs if name not in RUNGS]
        if unknown:
            raise ValueError(f"rungs must be among {', '.join(RUNGS)}, got {unknown[0]!r}")
        if len(set(self.rungs)) < len(self.rungs):
            raise ValueError(f"a rung is named twice: {', '.join(self.rungs)}")
        for name, least in (("draws", 20), ("subtests", 1), ("chains", 1), ("tune", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)}")
        for name in ("offsets", "thin"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.draws % self.chains:
            raise ValueError(f"draws ({self.draws}) must be shared evenly by {self.chains} chains")
        if BOOTSTRAP in self.rungs and self.draws % self.offsets:
            raise ValueError(
                f"draws ({self.draws}) must be shared evenly by {self.offsets} offsets"
            )
        if self.engine not in ("gibbs", "nuts"):
            raise ValueError(f"engine must be gibbs or nuts, got {self.engine!r}")
        if self.min_ess is not None and self.engine != "gibbs":
            raise ValueError("min_ess goes with the engine gibbs")
        if not 0 < self.margin < 1:
            raise ValueError(
                f"margin is a proportion above 0, 0.02 is two points; got {self.margin}"
            )
        if self.dimension is not None and min(self.dimensions(0, 0)) < 1:
            raise ValueError(f"dimension must be at least 1, got {self.dimension}")
        kind, score = self.headline
        if kind not in ANCHORS or score not in SCORES:
            raise ValueError(
                f"headline names anchors ({', '.join(ANCHORS)}) and scores ({', '.join(SCORES)}), "
                f"got {kind!r} and {score!r}"
            )

    @property
    def ladder(self) -> tuple[str, ...]:
        """The rungs in the order of the ladder, the plug-in first."""
        return tuple(name for name in RUNGS if name == PLUG_IN or name in self.rungs)

    def dimensions(self, *audit: int) -> tuple[int, int]:
        """Return K of the models that are fitted to halves 0 and 1, given the audit's."""
        if isinstance(self.dimension, int):
            return self.dimension, self.dimension
        if self.dimension is not None:
            return self.dimension
        return min(audit[0], MOST_DIMENSIONS), min(audit[1], MOST_DIMENSIONS)

    @property
    def margin_name(self) -> str:
        """The ladder's column for the probability of a difference within the margin."""
        return f"p_within_{100 * self.margin:g}pp"

    def of_rung(self, name: str) -> dict[str, Any]:
        """Return the settings that change what a rung says, as plain numbers and text.

        Examples
        --------
        >>> ComparisonSettings().of_rung("residual")
        {'draws': 400, 'subtests': 200}
        """
        plain = self.to_dict()
        return {key: plain[key] for key in ("draws", "subtests", *_MATTERS[name])}

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain numbers and text."""
        plain = asdict(self)
        plain["rungs"] = list(self.ladder)
        plain["headline"] = list(self.headline)
        plain["options"] = {name: _plain(value) for name, value in self.options.items()}
        if isinstance(self.dimension, tuple):
            plain["dimension"] = list(self.dimension)
        return plain


def _plain(value: Any) -> Any:
    return value.to_dict() if hasattr(value, "to_dict") else value
