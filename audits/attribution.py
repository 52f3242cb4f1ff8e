"""Which sources carry the family effects, and which make up the score shifts (P0, 4.2 and D.3)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.result import NearTieAudit
from neartie.audits.sign_checks import SignChecks, choose_extremes
from neartie.audits.signatures import Signatures, read_signatures
from neartie.audits.source_contributions import source_contributions, source_effects
from neartie.audits.source_kernel import count_replicated_signs
from neartie.data.responses import Responses
from neartie.data.wording import counted

type Floats = NDArray[np.float64]

MIN_ITEMS = 20
EXTREMES = 2
PERMUTATIONS = 500
DEPENDENT = (
    "The binomial p takes sign checks as independent, which they are not: effects sum to zero over "
    "families, and one source is often the extreme of several. Read it as a description; p_labels "
    "shuffles source labels and needs no independence."
)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Attribution:
    """Sources behind family effects and family score shifts.

    Attributes
    ----------
    source_effects : DataFrame
        `source`, `family`, `n_items`, `effect_0`, `effect_1` (logit: mean effect of the source in
        half 0, which discovers, and half 1, which validates, without the family's mean over all
        items), `selected` (`largest`, `smallest` or blank), `replicated` (0 or 1; missing where
        not selected).
    source_shifts : DataFrame
        `source`, `family`, `n_items`, `shift_01_pp`, `shift_10_pp` (percentage points:
        contribution to anchor minus full score, anchors of half 0 on half 1 and the reverse),
        `selected`, `retained`. Over sources they add up to `family_totals`.
    family_totals : DataFrame
        `family`, `half` (the target), `n_models`, `shift_pp`.
    effects, shifts : SignChecks
        Replication of effect signs and retention of shift signs.
    p_labels : float or None
        Chance of as many replicated effect signs if source labels are shuffled over items, in
        both halves alike. None without permutations or checks.
    settings : dict
    warnings : tuple of str
    """

    source_effects: pd.DataFrame
    source_shifts: pd.DataFrame
    family_totals: pd.DataFrame
    effects: SignChecks
    shifts: SignChecks
    p_labels: float | None
    settings: dict[str, Any]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the checks, settings and warnings as plain values."""
        return {
            "source_effects": self.effects.to_dict(),
            "source_shifts": self.shifts.to_dict(),
            "p_labels": self.p_labels,
            "settings": self.settings,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        labels = "" if self.p_labels is None else f"; shuffled labels p = {self.p_labels:.3g}"
        return f"source effects: {self.effects}{labels}\nsource shifts: {self.shifts}"


def attribute_sources(
    audit: NearTieAudit,
    responses: Responses,
    *,
    min_items: int = MIN_ITEMS,
    extremes: int = EXTREMES,
    permutations: int = PERMUTATIONS,
    rng: np.random.Generator | int | None = None,
) -> Attribution:
    r"""Return source effects with sign replication, and exact source contributions to shifts.

    Parameters
    ----------
    audit : NearTieAudit
    responses : Responses
        What was audited.
    min_items : int
        Smaller sources are tabled but not selected.
    extremes : int
        How many of the largest and of the smallest values of every family are checked. Half 0
        discovers. They are the ends of one order, from large to small and then by name.
    permutations : int
        Shuffles of source labels for `p_labels`; 0 leaves it out.
    rng : Generator, int or None
        Draws the shuffles.

    Returns
    -------
    Attribution

    Raises
    ------
    ValueError
        If a number is out of range.
    DataError
        If the responses are not those of the audit.

    Notes
    -----
    Effects are centred on the family's mean over all items; a source's effect is the mean over
    its items. Selected are the largest and smallest values, whatever their sign; a hit is the
    same nonzero sign in the other half. The binomial p is printed beside its caveat.

    The two halves see the same items, so that item effects alone make source means replicate:
    a source of 20 items with large effects has the same mean in both halves. `p_labels` asks
    whether source labels add to that: they are shuffled over items (of eligible and other
    sources alike), effects of both halves staying with their item, and extremes are chosen anew.

    Contributions are computed as fractions, so that their sum is exactly the family's shift.

    References
    ----------
    P0, eqs 54-57.

    Examples
    --------
    >>> from neartie import AuditSettings, audit_near_ties, load_example
    >>> data = load_example()
    >>> settings = AuditSettings(dimension=2, controls=0, bootstraps=0, alpha=0.5)
    >>> found = attribute_sources(audit_near_ties(data, settings, rng=1), data, rng=1)
    >>> found.effects.n, found.shifts.n
    (20, 20)
    """
    for name, value in (("min_items", min_items), ("extremes", extremes)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
    if permutations < 0:
        raise ValueError(f"permutations must not be negative, got {permutations}")
    signatures = read_signatures(audit, responses)
    sources, code = np.unique(np.array(signatures.source).astype(str), return_inverse=True)
    size = np.bincount(code)
    effects = source_effects(signatures)
    exact = source_contributions(audit, responses)
    # doubles of the exact values: signs and zeros survive, and order as far as doubles go
    shifts = exact.astype(np.float64)
    eligible = size >= min_items
    chosen = choose_extremes(effects[0], eligible, extremes)
    moved = choose_extremes(shifts[0], eligible, extremes)
    checks = [SignChecks.of(c, *pair) for c, pair in ((chosen, effects), (moved, shifts))]
    frame = _frame([str(s) for s in sources], signatures.families, size)
    return Attribution(
        source_effects=_with_checks(frame, effects, chosen, ("effect_0", "effect_1", "replicated")),
        source_shifts=_with_checks(
            frame, shifts, moved, ("shift_01_pp", "shift_10_pp", "retained")
        ),
        family_totals=_totals(audit, signatures.families, exact),
        effects=checks[0],
        shifts=checks[1],
        p_labels=_label_test(signatures, code, eligible, extremes, checks[0], permutations, rng),
        settings={"min_items": min_items, "extremes": extremes, "permutations": permutations},
        warnings=_warnings(eligible, extremes, size, min_items),
    )


def _frame(sources: list[str], families: tuple[str, ...], size: NDArray[np.intp]) -> pd.DataFrame:
    n = len(families)
    return pd.DataFrame(
        {
            "source": np.repeat(np.array(sources, dtype=object), n),
            "family": list(families) * len(sources),
            "n_items": np.repeat(size, n),
        }
    )


def _with_checks(
    frame: pd.DataFrame, values: Floats, chosen: NDArray[np.int8], names: tuple[str, str, str]
) -> pd.DataFrame:
    first, second = values.reshape(2, -1)
    selected = chosen.ravel()
    hit = (np.sign(first) * np.sign(second) > 0).astype(float)
    words = np.array(["smallest", "", "largest"], dtype=object)
    return frame.assign(
        **{
            names[0]: first,
            names[1]: second,
            "selected": words[selected + 1],
            names[2]: np.where(selected != 0, hit, np.nan),
        }
    )


def _totals(
    audit: NearTieAudit, families: tuple[str, ...], exact: NDArray[np.object_]
) -> pd.DataFrame:
    counts = audit.scores.groupby(["family", "half"]).size()
    rows = [
        {
            "family": family,
            "half": 1 - half,
            "n_models": int(counts.get((family, 1 - half), 0)),
            "shift_pp": float(sum(exact[half, :, f], start=Fraction(0))),
        }
        for f, family in enumerate(families)
        for half in (1, 0)
    ]
    return pd.DataFrame(rows)


def _label_test(
    signatures: Signatures,
    code: NDArray[np.intp],
    eligible: NDArray[np.bool_],
    extremes: int,
    observed: SignChecks,
    permutations: int,
    rng: np.random.Generator | int | None,
) -> float | None:
    if not permutations or not observed.n:
        return None
    shuffles = np.random.default_rng(rng).permuted(
        np.tile(code.astype(np.int32), (permutations, 1)), axis=1
    )
    centred = signatures.effects - signatures.effects.mean(axis=1, keepdims=True)
    hits = count_replicated_signs(
        shuffles, centred[0], centred[1], np.flatnonzero(eligible), extremes
    )
    return (1 + int((hits >= observed.hits).sum())) / (permutations + 1)


def _warnings(
    eligible: NDArray[np.bool_], extremes: int, size: NDArray[np.intp], min_items: int
) -> tuple[str, ...]:
    n, found = int(eligible.sum()), []
    if len(size) < 2:
        return ("There is one source only: nothing can be attributed. Give every item a source.",)
    if n < 2:
        sentence = (
            f"{counted(n, 'source')} of {len(size)} {'has' if n == 1 else 'have'} at least "
            f"{min_items} items: there is nothing to compare, and no sign was checked."
        )
        return (sentence,)
    if n < len(size):
        found.append(
            f"{counted(len(size) - n, 'source')} with fewer than {min_items} items "
            f"{'is' if len(size) - n == 1 else 'are'} tabled but not selected for sign checks."
        )
    if n < 2 * extremes:
        found.append(
            f"Only {counted(n, 'source')} can be selected: all of them are checked in every family, "
            f"not {2 * extremes} extremes."
        )
    return (*found, DEPENDENT)
