"""Scales of the priors of the multidimensional model: given, or found from the answers."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Final

import numpy as np

from neartie.inference.mirt_newton import Blocks, climb
from neartie.inference.mirt_objective import PenalisedMirt, Point
from neartie.models.priors import MirtDifPriors

MAX_ROUNDS: Final = 60
#: Relative change of a scale below which a round is the last one.
TOLERANCE: Final = 1e-3
_STEPS: Final = 1
# Longest step of a log scale in one round.
_LONGEST: Final = 0.7
# Median of a standard half-normal variable.
_HALF_NORMAL_MEDIAN: Final = 0.6744897501960817


@dataclass(frozen=True, kw_only=True, slots=True)
class MirtDifScales:
    """What `build_mirt_dif` estimates of its priors, held.

    Attributes
    ----------
    loading_scale : float, logit
        Standard deviation of loadings around 0.
    easiness_mean : float, logit
    easiness_scale : float, logit
        Standard deviation of easiness around that mean.
    dif_scale : float, logit
        Of family effects: the scale of their zero-sum normal prior.

    Raises
    ------
    ValueError
        If a value is not finite, or a scale is not positive.

    Examples
    --------
    >>> MirtDifScales(loading_scale=0.0, easiness_mean=0.0, easiness_scale=1.5, dif_scale=0.5)
    Traceback (most recent call last):
    ...
    ValueError: loading_scale must be positive, got 0.0
    """

    loading_scale: float
    easiness_mean: float
    easiness_scale: float
    dif_scale: float

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not math.isfinite(value):
                raise ValueError(f"{field.name} must be finite, got {value}")
            if field.name != "easiness_mean" and value <= 0:
                raise ValueError(f"{field.name} must be positive, got {value}")

    def to_dict(self) -> dict[str, float]:
        """Return every scale by name."""
        return asdict(self)

    def hold(self, problem: PenalisedMirt) -> PenalisedMirt:
        """Return the objective under these scales."""
        return problem.with_scales(
            loading=self.loading_scale,
            easiness_mean=self.easiness_mean,
            easiness=self.easiness_scale,
            dif=self.dif_scale,
        )


def prior_scales(priors: MirtDifPriors, dimension: int) -> MirtDifScales:
    """Return the medians of the priors of all scales.

    Parameters
    ----------
    priors : MirtDifPriors
    dimension : int

    Returns
    -------
    MirtDifScales

    Examples
    --------
    >>> prior_scales(MirtDifPriors(), 4).loading_scale
    0.75
    """
    return MirtDifScales(
        loading_scale=priors.loading_spread / math.sqrt(dimension),
        easiness_mean=0.0,
        easiness_scale=priors.easiness_scale,
        dif_scale=_HALF_NORMAL_MEDIAN * priors.dif_scale_sd,
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FoundScales:
    """Scales found from the answers.

    Attributes
    ----------
    scales : MirtDifScales
    point : Point
        Near the mode under them.
    n_rounds : int
    converged : bool
        Whether the last round changed no scale by more than a thousandth.
    """

    scales: MirtDifScales
    point: Point
    n_rounds: int
    converged: bool


def empirical_scales(
    problem: PenalisedMirt,
    start: Point,
    priors: MirtDifPriors,
    *,
    max_rounds: int = MAX_ROUNDS,
) -> FoundScales:
    r"""Return the scales that answers and priors make most probable, approximately.

    Parameters
    ----------
    problem : PenalisedMirt
        Its own scales do not matter.
    start : Point
    priors : MirtDifPriors
        Of the scales.
    max_rounds : int

    Returns
    -------
    FoundScales

    Notes
    -----
    The density of a point and its scales together has no useful maximum: where a scale and all
    that it spreads shrink to zero it grows without bound. What is climbed instead is the density
    of the scales alone, in which parameters stand with their uncertainty: of n parameters u with
    the scale s it is flat where

    .. math:: \sum u^2/s^2 - \Big(n - \sum v/s^2\Big) + \frac{d \log p(s)}{d \log s} = 0,

    with u at the mode under the scales, and v their variances there, from the second derivatives
    within each item and each model (Laplace's approximation by blocks). p is the prior of
    `build_mirt_dif` as a density of log s. A round moves to the mode and takes one fixed-point
    step, which is MacKay's; that of the family effects is a secant one, because it would creep
    where there are none.

    Answers tell of loadings and abilities only by their products. So the loading scale is that
    of loadings in the unit in which abilities have the mean square that their prior says:
    :math:`s_l^2 = \overline{l^2 + v}\;\overline{\theta^2 + v}`.

    References
    ----------
    MacKay (1992), Neural Computation 4, 415-447. doi:10.1162/neco.1992.4.3.415
    """
    scales = prior_scales(priors, problem.dimension)
    point, before, converged, n = start, None, False, 0
    while n < max_rounds and not converged:
        held = scales.hold(problem)
        # The first rounds start far from the mode.
        summit = climb(held, point, tolerance=1e-6, max_iterations=_STEPS + 4 * (n == 0))
        point = summit.point
        blocks = Blocks.at(held, point, summit.state)
        ahead = _fixed_point(held, point, blocks, scales, priors)
        here = math.log(scales.dif_scale)
        pull = math.log(ahead.dif_scale) - here
        step = pull
        if before is not None and here != before[0]:
            bend = (pull - before[1]) / (here - before[0])
            if bend < 0:
                step = -pull / bend
        before = here, pull
        step = min(max(step, -_LONGEST), _LONGEST)
        following = MirtDifScales(**{**ahead.to_dict(), "dif_scale": math.exp(here + step)})
        converged = n > 0 and _distance(scales, following) < TOLERANCE
        scales, n = following, n + 1
    return FoundScales(scales=scales, point=point, n_rounds=n, converged=converged)


def _fixed_point(
    problem: PenalisedMirt,
    point: Point,
    blocks: Blocks,
    scales: MirtDifScales,
    priors: MirtDifPriors,
) -> MirtDifScales:
    """Return where one step of the fixed-point iteration leads."""
    k = problem.dimension
    variance = np.einsum("iqq->iq", blocks.item)
    of_ability = np.square(point.ability).mean() + np.einsum("mkk->mk", blocks.model).mean()
    of_loading = np.square(point.item[:, :k]).mean() + variance[:, :k].mean()
    n_loading = problem.n_item * k
    log_median = math.log(priors.loading_spread / math.sqrt(k))
    pull = -(math.log(scales.loading_scale) - log_median) / priors.log_scale_sd**2
    loading = of_ability * of_loading * n_loading / max(n_loading - pull, 1.0)

    easiness, n_item = point.item[:, k], problem.n_item
    # Of the mean given the easiness, under its own normal prior.
    ratio = (scales.easiness_scale / priors.easiness_mean_sd) ** 2
    mean = float(easiness.sum() / (n_item + ratio))
    pull = -(math.log(scales.easiness_scale) - math.log(priors.easiness_scale))
    pull /= priors.log_scale_sd**2
    squares = float(np.square(easiness - mean).sum() + variance[:, k].sum())

    # Of effects that sum to zero over items too, one item's worth is known.
    share = 1 - problem.sums_over_items / n_item
    effects = float(np.square(point.item[:, k + 1 :]).sum())
    spread = float(variance[:, k + 1 :].sum()) * share
    square = scales.dif_scale**2
    informed = max(n_item * share * (len(problem.basis) - 1) - spread / square, 0.0)
    # The half-normal prior, as a density of the log scale, rises by 1 - s²/sd².
    dif = (effects + square) / (informed + square / priors.dif_scale_sd**2)
    return MirtDifScales(
        loading_scale=math.sqrt(loading),
        easiness_mean=mean,
        easiness_scale=math.sqrt(squares / max(n_item - pull, 1.0)),
        dif_scale=math.sqrt(dif),
    )


def _distance(one: MirtDifScales, other: MirtDifScales) -> float:
    """Return the largest relative change; of the mean, in units of the scale around it."""
    changes = [
        abs(math.log(getattr(other, name) / getattr(one, name)))
        for name in ("loading_scale", "easiness_scale", "dif_scale")
    ]
    return max(*changes, abs(other.easiness_mean - one.easiness_mean) / one.easiness_scale)
