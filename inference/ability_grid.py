"""Posteriors of abilities on nodes of their own, and whether nodes serve: arrays in and out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from neartie.inference.known_items import Floats, KnownItems, Mask, maximum

#: Nats below the highest density where the nodes end: 1e-14 of it.
DEPTH: Final = 32.0
NODES: Final = 81
#: Nodes are doubled until their spacing is at most this share of the posterior's sd.
WIDEST: Final = 0.25


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
