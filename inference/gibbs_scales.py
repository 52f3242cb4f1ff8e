"""Scales and the mean of the items' priors, given what they scale, and apart from it.

Given the loadings, their scale moves little where there are many; given loadings in units of their
scale, it moves little where the answers say much. Draws of either kind in turn (interweaving) mix
where one of them alone does not: Yu and Meng (2011), Journal of Computational and Graphical
Statistics 20, 531-570. doi:10.1198/jcgs.2011.203main
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_item_kernel import ItemSums
from neartie.inference.gibbs_slice import draw_log_scale
from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]


# Kinds of priors, for the kernel.
FIXED, LOG_NORMAL, NORMAL, HALF_NORMAL = 0.0, 1.0, 2.0, 3.0


class LogNormal(NamedTuple):
    """Prior of a scale: the log of its median, and the precision of its log."""

    center: float
    precision: float


@compiled
def predictor_quadratic(
    sums: ItemSums, loading: Floats, easiness: Floats, effects: Floats
) -> tuple[Floats, Floats]:
    r"""Return the log-likelihood, given weights, of four numbers that items are multiplied by.

    Parameters
    ----------
    sums : ItemSums
    loading : (n_item, K) float
        In units of their scale.
    easiness : (n_item,) float
        Less its mean, in units of its scale.
    effects : (n_item, F) float
        In units of theirs.

    Returns
    -------
    linear : (4,) float
    quadratic : (4, 4) float
        With u = (loading scale, easiness mean, easiness scale, effect scale) the log-likelihood
        is linear . u - u . quadratic . u / 2, up to a constant.
    """
    linear = np.zeros(4)
    quadratic = np.zeros((4, 4))
    n_family, n_factor = sums.cross.shape[1:]
    for i in range(len(easiness)):
        b, place = easiness[i], 0
        for k in range(n_factor):
            a = loading[i, k]
            linear[0] += a * sums.lean_ability[i, k]
            for j in range(k, n_factor):
                twice = 1.0 if j == k else 2.0
                quadratic[0, 0] += twice * a * loading[i, j] * sums.gram[i, place]
                place += 1
        for f in range(n_family):
            e, total, lean = effects[i, f], sums.total[i, f], sums.lean[i, f]
            cross = 0.0
            for k in range(n_factor):
                cross += loading[i, k] * sums.cross[i, f, k]
            linear[1] += lean
            linear[2] += b * lean
            linear[3] += e * lean
            quadratic[0, 1] += cross
            quadratic[0, 2] += b * cross
            quadratic[0, 3] += e * cross
            quadratic[1, 1] += total
            quadratic[1, 2] += b * total
            quadratic[1, 3] += e * total
            quadratic[2, 2] += b * b * total
            quadratic[2, 3] += b * e * total
            quadratic[3, 3] += e * e * total
    for p in range(4):
        for q in range(p):
            quadratic[p, q] = quadratic[q, p]
    return linear, quadratic


@compiled
def draw_multipliers(
    rng: np.random.Generator,
    values: Floats,
    linear: Floats,
    quadratic: Floats,
    priors: Floats,
    rounds: int,
) -> None:
    """Draw numbers that items are multiplied by, given items in their units, in place.

    Parameters
    ----------
    rng : Generator
    values : (4,) float
        As `predictor_quadratic` names them.
    linear, quadratic
        As it returns them.
    priors : (4, 3) float
        A row each: `FIXED`; `LOG_NORMAL`, center and precision of the log; `NORMAL` and
        `HALF_NORMAL`, center (0 for the latter) and precision.
    rounds : int
        How often to draw each, in turn.
    """
    for step in range(rounds * len(values)):
        p = step % len(values)
        kind, center, precision = priors[p, 0], priors[p, 1], priors[p, 2]
        if kind == FIXED:
            continue
        square, rest = quadratic[p, p], linear[p]
        for q in range(len(values)):
            if q != p:
                rest -= quadratic[p, q] * values[q]
        if kind == NORMAL:
            total = square + precision
            mean = (rest + precision * center) / total
            values[p] = mean + rng.standard_normal() / math.sqrt(total)
            continue
        u = math.log(values[p])
        if kind == LOG_NORMAL:
            u = draw_log_scale(rng, u, 0.0, 0.5 * square, 0.0, rest, center, precision)
        else:
            u = draw_log_scale(rng, u, 1.0, 0.5 * (square + precision), 0.0, rest, 0.0, 0.0)
        values[p] = math.exp(u)


def draw_scale_of(
    scale: float, square_sum: float, n: int, prior: LogNormal, *, rng: np.random.Generator
) -> float:
    """Return a draw of a log-normal scale given n normal numbers of that scale.

    Parameters
    ----------
    scale : float
        As it is.
    square_sum : float
        Of the numbers.
    n : int
    prior : LogNormal
    rng : Generator

    Returns
    -------
    float
    """
    return math.exp(
        draw_log_scale(
            rng, math.log(scale), -n, 0.0, 0.5 * square_sum, 0.0, prior.center, prior.precision
        )
    )


def draw_half_normal_of(
    scale: float, square_sum: float, n: int, sd: float, *, rng: np.random.Generator
) -> float:
    """Return a draw of a half-normal scale given n normal numbers of that scale.

    Parameters
    ----------
    scale, square_sum, n, rng
        As in `draw_scale_of`.
    sd : float
        Of the prior.

    Returns
    -------
    float
    """
    return math.exp(
        draw_log_scale(rng, math.log(scale), 1.0 - n, 0.5 * sd**-2, 0.5 * square_sum, 0.0, 0.0, 0.0)
    )


def draw_mean_of(values: Floats, scale: float, sd: float, *, rng: np.random.Generator) -> float:
    """Return a draw of a mean of prior N(0, sd) given normal numbers about it.

    Parameters
    ----------
    values : (n,) float
    scale : float
        Of the numbers about their mean.
    sd : float
    rng : Generator

    Returns
    -------
    float
    """
    precision = len(values) / scale**2 + sd**-2
    mean = values.sum() / scale**2 / precision
    return float(mean + rng.standard_normal() / math.sqrt(precision))


def draw_common_factor(
    ability_square: float,
    n: int,
    loading_scale: float,
    prior: LogNormal,
    *,
    rng: np.random.Generator,
) -> float:
    r"""Return a factor of all abilities that divides all loadings and their scale.

    Parameters
    ----------
    ability_square : float
        Sum of the squares of n standard normal numbers that the factor multiplies.
    n : int
    loading_scale : float
        As it is.
    prior : LogNormal
        Of the loading scale.
    rng : Generator

    Returns
    -------
    float

    Notes
    -----
    Loadings in units of their scale do not move, so that only abilities and the prior of the scale
    have a say: :math:`n\log c - c^2 \sum\theta^2/2` and the normal log density of
    :math:`\log s - \log c`, against the Haar measure.

    References
    ----------
    Liu and Sabatti (2000), theorem 1.
    """
    center = math.log(loading_scale) - prior.center
    return math.exp(
        draw_log_scale(rng, 0.0, n, 0.5 * ability_square, 0.0, 0.0, center, prior.precision)
    )
