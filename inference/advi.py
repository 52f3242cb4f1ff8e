"""Automatic differentiation variational inference with independent normal factors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from neartie.data.errors import ConvergenceError
from neartie.inference.engine_draws import (
    EngineDraws,
    Progress,
    ignore_progress,
    importance_shape,
    log_densities,
)
from neartie.inference.flat_model import FlatModel

type Floats = NDArray[np.float64]

_WINDOW: Final = 200
_FIRST_RATE: Final = 0.1
_LAST_RATE: Final = 1e-3


@dataclass(slots=True)
class _Adam:
    """Adam, for ascent."""

    first: Floats
    second: Floats
    step: int = field(default=0)

    def move(self, gradient: Floats, rate: float) -> Floats:
        self.step += 1
        self.first += 0.1 * (gradient - self.first)
        self.second += 0.001 * (gradient**2 - self.second)
        mean = self.first / (1.0 - 0.9**self.step)
        square = self.second / (1.0 - 0.999**self.step)
        return rate * mean / (np.sqrt(square) + 1e-8)


def approximate_advi(
    flat: FlatModel,
    *,
    draws: int,
    max_steps: int = 50_000,
    progress: Progress | None = None,
    rng: np.random.Generator | int | None = None,
) -> EngineDraws:
    r"""Draw from the best approximation by independent normals in the unconstrained space.

    Parameters
    ----------
    flat : FlatModel
    draws : int
    max_steps : int
        Gradient steps at most.
    progress : callable, optional
        Takes (step, share done).
    rng : Generator, int or None

    Returns
    -------
    EngineDraws
        One chain; `lp` and `log_q`, the log densities of target and approximation (nat). The
        facts hold the evidence lower bound and whether the stopping rule was met.

    Raises
    ------
    ConvergenceError
        If the log density is not finite where the search goes.

    Notes
    -----
    Mean :math:`\mu` and log scale :math:`\omega` climb the evidence lower bound by Adam, one
    draw a step, with an antithetic partner. Stopping rule: whenever the mean bound of 200 steps
    has not risen by two standard errors over the 200 before, the rate (0.1 at first) is halved;
    the search ends when it falls below 0.001. The answer is the mean over the last window.

    References
    ----------
    Kucukelbir, Tran, Ranganath, Gelman and Blei (2017), Journal of Machine Learning Research
    18(14).
    """
    generator = np.random.default_rng(rng)
    say = progress or ignore_progress
    state = np.concatenate([flat.start, np.full(flat.size, -1.0)])
    adam = _Adam(np.zeros_like(state), np.zeros_like(state))
    rate, converged, step = _FIRST_RATE, False, 0
    before = np.full(_WINDOW, -np.inf)
    kept = state
    while step < max_steps and not converged:
        bounds = np.empty(_WINDOW)
        total = np.zeros_like(state)
        for k in range(_WINDOW):
            bounds[k], gradient = _bound(flat, state, generator)
            state = state + adam.move(gradient, rate)
            total += state
        if not np.isfinite(bounds).all():
            raise ConvergenceError(
                "the variational search came to where the density is not finite; use the engine "
                "nuts",
                state=state,
            )
        step += _WINDOW
        kept = total / _WINDOW
        if _stalled(before, bounds):
            rate *= 0.5
            converged = rate < _LAST_RATE
        before = bounds
        say("advi", np.log(_FIRST_RATE / rate) / np.log(_FIRST_RATE / _LAST_RATE))
    mean, scale = kept[: flat.size], np.exp(kept[flat.size :])
    normal = generator.standard_normal((draws, flat.size))
    points = mean + scale * normal
    target = log_densities(flat, points)
    log_q = -0.5 * np.sum(normal**2, axis=1) - np.sum(np.log(scale))
    log_q -= 0.5 * flat.size * np.log(2 * np.pi)
    return EngineDraws(
        points=points[None],
        stats={"lp": target[None], "log_q": log_q[None]},
        facts={
            "optimiser_converged": bool(converged),
            "steps": step,
            "evidence_lower_bound": float(np.mean(target - log_q)),
        },
        pareto_k=importance_shape(target - log_q),
        n_ratio=len(target),
    )


def _bound(flat: FlatModel, state: Floats, generator: np.random.Generator) -> tuple[float, Floats]:
    """Return one estimate of the evidence lower bound and of its gradient."""
    mean, log_scale = state[: flat.size], state[flat.size :]
    shift = np.exp(log_scale) * generator.standard_normal(flat.size)
    up, slope_up = flat.evaluate(mean + shift)
    down, slope_down = flat.evaluate(mean - shift)
    entropy = float(log_scale.sum()) + 0.5 * flat.size * (1.0 + np.log(2 * np.pi))
    gradient = np.concatenate(
        [0.5 * (slope_up + slope_down), 0.5 * (slope_up - slope_down) * shift + 1.0]
    )
    return 0.5 * (up + down) + entropy, gradient


def _stalled(before: Floats, after: Floats) -> bool:
    if not np.isfinite(before).all():
        return False
    error = np.sqrt((before.var() + after.var()) / before.size)
    return bool(after.mean() - before.mean() < 2.0 * error)
