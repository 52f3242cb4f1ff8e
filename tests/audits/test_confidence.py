"""Calibration of confidences: laws, a plain twin, named cases, reference values."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neartie.audits.confidence import (
    calibrate_confidence,
    confidence_bins,
    expected_error_if_calibrated,
)
from neartie.data.errors import DataError

law = settings(max_examples=40, deadline=None)

PERCENT = st.integers(0, 100).map(lambda k: k / 100)
ANSWERS = st.lists(st.tuples(PERCENT, st.sampled_from([0.0, 1.0])), min_size=1, max_size=60)
BINS = st.integers(1, 30)
CLOSED = st.sampled_from(["right", "left"])
BINNING = st.sampled_from(["width", "mass"])


def plain_ece(c, x, n_bins, closed):
    """One answer at a time, in whole hundredths."""
    sums = {}
    for conf, right in zip(c, x, strict=True):
        k = round(100 * conf)
        if closed == "right":
            b = max(0, -(-k * n_bins // 100) - 1)
        else:
            b = min(n_bins - 1, k * n_bins // 100)
        n, a, s = sums.get(b, (0, 0.0, 0.0))
        sums[b] = n + 1, a + right, s + conf
    return sum(abs(a - s) for _, a, s in sums.values()) / len(c)


@law
@given(ANSWERS, BINS, CLOSED)
def test_it_is_that_of_the_plain_twin(answers, n_bins, closed):
    c, x = zip(*answers, strict=True)
    found = calibrate_confidence(c, x, n_bins=n_bins, closed=closed)
    assert found.ece == pytest.approx(plain_ece(c, x, n_bins, closed), abs=1e-12)


@law
@given(ANSWERS, BINS, CLOSED, BINNING)
def test_every_answer_is_in_one_bin(answers, n_bins, closed, binning):
    c, x = zip(*answers, strict=True)
    found = calibrate_confidence(c, x, n_bins=n_bins, closed=closed, binning=binning)
    bins = found.bins
    assert len(bins) == n_bins
    assert bins["n"].sum() == len(c) == found.n
    assert 0 <= found.ece <= found.max_error <= 1
    filled = bins[bins["n"] > 0]
    assert filled["n"] @ filled["accuracy"] == pytest.approx(sum(x))
    assert filled["n"] @ filled["confidence"] == pytest.approx(sum(c))
    inside = filled["confidence"].between(filled["low"] - 1e-12, filled["high"] + 1e-12)
    assert inside.all()


@law
@given(ANSWERS, BINS, CLOSED, BINNING, st.randoms(use_true_random=False))
def test_order_of_answers_changes_nothing(answers, n_bins, closed, binning, random):
    options = {"n_bins": n_bins, "closed": closed, "binning": binning}
    mixed = list(answers)
    random.shuffle(mixed)
    one, other = (
        calibrate_confidence(*zip(*part, strict=True), **options) for part in (answers, mixed)
    )
    assert one.ece == pytest.approx(other.ece, abs=1e-12)
    assert one.bins["n"].tolist() == other.bins["n"].tolist()


@law
@given(ANSWERS, BINS, CLOSED)
def test_turning_answers_and_confidence_around_changes_the_side_only(answers, n_bins, closed):
    c, x = (np.array(side) for side in zip(*answers, strict=True))
    one = calibrate_confidence(c, x, n_bins=n_bins, closed=closed)
    turned = (100 - np.round(100 * c)) / 100
    other_side = {"left": "right", "right": "left"}[closed]
    other = calibrate_confidence(turned, 1 - x, n_bins=n_bins, closed=other_side)
    assert one.ece == pytest.approx(other.ece, abs=1e-9)
    assert one.brier == pytest.approx(other.brier, abs=1e-12)


@law
@given(ANSWERS)
def test_equal_confidences_are_never_parted(answers):
    c = np.array([conf for conf, _ in answers])
    code = confidence_bins(c, n_bins=7, binning="mass")
    assert pd.DataFrame({"c": c, "b": code}).groupby("c")["b"].nunique().max() == 1
    assert ((code >= 0) & (code < 7)).all()


def test_equal_masses_are_equal_without_ties():
    code = confidence_bins(np.linspace(0, 1, 40), n_bins=8, binning="mass")
    assert np.bincount(code).tolist() == [5] * 8


@pytest.mark.parametrize("n_bins", [10, 15, 20])
def test_edges_are_fractions_not_sums_of_steps(n_bins):
    edges = np.array([k / n_bins for k in range(1, n_bins)])
    assert confidence_bins(edges, n_bins=n_bins).tolist() == list(range(n_bins - 1))
    left = confidence_bins(edges, n_bins=n_bins, closed="left")
    assert left.tolist() == list(range(1, n_bins))


def test_missing_is_missing():
    found = calibrate_confidence([0.9, np.nan, 0.2, 0.5], [1, 1, 0, np.nan])
    assert found.n == 2
    assert found.ece == pytest.approx(0.15)


def test_no_answers_have_no_error():
    found = calibrate_confidence([np.nan], [1])
    assert found.n == 0
    assert all(math.isnan(value) for value in (found.ece, found.max_error, found.brier))
    assert found.bins["n"].sum() == 0
    assert math.isnan(expected_error_if_calibrated([np.nan]))


@pytest.mark.parametrize(("closed", "ece"), [("left", 0.27), ("right", 0.38)])
def test_c46_edges(case_dir, closed, ece):
    table = pd.read_csv(case_dir / "C46" / "conf.csv")
    found = calibrate_confidence(table["confidence"], table["correct"], closed=closed)
    assert found.ece == pytest.approx(ece, abs=1e-12)
    assert found.brier == pytest.approx(0.3285, abs=1e-12)
    assert found.bins["n"].sum() == 10


@pytest.mark.parametrize("binning", ["width", "mass"])
@pytest.mark.parametrize("n_bins", [10, 25])
def test_c47_equal_confidences(case_dir, binning, n_bins):
    table = pd.read_csv(case_dir / "C47" / "conf.csv")
    found = calibrate_confidence(
        table["confidence"], table["correct"], n_bins=n_bins, binning=binning
    )
    assert found.ece == pytest.approx(0.3)
    assert found.max_error == pytest.approx(0.3)
    assert found.brier == pytest.approx(0.33)


@settings(max_examples=20, deadline=None)
@given(st.lists(PERCENT, min_size=1, max_size=7), st.integers(0, 2**31))
def test_expected_error_is_that_of_all_outcomes(confidences, seed):
    c = np.array(confidences)
    exact = 0.0
    for k in range(2 ** len(c)):
        x = np.array([k >> i & 1 for i in range(len(c))])
        probability = np.prod(np.where(x == 1, c, 1 - c))
        exact += probability * calibrate_confidence(c, x).ece
    found = expected_error_if_calibrated(c, n_draws=4000, rng=seed)
    # five standard errors of a mean of 4,000 errors whose spread is at most .5
    assert found == pytest.approx(exact, abs=5 * 0.5 / math.sqrt(4000))


def test_expected_error_does_not_depend_on_order():
    c = np.random.default_rng(3).random(50)
    assert expected_error_if_calibrated(c, rng=4) == expected_error_if_calibrated(c[::-1], rng=4)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0.5], [1, 0]), {}, "one length"),
        (([0.5, 1.5], [1, 0]), {}, "confidence 2 is 1.5"),
        (([0.5, 0.5], [1, 2]), {}, "score 2 is 2"),
        (([0.5], [1]), {"closed": "both"}, "closed must be one of right, left"),
        (([0.5], [1]), {"binning": "none"}, "binning one of width, mass"),
        (([0.5], [1]), {"n_bins": 0}, "n_bins must be at least 1"),
    ],
)
def test_errors_say_what_is_wrong(arguments, options, message):
    with pytest.raises((DataError, ValueError), match=message):
        calibrate_confidence(*arguments, **options)


def test_the_order_of_rows_changes_no_bit():
    rng = np.random.default_rng(4)
    confidence, correct = rng.random(500).round(2), rng.integers(2, size=500)
    order = rng.permutation(500)
    one = calibrate_confidence(confidence, correct)
    other = calibrate_confidence(confidence[order], correct[order])
    pd.testing.assert_frame_equal(one.bins, other.bins, check_exact=True)
    assert one.ece == other.ece
