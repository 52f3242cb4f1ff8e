"""The mode of a posterior in the unconstrained space, with the curvature there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from neartie.data.errors import ConvergenceError, DataError
from neartie.data.memory import require_memory
from neartie.inference.engine_draws import Progress, ignore_progress
from neartie.inference.flat_model import FlatModel

type Floats = NDArray[np.float64]

# Beyond this the whole Hessian and its decomposition take hours.
MAX_SIZE: Final = 10_000
_NEWTON_STEPS: Final = 30
# Of the largest curvature: below it a direction counts as flat, as those of a rotation are.
_FLAT: Final = 1e-7
# Slope (nat per unit) that a flat direction may have.
_LEVEL: Final = 1e-4


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PosteriorMode:
    """Where the density of the unconstrained parameters is largest.

    Attributes
    ----------
    point : (size,) float
    log_density : float, nat
    curvature : (size,) float
        Eigenvalues of the negative Hessian, in ascending order; 0 for flat directions.
    directions : (size, size) float
        Its eigenvectors, in columns.
    n_flat : int
        Directions along which the density does not change, such as rotations of factors.
    largest_slope : float
        Largest absolute element of the gradient.
    n_newton : int
        Newton steps after the quasi-Newton search.
    """

    point: Floats
    log_density: float
    curvature: Floats
    directions: Floats
    n_flat: int
    largest_slope: float
    n_newton: int


def find_mode(
    flat: FlatModel,
    *,
    tolerance: float = 1e-8,
    max_iterations: int = 10_000,
    progress: Progress | None = None,
    rng: np.random.Generator | int | None = None,
) -> PosteriorMode:
    """Find the posterior mode and its curvature.

    Parameters
    ----------
    flat : FlatModel
    tolerance : float
        Largest element of the gradient, in units of the posterior: the Newton step times the
        root of the curvature.
    max_iterations : int
        Of the quasi-Newton search.
    progress : callable, optional
        Takes (step, share done).
    rng : Generator, int or None
        Moves the start a little, off the saddles that a model of several factors has.

    Returns
    -------
    PosteriorMode

    Raises
    ------
    ConvergenceError
        If there is no maximum to be found: a scale that runs to zero, a saddle.
    DataError
        If there are more unknowns than a dense Hessian allows.

    Notes
    -----
    L-BFGS first, then Newton steps in the eigenvectors of the Hessian, which is the central
    difference of the exact gradient: exact for a Gaussian posterior.
    """
    from scipy.optimize import minimize

    if flat.size > MAX_SIZE:
        raise DataError(
            f"the Laplace approximation needs the Hessian of all {flat.size:,} unknowns; it takes "
            f"at most {MAX_SIZE:,}: use the engine pathfinder or advi"
        )
    require_memory(5 * 8 * flat.size**2, purpose=f"the Hessian of {flat.size:,} unknowns")
    say = progress or ignore_progress
    generator = np.random.default_rng(rng)
    say("mode", 0.0)

    def negative(point: Floats) -> tuple[float, Floats]:
        value, gradient = flat.evaluate(point)
        return -value, -gradient

    found = minimize(
        negative,
        flat.start + 0.1 * generator.standard_normal(flat.size),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iterations, "maxfun": 10 * max_iterations, "gtol": 1e-8},
    )
    if not np.all(np.isfinite(found.x)) or not np.isfinite(found.fun):
        raise _no_mode("the density is not finite where the search ended", found)
    return _polish(flat, np.asarray(found.x, dtype=np.float64), tolerance=tolerance, say=say)


def hessian(flat: FlatModel, point: Floats) -> Floats:
    """Return the Hessian of the log density by central differences of the gradient.

    Parameters
    ----------
    flat : FlatModel
    point : (size,) float

    Returns
    -------
    (size, size) float
        Symmetric. Its relative error is about 1e-9 where the density is smooth.
    """
    rows = np.empty((flat.size, flat.size))
    step = 1e-4 * np.maximum(1.0, np.abs(point))
    for k in range(flat.size):
        ahead, behind = point.copy(), point.copy()
        ahead[k] += step[k]
        behind[k] -= step[k]
        rows[k] = (flat.evaluate(ahead)[1] - flat.evaluate(behind)[1]) / (ahead[k] - behind[k])
    return 0.5 * (rows + rows.T)


def _polish(flat: FlatModel, point: Floats, *, tolerance: float, say: Progress) -> PosteriorMode:
    value, gradient = flat.evaluate(point)
    for step in range(_NEWTON_STEPS):
        curvature, directions = np.linalg.eigh(-hessian(flat, point))
        if not np.isfinite(curvature).all() or curvature[-1] <= 0:
            raise _no_mode("the log density does not curve downwards", point)
        floor = _FLAT * curvature[-1]
        is_flat = np.abs(curvature) < floor
        slope = directions.T @ gradient
        kept = np.where(is_flat, 0.0, curvature)
        scaled = np.where(is_flat, 0.0, slope / np.sqrt(np.maximum(np.abs(curvature), floor)))
        say("mode", 1.0 - 1.0 / (step + 2))
        if np.abs(scaled).max() < tolerance:
            if np.abs(slope[is_flat]).max(initial=0.0) > _LEVEL:
                raise _no_mode("the density keeps rising where it does not curve", point)
            if curvature[0] < -floor:
                raise _no_mode("the point is a saddle", point)
            return PosteriorMode(
                point=point,
                log_density=value,
                curvature=kept,
                directions=directions,
                n_flat=int(is_flat.sum()),
                largest_slope=float(np.abs(gradient).max()),
                n_newton=step,
            )
        # Along a negative curvature the step goes uphill too.
        move = directions @ (scaled / np.sqrt(np.maximum(np.abs(curvature), floor)))
        point, value, gradient = _climb(flat, point, value, move)
    raise _no_mode(f"{_NEWTON_STEPS} Newton steps did not end the climb", point)


def _climb(
    flat: FlatModel, point: Floats, value: float, move: Floats
) -> tuple[Floats, float, Floats]:
    """Go along a step, halved until the density does not fall by more than rounding."""
    slack = 1e-12 * abs(value)
    for halving in range(30):
        ahead = point + 0.5**halving * move
        reached, gradient = flat.evaluate(ahead)
        if np.isfinite(reached) and reached >= value - slack:
            return ahead, reached, gradient
    raise _no_mode("no step uphill is left although the slope is not zero", point)


def _no_mode(reason: str, state: object) -> ConvergenceError:
    return ConvergenceError(
        f"no mode was found: {reason}. Models whose scales are estimated (mirt-dif, hierarchical "
        "ones) often have none: use the engine advi or nuts, or a model with fixed scales",
        state=state,
    )
