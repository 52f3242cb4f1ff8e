"""Cells, anchors and weights: laws, ties, exact rounding, and the worked audit."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neartie.audits.anchors import build_cells, exact_fraction, jaccard, select_anchors
from neartie.data.errors import DataError

item_sets = st.integers(1, 60).flatmap(
    lambda n: st.tuples(
        st.lists(st.sampled_from("abc"), min_size=n, max_size=n),
        st.lists(st.floats(-5, 5), min_size=n, max_size=n),
        st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.7]), min_size=n, max_size=n),
    )
)
alphas = st.sampled_from(["0.3", "0.5", "0.7", "1", "1/3", "0.001"])


@given(item_sets, alphas)
def test_weights_restore_every_cell(items, alpha):
    source, easiness, dif = items
    cells = build_cells(source, np.array(easiness))
    subtest = select_anchors(cells, np.array(dif), alpha=alpha)
    mass = [Fraction(0)] * len(cells.size)
    for cell, weight in zip(cells.code, subtest.weights(), strict=True):
        mass[cell] += weight
    assert mass == cells.size.tolist()
    kept = [max(1, round(Fraction(alpha) * int(n))) for n in cells.size]
    assert np.bincount(cells.code[subtest.selected], minlength=len(kept)).tolist() == kept


@given(item_sets)
def test_strata_are_near_equal_and_ordered(items):
    source, easiness, _ = items
    cells = build_cells(source, np.array(easiness))
    for name in set(source):
        sizes = cells.size[[s == name for s in cells.source]]
        assert sizes.max() - sizes.min() <= 1
        assert sizes.tolist() == sorted(sizes, reverse=True)
        inside = np.array(source) == name
        values = [
            np.array(easiness)[inside & (cells.stratum[cells.code] == t)] for t in range(len(sizes))
        ]
        assert all(a.max() <= b.min() for a, b in itertools.pairwise(values))


@given(item_sets)
def test_selected_items_have_the_least_dif_of_their_cell(items):
    source, easiness, dif = items
    cells = build_cells(source, np.array(easiness))
    subtest = select_anchors(cells, np.array(dif))
    for cell in range(len(cells.size)):
        inside = cells.code == cell
        chosen = np.array(dif)[inside & subtest.selected]
        others = np.array(dif)[inside & ~subtest.selected]
        assert not len(others) or chosen.max() <= others.min()


@given(item_sets, st.randoms())
def test_order_of_rows_changes_nothing_when_the_index_travels(items, random):
    source, easiness, dif = (np.array(part) for part in items)
    order = np.array(random.sample(range(len(source)), len(source)))
    cells = build_cells(source, easiness)
    moved = build_cells(source[order], easiness[order], index=order)
    assert np.array_equal(
        np.array(cells.names)[cells.code][order], np.array(moved.names)[moved.code]
    )
    kept = select_anchors(cells, dif).selected
    assert np.array_equal(kept[order], select_anchors(moved, dif[order], index=order).selected)


def test_ties_go_to_the_original_index():
    cells = build_cells(["s"] * 8, np.zeros(8), strata=2)
    assert cells.code.tolist() == [0] * 4 + [1] * 4
    assert np.flatnonzero(select_anchors(cells, np.zeros(8)).selected).tolist() == [0, 1, 4, 5]


def test_infinite_easiness_sorts_to_the_ends():
    cells = build_cells(["s"] * 4, np.array([np.inf, 0.0, -np.inf, 0.1]))
    assert cells.stratum[cells.code].tolist() == [3, 1, 0, 2]


def test_rounding_is_exact_and_half_to_even():
    # .7 x 45 is exactly 31.5, which doubles make 31.499999999999996
    cells = build_cells(["s"] * 45, np.zeros(45), strata=1)
    assert select_anchors(cells, np.zeros(45), alpha=0.7).kept.tolist() == [32]
    five = build_cells(["s"] * 5, np.zeros(5), strata=1)
    assert select_anchors(five, np.zeros(5), alpha=0.5).kept.tolist() == [2]


def test_fewer_items_than_strata_leave_no_empty_cell():
    cells = build_cells(["s", "s", "t"], np.array([0.0, 1.0, 2.0]))
    assert cells.size.tolist() == [1, 1, 1]
    assert cells.names == ["s|0", "s|1", "t|0"]


def test_dropped_constant_items_keep_the_mass_of_their_cell():
    cells = build_cells(["s"] * 6, np.zeros(6), strata=1)
    constant = np.array([True, True, False, False, False, False])
    subtest = select_anchors(cells, np.zeros(6), constant=constant, constant_items="drop")
    assert np.flatnonzero(subtest.selected).tolist() == [2, 3]
    assert subtest.weights() == [0, 0, 3, 3, 0, 0]
    kept = select_anchors(cells, np.zeros(6), constant=constant)
    assert np.flatnonzero(kept.selected).tolist() == [0, 1, 2]


def test_a_cell_of_constant_items_alone_keeps_them():
    cells = build_cells(["s", "s", "t", "t"], np.zeros(4), strata=1)
    constant = np.array([True, True, False, False])
    subtest = select_anchors(cells, np.zeros(4), constant=constant, constant_items="drop")
    assert subtest.kept.tolist() == [1, 1]
    assert sum(subtest.weights()) == 4


@pytest.mark.parametrize("alpha", [0, -0.5, 1.5, "2"])
def test_alpha_outside_its_range_is_refused(alpha):
    with pytest.raises(ValueError, match=r"alpha must lie in \(0, 1\]"):
        select_anchors(build_cells(["s"], np.zeros(1)), np.zeros(1), alpha=alpha)


def test_words_are_no_numbers():
    with pytest.raises(ValueError, match=r"expected a number such as 0\.5 or 1/3, got 'half'"):
        exact_fraction("half")


def test_nan_easiness_is_refused():
    with pytest.raises(DataError, match="item 2 has no easiness"):
        build_cells(["s", "s"], np.array([0.0, np.nan]))


def test_jaccard_of_equal_and_disjoint_sets():
    a = np.array([True, False])
    assert jaccard(a, a) == 1
    assert jaccard(a, ~a) == 0


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize(("name", "alpha"), [("1of2", "0.5"), ("3of10", "0.3"), ("7of10", "0.7")])
def test_worked_audit_selection_alone(reference, half, name, alpha):
    table = reference.anchors(f"{name}_half_even", half)
    cells = build_cells(table["source"], table["b_round3"].astype(float).to_numpy())
    assert cells.stratum[cells.code].tolist() == table["stratum"].astype(int).tolist()
    subtest = select_anchors(cells, table["D_round3"].astype(float).to_numpy(), alpha=alpha)
    assert subtest.weights() == [Fraction(text) for text in table["weight"]]
