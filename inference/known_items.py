"""Abilities under items whose parameters are known, one model at a time: arrays in and out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from neartie.inference.pairwise_bits import compiled, in_row_blocks

type Floats = NDArray[np.float64]
type Mask = NDArray[np.bool_]

TOLERANCE: Final = 1e-12
MAX_STEPS: Final = 200
#: Nats below the highest density where the nodes end: 1e-14 of it.
DEPTH: Final = 32.0
NODES: Final = 81
#: Nodes are doubled until their spacing is at most this share of the posterior's sd.
WIDEST: Final = 0.25


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class KnownItems:
    """Answers to known items: logit P = slope x ability + intercept.

    Attributes
    ----------
    slope, intercept : (n_item,) float
        Slopes of either sign.
    right, observed : (n_item, n_model) bool
    """

    slope: Floats
    intercept: Floats
    right: Mask
    observed: Mask

    def derivatives(self, ability: Floats) -> tuple[Floats, Floats]:
        """Return first and minus second derivative of each model's log-likelihood, (n_model,)."""
        logit = self.slope[:, None] * ability + self.intercept[:, None]
        tail = np.exp(-np.abs(logit))
        low = tail / (1 + tail)
        wrong = np.where(logit >= 0, low, 1 - low)
        error = np.where(self.right, wrong, wrong - 1) * self.observed
        weight = low / (1 + tail) * self.observed
        return self.slope @ error, np.square(self.slope) @ weight

    def log_likelihood(self, ability: Floats) -> Floats:
        """Return it at nodes, (n_node, n_model) in and out."""
        total = np.empty(ability.shape)
        nodes, data = np.ascontiguousarray(ability), (self.slope, self.intercept)

        def work(start: int, stop: int) -> None:
            _fill_models(start, stop, *data, self.right, self.observed, nodes, total)

        in_row_blocks(work, ability.shape[1], block=16)
        return total


@compiled
def _fill_models(
    start: int,
    stop: int,
    slope: NDArray[np.float64],
    intercept: NDArray[np.float64],
    right: NDArray[np.bool_],
    observed: NDArray[np.bool_],
    nodes: NDArray[np.float64],
    total: NDArray[np.float64],
) -> None:
    for m in range(start, stop):
        for k in range(nodes.shape[0]):
            value, product = 0.0, 1.0
            for i in range(slope.shape[0]):
                if not observed[i, m]:
                    continue
                logit = slope[i] * nodes[k, m] + intercept[i]
                if right[i, m]:
                    logit = -logit
                value -= max(logit, 0.0)
                # Factors lie between one and two: many of them need but one logarithm.
                product *= 1.0 + np.exp(-abs(logit))
                if product > 1e100:
                    value -= np.log(product)
                    product = 1.0
            total[k, m] = value - np.log(product)


def ends(items: KnownItems) -> tuple[Mask, Mask]:
    """Return where a likelihood has not fallen at plus and at minus infinity, (n_model,) each.

    There it has no finite maximum: every answer agrees with an infinite ability.
    """
    positive, negative = (items.slope > 0)[:, None], (items.slope < 0)[:, None]
    against_high = items.observed & ((positive & ~items.right) | (negative & items.right))
    against_low = items.observed & ((positive & items.right) | (negative & ~items.right))
    return ~against_high.any(axis=0), ~against_low.any(axis=0)


def maximum(items: KnownItems, *, mean: float, precision: float) -> tuple[Floats, Floats]:
    """Return the maximum of likelihood and normal prior, and the information there.

    Parameters
    ----------
    items : KnownItems
    mean, precision : float
        Of the prior; precision 0 for the likelihood alone, which must have a finite maximum.

    Returns
    -------
    ability, information : (n_model,) float
        The information is that of the items, plus the precision.

    Notes
    -----
    The log density is concave. Newton's steps are kept inside a bracket of the maximum, which
    they tighten, and are replaced by halving where they leave it.
    """
    n_model = items.right.shape[1]
    low, high = np.full(n_model, mean - 1.0), np.full(n_model, mean + 1.0)
    for bound, sign in ((low, -1.0), (high, 1.0)):
        width = 1.0
        while True:
            first, _ = items.derivatives(bound)
            wrong_side = sign * (first - precision * (bound - mean)) > 0
            if not wrong_side.any() or width > 1e12:
                break
            width *= 2
            bound[wrong_side] = mean + sign * width
    ability = np.clip(np.full(n_model, mean), low, high)
    for _ in range(MAX_STEPS):
        first, information = items.derivatives(ability)
        rise, information = first - precision * (ability - mean), information + precision
        low, high = np.where(rise > 0, ability, low), np.where(rise < 0, ability, high)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            proposed = ability + rise / information
        outside = ~((proposed >= low) & (proposed <= high))
        proposed = np.where(outside, (low + high) / 2, proposed)
        moved = np.abs(proposed - ability)
        ability = proposed
        if np.all(moved <= TOLERANCE * (1 + np.abs(ability))):
            break
    return ability, items.derivatives(ability)[1] + precision


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Grid:
    """Posteriors on nodes of their own.

    Attributes
    ----------
    nodes : (n_node, n_model) float
        Equally spaced for each model.
    mass : (n_node, n_model) float
        Sums to one for each model.
    mean, sd, spacing : (n_model,) float
    """

    nodes: Floats
    mass: Floats
    mean: Floats
    sd: Floats
    spacing: Floats

    def quantile(self, p: float) -> Floats:
        """Return quantiles, (n_model,).

        The distribution function is the trapezoidal sum with the end correction of Euler and
        Maclaurin, and a cubic between nodes, with the density as its slope.
        """
        model = np.arange(self.nodes.shape[1])
        bend = np.gradient(self.mass, axis=0) / 12
        below = np.cumsum(self.mass, axis=0) - self.mass / 2 - bend
        k = np.clip(np.sum(below < p, axis=0) - 1, 0, len(below) - 2)
        f, g = below[k, model], below[k + 1, model]
        left, right = self.mass[k, model], self.mass[k + 1, model]
        low, high = np.zeros(len(model)), np.ones(len(model))
        for _ in range(50):
            t = (low + high) / 2
            at = f * (1 + 2 * t) * (1 - t) ** 2 + g * t**2 * (3 - 2 * t)
            at += left * t * (1 - t) ** 2 - right * t**2 * (1 - t)
            low, high = np.where(at < p, t, low), np.where(at < p, high, t)
        return np.asarray(self.nodes[k, model] + t * self.spacing)


def posterior_grid(items: KnownItems, *, mean: float, sd: float) -> Grid:
    """Return every model's posterior on nodes that fit it.

    Parameters
    ----------
    items : KnownItems
    mean, sd : float
        Of the normal prior.

    Returns
    -------
    Grid

    Notes
    -----
    The nodes of a model run from where its log density lies 32 nats below its maximum on one side
    to where it does on the other: 81 of them, doubled until they lie no further apart than a
    quarter of the posterior's standard deviation. On equally spaced nodes that dense the error of
    sums is far below that of double precision.
    """
    mode, information = maximum(items, mean=mean, precision=sd**-2)
    top = _log_density(items, mode[None, :], mean, sd)[0]
    scale = 1 / np.sqrt(information)
    low = _where_it_ends(items, mode, top, -scale, mean, sd)
    high = _where_it_ends(items, mode, top, scale, mean, sd)
    n_node = NODES
    while True:
        nodes = low + (high - low) * np.linspace(0, 1, n_node)[:, None]
        density = np.exp(_log_density(items, nodes, mean, sd) - top)
        mass = density / density.sum(axis=0)
        average = (mass * nodes).sum(axis=0)
        spread = np.sqrt((mass * np.square(nodes - average)).sum(axis=0))
        spacing = (high - low) / (n_node - 1)
        if np.all(spacing <= WIDEST * spread):
            break
        n_node = 2 * n_node - 1
    return Grid(nodes=nodes, mass=mass, mean=average, sd=spread, spacing=spacing)


def _log_density(items: KnownItems, nodes: Floats, mean: float, sd: float) -> Floats:
    return items.log_likelihood(nodes) - 0.5 * np.square((nodes - mean) / sd)


def _where_it_ends(
    items: KnownItems, mode: Floats, top: Floats, step: Floats, mean: float, sd: float
) -> Floats:
    """Return where the log density has fallen far enough on the side that `step` points to."""
    near, far = mode.copy(), mode + step
    width = step.copy()
    while True:
        high = top - _log_density(items, far[None, :], mean, sd)[0] < DEPTH
        if not high.any():
            break
        near = np.where(high, far, near)
        width = np.where(high, 2 * width, width)
        far = np.where(high, mode + width, far)
    for _ in range(12):
        middle = (near + far) / 2
        high = top - _log_density(items, middle[None, :], mean, sd)[0] < DEPTH
        near, far = np.where(high, middle, near), np.where(high, far, middle)
    return far


def nodes_resolve(nodes: Floats, mean: Floats, sd: Floats) -> Mask:
    """Return whether nodes are dense enough to tell of posteriors: no interval rests on fewer.

    Parameters
    ----------
    nodes : (n_node,) or (n_node, n_model) float
        Of a quadrature rule, in rising order; one rule for all, or one a model.
    mean, sd : (n_model,) float
        Of the posteriors.

    Returns
    -------
    (n_model,) bool
        Whether the nodes within two standard deviations of the mean, and the next on either side,
        lie no further apart than one standard deviation, and reach as far.

    Examples
    --------
    The 21 nodes of a Gauss-Hermite rule do not resolve the posterior of 500 answers:

    >>> rule = np.polynomial.hermite_e.hermegauss(21)[0]
    >>> nodes_resolve(rule, np.array([0.0, 0.0]), np.array([0.8, 0.096]))
    array([ True, False])
    """
    own = np.broadcast_to(nodes.T, (len(mean), len(nodes))) if nodes.ndim == 1 else nodes.T
    gaps = np.diff(own, axis=1)
    low, high = (mean - 2 * sd)[:, None], (mean + 2 * sd)[:, None]
    touched = (own[:, 1:] > low) & (own[:, :-1] < high)
    widest = np.where(touched, gaps, 0.0).max(axis=1, initial=0.0)
    reaches = (own[:, 0] <= low[:, 0]) & (own[:, -1] >= high[:, 0])
    return np.asarray(reaches & (widest <= sd))
