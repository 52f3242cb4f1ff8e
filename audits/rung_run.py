"""One rung of the ladder, from its draws in both halves to what is kept of it."""

from __future__ import annotations

import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from neartie.audits.comparison_base import ComparisonBase
from neartie.audits.comparison_settings import PLUG_IN, ComparisonSettings
from neartie.audits.controls import draw_subtests
from neartie.audits.draw_anchors import ANCHORS, DrawAnchors, agree_with_plug_in, choose_anchors
from neartie.audits.draw_anchors import PLUG_IN as PLUG_IN_ANCHORS
from neartie.audits.draw_reversals import SCORES, Orders, order_draws
from neartie.audits.half_draws import HalfDraws
from neartie.audits.rung_result import RungResult, pool_cell
from neartie.audits.rungs import DRAWERS, RungTask
from neartie.audits.steps import HALVES, share_of
from neartie.inference.engine_draws import Progress

_SUBTESTS: Final = "random subtests"


def run_rung(
    base: ComparisonBase,
    name: str,
    settings: ComparisonSettings,
    *,
    seed: int,
    folder: Path | None = None,
    cores: int | None = None,
    progress: Progress,
) -> RungResult:
    """Return what a rung says.

    Parameters
    ----------
    base : ComparisonBase
    name : str
        Of the rung.
    settings : ComparisonSettings
    seed : int
        Of the comparison; every rung and half has a stream of its own, so that it does not matter
        which other rungs there are.
    folder : path, optional
        Where samplers keep what they go on from after a stop.
    cores : int, optional
    progress : callable

    Returns
    -------
    RungResult
    """
    began = time.perf_counter()
    halves = make_draws(
        base, name, settings, seed=seed, folder=folder, cores=cores, progress=progress
    )
    return judge_draws(base, name, halves, settings, seed=seed, began=began, progress=progress)


def make_draws(
    base: ComparisonBase,
    name: str,
    settings: ComparisonSettings,
    *,
    seed: int,
    folder: Path | None = None,
    cores: int | None = None,
    progress: Progress,
) -> list[HalfDraws]:
    """Return the draws of a rung in both halves; see `run_rung`."""
    halves = []
    for half in base.halves:
        label = f"{name}, half {half.number}"
        progress(label, 0.0)
        halves.append(
            DRAWERS[name](
                RungTask(
                    base=base,
                    half=half,
                    settings=settings,
                    seed=stream_seed(seed, name, half.number),
                    checkpoint=checkpoint_of(folder, name, half.number) if folder else None,
                    cores=cores,
                    progress=_named(label, progress),
                )
            )
        )
    return halves


def checkpoint_of(folder: Path, name: str, half: int) -> Path:
    """Return the file from which the sampler of a rung and half goes on.

    Examples
    --------
    >>> checkpoint_of(Path("rungs"), "full", 1).name
    'full-1.npz'
    """
    return folder / f"{name}-{half}.npz"


def judge_draws(
    base: ComparisonBase,
    name: str,
    halves: Sequence[HalfDraws],
    settings: ComparisonSettings,
    *,
    seed: int,
    began: float | None = None,
    kinds: Sequence[str] | None = None,
    scores: Sequence[str] = SCORES,
    progress: Progress,
) -> RungResult:
    """Return what draws of both halves say, whoever made them.

    Parameters
    ----------
    base : ComparisonBase
    name : str
        Of the rung.
    halves : sequence of HalfDraws
        Made from half 0 and half 1.
    settings : ComparisonSettings
    seed : int
    began : float, optional
        When the rung began, `time.perf_counter`.
    kinds, scores : sequence of str, optional
        Of anchors and scores; all of them when left out, of the plug-in its own anchors alone.
    progress : callable

    Returns
    -------
    RungResult
    """
    began = time.perf_counter() if began is None else began
    if kinds is None:
        kinds = (PLUG_IN_ANCHORS,) if name == PLUG_IN else ANCHORS
    anchors = [_anchors(base, half, drawn) for half, drawn in enumerate(halves)]
    orders: list[dict[tuple[str, str], Orders]] = []
    for target in HALVES:
        orders.append(
            order_draws(
                base.halves[target],
                halves[target],
                anchors[1 - target],
                random_subtests(base, target, settings, seed=seed),
                kinds=kinds,
                scores=scores,
                n=settings.draws,
                rng=np.random.default_rng(stream_seed(seed, f"{name} replicates", target)),
                progress=share_of(progress, f"{name}, orders of half {target}", settings.draws),
            )
        )
    agreed = [
        agree_with_plug_in(
            anchors[half], base.halves[half].plug_in.dif_range, drawn.dif_range, drawn.mean_range
        )
        for half, drawn in enumerate(halves)
    ]
    return RungResult(
        name=name,
        cells=tuple(pool_cell(*key, (orders[0][key], orders[1][key])) for key in orders[0]),
        spearman_d={kind: _mean([a.spearman_d[kind] for a in agreed]) for kind in kinds},
        jaccard={kind: _mean([a.jaccard[kind] for a in agreed]) for kind in kinds},
        mean_range=np.array([drawn.mean_range for drawn in halves]),
        chosen={kind: np.array([own.shares(kind) for own in anchors]) for kind in kinds},
        facts=(halves[0].facts, halves[1].facts),
        seconds=time.perf_counter() - began,
    )


def random_subtests(
    base: ComparisonBase, target: int, settings: ComparisonSettings, *, seed: int
) -> NDArray[np.bool_]:
    """Return the matched-random subtests by which a target half is scored, the same in all rungs."""
    rng = np.random.default_rng(stream_seed(seed, _SUBTESTS, target))
    return draw_subtests(base.halves[1 - target].anchors, settings.subtests, rng=rng)


def stream_seed(seed: int, name: str, half: int) -> int:
    """Return the seed of a stream that has a name, so that other streams cannot shift it.

    Examples
    --------
    >>> stream_seed(1, "full", 0) == stream_seed(1, "full", 0) != stream_seed(1, "full", 1)
    True
    """
    sequence = np.random.SeedSequence([seed, zlib.crc32(name.encode()), half])
    # A whole number that JSON and every engine hold exactly.
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(11))


def _anchors(base: ComparisonBase, half: int, drawn: HalfDraws) -> DrawAnchors:
    own = base.halves[half]
    return choose_anchors(
        own.anchors,
        drawn.dif_range,
        drawn.mean_range,
        constant=own.plug_in.constant != 0,
        settings=base.settings,
        index=base.items.index,
    )


def _named(label: str, progress: Progress) -> Progress:
    return lambda step, share: progress(f"{label}: {step}", share)


def _mean(values: list[float]) -> float:
    return float(np.mean(values))
