"""Whether a Gibbs sampler has drawn enough: R-hat and sample sizes of what is watched meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from neartie.inference.diagnostics import MAX_RHAT
from neartie.inference.free_values import FreeValues
from neartie.inference.mixing import FEWEST_DRAWS, mixing

type Floats = NDArray[np.float64]

# Of long variables evenly spaced entries stand for all.
MAX_WATCHED: Final = 200
# A report on the way is content with fewer.
MAX_REPORTED: Final = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class Reached:
    """How far chains have come.

    Attributes
    ----------
    max_rhat : float
        Rank-normalised, split and folded; NaN with one chain.
    min_ess : float
        The smallest effective sample size, in the bulk and in the tails.
    """

    max_rhat: float
    min_ess: float

    def meets(self, min_ess: float) -> bool:
        """Say whether R-hat is below its limit (where it can be told) and the sample large."""
        agree = bool(np.isnan(self.max_rhat)) or self.max_rhat < MAX_RHAT
        return agree and self.min_ess >= min_ess


def watch_list(layout: FreeValues, names: Sequence[str]) -> tuple[str, ...]:
    """Return those of the names that a draw has; all free variables if there is none.

    Parameters
    ----------
    layout : FreeValues
    names : sequence of str
        What convergence is judged by. What is computed from the finished draws is left out.
    """
    known = {*layout.names, *layout.derived}
    return tuple(name for name in names if name in known) or layout.names


def watched_values(layout: FreeValues, names: Sequence[str], points: Floats) -> Floats:
    """Return the watched numbers of some draws.

    Parameters
    ----------
    layout : FreeValues
    names : sequence of str
    points : (n_chain, n_draw, size) float

    Returns
    -------
    (n_chain, n_draw, n_watched) float
    """
    n_chain, n_draw, _ = points.shape
    if set(names) <= set(layout.names):
        return points[:, :, _free_places(layout, names)]
    rows = []
    for chain, draw in np.ndindex(n_chain, n_draw):
        values = layout.derive(points[chain, draw])
        flat = [np.ravel(values[name]) for name in names]
        rows.append(np.concatenate([part[_spread(part.size)] for part in flat]))
    return np.reshape(rows, (n_chain, n_draw, -1))


def reached(watched: Floats, *, at_most: int | None = None) -> Reached:
    """Return the worst R-hat and sample size of watched numbers.

    Parameters
    ----------
    watched : (n_chain, n_draw, n_watched) float
    at_most : int, optional
        Numbers to look at, evenly spaced.

    Returns
    -------
    Reached
        An effective sample size of 0 where fewer than four draws are there.

    Examples
    --------
    >>> draws = np.random.default_rng(1).standard_normal((2, 1000, 3))
    >>> said = reached(draws)
    >>> said.max_rhat < 1.01, said.min_ess > 1000, said.meets(1000)
    (True, True, True)
    """
    n_chain, n_draw, n = watched.shape
    if n_draw < FEWEST_DRAWS:
        return Reached(max_rhat=np.nan if n_chain == 1 else np.inf, min_ess=0.0)
    said = mixing(watched[:, :, _spread(n, at_most or n)].transpose(2, 0, 1))
    if not said.varies.any():
        return Reached(max_rhat=np.nan, min_ess=0.0)
    return Reached(
        max_rhat=float(np.fmax.reduce(said.r_hat)),
        min_ess=float(np.fmin.reduce([said.ess_bulk, said.ess_tail], axis=None)),
    )


def _free_places(layout: FreeValues, names: Sequence[str]) -> NDArray[np.intp]:
    ends = np.cumsum([prod(shape) for shape in layout.shapes]).tolist()
    first = {
        name: (end - prod(shape), prod(shape))
        for name, shape, end in zip(layout.names, layout.shapes, ends, strict=True)
    }
    return np.concatenate([first[name][0] + _spread(first[name][1]) for name in names])


def _spread(n: int, at_most: int = MAX_WATCHED) -> NDArray[np.intp]:
    return np.unique(np.linspace(0, n - 1, min(n, at_most)).round().astype(np.intp))
