"""Consistency, contamination gap, resistance, frontier: laws and plain twins."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from neartie.audits.pareto import pareto_set
from neartie.audits.stability import (
    _wilson,
    consistency,
    contamination_gap,
    modal_shares,
    resistance,
)
from neartie.data.errors import DataError

law = settings(max_examples=40, deadline=None)

SAMPLES = st.lists(st.lists(st.sampled_from(["7", "8", "9", "", None]), max_size=6), max_size=12)


def plain_consistency(samples):
    shares = []
    for given_answers in samples:
        answers = [a for a in given_answers if a]
        if answers:
            shares.append(max(answers.count(v) for v in answers) / len(answers))
    return sum(shares) / len(shares) if shares else None


@law
@given(SAMPLES)
def test_consistency_is_that_of_the_plain_twin(samples):
    found = consistency(samples)
    expected = plain_consistency(samples)
    if expected is None:
        assert math.isnan(found.value)
    else:
        assert found.value == pytest.approx(expected)
        assert 0 < found.value <= 1
    assert found.n_samples + found.n_blank == sum(map(len, samples))


@law
@given(SAMPLES)
def test_the_table_gives_the_same(samples):
    rows = [
        ("d", "m", f"q{i}", answer or "") for i, answers in enumerate(samples) for answer in answers
    ]
    table = pd.DataFrame(rows, columns=["domain", "model", "item", "answer"], dtype="str")
    found, expected = modal_shares(table), consistency(samples)
    assert len(found) == expected.n_items
    assert found["n"].sum() == expected.n_samples
    if len(found):
        assert found["share"].mean() == pytest.approx(expected.value)


@law
@given(st.lists(st.sampled_from("789"), min_size=1, max_size=6), st.integers(1, 3))
def test_repeating_the_samples_changes_nothing(answers, times):
    assert consistency([answers * times]).value == pytest.approx(consistency([answers]).value)


def test_two_blanks_do_not_agree():
    found = consistency([["", None, "7"], ["", ""]])
    assert (found.n_items, found.n_single, found.n_blank, found.value) == (1, 1, 4, 1.0)
    assert math.isnan(consistency([["", ""]]).value)


ANSWERS = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0, math.nan]), st.sampled_from([0.0, 1.0, math.nan])),
    min_size=1, max_size=50,
)  # fmt: skip


@law
@given(ANSWERS)
def test_the_gap_is_that_of_two_means(answers):
    found = contamination_gap(*zip(*answers, strict=True))
    old = [x for x, a in answers if a == 1 and not math.isnan(x)]
    new = [x for x, a in answers if a == 0 and not math.isnan(x)]
    assert (found.n_anchor, found.n_fresh) == (len(old), len(new))
    if old and new:
        assert found.gap == pytest.approx(sum(old) / len(old) - sum(new) / len(new))
        assert -1 <= found.low <= found.gap <= found.high <= 1
        assert 0 <= found.resistance <= 1
    else:
        assert math.isnan(found.gap)
        assert math.isnan(found.resistance)


@law
@given(ANSWERS)
def test_turning_anchors_around_turns_the_gap(answers):
    x, a = (np.array(side) for side in zip(*answers, strict=True))
    one, other = contamination_gap(x, a), contamination_gap(x, 1 - a)
    assert one.gap == pytest.approx(-other.gap, nan_ok=True)
    assert one.low == pytest.approx(-other.high, nan_ok=True)


def test_newcombes_own_example():
    # Newcombe (1998), table II, example (a): 56/70 and 48/80, method 10: 0.0524 to 0.3339
    found = contamination_gap([1] * 56 + [0] * 14 + [1] * 48 + [0] * 32, [1] * 70 + [0] * 80)
    assert found.gap == pytest.approx(0.2)
    assert (found.low, found.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)


@law
@given(st.integers(1, 60), st.data())
def test_limits_of_a_proportion_are_scipys(n, data):
    k = data.draw(st.integers(0, n))
    expected = stats.binomtest(k, n).proportion_ci(method="wilson")
    assert _wilson(k / n, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(
    ("gap", "limit", "expected"),
    [(-0.3, 0.2, 1), (0, 0.2, 1), (0.1, 0.2, 0.5), (0.2, 0.2, 0), (0.9, 0.2, 0), (0.1, 0.4, 0.75)],
)
def test_resistance_falls_to_a_floor(gap, limit, expected):
    assert resistance(np.array(gap), gap_limit=limit) == pytest.approx(expected)


def test_lists_must_match():
    with pytest.raises(DataError, match="of one length"):
        contamination_gap([1, 0], [1])
    with pytest.raises(DataError, match="of one length"):
        pareto_set([1, 0], [1])


POINTS = st.lists(
    st.tuples(st.sampled_from([1.0, 2.0, 3.0, math.nan]), st.sampled_from([0.0, 1.0, 2.0, math.nan])),
    max_size=15,
)  # fmt: skip


@law
@given(POINTS)
def test_the_frontier_is_that_of_the_definition(points):
    q, c = ([p[k] for p in points] for k in (0, 1))
    known = [p for p in points if not any(map(math.isnan, p))]
    expected = [
        p in known
        and not any(
            other[0] >= p[0] and other[1] <= p[1] and (other[0] > p[0] or other[1] < p[1])
            for other in known
        )
        for p in points
    ]
    assert pareto_set(q, c).tolist() == expected


@law
@given(POINTS)
def test_equal_models_are_kept_together(points):
    kept = pareto_set(*([p[k] for p in points] for k in (0, 1)))
    verdicts = {}
    for point, verdict in zip(points, kept, strict=True):
        if not any(map(math.isnan, point)):
            assert verdicts.setdefault(point, verdict) == verdict
    assert Counter(verdicts.values())[True] >= bool(verdicts)
