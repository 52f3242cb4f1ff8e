"""What the near-tie audit and its robustness checks share: streams, items, the steps of a half."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from neartie.audits.controls import matched_random
from neartie.audits.population import Population
from neartie.audits.purification import Purification, purify_anchors
from neartie.audits.replicates import ReplicateCounts
from neartie.audits.settings import AuditSettings
from neartie.audits.targets import Target
from neartie.data.errors import DataError
from neartie.data.wording import counted

type Progress = Callable[[str, float], None]

HALVES = (0, 1)
# Streams of the audit proper: population, inner splits, purifications, controls, recompositions.
N_STREAM = 8


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Items:
    """What the audit needs to know of items: sources and the original index."""

    source: list[str]
    index: NDArray[np.intp]


def silent(step: str, share: float) -> None:
    """Report no progress."""


def seed_of(rng: np.random.Generator | int | None) -> int:
    """Return the audit's seed: the whole number given, or one drawn from a generator.

    Raises
    ------
    ValueError
        If a negative number is given.
    """
    if isinstance(rng, (int, np.integer)):
        if rng < 0:
            raise ValueError(f"a seed is a whole number of at least 0, got {rng}")
        return int(rng)
    return int(np.random.default_rng(rng).integers(2**53))


def audit_streams(seed: int, *, more: int = 0) -> list[np.random.Generator]:
    """Return the audit's streams of random numbers, and as many further ones as wanted.

    Parameters
    ----------
    seed : int
    more : int
        Streams beyond the audit's own, for what is computed beside it.

    Returns
    -------
    list of Generator
        0: population; 1, 2: inner splits of the halves; 3, 4: purification; 5, 6: controls;
        7: recompositions; from 8 on: the further ones.
    """
    children = np.random.SeedSequence(seed).spawn(N_STREAM + more)
    return [np.random.default_rng(child) for child in children]


def read_items(population: Population, original: dict[str, int]) -> Items:
    """Return sources and original positions of the items of a population.

    Parameters
    ----------
    population : Population
    original : dict of str to int
        Position of every item in the user's file.

    Returns
    -------
    Items
        One source, `all`, where the item table has none.

    Raises
    ------
    DataError
        If a source is blank.
    """
    data = population.responses
    index = np.array([original[item] for item in data.item_ids], dtype=np.intp)
    if "source" not in data.items:
        return Items(source=["all"] * data.n_item, index=index)
    source = data.items["source"].tolist()
    blank = [
        i
        for i, s in zip(data.item_ids, source, strict=True)
        if not (isinstance(s, str) and s.strip())
    ]
    if blank:
        raise DataError(
            f"{counted(len(blank), 'item')} {'has' if len(blank) == 1 else 'have'} no source in "
            f"the item table, first {blank[0]!r}: "
            "give every item a source, or leave the column out"
        )
    return Items(source=source, index=index)


def purify_half(
    population: Population,
    items: Items,
    half: int,
    dimension: int,
    alpha: Fraction,
    settings: AuditSettings,
    stream: np.random.Generator,
    *,
    refit: bool,
) -> Purification:
    """Return the purified anchors of one audit half under the audit's settings.

    Parameters
    ----------
    population : Population
    items : Items
    half : int
        The half that chooses the anchors.
    dimension : int
        K.
    alpha : Fraction
    settings : AuditSettings
    stream : Generator
        For the randomized decomposition only.
    refit : bool
        Whether to fit the item signatures on the final anchors too.

    Returns
    -------
    Purification
    """
    positions = population.half(half)
    return purify_anchors(
        np.take(population.responses.values, positions, axis=1).astype(np.int8, copy=False),
        family=population.table["family"].iloc[positions],
        source=items.source,
        dimension=dimension,
        alpha=alpha,
        rounds=settings.rounds,
        strata=settings.strata,
        penalty=settings.penalty,
        cycles=settings.cycles,
        constant_items=settings.constant_items,
        refit=refit,
        index=items.index,
        limit=settings.offset_limit,
        decomposition=settings.decomposition,
        rng=stream,
    )


def run_controls(
    targets: list[Target],
    purified: list[Purification],
    settings: AuditSettings,
    streams: list[np.random.Generator],
    say: Progress,
) -> ReplicateCounts | None:
    """Return the reversal counts of matched-random subtests, pooled over both target halves.

    Parameters
    ----------
    targets : list of Target, one a half
    purified : list of Purification, one a half
    settings : AuditSettings
    streams : list of Generator, one a target half
    say : callable

    Returns
    -------
    ReplicateCounts or None
        None where the settings ask for no controls.
    """
    if not settings.controls:
        return None
    parts = [
        matched_random(
            target.values,
            purified[1 - target.half].subtest,
            target.pairs,
            bands=settings.exact_bands,
            controls=settings.controls,
            rng=streams[target.half],
            progress=share_of(say, f"random subtests, half {target.half}", settings.controls),
        )
        for target in targets
    ]
    return parts[0] + parts[1]


def share_of(say: Progress, step: str, total: int) -> Callable[[int], None]:
    """Return a counter that reports the share of a step that is done."""
    return lambda done: say(step, done / total)
