"""Starts about the joint mode, of the models with family effects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from scipy.special import expit
from threadpoolctl import threadpool_limits

from neartie.data.responses import Responses
from neartie.inference.gibbs_cells import FamilyCells
from neartie.inference.gibbs_effects import HELD, HELD_SWEEPS, CommonEffects
from neartie.inference.gibbs_map_start import (
    SPREAD,
    Starts,
    block_roots,
    noise_of,
    scattered,
)
from neartie.inference.gibbs_mirt_dif import MirtDifSampler
from neartie.inference.gibbs_residual_dif import ResidualDifSampler
from neartie.inference.gibbs_sparse import SparseEffects
from neartie.inference.mirt_dif_map import fit_mirt_dif_map
from neartie.inference.residual_dif import fit_residual_dif

type Floats = NDArray[np.float64]

# Median of a standard half-normal variable.
_HALF_NORMAL_MEDIAN: Final = 0.6744897501960817


def mirt_dif_starts(model: Any, sampler: MirtDifSampler) -> Callable[[], Starts]:
    """Return a search for the joint mode of a multidimensional model and its scales.

    Parameters
    ----------
    model : pm.Model
    sampler : MirtDifSampler

    Notes
    -----
    The scales are those that the answers make most probable. Abilities are brought to the unit of
    their prior, axis by axis: the mode's is another, and chains would spend their first sweeps on
    the way from there. Family means are those of the mode's abilities, drawn towards zero. Sparse
    effects start with scales about the medians of their priors and are small, and scales wait for
    a while, as in a dispersed start: the density of effects and scales together has no mode.
    """
    cells, basis = sampler.cells, sampler.basis
    priors, sparse = sampler.priors, isinstance(sampler.effects, SparseEffects)

    def search() -> Starts:
        found = fit_mirt_dif_map(
            responses_of(model, cells),
            dimension=sampler.dimension,
            priors=priors,
            zero_sum="families_and_items" if sampler.tied else "families",
            errors="known",
        )
        scales, k, family = found.scales, sampler.dimension, found.family
        with threadpool_limits(limits=1, user_api="blas"):
            weight = _variances(found.linear_predictor(), cells)
            roots = block_roots(weight.T, found.loading.T, np.ones(k))
            spread = np.square(roots).sum(axis=2).mean(axis=0)
            unit = np.sqrt(np.square(found.ability).mean(axis=1) + spread)
            ability, loading = found.ability.T / unit, found.loading * unit
            of_ability = block_roots(weight.T, loading.T, np.ones(k))
            design = np.vstack([ability.T, np.ones(len(family)), basis[family].T])
            sizes = np.repeat(
                [scales.loading_scale, scales.easiness_scale, scales.dif_scale],
                [k, 1, basis.shape[1]],
            )
            of_item = block_roots(weight, design, sizes**-2.0)
        item = np.hstack([loading, found.easiness[:, None], found.dif @ basis])

        def starts(rng: np.random.Generator) -> dict[str, Floats]:
            abilities = (ability + noise_of(of_ability, rng)).T
            drawn = item + noise_of(of_item, rng)
            spread = SPREAD * scales.easiness_scale / np.sqrt(len(item))
            values: dict[str, Any] = {
                "ability": abilities,
                "loading": drawn[:, :k],
                "easiness": drawn[:, k],
                "loading_scale": scattered(rng, scales.loading_scale),
                "easiness_mean": scales.easiness_mean + spread * rng.standard_normal(),
                "easiness_scale": scattered(rng, scales.easiness_scale),
            }
            if sampler.family_means:
                values["family_mean"] = _family_means(abilities, family, priors.family_mean_sd)
            if sparse:
                return values | _sparse_scales(sampler.effects, rng)
            width = scattered(rng, scales.dif_scale)
            effects = _effects(drawn[:, k + 1 :], basis, tied=sampler.tied)
            return values | {"dif_scale": width, "dif_standard": effects / width}

        return starts

    return search


def residual_dif_starts(model: Any, sampler: ResidualDifSampler) -> Callable[[], Starts]:
    """Return a search for the mode of easiness and effects beside a fixed offset.

    Parameters
    ----------
    model : pm.Model
    sampler : ResidualDifSampler

    Notes
    -----
    The mode is the penalised estimate of the audit, with the fixed scale of effects, or about the
    median of its prior. Where effects sum to zero over items too their means over items are taken
    off. An item with equal answers stays where a dispersed chain starts it.
    """
    cells, basis, effects = sampler.cells, sampler.basis, sampler.effects
    estimated, sparse = isinstance(effects, CommonEffects), isinstance(effects, SparseEffects)
    priors = sampler.priors
    sd = _HALF_NORMAL_MEDIAN * priors.dif_scale_sd if estimated else priors.dif_sd

    def search() -> Starts:
        answered = np.flatnonzero((cells.answers >= 0).any(axis=1))
        found = fit_residual_dif(
            cells.answers[answered],
            family=[f"{f:06d}" for f in cells.family],
            offset=cells.offset[answered],
            penalty=sd**-2,
        )
        known = found.constant == 0
        rows = answered[known]
        mode = np.hstack([found.easiness[known, None], found.effects[known] @ basis])
        design = np.hstack([np.ones((cells.n_family, 1)), basis])[cells.family].T
        logit = mode @ design + cells.offset[rows]
        chance = expit(logit)
        weight = np.where(cells.answers[rows] >= 0, chance * (1 - chance), 0.0)
        flat = 0.0 if priors.easiness_sd is None else float(priors.easiness_sd) ** -2
        precision = np.append(flat, np.full(basis.shape[1], sd**-2))
        with threadpool_limits(limits=1, user_api="blas"):
            roots = block_roots(weight, design, precision)
        rest = np.log(cells.share_right / (1 - cells.share_right)) - cells.offset.mean(axis=1)

        def starts(rng: np.random.Generator) -> dict[str, Floats]:
            easiness = rest + 0.5 * rng.standard_normal(len(rest))
            contrasts = np.zeros((len(rest), basis.shape[1]))
            drawn = mode + noise_of(roots, rng)
            easiness[rows], contrasts[rows] = drawn[:, 0], drawn[:, 1:]
            values: dict[str, Any] = {"easiness": easiness}
            if sparse:
                return values | _sparse_scales(effects, rng)
            sums = _effects(contrasts, basis, tied=sampler.tied)
            if not estimated:
                return values | {"dif": sums}
            width = scattered(rng, sd)
            return values | {"dif_scale": width, "dif_standard": sums / width}

        return starts

    return search


def responses_of(model: Any, cells: FamilyCells) -> Responses:
    """Return the answers that a model was built of, with the families of its models."""
    values = np.empty(cells.answers.shape, dtype=np.int8)
    values[:, cells.order] = cells.answers
    labels = np.empty(len(cells.order), dtype=object)
    labels[cells.order] = np.array(model.coords["family"], dtype=object)[cells.family]
    models = pd.DataFrame({"model": list(model.coords["model"]), "family": labels})
    return Responses.build(values, items=list(model.coords["item"]), models=models)


def _variances(logit: Floats, cells: FamilyCells) -> Floats:
    """Return the variances of the answers, 0 where there is none; models in the model's order."""
    chance = expit(logit)
    chance *= 1 - chance
    observed = np.empty(logit.shape, dtype=bool)
    observed[:, cells.order] = cells.answers >= 0
    return np.asarray(np.where(observed, chance, 0.0))


def _effects(contrasts: Floats, basis: Floats, *, tied: bool) -> Floats:
    centred = contrasts - contrasts.mean(axis=0) if tied else contrasts
    return np.asarray(centred @ basis.T)


def _family_means(ability: Floats, family: NDArray[np.intp], sd: float) -> Floats:
    size = np.bincount(family)
    sums = np.stack([np.bincount(family, axis) for axis in ability])
    means = sums / (size + sd**-2)
    return np.asarray(means - means.mean(axis=1, keepdims=True))


def _sparse_scales(effects: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Return scales about the medians of their priors."""
    local = float(stats.t.ppf(0.75, effects.local_df))
    half = 0.5 * effects.slab_df
    slab = float(stats.invgamma.median(half, scale=half * effects.slab_scale**2))
    return {
        "dif_scale": scattered(rng, effects.global_scale),
        "dif_local": np.array([scattered(rng, local) for _ in range(effects.n_item)]),
        "dif_slab_variance": scattered(rng, slab),
        HELD: HELD_SWEEPS,
    }
