"""Family effects of Gibbs samplers: their widths, and how these are drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_collapsed_scale import draw_collapsed_scale, effect_terms
from neartie.inference.gibbs_item_kernel import ItemSums
from neartie.inference.gibbs_protocol import State
from neartie.inference.gibbs_scales import FIXED, HALF_NORMAL, draw_half_normal_of

# Sweeps in which scales wait; in a state, those that are left.
HELD_SWEEPS: Final = 50
HELD: Final = "_held"

type Floats = NDArray[np.float64]


class Effects(Protocol):
    """Effects are widths times standard effects, which sum to zero over families.

    Notes
    -----
    Standard effects are held as contrasts, (n_item, F - 1): coordinates in which they are N(0, 1),
    see `neartie.inference.gibbs_item_kernel`.
    """

    def width(self, state: State) -> Floats:
        """Return what standard effects are multiplied by, (n_item,), logit."""
        ...

    def contrasts(self, state: State) -> Floats:
        """Return the standard effects as contrasts, (n_item, F - 1)."""
        ...

    def units(self, state: State, effects: Floats) -> tuple[Floats, float]:
        """Return contrasts of effects, and a number that multiplies them all."""
        ...

    @property
    def unit_prior(self) -> tuple[float, float, float]:
        """Return that number's prior, as a row of `gibbs_scales.draw_multipliers`."""
        ...

    def store_unit(self, state: State, value: float) -> None:
        """Write that number, if it is unknown."""
        ...

    def draw_widths(
        self, state: State, lean: Floats, precision: Floats, rng: np.random.Generator
    ) -> None:
        """Draw the items' own widths w given standard effects, if there are such.

        The log-likelihood of an item is lean . w - precision . w^2 / 2.
        """
        ...

    def draw_collapsed(
        self,
        state: State,
        sums: ItemSums,
        loading: Floats,
        easiness: Floats,
        rng: np.random.Generator,
    ) -> None:
        """Draw the scale with the effects summed over, where this can be done; they are drawn next."""
        ...

    def draw_widths_of(self, state: State, effects: Floats, rng: np.random.Generator) -> None:
        """Draw widths given effects, and rescale the standard effects in place."""
        ...

    def store(self, state: State, effects: Floats) -> None:
        """Write standard effects, given as contrasts."""
        ...

    def start(self, state: State, rng: np.random.Generator) -> None:
        """Write starting values."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FixedEffects:
    """Effects of a known scale: the variable `dif`.

    Attributes
    ----------
    n_item : int
    basis : (F, F - 1) float
        Orthonormal contrasts.
    tied : bool
        Whether effects sum to zero over items too.
    sd : float, logit
    """

    n_item: int
    basis: Floats
    tied: bool
    sd: float

    def width(self, state: State) -> Floats:
        """Return the scale, once an item."""
        return np.full(self.n_item, self.sd)

    def contrasts(self, state: State) -> Floats:
        """Return the standard effects as contrasts."""
        return np.asarray(state["dif"] @ self.basis / self.sd)

    def units(self, state: State, effects: Floats) -> tuple[Floats, float]:
        """Return the effects as they are, and 1."""
        return effects * self.sd, 1.0

    @property
    def unit_prior(self) -> tuple[float, float, float]:
        """Return that the number is known."""
        return FIXED, 0.0, 0.0

    def store_unit(self, state: State, value: float) -> None:
        """Do nothing: the scale is known."""

    def draw_widths(
        self, state: State, lean: Floats, precision: Floats, rng: np.random.Generator
    ) -> None:
        """Do nothing: the scale is known."""

    def draw_collapsed(
        self,
        state: State,
        sums: ItemSums,
        loading: Floats,
        easiness: Floats,
        rng: np.random.Generator,
    ) -> None:
        """Do nothing: the scale is known."""

    def draw_widths_of(self, state: State, effects: Floats, rng: np.random.Generator) -> None:
        """Do nothing: the scale is known."""

    def store(self, state: State, effects: Floats) -> None:
        """Write the effects."""
        state["dif"][...] = self.sd * effects @ self.basis.T

    def start(self, state: State, rng: np.random.Generator) -> None:
        """Write small effects."""
        state["dif"] = np.empty((self.n_item, len(self.basis)))
        self.store(state, start_contrasts(self.n_item, self.basis.shape[1], self.tied, rng=rng))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CommonEffects:
    """Effects of one unknown scale: `dif_scale` times `dif_standard`.

    Attributes
    ----------
    n_item, basis, tied
        As in `FixedEffects`.
    scale_sd : float, logit
        Of the half-normal prior of the scale.
    """

    n_item: int
    basis: Floats
    tied: bool
    scale_sd: float

    def width(self, state: State) -> Floats:
        """Return the scale, once an item."""
        return np.full(self.n_item, float(state["dif_scale"]))

    def contrasts(self, state: State) -> Floats:
        """Return the standard effects as contrasts."""
        return np.asarray(state["dif_standard"] @ self.basis)

    def units(self, state: State, effects: Floats) -> tuple[Floats, float]:
        """Return the standard effects, and their scale."""
        return effects, float(state["dif_scale"])

    @property
    def unit_prior(self) -> tuple[float, float, float]:
        """Return the half-normal prior of the scale, or that others draw it: see `draw_collapsed`."""
        return HALF_NORMAL if self.tied else FIXED, 0.0, self.scale_sd**-2

    def store_unit(self, state: State, value: float) -> None:
        """Write the scale."""
        state["dif_scale"][...] = value

    def draw_widths(
        self, state: State, lean: Floats, precision: Floats, rng: np.random.Generator
    ) -> None:
        """Do nothing: items have no widths of their own."""

    def draw_collapsed(
        self,
        state: State,
        sums: ItemSums,
        loading: Floats,
        easiness: Floats,
        rng: np.random.Generator,
    ) -> None:
        """Draw the scale, unless effects of all items hang together."""
        if self.tied:
            return
        state["dif_scale"][...] = draw_collapsed_scale(
            rng,
            float(state["dif_scale"]),
            *effect_terms(sums, loading, easiness, self.basis),
            self.scale_sd,
        )

    def draw_widths_of(self, state: State, effects: Floats, rng: np.random.Generator) -> None:
        """Draw the scale given the effects."""
        old = float(state["dif_scale"])
        n = effects.size - self.tied * effects.shape[1]
        square = old**2 * float(np.square(effects).sum())
        new = draw_half_normal_of(old, square, n, self.scale_sd, rng=rng)
        effects *= old / new
        state["dif_scale"][...] = new

    def store(self, state: State, effects: Floats) -> None:
        """Write the standard effects."""
        state["dif_standard"][...] = effects @ self.basis.T

    def start(self, state: State, rng: np.random.Generator) -> None:
        """Write a scale about the middle of its prior, and small effects."""
        state["dif_scale"] = np.array(self.scale_sd * math.exp(rng.uniform(-1.5, 0.5)))
        state["dif_standard"] = np.empty((self.n_item, len(self.basis)))
        self.store(state, start_contrasts(self.n_item, self.basis.shape[1], self.tied, rng=rng))


def holds_scales(state: State, *, tuning: bool) -> bool:
    """Say whether scales wait in this sweep, and count it.

    What they are multiplied by starts at random: the answers would put a scale at nearly zero, and
    there it stays, because what it spreads stays there too. So items and abilities come to the
    answers first.

    Parameters
    ----------
    state : State
        With the sweeps that are left, which are counted down.
    tuning : bool
        Nothing waits once a chain is tuned.

    Examples
    --------
    >>> state = {HELD: np.array(1.0)}
    >>> [holds_scales(state, tuning=True) for _ in range(2)]
    [True, False]
    """
    left = state.get(HELD)
    if left is None or left <= 0:
        return False
    left -= 1
    return tuning


def start_contrasts(n_item: int, n_free: int, tied: bool, *, rng: np.random.Generator) -> Floats:
    """Return standard effects to start from, as contrasts: small ones.

    Effects of full size would be so unlikely that the first draws of scales ran off to nothing.

    Examples
    --------
    >>> drawn = start_contrasts(3, 1, True, rng=np.random.default_rng(0))
    >>> bool(abs(drawn.sum()) < 1e-12)
    True
    """
    drawn = 0.01 * rng.standard_normal((n_item, n_free))
    return drawn - drawn.mean(axis=0) if tied else drawn
