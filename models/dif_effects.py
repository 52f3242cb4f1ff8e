"""The family effects of a PyMC model: sums of zero, one scale for all or one an item."""

from __future__ import annotations

from typing import Any, Final, Literal, get_args

import pymc as pm
import pytensor.tensor as pt

from neartie.models.priors import DifPriors

type ZeroSum = Literal["families", "families_and_items"]

ZERO_SUMS: Final[tuple[str, ...]] = get_args(ZeroSum.__value__)


def check_zero_sum(zero_sum: str) -> None:
    """Raise ValueError unless the constraint is known."""
    if zero_sum not in ZERO_SUMS:
        raise ValueError(f"zero_sum must be one of {', '.join(ZERO_SUMS)}, got {zero_sum!r}")


def family_effects(
    priors: DifPriors, *, zero_sum: ZeroSum, sparse: bool, fixed_scale: float | None = None
) -> Any:
    r"""Add the effects `dif`, (item, family), to the model at hand and return them.

    Parameters
    ----------
    priors : DifPriors
    zero_sum : {'families', 'families_and_items'}
        Over what the effects sum to zero.
    sparse : bool
        Whether items have scales of their own.
    fixed_scale : float, optional
        The scale, when it is not estimated; not together with `sparse`.

    Notes
    -----
    With a fixed scale, `dif` is zero-sum normal. Otherwise `dif_standard`, zero-sum normal of
    scale 1, times `dif_scale` :math:`\tau`: an effect rests on one family's answers to one item,
    and where those say little the product is what samplers move in with ease (non-centred).

    `sparse` multiplies the effects of item i by :math:`\tilde\lambda_i`,
    :math:`\tilde\lambda_i^2 = c^2\lambda_i^2 / (c^2 + \tau^2\lambda_i^2)`: a regularised
    horseshoe over items, since an item has family effects or has none. Sums over families stay
    zero; those over items, if asked for, are taken off afterwards.

    References
    ----------
    Piironen and Vehtari (2017), Electronic Journal of Statistics 11, 5018-5051.
    doi:10.1214/17-EJS1337SI, section 2.3.
    """
    axes = 1 if zero_sum == "families" else 2
    dims = ("item", "family")
    if fixed_scale is not None:
        return pm.ZeroSumNormal("dif", sigma=fixed_scale, n_zerosum_axes=axes, dims=dims)
    if not sparse:
        scale = pm.HalfNormal("dif_scale", sigma=priors.dif_scale_sd)
        standard = pm.ZeroSumNormal("dif_standard", sigma=1.0, n_zerosum_axes=axes, dims=dims)
        return pm.Deterministic("dif", scale * standard, dims=dims)
    scale = pm.HalfCauchy("dif_scale", beta=priors.dif_global_scale)
    local = pm.HalfStudentT("dif_local", nu=priors.dif_local_df, sigma=1.0, dims="item")
    slab = pm.InverseGamma(
        "dif_slab_variance",
        alpha=0.5 * priors.dif_slab_df,
        beta=0.5 * priors.dif_slab_df * priors.dif_slab_scale**2,
    )
    standard = pm.ZeroSumNormal("dif_standard", sigma=1.0, n_zerosum_axes=1, dims=dims)
    width = scale * local * pt.sqrt(slab / (slab + scale**2 * local**2))
    effects = width[:, None] * standard
    if axes == 2:
        effects = effects - effects.mean(axis=0, keepdims=True)
    return pm.Deterministic("dif", effects, dims=dims)
