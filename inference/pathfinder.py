"""Pathfinder: normal approximations along quasi-Newton paths, resampled by importance."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from neartie.data.errors import ConvergenceError
from neartie.data.memory import require_memory
from neartie.inference.engine_draws import EngineDraws, Progress, ignore_progress, log_densities
from neartie.inference.flat_model import FlatModel, observed_arrays

# Arrays of (draw, answer) that the vectorised density of pymc-extras holds at a time, about.
_COPIES: Final = 8


def approximate_pathfinder(
    flat: FlatModel,
    model: Any,
    *,
    draws: int,
    paths: int = 4,
    jitter: float = 1.0,
    progress: Progress | None = None,
    rng: np.random.Generator | int | None = None,
) -> EngineDraws:
    """Draw from the Pathfinder approximation of pymc-extras.

    Parameters
    ----------
    flat : FlatModel
        Of the same model.
    model : pm.Model
    draws : int
        Also drawn along every path, before they are resampled by smoothed importance weights.
    paths : int
        Quasi-Newton paths from different starts.
    jitter : float
        The starts differ from the initial point by up to this, in the unconstrained space.
    progress : callable, optional
        Takes (step, share done).
    rng : Generator, int or None

    Returns
    -------
    EngineDraws
        One chain; `lp` (nat). The facts hold how every path ended.

    Raises
    ------
    ConvergenceError
        If all paths fail.
    DataError
        If the draws of the paths do not fit into memory.

    Notes
    -----
    Compiled in PyTensor's quick mode and run in this process: full compilation takes longer than
    all the work (36 against 11 seconds for 30 items and 100 models), and worker processes would
    run the user's script again.

    References
    ----------
    Zhang, Carpenter, Gelman and Vehtari (2022), Journal of Machine Learning Research 23(306).
    """
    make_path, config_class, result_class = _parts()
    say = progress or ignore_progress
    say("pathfinder", 0.0)
    cells = sum(values.size for values in observed_arrays(model).values())
    require_memory(
        8 * draws * (2 * paths * flat.size + _COPIES * (cells + flat.size)),
        purpose=f"pathfinder with {draws:,} draws of {flat.size:,} unknowns and {cells:,} answers",
    )
    run = make_path(
        model,
        num_draws=draws,
        num_elbo_draws=10,
        jitter=jitter,
        lbfgs_config=config_class().set_default_maxcor(flat.size),
        compile_kwargs={"mode": "FAST_COMPILE"},
    )
    seeds = [int(seed) for seed in np.random.default_rng(rng).integers(2**30, size=paths + 1)]
    ends = []
    for path, seed in enumerate(seeds[:-1]):
        ends.append(run(seed))
        say("pathfinder", (path + 1) / paths)
    found = result_class.from_path_results(ends).with_counts(num_paths=paths, num_draws=draws)
    if found.samples is None:
        raise ConvergenceError(
            "pathfinder found no approximation: all paths failed. Use the engine nuts",
            state=ends,
        )
    found = found.with_importance_sampling(num_draws=draws, method="psis", random_seed=seeds[-1])
    points = np.asarray(found.samples, dtype=np.float64)[:, _order(model)]
    ended = Counter(
        f"{end.path_status.name.lower()}, {end.lbfgs_status.name.lower()}" for end in ends
    )
    settled = all(end.lbfgs_status.name == "CONVERGED" for end in ends)
    return EngineDraws(
        points=points[None],
        stats={"lp": log_densities(flat, points)[None]},
        facts={"optimiser_converged": settled, "paths": dict(ended)},
        pareto_k=float("nan") if found.pareto_k is None else float(found.pareto_k),
    )


def _parts() -> tuple[Any, Any, Any]:
    with warnings.catch_warnings():
        # pymc-extras imports names that its optimiser gives up.
        warnings.simplefilter("ignore", DeprecationWarning)
        from pymc_extras.inference.pathfinder.lbfgs import LBFGSConfig
        from pymc_extras.inference.pathfinder.results import MultiPathfinderResult
        from pymc_extras.inference.pathfinder.single_path import make_single_pathfinder_fn
    return make_single_pathfinder_fn, LBFGSConfig, MultiPathfinderResult


def _order(model: Any) -> NDArray[np.intp]:
    """Return where each element of a flat model's vector stands in PyMC's own."""
    initial = model.initial_point(random_seed=0)
    ends = np.cumsum([np.size(value) for value in initial.values()])
    places = {
        name: np.arange(end - np.size(initial[name]), end)
        for name, end in zip(initial, ends.tolist(), strict=True)
    }
    return np.concatenate([places[model.rvs_to_values[rv].name] for rv in model.free_RVs])
