"""Perturbed populations of an audit: who is left, before anything is fitted (P0, D.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.labelling import label_models
from neartie.audits.population import (
    Population,
    build_population,
    cap_owners,
    choose_representatives,
)
from neartie.audits.result import NearTieAudit
from neartie.audits.settings import AuditSettings
from neartie.audits.steps import audit_streams
from neartie.data.errors import DataError
from neartie.data.responses import Responses

CAPS = (1, 3)
MIN_FAMILY_SIZE = 15
LINEAGE_TERMS = (
    "merge",
    "slerp",
    "franken",
    "lora",
    "qlora",
    "adapter",
    "distill",
    "hybrid",
    "fusion",
    "dpo",
    "ppo",
    "orpo",
    "kto",
    "abliterat",
    "uncensor",
)
PRIMARY = "primary"
CELL = ["owner", "family"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """One perturbation of the population; without any choice, the primary population.

    Attributes
    ----------
    name : str
    owner_cap : int or None
        Most checkpoints an owner and family, in place of the audit's.
    lexicographic : bool
        Whether the smallest id represents an owner and family, whatever its accuracy.
    without_lineages : bool
        Whether ids that name a derived lineage are left out.
    without_family : str or None
        A family that is left out.
    """

    name: str
    owner_cap: int | None = None
    lexicographic: bool = False
    without_lineages: bool = False
    without_family: str | None = None


def paper_variants(audit: NearTieAudit) -> tuple[Variant, ...]:
    """Return the paper's perturbations for the families of an audit.

    Parameters
    ----------
    audit : NearTieAudit
        The primary analysis.

    Returns
    -------
    tuple of Variant
        Owner caps of 1 and 3 where they are below the audit's own; the smallest id as
        representative; no derived lineages; each family left out in turn. Nine for the paper's
        five families.

    References
    ----------
    P0, D.2.

    Examples
    --------
    >>> from neartie.data.example import load_example
    >>> from neartie.audits.near_tie import audit_near_ties
    >>> settings = AuditSettings(dimension=1, alpha=0.5, controls=0, bootstraps=0)
    >>> audit = audit_near_ties(load_example(), settings, rng=1)
    >>> [variant.name for variant in paper_variants(audit)][:4]
    ['owner cap 1', 'owner cap 3', 'lexicographic representative', 'no derived lineages']
    """
    frozen = audit.settings["frozen_population"]
    caps = [cap for cap in CAPS if frozen or cap < audit.settings["owner_cap"]]
    return (
        *(Variant(name=f"owner cap {cap}", owner_cap=cap) for cap in caps),
        Variant(name="lexicographic representative", lexicographic=True),
        Variant(name="no derived lineages", without_lineages=True),
        *(
            Variant(name=f"without {family}", without_family=family)
            for family in sorted(set(audit.population["family"]))
        ),
    )


def is_derived(model: str) -> bool:
    """Return whether an id names a merged, adapted, distilled, hybrid or tuned lineage.

    Parameters
    ----------
    model : str
        The whole id. The terms of D.2 count anywhere in it, in any case: the filter would
        rather leave out a model too many (`endpoint` holds `dpo`) than keep a derived one.

    Examples
    --------
    >>> is_derived("a/NeuralDPO-7b"), is_derived("a/phi-2")
    (True, False)
    """
    lower = model.casefold()
    return any(term in lower for term in LINEAGE_TERMS)


def settings_of(audit: NearTieAudit) -> AuditSettings:
    """Return the settings that an audit was made with."""
    given = {name: v for name, v in audit.settings.items() if name != "frozen_population"}
    if given["dimension"] is not None:
        given["dimension"] = tuple(given["dimension"])
    return AuditSettings(**given)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Base:
    """The data of the primary analysis, from which every perturbation starts.

    Attributes
    ----------
    responses : Responses
        In the order of ids; only items that the primary population kept.
    index : dict of str to int
        Original position of every item, for ties.
    settings : AuditSettings
    seed : int
    population : Population
        The primary one.
    """

    responses: Responses
    index: dict[str, int]
    settings: AuditSettings
    seed: int
    population: Population


def find_base(responses: Responses, audit: NearTieAudit) -> Base:
    """Return the data of an audit, after checking that it was made from these responses.

    Parameters
    ----------
    responses : Responses
    audit : NearTieAudit

    Returns
    -------
    Base

    Raises
    ------
    DataError
        If the audit is of other responses.
    """
    settings = settings_of(audit)
    ordered, index = responses.canonical()
    population = _build(ordered, settings, audit.seed, owner_cap=settings.owner_cap)
    columns = ["model", "half", "representative", "n_correct"]
    here, there = population.table[columns], audit.population[columns]
    if population.responses.n_item != audit.n_items or not (
        here.shape == there.shape and (here.to_numpy() == there.to_numpy()).all()
    ):
        raise DataError(
            "the audit was not made from these responses: its population and theirs differ; "
            "audit them again, or give the responses and tables that the audit was made from"
        )
    kept = np.isin(ordered.item_ids, population.responses.item_ids)
    return Base(
        responses=ordered if kept.all() else ordered.take(items=kept),
        index=dict(zip(ordered.item_ids, index.tolist(), strict=True)),
        settings=settings,
        seed=audit.seed,
        population=population,
    )


def perturbed_population(base: Base, variant: Variant) -> Population:
    """Return the population of a variant, with halves and representatives of its own.

    Parameters
    ----------
    base : Base
    variant : Variant

    Returns
    -------
    Population
        Built by the audit's rules with the audit's seed. Families below 15 models (or the
        audit's own minimum, where that is smaller) are dropped. Halves that came with the model
        table are kept; so are representatives, where they are still there.

    Raises
    ------
    DataError
        If the population cannot be audited, for example for want of a second family.

    References
    ----------
    P0, D.2.
    """
    if variant == Variant(name=PRIMARY):
        return base.population
    labels = label_models(base.responses)
    mask = (labels["reason"] == "").to_numpy()
    if variant.without_lineages:
        mask = mask & ~labels["model"].map(is_derived).to_numpy()
    if variant.without_family is not None:
        mask = mask & (labels["family"] != variant.without_family).to_numpy()
    if base.population.frozen:
        mask = _frozen_mask(base, labels, mask, variant)
    if not mask.any():
        raise DataError("no model is left")
    population = _build(
        base.responses.take(models=mask),
        replace(base.settings, min_family_size=_smallest(base)),
        base.seed,
        owner_cap=variant.owner_cap or base.settings.owner_cap,
    )
    return _with_representatives(population, base, lexicographic=variant.lexicographic)


def selection_table(populations: Mapping[str, Population | str]) -> pd.DataFrame:
    """Return who is left in every population, which is known before anything is fitted.

    Parameters
    ----------
    populations : mapping of str to Population or str
        By variant; a sentence in place of a population that cannot be audited.

    Returns
    -------
    DataFrame
        One row a variant, family and half: `variant`, `family`, `half`, `n_models`, `n_owners`,
        `n_representatives`, `mean_accuracy`, `reason`. A variant without a population has one
        row with the reason.

    References
    ----------
    P0, D.2.
    """
    parts = [
        pd.DataFrame({"variant": [name], "reason": [found]})
        if isinstance(found, str)
        else found.families().assign(variant=name, reason="")
        for name, found in populations.items()
    ]
    counts = ["half", "n_models", "n_owners", "n_representatives"]
    columns = ["variant", "family", *counts, "mean_accuracy", "reason"]
    table = pd.concat([part.reindex(columns=columns) for part in parts], ignore_index=True)
    return table.astype({name: "Int64" for name in counts} | {"mean_accuracy": float})


def _build(data: Responses, settings: AuditSettings, seed: int, *, owner_cap: int) -> Population:
    return build_population(
        data,
        min_family_size=settings.min_family_size,
        owner_cap=owner_cap,
        missing=settings.missing,
        rng=audit_streams(seed)[0],
    )


def _smallest(base: Base) -> int:
    own = base.settings.min_family_size
    if base.population.frozen:
        own = int(base.population.table["family"].value_counts().min())
    return min(MIN_FAMILY_SIZE, own)


def _frozen_mask(
    base: Base, labels: pd.DataFrame, mask: NDArray[np.bool_], variant: Variant
) -> NDArray[np.bool_]:
    """Apply cap and size rule, which a population with given halves is spared otherwise."""
    given = base.population.table.set_index("model")["representative"]
    left = labels[mask & labels["model"].isin(given.index).to_numpy()]
    left = left.assign(representative=left["model"].map(given))
    if variant.owner_cap is not None:
        # the lots of an unfrozen population with this seed
        salt = int(audit_streams(base.seed)[0].integers(2**63))
        left = cap_owners(left, variant.owner_cap, salt)
    size = left["family"].map(left["family"].value_counts())
    kept = left.index[size >= _smallest(base)]
    return np.isin(np.arange(len(labels)), kept)


def _with_representatives(population: Population, base: Base, *, lexicographic: bool) -> Population:
    """Choose anew where the smallest id is wanted, or a given representative is gone."""
    table = population.table
    if lexicographic:
        first = table.groupby(CELL)["model"].transform("min")
        chosen = (table["model"] == first).to_numpy()
    else:
        before = base.population.table
        cells = pd.MultiIndex.from_frame(before.loc[before["representative"] == 1, CELL])
        count = table.groupby(CELL)["representative"].transform("sum")
        lost = (count == 0).to_numpy() & pd.MultiIndex.from_frame(table[CELL]).isin(cells)
        chosen = (table["representative"] == 1).to_numpy() | (lost & choose_representatives(table))
    return replace(population, table=table.assign(representative=chosen.astype(int)))
