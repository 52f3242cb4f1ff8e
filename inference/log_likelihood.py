"""The log-likelihood of every observed answer under every draw, within a stated memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from neartie.data.errors import DataError
from neartie.data.memory import available_memory, require_memory
from neartie.inference.flat_model import observed_arrays


def add_log_likelihood(
    posterior: xr.DataTree, model: Any, *, thin: int = 1, memory_limit: int | None = None
) -> xr.DataTree:
    """Return a posterior with the pointwise log-likelihood of its model.

    Parameters
    ----------
    posterior : DataTree
        Of the model.
    model : pm.Model
    thin : int
        Every how manieth draw to evaluate: 1 takes all.
    memory_limit : int, byte, optional
        The memory that is free when left out.

    Returns
    -------
    DataTree
        With the group `log_likelihood`, over `chain`, `draw` and the observed cells: missing
        cells are no part of it. Its draws carry their numbers in the posterior.

    Raises
    ------
    DataError
        If the model has no observed variable, or the result does not fit into memory; the message
        says which thinning would.

    Notes
    -----
    One draw at a time is evaluated, so that besides the result there is only one draw's memory.
    """
    from pymc.model.transform.conditioning import remove_value_transforms
    from pytensor.graph.rewriting.utils import rewrite_graph

    if thin < 1:
        raise ValueError(f"thin must be at least 1, got {thin}")
    if not model.observed_RVs:
        raise DataError("the model has no observed variable, so there is no log-likelihood")
    dataset = posterior["posterior"].to_dataset().isel(draw=slice(None, None, thin))
    n_chain, n_draw = dataset.sizes["chain"], dataset.sizes["draw"]
    n_cell = sum(values.size for values in observed_arrays(model).values())
    _require(8 * n_chain * n_draw * n_cell, n_chain * n_draw, n_cell, thin, memory_limit)
    plain = remove_value_transforms(model)
    # Python's mode leaves the graph as it is, so that it is made safe for large logits first.
    terms = [
        rewrite_graph(term, include=("canonicalize", "stabilize"))
        for term in plain.logp(vars=plain.observed_RVs, sum=False)
    ]
    evaluate = plain.compile_fn(
        terms,
        inputs=plain.value_vars,
        mode="FAST_COMPILE",
        on_unused_input="ignore",
    )
    names = [variable.name for variable in plain.value_vars]
    arrays = [dataset[name].transpose("chain", "draw", ...).to_numpy() for name in names]
    results: dict[str, Any] = {}
    for chain in range(n_chain):
        for draw in range(n_draw):
            point = {name: array[chain, draw] for name, array in zip(names, arrays, strict=True)}
            for variable, values in zip(plain.observed_RVs, evaluate(point), strict=True):
                if variable.name not in results:
                    results[variable.name] = np.empty((n_chain, n_draw, *np.shape(values)))
                results[variable.name][chain, draw] = values
    group = _dataset(results, model, dataset)
    answer = posterior.copy()
    answer["log_likelihood"] = xr.DataTree(group)
    return answer


def _require(needed: int, n_draw: int, n_cell: int, thin: int, limit: int | None) -> None:
    allowed = available_memory() if limit is None else limit
    advice = ""
    if allowed is not None and needed > allowed:
        more = thin * int(np.ceil(needed / max(allowed, 1) * 1.1))
        advice = f" (thin={more} would fit)"
    require_memory(
        needed,
        purpose=f"the log-likelihood of {n_draw:,} draws x {n_cell:,} answers{advice}",
        limit=limit,
    )


def _dataset(results: dict[str, Any], model: Any, posterior: xr.Dataset) -> xr.Dataset:
    variables = {}
    for name, array in results.items():
        dims = model.named_vars_to_dims.get(name) or [
            f"{name}_dim_{axis}" for axis in range(array.ndim - 2)
        ]
        # One value for the vector that a pair's battles are: fewer dims than the data have.
        variables[name] = (("chain", "draw", *list(dims)[: array.ndim - 2]), array)
    used = {dim for dims, _ in variables.values() for dim in dims}
    coords = {dim: np.asarray(labels) for dim, labels in model.coords.items() if dim in used}
    coords |= {"chain": posterior["chain"].to_numpy(), "draw": posterior["draw"].to_numpy()}
    return xr.Dataset(variables, coords=coords)
