"""Data sets of a validation as tasks: truth, data, fit and record, here or on Dask workers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from neartie.audits.validation_design import ValidationDesign
from neartie.audits.validation_points import point_fit
from neartie.audits.validation_record import record_draws, record_estimates
from neartie.data.dask import Client
from neartie.data.errors import CaveatWarning, ConvergenceError, DataError
from neartie.inference.flat_model import data_of
from neartie.inference.refit import ENGINES, SAMPLERS, Refit, refitter
from neartie.inference.truths import Truths, truths_of

type Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ValidationTask:
    """What a worker needs for any data set of a validation.

    Attributes
    ----------
    design : ValidationDesign
    engine : str
    sampling : dict
        Arguments of `refitter` but the engine.
    seed : int
    key : str
        Tells this task from others.
    """

    design: ValidationDesign
    engine: str
    sampling: dict[str, Any]
    seed: int
    key: str


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Ready:
    """A task whose model is built, and compiled where the engine needs it."""

    truths: Truths
    refit: Refit | None
    rows: dict[str, Any]
    component: NDArray[np.intp]
    flat_items: bool


# The last one: a worker has one task at a time, and compiles for it once.
_READY: Final[dict[str, _Ready]] = {}


def record_data_set(task: ValidationTask, number: int) -> dict[str, Any]:
    """Return the record of a data set: what `validation_record` says, or why there is no fit.

    Parameters
    ----------
    task : ValidationTask
    number : int
        From 0. A data set depends on it and on the seed, not on where and when it is drawn.
    """
    ready = _ready(task)
    # the child that `Generator.spawn` would give at this place
    sequence = np.random.SeedSequence(task.seed, spawn_key=(number,))
    rng = np.random.default_rng(sequence)
    truth = ready.truths.draw(rng)
    data = ready.truths.data(truth, rng)
    head: dict[str, Any] = {"data_set": number, "failed": "", "n_divergent": 0}
    try:
        if ready.flat_items:
            _refuse_constant(task.design, data["score"])
        # NumPy warns of what overflows on the way; what comes out is judged by its coverage
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CaveatWarning)
            warnings.simplefilter("ignore", RuntimeWarning)
            return head | _fitted(task, ready, truth, data, rng)
    except (ConvergenceError, DataError) as error:
        return head | {"failed": str(error)}


def spread_data_sets(
    task: ValidationTask, numbers: Sequence[int], *, client: Client | None
) -> Iterator[dict[str, Any]]:
    """Yield the records of some data sets in their order.

    Parameters
    ----------
    task : ValidationTask
    numbers : sequence of int
    client : Dask client or None
        Its workers get the task once, and one data set at a time.
    """
    if client is None:
        for number in numbers:
            yield record_data_set(task, number)
        return
    sent = client.scatter(task, hash=False)
    futures = [client.submit(record_data_set, sent, number, pure=False) for number in numbers]
    for future in futures:
        yield future.result()


def prepare(task: ValidationTask) -> None:
    """Build, and compile, what a task needs: what cannot be fitted is said before any work.

    Raises
    ------
    DataError
        If nothing can be drawn from a prior.
    ValueError
        If the engine does not know an option of the model.
    """
    _ready(task)


def _ready(task: ValidationTask) -> _Ready:
    if task.key not in _READY:
        model = task.design.build()
        stored = {variable.name: np.asarray(data_of(variable)) for variable in model.data_vars}
        together = np.zeros(len(model.coords["model"]), dtype=np.intp)
        sampled = task.engine in ENGINES
        ready = _Ready(
            truths=truths_of(model, priors=task.design.truth),
            refit=refitter(model, engine=task.engine, **task.sampling) if sampled else None,
            rows=stored,
            component=stored["component"].astype(np.intp) if "component" in stored else together,
            flat_items=getattr(task.design.priors, "easiness_sd", 1.0) is None,
        )
        _READY.clear()
        _READY[task.key] = ready
    return _READY[task.key]


def _fitted(
    task: ValidationTask,
    ready: _Ready,
    truth: dict[str, Floats],
    data: dict[str, Floats],
    rng: np.random.Generator,
) -> dict[str, Any]:
    true = ready.truths.quantities({name: value[None] for name, value in truth.items()}, data)
    if ready.refit is None:
        fit = point_fit(task.design, data, engine=task.engine, rows=ready.rows)
        true = {name: true[name][0] for name in fit.estimates}
        head = {"converged": fit.converged, "seconds": fit.seconds}
        return head | record_estimates(fit, true)
    refitted = ready.refit(data, rng)
    n_chain = len(next(iter(refitted.values.values())))
    values = {name: value.reshape(-1, *value.shape[2:]) for name, value in refitted.values.items()}
    if not all(np.isfinite(value).all() for value in values.values()):
        raise ConvergenceError("some draws are not finite")
    record = record_draws(
        ready.truths.quantities(values, data),
        true,
        ranking=ready.truths.ranking,
        n_chain=n_chain,
        component=ready.component,
        sampled=task.engine in SAMPLERS,
        rng=rng,
    )
    return {"n_divergent": refitted.n_divergent, "seconds": refitted.seconds} | record


def _refuse_constant(design: ValidationDesign, score: Floats) -> None:
    """Refuse, under a flat prior of easiness, items with equal answers: theirs is infinite."""
    values = np.full(design.data.values.shape, np.nan)  # type: ignore[union-attr]
    values[design.data.observed] = score.ravel()  # type: ignore[union-attr]
    constant = np.nanmin(values, axis=1) == np.nanmax(values, axis=1)
    if constant.any():
        raise DataError(
            "items with equal answers have no finite easiness under its flat prior; give the fit a "
            "prior (easiness_sd), or let more models answer"
        )
