"""Do intervals, ranks and orders hold the truth, for data of a user's own design?"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Mapping
from importlib.metadata import version
from os import PathLike
from typing import Any, Final

import numpy as np

from neartie.audits.validation_design import ValidationDesign, validation_design
from neartie.audits.validation_points import check_point_engine
from neartie.audits.validation_result import DesignValidation, collect_validation
from neartie.audits.validation_sizes import Sizes
from neartie.audits.validation_store import RecordStore
from neartie.audits.validation_tasks import ValidationTask, prepare, spread_data_sets
from neartie.data.battles import Battles
from neartie.data.dask import Client
from neartie.data.files import to_json
from neartie.data.memory import require_memory
from neartie.data.responses import Responses
from neartie.inference.fit import posterior_memory, seed_of
from neartie.inference.refit import ENGINES, SAMPLERS

type Progress = Callable[[str, float], None]

LIBRARIES: Final = ("neartie", "pymc", "numpy", "scipy", "pandas", "numba")
FEWEST_DATA_SETS: Final = 2
# Sweeps are cheap, and follow each other more closely than draws of NUTS.
GIBBS_THIN: Final = 4


def validate_design(
    like: Responses | Battles | None = None,
    *,
    kind: str | None = None,
    n_items: int = 100,
    n_models: int = 30,
    n_families: int | None = None,
    missing: float = 0.0,
    n_battles: int = 3000,
    n_judges: int | None = None,
    options: Mapping[str, Any] | None = None,
    truth: Mapping[str, float] | None = None,
    engine: str = "gibbs",
    n_data_sets: int = 100,
    draws: int = 500,
    tune: int = 500,
    chains: int = 2,
    thin: int | None = None,
    cores: int | None = None,
    target_accept: float = 0.9,
    folder: str | PathLike[str] | None = None,
    memory_limit: int | None = None,
    client: Client | None = None,
    progress: Progress | None = None,
    rng: np.random.Generator | int | None = None,
) -> DesignValidation:
    r"""Return how an engine's intervals, ranks and orders fare where the truth is known.

    Parameters
    ----------
    like : Responses or Battles, optional
        Data whose design is copied: items, models, families and missing cells; or pairs, orders,
        judges and numbers of battles. Their answers and outcomes are not used.
    kind : {'two-pl', 'mirt-dif', 'residual-dif', 'bradley-terry'}, optional
        By default `two-pl`, and `bradley-terry` where battles are copied.
    n_items, n_models, n_families, missing : int, int, int, float in [0, 1)
        Sizes of responses where none are copied; models belong to families in turn. Four families,
        or none for a kind and options that have none.
    n_battles, n_judges : int
        Sizes of battles where none are copied, spread evenly over pairs. Four judges, or none
        without `judge_effects`.
    options : mapping, optional
        The factory's arguments, `priors` among them, as `fit` takes them. For `residual-dif` also
        `dimension` in the place of `offset`: that of the spectral offset of the data that are
        copied, or of an invented offset. The offset is taken as known.
    truth : mapping, optional
        Hyperparameters by name that truths are drawn with, in the place of those of the priors:
        what a wrong prior costs. For family effects also `dif_share` and `dif_effect`: effects of
        that range (logit) on that share of the items, and none elsewhere.
    engine : str
        `gibbs`, `nuts`, `laplace`, `pathfinder`, `advi`; or estimates with standard errors: `map`
        (2PL and MIRT-DIF), `newton`, `mm` (Bradley–Terry), for which there are no positions.
    n_data_sets : int
    draws, tune, chains : int
        Of each fit; see `fit`. Approximations have one chain.
    thin : int, optional
        Of the samplers: every how manieth draw is kept; 4 of `gibbs` and 1 of `nuts`.
    cores : int, optional
        Chains of `gibbs` at a time; it does not change the draws.
    target_accept : float in (0, 1)
        Of `nuts`.
    folder : path, optional
        Where a line is kept for each data set. The same call goes on from there; one for more data
        sets adds to them.
    memory_limit : int, byte, optional
        The memory that is free when left out.
    client : Dask client, optional
        Whose workers fit the data sets.
    progress : callable, optional
        Called with the name of a step and the share of it that is done.
    rng : Generator, int or None
        Each data set has a stream of its own, so that results do not depend on the number of
        workers or on interruptions. An int is the seed itself.

    Returns
    -------
    DesignValidation

    Raises
    ------
    ValueError, TypeError
        If a size, option, hyperparameter or setting is unknown or out of range.
    DataError
        If data do not allow the design, nothing can be drawn from a flat prior, the folder holds
        another validation, draws do not fit into memory, or no data set could be fitted.

    Notes
    -----
    For each data set a truth is drawn from the priors, data from the truth, and the model is fitted
    to them. If the model, its engine and its code are right, then over data sets the position of
    the truth among draws is uniform, and central intervals hold the truth as often as they say.
    What is estimated within one data set shares its error, so that standard errors are over data
    sets. Coverage so averaged is over the prior: for a given truth it may be higher or lower.

    A data set that the engine finds no answer for is counted and left out; what remains is then a
    selection.

    References
    ----------
    Talts et al. (2018), arXiv:1804.06788; Modrák et al. (2023), Bayesian Analysis,
    doi:10.1214/23-BA1404.

    Examples
    --------
    >>> found = validate_design(
    ...     kind="bradley-terry", n_models=5, n_battles=100, engine="newton", n_data_sets=40, rng=1
    ... )
    >>> print(found.claim)
    95% intervals of strengths held 96.0 ± 1.5% of truths in 40 simulated data sets of this design.
    """
    design = validation_design(
        like,
        kind=kind,
        sizes=_sizes(kind, options, n_items, n_models, n_families, missing, n_battles, n_judges),
        options=options,
        truth=truth,
    )
    if n_data_sets < FEWEST_DATA_SETS:
        raise ValueError(f"n_data_sets must be at least {FEWEST_DATA_SETS}, got {n_data_sets}")
    sampling = _sampling(engine, draws, tune, chains, thin, target_accept)
    if engine not in ENGINES:
        check_point_engine(design, engine)
    seed = seed_of(rng)
    settings: dict[str, Any] = {"engine": engine, **sampling}
    signature = {"design": design.to_dict(), "settings": settings, "seed": seed}
    signature["version"] = version("neartie")
    task = ValidationTask(
        design=design,
        engine=engine,
        sampling={**sampling, "cores": _cores(engine, chains, cores)} if engine in ENGINES else {},
        seed=seed,
        key=hashlib.sha256(to_json(signature).encode()).hexdigest(),
    )
    say = progress or _silent
    say("building the model", 0.0)
    _require_memory(design, engine, sampling, memory_limit)
    prepare(task)
    store = RecordStore(folder, signature)
    left = [number for number in range(n_data_sets) if number not in store.done]
    say("fitting data sets", 1 - len(left) / n_data_sets)
    for done, record in enumerate(spread_data_sets(task, left, client=client), start=1):
        store.add(record)
        say("fitting data sets", 1 - (len(left) - done) / n_data_sets)
    store.save()
    return collect_validation(
        [store.done[number] for number in range(n_data_sets)],
        design=design,
        settings=settings,
        seed=seed,
        versions={"python": platform.python_version()}
        | {name: version(name) for name in LIBRARIES},
    )


def _sizes(
    kind: str | None,
    options: Mapping[str, Any] | None,
    n_items: int,
    n_models: int,
    n_families: int | None,
    missing: float,
    n_battles: int,
    n_judges: int | None,
) -> Sizes:
    own = dict(options or {})
    familied = kind in ("mirt-dif", "residual-dif") or bool(own.get("family_means"))
    judged = bool(own.get("judge_effects"))
    if n_families and not familied:
        raise ValueError(
            "n_families is for family effects and family means; this model has neither"
        )
    if n_judges and not judged:
        raise ValueError("n_judges is for judge effects; this model has none")
    return Sizes(
        items=n_items,
        models=n_models,
        families=(min(4, n_models) if familied else 0) if n_families is None else n_families,
        missing=missing,
        battles=n_battles,
        judges=(4 if judged else 0) if n_judges is None else n_judges,
    )


def _sampling(
    engine: str, draws: int, tune: int, chains: int, thin: int | None, target_accept: float
) -> dict[str, Any]:
    """Return what bears on the draws of this engine."""
    given = thin is not None
    thin = thin if thin is not None else GIBBS_THIN if engine == "gibbs" else 1
    least = {"draws": (draws, 100), "tune": (tune, 0), "chains": (chains, 1), "thin": (thin, 1)}
    for name, (value, smallest) in least.items():
        if value < smallest:
            raise ValueError(f"{name} must be at least {smallest}, got {value}")
    if not 0 < target_accept < 1:
        raise ValueError(f"target_accept must lie in (0, 1), got {target_accept}")
    if engine in SAMPLERS:
        kept = {"draws": draws, "tune": tune, "chains": chains, "thin": thin}
        return kept | ({"target_accept": target_accept} if engine == "nuts" else {})
    if given:
        raise ValueError(f"thin is for the engines gibbs and nuts, not for {engine}")
    return {"draws": draws} if engine in ENGINES else {}


def _cores(engine: str, chains: int, cores: int | None) -> int:
    # chains of NUTS at a time compile the density once more for every data set
    return min(chains, cores or os.cpu_count() or 1) if engine == "gibbs" else 1


def _require_memory(
    design: ValidationDesign, engine: str, sampling: Mapping[str, Any], limit: int | None
) -> None:
    if engine not in ENGINES:
        return
    chains = int(sampling.get("chains", 1))
    needed = posterior_memory(
        design.build(),
        draws=int(sampling["draws"]),
        tune=int(sampling.get("tune", 0)),
        chains=chains,
        engine=engine,
    )
    # draws, and quantities made of them
    require_memory(2 * needed, purpose="the draws of one data set", limit=limit)


def _silent(_step: str, _share: float) -> None:
    """Say nothing."""
