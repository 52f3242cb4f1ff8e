"""Family effects drawn from their prior, or planted on some of the items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from neartie.inference.truths import zero_sum

type Floats = NDArray[np.float64]

#: Names of truths that plant effects on some items, in the place of a prior.
PLANTED: Final = ("dif_share", "dif_effect")


def draw_effects(
    rng: np.random.Generator,
    priors: Mapping[str, Any],
    options: Mapping[str, Any],
    shape: tuple[int, int],
    *,
    scale: Floats | float | None,
) -> dict[str, Floats]:
    """Return the effects `dif`, and the scales that they were made of where these are drawn.

    Parameters
    ----------
    rng : Generator
    priors, options : mapping
        Hyperparameters, with `dif_share` and `dif_effect` for planted effects; the factory's
        options.
    shape : (n_item, n_family)
    scale : float or None
        The scale of effects that was drawn, or is fixed; None where effects are sparse, whose
        scales are drawn here.

    Notes
    -----
    The distribution is that of `neartie.models.dif_effects.family_effects`. Planted effects have the
    range `dif_effect` on `dif_share` of the items, in a direction of its own for each, and are zero
    elsewhere; with sums of zero over items too, the means over items are taken off.
    """
    over_items = options["zero_sum"] == "families_and_items"
    if "dif_share" in priors:
        return {"dif": _planted(rng, priors, shape, over_items=over_items)}
    if scale is not None:
        axes = (0, 1) if over_items else (1,)
        return {"dif": scale * zero_sum(rng, shape, axes=axes)}
    size = np.asarray(priors["dif_global_scale"] * np.abs(rng.standard_cauchy()))
    local = np.abs(rng.standard_t(priors["dif_local_df"], size=shape[0]))
    half = 0.5 * priors["dif_slab_df"]
    slab = np.asarray(half * priors["dif_slab_scale"] ** 2 / rng.standard_gamma(half))
    width = size * local * np.sqrt(slab / (slab + size**2 * local**2))
    effects = width[:, None] * zero_sum(rng, shape)
    if over_items:
        effects = effects - effects.mean(axis=0)
    return {"dif_scale": size, "dif": effects}


def draw_dif_scale(rng: np.random.Generator, priors: Mapping[str, Any]) -> Floats:
    """Return the common scale of effects where that is estimated, logit."""
    return np.asarray(np.abs(priors["dif_scale_sd"] * rng.normal(size=())))


def _planted(
    rng: np.random.Generator,
    priors: Mapping[str, Any],
    shape: tuple[int, int],
    *,
    over_items: bool,
) -> Floats:
    n_item = shape[0]
    contrast = zero_sum(rng, shape)
    effects = priors["dif_effect"] * contrast / np.ptp(contrast, axis=1)[:, None]
    chosen = rng.permutation(n_item) < round(priors["dif_share"] * n_item)
    effects = np.where(chosen[:, None], effects, 0.0)
    return effects - effects.mean(axis=0) if over_items else effects
