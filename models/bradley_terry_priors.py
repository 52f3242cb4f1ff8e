"""Priors of the Bayesian Bradley–Terry model."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class BradleyTerryPriors:
    """Scales of the priors of `build_bradley_terry`, all on the logit scale.

    Attributes
    ----------
    strength_sd : float, logit
        Of each log strength, before they are centred; with covariates, of what these leave over.
        Two models then differ by less than 4.2 logits with probability .95, that is, the better
        one wins at most 98 % of the battles: wide for models that are worth comparing, and finite
        for one that never won.
    strength_scale_sd : float, logit
        Of the half-normal prior of `strength_scale`, which replaces `strength_sd` where the scale
        is hierarchical. Its median is then 1.0.
    log_tie_mean, log_tie_sd : float
        Of the normal prior of Davidson's log nu. At 0 a third of the battles of equal models are
        ties, at -1.5 and 1.5 a tenth and seven tenths.
    log_threshold_sd : float, logit
        Of the half-normal prior of Rao and Kupper's log theta.
    first_shown_sd : float, logit
        Of the normal prior of the advantage of whoever is shown first. At 1 logit the first of two
        equals wins 73 %.
    judge_first_shown_sd : float, logit
        Of the half-normal prior of the scale by which that advantage differs among judges.
    judge_strength_sd : float, logit
        Of the half-normal prior of the scale by which strengths differ among judges.
    covariate_sd : float, logit
        Of the normal prior of the difference in strength that one standard deviation of a
        covariate makes.

    Raises
    ------
    ValueError
        If a value is not finite, or a scale is not positive.

    Examples
    --------
    >>> BradleyTerryPriors(strength_sd=3.0).to_dict()["strength_sd"]
    3.0
    >>> BradleyTerryPriors(strength_sd=0.0)
    Traceback (most recent call last):
    ...
    ValueError: strength_sd must be a positive finite number, got 0.0
    """

    strength_sd: float = 1.5
    strength_scale_sd: float = 1.5
    log_tie_mean: float = 0.0
    log_tie_sd: float = 1.5
    log_threshold_sd: float = 1.0
    first_shown_sd: float = 1.0
    judge_first_shown_sd: float = 0.5
    judge_strength_sd: float = 0.5
    covariate_sd: float = 1.0

    def __post_init__(self) -> None:
        for name, value in self.to_dict().items():
            if name.endswith("_mean"):
                if not math.isfinite(value):
                    raise ValueError(f"{name} must be finite, got {value}")
            elif not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name} must be a positive finite number, got {value}")

    def to_dict(self) -> dict[str, float]:
        """Return every value by its name."""
        return asdict(self)
