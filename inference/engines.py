"""The engines of a fit: which there are, what they may be asked for, and how one is run."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, Final

import numpy as np

from neartie.data.dask import Client
from neartie.data.errors import DataError
from neartie.inference.advi import approximate_advi
from neartie.inference.engine_draws import EngineDraws, Progress
from neartie.inference.flat_model import FlatModel, flatten_model, observed_arrays
from neartie.inference.free_values import FreeValues, free_values
from neartie.inference.gibbs import block_sampler
from neartie.inference.gibbs_chains import Checkpoint, Length, sample_gibbs
from neartie.inference.gibbs_map_start import map_start
from neartie.inference.gibbs_record import Recorder, recorder_of
from neartie.inference.laplace import approximate_laplace
from neartie.inference.nuts import sample_nuts
from neartie.inference.pathfinder import approximate_pathfinder

SAMPLERS: Final = ("nuts", "gibbs")
STARTS: Final = ("dispersed", "map")
BACKENDS: Final = ("numba", "jax")
ENGINES: Final = (*SAMPLERS, "laplace", "pathfinder", "advi")
# Of numba, in bold type where a terminal has it, of densities with large data.
_NOT_CACHED: Final = r'(\x1b\[1m)*Cannot cache compiled function "numba_funcified_fgraph'


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """What a fit asks of its engine; see `neartie.fit`."""

    engine: str
    draws: int
    tune: int
    chains: int
    cores: int | None
    target_accept: float
    thin: int
    min_ess: float | None
    checkpoint: str | PathLike[str] | None
    backend: str = "numba"
    start: str = "dispersed"
    keep: Collection[str] | None = None

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {self.engine!r}")
        for name, value, least in (
            ("draws", self.draws, 4),
            ("tune", self.tune, 0),
            ("chains", self.chains, 1),
            ("cores", 1 if self.cores is None else self.cores, 1),
            ("thin", self.thin, 1),
        ):
            if value < least:
                raise ValueError(f"{name} must be at least {least}, got {value}")
        if not 0 < self.target_accept < 1:
            raise ValueError(f"target_accept must lie in (0, 1), got {self.target_accept}")
        if self.backend not in BACKENDS:
            raise ValueError(f"backend must be numba or jax, got {self.backend!r}")
        if self.backend == "jax" and self.engine == "gibbs":
            raise ValueError("the engine gibbs has no backend jax; use the engine nuts with it")
        if self.start not in STARTS:
            raise ValueError(f"start must be dispersed or map, got {self.start!r}")
        self._check_gibbs()

    def _check_gibbs(self) -> None:
        asked = {
            "thin": self.thin != 1,
            "min_ess": self.min_ess is not None,
            "checkpoint": self.checkpoint is not None,
            "start": self.start != "dispersed",
            "keep": self.keep is not None,
        }
        for name, given in asked.items():
            if given and self.engine != "gibbs":
                raise ValueError(f"{name} is for the engine gibbs, not for {self.engine}")
        most = self.draws * self.chains / 2
        if self.min_ess is not None and not 0 < self.min_ess <= most:
            raise ValueError(
                f"min_ess must lie above 0 and be at most half of the {self.draws * self.chains:,} "
                f"draws that {self.chains} x {self.draws:,} keep, got {self.min_ess:g}"
            )

    @property
    def used_chains(self) -> int:
        """Chains of a sampler; an approximation has one."""
        return self.chains if self.engine in SAMPLERS else 1

    @property
    def used_cores(self) -> int:
        """Chains that run at a time."""
        return min(self.chains, self.cores or os.cpu_count() or 1)

    def to_dict(self) -> dict[str, Any]:
        """Return what bears on the draws of this engine."""
        kept: dict[str, Any] = {"draws": self.draws}
        if self.engine in SAMPLERS:
            kept |= {"tune": self.tune, "chains": self.chains}
        if self.engine == "nuts":
            kept |= {"target_accept": self.target_accept}
        if self.engine == "gibbs":
            kept |= {"thin": self.thin, "min_ess": self.min_ess}
        if self.backend != "numba":
            kept["backend"] = self.backend
        if self.start != "dispersed":
            kept["start"] = self.start
        if self.keep is not None:
            kept["keep"] = sorted(self.keep)
        return kept


def run_engine(
    model: Any,
    settings: Settings,
    *,
    record: Mapping[str, Any],
    client: Client | None = None,
    progress: Progress | None,
    seed: int,
) -> tuple[FlatModel | FreeValues, EngineDraws]:
    """Return the draws of an engine, and what makes variables of them.

    Parameters
    ----------
    model : pm.Model
    settings : Settings
    record : mapping
        What was fitted, as the attributes of the answer say it.
    client : Dask client, optional
        For the chains of `gibbs`.
    progress : callable, optional
    seed : int

    Raises
    ------
    DataError
        If the engine is `gibbs` and does not sample an option of the model.
    ValueError
        If another engine is given a client.
    """
    if settings.engine == "gibbs":
        return _run_gibbs(
            model, settings, record=record, client=client, progress=progress, seed=seed
        )
    if client is not None:
        raise ValueError(f"client is for the engine gibbs, not for {settings.engine}")
    with warnings.catch_warnings():
        # PyTensor ignores it too, but only from where it is imported first.
        warnings.filterwarnings("ignore", message=_NOT_CACHED)
        return _run_on_density(model, settings, progress=progress, seed=seed)


def _run_on_density(
    model: Any, settings: Settings, *, progress: Progress | None, seed: int
) -> tuple[FlatModel, EngineDraws]:
    flat = flatten_model(model, backend=settings.backend)
    draws = settings.draws
    generator = np.random.default_rng(np.random.SeedSequence(seed))
    if settings.engine == "laplace":
        return flat, approximate_laplace(flat, draws=draws, progress=progress, rng=generator)
    if settings.engine == "advi":
        return flat, approximate_advi(flat, draws=draws, progress=progress, rng=generator)
    if settings.engine == "pathfinder":
        return flat, approximate_pathfinder(flat, draws=draws, progress=progress, rng=generator)
    return flat, sample_nuts(
        flat,
        draws=draws,
        tune=settings.tune,
        chains=settings.chains,
        cores=settings.used_cores,
        target_accept=settings.target_accept,
        progress=progress,
        seed=int(generator.integers(2**63)),
    )


def _recorder(model: Any, layout: FreeValues, keep: Collection[str]) -> Recorder:
    try:
        return recorder_of(model, layout, keep)
    except ValueError as error:
        raise DataError(str(error)) from error


def _run_gibbs(
    model: Any,
    settings: Settings,
    *,
    record: Mapping[str, Any],
    client: Client | None,
    progress: Progress | None,
    seed: int,
) -> tuple[FreeValues, EngineDraws]:
    try:
        sampler = block_sampler(model)
        start = None
        if settings.start == "map":
            start = map_start(model, sampler, progress=progress)
    except ValueError as error:
        # What a user may have asked for is said as other faults of data and model are.
        raise DataError(str(error)) from error
    layout = free_values(model)
    recorder = None if settings.keep is None else _recorder(model, layout, settings.keep)
    kept = None
    if settings.checkpoint is not None:
        signature = _signature(model, record)
        if start is not None:
            signature["start"] = settings.start
        if settings.keep is not None:
            signature["keep"] = sorted(settings.keep)
        kept = Checkpoint(path=settings.checkpoint, signature=signature)
    drawn = sample_gibbs(
        sampler,
        layout,
        length=Length(
            draws=settings.draws,
            tune=settings.tune,
            thin=settings.thin,
            min_ess=settings.min_ess,
        ),
        chains=settings.chains,
        cores=settings.used_cores,
        client=client,
        watch=model.neartie.diagnosed,
        checkpoint=kept,
        start=start,
        recorder=recorder,
        progress=progress,
        seed=seed,
    )
    return layout if recorder is None else recorder.layout, drawn


def _signature(model: Any, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what tells a run from others: the model, its data and the version that drew."""
    import hashlib
    import json

    digest = hashlib.sha256()
    constant = {variable.name: variable.get_value() for variable in model.data_vars}
    for name, values in sorted({**observed_arrays(model), **constant}.items()):
        array = np.ascontiguousarray(values)
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(array.tobytes())
    for dim, labels in sorted(model.coords.items()):
        digest.update(json.dumps([dim, [str(label) for label in labels]]).encode())
    versions = json.loads(record.get("versions", "{}"))
    return {
        "kind": record["kind"],
        "options": record.get("options"),
        "priors": record.get("priors"),
        "data": digest.hexdigest(),
        "version": versions.get("neartie"),
    }
