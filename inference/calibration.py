"""Simulation-based calibration: do posteriors hold what they say of truths drawn from the prior?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from neartie.inference.calibration_result import Calibration, PairRecords
from neartie.inference.engine_draws import Progress
from neartie.inference.refit import refitter

type Floats = NDArray[np.float64]
type Values = Mapping[str, Floats]
type Simulate = Callable[[np.random.Generator], tuple[Values, Values]]
type Quantities = Callable[[Values, Values], Values]

ENGINES: Final = ("nuts", "gibbs", "laplace")


def calibrate(
    model: Any,
    simulate: Simulate,
    *,
    quantities: Quantities | None = None,
    ranking: str | None = None,
    n_replicates: int = 200,
    engine: str = "nuts",
    draws: int = 100,
    thin: int = 5,
    tune: int = 300,
    target_accept: float = 0.8,
    seconds: float | None = None,
    progress: Progress | None = None,
    rng: np.random.Generator | int | None = None,
) -> Calibration:
    r"""Return where truths from the prior lie among draws from the posteriors of their data.

    Parameters
    ----------
    model : pm.Model
        Built with any data of the shape that `simulate` gives.
    simulate : callable
        Takes a Generator; returns a truth from the prior, by variable, and data from it, by
        observed variable. Best written apart from the model, so that both are tested.
    quantities : callable, optional
        Takes values by variable, each with the draws in front, and the data; returns what is to
        be tested in the same form. It is applied to the truth, as one draw, and to the draws. The
        variables of the truth when left out.
    ranking : str, optional
        The quantity (n_draw, n_model) that ranks models, higher first. Its ranks become the
        quantity `rank`, and the probability of every order of two models is recorded.
    n_replicates : int
        Data sets.
    engine : {'nuts', 'gibbs', 'laplace'}
        What draws. `laplace` shows by how much its approximation is off.
    draws : int
        Kept a data set, even in number.
    thin : int
        Of the samplers, one chain: every how manieth draw is kept. Dependent draws make a correct model
        look overconfident; the result says how dependent they were.
    tune : int
        Of the samplers.
    target_accept : float in (0, 1)
        Of `nuts`.
    seconds : float, optional
        No data set is begun after that time; at least two are fitted.
    progress : callable, optional
        Takes (step, share done).
    rng : Generator, int or None
        Each data set has a stream of its own.

    Returns
    -------
    Calibration

    Raises
    ------
    ValueError
        If a setting is out of range, or truth and data do not fit the model.
    ConvergenceError
        If a sampler cannot start: no data set is left out.

    Notes
    -----
    With :math:`\theta` from the prior and y from :math:`p(y \mid \theta)`, the truth and L
    independent draws from :math:`p(\theta \mid y)` are exchangeable, so that the position of the
    truth among the draws is uniform, for every function of parameters and data. Ties, which
    ranks of models have, are broken at random, so that positions stay exactly uniform.

    The model is compiled once; only its data change.

    References
    ----------
    Talts et al. (2018), arXiv:1804.06788; Modrák et al. (2023), Bayesian Analysis,
    doi:10.1214/23-BA1404 (quantities that depend on the data).
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    if n_replicates < 2 or draws < 4 or draws % 2 or thin < 1:
        raise ValueError(
            "n_replicates must be at least 2, draws even and at least 4, thin at least 1; got "
            f"{n_replicates}, {draws}, {thin}"
        )
    settings: dict[str, Any] = {"engine": engine, "draws": draws, "n_replicates": n_replicates}
    if engine != "laplace":
        settings |= {"thin": thin, "tune": tune}
    if engine == "nuts":
        settings["target_accept"] = target_accept
    refit = refitter(
        model, engine=engine, draws=draws, tune=tune, thin=thin, target_accept=target_accept
    )
    positions: dict[str, list[Floats]] = {}
    correlations: dict[str, list[float]] = {}
    pairs: list[tuple[Floats, Floats, Floats]] = []
    n_divergent, end = 0, time.monotonic() + (np.inf if seconds is None else seconds)
    for done, generator in enumerate(np.random.default_rng(rng).spawn(n_replicates)):
        if done > 1 and time.monotonic() > end:
            break
        truth, data = simulate(generator)
        refitted = refit(data, generator)
        found = {name: values[0] for name, values in refitted.values.items()}
        n_divergent += refitted.n_divergent
        true = {name: value[None] for name, value in truth.items()}
        if quantities is None:
            found = {name: found[name] for name in true}
        else:
            found, true = dict(quantities(found, data)), dict(quantities(true, data))
        if ranking is not None:
            pairs.append(_pair_record(found[ranking], true[ranking][0]))
            found = {**found, "rank": ranks_of(found[ranking])}
            true = {**true, "rank": ranks_of(true[ranking])}
        for name, values in found.items():
            flattened = np.reshape(values, (draws, -1))
            own = np.reshape(true[name], -1)
            positions.setdefault(name, []).append(truth_positions(flattened, own, rng=generator))
            correlations.setdefault(name, []).append(lag_one(flattened))
        if progress is not None:
            progress("calibrating", (done + 1) / n_replicates)
    return Calibration(
        positions={name: np.array(rows) for name, rows in positions.items()},
        autocorrelation={name: float(np.mean(rows)) for name, rows in correlations.items()},
        pairs=PairRecords(*(np.array(part) for part in zip(*pairs, strict=True)))
        if pairs
        else None,
        n_divergent=n_divergent,
        settings=settings,
    )


def truth_positions(draws: Floats, truth: Floats, *, rng: np.random.Generator) -> Floats:
    """Return where each truth lies among its draws, as a share with ties broken at random.

    Parameters
    ----------
    draws : (n_draw, n) float
    truth : (n,) float
    rng : Generator

    Returns
    -------
    (n,) float in (0, 1)
        Exactly uniform if truth and draws are exchangeable: the rank among n_draw + 1 values,
        spread evenly over its cell.

    Examples
    --------
    >>> draws = np.arange(9.0)[:, None]
    >>> position = truth_positions(draws, np.array([6.5]), rng=np.random.default_rng(0))
    >>> bool(0.7 < position[0] < 0.8)
    True
    """
    below, equal = (draws < truth).sum(axis=0), (draws == truth).sum(axis=0)
    return np.asarray((below + rng.random(truth.shape) * (equal + 1)) / (len(draws) + 1))


def ranks_of(score: Floats) -> Floats:
    """Return the rank of each model in each draw, best 1."""
    places = np.argsort(np.argsort(-score, axis=1), axis=1)
    return np.asarray(places + 1.0)


def _pair_record(draws: Floats, truth: Floats) -> tuple[Floats, Floats, Floats]:
    """Return, a pair, whether the first is above, and how often in either half of the draws."""
    first, second = np.triu_indices(len(truth), 1)
    above = draws[:, first] > draws[:, second]
    true = (truth[first] > truth[second]).astype(float)
    return true, above[::2].mean(axis=0), above[1::2].mean(axis=0)


def lag_one(draws: Floats) -> float:
    """Return the correlation of successive draws, the mean over quantities that vary."""
    centred = draws - draws.mean(axis=0)
    variance = (centred**2).mean(axis=0)
    varies = variance > 0
    if not varies.any():
        return 0.0
    covariance = (centred[1:] * centred[:-1]).mean(axis=0)
    return float((covariance[varies] / variance[varies]).mean())
