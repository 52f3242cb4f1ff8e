"""What a Gibbs run keeps of its draws: all of them, or some variables and the moments of the rest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from neartie.inference.expected_scores import expected_scores
from neartie.inference.free_values import FreeValues
from neartie.inference.posterior_tree import constant_data

type Floats = NDArray[np.float64]

SCORE: Final = "expected_score"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Recorder:
    """Takes a draw apart: numbers that are kept, and numbers whose mean and spread are kept.

    Attributes
    ----------
    layout : FreeValues
        Of the kept numbers, as if they were free variables.
    others : mapping of name to shape
        What only moments are kept of.
    """

    layout: FreeValues
    others: Mapping[str, tuple[int, ...]]
    _values: Callable[[Floats], Mapping[str, Floats]]

    @property
    def n_other(self) -> int:
        """Numbers of a draw that only moments are kept of."""
        return sum(prod(shape) for shape in self.others.values())

    def take(self, vector: Floats) -> tuple[Floats, Floats]:
        """Return kept and other numbers of a draw of all free variables, (size,), (n_other,)."""
        values = self._values(vector)
        return self.layout.vector(values), _flat(values, self.others)

    def moments(self, moments: Floats, n_draw: int) -> dict[str, tuple[Floats, Floats]]:
        """Return mean and standard deviation of the other variables over all chains.

        Parameters
        ----------
        moments : (n_chain, 2, n_other) float
            Of `add_draw`.
        n_draw : int
            Of every chain.
        """
        if not self.others:
            return {}
        means, squares = moments[:, 0], moments[:, 1]
        mean = means.mean(axis=0)
        square = squares.sum(axis=0) + n_draw * np.square(means - mean).sum(axis=0)
        sd = np.sqrt(square / max(n_draw * len(moments) - 1, 1))
        ends = np.cumsum([prod(shape) for shape in self.others.values()]).tolist()
        places = [
            slice(end - prod(shape), end)
            for shape, end in zip(self.others.values(), ends, strict=True)
        ]
        return {
            name: (mean[place].reshape(shape), sd[place].reshape(shape))
            for (name, shape), place in zip(self.others.items(), places, strict=True)
        }


def recorder_of(model: Any, layout: FreeValues, keep: Collection[str]) -> Recorder:
    """Return what keeps draws of some variables.

    Parameters
    ----------
    model : pm.Model
    layout : FreeValues
        Of the model.
    keep : collection of str
        Free or deterministic variables, or `expected_score`; what models are ranked by is kept in any
        case.

    Returns
    -------
    Recorder
        Variables over factors that are not kept have no moments: they turn from draw to draw.

    Raises
    ------
    ValueError
        If a name is not known, or none is given.
    """
    with np.errstate(all="ignore"):
        shapes = {
            name: np.shape(part) for name, part in layout.derive(np.ones(layout.size)).items()
        }
    scored = model.neartie.ranking == SCORE
    if scored:
        shapes[SCORE] = (len(model.coords["model"]),)
    check_kept(keep, tuple(shapes))
    kept = tuple(name for name in shapes if name in keep or name == model.neartie.ranking)
    constant = constant_data(layout, model)

    def values(vector: Floats) -> Mapping[str, Floats]:
        if not scored:
            return layout.derive(vector)
        draw = layout.expand(vector[None, None])
        tree = xr.DataTree.from_dict({"posterior": draw, "constant_data": constant})
        found = {str(name): part.to_numpy()[0, 0] for name, part in draw.data_vars.items()}
        return found | {SCORE: expected_scores(tree).to_numpy()[0, 0]}

    return Recorder(
        layout=FreeValues(
            names=kept,
            shapes=tuple(shapes[name] for name in kept),
            derived=(),
            dims={**layout.dims, SCORE: ("model",)},
            coords=layout.coords,
            _derive=_nothing,
        ),
        others={
            name: shape
            for name, shape in shapes.items()
            if name not in kept and "factor" not in layout.dims.get(name, ())
        },
        _values=values,
    )


def check_kept(keep: Collection[str], known: Collection[str]) -> None:
    """Raise ValueError unless names of variables that there are were given.

    Examples
    --------
    >>> check_kept(["D"], ["dif", "dif_range"])
    Traceback (most recent call last):
    ...
    ValueError: keep names 'D', but the model's variables are dif, dif_range
    """
    if isinstance(keep, str) or not keep:
        raise ValueError(f"keep must be names of variables, at least one, got {keep!r}")
    unknown = [name for name in keep if name not in known]
    if unknown:
        raise ValueError(
            f"keep names {unknown[0]!r}, but the model's variables are {', '.join(known)}"
        )


def add_draw(moments: Floats, values: Floats, n_draw: int) -> None:
    """Add a draw to means and sums of squares about them, in place.

    Parameters
    ----------
    moments : (2, n) float
        Of the draws before.
    values : (n,) float
    n_draw : int
        How many draws there are with this one.

    References
    ----------
    Welford (1962), Technometrics 4, 419-420. doi:10.1080/00401706.1962.10490022
    """
    away = values - moments[0]
    moments[0] += away / n_draw
    moments[1] += away * (values - moments[0])


def _flat(values: Mapping[str, Floats], names: Collection[str]) -> Floats:
    parts = [np.ravel(values[name]) for name in names]
    return np.concatenate(parts) if parts else np.empty(0)


def _nothing(*_: Any) -> list[Any]:
    return []
