"""Where the chains of a Gibbs sampler do their sweeps: threads of this process, or a Dask client."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from neartie.data.dask import Client
from neartie.data.errors import ConvergenceError
from neartie.inference.gibbs_checkpoint import Chain
from neartie.inference.gibbs_protocol import BlockSampler

type Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Sweeps:
    """Some sweeps of one chain.

    Attributes
    ----------
    chain : Chain
    first, n : int
        Number of the first sweep, from 1; how many.
    tune, thin : int
        Sweeps of the tuning; sweeps a kept draw after them.
    names : tuple of str
        The free variables, in the order of a draw.
    """

    chain: Chain
    first: int
    n: int
    tune: int
    thin: int
    names: tuple[str, ...]


type Done = tuple[Chain, list[Floats]]
type Work = Callable[[Sequence[Sweeps]], list[Done]]


@contextmanager
def workers(sampler: BlockSampler, *, cores: int, client: Client | None) -> Iterator[Work]:
    """Give a function that makes the sweeps of all chains and returns them in their order.

    Parameters
    ----------
    sampler : BlockSampler
    cores : int
        Threads.
    client : Dask client, optional
        Whose workers are used instead.

    Yields
    ------
    callable
        From sweeps to chains as they are afterwards, each with the draws that are kept.

    Notes
    -----
    A chain's numbers come from its own state and generator, so that it is all the same where its
    sweeps are made. Linear algebra has one thread a chain.
    """
    if client is not None:
        sent = client.scatter(sampler, hash=False)

        def ask(work: Sequence[Sweeps]) -> list[Done]:
            futures = [client.submit(make_sweeps, sent, part, pure=False) for part in work]
            return [future.result() for future in futures]

        yield ask
        return
    stop = threading.Event()
    with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(cores) as pool:

        def run(work: Sequence[Sweeps]) -> list[Done]:
            futures = [pool.submit(_make_sweeps, sampler, part, stop) for part in work]
            try:
                return [future.result() for future in futures]
            finally:
                stop.set()  # where one breaks down or the user interrupts, the others stop too
                wait(futures)
                stop.clear()

        yield run


def make_sweeps(sampler: BlockSampler, work: Sweeps) -> Done:
    """Make sweeps in a process of their own."""
    # What came over a wire may be read-only.
    work.chain.state = {name: np.array(value) for name, value in work.chain.state.items()}
    with threadpool_limits(limits=1, user_api="blas"):
        return _make_sweeps(sampler, work, threading.Event())


def _make_sweeps(sampler: BlockSampler, work: Sweeps, stop: threading.Event) -> Done:
    chain, kept = work.chain, []
    for sweep in range(work.first, work.first + work.n):
        if stop.is_set():
            break
        sampler.sweep(chain.state, chain.generator, tuning=sweep <= work.tune)
        _require_finite(chain, work.names, sweep)
        if sweep > work.tune and (sweep - work.tune) % work.thin == 0:
            kept.append(np.concatenate([np.ravel(chain.state[name]) for name in work.names]))
    return chain, kept


def _require_finite(chain: Chain, names: Sequence[str], sweep: int) -> None:
    lost = [name for name in names if not np.isfinite(chain.state[name]).all()]
    if lost:
        raise ConvergenceError(
            f"the Gibbs sampler has no number for {', '.join(lost)} after sweep {sweep:,}: priors "
            "that are very wide or very narrow may do that; use others, or the engine nuts"
        )
