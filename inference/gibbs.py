"""Which blocked Gibbs sampler draws a model."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from neartie.inference.flat_model import observed_arrays
from neartie.inference.gibbs_protocol import BlockSampler
from neartie.models.record import ATTRIBUTE, ModelRecord

_SAMPLERS: Final = {
    "two-pl": ("neartie.inference.gibbs_two_pl", "gibbs_two_pl"),
    "mirt-dif": ("neartie.inference.gibbs_mirt_dif", "gibbs_mirt_dif"),
    "residual-dif": ("neartie.inference.gibbs_residual_dif", "gibbs_residual_dif"),
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


def with_observed(model: Any, data: Mapping[str, NDArray[Any]]) -> Any:
    """Return a model of the same form that a sampler finds other data in.

    Parameters
    ----------
    model : pm.Model
    data : mapping of name to array
        For some of the observed variables, in the shape of theirs.

    Returns
    -------
    pm.Model
        A shallow copy; the model itself keeps its data.

    Raises
    ------
    ValueError
        If a variable is not observed, or its shape changes.
    """
    import pytensor.tensor as pt

    observed = {variable.name: variable for variable in model.observed_RVs}
    known = observed_arrays(model)
    values = dict(model.rvs_to_values)
    for name, new in data.items():
        if name not in observed:
            raise ValueError(f"{name!r} is no observed variable of the model")
        if np.shape(new) != known[name].shape:
            raise ValueError(f"{name} has shape {known[name].shape}, the new data {np.shape(new)}")
        values[observed[name]] = pt.constant(np.asarray(new, dtype=known[name].dtype), name=name)
    # PyMC's own copy rebuilds the whole graph, and leaves the record behind.
    twin = object.__new__(type(model))
    twin.__dict__.update(model.__dict__)
    twin.rvs_to_values = values
    return twin
