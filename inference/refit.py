"""One model fitted to many data sets of its shape: built, and compiled, once."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from neartie.inference.advi import approximate_advi
from neartie.inference.engine_draws import EngineDraws
from neartie.inference.flat_model import FlatModel, flatten_model
from neartie.inference.free_values import FreeValues, free_values
from neartie.inference.gibbs import block_sampler, with_observed
from neartie.inference.gibbs_chains import Length, sample_gibbs
from neartie.inference.laplace import approximate_laplace
from neartie.inference.nuts import sample_nuts
from neartie.inference.pathfinder import approximate_pathfinder

type Floats = NDArray[np.float64]
type Data = Mapping[str, Floats]
type Refit = Callable[[Data, np.random.Generator], Refitted]

SAMPLERS: Final = ("gibbs", "nuts")
ENGINES: Final = (*SAMPLERS, "laplace", "pathfinder", "advi")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Refitted:
    """Draws given one data set.

    Attributes
    ----------
    values : mapping of variable to (n_chain, n_draw, ...) float
    n_divergent : int
    seconds : float
        Of the fit alone.
    """

    values: dict[str, Floats]
    n_divergent: int
    seconds: float


def refitter(
    model: Any,
    *,
    engine: str,
    draws: int,
    tune: int = 300,
    thin: int = 1,
    chains: int = 1,
    cores: int = 1,
    target_accept: float = 0.8,
) -> Refit:
    """Return what fits a model to data of the shape of its own.

    Parameters
    ----------
    model : pm.Model
        That a factory of neartie built, where the engine is `gibbs`.
    engine : {'gibbs', 'nuts', 'laplace', 'pathfinder', 'advi'}
    draws : int
        Kept of a chain; of an approximation, which has one chain, all draws.
    tune, thin, chains, cores : int
        Of the samplers: draws before; every how manieth is kept; chains, and how many run at a
        time. The number of cores changes nothing.
    target_accept : float in (0, 1)
        Of `nuts`.

    Returns
    -------
    callable
        Takes data by observed variable and a Generator; returns a `Refitted`.

    Raises
    ------
    ValueError
        If the engine is unknown, or is `gibbs` and does not sample an option of the model.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    if engine == "gibbs":
        block_sampler(model)  # refuses what it does not sample before any work
        return _timed(free_values(model), _gibbs(model, draws, tune, thin, chains, cores))
    flat = flatten_model(model, replaceable=True)
    if engine == "nuts":
        return _timed(flat, _nuts(flat, draws, tune, thin, chains, cores, target_accept))
    approximate: Callable[..., EngineDraws] = {
        "laplace": approximate_laplace,
        "pathfinder": approximate_pathfinder,
        "advi": approximate_advi,
    }[engine]
    return _timed(
        flat, lambda data, rng: approximate(flat.with_observed(data), draws=draws, rng=rng)
    )


type _Draw = Callable[[Data, np.random.Generator], EngineDraws]


def _timed(layout: FlatModel | FreeValues, draw: _Draw) -> Refit:
    def refit(data: Data, rng: np.random.Generator) -> Refitted:
        started = time.perf_counter()
        drawn = draw(data, rng)
        seconds = time.perf_counter() - started
        expanded = layout.expand(drawn.points)
        return Refitted(
            values={str(name): np.asarray(each) for name, each in expanded.data_vars.items()},
            n_divergent=int(np.sum(drawn.stats.get("diverging", 0))),
            seconds=seconds,
        )

    return refit


def _gibbs(model: Any, draws: int, tune: int, thin: int, chains: int, cores: int) -> _Draw:
    layout = free_values(model)
    length = Length(draws=draws, tune=tune, thin=thin)

    def draw(data: Data, rng: np.random.Generator) -> EngineDraws:
        return sample_gibbs(
            block_sampler(with_observed(model, data)),
            layout,
            length=length,
            chains=chains,
            cores=cores,
            seed=int(rng.integers(2**63)),
        )

    return draw


def _nuts(
    flat: FlatModel,
    draws: int,
    tune: int,
    thin: int,
    chains: int,
    cores: int,
    target_accept: float,
) -> _Draw:
    def draw(data: Data, rng: np.random.Generator) -> EngineDraws:
        drawn = sample_nuts(
            flat.with_observed(data),
            draws=draws * thin,
            tune=tune,
            chains=chains,
            cores=cores,
            target_accept=target_accept,
            seed=int(rng.integers(2**63)),
        )
        return EngineDraws(points=drawn.points[:, ::thin], stats=drawn.stats, facts=drawn.facts)

    return draw
