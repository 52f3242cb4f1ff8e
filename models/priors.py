"""Priors of the item-response models: every hyperparameter, its scale, and why it is what it is."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar


@dataclass(frozen=True, kw_only=True, slots=True)
class _Priors:
    """Fields are finite numbers, and positive unless the class lists them as locations."""

    locations: ClassVar[tuple[str, ...]] = ()
    optional: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None and field.name in self.optional:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise TypeError(f"{field.name} must be a number, got {value!r}")
            if not math.isfinite(value):
                raise ValueError(f"{field.name} must be finite, got {value}")
            if field.name not in self.locations and value <= 0:
                raise ValueError(f"{field.name} must be positive, got {value}")

    def to_dict(self) -> dict[str, Any]:
        """Return every hyperparameter by name."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class TwoPLPriors(_Priors):
    r"""Priors of the two-parameter logistic model; the defaults are P1's where P1 has one.

    Attributes
    ----------
    ability_sd : float, ability
        Standard deviation of abilities (within families, with family means). It sets the unit of
        ability. Under equal slopes it is the median of `ability_scale`, which is estimated.
    difficulty_sd : float, ability
        Standard deviation of difficulties around 0; with `hierarchical` the median of
        `difficulty_scale`.
    log_discrimination_mean : float, log (logit per ability)
        Mean of the log discriminations: a median discrimination of 1.
    log_discrimination_sd : float, log (logit per ability)
        Their standard deviation: at 0.5, 95 % of the discriminations lie in 0.38 to 2.7. With
        `hierarchical` the median of `log_discrimination_scale`.
    discrimination_mean, discrimination_sd : float, logit per ability
        Normal prior of discriminations of either sign. The mean is positive: it alone says which
        end of the scale is the able one.
    easiness_sd : float, logit
        Standard deviation of the easiness that takes the place of difficulty where
        discriminations have either sign: an item without slope has no difficulty.
    family_mean_sd : float, ability
        Scale of the family means, which sum to zero.
    difficulty_mean_sd : float, ability
        With `hierarchical`: standard deviation of the mean difficulty around 0.
    log_discrimination_mean_sd : float, log (logit per ability)
        With `hierarchical`: standard deviation of the mean log discrimination around
        `log_discrimination_mean`.
    log_scale_sd : float, log
        Standard deviation of the log of every estimated scale around the log of its median: at
        0.5 a factor of 2.7 either way. A log-normal scale stays off zero, where samplers get
        stuck.

    Raises
    ------
    ValueError
        If a field is not finite, or a scale is not positive.

    References
    ----------
    P1, equation of the penalised likelihood (`eq:map`).

    Examples
    --------
    >>> TwoPLPriors(difficulty_sd=2).difficulty_sd
    2
    >>> TwoPLPriors(ability_sd=0)
    Traceback (most recent call last):
    ...
    ValueError: ability_sd must be positive, got 0
    """

    locations: ClassVar[tuple[str, ...]] = ("log_discrimination_mean",)

    ability_sd: float = 1.0
    difficulty_sd: float = 1.5
    log_discrimination_mean: float = 0.0
    log_discrimination_sd: float = 0.5
    discrimination_mean: float = 1.0
    discrimination_sd: float = 1.0
    easiness_sd: float = 2.0
    family_mean_sd: float = 1.0
    difficulty_mean_sd: float = 1.5
    log_discrimination_mean_sd: float = 0.5
    log_scale_sd: float = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class DifPriors(_Priors):
    r"""Priors of family effects that both models with such effects have in common.

    Attributes
    ----------
    dif_scale_sd : float, logit
        Scale of the half-normal prior of `dif_scale` where that is estimated. It reaches down to
        zero: no family effects at all.
    dif_global_scale : float, logit
        With `sparse`: scale of the half-Cauchy prior of `dif_scale`, the size of the effects of
        items without DIF. The smaller, the fewer items are expected to have any.
    dif_local_df : float, degrees of freedom
        With `sparse`: of the half-t prior of an item's own scale; 1 is the horseshoe. Larger
        values have lighter tails and are easier to sample.
    dif_slab_scale : float, logit
        With `sparse`: size that the effects of an item with DIF have at most, roughly.
    dif_slab_df : float, degrees of freedom
        With `sparse`: of the t-shaped tail beyond it.
    """

    dif_scale_sd: float = 0.5
    dif_global_scale: float = 0.1
    dif_local_df: float = 1.0
    dif_slab_scale: float = 2.0
    dif_slab_df: float = 4.0


@dataclass(frozen=True, kw_only=True, slots=True)
class MirtDifPriors(DifPriors):
    r"""Priors of the multidimensional model with family effects.

    Abilities are N(0, 1) in every dimension, which sets their unit. The other attributes are
    those of `DifPriors`.

    Attributes
    ----------
    loading_spread : float, logit
        Standard deviation, over models, of the logit of an item that is due to ability. The
        median of `loading_scale` is this over the root of the number of dimensions, so that what
        is assumed of answers does not change with that number.
    easiness_mean_sd : float, logit
        Standard deviation of the mean easiness around 0.
    easiness_scale : float, logit
        Median of `easiness_scale`, the standard deviation of easiness over items.
    log_scale_sd : float, log
        Standard deviation of the logs of these two scales around their medians.
    family_mean_sd : float, ability
        Scale of the family means in every dimension.

    Raises
    ------
    ValueError
        If a field is not finite or not positive.
    """

    loading_spread: float = 1.5
    easiness_mean_sd: float = 2.0
    easiness_scale: float = 1.5
    log_scale_sd: float = 0.5
    family_mean_sd: float = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class ResidualDifPriors(DifPriors):
    r"""Priors of the residual-DIF model; the defaults are P0's penalised estimate.

    The other attributes are those of `DifPriors`.

    Attributes
    ----------
    dif_sd : float, logit
        Scale of the effects where it is fixed: P0's penalty :math:`\lambda` is its inverse
        square.
    easiness_mean : float, logit
        Prior mean of easiness; without meaning where it is flat.
    easiness_sd : float or None, logit
        Prior standard deviation of easiness; None for a flat prior, as in P0, under which an
        item with equal answers has no finite easiness and is refused.

    Raises
    ------
    ValueError
        If a field is not finite, or a scale is not positive.

    References
    ----------
    P0, equation 3.
    """

    locations: ClassVar[tuple[str, ...]] = ("easiness_mean",)
    optional: ClassVar[tuple[str, ...]] = ("easiness_sd",)

    dif_sd: float = 1.0
    easiness_mean: float = 0.0
    easiness_sd: float | None = None
