"""Simulations of what is judged over several benchmarks: the battery's rule, the signs of sources.

Every leaderboard is one benchmark; five in a row make a collection, as in the paper.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from neartie.audits.attribution import Attribution, attribute_sources
from neartie.audits.collection import AuditCollection
from neartie.audits.near_tie import audit_near_ties
from neartie.audits.pooled_signs import pool_attributions
from neartie.audits.result import NearTieAudit
from neartie.audits.robustness import Robustness, check_robustness
from neartie.audits.settings import AuditSettings
from neartie.data.simulate import simulate_leaderboard

CONTROLS = 99
SETTINGS = AuditSettings(alpha=0.5, controls=CONTROLS, bootstraps=0)
BENCHMARKS = 5

type Battery = tuple[NearTieAudit, Robustness]


def batteries(
    board: dict[str, Any], replicates: int, *, dimension: int | None = None, seed: int = 1
) -> list[Battery]:
    """Return audits of simulated leaderboards with their robustness batteries."""
    settings = replace(SETTINGS, dimension=dimension, grid=(1, 2, 4))
    found = []
    for number in range(replicates):
        data = simulate_leaderboard(rng=seed + number, **board).responses
        audit = audit_near_ties(data, settings, rng=number)
        found.append((audit, check_robustness(data, audit, controls=CONTROLS)))
    return found


def variant_p_values(found: list[Battery]) -> pd.DataFrame:
    """Return p by leaderboard and variant; missing where a variant could not be audited."""
    rows = [part.table.set_index("variant")["p_value"] for _, part in found]
    return pd.DataFrame(rows).reset_index(drop=True).astype(float)


def passing(found: list[Battery]) -> pd.DataFrame:
    """Return by collection of five and variant whether it passes the rule (P0, eqs 44-46)."""
    rows = []
    for first in range(0, len(found) - BENCHMARKS + 1, BENCHMARKS):
        parts = {f"bench{i}": part for i, part in enumerate(found[first : first + BENCHMARKS])}
        collection = AuditCollection(
            audits={name: audit for name, (audit, _) in parts.items()},
            robustness={name: part for name, (_, part) in parts.items()},
        )
        rows.append(collection.passing_table().set_index("variant")["passes"])
    return pd.DataFrame(rows).reset_index(drop=True).astype(bool)


def attributions(
    board: dict[str, Any], replicates: int, *, permutations: int = 0, seed: int = 1
) -> list[Attribution]:
    """Return the sign checks of simulated leaderboards, on the signatures of whole audits."""
    settings = replace(SETTINGS, controls=0, dimension=4)
    found = []
    for number in range(replicates):
        data = simulate_leaderboard(rng=seed + number, **board).responses
        audit = audit_near_ties(data, settings, rng=number)
        found.append(attribute_sources(audit, data, permutations=permutations, rng=number))
    return found


def pooled_rule(found: list[Attribution]) -> np.ndarray:
    """Return by collection of five whether source effects replicate by the paper's rule (D.3)."""
    return np.array(
        [
            pool_attributions(
                {f"bench{i}": part for i, part in enumerate(found[first : first + BENCHMARKS])}
            ).supported
            for first in range(0, len(found) - BENCHMARKS + 1, BENCHMARKS)
        ]
    )
