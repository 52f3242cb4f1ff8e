"""The near-tie audit: its steps in sequence (P0, section 3).

Each step is a public function of its own; to replace one, write the sequence of
`audit_near_ties` anew with yours in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.audit_tables import assemble
from neartie.audits.composition import composition_units, draw_multiplicities, recomposed_reversals
from neartie.audits.controls import matched_random
from neartie.audits.population import Population, build_population
from neartie.audits.purification import Purification, purify_anchors
from neartie.audits.replicates import ReplicateCounts
from neartie.audits.result import NearTieAudit
from neartie.audits.settings import AuditSettings
from neartie.audits.targets import Target, mean_tau_b, pooled, score_target
from neartie.data.errors import DataError
from neartie.data.responses import Responses
from neartie.data.wording import counted
from neartie.inference.dimension import DimensionChoice, select_dimension, split_inner

type Progress = Callable[[str, float], None]

HALVES = (0, 1)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Items:
    """What the audit needs to know of items: sources and the original index."""

    source: list[str]
    index: NDArray[np.intp]


def audit_near_ties(
    responses: Responses,
    settings: AuditSettings | None = None,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
) -> NearTieAudit:
    """Return the near-tie audit of a leaderboard.

    Parameters
    ----------
    responses : Responses
        Right/wrong answers. The item table may have `source`; the model table `owner`,
        `family`, `half`, `representative`.
    settings : AuditSettings, optional
        The paper's, when left out.
    rng : Generator, int or None
        One whole number is drawn as the audit's seed (an int is the seed itself). The population,
        both inner splits, both sets of controls and the bootstrap have streams of their own, and
        rows are put in the order of ids first: the same seed gives the same answer whatever the
        order of rows and whichever parts are left out.
    progress : callable, optional
        Called with the name of a step and the share of it that is done.

    Returns
    -------
    NearTieAudit

    Raises
    ------
    DataError
        If the data do not allow the audit; names what is missing.
    ConvergenceError
        If residual effects do not converge.

    References
    ----------
    P0, section 3 and appendices C and D.1.

    Examples
    --------
    >>> from neartie.data.example import load_example
    >>> settings = AuditSettings(dimension=2, controls=200, bootstraps=0)
    >>> audit = audit_near_ties(load_example(), settings, rng=1)
    >>> audit.band()["n_eligible"] == audit.n_eligible == len(audit.pairs)
    True
    """
    settings = settings or AuditSettings()
    say = progress or _silent
    seed = _seed(rng)
    streams = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(8)]
    ordered, index = responses.canonical()

    say("population", 0)
    population = build_population(
        ordered,
        min_family_size=settings.min_family_size,
        owner_cap=settings.owner_cap,
        missing=settings.missing,
        rng=streams[0],
    )
    items = _items(population, dict(zip(ordered.item_ids, index.tolist(), strict=True)))

    choices: list[DimensionChoice | None] = []
    purified: list[Purification] = []
    for half in HALVES:
        say(f"dimension, half {half}", 0)
        choice = _choose_dimension(population, items, half, settings, streams[1 + half])
        choices.append(choice)
        say(f"purification, half {half}", 0)
        k = choice.k if choice else settings.dimensions[half]
        purified.append(
            _purify(population, items, half, k, settings.alphas[0], settings, streams[3 + half])
        )
    targets = [score_target(population, half, purified[1 - half]) for half in HALVES]

    say("anchor fractions", 0)
    fractions = [_fraction_row(settings.alphas[0], targets, settings)]
    dimensions = [int(p.rounds["k"].iloc[0]) for p in purified]
    for number, alpha in enumerate(settings.alphas[1:], start=1):
        others = [
            _purify(population, items, h, dimensions[h], alpha, settings, streams[3 + h])
            for h in HALVES
        ]
        rescored = [score_target(population, half, others[1 - half]) for half in HALVES]
        fractions.append(_fraction_row(alpha, rescored, settings))
        say("anchor fractions", number / (len(settings.alphas) - 1))

    random = _run_controls(targets, purified, settings, streams[5:7], say)
    recomposed = _run_bootstrap(targets, purified, items, settings, streams[7], say)
    return assemble(
        population=population,
        source=items.source,
        choices=choices,
        purified=purified,
        targets=targets,
        fractions=pd.DataFrame(fractions),
        random=random,
        recomposed=recomposed,
        settings=settings,
        seed=seed,
        reader_notices=responses.notices,
    )


def _silent(step: str, share: float) -> None:
    """Report nothing."""


def _seed(rng: np.random.Generator | int | None) -> int:
    if isinstance(rng, (int, np.integer)):
        if rng < 0:
            raise ValueError(f"a seed is a whole number of at least 0, got {rng}")
        return int(rng)
    return int(np.random.default_rng(rng).integers(2**53))


def _items(population: Population, original: dict[str, int]) -> Items:
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


def _choose_dimension(
    population: Population,
    items: Items,
    half: int,
    settings: AuditSettings,
    stream: np.random.Generator,
) -> DimensionChoice | None:
    if settings.dimension is not None:
        return None
    positions = population.half(half)
    owner = population.table["owner"].iloc[positions]
    return select_dimension(
        population.responses.values[:, positions].astype(np.int8),
        split=split_inner(owner, items.source, rng=stream),
        grid=settings.grid,
        rule=settings.rule,
        limit=settings.offset_limit,
        decomposition=settings.decomposition,
        rng=stream,
    )


def _purify(
    population: Population,
    items: Items,
    half: int,
    dimension: int,
    alpha: Fraction,
    settings: AuditSettings,
    stream: np.random.Generator,
) -> Purification:
    positions = population.half(half)
    return purify_anchors(
        population.responses.values[:, positions].astype(np.int8),
        family=population.table["family"].iloc[positions],
        source=items.source,
        dimension=dimension,
        alpha=alpha,
        rounds=settings.rounds,
        strata=settings.strata,
        penalty=settings.penalty,
        cycles=settings.cycles,
        constant_items=settings.constant_items,
        refit=alpha == settings.alphas[0],
        index=items.index,
        limit=settings.offset_limit,
        decomposition=settings.decomposition,
        rng=stream,
    )


def _fraction_row(
    alpha: Fraction, targets: list[Target], settings: AuditSettings
) -> dict[str, float | int | None]:
    count = pooled(targets, settings.primary_band)
    return {
        "alpha": float(alpha),
        "tau_b": mean_tau_b(targets),
        "n_eligible": count.n_eligible,
        "reversal_rate": count.rate,
        "primary": int(alpha == settings.alphas[0]),
    }


def _run_controls(
    targets: list[Target],
    purified: list[Purification],
    settings: AuditSettings,
    streams: list[np.random.Generator],
    say: Progress,
) -> ReplicateCounts | None:
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
            progress=_share(say, f"random subtests, half {target.half}", settings.controls),
        )
        for target in targets
    ]
    return parts[0] + parts[1]


def _run_bootstrap(
    targets: list[Target],
    purified: list[Purification],
    items: Items,
    settings: AuditSettings,
    stream: np.random.Generator,
    say: Progress,
) -> ReplicateCounts | None:
    if not settings.bootstraps:
        return None
    names, unit = composition_units(items.source, index=items.index)
    multiplicities = draw_multiplicities(len(names), settings.bootstraps, rng=stream)
    parts = [
        recomposed_reversals(
            target.values,
            purified[1 - target.half].subtest,
            target.pairs,
            unit=unit,
            multiplicities=multiplicities,
            bands=settings.exact_bands,
            progress=_share(say, f"recompositions, half {target.half}", settings.bootstraps),
        )
        for target in targets
    ]
    return parts[0] + parts[1]


def _share(say: Progress, step: str, total: int) -> Callable[[int], None]:
    return lambda done: say(step, done / total)
