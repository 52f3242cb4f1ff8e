"""A PyMC model as a log density of one vector: what every engine works on, compiled once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, cast

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from neartie.data.errors import DataError
from neartie.inference.initial_values import initial_values

type Floats = NDArray[np.float64]
type Evaluate = Callable[[Floats], tuple[float, Floats]]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FlatModel:
    """The unconstrained parameters of a model in one vector, with its log density.

    Attributes
    ----------
    size : int
        Number of unconstrained parameters.
    start : (size,) float
        PyMC's initial point without jitter.
    evaluate : callable
        From a point to the log density (nat, with the Jacobian of the transforms) and its
        gradient.
    names : tuple of str
        Variables that are kept: the free ones on their own scale, and the deterministic ones.
    dims : mapping of name to tuple of str
    coords : mapping of dimension to labels
    observed : tuple of str
        Observed variables whose data may be replaced, see `with_observed`.
    backend : str
        What compiled the density.
    """

    size: int
    start: Floats
    evaluate: Evaluate
    names: tuple[str, ...]
    dims: Mapping[str, tuple[str, ...]]
    coords: Mapping[str, Any]
    _expand: Callable[[Floats], list[Any]]
    _compiled: Callable[..., Any]
    _shared: tuple[Any, ...]
    observed: tuple[str, ...] = ()
    _places: Mapping[str, int] = field(default_factory=dict)
    backend: str = "numba"

    def with_observed(self, data: Mapping[str, NDArray[Any]]) -> FlatModel:
        """Return the same model, compiled once, given other data of the same shape.

        Parameters
        ----------
        data : mapping of name to array
            For some of the variables in `observed`.

        Returns
        -------
        FlatModel

        Raises
        ------
        ValueError
            If a variable has no data that may be replaced, or its shape changes.
        """
        shared = list(self._shared)
        for name, values in data.items():
            if name not in self._places:
                raise ValueError(
                    f"the data of {name!r} cannot be replaced: compile the model with "
                    "flatten_model(model, replaceable=True)"
                )
            old = shared[self._places[name]]
            if np.shape(values) != old.shape:
                raise ValueError(f"{name} has shape {old.shape}, the new data {np.shape(values)}")
            shared[self._places[name]] = np.ascontiguousarray(values, dtype=old.dtype)
        evaluate = _evaluator(self._compiled, tuple(shared))
        return replace(self, evaluate=evaluate, _shared=tuple(shared))

    def parallel(self) -> Evaluate:
        """Return `evaluate` in a form that lets other threads run meanwhile.

        Returns
        -------
        callable
            As `evaluate`. It takes some seconds of compilation, which pay off only where
            threads share the work.
        """
        if self.backend == "jax":
            return self.evaluate  # what JAX compiles lets threads run
        import numba

        compiled = self._compiled

        @numba.njit(nogil=True)
        def released(point: Floats, *shared: Any) -> Any:
            return compiled(point, *shared)

        evaluate = _evaluator(released, self._shared)
        evaluate(self.start)  # compiles here, before threads start
        return evaluate

    def expand(self, points: Floats) -> xr.Dataset:
        """Return the variables that belong to unconstrained points.

        Parameters
        ----------
        points : (n_chain, n_draw, size) float

        Returns
        -------
        Dataset
            Over `chain`, `draw` and the dimensions of each variable, with the user's labels.
        """
        n_chain, n_draw, _ = points.shape
        arrays: list[Floats] = []
        for chain in range(n_chain):
            for draw in range(n_draw):
                values = self._expand(points[chain, draw])
                if not arrays:
                    arrays = [np.empty((n_chain, n_draw, *np.shape(value))) for value in values]
                for array, value in zip(arrays, values, strict=True):
                    array[chain, draw] = value
        variables = {
            name: (("chain", "draw", *self._dims_of(name, array.ndim - 2)), array)
            for name, array in zip(self.names, arrays, strict=True)
        }
        used = {dim for dims, _ in variables.values() for dim in dims}
        coords = {dim: labels for dim, labels in self.coords.items() if dim in used}
        coords |= {"chain": np.arange(n_chain), "draw": np.arange(n_draw)}
        return xr.Dataset(variables, coords=coords)

    def _dims_of(self, name: str, n: int) -> tuple[str, ...]:
        known = self.dims.get(name, ())
        return known if len(known) == n else tuple(f"{name}_dim_{axis}" for axis in range(n))


def flatten_model(model: Any, *, replaceable: bool = False, backend: str = "numba") -> FlatModel:
    """Compile the log density of a model, its gradient, and what turns a point into variables.

    Parameters
    ----------
    model : pm.Model
        All of whose unknowns are continuous.
    replaceable : bool
        Whether `FlatModel.with_observed` may replace the observed data, which are otherwise
        compiled into the density.
    backend : {'numba', 'jax'}
        What compiles density and gradient. JAX runs them on an accelerator where it finds one,
        in double precision.

    Returns
    -------
    FlatModel

    Raises
    ------
    DataError
        If the model has no unknown, or a discrete one; if JAX is asked for and not installed.

    Notes
    -----
    Compilation goes through numba unless JAX is asked for, so that no C++ compiler is needed; what was compiled once for
    a model of the same form is taken from a cache on disk.
    """
    import pytensor.tensor as pt
    from pymc.pytensorf import compile as compile_graph
    from pytensor.gradient import grad
    from pytensor.graph.replace import clone_replace

    if backend == "jax":
        _require_jax()
    if not model.free_RVs:
        raise DataError("the model has no unknown to infer")
    if model.discrete_value_vars:
        names = ", ".join(variable.name for variable in model.discrete_value_vars)
        raise DataError(f"the engines need continuous unknowns; discrete: {names}")
    initial = initial_values(model)
    values = [model.rvs_to_values[variable] for variable in model.free_RVs]
    shapes = [np.shape(initial[value.name]) for value in values]
    ends = np.cumsum([prod(shape) for shape in shapes])
    size = int(ends[-1])
    flat = pt.TensorType("float64", shape=(size,))(name="unconstrained_point")
    parts = [
        flat[end - prod(shape) : end].reshape(shape)
        for end, shape in zip(ends.tolist(), shapes, strict=True)
    ]
    replaced = dict(zip(values, parts, strict=True))
    fed = _fed_data(model) if replaceable else {}
    replaced |= {value: variable for value, variable in fed.values()}

    log_density = model.logp()
    slopes: Any = grad(log_density, values)
    gradient = pt.concatenate([slope.ravel() for slope in slopes])
    outputs = clone_replace([log_density, gradient], replaced)
    own = {variable.name for variable in [*model.free_RVs, *model.deterministics]}
    kept = [variable for variable in model.unobserved_value_vars if variable.name in own]
    with model:
        function = compile_graph([flat], outputs, mode=backend.upper())
        # Few and cheap operations a draw: Python's mode is quick enough, and compiles at once.
        expand = compile_graph(
            [flat], clone_replace(kept, replaced), mode="FAST_COMPILE", on_unused_input="ignore"
        )
    inputs = function.get_shared()
    shared = tuple(variable.get_value() for variable in inputs)
    places = {
        name: next(place for place, known in enumerate(inputs) if known is variable)
        for name, (_, variable) in fed.items()
    }
    return FlatModel(
        size=size,
        start=np.concatenate([np.ravel(initial[value.name]) for value in values]).astype(float),
        evaluate=_evaluator(function.vm.jit_fn, shared),
        names=tuple(variable.name for variable in kept),
        dims={name: tuple(dims) for name, dims in model.named_vars_to_dims.items()},
        coords={dim: np.asarray(labels) for dim, labels in model.coords.items()},
        _expand=expand,
        _compiled=function.vm.jit_fn,
        _shared=shared,
        observed=tuple(places),
        _places=places,
        backend=backend,
    )


def _require_jax() -> None:
    from importlib.util import find_spec

    if find_spec("jax") is None:
        raise DataError('the backend jax is not installed: pip install "neartie[jax]"')


def _fed_data(model: Any) -> dict[str, tuple[Any, Any]]:
    """Return, by name, every observed variable's data and a shared variable in their place."""
    from pytensor.compile.sharedvalue import shared

    fed = {}
    for variable in model.observed_RVs:
        value = model.rvs_to_values[variable]
        fed[variable.name] = (
            value,
            shared(np.asarray(data_of(value)), shape=value.type.shape),
        )
    return fed


def model_sizes(model: Any) -> tuple[int, int]:
    """Return how many numbers a draw of a model has.

    Parameters
    ----------
    model : pm.Model

    Returns
    -------
    n_unknown, n_kept : int
        Unconstrained parameters; numbers of the free and deterministic variables.
    """
    initial = initial_values(model)
    n_unknown = sum(np.size(value) for value in initial.values())
    return n_unknown, sum(variable_sizes(model).values())


def variable_sizes(model: Any) -> dict[str, int]:
    """Return how many numbers a draw of each free and deterministic variable has.

    Parameters
    ----------
    model : pm.Model

    Returns
    -------
    dict of name to int
    """
    lengths = {dim: len(labels) for dim, labels in model.coords.items()}
    found = {}
    for variable in [*model.free_RVs, *model.deterministics]:
        dims = model.named_vars_to_dims.get(variable.name)
        if dims is not None and all(dim in lengths for dim in dims):
            found[variable.name] = prod(lengths[dim] for dim in dims)
        else:
            found[variable.name] = prod(length or 1 for length in variable.type.shape)
    return found


def observed_arrays(model: Any) -> dict[str, NDArray[Any]]:
    """Return the data of every observed variable of a model, by its name."""
    return {
        variable.name: np.asarray(data_of(model.rvs_to_values[variable]))
        for variable in model.observed_RVs
    }


def data_of(variable: Any) -> Any:
    """Return the value of a constant or shared variable of PyTensor."""
    if hasattr(variable, "get_value"):
        return variable.get_value()
    return variable.data if hasattr(variable, "data") else variable.eval()


def _evaluator(compiled: Callable[..., Any], shared: tuple[Any, ...]) -> Evaluate:
    def evaluate(point: Floats) -> tuple[float, Floats]:
        log_density, gradient = compiled(point, *shared)
        # JAX hands out arrays of its own, which are read only.
        found = gradient if isinstance(gradient, np.ndarray) else np.array(gradient)
        return float(log_density), cast(Floats, found)

    return evaluate
