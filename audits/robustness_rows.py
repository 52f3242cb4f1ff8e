"""One variant of the robustness battery: its task, its refit, its row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from neartie.audits.controls import compare_with_random
from neartie.audits.perturbations import PRIMARY
from neartie.audits.population import Population
from neartie.audits.result import NearTieAudit
from neartie.audits.settings import AuditSettings
from neartie.audits.steps import HALVES, Items, audit_streams, purify_half, run_controls, silent
from neartie.audits.targets import mean_tau_b, pooled, score_target

COLUMNS: Final = (
    "variant",
    "n_models",
    "n_eligible",
    "reversal_rate",
    "random_median",
    "excess_pp",
    "p_value",
    "random_low",
    "random_high",
    "tau_b",
    "n_families",
    "n_representatives",
    "n_controls",
    "reason",
)
_COUNTS = ("n_models", "n_eligible", "n_families", "n_representatives", "n_controls")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class VariantTask:
    """All that a worker needs for one variant.

    Attributes
    ----------
    variant : str
    population : Population or str
        A sentence where there is none.
    items : Items or None
    settings : AuditSettings
        With the frozen K.
    seed : int
    """

    variant: str
    population: Population | str
    items: Items | None
    settings: AuditSettings
    seed: int


def refit_variant(task: VariantTask) -> dict[str, Any]:
    """Return the row of one variant: everything but K is fitted anew.

    Parameters
    ----------
    task : VariantTask

    Returns
    -------
    dict
        With the columns of the battery's table.

    Raises
    ------
    ConvergenceError
        If residual effects do not converge.
    """
    if isinstance(task.population, str) or task.items is None:
        return _undefined(task)
    settings, streams = task.settings, audit_streams(task.seed)
    purified = [
        purify_half(
            task.population,
            task.items,
            half,
            settings.dimensions[half],
            settings.alphas[0],
            settings,
            streams[3 + half],
            refit=False,
        )
        for half in HALVES
    ]
    targets = [score_target(task.population, half, purified[1 - half]) for half in HALVES]
    random = run_controls(targets, purified, settings, streams[5:7], silent)
    count = pooled(targets, settings.primary_band)
    compared = compare_with_random(count, random, 0) if random is not None else None
    table = task.population.table
    return {
        "variant": task.variant,
        "n_models": len(table),
        "n_eligible": count.n_eligible,
        "reversal_rate": count.rate,
        "random_median": compared.median if compared else None,
        "excess_pp": compared.excess_pp if compared else None,
        "p_value": compared.p_value if compared else None,
        "random_low": compared.low if compared else None,
        "random_high": compared.high if compared else None,
        "tau_b": mean_tau_b(targets),
        "n_families": table["family"].nunique(),
        "n_representatives": int(table["representative"].sum()),
        "n_controls": settings.controls,
        "reason": "" if count.n_eligible else "no eligible pair",
    }


def _undefined(task: VariantTask) -> dict[str, Any]:
    empty: dict[str, Any] = dict.fromkeys(COLUMNS)
    return empty | {"variant": task.variant, "reason": str(task.population)}


def primary_row(audit: NearTieAudit) -> dict[str, Any]:
    """Return the primary analysis as a row of the battery's table.

    Parameters
    ----------
    audit : NearTieAudit

    Returns
    -------
    dict
    """
    band, table = audit.band(), audit.population
    shared = ("random_median", "excess_pp", "p_value", "random_low", "random_high")
    found = {
        "variant": PRIMARY,
        "n_models": len(table),
        "n_eligible": audit.n_eligible,
        "reversal_rate": band["rate"],
        **{name: band[name] for name in shared},
        "tau_b": audit.tau_b,
        "n_families": table["family"].nunique(),
        "n_representatives": int(table["representative"].sum()),
        "n_controls": audit.settings["controls"],
        "reason": "" if audit.n_eligible else "no eligible pair",
    }
    return {name: found[name] for name in COLUMNS}


def row_table(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return rows of a battery as a table with columns of one type each."""
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    text = ("variant", "reason")
    kinds = {n: "Int64" if n in _COUNTS else float for n in COLUMNS if n not in text}
    return table.astype(kinds)
