"""Which blocked Gibbs sampler draws a model."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final, cast

from neartie.inference.gibbs_protocol import BlockSampler
from neartie.models.record import ATTRIBUTE, ModelRecord

_SAMPLERS: Final = {
    "two-pl": ("neartie.inference.gibbs_two_pl", "gibbs_two_pl"),
    "mirt-dif": ("neartie.inference.gibbs_mirt_dif", "gibbs_mirt_dif"),
    "residual-dif": ("neartie.inference.gibbs_mirt_dif", "gibbs_residual_dif"),
    "bradley-terry": ("neartie.inference.gibbs_bradley_terry", "gibbs_bradley_terry"),
}


def block_sampler(model: Any) -> BlockSampler:
    """Return the Gibbs sampler of a model.

    Parameters
    ----------
    model : pm.Model
        That a factory of neartie built.

    Returns
    -------
    BlockSampler

    Raises
    ------
    TypeError
        If the model comes from elsewhere.
    ValueError
        If it has an option that is not sampled.

    Examples
    --------
    >>> block_sampler(object())
    Traceback (most recent call last):
    ...
    TypeError: the engine gibbs samples models that neartie's factories built; use the engine nuts
    """
    record = getattr(model, ATTRIBUTE, None)
    if not isinstance(record, ModelRecord):
        raise TypeError(
            "the engine gibbs samples models that neartie's factories built; use the engine nuts"
        )
    module, name = _SAMPLERS[record.kind]
    return cast(BlockSampler, getattr(import_module(module), name)(model))
