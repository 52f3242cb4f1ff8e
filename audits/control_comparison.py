"""The excess of an audit over three controls, side by side (beyond the paper)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from neartie.audits.anchors import Subtest, exact_fraction
from neartie.audits.controls import compare_with_random, draw_subtests, score_subtests
from neartie.audits.discrimination_controls import discrimination_strata, rest_correlation
from neartie.audits.permutation_tasks import PermutationTask, spread_permutations
from neartie.audits.permuted_families import (
    PERMUTATIONS,
    Rerun,
    label_half,
    permute_labels,
)
from neartie.audits.perturbations import Base, find_base
from neartie.audits.prepared_half import half_offset, prepare_half
from neartie.audits.profile_controls import profile_strata
from neartie.audits.purification import Purification
from neartie.audits.ranking import ReversalCount
from neartie.audits.replicates import ReplicateCounts, stack
from neartie.audits.result import NearTieAudit
from neartie.audits.steps import (
    HALVES,
    N_STREAM,
    Items,
    Progress,
    audit_streams,
    purify_half,
    read_items,
    silent,
)
from neartie.audits.targets import Target, pooled, score_target
from neartie.data.dask import Client
from neartie.data.responses import Responses

CONTROLS: Final = 1000
MATCHED: Final = "matched random"
PERMUTED: Final = "permuted families"
DISCRIMINATION: Final = "matched on discrimination"
PROFILE: Final = "matched on profile"
# After those of permutations, of subtests matched on discrimination, and of `further_checks`.
_PROFILE_STREAM: Final = N_STREAM + 7


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ControlComparison:
    """An audit's reversal rate against several controls, in the primary band.

    Attributes
    ----------
    table : DataFrame
        One row a control: `control`, `rate` (observed, proportion), `median`, `low`, `high`
        (2.5th and 97.5th percentile of the control's rates), `excess_pp` (points over the
        median), `p_value` (one-sided), `n`, `n_undefined` (replicates without an eligible pair).
    rates : DataFrame
        `control`, `replicate`, `rate`. Those of the matched-random control are in the audit.
    settings : dict
    """

    table: pd.DataFrame
    rates: pd.DataFrame
    settings: dict[str, Any]

    def row(self, control: str) -> dict[str, Any]:
        """Return the row of a control.

        Raises
        ------
        ValueError
            If it was not made.
        """
        found = self.table[self.table["control"] == control]
        if found.empty:
            raise ValueError(f"control must be one of {self.table['control'].tolist()}")
        return {str(k): v for k, v in found.iloc[0].items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the rows and settings as plain values."""
        return {"controls": self.table.to_dict("records"), "settings": self.settings}

    def __str__(self) -> str:
        parts = [
            f"{row['control']} {row['excess_pp']:+.1f} points (p = {row['p_value']:.3g})"
            for row in self.table.dropna(subset=["excess_pp", "p_value"]).to_dict("records")
        ]
        return "excess over " + "; ".join(parts) if parts else "controls: nothing to compare"


def compare_controls(
    responses: Responses,
    audit: NearTieAudit,
    *,
    permutations: int = PERMUTATIONS,
    controls: int = CONTROLS,
    rerun: Rerun = "all",
    client: Client | None = None,
    progress: Progress | None = None,
) -> ControlComparison:
    """Return the excess over random subtests, permuted families, equal items.

    Parameters
    ----------
    responses : Responses
        Those that the audit was made from.
    audit : NearTieAudit
        Gives K, settings and seed.
    permutations : int
        Of family labels over the owner-family cells of the audit halves; 0 leaves them out.
    controls : int
        Random subtests matched on discrimination, and on the profile; 0 leaves them out.
    rerun : {"all", "last"}
        See `label_half`. Rerunning all rounds makes an exact test; the last alone is faster.
    client : Dask client, optional
        Permutations run on its workers; let these be processes of one thread each. The result is
        the same to the last bit.
    progress : callable, optional
        Called with the name of a step and the share of it that is done.

    Returns
    -------
    ControlComparison

    Raises
    ------
    DataError
        If the audit is of other responses.
    ConvergenceError
        If residual effects do not converge.

    Notes
    -----
    Permuted families: in every audit half the labels of owner-family cells are permuted, residual
    effects are fitted again, anchors rebuilt, and the other half is scored; its pairs keep their
    own families. K is that of the audit, which no label has a part in. The hypothesis is that
    families make no difference to the answers of the audit half, not even in ability: where they
    differ in ability, labels are not exchangeable, and a small p value is no proof of DIF.

    Matched on discrimination: within every source-by-easiness cell items are put into four strata
    of the correlation with the rest of the test in the audit half, and as many are drawn from
    each as there are anchors in it. Weights are the anchors'.

    Matched on profile: the strata are of the chance of being an anchor, given discrimination and
    what the family-blind model expects of every family on the item; see `profile_strata`. It
    answers to differences of ability that the spectral model leaves behind, of which it takes off
    most and not all, at a price in power: shared family effects that the model took for ability
    are matched too.

    Examples
    --------
    >>> from neartie.data.example import load_example
    >>> from neartie.audits.near_tie import audit_near_ties
    >>> from neartie.audits.settings import AuditSettings
    >>> settings = AuditSettings(dimension=2, alpha=0.5, controls=200, bootstraps=0)
    >>> audit = audit_near_ties(load_example(), settings, rng=1)
    >>> compared = compare_controls(load_example(), audit, permutations=19, controls=200)
    >>> compared.table["control"].tolist()
    ['matched random', 'permuted families', 'matched on discrimination', 'matched on profile']
    """
    if min(permutations, controls) < 0:
        raise ValueError("permutations and controls must not be negative")
    say = progress or silent
    base = find_base(responses, audit)
    items = read_items(base.population, base.index)
    streams = audit_streams(audit.seed, more=_PROFILE_STREAM + 2 - N_STREAM)
    purified = [_purify(base, items, half, audit.k[half], streams[3 + half]) for half in HALVES]
    targets = [score_target(base.population, half, purified[1 - half]) for half in HALVES]
    observed = pooled(targets, base.settings.primary_band)
    band = audit.band()
    rows: list[dict[str, Any]] = []
    if audit.settings["controls"]:
        names = {"rate": "rate", "median": "random_median", "low": "random_low"}
        names |= {"high": "random_high", "excess_pp": "excess_pp", "p_value": "p_value"}
        names |= {"n_undefined": "n_random_undefined"}
        rows.append(
            {"control": MATCHED, "n": audit.settings["controls"]}
            | {name: band[column] for name, column in names.items()}
        )
    found: dict[str, ReplicateCounts] = {}
    if permutations:
        own = streams[N_STREAM : N_STREAM + 2]
        found[PERMUTED] = _permuted(
            base, items, audit, targets, permutations, rerun, own, client, say
        )
    if controls:
        strata = [_strata(base, items, half, audit.k[half], purified[half]) for half in HALVES]
        for name, first in ((DISCRIMINATION, N_STREAM + 2), (PROFILE, _PROFILE_STREAM)):
            own = streams[first : first + 2]
            found[name] = _matched(
                base, purified, targets, [s[name] for s in strata], controls, own
            )
    rows += [_row(name, observed, counts) for name, counts in found.items()]
    columns = ["control", "rate", "median", "low", "high", "excess_pp", "p_value"]
    table = pd.DataFrame(rows, columns=[*columns, "n", "n_undefined"])
    return ControlComparison(
        table=table.astype(dict.fromkeys(columns[1:], float) | {"n": int, "n_undefined": int}),
        rates=pd.DataFrame(
            [
                {"control": name, "replicate": r, "rate": rate}
                for name, counts in found.items()
                for r, rate in enumerate(counts.rate[:, 0].tolist())
            ],
            columns=["control", "replicate", "rate"],
        ),
        settings={
            "permutations": permutations,
            "controls": controls,
            "rerun": rerun,
            "epsilon": audit.primary_epsilon,
            "seed": audit.seed,
        },
    )


def _purify(
    base: Base, items: Items, half: int, dimension: int, stream: np.random.Generator
) -> Purification:
    settings = base.settings
    return purify_half(
        base.population, items, half, dimension, settings.alphas[0], settings, stream, refit=False
    )


def _permuted(
    base: Base,
    items: Items,
    audit: NearTieAudit,
    targets: list[Target],
    n: int,
    rerun: Rerun,
    streams: list[np.random.Generator],
    client: Client | None,
    say: Progress,
) -> ReplicateCounts:
    bands = (exact_fraction(base.settings.primary_band),)
    counts: list[ReplicateCounts] = []
    for half in HALVES:
        seed = int(streams[half].integers(2**53))
        labelled = label_half(base, items, half, dimension=audit.k[half], rerun=rerun, seed=seed)
        task = PermutationTask(labelled=labelled, target=targets[1 - half], bands=bands)
        labels = permute_labels(labelled, n, rng=streams[half])
        parts = []
        for part in spread_permutations(task, labels, client=client):
            parts.append(part)
            done = sum(len(counts.n_eligible) for counts in parts)
            say(f"permuted families, half {half}", done / n)
        counts.append(stack(parts))
    return counts[0] + counts[1]


def _strata(
    base: Base, items: Items, half: int, dimension: int, purified: Purification
) -> dict[str, Subtest]:
    """Return the cells of the anchors of a half, cut by discrimination and by profile."""
    positions = base.population.half(half)
    values = base.population.responses.values[:, positions].astype(np.int8)
    family = base.population.table["family"].iloc[positions].to_numpy(dtype=str)
    anchors = purified.subtest
    prepared = prepare_half(values)
    offset = half_offset(
        prepared, anchors.selected, dimension=dimension, limit=base.settings.offset_limit
    ).values[prepared.patterns.of_item]
    return {
        DISCRIMINATION: discrimination_strata(anchors, rest_correlation(values), index=items.index),
        PROFILE: profile_strata(anchors, values, offset, family, index=items.index),
    }


def _matched(
    base: Base,
    purified: list[Purification],
    targets: list[Target],
    strata: list[Subtest],
    n: int,
    streams: list[np.random.Generator],
) -> ReplicateCounts:
    bands = (exact_fraction(base.settings.primary_band),)
    counts = []
    for half in HALVES:
        drawn = draw_subtests(strata[half], n, rng=streams[half])
        target = targets[1 - half]
        counts.append(
            score_subtests(target.values, drawn, purified[half].subtest, target.pairs, bands=bands)
        )
    return counts[0] + counts[1]


def _row(control: str, observed: ReversalCount, counts: ReplicateCounts) -> dict[str, Any]:
    compared = compare_with_random(observed, counts, 0)
    return {
        "control": control,
        "rate": observed.rate,
        "median": compared.median,
        "low": compared.low,
        "high": compared.high,
        "excess_pp": compared.excess_pp,
        "p_value": compared.p_value,
        "n": len(counts.n_eligible),
        "n_undefined": compared.n_undefined,
    }
