"""Pathfinder: normal approximations along quasi-Newton paths, resampled by importance."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from neartie.data.errors import ConvergenceError
from neartie.data.memory import require_memory
from neartie.inference.engine_draws import EngineDraws, Progress, ignore_progress, log_densities
from neartie.inference.flat_model import FlatModel
from neartie.inference.quasi_newton import CurvatureAlongPath, LowRankNormal

type Floats = NDArray[np.float64]

_BOUND_DRAWS: Final = 10
# Steps whose curvature is remembered.
_HISTORY: Final = 10
# A path whose approximations have been worse than an earlier one for this many steps is left.
_PATIENCE: Final = 100


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Path:
    """The best approximation along a path: None if none could be made. How the path ended."""

    best: LowRankNormal | None
    end: str


class _NotFinite(Exception):
    """The search came to where the density is not finite."""


def approximate_pathfinder(
    flat: FlatModel,
    *,
    draws: int,
    paths: int = 4,
    jitter: float = 1.0,
    max_steps: int = 1000,
    progress: Progress | None = None,
    rng: np.random.Generator | int | None = None,
) -> EngineDraws:
    """Draw from normal densities along quasi-Newton paths, of each path the closest one.

    Parameters
    ----------
    flat : FlatModel
    draws : int
        Also drawn from every path's density, before they are resampled by smoothed importance
        weights.
    paths : int
        Quasi-Newton paths from different starts.
    jitter : float
        The starts differ from the initial point by up to this, in the unconstrained space.
    max_steps : int
        Of every path.
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
        If no path gives an approximation.
    DataError
        If the draws of the paths do not fit into memory.

    Notes
    -----
    A path climbs the log density by L-BFGS. At each of its points stands the normal density with
    the gradient and curvature that the last steps show; the one with the highest evidence lower
    bound over ten draws is kept, which need not be the last: where a scale runs to zero it comes
    before. A path is left when 100 steps have not raised the bound: its end would not be used. The
    draws of all paths are pooled and resampled without replacement.

    References
    ----------
    Zhang, Carpenter, Gelman and Vehtari (2022), Journal of Machine Learning Research 23(306),
    algorithms 1 and 2.
    """
    say = progress or ignore_progress
    say("pathfinder", 0.0)
    require_memory(
        4 * 8 * draws * paths * flat.size,
        purpose=f"pathfinder with {draws:,} draws of {flat.size:,} unknowns along {paths} paths",
    )
    generator = np.random.default_rng(rng)
    found: list[_Path] = []
    for path in range(paths):
        start = flat.start + generator.uniform(-jitter, jitter, flat.size)
        # Thin matrices: threads of BLAS cost more than they share, by far where cores are busy.
        with threadpool_limits(1, user_api="blas"):
            found.append(_follow(flat, start, max_steps=max_steps, rng=generator))
        say("pathfinder", (path + 1) / (paths + 1))
    ends = Counter(path.end for path in found)
    normals = [path.best for path in found if path.best is not None]
    if not normals:
        raise ConvergenceError(
            "pathfinder found no approximation: all paths failed. Use the engine nuts", state=ends
        )
    drawn = [normal.draw(draws, rng=generator) for normal in normals]
    points = np.concatenate([point for point, _ in drawn])
    target = log_densities(flat, points)
    weights, shape = _importance(target - np.concatenate([log_q for _, log_q in drawn]))
    distinct = np.count_nonzero(weights) >= draws
    kept = generator.choice(len(points), size=draws, replace=not distinct, p=weights)
    return EngineDraws(
        points=points[kept][None],
        stats={"lp": target[kept][None]},
        facts={"optimiser_converged": set(ends) == {"converged"}, "paths": dict(ends)},
        pareto_k=shape,
        n_ratio=len(target),
    )


def _follow(flat: FlatModel, start: Floats, *, max_steps: int, rng: np.random.Generator) -> _Path:
    """Climb from a start, and keep the normal density with the highest lower bound."""
    from scipy.optimize import minimize

    best: LowRankNormal | None = None
    best_bound = -np.inf
    since_best = 0
    slopes: dict[bytes, Floats] = {}

    def negative(point: Floats) -> tuple[float, Floats]:
        value, gradient = flat.evaluate(point)
        if not np.isfinite(value) or not np.all(np.isfinite(gradient)):
            raise _NotFinite
        slopes[point.tobytes()] = gradient
        return -value, -gradient

    def take(point: Floats) -> None:
        nonlocal best, best_bound, since_best
        curvature.advance(point, slopes[point.tobytes()])
        slopes.clear()
        since_best += 1
        if since_best > _PATIENCE:
            raise StopIteration
        try:
            normal = curvature.normal()
        except np.linalg.LinAlgError:
            return
        bound = _lower_bound(flat, normal, rng=rng)
        if bound > best_bound:
            best, best_bound, since_best = normal, bound, 0

    try:
        negative(start)
        curvature = CurvatureAlongPath(start, slopes[start.tobytes()], history=_HISTORY)
        ended = minimize(
            negative,
            start,
            jac=True,
            method="L-BFGS-B",
            callback=cast(Any, take),
            options={"maxiter": max_steps, "maxcor": _HISTORY, "ftol": 1e-9, "gtol": 1e-6},
        )
    except _NotFinite:
        return _Path(best=best, end="not finite")
    if since_best > _PATIENCE:
        return _Path(best=best, end="left behind its best point")
    if ended.status == 0:
        return _Path(best=best, end="converged")
    return _Path(best=best, end="ran out of steps" if ended.status == 1 else "no step uphill")


def _lower_bound(flat: FlatModel, normal: LowRankNormal, *, rng: np.random.Generator) -> float:
    with np.errstate(all="ignore"):
        points, log_q = normal.draw(_BOUND_DRAWS, rng=rng)
        bound = float(np.mean(log_densities(flat, points) - log_q))
    return bound if np.isfinite(bound) else -np.inf


def _importance(log_ratio: Floats) -> tuple[Floats, float]:
    """Return Pareto-smoothed weights that add to 1, and the shape of their tail."""
    from arviz_stats.base import array_stats

    usable = np.isfinite(log_ratio)
    if not usable.any():
        raise ConvergenceError(
            "pathfinder found no approximation: the density is nowhere finite among its draws. "
            "Use the engine nuts",
            state=log_ratio,
        )
    log_weight = log_ratio[usable] - log_ratio[usable].max()
    shape = float("nan")
    # As for any approximation: too few draws, or equal ratios, have no tail to smooth.
    if usable.sum() >= 50 and np.ptp(log_weight) >= 1e-6:
        log_weight, found = array_stats.psislw(-log_weight)
        shape = float(found)
    weights = np.zeros(len(log_ratio))
    weights[usable] = np.exp(log_weight - log_weight.max())
    return weights / weights.sum(), shape
