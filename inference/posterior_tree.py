"""The DataTree that a fit returns: draws, data, and on its root what made them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import numpy as np
import xarray as xr

from neartie.data.files import to_json
from neartie.inference.engine_draws import EngineDraws
from neartie.inference.flat_model import FlatModel, data_of, observed_arrays
from neartie.inference.free_values import FreeValues
from neartie.models.record import ATTRIBUTE, ModelRecord

# Groups of moments of variables whose draws were not kept.
MEANS: Final = "posterior_mean"
SDS: Final = "posterior_sd"

_PACKAGES: Final = (
    "neartie",
    "pymc",
    "pytensor",
    "nutpie",
    "arviz",
    "numpy",
    "numba",
)


def posterior_tree(flat: FlatModel | FreeValues, model: Any, drawn: EngineDraws) -> xr.DataTree:
    """Return draws and data of a model in the groups that ArviZ knows.

    Parameters
    ----------
    flat : FlatModel or FreeValues
        Of the same model.
    model : pm.Model
    drawn : EngineDraws

    Returns
    -------
    DataTree
        Groups `posterior`, `sample_stats`, `observed_data`, `constant_data`, and `posterior_mean`
        and `posterior_sd` of variables whose draws were not kept.
    """
    draws = flat.expand(drawn.points)
    samples = {"chain": draws["chain"].to_numpy(), "draw": draws["draw"].to_numpy()}
    stats = {name: (("chain", "draw"), values) for name, values in drawn.stats.items()}
    groups = {
        "posterior": draws,
        "sample_stats": xr.Dataset(stats, coords=samples),
        "observed_data": _dataset(flat, observed_arrays(model)),
        "constant_data": constant_data(flat, model),
    }
    if drawn.moments:
        for place, group in enumerate((MEANS, SDS)):
            moments = {name: each[place] for name, each in drawn.moments.items()}
            groups[group] = _dataset(flat, moments)
    return xr.DataTree.from_dict(groups)


def constant_data(flat: FlatModel | FreeValues, model: Any) -> xr.Dataset:
    """Return the constant data of a model, with its labels."""
    constant = {variable.name: np.asarray(data_of(variable)) for variable in model.data_vars}
    return _dataset(flat, constant)


def record_attributes(model: Any, *, engine: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes that say what was fitted, and how.

    Parameters
    ----------
    model : pm.Model
    engine : str
    settings : mapping
        Plain values.

    Returns
    -------
    dict
        Text and numbers, as NetCDF takes them; mappings and lists as JSON.
    """
    record = getattr(model, ATTRIBUTE, None)
    known: dict[str, Any] = record.to_dict() if isinstance(record, ModelRecord) else {}
    attributes: dict[str, Any] = {
        "kind": known.get("kind", "other"),
        "engine": engine,
        "settings": compact_json(settings),
        "versions": compact_json(_versions()),
    }
    if known:
        ranking = known["ranking"]
        attributes["ranking"] = ranking
        attributes["diagnosed"] = compact_json(list(dict.fromkeys([*known["diagnosed"], ranking])))
        for name in ("options", "priors", "notices"):
            attributes[name] = compact_json(known[name])
    return attributes


def compact_json(content: Any) -> str:
    """Return JSON in one line, with null for what is missing."""
    return json.dumps(json.loads(to_json(content)), ensure_ascii=False)


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _dataset(flat: FlatModel | FreeValues, arrays: Mapping[str, Any]) -> xr.Dataset:
    variables = {}
    for name, array in arrays.items():
        dims = flat.dims.get(name, ())
        if len(dims) != array.ndim:
            dims = tuple(f"{name}_dim_{axis}" for axis in range(array.ndim))
        variables[name] = (dims, array)
    used = {dim for dims, _ in variables.values() for dim in dims}
    coords = {dim: labels for dim, labels in flat.coords.items() if dim in used}
    return xr.Dataset(variables, coords=coords)
