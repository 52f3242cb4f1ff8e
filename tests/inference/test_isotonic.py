"""Monotone fits: optimal, free of the order of rows, and the same as scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from neartie.inference.isotonic import isotonic_fit, signed_isotonic_r2

law = settings(max_examples=40, deadline=None)
levels = st.integers(0, 4)
pairs = st.lists(st.tuples(levels, levels), min_size=2, max_size=25)


def split(rows):
    x, y = np.array(rows, dtype=float).T
    return x, y


def signed_r2_by_scikit_learn(x, y):
    """The slow twin: two regressions, and C.3's rule for the sign."""
    total = ((y - y.mean()) ** 2).sum()
    if total == 0 or len(np.unique(x)) < 2:
        return np.nan
    error = {
        rising: ((y - IsotonicRegression(increasing=rising).fit_transform(x, y)) ** 2).sum()
        for rising in (True, False)
    }
    sign = 1 if error[True] <= error[False] + 1e-9 else -1
    return sign * (1 - error[sign > 0] / total)


@law
@given(pairs)
def test_r2_is_that_of_scikit_learn(rows):
    x, y = split(rows)
    expected = signed_r2_by_scikit_learn(x, y)
    assert signed_isotonic_r2(x, y) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@law
@given(pairs, st.booleans())
def test_fit_is_that_of_scikit_learn(rows, increasing):
    x, y = split(rows)
    expected = IsotonicRegression(increasing=increasing).fit_transform(x, y)
    np.testing.assert_allclose(isotonic_fit(x, y, increasing=increasing), expected, atol=1e-12)


@law
@given(pairs, st.booleans())
def test_no_nudged_block_fits_better(rows, increasing):
    x, y = split(rows)
    fit = isotonic_fit(x, y, increasing=increasing)
    error = ((y - fit) ** 2).sum()
    for value in np.unique(fit):
        block = fit == value
        for step in (-1e-3, 1e-3):
            assert ((y - np.where(block, fit + step, fit)) ** 2).sum() > error


@law
@given(pairs)
def test_no_monotone_line_fits_better(rows):
    x, y = split(rows)
    coefficient = signed_isotonic_r2(x, y)
    if np.isnan(coefficient):
        return
    assert abs(coefficient) >= np.corrcoef(x, y)[0, 1] ** 2 - 1e-12


@law
@given(pairs, st.randoms(use_true_random=False))
def test_order_of_rows_changes_nothing(rows, random):
    shuffled = random.sample(rows, len(rows))
    assert signed_isotonic_r2(*split(shuffled)) == pytest.approx(
        signed_isotonic_r2(*split(rows)), abs=1e-12, nan_ok=True
    )


@law
@given(pairs)
def test_monotone_recoding_of_the_predictor_changes_nothing(rows):
    x, y = split(rows)
    expected = signed_isotonic_r2(x, y)
    assert signed_isotonic_r2(np.exp(x) - 7, y) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@law
@given(pairs, st.floats(0.1, 10), st.floats(-5, 5))
def test_affine_recoding_of_the_outcome_changes_nothing(rows, scale, shift):
    x, y = split(rows)
    expected = signed_isotonic_r2(x, y)
    assert signed_isotonic_r2(x, scale * y + shift) == pytest.approx(
        expected, abs=1e-9, nan_ok=True
    )


@law
@given(pairs)
def test_reversed_outcome_turns_the_sign_unless_both_directions_fit_alike(rows):
    x, y = split(rows)
    one, other = signed_isotonic_r2(x, y), signed_isotonic_r2(x, -y)
    assert abs(one) == pytest.approx(abs(other), abs=1e-12, nan_ok=True)
    assert np.isnan(one) or one == pytest.approx(-other, abs=1e-12) or min(one, other) >= 0


def test_tie_of_directions_counts_as_increasing():
    # A bump in the middle: either direction explains the same.
    assert signed_isotonic_r2([0, 1, 2], [0, 1, 0]) == pytest.approx(0.25)


def test_missing_places_are_left_out():
    x, y = [0, 1, np.nan, 1, 0], [0, 1, 5, np.nan, 0]
    assert signed_isotonic_r2(x, y) == pytest.approx(1.0)


@pytest.mark.parametrize(("x", "y"), [([0, 0, 0], [0, 1, 0]), ([0, 1, 2], [1, 1, 1]), ([], [])])
def test_a_side_that_does_not_vary_leaves_it_undefined(x, y):
    assert np.isnan(signed_isotonic_r2(x, y))


def test_lists_of_different_length_are_refused():
    with pytest.raises(ValueError, match="one length, got"):
        signed_isotonic_r2([1, 2], [1, 2, 3])


def test_input_is_not_overwritten():
    x, y = np.array([2.0, 1, 3]), np.array([0.0, 1, 1])
    isotonic_fit(x, y)
    signed_isotonic_r2(x, y)
    assert x.tolist() == [2, 1, 3]
    assert y.tolist() == [0, 1, 1]


def test_partial_credit_of_case_c08(case_dir):
    table = np.genfromtxt(case_dir / "C08" / "graded.csv", delimiter=",", skip_header=1)
    p1, p2 = table[:, 1], table[:, 2]
    assert signed_isotonic_r2(p1, p2) == pytest.approx(1 / 3, abs=1e-12)
    assert signed_isotonic_r2(p2, p1) == pytest.approx(3 / 11, abs=1e-12)
