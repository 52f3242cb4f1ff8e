"""Do item signatures replicate more than under permuted family labels (beyond the paper)?

Permuting signatures within cells takes items as exchangeable. They differ in how much they tell:
effects of an item that tells little are large in both halves by noise alone. Permuted labels keep
every item, its answers and its noise, and take away families only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.anchors import STRATA, exact_fraction
from neartie.audits.permuted_families import LabelledHalf, label_half, permute_labels
from neartie.audits.perturbations import find_base
from neartie.audits.purification import Purification
from neartie.audits.replication_counts import STATISTICS, ReplicationCounts, Sides
from neartie.audits.result import NearTieAudit
from neartie.audits.signatures import TOP_SHARE, Signatures
from neartie.audits.steps import HALVES, Items, Progress, read_items, silent
from neartie.data.responses import Responses

PERMUTATIONS: Final = 99


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FamilyReplication:
    """Replication of item signatures beside refits under permuted family labels.

    Attributes
    ----------
    table : DataFrame
        One row a statistic (`median_rho`, `overlap`, `agreement`): `statistic`, `value`, `chance`
        (mean of the permutations), `p_value` (one-sided), `chance_low`, `chance_high` (2.5th and
        97.5th percentile of the permutations), `n_undefined` (permutations without a value).
    permutations : DataFrame
        `replicate` and the three statistics.
    settings : dict
    """

    table: pd.DataFrame
    permutations: pd.DataFrame
    settings: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics and settings as plain values."""
        return {"statistics": self.table.to_dict("records"), "settings": self.settings}

    def __str__(self) -> str:
        parts = [
            f"{row['statistic'].replace('_', ' ')} {row['value']:.3f} against {row['chance']:.3f} "
            f"(p = {row['p_value']:.3g})"
            for row in self.table.dropna(subset=["value", "p_value"]).to_dict("records")
        ]
        return "replication beside permuted families: " + ("; ".join(parts) or "undefined")


def replicate_under_permuted_families(
    audit: NearTieAudit,
    responses: Responses,
    *,
    permutations: int = PERMUTATIONS,
    share: float | str | Fraction = TOP_SHARE,
    strata: int = STRATA,
    progress: Progress | None = None,
    rng: np.random.Generator | int | None = None,
) -> FamilyReplication:
    """Return the three replication statistics beside those of permuted family labels.

    Parameters
    ----------
    audit : NearTieAudit
    responses : Responses
        What was audited.
    permutations : int
        Refits with labels permuted among the owner-family cells of both halves.
    share, strata
        See `replicate_signatures`.
    progress : callable, optional
        Called with the name of the step and the share of it that is done.
    rng : Generator, int or None
        Draws the permutations.

    Returns
    -------
    FamilyReplication

    Raises
    ------
    ValueError
        If the share is impossible, or no permutation is asked for.
    DataError
        If the audit is of other responses.
    ConvergenceError
        If residual effects do not converge.

    Notes
    -----
    Every permutation goes through all purification rounds and the refit, in both halves, and has
    common cells of its own. If families make no difference in either half, the true labels are
    one draw among equals and the tests are exact. Where families differ in ability alone and the
    spectral model leaves some of it, what is left replicates: a small p is no proof of DIF.

    References
    ----------
    P0, 4.2 and eqs 47-53, for the statistics. Phipson and Smyth (2010), doi:10.2202/1544-6115.1585.

    Examples
    --------
    >>> from neartie import AuditSettings, audit_near_ties, load_example
    >>> settings = AuditSettings(dimension=2, controls=0, bootstraps=0, alpha=0.5)
    >>> audit = audit_near_ties(load_example(), settings, rng=1)
    >>> found = replicate_under_permuted_families(audit, load_example(), permutations=9, rng=1)
    >>> found.table["p_value"].tolist()
    [0.1, 0.1, 0.1]
    """
    if permutations < 1:
        raise ValueError(f"at least 1 permutation is needed, got {permutations}")
    top_share = exact_fraction(share)
    if not 0 < top_share < 1:
        raise ValueError(f"share must lie in (0, 1), got {share}")
    say = progress or silent
    base = find_base(responses, audit)
    items = read_items(base.population, base.index)
    halves = [label_half(base, items, half, dimension=audit.k[half]) for half in HALVES]
    found = []
    for number, labels in enumerate(_labels(halves, permutations, np.random.default_rng(rng))):
        fits = [half.fit(own, refit=True) for half, own in zip(halves, labels, strict=True)]
        found.append(_count(fits, base.population.responses.item_ids, items, top_share, strata))
        say("replication under permuted families", number / permutations)
    observed, null = found[0], found[1:]
    values = {name: np.array([c.statistic(name)[0] for c in null]) for name in STATISTICS}
    return FamilyReplication(
        table=pd.DataFrame([_row(name, observed, null, values[name]) for name in STATISTICS]),
        permutations=pd.DataFrame({"replicate": np.arange(permutations)} | values),
        settings={"permutations": permutations, "share": float(top_share), "strata": strata},
    )


def _labels(
    halves: list[LabelledHalf], n: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.str_], ...]]:
    """Yield the true labels of both halves, then permuted ones."""
    yield tuple(half.labels for half in halves)
    streams = rng.spawn(len(halves))
    yield from zip(
        *(permute_labels(half, n, rng=own) for half, own in zip(halves, streams, strict=True)),
        strict=True,
    )


def _count(
    fits: list[Purification], ids: list[str], items: Items, share: Fraction, strata: int
) -> ReplicationCounts:
    signatures = Signatures(
        items=tuple(ids),
        source=tuple(items.source),
        index=items.index,
        families=fits[0].signature.families,
        effects=np.array([fit.signature.effects for fit in fits]),
        easiness=np.array([fit.signature.order_easiness for fit in fits]),
    )
    cells = signatures.common_cells(strata=strata)
    sides = Sides.prepare(signatures, cells, share)
    return sides.count(np.arange(len(ids), dtype=np.int32)[None, :])


def _row(
    name: str,
    observed: ReplicationCounts,
    null: list[ReplicationCounts],
    values: NDArray[np.float64],
) -> dict[str, Any]:
    value = float(observed.statistic(name)[0])
    defined = values[~np.isnan(values)]
    low, high = np.quantile(defined, [0.025, 0.975]) if len(defined) else (np.nan, np.nan)
    # undefined ones count as at least the observed one
    reached = sum(_reaches(counts, observed, name) for counts in null)
    return {
        "statistic": name,
        "value": value,
        "chance": float(defined.mean()) if len(defined) else np.nan,
        "p_value": np.nan if np.isnan(value) else (1 + reached) / (len(null) + 1),
        "chance_low": float(low),
        "chance_high": float(high),
        "n_undefined": len(values) - len(defined),
    }


def _reaches(counts: ReplicationCounts, observed: ReplicationCounts, name: str) -> bool:
    """Return whether a permutation is at least as high; unequal scales leave whole numbers."""
    if name == "overlap":
        return bool(counts.n_both[0] * observed.n_top >= observed.n_both[0] * counts.n_top)
    if name == "agreement":
        return bool(counts.at_least(observed, name)[0])
    value = counts.statistic(name)[0]
    return bool(np.isnan(value) or value >= observed.statistic(name)[0])
