"""What every engine hands back: points in the unconstrained space, and how it went."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neartie.inference.flat_model import FlatModel

type Floats = NDArray[np.float64]
# Takes the step at work and the share of it that is done.
type Progress = Callable[[str, float], None]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class EngineDraws:
    """Draws of an engine.

    Attributes
    ----------
    points : (n_chain, n_draw, size) float
        In the unconstrained space.
    stats : mapping of str to (n_chain, n_draw) array
        The sampler's statistics, under ArviZ's names.
    facts : mapping
        What the engine reports of its work, as plain values.
    pareto_k : float
        Shape of the importance ratios of an approximation; NaN where there are none.
    n_ratio : int
        Number of these ratios, by which the shape is judged.
    moments : mapping of name to (mean, standard deviation)
        Of variables whose draws are not in the points.
    """

    points: Floats
    stats: Mapping[str, NDArray[Any]]
    facts: Mapping[str, Any] = field(default_factory=dict)
    pareto_k: float = float("nan")
    n_ratio: int = 0
    moments: Mapping[str, tuple[Floats, Floats]] = field(default_factory=dict)


def ignore_progress(step: str, share: float) -> None:
    """Take a report of progress, and do nothing with it."""


def log_densities(flat: FlatModel, points: Floats) -> Floats:
    """Return the log density at each of many points.

    Parameters
    ----------
    flat : FlatModel
    points : (n_point, size) float

    Returns
    -------
    (n_point,) float, nat
    """
    return np.array([flat.evaluate(point)[0] for point in points])


def importance_shape(log_ratio: Floats) -> float:
    r"""Return the Pareto shape of the largest importance ratios of an approximation.

    Parameters
    ----------
    log_ratio : (n_draw,) float, nat
        Log density of the target minus that of the approximation, at the approximation's draws.

    Returns
    -------
    float
        :math:`\hat k`; NaN where it cannot be told: fewer than 50 draws, or equal ratios.

    References
    ----------
    Vehtari, Simpson, Gelman, Yao and Gabry (2024), Journal of Machine Learning Research 25(72).

    Examples
    --------
    >>> from scipy import stats
    >>> draws = np.random.default_rng(1).standard_normal(4000)
    >>> wide = importance_shape(stats.t(2).logpdf(draws) - stats.norm.logpdf(draws))
    >>> narrow = importance_shape(stats.norm(0, 0.5).logpdf(draws) - stats.norm.logpdf(draws))
    >>> wide > 0.5 > narrow
    True
    """
    from arviz_stats.base import array_stats

    finite = log_ratio[np.isfinite(log_ratio)]
    if finite.size < 50 or np.ptp(finite) < 1e-6:
        return float("nan")
    # ArviZ takes log-likelihoods, whose importance ratios are their negatives.
    _, shape = array_stats.psislw(-(finite - finite.max()))
    return float(shape)
