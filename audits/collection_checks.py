"""Audits of several benchmarks with their further checks, and what holds over all (P0, B and D)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from neartie.audits.collection import AuditCollection
from neartie.audits.common_models import CommonModelShifts, compare_common_models
from neartie.audits.control_comparison import PERMUTED
from neartie.audits.further_checks import FurtherChecks
from neartie.audits.pooled_signs import PooledChecks, pool_attributions
from neartie.audits.result import NearTieAudit


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CollectionChecks:
    """Audits of several benchmarks, with their further checks.

    Attributes
    ----------
    audits : AuditCollection
    checks : mapping of str to FurtherChecks
        By benchmark, in the order of the audits.
    common : CommonModelShifts or None
        Family shifts over the same models; None with one benchmark.
    pooled : PooledChecks or None
        Of benchmarks whose sources could be checked; None without.
    seed : int
    """

    audits: AuditCollection
    checks: Mapping[str, FurtherChecks] = field(default_factory=dict)
    common: CommonModelShifts | None = None
    pooled: PooledChecks | None = None
    seed: int = 0

    def primary_table(self) -> pd.DataFrame:
        """Return `AuditCollection.primary_table`, with the excess over permuted labels if there.

        Returns
        -------
        DataFrame
            Also `permuted_median`, `permuted_excess_pp`, `permuted_p_value` where any benchmark
            has that control; missing for the others.
        """
        table = self.audits.primary_table()
        rows = [found.control(PERMUTED) or {} for found in self.checks.values()]
        if any(rows):
            for key in ("median", "excess_pp", "p_value"):
                values = [row.get(key) for row in rows]
                table[f"permuted_{key}"] = pd.Series(values, dtype=float)
        return table

    def tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Yield the tables by the name of their file; a column `benchmark` comes first."""
        yield "benchmarks", self.primary_table()
        yield "thresholds", self.audits.threshold_table()
        yield "fractions", self.audits.fraction_table()
        if self.audits.robustness:
            yield "robustness", self.audits.robustness_table()
            yield "passing", self.audits.passing_table()
        if self.common is not None:
            yield "common_models", self.common.table
        of_each: dict[str, list[pd.DataFrame]] = {}
        for benchmark, found in self.checks.items():
            for name, table in found.tables():
                if name in ("controls", "replication", "permuted_replication", "family_shifts"):
                    of_each.setdefault(name, []).append(_named(table, benchmark))
        for name, parts in of_each.items():
            yield name, pd.concat(parts, ignore_index=True)

    def to_dict(self) -> dict[str, Any]:
        """Return headline numbers, pooled checks and the passing rule as plain values."""
        found: dict[str, Any] = {"benchmarks": self.primary_table().to_dict("records")}
        passing = self.audits.passing_table()
        if len(passing):
            found["passing"] = passing.to_dict("records")
        if self.pooled is not None:
            found["source_checks"] = {
                "effects": self.pooled.effects.to_dict(),
                "shifts": self.pooled.shifts.to_dict(),
                "n_supporting": self.pooled.n_supporting,
                "supported": self.pooled.supported,
            }
        first = next(iter(self.audits.audits.values()))
        return found | {
            "seed": self.seed,
            "versions": first.versions,
            "warnings": list(self.warnings),
        }

    @property
    def warnings(self) -> tuple[str, ...]:
        """Caveats of what is computed over benchmarks."""
        return () if self.common is None else self.common.warnings


def check_collection(
    audits: Mapping[str, NearTieAudit], checks: Mapping[str, FurtherChecks], *, seed: int
) -> CollectionChecks:
    """Return audits and checks of several benchmarks with what holds over all of them.

    Parameters
    ----------
    audits : mapping of str to NearTieAudit
        By benchmark.
    checks : mapping of str to FurtherChecks
        Of every one of them.
    seed : int
        Of the owner bootstrap over common models.

    Returns
    -------
    CollectionChecks

    Raises
    ------
    DataError
        If a model has another owner or family in another benchmark.
    """
    attributed = {
        name: found.attribution
        for name, found in checks.items()
        if found.attribution is not None and found.attribution.effects.n
    }
    batteries = {n: found.robustness for n, found in checks.items() if found.robustness is not None}
    shifts_wanted = any(found.shifts is not None for found in checks.values())
    several = len(audits) > 1 and shifts_wanted
    return CollectionChecks(
        audits=AuditCollection(audits=audits, robustness=batteries),
        checks={name: checks[name] for name in audits},
        common=compare_common_models(audits, rng=seed) if several else None,
        pooled=pool_attributions(attributed) if attributed else None,
        seed=seed,
    )


def _named(table: pd.DataFrame, benchmark: str) -> pd.DataFrame:
    named = table.copy()
    named.insert(0, "benchmark", benchmark)
    return named
