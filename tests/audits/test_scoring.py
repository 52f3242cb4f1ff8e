"""Exact scores: against fractions item by item, sign decisions, and the case C19."""

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neartie.audits.anchors import build_cells, select_anchors
from neartie.audits.scoring import exact_sign, item_weights, score_models, weighted_scores
from neartie.data.errors import CaveatWarning, DataError


def some_subtest(seed, n_item=57, alpha="0.3"):
    rng = np.random.default_rng(seed)
    source = rng.choice(["a", "b", "c"], size=n_item, p=[0.6, 0.3, 0.1])
    cells = build_cells(source, rng.normal(size=n_item))
    return select_anchors(cells, rng.normal(size=n_item), alpha=alpha)


@given(st.integers(0, 10**6), st.sampled_from(["0.3", "0.5", "0.7", "1"]))
def test_scores_equal_sums_of_fractions(seed, alpha):
    subtest = some_subtest(seed, alpha=alpha)
    values = (np.random.default_rng(seed + 1).random((57, 4)) < 0.5).astype(np.int8)
    scores = score_models(values, subtest)
    weights = subtest.weights()
    for m in range(4):
        right = sum((w for w, y in zip(weights, values[:, m], strict=True) if y), Fraction(0))
        assert scores.anchor[m] == right / sum(weights)
    assert scores.full.tolist() == values.sum(axis=0).tolist()


def test_levels_rank_scores_and_share_ties():
    subtest = some_subtest(1)
    values = np.zeros((57, 3), dtype=np.int8)
    values[:, 1] = 1
    assert score_models(values, subtest).anchor_level.tolist() == [0, 1, 0]


@given(
    st.lists(st.lists(st.integers(-20, 20), min_size=3, max_size=3), min_size=1, max_size=6),
)
def test_signs_equal_those_of_fractions(groups):
    kept = [7, 11, 64]
    common = 7 * 11 * 64
    expected = [
        np.sign(sum(Fraction(g, k) for g, k in zip(row, kept, strict=True))) for row in groups
    ]
    found = exact_sign(np.array(groups), [common // k for k in kept])
    assert found.tolist() == expected


def test_weights_are_whole_numbers_while_they_fit():
    weight, tolerance = item_weights(some_subtest(2), mass=57)
    assert tolerance == 0.5
    assert (weight == np.rint(weight)).all()


def test_weights_fall_back_to_doubles_with_a_bound():
    # cells of 67, 71, ..., items: the common denominator exceeds 2**53
    source = np.repeat([f"s{i}" for i in range(12)], [134 + 6 * i for i in range(12)])
    cells = build_cells(source, np.zeros(len(source)), strata=1)
    subtest = select_anchors(cells, np.zeros(len(source)))
    assert subtest.denominator * len(source) > 2**53
    weight, tolerance = item_weights(subtest, mass=len(source))
    assert weight == pytest.approx([cells.size[c] / subtest.kept[c] for c in cells.code])
    assert 0 < tolerance < 1e-6


def read_c19(case_dir, name):
    table = pd.read_csv(case_dir / "C19" / "responses.csv", dtype=str)
    weights = pd.read_csv(case_dir / "C19" / f"{name}.csv", dtype=str)
    values = table[weights["item"]].to_numpy().T.astype(np.int8)
    return values, weights["weight"].tolist(), weights["source"]


def test_case_c19_no_anchor_left_stops(case_dir):
    values, weights, source = read_c19(case_dir, "weights")
    with pytest.raises(DataError, match="no anchor items left"):
        weighted_scores(values, weights, source=source)


def test_case_c19_a_lost_cell_is_named(case_dir):
    values, weights, source = read_c19(case_dir, "weights_cell")
    with pytest.warns(CaveatWarning, match="source 's2' has weight 0 for 3 items"):
        scores = weighted_scores(values, weights, source=source)
    assert scores == (1, Fraction(1, 2), Fraction(1, 2))


def test_full_weights_warn_of_nothing(case_dir):
    values, _, source = read_c19(case_dir, "weights")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = weighted_scores(values, [1] * 6, source=source)
    assert scores == (Fraction(1, 2),) * 3


def test_bad_weights_are_refused():
    values = np.ones((2, 1), dtype=np.int8)
    with pytest.raises(DataError, match="weight of item 2 is negative"):
        weighted_scores(values, [1, -1])
    with pytest.raises(DataError, match="2 items have 1 weights"):
        weighted_scores(values, [1])
    with pytest.raises(DataError, match="1 are missing"):
        weighted_scores(np.array([[1], [-1]], dtype=np.int8), [1, 1])


@pytest.mark.parametrize("name", ["1of2", "3of10", "7of10"])
@pytest.mark.parametrize("target", [0, 1])
def test_worked_audit(reference, name, target):
    setting = f"{name}_half_even"
    expected = reference.table("expected/scores")
    rows = expected[(expected["setting"] == setting) & (expected["target_half"] == str(target))]
    rows = rows.set_index("model").loc[reference.half(target, representatives=True)["model"]]
    scores = score_models(
        reference.values(target, representatives=True), reference.subtest(setting, 1 - target)
    )
    assert scores.full.tolist() == rows["full_count"].astype(int).tolist()
    exact = [
        Fraction(n) / Fraction(d)
        for n, d in zip(rows["anchor_numerator"], rows["anchor_denominator"], strict=True)
    ]
    assert list(scores.anchor) == exact
