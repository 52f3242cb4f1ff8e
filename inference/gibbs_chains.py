"""Chains of a blocked Gibbs sampler: in threads, as long as is needed, with checkpoints."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from neartie.data.dask import Client
from neartie.inference.engine_draws import EngineDraws, Progress, ignore_progress
from neartie.inference.free_values import FreeValues
from neartie.inference.gibbs_checkpoint import Chain, Run, read_checkpoint, write_checkpoint
from neartie.inference.gibbs_protocol import BlockSampler, Start
from neartie.inference.gibbs_record import Recorder, add_draw
from neartie.inference.gibbs_watch import (
    MAX_REPORTED,
    reached,
    watch_list,
    watched_values,
)
from neartie.inference.gibbs_workers import Done, Sweeps, workers
from neartie.inference.mixing import FEWEST_DRAWS

type Floats = NDArray[np.float64]

# A run of adaptive length gives up after this many sweeps for a draw that it may keep.
MAX_THIN: Final = 256
_BLOCK_SECONDS: Final = 2.0
_REPORT_SECONDS: Final = 10.0
_CHECKPOINT_SECONDS: Final = 30.0
# Stands in the name of a step before what may change from report to report.
DETAIL: Final = " · "
# Writing may take this share of the time.
_CHECKPOINT_SHARE: Final = 0.05


@dataclass(frozen=True, kw_only=True, slots=True)
class Length:
    """How long chains run.

    Attributes
    ----------
    draws : int
        Draws of a chain that are kept, or at most kept.
    tune : int
        Sweeps before them.
    thin : int
        Sweeps a kept draw, at first.
    min_ess : float, optional
        The smallest effective sample size to reach over all chains, with R-hat within its limit.
        Without it exactly `draws` are kept.
    """

    draws: int
    tune: int
    thin: int = 1
    min_ess: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """Where to keep the state of a run, and what tells the run from others."""

    path: str | PathLike[str]
    signature: Mapping[str, Any] = field(default_factory=dict)


def sample_gibbs(
    sampler: BlockSampler,
    layout: FreeValues,
    *,
    length: Length,
    chains: int,
    cores: int,
    client: Client | None = None,
    watch: Sequence[str] = (),
    checkpoint: Checkpoint | None = None,
    start: Start | None = None,
    recorder: Recorder | None = None,
    progress: Progress | None = None,
    seed: int,
) -> EngineDraws:
    """Run the chains of a Gibbs sampler.

    Parameters
    ----------
    sampler : BlockSampler
    layout : FreeValues
        Of the same model.
    length : Length
    chains, cores : int
        Chains, and how many run at a time, as threads of this process.
    client : Dask client, optional
        Whose workers make the sweeps instead.
    watch : sequence of str
        Variables whose sample sizes `length.min_ess` is about; what is not in a draw is passed
        over.
    checkpoint : Checkpoint, optional
        From where a run that was cut off goes on; taken away at the end.
    start : callable, optional
        From a generator to the state of a chain; the sampler's own dispersed one when left out.
    recorder : Recorder, optional
        What to keep of the draws; all free variables when left out.
    progress : callable, optional
        Takes (step, share done).
    seed : int
        The draws depend on it, on the start and on the length, not on where it runs, nor on interruptions.

    Returns
    -------
    EngineDraws
        The points are free variables on their own scales, as the layout has them, or what the
        recorder keeps as its own layout has it.

    Raises
    ------
    DataError
        If a checkpoint is damaged, belongs to another run, or cannot be written.

    Notes
    -----
    With `min_ess` a run looks at itself when it holds a half, three quarters and all of the draws
    that it may keep. When these are not enough it drops every second one, keeps every second
    from then on, and goes on: memory stays within what `draws` take, and the looks come at
    sweeps that do not depend on the machine. Moments of what is not kept are of all draws that
    were once kept.
    """
    signature: dict[str, Any] = {}
    if checkpoint is not None:
        signature = {**checkpoint.signature, **asdict(length), "chains": chains, "seed": seed}
    held, n_other = (layout, 0) if recorder is None else (recorder.layout, recorder.n_other)
    run = _begin(
        start or sampler.start, (held.size, n_other), length, chains, checkpoint, signature, seed
    )
    watched = _Watched(held, watch_list(held, watch))
    say, pace = progress or ignore_progress, _Pace()
    with workers(sampler, cores=cores, client=client) as make:
        while not _finished(run, length, watched):
            n = min(pace.block, _to_next_look(run, length))
            _take_up(run, make(_work(run, layout, n, length.tune)), n, length.tune, recorder)
            pace.measure(n)
            if progress is not None and pace.reports():
                say(*_report(run, length, watched))
            if checkpoint is not None and pace.writes():
                write_checkpoint(run, checkpoint.path, signature=signature)
                pace.wrote()
    if checkpoint is not None:
        Path(checkpoint.path).unlink(missing_ok=True)
    say("sampling", 1.0)
    return _drawn(sampler, run, recorder)


class _Watched:
    """The watched numbers of the draws that a run holds, computed once each."""

    def __init__(self, layout: FreeValues, names: Sequence[str]) -> None:
        self.layout, self.names = layout, names
        self.values: Floats | None = None
        self.thin = 0

    def of(self, run: Run) -> Floats:
        """Return them, (n_chain, n_kept, n_watched)."""
        known = self.values
        if known is not None and self.thin * 2 == run.thin:
            known = known[:, 1::2]
        first = 0 if known is None else known.shape[1]
        fresh = run.points[:, first : run.kept]
        if known is None or fresh.shape[1]:
            new = watched_values(self.layout, self.names, fresh)
            known = new if known is None else np.concatenate([known, new], axis=1)
        self.values, self.thin = known, run.thin
        return known


class _Pace:
    """How many sweeps go at a time, and when to report and to write."""

    def __init__(self) -> None:
        self.block = 1
        self._began = self._reported = self._written = time.monotonic()
        self._cost = 0.0

    def measure(self, sweeps: int) -> None:
        """Take the time since the last call as that of some sweeps."""
        now = time.monotonic()
        each = max((now - self._began) / sweeps, 1e-6)
        self._began = now
        self.block = int(np.clip(_BLOCK_SECONDS / each, 1, 10 * self.block))

    def reports(self) -> bool:
        """Say whether a report is due, and take it as made."""
        due = time.monotonic() - self._reported > _REPORT_SECONDS
        if due:
            self._reported = time.monotonic()
        return due

    def writes(self) -> bool:
        """Say whether a checkpoint is due."""
        self._asked = time.monotonic()
        pause = max(_CHECKPOINT_SECONDS, self._cost / _CHECKPOINT_SHARE)
        return self._asked - self._written > pause

    def wrote(self) -> None:
        """Take note that a checkpoint was written."""
        self._written = self._began = time.monotonic()
        self._cost = self._written - self._asked


def _begin(
    start: Start,
    sizes: tuple[int, int],
    length: Length,
    chains: int,
    checkpoint: Checkpoint | None,
    signature: Mapping[str, Any],
    seed: int,
) -> Run:
    if checkpoint is not None and Path(checkpoint.path).exists():
        return read_checkpoint(checkpoint.path, signature=signature, draws=length.draws)
    generators = [
        np.random.default_rng(part) for part in np.random.SeedSequence(seed).spawn(chains)
    ]
    return Run(
        chains=[Chain(state=start(each), generator=each) for each in generators],
        sweeps=0,
        thin=length.thin,
        kept=0,
        points=np.empty((chains, length.draws, sizes[0])),
        moments=np.zeros((chains, 2, sizes[1])),
    )


def _work(run: Run, layout: FreeValues, n: int, tune: int) -> list[Sweeps]:
    return [
        Sweeps(chain=chain, first=run.sweeps + 1, n=n, tune=tune, thin=run.thin, names=layout.names)
        for chain in run.chains
    ]


def _take_up(run: Run, done: Sequence[Done], n: int, tune: int, recorder: Recorder | None) -> None:
    """Take over chains as they are after some sweeps, and what is kept of their draws."""
    run.sweeps += n
    before, run.kept = run.kept, max(run.sweeps - tune, 0) // run.thin
    for number, (chain, draws) in enumerate(done):
        run.chains[number] = chain
        if recorder is None:
            if draws:
                run.points[number, before : run.kept] = draws
            continue
        for place, vector in enumerate(draws):
            run.points[number, before + place], others = recorder.take(vector)
            add_draw(run.moments[number], others, run.seen + place + 1)
    run.seen += run.kept - before


def _looks(draws: int) -> tuple[int, ...]:
    return -(-draws // 2), -(-3 * draws // 4), draws


def _to_next_look(run: Run, length: Length) -> int:
    """Return the sweeps until the next look, or to the end."""
    if run.sweeps < length.tune:
        return length.tune - run.sweeps
    ahead = [kept for kept in _looks(length.draws) if kept > run.kept]
    goal = length.draws if length.min_ess is None else ahead[0]
    return goal * run.thin - (run.sweeps - length.tune)


def _finished(run: Run, length: Length, watched: _Watched) -> bool:
    """Say whether a run may end; make room where it goes on although it is full."""
    whole = run.kept == length.draws
    if length.min_ess is None:
        return whole
    if run.kept not in _looks(length.draws) or run.kept * run.thin != run.sweeps - length.tune:
        return False
    if reached(watched.of(run)).meets(length.min_ess):
        return True
    if whole and 2 * run.thin > MAX_THIN * length.thin:
        return True
    if whole:
        run.kept //= 2
        run.points[:, : run.kept] = run.points[:, 1 : 2 * run.kept : 2].copy()
        run.thin *= 2
    return False


def _report(run: Run, length: Length, watched: _Watched) -> tuple[str, float]:
    """Return the step at work, with what is reached, and the share done."""
    if run.sweeps < length.tune:
        return "tuning", run.sweeps / length.tune
    share = (run.sweeps - length.tune) / (length.draws * run.thin)
    if run.kept < FEWEST_DRAWS:
        return "sampling", share
    so_far = reached(watched.of(run), at_most=MAX_REPORTED)
    if length.min_ess is not None:
        share = min(so_far.min_ess / length.min_ess, 0.99)
    told = f"sampling{DETAIL}ESS {so_far.min_ess:,.0f}"
    if np.isfinite(so_far.max_rhat):
        told += f", R-hat {so_far.max_rhat:.3f}"
    return told, share


def _drawn(sampler: BlockSampler, run: Run, recorder: Recorder | None) -> EngineDraws:
    told = [sampler.counts(chain.state) for chain in run.chains]
    counts = {name: float(np.mean([each[name] for each in told])) for name in told[0]}
    tuned = run.sweeps - run.kept * run.thin
    sweep = tuned + run.thin * np.arange(1, run.kept + 1)
    return EngineDraws(
        points=run.points[:, : run.kept],
        stats={"sweep": np.tile(sweep, (len(run.chains), 1))},
        facts={"sweeps": run.sweeps, "thin": run.thin, **counts},
        moments={} if recorder is None else recorder.moments(run.moments, run.seen),
    )
