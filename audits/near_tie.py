"""The near-tie audit: its steps in sequence (P0, section 3).

Each step is a public function of its own; to replace one, write the sequence of
`audit_near_ties` anew with yours in its place.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd

from neartie.audits.audit_tables import assemble
from neartie.audits.composition import composition_units, draw_multiplicities, recomposed_reversals
from neartie.audits.population import Population, build_population
from neartie.audits.purification import Purification
from neartie.audits.replicates import ReplicateCounts
from neartie.audits.result import NearTieAudit
from neartie.audits.settings import AuditSettings
from neartie.audits.steps import (
    HALVES,
    Items,
    Progress,
    audit_streams,
    purify_half,
    read_items,
    run_controls,
    seed_of,
    share_of,
    silent,
)
from neartie.audits.targets import Target, mean_tau_b, pooled, score_target
from neartie.data.responses import Responses
from neartie.inference.dimension import DimensionChoice, select_dimension, split_inner


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
    say = progress or silent
    seed = seed_of(rng)
    streams = audit_streams(seed)
    ordered, index = responses.canonical()

    say("population", 0)
    population = build_population(
        ordered,
        min_family_size=settings.min_family_size,
        owner_cap=settings.owner_cap,
        missing=settings.missing,
        rng=streams[0],
    )
    items = read_items(population, dict(zip(ordered.item_ids, index.tolist(), strict=True)))

    choices: list[DimensionChoice | None] = []
    purified: list[Purification] = []
    for half in HALVES:
        say(f"dimension, half {half}", 0)
        choice = _choose_dimension(population, items, half, settings, streams[1 + half])
        choices.append(choice)
        say(f"purification, half {half}", 0)
        k = choice.k if choice else settings.dimensions[half]
        purified.append(
            purify_half(
                population,
                items,
                half,
                k,
                settings.alphas[0],
                settings,
                streams[3 + half],
                refit=True,
            )
        )
    targets = [score_target(population, half, purified[1 - half]) for half in HALVES]

    say("anchor fractions", 0)
    fractions = [_fraction_row(settings.alphas[0], targets, settings)]
    dimensions = [int(p.rounds["k"].iloc[0]) for p in purified]
    for number, alpha in enumerate(settings.alphas[1:], start=1):
        others = [
            purify_half(
                population, items, h, dimensions[h], alpha, settings, streams[3 + h], refit=False
            )
            for h in HALVES
        ]
        rescored = [score_target(population, half, others[1 - half]) for half in HALVES]
        fractions.append(_fraction_row(alpha, rescored, settings))
        say("anchor fractions", number / (len(settings.alphas) - 1))

    random = run_controls(targets, purified, settings, streams[5:7], say)
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
            progress=share_of(say, f"recompositions, half {target.half}", settings.bootstraps),
        )
        for target in targets
    ]
    return parts[0] + parts[1]
