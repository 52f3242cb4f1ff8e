"""A posterior as a NetCDF file: written whole or not at all, read back unchanged."""

from __future__ import annotations

import os
import tempfile
from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np
import xarray as xr

from neartie.data.errors import DataError
from neartie.data.files import remove_abandoned, temporary_prefix
from neartie.data.tabular import os_reason

# Needs no C library of its own beside h5py's, which its wheels bring along.
_ENGINE: Final = "h5netcdf"


def write_posterior(posterior: xr.DataTree, path: str | PathLike[str]) -> Path:
    """Write a posterior to a NetCDF 4 file, or leave what was there.

    Parameters
    ----------
    posterior : DataTree
        As `fit` gives it.
    path : path
        Where to. Folders above are made.

    Returns
    -------
    Path
        The file. ArviZ reads it too (`arviz.from_netcdf`).

    Raises
    ------
    DataError
        If it cannot be written.

    Notes
    -----
    It is written beside the target and then takes the target's name in one step: an error or an
    interrupt leaves the old file or the new one, never a part, and what a killed process left beside
    it is removed by the next one. Equal posteriors give equal bytes.
    """
    target = Path(path)
    if target.is_dir():
        raise DataError(f"{target} is a folder; name a file to write to")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_abandoned(target.parent)
        with tempfile.TemporaryDirectory(prefix=temporary_prefix(), dir=target.parent) as place:
            whole = Path(place) / "posterior.nc"
            posterior.to_netcdf(whole, engine=_ENGINE)
            os.replace(whole, target)
    except OSError as error:
        raise DataError(f"{target} cannot be written: {os_reason(error)}") from error
    return target


def read_posterior(path: str | PathLike[str]) -> xr.DataTree:
    """Return a posterior from a NetCDF file, read into memory.

    Parameters
    ----------
    path : path
        Of a file that `write_posterior` wrote, or of a folder with a `posterior.nc`.

    Returns
    -------
    DataTree

    Raises
    ------
    DataError
        If there is no such file, or it holds no posterior.
    """
    source = Path(path)
    if source.is_dir():
        source = source / "posterior.nc"
    if not source.is_file():
        raise DataError(f"{source} does not exist: there is no posterior to read")
    try:
        with xr.open_datatree(source, engine=_ENGINE) as opened:
            tree = opened.load()
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{source} cannot be read as a NetCDF file: {error}") from error
    if "posterior" not in tree.children:
        raise DataError(f"{source} holds no group 'posterior': write it with write_posterior")
    groups = {path: _plain_labels(node.to_dataset(inherit=False)) for path, node in _nodes(tree)}
    read = xr.DataTree.from_dict(groups)
    read.attrs = dict(tree.attrs)
    return read


def _nodes(tree: xr.DataTree) -> list[tuple[str, xr.DataTree]]:
    return [(node.path, node) for node in tree.subtree if node.path != "/"]


def _plain_labels(dataset: xr.Dataset) -> xr.Dataset:
    """Give labels NumPy's text type again, which files do not know."""
    texts = {
        name: (coord.dims, coord.to_numpy().astype(np.str_))
        for name, coord in dataset.coords.items()
        if coord.dtype.kind in "OT"
    }
    return dataset.assign_coords(texts) if texts else dataset
