"""One call for every engine: a PyMC model in, a posterior with its diagnostics out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, replace
from importlib import import_module
from os import PathLike
from typing import Any, Final

import numpy as np
import xarray as xr

from neartie.data.battles import Battles
from neartie.data.dask import Client
from neartie.data.errors import CaveatWarning
from neartie.data.memory import require_memory
from neartie.data.responses import Responses
from neartie.inference.diagnostics import (
    Convergence,
    diagnostics,
    judge_approximation,
    judge_sampler,
)
from neartie.inference.engine_draws import EngineDraws, Progress
from neartie.inference.engines import SAMPLERS, Settings, run_engine
from neartie.inference.expected_scores import expected_scores
from neartie.inference.flat_model import model_sizes, variable_sizes
from neartie.inference.log_likelihood import add_log_likelihood
from neartie.inference.posterior_tree import (
    compact_json,
    posterior_tree,
    record_attributes,
)
from neartie.models.record import record_of

_FACTORIES: Final = {
    "two-pl": ("neartie.models.two_pl", "build_two_pl"),
    "mirt-dif": ("neartie.models.mirt_dif", "build_mirt_dif"),
    "residual-dif": ("neartie.models.residual_dif_model", "build_residual_dif"),
    "bradley-terry": ("neartie.models.bradley_terry_model", "build_bradley_terry"),
}


def fit(
    model_or_data: Any,
    *,
    kind: str | None = None,
    options: Mapping[str, Any] | None = None,
    engine: str = "nuts",
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    cores: int | None = None,
    target_accept: float = 0.9,
    log_likelihood: bool = False,
    log_likelihood_thin: int = 1,
    thin: int = 1,
    min_ess: float | None = None,
    checkpoint: str | PathLike[str] | None = None,
    start: str = "dispersed",
    keep: Collection[str] | None = None,
    backend: str = "numba",
    memory_limit: int | None = None,
    client: Client | None = None,
    progress: Progress | None = None,
    rng: np.random.Generator | int | None = None,
) -> xr.DataTree:
    """Return the posterior of a model, or an approximation of it, with its diagnostics.

    Parameters
    ----------
    model_or_data : pm.Model, Responses or Battles
        A model that a factory built, or data for the factory that `kind` names.
    kind : str, optional
        With data: `two-pl` (the default for responses), `mirt-dif`, `residual-dif` or
        `bradley-terry` (the default for battles).
    options : mapping, optional
        With data: the factory's arguments.
    engine : str
        `nuts`, the reference; `gibbs`, a sampler of the same posterior that reaches large sizes;
        `laplace`, `pathfinder` or `advi`, approximations to be judged.
    draws : int
        Kept draws of every chain; of the approximations, which have one chain, all draws.
    tune, chains : int
        Of the samplers: draws that tune each chain and are dropped; chains.
    cores : int, optional
        Of the samplers: chains that run at a time, as many as there are cores when left out. It
        does not change the draws.
    target_accept : float in (0, 1)
        Of `nuts`: higher takes smaller steps, which cures divergences.
    log_likelihood : bool
        Whether to add the log-likelihood of every observed answer, for model comparison.
    log_likelihood_thin : int
        Every how manieth draw of it to keep.
    thin : int
        Of `gibbs`: sweeps a kept draw.
    min_ess : float, optional
        Of `gibbs`: sample until the smallest effective sample size over all chains, of what
        convergence is judged by, reaches it and R-hat is below its limit. `draws` is then the
        most that is kept of a chain: a longer run keeps every second, fourth, … draw.
    checkpoint : path, optional
        Of `gibbs`: a file from which a run that was cut off goes on to the same draws; taken away
        at the end.
    start : {'dispersed', 'map'}
        Of `gibbs`: chains start all over the place, or about the joint mode, each with noise of
        its own; large data need fewer tuning sweeps from there.
    keep : collection of str, optional
        Of `gibbs`: the variables whose draws are kept, all when left out. Of the others the groups
        `posterior_mean` and `posterior_sd` have moments, except of what turns with factors.
        What models are ranked by is kept in any case.
    backend : {'numba', 'jax'}
        Of all but `gibbs`: what computes the density. JAX uses an accelerator where it finds one;
        `pip install "neartie[jax]"`.
    memory_limit : int, byte, optional
        The memory that is free when left out.
    client : Dask client, optional
        Of `gibbs`: whose workers run the chains. It does not change the draws.
    progress : callable, optional
        Takes (step, share done), from other threads too. Silent when left out.
    rng : Generator, int or None
        One whole number is drawn as the seed (an int is the seed itself).

    Returns
    -------
    DataTree
        Groups `posterior`, `sample_stats`, `observed_data`, `constant_data` and, on request,
        `log_likelihood`; with `keep` also `posterior_mean` and `posterior_sd`; for models of several
        dimensions the posterior also holds `expected_score`. Attributes of the root: `kind`,
        `engine`, `settings`, `seed`, `versions`, `options`, `priors`, `diagnosed`, `ranking`,
        `notices` (JSON where they hold several values), `converged` (`yes`, `no`, `not assessed`),
        `verdict` (a sentence), `max_rhat`, `min_ess_bulk`, `min_ess_tail`, `min_ebfmi`,
        `n_divergent`, `pareto_k` and `facts` of the engine.

    Raises
    ------
    ValueError
        If a setting is out of its range.
    DataError
        If data or model do not allow it, or the draws do not fit into memory.
    ConvergenceError
        If a sampler cannot start, or an optimiser finds no mode.

    Warns
    -----
    CaveatWarning
        Once, if the posterior is not converged or not assessed, or a mode was sought of scales
        that are estimated. The verdict says why.

    Notes
    -----
    All engines but `gibbs` work on the same compiled log density of the unconstrained parameters;
    `gibbs` draws from the conditional densities of the same model, block by block. Nothing runs
    in another process, so that scripts need no main guard. The verdict on an approximation is
    never `yes`.
    """
    settings = Settings(
        engine=engine,
        draws=draws,
        tune=tune,
        chains=chains,
        cores=cores,
        target_accept=target_accept,
        thin=thin,
        min_ess=min_ess,
        checkpoint=checkpoint,
        start=start,
        keep=keep,
        backend=backend,
    )
    if keep is not None and log_likelihood:
        raise ValueError("log_likelihood needs the draws of all variables; leave keep out")
    model = _model(model_or_data, kind=kind, options=options)
    seed = seed_of(rng)
    require_memory(
        posterior_memory(
            model, draws=draws, tune=tune, chains=settings.used_chains, engine=engine, keep=keep
        ),
        purpose=f"a posterior of {settings.used_chains} x {draws:,} draws of "
        f"{_numbers(model, keep):,} numbers",
        limit=memory_limit,
    )
    if progress is not None:
        progress("compiling", 0.0)
    record = record_attributes(
        model,
        engine=engine,
        settings={**settings.to_dict(), "log_likelihood_thin": log_likelihood_thin},
    )
    layout, drawn = run_engine(
        model, settings, record=record, client=client, progress=progress, seed=seed
    )
    tree = posterior_tree(layout, model, drawn)
    tree.attrs = {
        **record,
        "seed": str(seed),
        "facts": compact_json(drawn.facts),
        "pareto_k": drawn.pareto_k,
    }
    if tree.attrs.get("ranking") == "expected_score" and "expected_score" not in tree["posterior"]:
        scored = tree["posterior"].to_dataset().assign(expected_score=expected_scores(tree))
        tree["posterior"] = xr.DataTree(scored)
    said = _judge(tree, drawn)
    collapsing = _scales_at_mode(tree, model)
    if collapsing:
        said = replace(said, verdict=f"{said.verdict} {collapsing}")
    if keep is not None:
        said = replace(said, verdict=f"{said.verdict}{_unjudged(tree, model)}")
    tree.attrs = {**tree.attrs, **asdict(said)}
    if log_likelihood:
        tree = add_log_likelihood(tree, model, thin=log_likelihood_thin, memory_limit=memory_limit)
    doubtful = engine in SAMPLERS and said.converged == "not assessed"
    if said.converged == "no" or doubtful or collapsing:
        warnings.warn(said.verdict, CaveatWarning, stacklevel=2)
    return tree


def posterior_memory(
    model: Any,
    *,
    draws: int,
    tune: int,
    chains: int,
    engine: str = "nuts",
    keep: Collection[str] | None = None,
) -> int:
    """Return an estimate of the memory that the draws of a model take.

    Parameters
    ----------
    model : pm.Model
    draws, tune, chains : int
    engine : str
    keep : collection of str, optional
        As in `fit`.

    Returns
    -------
    int, byte
        The unconstrained points, twice while they are handed over and with those of the tuning,
        and the variables made of them. Of `gibbs`, whose points are variables, each once.
    """
    n_unknown, n_kept = model_sizes(model)
    if engine == "gibbs":
        return 8 * chains * (draws * _numbers(model, keep) + (0 if keep is None else 2 * n_kept))
    points = (tune + draws if engine == "nuts" else draws) * 2 * n_unknown
    return 8 * chains * (points + draws * n_kept)


def _numbers(model: Any, keep: Collection[str] | None) -> int:
    """Return how many numbers of a draw are kept."""
    if keep is None:
        return model_sizes(model)[1]
    sizes = variable_sizes(model)
    ranking = record_of(model).ranking
    scores = len(model.coords.get("model", ()))
    return sum(sizes.get(name, scores) for name in {*keep, ranking})


def seed_of(rng: np.random.Generator | int | None) -> int:
    """Return the whole number that stands for a source of randomness.

    Parameters
    ----------
    rng : Generator, int or None
        An int is the seed itself; of a generator one number is drawn.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If the int is negative.

    Examples
    --------
    >>> seed_of(5)
    5
    """
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool):
        if rng < 0:
            raise ValueError(f"a seed is a whole number of at least 0, got {rng}")
        return int(rng)
    return int(np.random.default_rng(rng).integers(2**53))


def _judge(tree: xr.DataTree, drawn: EngineDraws) -> Convergence:
    engine = tree.attrs["engine"]
    if engine not in SAMPLERS:
        return judge_approximation(
            engine,
            optimiser_converged=bool(drawn.facts.get("optimiser_converged", False)),
            pareto_k=drawn.pareto_k,
            n_ratio=drawn.n_ratio,
        )
    with warnings.catch_warnings():
        # Said once, with the verdict.
        warnings.simplefilter("ignore", CaveatWarning)
        table = diagnostics(tree)
    return judge_sampler(table, drawn.stats)


def _scales_at_mode(tree: xr.DataTree, model: Any) -> str:
    """Return what to say of scales that are estimated, of engines that look for a mode."""
    if tree.attrs["engine"] not in ("laplace", "pathfinder"):
        return ""
    names = [rv.name for rv in model.free_RVs if rv.name.endswith("_scale") and rv.ndim == 0]
    if not names:
        return ""
    found = ", ".join(f"{name} {float(tree['posterior'][name].median()):.2g}" for name in names)
    return (
        f"Scales are estimated here (median {found}): the mode of such a model often lies where "
        "they and all effects vanish, which says nothing of the data; use nuts, gibbs or advi."
    )


def _unjudged(tree: xr.DataTree, model: Any) -> str:
    """Return what to say of variables that convergence is judged by and that were not kept."""
    names = [name for name in model.neartie.diagnosed if name not in tree["posterior"]]
    if not names:
        return ""
    return f" Not judged, since draws were not kept: {', '.join(names)}."


def _model(model_or_data: Any, *, kind: str | None, options: Mapping[str, Any] | None) -> Any:
    if not isinstance(model_or_data, Responses | Battles):
        if kind is not None or options is not None:
            raise ValueError("kind and options go with data; a model has been built already")
        if not hasattr(model_or_data, "free_RVs"):
            raise TypeError(
                "fit takes a model of PyMC, responses or battles, got "
                f"{type(model_or_data).__name__}"
            )
        return model_or_data
    default = "two-pl" if isinstance(model_or_data, Responses) else "bradley-terry"
    chosen = kind or default
    if chosen not in _FACTORIES:
        raise ValueError(f"kind must be one of {', '.join(_FACTORIES)}, got {chosen!r}")
    if (chosen == "bradley-terry") != isinstance(model_or_data, Battles):
        needed = "battles" if chosen == "bradley-terry" else "responses"
        raise TypeError(f"{chosen} takes {needed}, got {type(model_or_data).__name__}")
    module, name = _FACTORIES[chosen]
    build: Callable[..., Any] = getattr(import_module(module), name)
    return build(model_or_data, **dict(options or {}))
