"""The No-U-Turn sampler of nutpie: the reference that every other engine is judged by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from neartie.data.errors import ConvergenceError
from neartie.inference.engine_draws import EngineDraws, Progress, log_densities
from neartie.inference.flat_model import FlatModel

# nutpie's names of the statistics, and ArviZ's.
_STATS: Final[Mapping[str, str]] = {
    "diverging": "diverging",
    "energy": "energy",
    "energy_error": "energy_error",
    "mean_tree_accept": "acceptance_rate",
    "step_size": "step_size",
    "depth": "tree_depth",
    "n_steps": "n_steps",
    "maxdepth_reached": "reached_max_treedepth",
}
_POINT: Final = "unconstrained_point"


def sample_nuts(
    flat: FlatModel,
    *,
    draws: int,
    tune: int,
    chains: int,
    cores: int,
    target_accept: float,
    max_tree_depth: int = 10,
    progress: Progress | None = None,
    seed: int,
) -> EngineDraws:
    """Sample a model with nutpie's NUTS and its diagonal mass matrix.

    Parameters
    ----------
    flat : FlatModel
    draws, tune, chains : int
    cores : int
        Chains that run at a time, as threads of this process.
    target_accept : float in (0, 1)
        Acceptance probability that the step size is tuned to.
    max_tree_depth : int
        A trajectory has at most 2 to this power steps.
    progress : callable, optional
        Takes (step, share done).
    seed : int
        The draws depend on it and on the settings, not on `cores`.

    Returns
    -------
    EngineDraws

    Raises
    ------
    ConvergenceError
        If no chain finds a point to start from, or a chain breaks down.

    Notes
    -----
    The chains start at the model's initial point, moved by up to 1 in every direction. Threads,
    not processes: nothing is started that would run the user's script again.
    """
    import nutpie

    settings: dict[str, Any] = {"target_accept": target_accept, "maxdepth": max_tree_depth}
    try:
        sampler = nutpie.sample(
            _nutpie_model(flat, threads=min(cores, chains)),
            draws=draws,
            tune=tune,
            chains=chains,
            cores=cores,
            seed=seed,
            save_warmup=False,
            progress_bar=False,
            progress_callback=_reporter(progress),
            blocking=False,
            **settings,
        )
        trace = _wait(sampler)
    except (RuntimeError, ValueError) as error:
        raise ConvergenceError(f"the sampler stopped: {error}") from error
    points = np.ascontiguousarray(trace["posterior"][_POINT].to_numpy())
    found = trace["sample_stats"]
    stats: dict[str, NDArray[Any]] = {
        name: _plain(found[theirs].to_numpy()) for theirs, name in _STATS.items()
    }
    stats["lp"] = np.stack([log_densities(flat, chain) for chain in points])
    if progress is not None:
        progress("sampling", 1.0)
    return EngineDraws(points=points, stats=stats)


def _wait(sampler: Any) -> Any:
    try:
        return sampler.wait()
    except KeyboardInterrupt:
        sampler.cancel()
        raise


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(np.int64) if values.dtype.kind == "u" else values


def _nutpie_model(flat: FlatModel, *, threads: int) -> Any:
    from nutpie.compiled_pyfunc import from_pyfunc

    # Both forms give the same numbers; the second costs compilation and lets threads run.
    evaluate = flat.evaluate if threads == 1 else flat.parallel()

    def make_start(seed: int) -> NDArray[np.float64]:
        return flat.start + np.random.default_rng(seed).uniform(-1.0, 1.0, flat.size)

    return from_pyfunc(
        flat.size,
        lambda: evaluate,
        lambda *_: lambda point: {_POINT: np.array(point)},
        [np.dtype("float64")],
        [(flat.size,)],
        [_POINT],
        coords={"unconstrained": np.arange(flat.size)},
        dims={_POINT: ("unconstrained",)},
        make_initial_point_fn=make_start,
    )


def _reporter(progress: Progress | None) -> Any:
    if progress is None:
        return None

    def report(chains: list[Any]) -> None:
        total = sum(chain.total_draws for chain in chains)
        if total:
            progress("sampling", sum(chain.finished_draws for chain in chains) / total)

    return report
