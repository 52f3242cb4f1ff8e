"""The sentences of the report: pure functions from numbers to words, each with its rule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from neartie.audits.result import NearTieAudit
from neartie.report.formatting import (
    SIGNIFICANT,
    correlation,
    count,
    is_missing,
    p_text,
    percent,
    plural,
    point_word,
    signed,
)

FEW_PAIRS = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class Headline:
    """The primary band in numbers.

    Attributes
    ----------
    epsilon : float, proportion
        Largest gap of a near tie on the full benchmark.
    n_band, n_tied, n_eligible, n_reversed, n_random : int
        Pairs in the band, tied under either score, left, and reversed; random subtests.
    rate, random_median, random_low, random_high, range_low, range_high : float or None
        Proportions: reversal rate; median and central 95 % of the random subtests;
        range over recompositions. Missing where undefined.
    excess_pp : float or None, percentage points
    p_value : float or None, probability
    all_anchors : bool
        Whether every item is an anchor in both halves.
    """

    epsilon: float
    n_band: int
    n_tied: int
    n_eligible: int
    n_reversed: int
    n_random: int
    rate: float | None
    random_median: float | None
    random_low: float | None
    random_high: float | None
    range_low: float | None
    range_high: float | None
    excess_pp: float | None
    p_value: float | None
    all_anchors: bool = False


def primary_random_rates(audit: NearTieAudit) -> pd.Series:
    """Return the defined rates of the random subtests in the primary band, as proportions."""
    rates = audit.random_rates
    in_band = np.isclose(rates["epsilon"].astype(float), audit.primary_epsilon, rtol=1e-9, atol=0)
    chosen: pd.Series = rates.loc[in_band, "rate"].astype(float)
    return chosen.dropna().reset_index(drop=True)


def headline(audit: NearTieAudit) -> Headline:
    """Return the numbers that the answer is made of, read from the audit's tables."""
    row = audit.band()
    optional = (
        "rate",
        "random_median",
        "random_low",
        "random_high",
        "range_low",
        "range_high",
        "excess_pp",
        "p_value",
    )
    return Headline(
        epsilon=audit.primary_epsilon,
        n_band=int(row["n_band"]),
        n_tied=int(row["n_tied"]),
        n_eligible=int(row["n_eligible"]),
        n_reversed=int(audit.pairs["reversed"].sum()),
        n_random=len(primary_random_rates(audit)),
        all_anchors=bool((audit.items["anchor"].astype(int) == 1).all()),
        **{name: row[name] for name in optional},
    )


def answer(numbers: Headline) -> str:
    """Return the answer of an audit in one sentence, with its uncertainty.

    The rule: where every item is an anchor there is no answer; with no eligible pair the rate is undefined and the sentence says why; with no
    random subtest it compares nothing; with a positive excess and p at most .05 the excess is
    more than random shortening explains; with a positive excess and a larger p it is not
    reliably more; with no positive excess the pairs reverse no more often than under random
    shortening. Fewer than 30 eligible pairs are called few and the weight of one is given.

    Parameters
    ----------
    numbers : Headline
        The primary band.

    Returns
    -------
    str

    References
    ----------
    P0, section 3.4, equations 9 to 11.

    Examples
    --------
    >>> print(answer(Headline(
    ...     epsilon=0.01, n_band=220, n_tied=4, n_eligible=216, n_reversed=100, n_random=1000,
    ...     rate=100 / 216, random_median=0.361, random_low=0.282, random_high=0.444,
    ...     range_low=0.37, range_high=0.51, excess_pp=10.2, p_value=1 / 1001)))
    ... # doctest: +NORMALIZE_WHITESPACE
    Of 216 near-tied pairs (different owner and family, at most 1 point apart), 100 reverse
    (46.3%) when the items with the largest residual family differences are left out; equally
    short matched random subtests reverse 36.1% (95% of them between 28.2% and 44.4%), so the
    excess of +10.2 points is more than random shortening explains (p = .001).
    """
    if numbers.n_eligible == 0 or numbers.rate is None:
        return _undefined(numbers)
    if numbers.all_anchors:
        return (
            "No answer: every item is an anchor, so that nothing is left out and no pair can "
            "reverse."
        )
    return f"{_observed(numbers)}; {_compared(numbers)}{_hedge(numbers)}."


def question(audit: NearTieAudit) -> str:
    """Return what the audit asks, in three sentences."""
    return (
        "Neighbours on a leaderboard are often ordered by a gap smaller than "
        f"{point_word(audit.primary_epsilon)}; this audit asks whether such orderings survive when "
        "the benchmark is scored on the items whose difficulty, given a family-blind model of "
        "ability, depends least on a model's family. The owners are split into two halves: the "
        "responses of one half choose the items, within sources and levels of easiness, and the "
        "models of the other half are scored with them. Random subtests with as many items from "
        "the same sources and levels show how many orderings any shortening would reverse."
    )


def context(audit: NearTieAudit) -> tuple[str, ...]:
    """Return what belongs beside the answer: global agreement, recomposition, limits of p."""
    numbers = headline(audit)
    sentences = []
    if not is_missing(audit.tau_b) and not is_missing(audit.all_pairs_rate):
        sentences.append(
            "Over the whole leaderboard the two scores order models alike to "
            f"Kendall's τ_b = {correlation(audit.tau_b)}; {percent(audit.all_pairs_rate)}% of all "
            "pairs of different owner and family reverse, whatever their gap."
        )
    if numbers.range_low is not None and numbers.range_high is not None:
        inside = numbers.rate is None or numbers.range_low <= numbers.rate <= numbers.range_high
        outside = (
            "; it need not hold the observed rate, because the pairs are those of the original "
            "benchmark and recomposing it widens their gaps"
        )
        sentences.append(
            f"Recomposing the benchmark moves the reversal rate between "
            f"{percent(numbers.range_low)}% and {percent(numbers.range_high)}% (2.5 to 97.5% of "
            f"the recompositions: a range, not a confidence interval{'' if inside else outside})."
        )
    p, n_random = numbers.p_value, numbers.n_random
    if p is not None and n_random and p <= (1 + 1e-9) / (n_random + 1):
        sentences.append(
            f"No random subtest reverses as many pairs: p is the smallest that "
            f"{count(n_random)} of them allow."
        )
    return tuple(sentences)


def purification(audit: NearTieAudit) -> tuple[str, ...]:
    """Return, for each half, whether the anchor set settled, and fits that did not converge."""
    sentences = []
    for half, overlaps in enumerate(audit.jaccard):
        if not overlaps or is_missing(overlaps[-1]):
            continue
        last = len(overlaps) + 1
        settled = next((i + 2 for i, overlap in enumerate(overlaps) if overlap == 1), None)
        if overlaps[-1] == 1:
            what = f"settled: round {settled} chose the same items as the round before"
        else:
            what = (
                f"had not settled after {last} rounds, which are fixed in number: of the items in "
                f"round {last - 1} or {last}, {percent(overlaps[-1])}% are in both (Jaccard)"
            )
        sentences.append(f"In half {half} the anchor set {what}.")
    failed = audit.rounds.loc[audit.rounds["converged"].astype(int) == 0]
    for row in failed.to_dict("records"):
        sentences.append(
            f"The residual-DIF fit of half {row['half']}, round {row['round']}, did not converge "
            f"(largest last update {float(row['largest_update']):.1e})."
        )
    return tuple(sentences)


def dimension_rule(audit: NearTieAudit) -> str:
    """Return how the dimension was chosen from the loss curve, and which way the rule leans."""
    rule = audit.settings.get("rule", "one-se")
    if rule == "minimum":
        return "Chosen is the K of the smallest loss."
    if rule == "paired":
        return (
            "Chosen is the smallest K whose loss is within one standard error of the smallest "
            "loss, where the error is that of the paired difference over models, which is smaller "
            "than the bars drawn."
        )
    return (
        "Chosen is the smallest K whose loss is within one standard error of the smallest loss. "
        "The standard error is that of a mean over models, not of a difference between "
        "dimensions, so the rule favours small K."
    )


def constant_items(audit: NearTieAudit) -> tuple[str, ...]:
    """Return, for each half, how many items every model answered alike, and what became of them.

    Such items have no finite easiness and a DIF range near 0, so they look like good anchors.
    """
    sentences = []
    for half, items in audit.items.groupby("half"):
        constant = items[items["constant"].astype(int) == 1]
        if constant.empty:
            continue
        n_anchor = int(constant["anchor"].astype(int).sum())
        one = len(constant) == 1
        sentences.append(
            f"In half {half}, {plural(len(constant), 'item')} {'was' if one else 'were'} answered "
            f"alike by every model that the values were fitted on: {'it has' if one else 'they have'} "
            f"no finite easiness, and {count(n_anchor)} of {count(len(constant))} "
            f"{'is an anchor' if n_anchor == 1 else 'are anchors'}."
        )
    return tuple(sentences)


def _undefined(numbers: Headline) -> str:
    band = f"at most {point_word(numbers.epsilon)} apart on the full benchmark"
    if numbers.n_band == 0:
        return (
            "The reversal rate is undefined, not zero: no two models of different owner and "
            f"family lie {band}, so there is no near tie that could reverse."
        )
    who = "the only pair" if numbers.n_band == 1 else f"all {count(numbers.n_band)} pairs"
    verb = "is" if numbers.n_band == 1 else "are"
    return (
        f"The reversal rate is undefined, not zero: {who} of different owner and family {band} "
        f"{verb} tied under the full or the anchor score, and ties are not reversals."
    )


def _observed(numbers: Headline) -> str:
    only = "only " if numbers.n_eligible < FEW_PAIRS else ""
    number = "none" if numbers.n_reversed == 0 else count(numbers.n_reversed)
    verb = "reverses" if numbers.n_reversed <= 1 else "reverse"
    return (
        f"Of {only}{plural(numbers.n_eligible, 'near-tied pair')} (different owner and family, "
        f"at most {point_word(numbers.epsilon)} apart), {number} {verb} "
        f"({percent(numbers.rate)}%) when the items with the largest residual family "
        "differences are left out"
    )


def _compared(numbers: Headline) -> str:
    if numbers.excess_pp is None or numbers.p_value is None or numbers.random_median is None:
        return (
            "without matched random subtests it cannot be said whether that is more than "
            "random shortening produces"
        )
    spread = ""
    if numbers.random_low is not None and numbers.random_high is not None:
        spread = (
            f" (95% of them between {percent(numbers.random_low)}% and "
            f"{percent(numbers.random_high)}%)"
        )
    control = (
        f"equally short matched random subtests reverse {percent(numbers.random_median)}%{spread}"
    )
    excess, p = signed(numbers.excess_pp), p_text(numbers.p_value)
    if numbers.excess_pp <= 0:
        verdict = (
            "so leaving those items out reverses near ties no more often than random shortening "
            f"does (excess {excess} points, {p})"
        )
    elif numbers.p_value <= SIGNIFICANT:
        verdict = f"so the excess of {excess} points is more than random shortening explains ({p})"
    else:
        verdict = (
            f"so the excess of {excess} points is not reliably more than random shortening "
            f"produces ({p})"
        )
    return f"{control}, {verdict}"


def _hedge(numbers: Headline) -> str:
    if numbers.n_eligible >= FEW_PAIRS:
        return ""
    weight = percent(1 / numbers.n_eligible)
    return f"; with so few pairs, one pair alone moves the rate by {weight} points"
