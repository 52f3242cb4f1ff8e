"""Does the finding survive other populations? The robustness battery (P0, 4.1 and D.2)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from neartie.audits.perturbations import (
    PRIMARY,
    Base,
    Variant,
    find_base,
    paper_variants,
    perturbed_population,
    selection_table,
)
from neartie.audits.population import Population
from neartie.audits.result import NearTieAudit
from neartie.audits.robustness_rows import (
    COLUMNS,
    VariantTask,
    primary_row,
    refit_variant,
    row_table,
)
from neartie.audits.steps import (
    Progress,
    read_items,
    silent,
)
from neartie.audits.variant_store import VariantStore
from neartie.data.dask import Client
from neartie.data.errors import DataError
from neartie.data.files import to_csv, write_csv_atomic
from neartie.data.responses import Responses
from neartie.data.wording import counted

CONTROLS: Final = 200
LEVEL: Final = 0.05
POPULATION_FILE: Final = "population_selection.csv"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Robustness:
    """How the near-tie finding fares under other populations of one benchmark.

    Attributes
    ----------
    table : DataFrame
        One row a variant, the primary analysis first: `variant`, `n_models`, `n_eligible`,
        `reversal_rate`, `random_median`, `excess_pp` (points), `p_value`, `random_low`,
        `random_high`, `tau_b`, `n_families`, `n_representatives`, `n_controls`, `reason` (why
        the variant could not be audited, else blank).
    population : DataFrame
        Who is left in every variant, from the populations alone; see `selection_table`.
    k : (int, int)
        Dimension of halves 0 and 1, that of the primary analysis throughout.
    settings : dict
    warnings : tuple of str
    """

    table: pd.DataFrame
    population: pd.DataFrame
    k: tuple[int, int]
    settings: dict[str, Any]
    warnings: tuple[str, ...]

    @property
    def n_positive(self) -> int:
        """Perturbations (without the primary analysis) whose excess is above 0."""
        return int((self.table["excess_pp"].iloc[1:] > 0).sum())

    @property
    def n_significant(self) -> int:
        """Perturbations (without the primary analysis) with p of at most .05."""
        return int((self.table["p_value"].iloc[1:] <= LEVEL).sum())

    def to_dict(self) -> dict[str, Any]:
        """Return counts, settings and warnings as plain values."""
        return {
            "n_variants": len(self.table) - 1,
            "n_positive": self.n_positive,
            "n_significant": self.n_significant,
            "k": list(self.k),
            "settings": self.settings,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        defined = self.table["excess_pp"].iloc[1:].dropna()
        if defined.empty:
            return "robustness: no perturbation of the population could be audited"
        return (
            f"robustness: excess above 0 in {self.n_positive} of "
            f"{counted(len(self.table) - 1, 'perturbation')}, p <= .05 in {self.n_significant}; "
            f"excess from {defined.min():+.1f} to {defined.max():+.1f} points"
        )


def check_robustness(
    responses: Responses,
    audit: NearTieAudit,
    *,
    variants: Sequence[Variant] | None = None,
    controls: int = CONTROLS,
    store: str | PathLike[str] | None = None,
    client: Client | None = None,
    progress: Progress | None = None,
) -> Robustness:
    """Return the audit of perturbed populations, with K of the primary analysis.

    Parameters
    ----------
    responses : Responses
        Those that the audit was made from.
    audit : NearTieAudit
        The primary analysis; gives K, settings and seed.
    variants : sequence of Variant, optional
        The paper's, for the families at hand, when left out.
    controls : int
        Matched-random subtests of every variant.
    store : path, optional
        Folder for finished variants; a battery that was stopped goes on from there. The
        population table is written there first, before any perturbed result.
    client : Dask client, optional
        Variants run on its workers; let these be processes of one thread each.
    progress : callable, optional
        Called with the name of a step and the share of the battery that is done.

    Returns
    -------
    Robustness
        The same to the last bit whatever the number of workers.

    Raises
    ------
    DataError
        If the audit is of other responses, or the store of another battery or damaged.
    ValueError
        If two variants share a name, or no controls are asked for.
    ConvergenceError
        If residual effects do not converge.

    Notes
    -----
    Halves, representatives, spectral directions, residual effects, anchors and controls are
    made anew; K, the primary anchor fraction and the primary band are kept. A variant whose
    population cannot be audited has missing values and a reason. Perturbations share most of
    their models: their number of small p values is no number of independent findings.

    References
    ----------
    P0, 4.1 and D.2, Table 6.

    Examples
    --------
    >>> from neartie.data.example import load_example
    >>> from neartie.audits.near_tie import audit_near_ties
    >>> from neartie.audits.settings import AuditSettings
    >>> settings = AuditSettings(dimension=2, alpha=0.5, controls=200, bootstraps=0)
    >>> audit = audit_near_ties(load_example(), settings, rng=1)
    >>> caps = [Variant(name="owner cap 1", owner_cap=1)]
    >>> checked = check_robustness(load_example(), audit, variants=caps, controls=50)
    >>> checked.table["variant"].tolist()
    ['primary', 'owner cap 1']
    """
    if controls < 1:
        raise ValueError(f"the battery needs at least 1 control, got {controls}")
    say = progress or silent
    wanted = tuple(paper_variants(audit) if variants is None else variants)
    names = [variant.name for variant in wanted]
    if len(set(names)) < len(names) or PRIMARY in names:
        raise ValueError(f"variants need names of their own, other than {PRIMARY!r}: got {names}")
    base = find_base(responses, audit)
    # what tells one battery from another takes seconds to write down, and only a store asks for it
    signature = {} if store is None else _signature(base, audit, wanted, controls)
    kept = VariantStore(store, signature, columns=COLUMNS)
    say("populations", 0)
    populations = {PRIMARY: base.population} | {v.name: _population(base, v) for v in wanted}
    selection = selection_table(populations)
    if store is not None:
        write_csv_atomic(selection, Path(store) / POPULATION_FILE)
    open_ = {n: p for n, p in populations.items() if n != PRIMARY and n not in kept.done}
    for number, row in enumerate(_run(open_, base, audit, controls, client)):
        kept.add(row)
        say(f"robustness, {row['variant']}", (number + 1) / len(open_))
    rows = [primary_row(audit), *(kept.done[name] for name in names)]
    return Robustness(
        table=row_table(rows),
        population=selection,
        k=audit.k,
        settings={"controls": controls, "variants": names, "seed": audit.seed},
        warnings=_warnings(rows),
    )


def _run(
    populations: Mapping[str, Population | str],
    base: Base,
    audit: NearTieAudit,
    controls: int,
    client: Client | None,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of the variants in their order."""
    settings = replace(
        base.settings,
        dimension=audit.k,
        alpha=base.settings.alphas[0],
        bands=(base.settings.primary_band,),
        controls=controls,
        bootstraps=0,
    )
    tasks = [
        VariantTask(
            variant=name,
            population=found,
            items=None if isinstance(found, str) else read_items(found, base.index),
            settings=settings,
            seed=base.seed,
        )
        for name, found in populations.items()
    ]
    if client is None:
        yield from map(refit_variant, tasks)
        return
    futures = [
        client.submit(refit_variant, client.scatter(task, hash=False), pure=False) for task in tasks
    ]
    for future in futures:
        yield future.result()


def _population(base: Base, variant: Variant) -> Population | str:
    try:
        return perturbed_population(base, variant)
    except DataError as error:
        return str(error)


def _signature(
    base: Base, audit: NearTieAudit, variants: Sequence[Variant], controls: int
) -> dict[str, Any]:
    data = hashlib.blake2b(np.ascontiguousarray(base.responses.values).tobytes())
    for table in (base.responses.items, base.responses.models):
        data.update(to_csv(table).encode())
    data.update(repr(sorted(base.index.items())).encode())
    return {
        "data": data.hexdigest(),
        "seed": audit.seed,
        "k": audit.k,
        "settings": audit.settings,
        "controls": controls,
        "variants": [asdict(variant) for variant in variants],
        "versions": audit.versions,
    }


def _warnings(rows: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(
        f"{row['variant']}: no result; {row['reason']}."
        for row in rows
        if row["excess_pp"] is None and row["reason"]
    )
