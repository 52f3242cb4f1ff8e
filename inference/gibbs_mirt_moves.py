"""Unknowns of the MIRT model in the form that kernels take, and moves of them along groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_cells import FamilyCells
from neartie.inference.gibbs_groups import draw_factor_map, draw_shifts, shift_terms
from neartie.inference.gibbs_item_kernel import ItemSums
from neartie.inference.gibbs_scales import LogNormal, draw_common_factor

type Floats = NDArray[np.float64]


@dataclass(slots=True, eq=False)
class Unknowns:
    """Parts of a state; models family by family.

    Attributes
    ----------
    ability : (n_model, K) float
    means : (F - 1, K) float
        Contrasts of the family means; no rows where these are zero.
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

    def centers(self, cells: FamilyCells, basis: Floats) -> Floats:
        """Return the prior means of abilities, (n_model, K)."""
        if not len(self.means):
            return np.zeros(self.ability.shape)
        return np.asarray((basis @ self.means)[cells.family])

    def family_effects(self, width: Floats, basis: Floats) -> Floats:
        """Return the effects on the scale of logits, (n_item, F)."""
        return np.asarray(width[:, None] * (self.effects @ basis.T))


def width_terms(sums: ItemSums, unknowns: Unknowns, basis: Floats) -> tuple[Floats, Floats]:
    """Return what the answers say, given weights, of the width of each item's effects.

    Parameters
    ----------
    sums : ItemSums
    unknowns : Unknowns
    basis : (F, F - 1) float

    Returns
    -------
    lean, precision : (n_item,) float
        The log-likelihood of widths w is lean . w - precision . w^2 / 2.
    """
    effects = unknowns.effects @ basis.T
    rest = (sums.cross @ unknowns.loading[:, :, None])[:, :, 0]
    rest += sums.total * unknowns.easiness[:, None]
    return (effects * (sums.lean - rest)).sum(axis=1), (effects**2 * sums.total).sum(axis=1)


def shift_families(
    unknowns: Unknowns,
    cells: FamilyCells,
    *,
    basis: Floats,
    width: Floats,
    easiness_mean: float,
    easiness_scale: float,
    family_mean_sd: float | None,
    tied: bool,
    rng: np.random.Generator,
) -> None:
    """Shift abilities of families against easiness and effects, and draw family means, in place.

    Parameters
    ----------
    unknowns : Unknowns
    cells : FamilyCells
    basis : (F, F - 1) float
    width : (n_item,) float, logit
        Of the effects.
    easiness_mean, easiness_scale : float
        Of its prior.
    family_mean_sd : float or None
        None where family means are zero.
    tied : bool
        Whether effects sum to zero over items too.
    rng : Generator
    """
    terms = shift_terms(
        unknowns.ability,
        cells.start,
        unknowns.loading,
        unknowns.easiness - easiness_mean,
        unknowns.effects,
        width=width,
        contrasts=basis,
        easiness_precision=easiness_scale**-2,
        family_mean_sd=family_mean_sd,
    )
    common, between, unknowns.means = draw_shifts(
        terms,
        n_factor=unknowns.loading.shape[1],
        n_free=basis.shape[1],
        tied=unknowns.loading.sum(axis=0) if tied else None,
        rng=rng,
    )
    unknowns.ability += (common + basis @ between)[cells.family]
    unknowns.easiness -= unknowns.loading @ common
    unknowns.effects -= unknowns.loading @ between.T / width[:, None]


def turn_factors(
    unknowns: Unknowns,
    centers: Floats,
    *,
    loading_scale: float,
    loading_scale_prior: LogNormal,
    family_mean_sd: float,
    rng: np.random.Generator,
) -> float:
    """Turn, stretch and shear the factors in place, and return the scale of the loadings.

    Parameters
    ----------
    unknowns : Unknowns
    centers : (n_model, K) float
        Prior means of abilities.
    loading_scale : float
    loading_scale_prior : LogNormal
    family_mean_sd : float
    rng : Generator

    Returns
    -------
    float
        It moves with the factor that is common to all dimensions.
    """
    centred = unknowns.ability - centers
    means = unknowns.means / family_mean_sd
    gram = centred.T @ centred + means.T @ means
    n_row = len(centred) + len(means)
    forward, backward = draw_factor_map(
        gram,
        unknowns.loading.T @ unknowns.loading / loading_scale**2,
        power=float(n_row - len(unknowns.loading)),
        rng=rng,
    )
    factor = draw_common_factor(
        float(np.trace(forward @ gram @ forward.T)),
        n_row * len(forward),
        loading_scale,
        loading_scale_prior,
        rng=rng,
    )
    unknowns.ability = unknowns.ability @ (factor * forward.T)
    unknowns.means = unknowns.means @ (factor * forward.T)
    unknowns.loading = unknowns.loading @ (backward / factor)
    return loading_scale / factor
