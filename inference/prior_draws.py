"""Draws from the prior of a PyMC model: what is believed before any answer is seen."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import xarray as xr

from neartie.data.errors import DataError
from neartie.inference.flat_model import data_of, observed_arrays
from neartie.inference.posterior_tree import record_attributes


def draw_prior(
    model: Any, *, draws: int = 500, rng: np.random.Generator | int | None = None
) -> xr.DataTree:
    """Return draws from the prior of a model, with its data beside them.

    Parameters
    ----------
    model : pm.Model
        That a factory of neartie built.
    draws : int
    rng : Generator, int or None

    Returns
    -------
    DataTree
        Groups `prior` (one chain), `observed_data`, `constant_data`, as `fit` has them; its
        attributes are those that say what was built.

    Raises
    ------
    DataError
        If a prior is flat: nothing can be drawn from it.
    ValueError
        If `draws` is not positive.

    Notes
    -----
    No answer is drawn: answers are made of these draws one matrix at a time, where they are
    needed.
    """
    import pymc as pm

    if draws < 1:
        raise ValueError(f"draws must be at least 1, got {draws}")
    _refuse_flat(model)
    names = [variable.name for variable in [*model.free_RVs, *model.deterministics]]
    sampling = logging.getLogger("pymc.sampling.forward")
    level = sampling.level
    # The list of variables that it prints is no news here.
    sampling.setLevel(logging.ERROR)
    try:
        drawn = pm.sample_prior_predictive(
            draws,
            model=model,
            var_names=names,
            random_seed=int(np.random.default_rng(rng).integers(2**31)),
            return_inferencedata=False,
            # Few operations a draw: compiling them would take longer than all draws.
            compile_kwargs={"mode": "FAST_COMPILE"},
        )
    finally:
        sampling.setLevel(level)
    prior = {name: values[None] for name, values in dict(drawn).items()}
    constant = {variable.name: np.asarray(data_of(variable)) for variable in model.data_vars}
    tree = xr.DataTree.from_dict(
        {
            "prior": _dataset(model, prior, sampled=True),
            "observed_data": _dataset(model, observed_arrays(model)),
            "constant_data": _dataset(model, constant),
        }
    )
    tree.attrs = record_attributes(model, engine="prior", settings={"draws": draws})
    return tree


def _refuse_flat(model: Any) -> None:
    for variable in model.free_RVs:
        if "Flat" in type(variable.owner.op).__name__:
            raise DataError(
                f"the prior of {variable.name} is flat, so that nothing can be drawn from it; "
                "give it a scale, such as ResidualDifPriors(easiness_sd=2)"
            )


def _dataset(model: Any, arrays: dict[str, Any], *, sampled: bool = False) -> xr.Dataset:
    lead = ("chain", "draw") if sampled else ()
    variables = {}
    for name, array in arrays.items():
        dims = tuple(model.named_vars_to_dims.get(name) or ())
        if len(dims) != array.ndim - len(lead):
            dims = tuple(f"{name}_dim_{axis}" for axis in range(array.ndim - len(lead)))
        variables[name] = ((*lead, *dims), array)
    used = {dim for dims, _ in variables.values() for dim in dims}
    coords = {dim: np.asarray(labels) for dim, labels in model.coords.items() if dim in used}
    if sampled:
        first = next(iter(arrays.values()))
        coords |= {"chain": np.arange(1), "draw": np.arange(first.shape[1])}
    return xr.Dataset(variables, coords=coords)
