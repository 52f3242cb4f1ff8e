"""The answer in one sentence: one test a branch of its rule."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neartie.report import sentences
from neartie.report.sentences import Headline, answer, context, headline

RELIABLE = Headline(
    epsilon=0.01,
    n_band=231,
    n_tied=15,
    n_eligible=216,
    n_reversed=100,
    n_random=1000,
    rate=100 / 216,
    random_median=78 / 216,
    random_low=63 / 216,
    random_high=93 / 216,
    range_low=0.37,
    range_high=0.51,
    excess_pp=100 * 22 / 216,
    p_value=1 / 1001,
)


def test_reliable_excess_is_more_than_random_shortening_explains():
    assert answer(RELIABLE) == (
        "Of 216 near-tied pairs (different owner and family, at most 1 point apart), 100 reverse "
        "(46.3%) when the items with the largest residual family differences are left out; "
        "equally short matched random subtests reverse 36.1% (95% of them between 29.2% and "
        "43.1%), so the excess of +10.2 points is more than random shortening explains "
        "(p = .001)."
    )


@pytest.mark.parametrize(("p", "shown"), [(0.0501, ".0501"), (0.21, ".210")])
def test_unreliable_excess_is_called_so(p, shown):
    text = answer(replace(RELIABLE, p_value=p))
    assert (
        f"excess of +10.2 points is not reliably more than random shortening produces (p = {shown})"
        in text
    )


def test_p_of_exactly_the_limit_is_reliable():
    assert "more than random shortening explains (p = .050)" in answer(
        replace(RELIABLE, p_value=0.05)
    )


@pytest.mark.parametrize(("excess", "shown"), [(-0.94, "−0.9"), (0.0, "0.0")])
def test_no_positive_excess_reverses_no_more_often(excess, shown):
    text = answer(replace(RELIABLE, excess_pp=excess, p_value=0.689))
    assert f"no more often than random shortening does (excess {shown} points, p = .689)." in text


def test_no_pair_in_the_band_leaves_the_rate_undefined():
    text = answer(replace(RELIABLE, n_band=0, n_tied=0, n_eligible=0, rate=None))
    assert text.startswith("The reversal rate is undefined, not zero: no two models")
    assert "at most 1 point apart" in text


@pytest.mark.parametrize(
    ("n", "who"), [(1, "the only pair of different owner"), (12, "all 12 pairs of different owner")]
)
def test_nothing_but_ties_leaves_the_rate_undefined(n, who):
    text = answer(replace(RELIABLE, n_band=n, n_tied=n, n_eligible=0, rate=None))
    assert who in text
    assert "tied under the full or the anchor score" in text


def test_where_every_item_is_an_anchor_nothing_is_claimed():
    text = answer(replace(RELIABLE, n_reversed=0, rate=0.0, all_anchors=True))
    assert text == (
        "No answer: every item is an anchor, so that nothing is left out and no pair can reverse."
    )


def test_without_random_subtests_nothing_is_compared():
    text = answer(
        replace(
            RELIABLE,
            random_median=None,
            random_low=None,
            random_high=None,
            excess_pp=None,
            p_value=None,
        )
    )
    assert "100 reverse (46.3%)" in text
    assert "without matched random subtests it cannot be said" in text


def test_few_pairs_are_called_few_with_the_weight_of_one():
    text = answer(replace(RELIABLE, n_eligible=29, n_reversed=12, rate=12 / 29))
    assert text.startswith("Of only 29 near-tied pairs")
    assert text.endswith("; with so few pairs, one pair alone moves the rate by 3.4 points.")
    assert "few" not in answer(replace(RELIABLE, n_eligible=30))


@pytest.mark.parametrize(
    ("n", "n_reversed", "shown"),
    [
        (
            40,
            0,
            "Of 40 near-tied pairs (different owner and family, at most 1 point apart), none reverses",
        ),
        (40, 1, "1 reverses (2.5%)"),
        (1, 1, "Of only 1 near-tied pair (different"),
    ],
)
def test_numbers_agree_with_their_verbs(n, n_reversed, shown):
    text = answer(replace(RELIABLE, n_eligible=n, n_reversed=n_reversed, rate=n_reversed / n))
    assert shown in text


@given(
    st.integers(1, 500),
    st.floats(-40, 40),
    st.floats(1e-5, 1),
    st.sampled_from([0.0025, 0.01, 0.02]),
)
def test_answer_is_one_sentence_that_never_accuses(n, excess, p, epsilon):
    text = answer(replace(RELIABLE, n_eligible=n, excess_pp=excess, p_value=p, epsilon=epsilon))
    assert text.endswith(".")
    assert ". " not in text.replace("p = .", "")
    assert not any(word in text for word in ("unfair", "bias", "caus", "signific", "p = 0"))
    assert ("more than random shortening explains" in text) == (excess > 0 and p <= 0.05)


def test_headline_reads_the_primary_band(audit):
    row = audit.thresholds.set_index("epsilon").loc[0.01]
    numbers = headline(audit)
    assert numbers.n_eligible == row["n_eligible"] == len(audit.pairs)
    assert numbers.rate == pytest.approx(numbers.n_reversed / numbers.n_eligible)
    assert numbers.excess_pp == row["excess_pp"]
    assert numbers.n_random == 99


def test_context_names_the_range_and_what_it_is_not(audit):
    assert any("a range, not a confidence interval" in sentence for sentence in context(audit))
    assert any("τ_b = .912; 3.5% of all" in sentence for sentence in context(audit))


def test_context_says_when_p_is_the_smallest_possible(audit):
    thresholds = audit.thresholds.assign(p_value=1 / 100)
    said = context(replace(audit, thresholds=thresholds))
    assert any("p is the smallest that 99 of them allow" in sentence for sentence in said)
    assert not any(
        "smallest" in s for s in context(replace(audit, thresholds=thresholds.assign(p_value=0.02)))
    )


def test_purification_says_whether_the_set_settled(audit):
    first, second = sentences.purification(audit)
    assert "half 0 the anchor set had not settled after 3 rounds" in first
    assert "85.0% are in both" in first
    assert (
        second
        == "In half 1 the anchor set settled: round 3 chose the same items as the round before."
    )


def test_purification_names_fits_that_did_not_converge(audit):
    rounds = audit.rounds.assign(converged=np.where(audit.rounds["round"] == 2, 0, 1))
    said = sentences.purification(replace(audit, rounds=rounds))
    assert any("half 1, round 2, did not converge (largest last update 2.5e-09)" in s for s in said)


def test_constant_items_are_counted_by_half(audit):
    (said,) = sentences.constant_items(audit)
    assert said == (
        "In half 0, 2 items were answered alike by every model that the values were fitted on: "
        "they have no finite easiness, and 1 of 2 is an anchor."
    )


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("one-se", "rule favours small K"),
        ("paired", "paired difference"),
        ("minimum", "K of the smallest loss"),
    ],
)
def test_rule_for_the_dimension_is_the_one_used(audit, rule, words):
    assert words in sentences.dimension_rule(replace(audit, settings={"rule": rule}))


def test_context_explains_a_range_that_misses_the_observed_rate(audit):
    outside = audit.thresholds.assign(range_low=0.1, range_high=0.11)
    said = " ".join(context(replace(audit, thresholds=outside)))
    assert "between 10.0% and 11.0%" in said
    assert "it need not hold the observed rate" in said
    assert "need not hold" not in " ".join(context(audit))
