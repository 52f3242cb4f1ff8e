"""How far every rung of the comparison is off, on leaderboards whose truth is known."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from os import PathLike
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from neartie.audits.audit_tables import LIBRARIES
from neartie.audits.comparison_base import ComparisonBase, comparison_base
from neartie.audits.comparison_boards import Boards
from neartie.audits.comparison_caveats import crowding
from neartie.audits.comparison_rows import ladder_row
from neartie.audits.comparison_settings import ComparisonSettings
from neartie.audits.comparison_truth import (
    anchor_gain,
    target_of,
    true_range,
    true_targets,
)
from neartie.audits.draw_anchors import PLUG_IN, rank_correlation
from neartie.audits.near_tie import audit_near_ties
from neartie.audits.recovery import Recovery, collect_recovery
from neartie.audits.rung_result import RungResult
from neartie.audits.rung_run import run_rung
from neartie.audits.settings import AuditSettings
from neartie.audits.steps import Progress, seed_of, silent
from neartie.audits.validation_store import RecordStore
from neartie.data.dask import Client
from neartie.data.errors import ConvergenceError, DataError
from neartie.data.responses import Responses
from neartie.data.truth import LeaderboardTruth

type Floats = NDArray[np.float64]

_LIBRARIES: Final = (*LIBRARIES, "pymc")


def simulate_comparison(
    boards: Boards,
    settings: ComparisonSettings | None = None,
    *,
    audit: AuditSettings | None = None,
    replicates: int = 100,
    folder: str | PathLike[str] | None = None,
    cores: int | None = 1,
    client: Client | None = None,
    progress: Progress | None = None,
    rng: np.random.Generator | int | None = None,
) -> Recovery:
    """Return bias, error and coverage of every rung on simulated leaderboards.

    Parameters
    ----------
    boards : DesignBoards or LikeBoards
    settings : ComparisonSettings, optional
    audit : AuditSettings, optional
        Of every leaderboard.
    replicates : int
        Leaderboards.
    folder : path, optional
        Where finished ones are kept, so that a stopped run goes on.
    cores : int, optional
        Chains at a time.
    client : Dask client, optional
        Its workers take a leaderboard each; let them be processes of one thread. It changes no
        number.
    progress : callable, optional
        Called with the name of a step and the share of it that is done.
    rng : Generator, int or None
        One whole number is drawn as the seed (an int is the seed itself). Every leaderboard has a
        stream of its own.

    Returns
    -------
    Recovery

    Raises
    ------
    DataError
        If the folder holds another simulation, or no leaderboard could be compared.
    ValueError
        If `replicates` is below 1.

    Examples
    --------
    >>> from neartie.audits.comparison_boards import DesignBoards
    >>> boards = DesignBoards(design={"n_items": 120, "n_models": 60, "n_owners": 30,
    ...                               "families": 3, "n_dimensions": 1, "n_unclassified": 0})
    >>> quick = AuditSettings(dimension=1, controls=50, bootstraps=0, min_family_size=5)
    >>> settings = ComparisonSettings(rungs=("residual",), draws=20, subtests=20)
    >>> found = simulate_comparison(boards, settings, audit=quick, replicates=2, rng=1)
    >>> int(found.table["n_replicates"].max())
    2
    """
    if replicates < 1:
        raise ValueError(f"replicates must be at least 1, got {replicates}")
    say = progress or silent
    task = SimulationTask(
        boards=boards,
        settings=settings or ComparisonSettings(),
        audit=audit or AuditSettings(),
        cores=cores,
        seed=seed_of(rng),
    )
    store = RecordStore(
        folder,
        {
            "boards": boards.to_dict(),
            "comparison": task.settings.to_dict(),
            "audit": task.audit.to_dict(),
            "seed": task.seed,
        },
        noun="simulation",
    )
    wanted = [number for number in range(replicates) if number not in store.done]
    before = replicates - len(wanted)
    say(f"leaderboards · {before} of {replicates}", before / replicates)
    for done, record in enumerate(spread_boards(task, wanted, client=client), start=before + 1):
        store.add(record)
        say(f"leaderboards · {done} of {replicates}", done / replicates)
    return collect_recovery(
        [store.done[number] for number in range(replicates)],
        boards=boards.to_dict(),
        settings=task.settings,
        audit=task.audit,
        seed=task.seed,
        versions={"python": platform.python_version()}
        | {name: version(name) for name in _LIBRARIES},
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class SimulationTask:
    """What a worker needs for any leaderboard.

    Attributes
    ----------
    boards : Boards
    settings : ComparisonSettings
    audit : AuditSettings
    cores : int or None
    seed : int
    """

    boards: Boards
    settings: ComparisonSettings
    audit: AuditSettings
    cores: int | None
    seed: int


def spread_boards(
    task: SimulationTask, numbers: Sequence[int], *, client: Client | None
) -> Iterator[dict[str, Any]]:
    """Yield the records of some leaderboards in their order.

    Parameters
    ----------
    task : SimulationTask
    numbers : sequence of int
    client : Dask client or None
    """
    if client is None:
        for number in numbers:
            yield record_board(task, number)
        return
    sent = client.scatter(task, hash=False)
    futures = [client.submit(record_board, sent, number, pure=False) for number in numbers]
    for future in futures:
        yield future.result()


def record_board(task: SimulationTask, number: int) -> dict[str, Any]:
    """Return what the rungs say of a leaderboard, beside its truth.

    Parameters
    ----------
    task : SimulationTask
    number : int
        From 0. A leaderboard depends on it and on the seed, not on where and when it is drawn.

    Returns
    -------
    dict
        `data_set`, `failed` (why there is nothing, or blank), `k`, `rows` (one a cell), `anchors`
        (one a rung and kind of anchors) and `crowded` (whether K is large for the models).
    """
    sequence = np.random.SeedSequence(task.seed, spawn_key=(number,))
    own = int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(11))
    head: dict[str, Any] = {"data_set": number, "failed": "", "k": [], "rows": [], "anchors": []}
    board = task.boards.draw(np.random.default_rng(sequence))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return head | _compared(task, board.responses, board.truth, own)
    except (ConvergenceError, DataError) as error:
        return head | {"failed": str(error)}


def _compared(
    task: SimulationTask, responses: Responses, truth: LeaderboardTruth, seed: int
) -> dict[str, Any]:
    settings = task.settings
    audit = audit_near_ties(responses, task.audit, rng=seed)
    base = comparison_base(responses, audit)
    targets = true_targets(base, truth, settings, seed=seed)
    true = true_range(base, truth)
    rows, anchors = [], []
    verdicts = np.empty(0)
    for name in settings.ladder:
        rung = run_rung(base, name, settings, seed=seed, cores=task.cores, progress=silent)
        if not len(verdicts):
            first = rung.cell(PLUG_IN, "observed")
            verdicts = np.empty(0) if first is None else first.reversal
        for cell in rung.cells:
            rate, excess = target_of(targets, cell)
            row = ladder_row(rung, cell, audit, settings, verdicts)
            rows.append(row | {"target": rate, "excess_target_pp": 100 * excess})
        anchors += _anchor_rows(base, rung, true)
    crowded = bool(crowding(base, settings))
    return {"k": list(audit.k), "rows": rows, "anchors": anchors, "crowded": crowded}


def _anchor_rows(base: ComparisonBase, rung: RungResult, true: Floats) -> list[dict[str, Any]]:
    """Return how near a rung's D and anchors come to the true ones, a kind and half each."""
    rows = []
    for half in base.halves:
        for kind, share in rung.chosen.items():
            own = half.plug_in.dif_range if kind == PLUG_IN else rung.mean_range[half.number]
            rows.append(
                {
                    "rung": rung.name,
                    "anchors": kind,
                    "half": half.number,
                    "gain": anchor_gain(half.anchors, share[half.number], true),
                    "spearman": rank_correlation(own, true),
                }
            )
    return rows
