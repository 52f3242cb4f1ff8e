"""The rules of a scorecard in one place, with a version: weights, limits, bins."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, Literal

import numpy as np

#: Version of the rules with their default settings. Any change of a default or of a rule below it
#: bumps it, since scores of two versions cannot be compared.
RULES_VERSION: Final = "1.0.0"

#: Parts of a domain's composite, in the order of P1's formula.
TERMS: Final = ("accuracy", "consistency", "calibration", "resistance")
#: Points of a score, of which 1 is a perfect composite.
SCALE: Final = 1000.0


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreSettings:
    """Everything that turns measurements into scores.

    Attributes
    ----------
    accuracy_weight, consistency_weight, calibration_weight, resistance_weight : float
        P1: .60, .15, .10, .15. Renormalised over what was measured.
    domain_weights : mapping of str to float
        Equal, which is P1's choice, for domains that are not named.
    gap_limit : float in (0, 1], proportion
        Advantage on anchor items at which resistance is zero.
    n_bins : int
        Bins of confidence.
    closed : {'right', 'left'}
        Side on which bins are closed: (lo, hi] with 0 in the first, or [lo, hi) with 1 in the last.
    binning : {'width', 'mass'}
        Bins of equal width, or of about equally many answers; equal confidences are never parted.
    critical : float
        Factor of a standard error in a half-width. P1 prints 1.96.
    unit : {'mode', 'posterior'}
        Of abilities, as in `neartie.inference.two_pl_map.fit_two_pl_map`: intervals hold in the
        posterior's; the joint mode's is P1's as printed, and draws scores towards the middle.
    phantom_wins : float, battles
        To each side of every pair of duelling models.
    fewest_judges : int
        A duel with fewer eligible judges is discarded.
    rescale : {'none', 'min-max'}
        What becomes of scores that are given as they are: nothing, or 0 for the worst and 1 for
        the best model of each domain.
    n_resamples : int
        Item resamples behind the half-widths that count all terms; 0 leaves these out.

    Raises
    ------
    ValueError
        If a value is out of range.

    References
    ----------
    P1, "Score Structure and Interpretation" and "Governance".

    Examples
    --------
    >>> ScoreSettings().stamp
    '1.0.0'
    >>> ScoreSettings(n_bins=15).stamp
    '1.0.0+95952bc1'
    """

    accuracy_weight: float = 0.60
    consistency_weight: float = 0.15
    calibration_weight: float = 0.10
    resistance_weight: float = 0.15
    domain_weights: Mapping[str, float] = field(default_factory=dict)
    gap_limit: float = 0.2
    n_bins: int = 10
    closed: str = "right"
    binning: str = "width"
    critical: float = 1.96
    unit: Literal["mode", "posterior"] = "posterior"
    phantom_wins: float = 0.1
    fewest_judges: int = 2
    rescale: str = "none"
    n_resamples: int = 400

    def __post_init__(self) -> None:
        choices = {
            "closed": ("right", "left"),
            "binning": ("width", "mass"),
            "unit": ("mode", "posterior"),
            "rescale": ("none", "min-max"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ValueError(
                    f"{name} must be one of {', '.join(allowed)}, got {getattr(self, name)!r}"
                )
        for term, weight in self.weights.items():
            _require(np.isfinite(weight) and weight >= 0, f"{term}_weight", "at least 0", weight)
        _require(sum(self.weights.values()) > 0, "the weights", "positive in sum", 0)
        for domain, weight in self.domain_weights.items():
            ok = np.isfinite(weight) and weight > 0
            _require(ok, f"the weight of domain {domain!r}", "positive", weight)
        _require(0 < self.gap_limit <= 1, "gap_limit", "in (0, 1]", self.gap_limit)
        _require(self.n_bins >= 1, "n_bins", "at least 1", self.n_bins)
        _require(0 < self.critical < np.inf, "critical", "positive", self.critical)
        _require(0 <= self.phantom_wins < np.inf, "phantom_wins", "at least 0", self.phantom_wins)
        _require(self.fewest_judges >= 1, "fewest_judges", "at least 1", self.fewest_judges)
        enough = self.n_resamples == 0 or self.n_resamples > 1
        _require(enough, "n_resamples", "0, or at least 2", self.n_resamples)

    @property
    def weights(self) -> dict[str, float]:
        """Weight of each term of a composite, by its name."""
        return {term: float(getattr(self, f"{term}_weight")) for term in TERMS}

    @property
    def stamp(self) -> str:
        """Version of the rules, with a digest of what differs from the defaults.

        Scores under different stamps cannot be compared.
        """
        standard = {item.name: item.default for item in fields(self)}
        # How many resamples there are moves nothing but Monte Carlo error.
        changed = {
            name: value
            for name, value in self.to_dict().items()
            if name != "n_resamples"
            and value != ({} if name == "domain_weights" else standard[name])
        }
        if not changed:
            return RULES_VERSION
        text = json.dumps(changed, sort_keys=True)
        return f"{RULES_VERSION}+{hashlib.sha256(text.encode()).hexdigest()[:8]}"

    def to_dict(self) -> dict[str, Any]:
        """Return every setting as a plain value."""
        return {**asdict(self), "domain_weights": dict(sorted(self.domain_weights.items()))}


def _require(holds: bool, name: str, rule: str, value: float) -> None:
    if not holds:
        raise ValueError(f"{name} must be {rule}, got {value}")
