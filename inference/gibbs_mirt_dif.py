"""Blocked Gibbs sampling of the multidimensional model with family effects on items."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_ability_kernel import ability_sums, draw_abilities
from neartie.inference.gibbs_cells import FamilyCells, family_cells, require_finite, weigh_answers
from neartie.inference.gibbs_direct import (
    draw_directly,
    follow_chain,
    shares_accepted,
    start_directly,
    wants_weights,
)
from neartie.inference.gibbs_effects import (
    HELD,
    HELD_SWEEPS,
    CommonEffects,
    Effects,
    holds_scales,
)
from neartie.inference.gibbs_item_draws import ItemPriors, contrast_basis, draw_items
from neartie.inference.gibbs_item_kernel import ItemSums, packed_products
from neartie.inference.gibbs_mirt_moves import Unknowns, shift_families, turn_factors, width_terms
from neartie.inference.gibbs_protocol import State
from neartie.inference.gibbs_scales import (
    LOG_NORMAL,
    NORMAL,
    LogNormal,
    draw_mean_of,
    draw_multipliers,
    draw_scale_of,
    predictor_quadratic,
)
from neartie.inference.gibbs_sparse import sparse_effects
from neartie.models.priors import MirtDifPriors
from neartie.models.record import record_of

type Floats = NDArray[np.float64]

# Beyond, weights cost less than what is done without them: sums over pairs of dimensions, repeated.
MAX_DIRECT = 8
# The draws of scales apart from what they scale see four numbers only, and cost nothing.
ROUNDS = 2


def gibbs_mirt_dif(model: Any) -> MirtDifSampler:
    """Return the Gibbs sampler of a model that `build_mirt_dif` built.

    Parameters
    ----------
    model : pm.Model

    Returns
    -------
    MirtDifSampler

    Raises
    ------
    ValueError
        For sparse effects that sum to zero over items too: all items would hang together.
    """
    record = record_of(model)
    options, priors = record.options, MirtDifPriors(**record.priors)
    cells = family_cells(model)
    n_item, basis = len(cells.answers), contrast_basis(cells.n_family)
    tied = options["zero_sum"] == "families_and_items"
    dimension = options["dimension"]
    effects: Effects
    if options["sparse"]:
        effects = sparse_effects(priors, n_item=n_item, basis=basis, tied=tied)
    else:
        effects = CommonEffects(n_item=n_item, basis=basis, tied=tied, scale_sd=priors.dif_scale_sd)
    return MirtDifSampler(
        names=tuple(variable.name for variable in model.free_RVs),
        cells=cells,
        dimension=dimension,
        priors=priors,
        basis=basis,
        effects=effects,
        tied=tied,
        family_means=options["family_means"],
        direct=not (options["sparse"] or tied) and dimension <= MAX_DIRECT,
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class MirtDifSampler:
    r"""Draws abilities, items and their scales in blocks.

    Attributes
    ----------
    names : tuple of str
        Free variables of the model.
    cells : FamilyCells
    dimension : int
    priors : MirtDifPriors
    basis : (F, F - 1) float
        Orthonormal contrasts of families.
    effects : Effects
    tied : bool
        Whether effects sum to zero over items too.
    family_means : bool
    direct : bool
        Whether items and abilities are drawn without weights, see
        `neartie.inference.gibbs_direct_kernel`.

    Notes
    -----
    A sweep draws

    1. the easiness of items that almost all models solve or fail, and a Pólya–Gamma weight an
       answer, which makes the likelihood normal;
    2. scales and the mean of easiness, given what they scale in their units; the scale of effects
       with the effects summed over;
    3. loadings, easiness and effects of every item together, given abilities;
    4. abilities given items;
    5. moves that leave the linear predictor as it is, see `neartie.inference.gibbs_groups`;
    6. scales and the mean of easiness again, given what they scale.

    With `direct`, 1 to 3 come in some sweeps only, and 3 again and 4 without weights. In the first
    sweeps of the tuning only 1, 3 and 4, see `neartie.inference.gibbs_effects`. State has, beside
    the free variables, with `direct` what `neartie.inference.gibbs_direct` keeps.

    References
    ----------
    Polson, Scott and Windle (2013), Journal of the American Statistical Association 108,
    1339-1349. doi:10.1080/01621459.2013.829001
    """

    names: tuple[str, ...]
    cells: FamilyCells
    dimension: int
    priors: MirtDifPriors
    basis: Floats
    effects: Effects
    tied: bool
    family_means: bool
    direct: bool = False

    @property
    def loading_scale_prior(self) -> LogNormal:
        """Return the prior of the scale of loadings."""
        median = self.priors.loading_spread / math.sqrt(self.dimension)
        return LogNormal(math.log(median), self.priors.log_scale_sd**-2)

    @property
    def easiness_scale_prior(self) -> LogNormal:
        """Return the prior of the scale of easiness."""
        return LogNormal(math.log(self.priors.easiness_scale), self.priors.log_scale_sd**-2)

    def start(self, rng: np.random.Generator) -> State:
        """Return abilities from the prior, easiness about what the answers say, small loadings.

        A sweep draws the items first, so that the abilities are what a chain starts from.
        """
        n_item, n_model = self.cells.answers.shape
        share = self.cells.share_right
        easiness = 1.2 * np.log(share / (1 - share)) + 0.5 * rng.standard_normal(n_item)
        loading_scale = math.exp(self.loading_scale_prior.center + rng.uniform(-0.3, 0.3))
        easiness_scale = self.priors.easiness_scale * math.exp(rng.uniform(-0.3, 0.3))
        state: State = {
            "ability": rng.standard_normal((self.dimension, n_model)),
            "loading": 0.01 * loading_scale * rng.standard_normal((n_item, self.dimension)),
            "loading_scale": np.array(loading_scale),
            "easiness": easiness,
            "easiness_mean": np.array(easiness.mean() + 0.3 * rng.standard_normal()),
            "easiness_scale": np.array(easiness_scale),
        }
        self.effects.start(state, rng)
        if self.family_means:
            drawn = rng.standard_normal((self.dimension, self.basis.shape[1]))
            state["family_mean"] = 0.5 * self.priors.family_mean_sd * drawn @ self.basis.T
        started: State = {name: np.array(state[name], order="C") for name in self.names}
        started[HELD] = np.array(float(HELD_SWEEPS))
        if self.direct:
            start_directly(started, self.cells)
        return started

    def place_anchors(self, state: State) -> None:
        """Let searches for conditional modes begin at the values of a state."""
        if self.direct:
            priors = self._item_priors(state)
            follow_chain(state, self._read(state), self.cells, priors, copy=True)

    def sweep(self, state: State, rng: np.random.Generator, *, tuning: bool) -> None:
        """Draw every block once, in place; while a chain is tuned, scales wait for the others."""
        held = holds_scales(state, tuning=tuning)
        unknowns = self._read(state)
        if self.direct:
            require_finite(unknowns.ability, unknowns.loading, unknowns.easiness, unknowns.effects)
            start_directly(state, self.cells)
            if wants_weights(state):
                self._draw_items(state, unknowns, held, rng)
            priors = self._item_priors(state)
            draw_directly(state, unknowns, self.cells, priors, tuning=tuning, rng=rng)
        else:
            weights = self._draw_items(state, unknowns, held, rng)
            priors = self._item_priors(state)
            self._draw_abilities(unknowns, weights, priors.width, rng)
        if not held:
            self._move(state, unknowns, priors.width, rng)
            self._draw_scales_of(state, unknowns, rng)
        self._write(state, unknowns)
        if self.direct and tuning:
            follow_chain(state, unknowns, self.cells, self._item_priors(state), copy=held)

    def counts(self, state: State) -> Mapping[str, float]:
        """Return the shares of accepted proposals, where there are proposals."""
        return shares_accepted(state) if self.direct else {}

    def _item_priors(self, state: State) -> ItemPriors:
        return ItemPriors(
            loading_precision=float(state["loading_scale"]) ** -2,
            easiness_mean=float(state["easiness_mean"]),
            easiness_precision=float(state["easiness_scale"]) ** -2,
            width=self.effects.width(state),
            contrasts=self.basis,
        )

    def _draw_items(
        self, state: State, unknowns: Unknowns, held: bool, rng: np.random.Generator
    ) -> Floats:
        """Draw weights, then scales and items given them; return the weights."""
        priors = self._item_priors(state)
        weights, sums = weigh_answers(
            self.cells,
            unknowns.loading,
            unknowns.easiness,
            unknowns.family_effects(priors.width, self.basis),
            unknowns.ability,
            easiness_prior=(priors.easiness_mean, priors.easiness_precision),
            rng=rng,
        )
        if not held:
            self._draw_scales_apart(state, unknowns, sums, rng)
        unknowns.loading, unknowns.easiness, unknowns.effects = draw_items(
            sums, self._item_priors(state), tied=self.tied, rng=rng
        )
        return weights

    def _read(self, state: State) -> Unknowns:
        means = np.zeros((0, self.dimension))
        if self.family_means:
            means = self.basis.T @ state["family_mean"].T
        return Unknowns(
            ability=np.ascontiguousarray(state["ability"][:, self.cells.order].T),
            means=means,
            loading=state["loading"].copy(),
            easiness=state["easiness"].copy(),
            effects=self.effects.contrasts(state),
        )

    def _write(self, state: State, unknowns: Unknowns) -> None:
        state["ability"][:, self.cells.order] = unknowns.ability.T
        state["loading"][...] = unknowns.loading
        state["easiness"][...] = unknowns.easiness
        self.effects.store(state, unknowns.effects)
        if self.family_means:
            state["family_mean"][...] = unknowns.means.T @ self.basis.T

    def _draw_scales_apart(
        self, state: State, unknowns: Unknowns, sums: ItemSums, rng: np.random.Generator
    ) -> None:
        """Draw what items are multiplied by; these are drawn next, and do not go along."""
        lean, precision = width_terms(sums, unknowns, self.basis)
        self.effects.draw_widths(state, lean, precision, rng)
        effects, unit = self.effects.units(state, unknowns.effects)
        names = ("loading_scale", "easiness_mean", "easiness_scale")
        values = np.array([*(float(state[name]) for name in names), unit])
        linear, quadratic = predictor_quadratic(
            sums,
            unknowns.loading / values[0],
            (unknowns.easiness - values[1]) / values[2],
            effects @ self.basis.T,
        )
        priors = np.array(
            [
                (LOG_NORMAL, *self.loading_scale_prior),
                (NORMAL, 0.0, self.priors.easiness_mean_sd**-2),
                (LOG_NORMAL, *self.easiness_scale_prior),
                self.effects.unit_prior,
            ]
        )
        old = values.copy()
        draw_multipliers(rng, values, linear, quadratic, priors, ROUNDS)
        self.effects.store_unit(state, float(values[3]))
        for name, value in zip(names, values[:3], strict=True):
            state[name][...] = value
        loading = unknowns.loading * (values[0] / old[0])
        easiness = values[1] + (unknowns.easiness - old[1]) * (values[2] / old[2])
        self.effects.draw_collapsed(state, sums, loading, easiness, rng)

    def _draw_abilities(
        self, unknowns: Unknowns, weights: Floats, width: Floats, rng: np.random.Generator
    ) -> None:
        cells, n_packed = self.cells, self.dimension * (self.dimension + 1) // 2
        gram = np.empty((len(unknowns.ability), n_packed))
        lean = np.empty(unknowns.ability.shape)
        products = packed_products(unknowns.loading, n_packed + self.dimension)
        effects = unknowns.family_effects(width, self.basis)
        intercepts = unknowns.easiness[:, None] + effects
        ability_sums(weights, cells.answers, intercepts, products, cells.start, gram, lean)
        draw_abilities(rng, gram, lean, unknowns.centers(cells, self.basis), unknowns.ability)

    def _move(
        self, state: State, unknowns: Unknowns, width: Floats, rng: np.random.Generator
    ) -> None:
        """Move along the directions in which the linear predictor stays as it is."""
        shift_families(
            unknowns,
            self.cells,
            basis=self.basis,
            width=width,
            easiness_mean=float(state["easiness_mean"]),
            easiness_scale=float(state["easiness_scale"]),
            family_mean_sd=self.priors.family_mean_sd if self.family_means else None,
            tied=self.tied,
            rng=rng,
        )
        state["loading_scale"][...] = turn_factors(
            unknowns,
            unknowns.centers(self.cells, self.basis),
            loading_scale=float(state["loading_scale"]),
            loading_scale_prior=self.loading_scale_prior,
            family_mean_sd=self.priors.family_mean_sd,
            rng=rng,
        )

    def _draw_scales_of(self, state: State, unknowns: Unknowns, rng: np.random.Generator) -> None:
        loading, easiness = unknowns.loading, unknowns.easiness
        state["loading_scale"][...] = draw_scale_of(
            float(state["loading_scale"]),
            float(np.square(loading).sum()),
            loading.size,
            self.loading_scale_prior,
            rng=rng,
        )
        scale = float(state["easiness_scale"])
        mean = draw_mean_of(easiness, scale, self.priors.easiness_mean_sd, rng=rng)
        square = float(np.square(easiness - mean).sum())
        state["easiness_mean"][...] = mean
        state["easiness_scale"][...] = draw_scale_of(
            scale, square, len(easiness), self.easiness_scale_prior, rng=rng
        )
        self.effects.draw_widths_of(state, unknowns.effects, rng)
