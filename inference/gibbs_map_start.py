"""Where chains of a Gibbs sampler start from the joint mode: about it, each at a place of its own."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from neartie.data.errors import CaveatWarning
from neartie.inference.engine_draws import Progress, ignore_progress
from neartie.inference.gibbs_effects import HELD
from neartie.inference.gibbs_protocol import BlockSampler, Start, State
from neartie.models.record import record_of

type Floats = NDArray[np.float64]
#: Draws starting values of free variables by name, those that have a mode.
type Starts = Callable[[np.random.Generator], dict[str, Floats]]

#: Starting values spread so many conditional standard deviations about the mode, so that R-hat
#: still tells whether chains have forgotten where they came from.
SPREAD: Final = 2.0
#: Logs of scales spread by so much about theirs.
SCALE_SPREAD: Final = 0.2

_MODES: Final = {
    "two-pl": ("neartie.inference.gibbs_map_two_pl", "two_pl_starts"),
    "mirt-dif": ("neartie.inference.gibbs_map_dif", "mirt_dif_starts"),
    "residual-dif": ("neartie.inference.gibbs_map_dif", "residual_dif_starts"),
    "bradley-terry": ("neartie.inference.gibbs_map_battles", "bradley_terry_starts"),
}


def map_start(model: Any, sampler: BlockSampler, *, progress: Progress | None = None) -> Start:
    """Return a function that draws the state of a chain about the joint mode.

    Parameters
    ----------
    model : pm.Model
        That a factory of neartie built.
    sampler : BlockSampler
        Of the model.
    progress : callable, optional
        Told when the mode is sought, which is when the first chain starts.

    Returns
    -------
    callable
        From a generator to a state.

    Raises
    ------
    ValueError
        If the options of the model leave it without a joint mode to be found.

    Notes
    -----
    Every chain has noise of its own, of `SPREAD` conditional standard deviations, and scales
    multiplied by the exponential of normal noise of `SCALE_SPREAD`. What the mode says nothing of
    starts where a dispersed chain does. The mode takes no random numbers, and the same bytes come
    out whatever the number of threads. One that was not quite reached is a start too.
    """
    record = record_of(model)
    module, name = _MODES[record.kind]
    prepare: Callable[[Any, BlockSampler], Callable[[], Starts]]
    prepare = getattr(import_module(module), name)
    search, say = prepare(model, sampler), progress or ignore_progress
    found: list[Starts] = []

    def start(rng: np.random.Generator) -> State:
        if not found:
            say("mode", 0.0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CaveatWarning)
                found.append(search())
        state = sampler.start(rng)
        # What scales spread is about right here, so that they need not wait for it.
        if HELD in state:
            state[HELD][...] = 0.0
        for variable, values in found[0](rng).items():
            state[variable][...] = values
        sampler.place_anchors(state)
        return state

    return start


def scattered(rng: np.random.Generator, scale: float) -> float:
    """Return a scale times the exponential of noise."""
    return float(scale * np.exp(SCALE_SPREAD * rng.standard_normal()))


def block_roots(weight: Floats, design: Floats, precision: Floats) -> Floats:
    """Return roots of the conditional covariances of many regressions on one design.

    Parameters
    ----------
    weight : (n, n_row) float
        Of the rows in each regression: variances of answers.
    design : (q, n_row) float
    precision : (q,) float
        Of the priors.

    Returns
    -------
    (n, q, q) float
        R with R Rᵀ the inverse of the second derivatives.

    Examples
    --------
    >>> block_roots(np.ones((1, 4)), np.ones((1, 4)), np.array([5.0])).ravel().round(4)
    array([0.3333])
    """
    first, second = np.triu_indices(len(design))
    sums = weight @ (design[first] * design[second]).T
    curvature = np.empty((len(weight), len(design), len(design)))
    curvature[:, first, second] = sums
    curvature[:, second, first] = sums
    curvature[:, range(len(design)), range(len(design))] += precision
    return np.linalg.inv(np.linalg.cholesky(curvature)).swapaxes(1, 2)


def noise_of(roots: Floats, rng: np.random.Generator) -> Floats:
    """Return overdispersed noise of many blocks, (n, q)."""
    drawn = rng.standard_normal(roots.shape[:2])
    return np.asarray(SPREAD * np.matmul(roots, drawn[:, :, None])[:, :, 0])
