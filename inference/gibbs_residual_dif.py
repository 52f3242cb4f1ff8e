"""Blocked Gibbs sampling of the residual-DIF model: family effects beside a fixed offset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_cells import FamilyCells, family_cells, weigh_answers
from neartie.inference.gibbs_effects import (
    HELD,
    HELD_SWEEPS,
    CommonEffects,
    Effects,
    FixedEffects,
    holds_scales,
)
from neartie.inference.gibbs_item_draws import ItemPriors, contrast_basis, draw_items
from neartie.inference.gibbs_item_kernel import ItemSums
from neartie.inference.gibbs_mirt_moves import Unknowns, width_terms
from neartie.inference.gibbs_protocol import State
from neartie.inference.gibbs_scales import draw_multipliers, predictor_quadratic
from neartie.inference.gibbs_sparse import sparse_effects
from neartie.models.priors import ResidualDifPriors
from neartie.models.record import record_of

type Floats = NDArray[np.float64]


def gibbs_residual_dif(model: Any) -> ResidualDifSampler:
    """Return the Gibbs sampler of a model that `build_residual_dif` built.

    Parameters
    ----------
    model : pm.Model

    Returns
    -------
    ResidualDifSampler

    Raises
    ------
    ValueError
        For sparse effects that sum to zero over items too: all items would hang together.
    """
    record = record_of(model)
    options, priors = record.options, ResidualDifPriors(**record.priors)
    cells = family_cells(model)
    n_item, basis = len(cells.answers), contrast_basis(cells.n_family)
    tied = options["zero_sum"] == "families_and_items"
    effects: Effects
    if options["sparse"]:
        effects = sparse_effects(priors, n_item=n_item, basis=basis, tied=tied)
    elif options["hierarchical"]:
        effects = CommonEffects(n_item=n_item, basis=basis, tied=tied, scale_sd=priors.dif_scale_sd)
    else:
        effects = FixedEffects(n_item=n_item, basis=basis, tied=tied, sd=priors.dif_sd)
    return ResidualDifSampler(
        names=tuple(variable.name for variable in model.free_RVs),
        cells=cells,
        priors=priors,
        basis=basis,
        effects=effects,
        tied=tied,
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ResidualDifSampler:
    """Draws items, each with its easiness and its effects together, and the scales of effects.

    Attributes
    ----------
    names : tuple of str
        Free variables of the model.
    cells : FamilyCells
    priors : ResidualDifPriors
    basis : (F, F - 1) float
        Orthonormal contrasts of families.
    effects : Effects
    tied : bool
        Whether effects sum to zero over items too.

    Notes
    -----
    As `neartie.inference.gibbs_mirt_dif.MirtDifSampler` without abilities.
    """

    names: tuple[str, ...]
    cells: FamilyCells
    priors: ResidualDifPriors
    basis: Floats
    effects: Effects
    tied: bool

    def start(self, rng: np.random.Generator) -> State:
        """Return easiness about what the answers say beside the offset, and effects."""
        share = self.cells.share_right
        rough = np.log(share / (1 - share)) - self.cells.offset.mean(axis=1)
        state: State = {"easiness": rough + 0.5 * rng.standard_normal(len(share))}
        self.effects.start(state, rng)
        started: State = {name: np.array(state[name], order="C") for name in self.names}
        return {**started, HELD: np.array(float(HELD_SWEEPS))}

    def place_anchors(self, state: State) -> None:
        """Do nothing: no mode is searched for."""

    def sweep(self, state: State, rng: np.random.Generator, *, tuning: bool) -> None:
        """Draw every block once, in place; while a chain is tuned, scales wait for the others."""
        held = holds_scales(state, tuning=tuning)
        n_item, n_model = self.cells.answers.shape
        unknowns = Unknowns(
            ability=np.empty((n_model, 0)),
            means=np.empty((0, 0)),
            loading=np.empty((n_item, 0)),
            easiness=state["easiness"].copy(),
            effects=self.effects.contrasts(state),
        )
        sd, mean = self.priors.easiness_sd, float(self.priors.easiness_mean)
        easiness_precision = 0.0 if sd is None else float(sd) ** -2
        _, sums = weigh_answers(
            self.cells,
            unknowns.loading,
            unknowns.easiness,
            unknowns.family_effects(self.effects.width(state), self.basis),
            unknowns.ability,
            easiness_prior=(mean, easiness_precision),
            rng=rng,
        )
        if not held:
            self._draw_scale_apart(state, unknowns, sums, rng)
        priors = ItemPriors(
            loading_precision=1.0,
            easiness_mean=mean,
            easiness_precision=easiness_precision,
            width=self.effects.width(state),
            contrasts=self.basis,
        )
        _, state["easiness"][...], effects = draw_items(sums, priors, tied=self.tied, rng=rng)
        if not held:
            self.effects.draw_widths_of(state, effects, rng)
        self.effects.store(state, effects)

    def _draw_scale_apart(
        self, state: State, unknowns: Unknowns, sums: ItemSums, rng: np.random.Generator
    ) -> None:
        """Draw what effects are multiplied by; these are drawn next, and do not go along."""
        lean, precision = width_terms(sums, unknowns, self.basis)
        self.effects.draw_widths(state, lean, precision, rng)
        effects, unit = self.effects.units(state, unknowns.effects)
        linear, quadratic = predictor_quadratic(
            sums, unknowns.loading, unknowns.easiness, effects @ self.basis.T
        )
        values = np.array([0.0, 0.0, 1.0, unit])
        unit_priors = np.zeros((4, 3))
        unit_priors[3] = self.effects.unit_prior
        draw_multipliers(rng, values, linear, quadratic, unit_priors, 1)
        self.effects.store_unit(state, float(values[3]))
        self.effects.draw_collapsed(state, sums, unknowns.loading, unknowns.easiness, rng)

    def counts(self, state: State) -> Mapping[str, float]:
        """Return nothing: no proposal is ever refused."""
        return {}
