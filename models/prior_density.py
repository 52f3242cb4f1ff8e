"""Plain log densities that the priors are made of, summed over whatever is given."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from neartie.models.priors import DifPriors

type Floats = NDArray[np.float64]
type Values = Floats | float

LOG_ROOT_TWO_PI = 0.5 * np.log(2 * np.pi)


def response_log_likelihood(values: NDArray[np.int8], logit: Floats) -> Floats:
    r"""Return the log-likelihood of every answer.

    Parameters
    ----------
    values : (n_item, n_model) int8
        1 right, 0 wrong, -1 missing.
    logit : (n_item, n_model) float, logit

    Returns
    -------
    (n_item, n_model) float, nat
        :math:`\log\sigma(\eta)` for a right answer, :math:`\log\sigma(-\eta)` for a wrong one, 0
        for a missing one.

    Examples
    --------
    >>> response_log_likelihood(np.array([[1, -1]], dtype=np.int8), np.zeros((1, 2))).round(4)
    array([[-0.6931,  0.    ]])
    """
    sign = np.where(values == 1, 1.0, -1.0)
    return np.where(values >= 0, special.log_expit(sign * logit), 0.0)


def normal(values: Values, mean: Values, sd: Values) -> float:
    """Return the log density of independent normal values.

    Examples
    --------
    >>> round(normal(np.array([0.0, 1.0]), 0.0, 1.0), 4)
    -2.3379
    """
    return float(np.sum(stats.norm.logpdf(values, mean, sd)))


def log_normal(value: float, median: float, log_sd: float) -> float:
    """Return the log density of a log-normal value.

    Examples
    --------
    >>> round(log_normal(1.0, 1.0, 0.5), 4)
    -0.2258
    """
    return float(stats.norm.logpdf(np.log(value), np.log(median), log_sd) - np.log(value))


def zero_sum_normal(values: Values, sd: float, *, axes: int = 1) -> float:
    r"""Return the log density of values that sum to zero over their last axes.

    Parameters
    ----------
    values : (..., n) or (..., k, n) float
        Sums over each of the last `axes` axes are zero.
    sd : float
        Scale :math:`\sigma` of the normal values that the mean was taken off from.
    axes : int
        1 or 2.

    Returns
    -------
    float, nat
        :math:`-\frac{d}{2}\log(2\pi\sigma^2) - \sum x^2/(2\sigma^2)`, d the number of values less
        that of constraints: the density on the subspace, in orthonormal coordinates.

    Examples
    --------
    >>> round(zero_sum_normal(np.zeros(2), 1.0), 4)
    -0.9189
    """
    x = np.asarray(values, dtype=np.float64)
    constrained = x.shape[-axes:]
    free = np.prod(x.shape[:-axes], dtype=int) * np.prod([n - 1 for n in constrained], dtype=int)
    return float(-0.5 * np.square(x / sd).sum() - free * (LOG_ROOT_TWO_PI + np.log(sd)))


def half_student_t(values: Values, df: float, scale: float) -> float:
    """Return the log density of independent absolute values of t-distributed ones.

    Examples
    --------
    >>> bool(np.isclose(half_student_t(0.5, 1.0, 2.0), stats.halfcauchy.logpdf(0.5, scale=2.0)))
    True
    """
    return float(np.sum(np.log(2.0) + stats.t.logpdf(values, df, scale=scale)))


def family_effects_terms(
    point: dict[str, Floats],
    priors: DifPriors,
    *,
    zero_sum: str,
    sparse: bool,
    fixed_scale: float | None = None,
) -> tuple[dict[str, float], Floats]:
    """Return the prior terms of the family effects, and the effects, (n_item, n_family).

    Parameters
    ----------
    point : dict of name to array
        `dif` for a fixed scale; else `dif_scale`, `dif_standard`, and for sparse effects
        `dif_local` and `dif_slab_variance`.
    priors : DifPriors
    zero_sum, sparse, fixed_scale
        As in `neartie.models.dif_effects.family_effects`.

    Returns
    -------
    terms : dict of name to float, nat
    effects : (n_item, n_family) float, logit

    Examples
    --------
    >>> terms, effects = family_effects_terms(
    ...     {"dif": np.array([[1.0, -1.0]])}, DifPriors(), zero_sum="families", sparse=False,
    ...     fixed_scale=1.0)
    >>> round(terms["dif"], 4)
    -1.9189
    """
    axes = 1 if zero_sum == "families" else 2
    if fixed_scale is not None:
        return {"dif": zero_sum_normal(point["dif"], fixed_scale, axes=axes)}, point["dif"]
    scale, standard = float(point["dif_scale"]), point["dif_standard"]
    if not sparse:
        terms = {
            "dif_scale": float(stats.halfnorm.logpdf(scale, scale=priors.dif_scale_sd)),
            "dif_standard": zero_sum_normal(standard, 1.0, axes=axes),
        }
        return terms, scale * standard
    local, slab = point["dif_local"], float(point["dif_slab_variance"])
    half_df = 0.5 * priors.dif_slab_df
    terms = {
        "dif_scale": float(stats.halfcauchy.logpdf(scale, scale=priors.dif_global_scale)),
        "dif_local": half_student_t(local, priors.dif_local_df, 1.0),
        "dif_slab_variance": float(
            stats.invgamma.logpdf(slab, half_df, scale=half_df * priors.dif_slab_scale**2)
        ),
        "dif_standard": zero_sum_normal(standard, 1.0),
    }
    width = scale * local / np.sqrt(1 + np.square(scale * local) / slab)
    effects = width[:, None] * standard
    return terms, effects - effects.mean(axis=0) if axes == 2 else effects
