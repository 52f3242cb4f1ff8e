"""What is asked of an audit beyond its headline, and the answers together (P0, section 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Any, Final

import pandas as pd

from neartie.audits.attribution import Attribution, attribute_sources
from neartie.audits.control_comparison import (
    DISCRIMINATION,
    PERMUTED,
    PROFILE,
    ControlComparison,
    compare_controls,
)
from neartie.audits.family_shifts import FamilyShifts, shift_families
from neartie.audits.replication import Replication, replicate_signatures
from neartie.audits.replication_families import (
    FamilyReplication,
    replicate_under_permuted_families,
)
from neartie.audits.result import NearTieAudit
from neartie.audits.robustness import CONTROLS, Robustness, check_robustness
from neartie.audits.steps import N_STREAM, Progress, audit_streams, silent
from neartie.data.dask import Client
from neartie.data.responses import Responses

# Streams after the audit's own and those of the controls.
_FIRST_STREAM: Final = N_STREAM + 4
_FAMILY_STREAM: Final = N_STREAM + 9


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckChoices:
    """Which further checks are wanted.

    Attributes
    ----------
    robustness, replication, attribution : bool
    permutations : int
        Of family labels; 0 leaves out the controls beyond the matched random one. With
        `replication`, signatures are compared with as many permutations, too.
    discrimination : int or None
        Random subtests matched on discrimination, and on the profile, beside permuted labels; as
        many as the audit has controls when left out.
    robustness_controls : int
        Random subtests of every perturbed population.
    """

    robustness: bool = False
    replication: bool = False
    attribution: bool = False
    permutations: int = 0
    discrimination: int | None = None
    robustness_controls: int = CONTROLS

    @property
    def any(self) -> bool:
        """Whether something is wanted at all."""
        return bool(self.robustness or self.replication or self.attribution or self.permutations)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FurtherChecks:
    """The further checks of one audit; None where not asked for.

    Attributes
    ----------
    robustness : Robustness or None
    replication : Replication or None
    family_replication : FamilyReplication or None
        Comes where both replication and permutations are wanted.
    attribution : Attribution or None
    shifts : FamilyShifts or None
        Comes with the attribution.
    controls : ControlComparison or None
    """

    robustness: Robustness | None = None
    replication: Replication | None = None
    family_replication: FamilyReplication | None = None
    attribution: Attribution | None = None
    shifts: FamilyShifts | None = None
    controls: ControlComparison | None = None

    def control(self, name: str = PERMUTED) -> dict[str, Any] | None:
        """Return the row of a control, None where it was not made or says nothing."""
        if self.controls is None or name not in set(self.controls.table["control"]):
            return None
        row = self.controls.row(name)
        return None if pd.isna(row["excess_pp"]) or pd.isna(row["p_value"]) else row

    def to_dict(self) -> dict[str, Any]:
        """Return what joins the audit's own numbers in `summary.json`; empty without checks."""
        found: dict[str, Any] = {}
        if self.controls is not None:
            names = {"permuted": PERMUTED, "discrimination": DISCRIMINATION, "profile": PROFILE}
            for prefix, name in names.items():
                row = self.control(name) or {}
                for key in ("median", "excess_pp", "p_value"):
                    found[f"{prefix}_{key}"] = row.get(key)
            found["controls"] = self.controls.to_dict()
        names = {"robustness": "robustness", "replication": "replication"}
        names |= {"family_replication": "permuted_replication"}
        names |= {"attribution": "attribution", "shifts": "family_shifts"}
        for key, name in names.items():
            part = getattr(self, key)
            if part is not None:
                found[name] = part.to_dict()
        return found

    def tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Yield the tables by the name of their file."""
        if self.controls is not None:
            yield "controls", self.controls.table
            yield "control_rates", self.controls.rates
        if self.robustness is not None:
            yield "robustness", self.robustness.table
            yield "population_selection", self.robustness.population
        if self.replication is not None:
            yield "replication", self.replication.table
            yield "replication_families", self.replication.families
            yield "signatures", self.replication.items
        if self.family_replication is not None:
            yield "permuted_replication", self.family_replication.table
        if self.attribution is not None:
            effects, shifts = self.attribution.source_effects, self.attribution.source_shifts
            yield "source_effects", effects.astype({"replicated": "Int64"})
            yield "source_shifts", shifts.astype({"retained": "Int64"})
        if self.shifts is not None:
            yield "family_shifts", self.shifts.table

    @property
    def warnings(self) -> tuple[str, ...]:
        """Caveats of all checks, each with the name of its check before it."""
        named = (
            ("Robustness", self.robustness),
            ("Replication", self.replication),
            ("Attribution", self.attribution),
            ("Family shifts", self.shifts),
        )
        return tuple(
            f"{name}: {warning}" for name, part in named if part for warning in part.warnings
        )


def run_checks(
    responses: Responses,
    audit: NearTieAudit,
    choices: CheckChoices,
    *,
    store: str | PathLike[str] | None = None,
    client: Client | None = None,
    progress: Progress | None = None,
) -> FurtherChecks:
    """Return the further checks of an audit, with its seed.

    Parameters
    ----------
    responses : Responses
        Those that the audit was made from.
    audit : NearTieAudit
    choices : CheckChoices
    store : path, optional
        Folder for finished variants of the robustness battery; see `check_robustness`.
    client : Dask client, optional
        For the variants of the battery and the permutations.
    progress : callable, optional
        Called with the name of a step and the share of it that is done.

    Returns
    -------
    FurtherChecks
        What one check finds does not depend on which others are made.

    Raises
    ------
    DataError
        If the audit is of other responses, or the store of another battery.
    ConvergenceError
        If residual effects do not converge.

    Examples
    --------
    >>> from neartie.audits.near_tie import audit_near_ties
    >>> from neartie.audits.settings import AuditSettings
    >>> from neartie.data.example import load_example
    >>> settings = AuditSettings(dimension=2, alpha=0.5, controls=20, bootstraps=0)
    >>> audit = audit_near_ties(load_example(), settings, rng=1)
    >>> found = run_checks(load_example(), audit, CheckChoices(replication=True))
    >>> [name for name, table in found.tables()]
    ['replication', 'replication_families', 'signatures']
    """
    say = progress or silent
    streams = audit_streams(audit.seed, more=10)
    own = streams[_FIRST_STREAM:]
    controls = replication = by_family = attribution = shifts = robustness = None
    if choices.permutations:
        n = choices.discrimination
        controls = compare_controls(
            responses,
            audit,
            permutations=choices.permutations,
            controls=audit.settings["controls"] if n is None else n,
            client=client,
            progress=progress,
        )
    if choices.replication:
        say("replication", 0)
        replication = replicate_signatures(audit, responses, rng=own[0])
    if choices.replication and choices.permutations:
        by_family = replicate_under_permuted_families(
            audit,
            responses,
            permutations=choices.permutations,
            progress=progress,
            rng=streams[_FAMILY_STREAM],
        )
    if choices.attribution:
        say("attribution", 0)
        attribution = attribute_sources(audit, responses, rng=own[1])
        shifts = shift_families(audit, rng=own[2])
    if choices.robustness:
        robustness = check_robustness(
            responses,
            audit,
            controls=choices.robustness_controls,
            store=store,
            client=client,
            progress=progress,
        )
    return FurtherChecks(
        robustness=robustness,
        replication=replication,
        family_replication=by_family,
        attribution=attribution,
        shifts=shifts,
        controls=controls,
    )
