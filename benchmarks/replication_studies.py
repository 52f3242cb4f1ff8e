"""Simulations of the tests on item signatures, sources and owners: p-values, by replicate.

Whole leaderboards go through the audit where a test needs its fits; source effects and owner shifts
are drawn directly, from models that the functions below state. The audit of the bundled example
lends item ids, sources and models. `replication.py` makes the table.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from neartie.audits.attribution import attribute_sources
from neartie.audits.common_models import compare_common_models
from neartie.audits.family_shifts import shift_families
from neartie.audits.near_tie import audit_near_ties
from neartie.audits.replication import STATISTICS, replicate_signatures
from neartie.audits.replication_families import replicate_under_permuted_families
from neartie.audits.result import NearTieAudit
from neartie.audits.settings import AuditSettings
from neartie.data.example import load_example
from neartie.data.responses import Responses
from neartie.data.simulate import simulate_leaderboard

PLAIN = AuditSettings(alpha=0.5, controls=0, bootstraps=0)


@cache
def example(dimension: int = 2) -> tuple[NearTieAudit, Responses]:
    """Return the audit that lends its ids, and its responses."""
    data = load_example()
    return audit_near_ties(data, replace(PLAIN, dimension=dimension), rng=1), data


def with_effects(audit: NearTieAudit, effects: np.ndarray) -> NearTieAudit:
    """Return the audit with other signatures, (2, n_item, n_family)."""
    return replace(audit, dif=audit.dif.assign(effect=effects.ravel()))


def drawn_signatures(
    audit: NearTieAudit, *, item: float, source: float, noise: float, rng: np.random.Generator
) -> np.ndarray:
    """Return effects of both halves: item and source parts in common, noise of their own.

    Items differ in the scale of their noise, the same in both halves, as items differ in how much
    they tell.
    """
    sources = audit.items["source"].iloc[: audit.n_items]
    n_family = audit.dif["family"].nunique()
    code = sources.astype("category").cat.codes.to_numpy()
    common = item * rng.normal(size=(audit.n_items, n_family))
    common += source * rng.normal(size=(code.max() + 1, n_family))[code]
    scale = noise * np.exp(0.3 * rng.normal(size=(audit.n_items, 1)))
    effects = common + scale * rng.normal(size=(2, audit.n_items, n_family))
    return effects - effects.mean(axis=2, keepdims=True)


def replication_by_leaderboard(
    board: dict[str, Any], replicates: int, *, permutations: int = 199, seed: int = 1
) -> pd.DataFrame:
    """Return p-values of the three statistics on simulated leaderboards."""
    rows = []
    for number in range(replicates):
        data = simulate_leaderboard(rng=seed + number, **board).responses
        audit = audit_near_ties(data, replace(PLAIN, dimension=4), rng=number)
        found = replicate_signatures(audit, data, permutations=permutations, rng=number)
        rows.append(found.table.set_index("statistic")["p_value"])
    return pd.DataFrame(rows)[list(STATISTICS)].reset_index(drop=True)


def replication_by_families(
    board: dict[str, Any], replicates: int, *, permutations: int = 19, seed: int = 1
) -> pd.DataFrame:
    """Return p-values of the three statistics beside refits under permuted families."""
    rows = []
    for number in range(replicates):
        data = simulate_leaderboard(rng=seed + number, **board).responses
        audit = audit_near_ties(data, replace(PLAIN, dimension=4), rng=number)
        found = replicate_under_permuted_families(
            audit, data, permutations=permutations, rng=number
        )
        rows.append(found.table.set_index("statistic")["p_value"])
    return pd.DataFrame(rows)[list(STATISTICS)].reset_index(drop=True)


def replication_by_signature(
    replicates: int, *, item: float, permutations: int = 199, seed: int = 1
) -> pd.DataFrame:
    """Return p-values of the three statistics on drawn signatures without unequal noise."""
    audit, data = example()
    rng = np.random.default_rng(seed)
    rows = []
    n_family = audit.dif["family"].nunique()
    for _ in range(replicates):
        common = item * rng.normal(size=(audit.n_items, n_family))
        effects = common + rng.normal(size=(2, audit.n_items, n_family))
        effects -= effects.mean(axis=2, keepdims=True)
        found = replicate_signatures(
            with_effects(audit, effects), data, permutations=permutations, rng=rng
        )
        rows.append(found.table.set_index("statistic")["p_value"])
    return pd.DataFrame(rows)[list(STATISTICS)].reset_index(drop=True)


def source_signs(
    replicates: int,
    *,
    item: float = 0.0,
    source: float = 0.0,
    permutations: int = 199,
    seed: int = 1,
) -> pd.DataFrame:
    """Return binomial and shuffled-label p-values of source-effect signs."""
    audit, data = example()
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(replicates):
        effects = drawn_signatures(audit, item=item, source=source, noise=0.5, rng=rng)
        found = attribute_sources(
            with_effects(audit, effects), data, permutations=permutations, rng=rng
        )
        rows.append({"binomial": found.effects.p_value, "labels": found.p_labels})
    return pd.DataFrame(rows)


def owner_coverage(
    replicates: int, *, owner_sd: float = 1.0, bootstraps: int = 400, seed: int = 1
) -> np.ndarray:
    """Return, by replicate and family, whether the interval holds the true mean shift of zero."""
    audit, _ = example()
    rng = np.random.default_rng(seed)
    table = audit.scores
    owners = sorted(set(table["owner"]))
    code = pd.Categorical(table["owner"], categories=owners).codes
    held = []
    for _ in range(replicates):
        shift = owner_sd * rng.normal(size=len(owners))[code] + rng.normal(size=len(table))
        scores = table.assign(anchor=table["full"] + shift / 100)
        found = shift_families(replace(audit, scores=scores), bootstraps=bootstraps, rng=rng).table
        held.append((found["low_pp"] <= 0) & (found["high_pp"] >= 0))
    return np.array(held)


def common_coverage(
    replicates: int, *, owner_sd: float = 1.0, bootstraps: int = 400, seed: int = 1
) -> np.ndarray:
    """Return, by replicate and family, whether a difference's interval holds the true one of zero.

    Two benchmarks over the same models; an owner moves alike in both, a model does not.
    """
    audit, _ = example()
    rng = np.random.default_rng(seed)
    table = audit.scores
    owners = sorted(set(table["owner"]))
    code = pd.Categorical(table["owner"], categories=owners).codes
    held = []
    for _ in range(replicates):
        shared, audits = owner_sd * rng.normal(size=len(owners))[code], {}
        for name in ("left", "right"):
            own = owner_sd * rng.normal(size=len(owners))[code] + rng.normal(size=len(table))
            scores = table.assign(anchor=table["full"] + (shared + own) / 100)
            audits[name] = replace(audit, scores=scores)
        found = compare_common_models(audits, bootstraps=bootstraps, rng=rng).table
        held.append((found["low_pp"] <= 0) & (found["high_pp"] >= 0))
    return np.array(held)
