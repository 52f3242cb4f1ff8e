"""What a reader of an audit must know before the numbers: caveats in sentences."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd

from neartie.audits.anchors import exact_fraction
from neartie.audits.population import Population
from neartie.audits.purification import Purification
from neartie.audits.ranking import band_limit
from neartie.audits.settings import AuditSettings
from neartie.data.wording import counted
from neartie.inference.dimension import DimensionChoice

FEW_PAIRS = 30
# Anchors may be so much more or less than the share that was asked for before it is said.
SHARE_TOLERANCE = Fraction(1, 10)


def collect_caveats(
    *,
    population: Population,
    choices: list[DimensionChoice | None],
    purified: list[Purification],
    thresholds: pd.DataFrame,
    settings: AuditSettings,
    reader_notices: tuple[str, ...],
) -> tuple[str, ...]:
    """Return the caveats of an audit, worst first.

    Parameters
    ----------
    population, choices, purified, thresholds, settings
        As in `neartie.audits.audit_tables.assemble`.
    reader_notices : tuple of str

    Returns
    -------
    tuple of str
    """
    return (
        *_anchor_caveats(purified, settings),
        *_pair_caveats(thresholds, population.responses.n_item, settings),
        *_fit_caveats(purified, settings),
        *_dimension_caveats(choices, purified, settings),
        *_item_caveats(population, purified, settings),
        *_population_caveats(population),
        *_settling_caveats(purified, settings),
        *reader_notices,
    )


def in_points(epsilon: float) -> str:
    """Return a band in percentage points.

    Examples
    --------
    >>> in_points(0.01), in_points(0.0025)
    ('1 point', '0.25 points')
    """
    points = float(f"{100 * epsilon:.10g}")
    return f"{points:g} point" if points == 1 else f"{points:g} points"


def _anchor_caveats(purified: list[Purification], settings: AuditSettings) -> list[str]:
    """Say where rounding in small cells keeps far more or fewer items than asked for, or all."""
    asked = settings.alphas[0]
    found = []
    for half, part in enumerate(purified):
        n_anchor, n_item = int(part.subtest.selected.sum()), len(part.subtest.selected)
        if n_anchor == n_item:
            why = (
                "fraction 1 keeps them all"
                if asked == 1
                else "cells of source and easiness hold so few that each has to be kept"
            )
            found.append(
                f"Half {half}: all {n_item:,} items are anchors ({why}), so that nothing is left "
                "out, no pair can reverse, and random subtests are no comparison."
                + ("" if asked == 1 else " Give fewer and larger sources, or none.")
            )
            continue
        n_pool = int(part.subtest.pool.sum())
        if abs(n_anchor - asked * n_pool) > SHARE_TOLERANCE * n_pool:
            found.append(
                f"Half {half}: {n_anchor:,} of {n_pool:,} items ({100 * n_anchor / n_pool:.0f} %) "
                f"are anchors, not {100 * float(asked):.4g} %: every cell of source and easiness "
                "keeps a whole number of items, at least one, and many cells are small."
            )
    return found


def _pair_caveats(thresholds: pd.DataFrame, n_items: int, settings: AuditSettings) -> list[str]:
    row = thresholds[thresholds["epsilon"] == float(exact_fraction(settings.primary_band))].iloc[0]
    points = in_points(row["epsilon"])
    n = int(row["n_eligible"])
    found = []
    if band_limit(settings.primary_band, n_items) == 0:
        found.append(
            f"The benchmark is too short for a band of {points}: one answer of {n_items} is "
            f"{100 / n_items:.3g} points, so that only exact ties lie within. The reversal rate is "
            "undefined."
        )
    elif n == 0:
        found.append(
            f"No eligible pair within {points}: {int(row['n_band'])} pairs are that close, all of "
            "them tied. The reversal rate is undefined."
            if row["n_band"]
            else f"No pair of different owner and family is within {points}: the reversal rate is "
            "undefined."
        )
    elif n < FEW_PAIRS:
        found.append(f"Only {n} eligible pairs within {points}: the rate is coarse and noisy.")
    undefined = int(row["n_random_undefined"])
    if undefined and n:
        found.append(
            f"{undefined} random subtests leave no eligible pair; they count against the observed "
            "rate in p and are left out of the median."
        )
    empty = int(row["n_bootstrap_undefined"])
    if empty and n:
        found.append(f"{empty} recomposed benchmarks leave no eligible pair; the range omits them.")
    return found


def _fit_caveats(purified: list[Purification], settings: AuditSettings) -> list[str]:
    return [
        f"Half {half}: {settings.cycles} cycles, as asked for, stop before convergence "
        f"(largest last update {part.rounds['largest_update'].max():.1g} logit)."
        for half, part in enumerate(purified)
        if settings.cycles is not None and not part.rounds["converged"].all()
    ]


def _settling_caveats(purified: list[Purification], settings: AuditSettings) -> list[str]:
    if settings.rounds < 2:
        return []
    last = settings.rounds - 1
    moving = [
        f"Jaccard {part.rounds['jaccard'].iloc[last]:.3f} in half {half}"
        for half, part in enumerate(purified)
        if part.settled is None
    ]
    if not moving:
        return []
    return [
        (
            f"The anchor set still changed in round {settings.rounds} ({', '.join(moving)}). The number "
            "of rounds is fixed, so the last set is used."
        )
    ]


def _dimension_caveats(
    choices: list[DimensionChoice | None], purified: list[Purification], settings: AuditSettings
) -> list[str]:
    found = []
    for half, (choice, part) in enumerate(zip(choices, purified, strict=True)):
        ks = part.rounds["k"].tolist()
        asked = choice.k if choice else settings.dimensions[half]
        if ks[0] < asked:
            found.append(
                f"Half {half}: dimension {asked} is not feasible; it was cut to the rank {ks[0]}."
            )
        if min(ks) < ks[0]:
            found.append(
                f"Half {half}: the anchors' matrix has rank {min(ks)}, below K = {ks[0]}; K was cut "
                "in later rounds."
            )
        if choice is None:
            continue
        largest = int(choice.table["k"].max())
        if choice.k == largest:
            found.append(
                f"Half {half}: the selected K = {choice.k} is the largest feasible candidate; "
                "structure beyond it may remain in the residual effects."
            )
        elif choice.k_best == largest:
            found.append(
                f"Half {half}: the smallest held-out loss is at the largest feasible candidate "
                f"(K = {largest}); the rule selected K = {choice.k}."
            )
        if len(choice.losses) == 1:
            found.append(
                f"Half {half}: one validation model gives no standard error; the K of the smallest "
                "loss was taken."
            )
    return found


def _item_caveats(
    population: Population, purified: list[Purification], settings: AuditSettings
) -> list[str]:
    found = []
    for half, part in enumerate(purified):
        constant = part.selecting.constant
        n = int((constant != 0).sum())
        if not n:
            continue
        kept = int((part.subtest.selected & (constant != 0)).sum())
        sides = {"solved by every model": int((constant > 0).sum()), "solved by none": n}
        sides["solved by none"] -= sides["solved by every model"]
        counts = " and ".join(
            f"{counted(count, 'item')} {side}" for side, count in sides.items() if count
        )
        rule = "kept" if settings.constant_items == "keep" else "dropped where a cell has others"
        found.append(
            f"Half {half}: {counts} {'has' if n == 1 else 'have'} no finite easiness and no DIF "
            f"({rule}: {kept} of {n} among the anchors)."
        )
    if "source" not in population.responses.items:
        found.append("No sources given: all items are treated as one source.")
    return found


def _population_caveats(population: Population) -> list[str]:
    found = [notice[0].upper() + notice[1:] + "." for notice in population.notices]
    if len(population.excluded):
        reasons = population.excluded["reason"].str.split(":").str[0].value_counts().sort_index()
        counts = ", ".join(f"{n} ({reason})" for reason, n in reasons.items())
        n = len(population.excluded)
        found.append(f"{counted(n, 'model')} {'was' if n == 1 else 'were'} left out: {counts}.")
    if population.frozen:
        found.append("The population was given: no owner cap and no minimum family size applied.")
    return found
