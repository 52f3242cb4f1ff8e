r"""Sparse family effects of Gibbs samplers: a regularised horseshoe over items, by slice moves.

The width of item i is :math:`w_i = \tau\lambda_i / \sqrt{1 + \tau^2\lambda_i^2 / c^2}`. Local
scales, the global one and the slab are drawn given the standard effects, again given the effects
themselves, and :math:`\tau` up with all :math:`\lambda` down by one factor, which leaves every
width as it is.

References: Piironen and Vehtari (2017), Electronic Journal of Statistics 11, 5018-5051, section
2.3. doi:10.1214/17-EJS1337SI
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_effects import start_contrasts
from neartie.inference.gibbs_item_kernel import ItemSums
from neartie.inference.gibbs_protocol import State
from neartie.inference.gibbs_scales import FIXED
from neartie.inference.gibbs_slice import LIMIT, slice_draws
from neartie.models.priors import DifPriors

type Floats = NDArray[np.float64]
# From log widths to log densities, both one an item.
type OfWidth = Callable[[Floats], Floats]

# Exponents beyond it are as good as infinite.
LARGEST = 700.0


def sparse_effects(priors: DifPriors, *, n_item: int, basis: Floats, tied: bool) -> SparseEffects:
    """Return sparse effects with the scales of some priors.

    Parameters
    ----------
    priors : DifPriors
    n_item : int
    basis : (F, F - 1) float
    tied : bool
        Whether effects sum to zero over items too.

    Returns
    -------
    SparseEffects

    Raises
    ------
    ValueError
        If they do: the sum takes a share of every item's effects off those of all others.
    """
    if tied:
        raise ValueError(
            "the engine gibbs does not sample sparse=True together with "
            "zero_sum='families_and_items'; use zero_sum='families', or the engine nuts"
        )
    return SparseEffects(
        n_item=n_item,
        basis=basis,
        global_scale=priors.dif_global_scale,
        local_df=priors.dif_local_df,
        slab_scale=priors.dif_slab_scale,
        slab_df=priors.dif_slab_df,
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class SparseEffects:
    """Effects with a width an item: `dif_scale`, `dif_local`, `dif_slab_variance`, `dif_standard`.

    Attributes
    ----------
    n_item : int
    basis : (F, F - 1) float
        Orthonormal contrasts.
    global_scale, local_df, slab_scale, slab_df : float
        The priors, as `neartie.models.priors.DifPriors` calls them.
    """

    n_item: int
    basis: Floats
    global_scale: float
    local_df: float
    slab_scale: float
    slab_df: float

    def width(self, state: State) -> Floats:
        """Return the width of every item."""
        return np.exp(_log_width(*_logs(state)))

    def contrasts(self, state: State) -> Floats:
        """Return the standard effects as contrasts."""
        return np.asarray(state["dif_standard"] @ self.basis)

    def units(self, state: State, effects: Floats) -> tuple[Floats, float]:
        """Return the effects as they are, and 1."""
        return effects * self.width(state)[:, None], 1.0

    @property
    def unit_prior(self) -> tuple[float, float, float]:
        """Return that the number is known: see `draw_widths`."""
        return FIXED, 0.0, 0.0

    def store_unit(self, state: State, value: float) -> None:
        """Do nothing: see `draw_widths`."""

    def draw_widths(
        self, state: State, lean: Floats, precision: Floats, rng: np.random.Generator
    ) -> None:
        """Draw all scales given the standard effects."""

        def of_width(log_width: Floats) -> Floats:
            width = np.exp(np.minimum(log_width, LARGEST / 2))
            return np.asarray(width * (lean - 0.5 * precision * width))

        self._draw(state, of_width, rng)

    def draw_collapsed(
        self,
        state: State,
        sums: ItemSums,
        loading: Floats,
        easiness: Floats,
        rng: np.random.Generator,
    ) -> None:
        """Do nothing: see `draw_widths`."""

    def draw_widths_of(self, state: State, effects: Floats, rng: np.random.Generator) -> None:
        """Draw all scales given the effects, and rescale the standard effects."""
        old = self.width(state)[:, None]
        squares = np.square(old * effects).sum(axis=1)
        n_free = effects.shape[1]

        def of_width(log_width: Floats) -> Floats:
            inverse = np.exp(np.minimum(-2.0 * log_width, LARGEST))
            return np.asarray(-n_free * log_width - 0.5 * squares * inverse)

        self._draw(state, of_width, rng)
        self._draw_split(state, rng)
        effects *= old / self.width(state)[:, None]

    def store(self, state: State, effects: Floats) -> None:
        """Write the standard effects."""
        state["dif_standard"][...] = effects @ self.basis.T

    def start(self, state: State, rng: np.random.Generator) -> None:
        """Write scales about the middle of their priors, and effects of these scales."""
        state["dif_scale"] = np.array(self.global_scale * np.exp(rng.uniform(-0.5, 0.5)))
        state["dif_local"] = np.exp(rng.uniform(-1.0, 1.0, self.n_item))
        state["dif_slab_variance"] = np.array(self.slab_scale**2 * np.exp(rng.uniform(-0.5, 0.5)))
        state["dif_standard"] = np.empty((self.n_item, len(self.basis)))
        self.store(state, start_contrasts(self.n_item, self.basis.shape[1], False, rng=rng))

    def log_local(self, log_local: Floats) -> Floats:
        """Return the log prior density of the logs of local scales."""
        df = self.local_df
        square = np.exp(np.minimum(2.0 * log_local, LARGEST))
        density = log_local - 0.5 * (df + 1.0) * np.log1p(square / df)
        return np.where(abs(log_local) > LIMIT, -np.inf, density)

    def log_global(self, log_scale: float) -> float:
        """Return the log prior density of the log of the global scale."""
        ratio = np.exp(min(2.0 * (log_scale - np.log(self.global_scale)), LARGEST))
        return -np.inf if abs(log_scale) > LIMIT else float(log_scale - np.log1p(ratio))

    def log_slab(self, log_slab: float) -> float:
        """Return the log prior density of the log of the slab's variance."""
        half = 0.5 * self.slab_df
        inverse = np.exp(min(2.0 * np.log(self.slab_scale) - log_slab, LARGEST))
        return -np.inf if abs(log_slab) > LIMIT else float(-half * (log_slab + inverse))

    def _draw(self, state: State, of_width: OfWidth, rng: np.random.Generator) -> None:
        """Draw local scales, the global scale and the slab in turn."""
        log_scale, log_local, log_slab = _logs(state)
        log_local = slice_draws(
            log_local,
            lambda u: self.log_local(u) + of_width(_log_width(log_scale, u, log_slab)),
            rng=rng,
        )
        log_scale = _draw_one(
            log_scale,
            lambda u: self.log_global(u) + of_width(_log_width(u, log_local, log_slab)).sum(),
            rng,
        )
        log_slab = _draw_one(
            log_slab,
            lambda u: self.log_slab(u) + of_width(_log_width(log_scale, log_local, u)).sum(),
            rng,
        )
        state["dif_scale"][...] = np.exp(log_scale)
        state["dif_local"][...] = np.exp(log_local)
        state["dif_slab_variance"][...] = np.exp(log_slab)

    def _draw_split(self, state: State, rng: np.random.Generator) -> None:
        """Multiply the global scale and divide the local ones by one factor."""
        log_scale, log_local, _ = _logs(state)
        u = _draw_one(
            0.0,
            lambda u: self.log_global(log_scale + u) + self.log_local(log_local - u).sum(),
            rng,
        )
        state["dif_scale"] *= np.exp(u)
        state["dif_local"] *= np.exp(-u)


def _logs(state: State) -> tuple[float, Floats, float]:
    return (
        float(np.log(state["dif_scale"])),
        np.log(state["dif_local"]),
        float(np.log(state["dif_slab_variance"])),
    )


def _log_width(log_scale: float, log_local: Floats, log_slab: float) -> Floats:
    size = log_scale + log_local
    return np.asarray(size - 0.5 * np.logaddexp(0.0, 2.0 * size - log_slab))


def _draw_one(start: float, density: Callable[[float], float], rng: np.random.Generator) -> float:
    drawn = slice_draws(np.array([start]), lambda u: np.array([density(float(u[0]))]), rng=rng)
    return float(drawn[0])
