"""AUC: a count of pairs, DeLong's variance by its definition, comparisons, precision."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from neartie.audits.auc import area_under_curve, auc_table, compare_auc, precision_at

law = settings(max_examples=60, deadline=None)
scores = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=4, max_size=30).filter(
    lambda rows: 2 <= sum(label for _, label in rows) <= len(rows) - 2
)


def split(rows):
    score, label = np.array(rows, dtype=float).T
    return score, label


def kernel(bad, good):
    """The matrix of DeLong's definition: 1 above, one half for a tie, 0 below."""
    return (bad[:, None] > good) + 0.5 * (bad[:, None] == good)


@law
@given(scores)
def test_auc_is_the_share_of_pairs_and_that_of_scikit_learn(rows):
    score, label = split(rows)
    found = area_under_curve(score, label)
    assert found.auc == pytest.approx(kernel(score[label == 1], score[label == 0]).mean())
    assert found.auc == pytest.approx(roc_auc_score(label, score))


@law
@given(scores)
def test_variance_is_delongs(rows):
    score, label = split(rows)
    table = kernel(score[label == 1], score[label == 0])
    expected = table.mean(axis=1).var(ddof=1) / table.shape[0]
    expected += table.mean(axis=0).var(ddof=1) / table.shape[1]
    assert area_under_curve(score, label).variance == pytest.approx(expected, abs=1e-12)


@law
@given(scores)
def test_reversed_scores_and_exchanged_labels(rows):
    score, label = split(rows)
    auc = area_under_curve(score, label).auc
    assert area_under_curve(-score, label).auc == pytest.approx(1 - auc)
    assert area_under_curve(-score, 1 - label).auc == pytest.approx(auc)
    assert area_under_curve(np.exp(score), label).auc == pytest.approx(auc)


@law
@given(scores)
def test_missing_scores_and_labels_are_left_out(rows):
    score, label = split(rows)
    more = np.append(score, [np.nan, 3.0]), np.append(label, [1.0, np.nan])
    assert area_under_curve(*more).auc == area_under_curve(score, label).auc
    assert precision_at(*more, k=3) == precision_at(score, label, k=3)


def test_classes_apart_have_no_interval():
    found = area_under_curve([3, 4, 0, 1], [1, 1, 0, 0])
    assert found.auc == 1
    assert np.isnan(found.low)
    assert found.reason == "the classes do not overlap: no standard error"


def test_one_bad_item_has_an_auc_and_no_interval():
    found = area_under_curve([1, 0, 2], [1, 0, 0])
    assert found.auc == 0.5
    assert np.isnan(found.variance)
    assert np.isnan(found.high)
    assert "fewer than two" in found.reason


@pytest.mark.parametrize(("labels", "word"), [([0, 0], "bad"), ([1, 1], "good")])
def test_one_class_alone_is_undefined_with_a_reason(labels, word):
    found = area_under_curve([1, 2], labels)
    assert np.isnan(found.auc)
    assert found.reason == f"no {word} item has a score"


def test_interval_covers_as_often_as_it_says():
    # 2,000 samples of normal scores with AUC 0.76; fixed seed. A rate of 95 % has a
    # Monte Carlo error of 0.5 points, and DeLong's interval is known to cover a little less.
    rng = np.random.default_rng(8)
    label = np.r_[np.ones(40), np.zeros(80)]
    hits = 0
    for _ in range(2000):
        found = area_under_curve(rng.normal(size=120) + label, label)
        hits += found.low <= 0.760249938906524 <= found.high
    assert 0.93 <= hits / 2000 <= 0.965


def test_difference_of_a_score_with_itself_is_zero():
    score, label = np.array([3.0, 2, 2, 1, 0]), np.array([1, 1, 0, 0, 0])
    same = compare_auc(score, 2 * score, label)
    assert same.difference == 0
    assert same.p_value == 1
    assert np.isnan(same.low)


@law
@given(scores, st.randoms(use_true_random=False))
def test_difference_has_delongs_covariance(rows, random):
    score, label = split(rows)
    other = np.array([random.randint(0, 4) for _ in rows], dtype=float)
    found = compare_auc(score, other, label)
    first = kernel(score[label == 1], score[label == 0])
    second = kernel(other[label == 1], other[label == 0])
    variance = sum(
        np.cov(first.mean(axis=a), second.mean(axis=a)) @ [1, -1] @ [1, -1] / first.shape[1 - a]
        for a in (0, 1)
    )
    assert found.difference == pytest.approx(first.mean() - second.mean())
    if variance > 1e-12:
        assert found.high - found.difference == pytest.approx(1.959964 * np.sqrt(variance))


def test_comparison_uses_items_with_both_scores():
    label = [1, 1, 0, 0, 0, 1]
    first, second = [5, 2, 3, 1, 0, np.nan], [4, 1, 3, 2, 0, 9]
    assert compare_auc(first, second, label).n_bad == 2


def test_comparison_with_too_few_items_is_refused():
    with pytest.raises(
        ValueError, match="two bad and two good items with both scores, got 1 and 2"
    ):
        compare_auc([1, 2, 3], [3, 2, 1], [1, 0, 0])


def test_precision_shares_the_tie_at_the_end_of_the_list():
    score, label = np.array([9, 5, 5, 5, 1]), np.array([1, 1, 0, 0, 0])
    orders = [[0, *rest] for rest in ([1, 2, 3], [2, 1, 3], [2, 3, 1])]
    mean = np.mean([label[order[:2]].mean() for order in orders])
    assert precision_at(score, label, k=2) == pytest.approx(mean)
    assert precision_at(score, label, k=99) == pytest.approx(2 / 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: area_under_curve([1, 2], [1]), "one length"),
        (lambda: area_under_curve([1, 2], [2, 0]), "labels are 1"),
        (lambda: area_under_curve([1, 2], [1, 0], level=2), r"level must lie in \(0, 1\), got 2"),
        (lambda: precision_at([1], [1], k=0), "k must be at least 1"),
        (lambda: precision_at([np.nan], [1], k=1), "no item has both"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_reference_aucs(reference_dir):
    table = pd.read_csv(reference_dir / "expected" / "screen_binary.csv.gz")
    expected = json.loads((reference_dir / "expected" / "screen_auc.json").read_text())
    suspicion = -table.drop(columns=["item", "bad"])
    suspicion["d_2pl"] *= -1
    found = auc_table(suspicion, table["bad"]).set_index("statistic")["auc"]
    for name, value in found.items():
        assert value == pytest.approx(expected["auc_negated_fit"][name], abs=1e-9)
