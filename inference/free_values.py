"""The unknowns of a PyMC model on their own scales in one vector, and what is derived from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from neartie.inference.initial_values import initial_values

type Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FreeValues:
    """Where the free variables of a model stand in a vector, and its deterministic variables.

    Attributes
    ----------
    names : tuple of str
        The free variables, as PyMC calls them.
    shapes : tuple of tuple of int
        Of the free variables.
    derived : tuple of str
        The deterministic variables.
    dims : mapping of name to tuple of str
    coords : mapping of dimension to labels

    Notes
    -----
    The counterpart of `FlatModel` for engines that draw the variables themselves: nothing is
    transformed, and the density is not compiled.
    """

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    derived: tuple[str, ...]
    dims: Mapping[str, tuple[str, ...]]
    coords: Mapping[str, Any]
    _derive: Callable[..., list[Any]]

    @property
    def size(self) -> int:
        """Numbers of a draw."""
        return sum(prod(shape) for shape in self.shapes)

    def vector(self, state: Mapping[str, Floats]) -> Floats:
        """Return the free variables of a state one after another, (size,)."""
        return np.concatenate([np.ravel(state[name]) for name in self.names])

    def derive(self, vector: Floats) -> dict[str, Floats]:
        """Return free and deterministic variables by name; the free ones are views."""
        free = self._parts(vector)
        values = self._derive(*free) if self.derived else []
        return dict(zip((*self.names, *self.derived), [*free, *values], strict=True))

    def expand(self, points: Floats) -> xr.Dataset:
        """Return the variables that belong to draws.

        Parameters
        ----------
        points : (n_chain, n_draw, size) float

        Returns
        -------
        Dataset
            Over `chain`, `draw` and the dimensions of each variable, with the user's labels. The
            free variables share the memory of the points.
        """
        n_chain, n_draw, _ = points.shape
        ends = np.cumsum([prod(shape) for shape in self.shapes]).tolist()
        arrays: dict[str, Floats] = {
            name: points[:, :, end - prod(shape) : end].reshape(n_chain, n_draw, *shape)
            for name, shape, end in zip(self.names, self.shapes, ends, strict=True)
        }
        if self.derived:
            for chain, draw in np.ndindex(n_chain, n_draw):
                values = self._derive(*self._parts(points[chain, draw]))
                for name, value in zip(self.derived, values, strict=True):
                    if name not in arrays:
                        arrays[name] = np.empty((n_chain, n_draw, *np.shape(value)))
                    arrays[name][chain, draw] = value
        variables = {
            name: (("chain", "draw", *self._dims_of(name, array.ndim - 2)), array)
            for name, array in arrays.items()
        }
        used = {dim for dims, _ in variables.values() for dim in dims}
        coords = {dim: labels for dim, labels in self.coords.items() if dim in used}
        coords |= {"chain": np.arange(n_chain), "draw": np.arange(n_draw)}
        return xr.Dataset(variables, coords=coords)

    def _parts(self, vector: Floats) -> list[Floats]:
        ends = np.cumsum([prod(shape) for shape in self.shapes]).tolist()
        return [
            vector[end - prod(shape) : end].reshape(shape)
            for shape, end in zip(self.shapes, ends, strict=True)
        ]

    def _dims_of(self, name: str, n: int) -> tuple[str, ...]:
        known = self.dims.get(name, ())
        return known if len(known) == n else tuple(f"{name}_dim_{axis}" for axis in range(n))


def free_values(model: Any) -> FreeValues:
    """Return the layout of a model's unknowns, with its deterministic variables compiled.

    Parameters
    ----------
    model : pm.Model

    Returns
    -------
    FreeValues

    Examples
    --------
    >>> import pymc as pm
    >>> with pm.Model(coords={"item": ["q1", "q2"]}) as model:
    ...     log_slope = pm.Normal("log_slope", dims="item")
    ...     slope = pm.Deterministic("slope", log_slope.exp(), dims="item")
    >>> layout = free_values(model)
    >>> layout.names, layout.derived, layout.size
    (('log_slope',), ('slope',), 2)
    >>> layout.derive(np.zeros(2))["slope"].tolist()
    [1.0, 1.0]
    """
    from pymc.pytensorf import compile as compile_graph
    from pytensor.graph.replace import clone_replace

    initial = initial_values(model)
    free = list(model.free_RVs)
    inputs = [variable.type() for variable in free]
    derived = list(model.deterministics)
    with model:
        # Few and cheap operations a draw: Python's mode is quick enough, and compiles at once.
        derive = compile_graph(
            inputs,
            clone_replace(derived, dict(zip(free, inputs, strict=True))),
            mode="FAST_COMPILE",
            on_unused_input="ignore",
        )
    return FreeValues(
        names=tuple(variable.name for variable in free),
        shapes=tuple(_shape(model, variable, initial) for variable in free),
        derived=tuple(variable.name for variable in derived),
        dims={name: tuple(dims) for name, dims in model.named_vars_to_dims.items()},
        coords={dim: np.asarray(labels) for dim, labels in model.coords.items()},
        _derive=derive,
    )


def _shape(model: Any, variable: Any, initial: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the shape of a free variable on its own scale, where sums of zero are not taken off."""
    import pytensor.tensor as pt

    start = pt.as_tensor(np.asarray(initial[model.rvs_to_values[variable].name], dtype=float))
    transform = model.rvs_to_transforms[variable]
    if transform is None:
        return tuple(int(length) for length in start.type.shape)
    own = transform.backward(start, *variable.owner.inputs)
    return tuple(int(length) for length in own.shape.eval())
