"""Several benchmarks at once: their audits side by side, and rules over all of them (P0, 5 and D)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from neartie.audits.labelling import label_models
from neartie.audits.near_tie import audit_near_ties
from neartie.audits.population import build_population
from neartie.audits.result import NearTieAudit
from neartie.audits.robustness import LEVEL, Robustness
from neartie.audits.settings import AuditSettings
from neartie.audits.steps import Progress, audit_streams, seed_of, silent
from neartie.data.errors import DataError
from neartie.data.responses import Responses


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class AuditCollection:
    """Audits of several benchmarks, by name.

    Attributes
    ----------
    audits : mapping of str to NearTieAudit
    robustness : mapping of str to Robustness
        Of none, some or all of them.
    """

    audits: Mapping[str, NearTieAudit]
    robustness: Mapping[str, Robustness] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse an empty collection, and batteries of unknown benchmarks."""
        if not self.audits:
            raise DataError("a collection needs at least one audit")
        unknown = sorted(set(self.robustness) - set(self.audits))
        if unknown:
            raise DataError(f"there is a robustness battery, but no audit, of {unknown[0]!r}")

    def primary_table(self) -> pd.DataFrame:
        """Return the primary results (P0, Table 1).

        Returns
        -------
        DataFrame
            `benchmark`, `n_items`, `n_models`, `n_representatives`, `k_0`, `k_1`, `tau_b`,
            `n_eligible`, `reversal_rate`, `random_median` (proportions), `excess_pp` (points),
            `p_value`, `all_pairs_rate`.
        """
        shared = ("tau_b", "n_eligible", "reversal_rate", "random_median", "excess_pp", "p_value")
        rows = []
        for name, audit in self.audits.items():
            found = audit.to_dict()
            sizes = {n: found[n] for n in ("n_items", "n_models", "n_representatives")}
            rows.append(
                {"benchmark": name, **sizes, "k_0": audit.k[0], "k_1": audit.k[1]}
                | {column: found[column] for column in (*shared, "all_pairs_rate")}
            )
        floats = [c for c in (*shared, "all_pairs_rate") if c != "n_eligible"]
        return pd.DataFrame(rows).astype(dict.fromkeys(floats, float))

    def threshold_table(self) -> pd.DataFrame:
        """Return all bands of all benchmarks (P0, Table 4): `benchmark` and `thresholds`."""
        return self._stacked({name: audit.thresholds for name, audit in self.audits.items()})

    def fraction_table(self) -> pd.DataFrame:
        """Return all anchor fractions of all benchmarks (P0, Table 5)."""
        return self._stacked({name: audit.fractions for name, audit in self.audits.items()})

    def robustness_table(self) -> pd.DataFrame:
        """Return all perturbations of all benchmarks (P0, Table 6), in rows.

        Returns
        -------
        DataFrame
            `benchmark` and the columns of `Robustness.table`; empty without batteries.
        """
        return self._stacked({name: found.table for name, found in self.robustness.items()})

    def passing_table(self) -> pd.DataFrame:
        """Return which perturbations pass the rule over benchmarks (P0, eqs 44-46).

        Returns
        -------
        DataFrame
            `variant`, `n_benchmarks` (that have it), `n_undefined` (of these, without a result),
            `n_positive`, `n_significant` (p of at most .05), `needed`, `passes` (0 or 1).

        Notes
        -----
        Three of five benchmarks are needed, or that share of another number, rounded up. A
        perturbation without a result counts against passing. With fewer than three benchmarks
        the rule says little.
        """
        rows = []
        table = self.robustness_table()
        if table.empty:
            columns = ["variant", "n_benchmarks", "n_undefined", "n_positive", "n_significant"]
            return pd.DataFrame(columns=[*columns, "needed", "passes"])
        for variant, part in table.groupby("variant", sort=False):
            positive = int((part["excess_pp"] > 0).sum())
            significant = int((part["p_value"] <= LEVEL).sum())
            needed = needed_benchmarks(len(part))
            rows.append(
                {
                    "variant": variant,
                    "n_benchmarks": len(part),
                    "n_undefined": int(part["excess_pp"].isna().sum()),
                    "n_positive": positive,
                    "n_significant": significant,
                    "needed": needed,
                    "passes": int(min(positive, significant) >= needed),
                }
            )
        return pd.DataFrame(rows)

    @staticmethod
    def _stacked(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
        parts = [table.assign(benchmark=name) for name, table in tables.items()]
        if not parts:
            return pd.DataFrame(columns=["benchmark"])
        whole = pd.concat(parts, ignore_index=True)
        return whole[["benchmark", *(c for c in whole.columns if c != "benchmark")]]


def needed_benchmarks(n: int) -> int:
    """Return how many of n benchmarks the passing rule asks for: three fifths, rounded up.

    Examples
    --------
    >>> [needed_benchmarks(n) for n in (1, 2, 3, 4, 5)]
    [1, 2, 2, 3, 3]
    """
    return -(-3 * n // 5)


def audit_collection(
    benchmarks: Mapping[str, Responses],
    settings: AuditSettings | None = None,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
) -> AuditCollection:
    """Return the audits of several benchmarks under the same settings and seed.

    Parameters
    ----------
    benchmarks : mapping of str to Responses
    settings : AuditSettings, optional
    rng : Generator, int or None
        One seed serves all benchmarks: the cap keeps the same checkpoints of a cell that all of
        them have.
    progress : callable, optional
        Steps are named `benchmark: step`.

    Returns
    -------
    AuditCollection

    Raises
    ------
    DataError
        If a benchmark does not allow the audit; names it.
    """
    say = progress or silent
    seed = seed_of(rng)
    audits = {}
    for name, responses in benchmarks.items():

        def step(text: str, share: float, name: str = name) -> None:
            say(f"{name}: {text}", share)

        try:
            audits[name] = audit_near_ties(responses, settings, rng=seed, progress=step)
        except DataError as error:
            raise DataError(f"{name}: {error}") from error
    return AuditCollection(audits=audits)


def exact_common_models(
    benchmarks: Mapping[str, Responses],
    settings: AuditSettings | None = None,
    *,
    rng: np.random.Generator | int | None = None,
) -> dict[str, Responses]:
    """Return all benchmarks over exactly the same models, with the same halves (P0, B.4).

    Parameters
    ----------
    benchmarks : mapping of str to Responses
        At least two.
    settings : AuditSettings, optional
        Family size, owner cap, and what to do about missing answers.
    rng : Generator, int or None
        Chooses the checkpoints under the cap.

    Returns
    -------
    dict of str to Responses
        To be audited as they are. Owner cap, halves and representatives are decided once, from
        the accuracy over the items of all benchmarks together, and stand in the model tables.

    Raises
    ------
    DataError
        If fewer than two benchmarks are given, no model is in all of them, a model's owner or
        family differs between them, or the common models cannot be audited.

    Notes
    -----
    In separate audits the representative of an owner and family is chosen by the accuracy on each
    benchmark, so that different checkpoints may be compared; here they cannot.
    """
    if len(benchmarks) < 2:
        raise DataError(f"common models need at least two benchmarks, got {len(benchmarks)}")
    settings = settings or AuditSettings()
    ordered = {name: data.canonical()[0] for name, data in benchmarks.items()}
    common = sorted(set.intersection(*(set(d.model_ids) for d in ordered.values())))
    if not common:
        raise DataError(f"no model is in all of {', '.join(benchmarks)}")
    parts = {n: d.take(models=np.isin(d.model_ids, common)) for n, d in ordered.items()}
    labels = _same_labels(parts)
    ids = [f"{name}\t{item}" for name, data in parts.items() for item in data.item_ids]
    pooled = Responses.build(
        np.concatenate([data.values for data in parts.values()]), items=ids, models=labels
    )
    population = build_population(
        pooled,
        min_family_size=settings.min_family_size,
        owner_cap=settings.owner_cap,
        missing=settings.missing,
        rng=audit_streams(seed_of(rng))[0],
    )
    table = population.table[["model", "owner", "family", "half", "representative"]]
    items = set(population.responses.item_ids)
    result = {}
    for name, data in benchmarks.items():
        rows = np.array([f"{name}\t{item}" in items for item in data.item_ids])
        columns = [data.model_ids.index(model) for model in table["model"]]
        part = data.take(items=rows, models=np.array(columns, dtype=np.intp))
        result[name] = Responses.build(
            part.values, items=part.items, models=table, notices=data.notices
        )
    return result


def _same_labels(parts: Mapping[str, Responses]) -> pd.DataFrame:
    first, *others = parts
    labels = label_models(parts[first])[["model", "owner", "family"]]
    for name in others:
        other = label_models(parts[name])
        for column in ("owner", "family"):
            here, there = labels[column].fillna(""), other[column].fillna("")
            differs: Any = np.flatnonzero((here != there).to_numpy())
            if len(differs):
                at = int(differs[0])
                raise DataError(
                    f"model {labels['model'].iloc[at]!r} has {column} {here.iloc[at]!r} in "
                    f"{first!r} and {there.iloc[at]!r} in {name!r}: give it the same in both "
                    "model tables"
                )
    return labels
