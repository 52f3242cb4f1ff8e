"""Blocked Gibbs sampling of the multidimensional model with family effects on items."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_ability_kernel import ability_sums, draw_abilities
from neartie.inference.gibbs_cells import FamilyCells, family_cells
from neartie.inference.gibbs_effects import CommonEffects, Effects
from neartie.inference.gibbs_groups import draw_factor_map, draw_shifts, shift_terms
from neartie.inference.gibbs_item_kernel import (
    ItemPriors,
    ItemSums,
    add_item_sums,
    contrast_basis,
    draw_items,
    draw_weights,
    packed_products,
    tie_items,
)
from neartie.inference.gibbs_protocol import State
from neartie.inference.gibbs_scales import (
    LogNormal,
    draw_common_factor,
    draw_mean_apart,
    draw_mean_of,
    draw_scale_apart,
    draw_scale_of,
    predictor_quadratic,
)
from neartie.inference.gibbs_sparse import SparseEffects
from neartie.models.priors import MirtDifPriors
from neartie.models.record import record_of

type Floats = NDArray[np.float64]

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
        For sparse effects that sum to zero over items too: they have no Gaussian conditional.
    """
    record = record_of(model)
    options = record.options
    priors = MirtDifPriors(**record.priors)
    tied = options["zero_sum"] == "families_and_items"
    if options["sparse"] and tied:
        raise ValueError(
            "the engine gibbs does not sample sparse=True together with "
            "zero_sum='families_and_items'; use zero_sum='families', or the engine nuts"
        )
    cells = family_cells(model)
    basis = contrast_basis(cells.n_family)
    n_item = len(cells.answers)
    effects: Effects
    if options["sparse"]:
        effects = SparseEffects(
            n_item=n_item,
            basis=basis,
            global_scale=priors.dif_global_scale,
            local_df=priors.dif_local_df,
            slab_scale=priors.dif_slab_scale,
            slab_df=priors.dif_slab_df,
        )
    else:
        effects = CommonEffects(n_item=n_item, basis=basis, tied=tied, scale_sd=priors.dif_scale_sd)
    return MirtDifSampler(
        names=tuple(variable.name for variable in model.free_RVs),
        cells=cells,
        dimension=options["dimension"],
        priors=priors,
        effects=effects,
        tied=tied,
        family_means=options["family_means"],
    )


@dataclass(slots=True, eq=False)
class _Unknowns:
    """Parts of a state in the form that kernels take; models family by family.

    Attributes
    ----------
    ability : (n_model, K) float
    means : (F - 1, K) float
        Contrasts of the family means; no rows without them.
    loading : (n_item, K) float
    easiness : (n_item,) float, logit
    effects : (n_item, F - 1) float
        Standard effects as contrasts.
    """

    ability: Floats
    means: Floats
    loading: Floats
    easiness: Floats
    effects: Floats


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
    effects : Effects
    tied : bool
        Whether effects sum to zero over items too.
    family_means : bool

    Notes
    -----
    A sweep draws

    1. a Pólya–Gamma weight an answer, which makes the likelihood normal;
    2. scales and the mean of easiness, given what they scale in their units;
    3. loadings, easiness and effects of every item together, given abilities;
    4. abilities given items;
    5. moves that leave the linear predictor as it is, see `neartie.inference.gibbs_groups`;
    6. scales and the mean of easiness again, given what they scale.

    References
    ----------
    Polson, Scott and Windle (2013), Journal of the American Statistical Association 108,
    1339-1349. doi:10.1080/01621459.2013.829001
    """

    names: tuple[str, ...]
    cells: FamilyCells
    dimension: int
    priors: MirtDifPriors
    effects: Effects
    tied: bool
    family_means: bool

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
        """Return abilities from the prior, easiness about what the answers say, little else."""
        n_item, n_model = self.cells.answers.shape
        share = self.cells.shares_right()
        easiness = 1.2 * np.log(share / (1 - share)) + 0.5 * rng.standard_normal(n_item)
        scale = math.exp(self.loading_scale_prior.center + rng.uniform(-0.3, 0.3))
        state: State = {
            "ability": rng.standard_normal((self.dimension, n_model)),
            "loading": 0.3 * scale * rng.standard_normal((n_item, self.dimension)),
            "loading_scale": np.array(scale),
            "easiness": easiness,
            "easiness_mean": np.array(easiness.mean() + 0.3 * rng.standard_normal()),
            "easiness_scale": np.array(
                self.priors.easiness_scale * math.exp(rng.uniform(-0.3, 0.3))
            ),
        }
        self.effects.start(state, rng)
        if self.family_means:
            means = 0.5 * self.priors.family_mean_sd
            drawn = means * rng.standard_normal((self.dimension, self.cells.n_family - 1))
            state["family_mean"] = drawn @ contrast_basis(self.cells.n_family).T
        return {name: np.array(state[name], order="C") for name in self.names}

    def sweep(self, state: State, rng: np.random.Generator, *, tuning: bool) -> None:
        """Draw every block once, in place; nothing is tuned."""
        unknowns = self._read(state)
        weights, sums = self._weigh(state, unknowns, rng)
        self._draw_scales_apart(state, unknowns, sums, rng)
        self._draw_items(state, unknowns, sums, rng)
        self._draw_abilities(state, unknowns, weights, rng)
        self._shift(state, unknowns, rng)
        self._mix(state, unknowns, rng)
        self._draw_scales_of(state, unknowns, rng)
        self._write(state, unknowns)

    def counts(self, state: State) -> Mapping[str, float]:
        """Return nothing: every draw is kept as drawn."""
        return {}

    def _read(self, state: State) -> _Unknowns:
        means = np.zeros((0, self.dimension))
        if self.family_means:
            means = contrast_basis(self.cells.n_family).T @ state["family_mean"].T
        return _Unknowns(
            ability=np.ascontiguousarray(state["ability"][:, self.cells.order].T),
            means=means,
            loading=state["loading"].copy(),
            easiness=state["easiness"].copy(),
            effects=self.effects.contrasts(state),
        )

    def _write(self, state: State, unknowns: _Unknowns) -> None:
        state["ability"][:, self.cells.order] = unknowns.ability.T
        state["loading"][...] = unknowns.loading
        state["easiness"][...] = unknowns.easiness
        self.effects.store(state, unknowns.effects)
        if self.family_means:
            basis = contrast_basis(self.cells.n_family)
            state["family_mean"][...] = unknowns.means.T @ basis.T

    def _intercepts(self, state: State, unknowns: _Unknowns) -> Floats:
        """Return what items add to the linear predictor of each family, (n_item, F)."""
        shift = unknowns.effects @ contrast_basis(self.cells.n_family).T
        return unknowns.easiness[:, None] + self.effects.width(state)[:, None] * shift

    def _weigh(
        self, state: State, unknowns: _Unknowns, rng: np.random.Generator
    ) -> tuple[Floats, ItemSums]:
        """Draw the weights, and sum them over models."""
        cells = self.cells
        weights = np.empty(cells.answers.shape)
        draw_weights(
            rng,
            cells.answers,
            cells.offset,
            unknowns.loading,
            self._intercepts(state, unknowns),
            np.ascontiguousarray(unknowns.ability.T),
            cells.start,
            weights,
        )
        n_item, n_packed = len(weights), self.dimension * (self.dimension + 1) // 2
        sums = ItemSums(
            gram=np.empty((n_item, n_packed)),
            cross=np.empty((n_item, cells.n_family, self.dimension)),
            total=np.empty((n_item, cells.n_family)),
            lean_ability=np.empty((n_item, self.dimension)),
            lean=np.empty((n_item, cells.n_family)),
        )
        products = packed_products(unknowns.ability, n_packed + self.dimension)
        add_item_sums(weights, cells.answers, cells.offset, products, cells.start, sums)
        return weights, sums

    def _draw_scales_apart(
        self, state: State, unknowns: _Unknowns, sums: ItemSums, rng: np.random.Generator
    ) -> None:
        basis, priors = contrast_basis(self.cells.n_family), self.priors
        lean, precision = _width_terms(sums, unknowns, basis)
        self.effects.draw_widths(state, lean, precision, rng)
        effects, unit = self.effects.units(state, unknowns.effects)
        values = np.array(
            [state["loading_scale"], state["easiness_mean"], state["easiness_scale"], unit]
        )
        loading = unknowns.loading / values[0]
        easiness = (unknowns.easiness - values[1]) / values[2]
        linear, quadratic = predictor_quadratic(sums, loading, easiness, effects @ basis.T)
        for _ in range(ROUNDS):
            draw_scale_apart(0, values, linear, quadratic, self.loading_scale_prior, rng=rng)
            draw_mean_apart(1, values, linear, quadratic, priors.easiness_mean_sd, rng=rng)
            draw_scale_apart(2, values, linear, quadratic, self.easiness_scale_prior, rng=rng)
            self.effects.draw_unit(state, values, linear, quadratic, rng)
        for name, value in zip(
            ("loading_scale", "easiness_mean", "easiness_scale"), values, strict=False
        ):
            state[name][...] = value
        # Loadings and easiness go along; they are not written, since items are drawn next.

    def _draw_items(
        self, state: State, unknowns: _Unknowns, sums: ItemSums, rng: np.random.Generator
    ) -> None:
        n_family, n_factor = self.cells.n_family, self.dimension
        priors = ItemPriors(
            loading_precision=float(state["loading_scale"]) ** -2,
            easiness_mean=float(state["easiness_mean"]),
            easiness_precision=float(state["easiness_scale"]) ** -2,
            width=self.effects.width(state),
            contrasts=contrast_basis(n_family),
        )
        size = n_factor + n_family
        items = np.empty((len(priors.width), size))
        spread = np.empty((len(items), n_family - 1, size) if self.tied else (0, 0, 0))
        draw_items(rng, sums, priors, items, spread)
        if self.tied:
            tie_items(items, spread)
        unknowns.loading = np.ascontiguousarray(items[:, :n_factor])
        unknowns.easiness = np.ascontiguousarray(items[:, n_factor])
        unknowns.effects = np.ascontiguousarray(items[:, n_factor + 1 :])

    def _draw_abilities(
        self, state: State, unknowns: _Unknowns, weights: Floats, rng: np.random.Generator
    ) -> None:
        cells = self.cells
        n_packed = self.dimension * (self.dimension + 1) // 2
        gram = np.empty((len(unknowns.ability), n_packed))
        lean = np.empty(unknowns.ability.shape)
        products = packed_products(unknowns.loading, n_packed + self.dimension)
        intercepts = self._intercepts(state, unknowns)
        ability_sums(weights, cells.answers, intercepts, products, cells.start, gram, lean)
        draw_abilities(rng, gram, lean, self._centers(unknowns), unknowns.ability)

    def _centers(self, unknowns: _Unknowns) -> Floats:
        """Return the prior means of abilities, (n_model, K)."""
        if not self.family_means:
            return np.zeros(unknowns.ability.shape)
        return (contrast_basis(self.cells.n_family) @ unknowns.means)[self.cells.family]

    def _shift(self, state: State, unknowns: _Unknowns, rng: np.random.Generator) -> None:
        """Shift abilities of families against easiness and effects; draw family means."""
        basis, width = contrast_basis(self.cells.n_family), self.effects.width(state)
        terms = shift_terms(
            unknowns.ability,
            self.cells.start,
            unknowns.loading,
            unknowns.easiness - state["easiness_mean"],
            unknowns.effects,
            width=width,
            contrasts=basis,
            easiness_precision=float(state["easiness_scale"]) ** -2,
            family_mean_sd=self.priors.family_mean_sd if self.family_means else None,
        )
        common, between, unknowns.means = draw_shifts(
            terms,
            n_factor=self.dimension,
            n_free=basis.shape[1],
            tied=unknowns.loading.sum(axis=0) if self.tied else None,
            rng=rng,
        )
        unknowns.ability += (common + basis @ between)[self.cells.family]
        unknowns.easiness -= unknowns.loading @ common
        unknowns.effects -= unknowns.loading @ between.T / width[:, None]

    def _mix(self, state: State, unknowns: _Unknowns, rng: np.random.Generator) -> None:
        """Turn, stretch and shear the factors."""
        scale = float(state["loading_scale"])
        centred = unknowns.ability - self._centers(unknowns)
        standard_means = unknowns.means / self.priors.family_mean_sd
        gram = centred.T @ centred + standard_means.T @ standard_means
        n_row = len(centred) + len(standard_means)
        forward, backward = draw_factor_map(
            gram,
            unknowns.loading.T @ unknowns.loading / scale**2,
            power=float(n_row - len(unknowns.loading)),
            rng=rng,
        )
        square = float(np.trace(forward @ gram @ forward.T))
        factor = draw_common_factor(
            square, n_row * self.dimension, scale, self.loading_scale_prior, rng=rng
        )
        unknowns.ability = unknowns.ability @ (factor * forward.T)
        unknowns.means = unknowns.means @ (factor * forward.T)
        unknowns.loading = unknowns.loading @ (backward / factor)
        state["loading_scale"][...] = scale / factor

    def _draw_scales_of(self, state: State, unknowns: _Unknowns, rng: np.random.Generator) -> None:
        square = float(np.square(unknowns.loading).sum())
        state["loading_scale"][...] = draw_scale_of(
            float(state["loading_scale"]),
            square,
            unknowns.loading.size,
            self.loading_scale_prior,
            rng=rng,
        )
        scale = float(state["easiness_scale"])
        mean = draw_mean_of(unknowns.easiness, scale, self.priors.easiness_mean_sd, rng=rng)
        square = float(np.square(unknowns.easiness - mean).sum())
        state["easiness_mean"][...] = mean
        state["easiness_scale"][...] = draw_scale_of(
            scale, square, len(unknowns.easiness), self.easiness_scale_prior, rng=rng
        )
        self.effects.draw_widths_of(state, unknowns.effects, rng)


def _width_terms(sums: ItemSums, unknowns: _Unknowns, basis: Floats) -> tuple[Floats, Floats]:
    """Return what the answers say of each item's width: linear and quadratic coefficients."""
    effects = unknowns.effects @ basis.T
    rest = np.einsum("ifk,ik->if", sums.cross, unknowns.loading)
    rest += sums.total * unknowns.easiness[:, None]
    lean = (effects * (sums.lean - rest)).sum(axis=1)
    return lean, (effects**2 * sums.total).sum(axis=1)
