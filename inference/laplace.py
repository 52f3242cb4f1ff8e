"""The Laplace approximation: the normal density that shares the posterior's mode and curvature."""

from __future__ import annotations

import numpy as np

from neartie.inference.engine_draws import (
    EngineDraws,
    Progress,
    importance_shape,
    log_densities,
)
from neartie.inference.flat_model import FlatModel
from neartie.inference.mode import find_mode


def approximate_laplace(
    flat: FlatModel,
    *,
    draws: int,
    progress: Progress | None = None,
    rng: np.random.Generator | int | None = None,
) -> EngineDraws:
    r"""Draw from the normal approximation at the mode of the unconstrained parameters.

    Parameters
    ----------
    flat : FlatModel
    draws : int
    progress : callable, optional
        Takes (step, share done).
    rng : Generator, int or None

    Returns
    -------
    EngineDraws
        One chain; `lp` and `log_q`, the log densities of target and approximation (nat, the
        second up to a constant).

    Raises
    ------
    ConvergenceError
        If no mode is found.

    Notes
    -----
    :math:`x = \hat x + V \Lambda^{-1/2} z`, with the eigenvalues :math:`\Lambda` of the negative
    Hessian. Flat directions, along which a rotation of the factors moves, get no spread: whatever
    does not depend on the rotation is left untouched by this.
    """
    generator = np.random.default_rng(rng)
    mode = find_mode(flat, progress=progress, rng=generator)
    spread = np.zeros(flat.size)
    curved = mode.curvature > 0
    spread[curved] = 1.0 / np.sqrt(mode.curvature[curved])
    normal = generator.standard_normal((draws, flat.size))
    points = mode.point + (normal * spread) @ mode.directions.T
    target = log_densities(flat, points)
    log_q = -0.5 * np.sum(normal[:, curved] ** 2, axis=1)
    facts = {
        "log_density_at_mode": mode.log_density,
        "largest_slope": mode.largest_slope,
        "newton_steps": mode.n_newton,
        "flat_directions": mode.n_flat,
    }
    return EngineDraws(
        points=points[None],
        stats={"lp": target[None], "log_q": log_q[None]},
        facts={"optimiser_converged": True, **facts},
        pareto_k=importance_shape(target - log_q),
        n_ratio=len(target),
    )
