"""What every rung of a comparison starts from: the audit's halves, anchors, targets and offsets."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from neartie.audits.anchors import Subtest, exact_fraction
from neartie.audits.perturbations import find_base
from neartie.audits.prepared_half import PreparedHalf, half_offset, prepare_half
from neartie.audits.purification import Purification
from neartie.audits.ranking import Pairs
from neartie.audits.replicates import banded
from neartie.audits.result import NearTieAudit
from neartie.audits.settings import AuditSettings
from neartie.audits.steps import HALVES, Items, audit_streams, purify_half, read_items
from neartie.audits.targets import Target, score_target
from neartie.data.errors import DataError
from neartie.data.responses import Responses
from neartie.inference.residual_dif import ResidualDif

type Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ComparisonHalf:
    """One owner half: its data, the audit's fit of it, and what it is scored with.

    Attributes
    ----------
    number : int
        0 or 1.
    responses : Responses
        All retained models of the half, items in the order of `items` of the audit.
    family, owner : (n_model,) str
    representatives : (n_representative,) int
        Columns of the responses, in the order of `target.positions`.
    prepared : PreparedHalf
    offset : (n_item, n_model) float, logit
        Of the selecting round.
    purified : Purification
    target : Target
        The half's representatives, scored with the anchors of the other half.
    near : Pairs
        Frozen near ties of the target without full ties.
    """

    number: int
    responses: Responses
    family: NDArray[np.str_]
    owner: NDArray[np.str_]
    representatives: NDArray[np.intp]
    prepared: PreparedHalf
    offset: Floats
    purified: Purification
    target: Target
    near: Pairs

    @property
    def values(self) -> NDArray[np.int8]:
        """Complete answers of all retained models, (n_item, n_model) int8."""
        return np.asarray(self.responses.values, dtype=np.int8)

    @property
    def plug_in(self) -> ResidualDif:
        """The fit whose D selected the anchors."""
        return self.purified.selecting

    @property
    def anchors(self) -> Subtest:
        """The audit's anchors of this half, which score the other one."""
        return self.purified.subtest


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ComparisonBase:
    """An audit and its parts.

    Attributes
    ----------
    audit : NearTieAudit
    settings : AuditSettings
    items : Items
    halves : (ComparisonHalf, ComparisonHalf)
    families : tuple of str
        Sorted; the order of the effects of every rung.
    """

    audit: NearTieAudit
    settings: AuditSettings
    items: Items
    halves: tuple[ComparisonHalf, ComparisonHalf]
    families: tuple[str, ...]


def comparison_base(responses: Responses, audit: NearTieAudit) -> ComparisonBase:
    """Return the parts of an audit that its rungs share.

    Parameters
    ----------
    responses : Responses
        Those that the audit was made from.
    audit : NearTieAudit

    Returns
    -------
    ComparisonBase

    Raises
    ------
    DataError
        If the audit is of other responses, has no pair to compare, or the halves hold different
        families.
    """
    base = find_base(responses, audit)
    settings = base.settings
    items = read_items(base.population, base.index)
    streams = audit_streams(audit.seed)
    purified = [
        purify_half(
            base.population,
            items,
            half,
            audit.k[half],
            settings.alphas[0],
            settings,
            streams[3 + half],
            refit=False,
        )
        for half in HALVES
    ]
    targets = [score_target(base.population, half, purified[1 - half]) for half in HALVES]
    halves = []
    for half in HALVES:
        positions = base.population.half(half)
        table = base.population.table.iloc[positions].reset_index(drop=True)
        own = replace(
            base.population.responses.take(models=positions),
            models=table[["model", "owner", "family"]],
        )
        family = table["family"].to_numpy(dtype=str)
        prepared = prepare_half(np.asarray(own.values, np.int8))
        offset = half_offset(
            prepared,
            purified[half].before,
            dimension=audit.k[half],
            limit=settings.offset_limit,
            decomposition=settings.decomposition,
            rng=streams[3 + half],
        )
        halves.append(
            ComparisonHalf(
                number=half,
                responses=own,
                family=family,
                owner=table["owner"].to_numpy(dtype=str),
                representatives=np.searchsorted(positions, targets[half].positions),
                prepared=prepared,
                offset=offset.values[prepared.patterns.of_item],
                purified=purified[half],
                target=targets[half],
                near=banded(targets[half].pairs, (exact_fraction(settings.primary_band),))[0],
            )
        )
    families = {half.plug_in.families for half in halves}
    if len(families) != 1:
        raise DataError("the two halves hold different families, so that effects do not compare")
    if not sum(len(half.near.first) for half in halves):
        step, band = 1 / base.population.responses.n_item, float(audit.primary_epsilon)
        least = f" (one answer is {step:.3g} here)" if step > band else ""
        raise DataError(
            f"no cross-family pair lies within {band:g}{least} of each other "
            "without a tie, so that there is nothing to compare; more models or items make more "
            "pairs (a lower --min-family-size keeps more models), and in Python "
            "AuditSettings(bands=[0.05], primary_band=0.05) takes wider ones"
        )
    return ComparisonBase(
        audit=audit,
        settings=settings,
        items=items,
        halves=(halves[0], halves[1]),
        families=families.pop(),
    )
