"""Tetrachoric correlations: the cell's probability comes out, and the reference's means do."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from neartie.inference.pairwise_tetrachoric import (
    NODES,
    WEIGHTS,
    mean_tetrachoric,
    normal_quantile,
    tetrachoric_of_counts,
)

law = settings(max_examples=40, deadline=None)
cell = st.integers(0, 400)


def tetrachoric(*counts):
    return tetrachoric_of_counts(*map(float, counts), NODES, WEIGHTS)


def quadrant(h, k, r):
    """P(X < h, Y < k) by integrating over X, in pieces around the place where the slope turns."""
    width = np.sqrt(1 - r * r)
    turn = k / r if r else 0.0
    stops = sorted(
        {-9.0, h, *(t for t in (turn - 8 * width, turn, turn + 8 * width) if -9 < t < h)}
    )
    return sum(
        quad(lambda x: norm.pdf(x) * norm.cdf((k - r * x) / width), a, b, epsabs=1e-13)[0]
        for a, b in pairwise(stops)
    )


@pytest.mark.parametrize(
    "counts",
    [
        (30, 10, 12, 26),
        (3, 40, 30, 5),
        (0, 5, 8, 20),
        (57, 11, 10, 0),
        (500, 3, 5, 2000),
        (4000, 1, 1, 1),
        (100, 1, 300, 4000),
        (10, 5, 0, 4000),
    ],
)
def test_the_cell_has_the_probability_that_was_counted(counts):
    table = np.array([count or 0.5 for count in counts])
    share = table / table.sum()
    h, k = norm.ppf(share[0] + share[1]), norm.ppf(share[0] + share[2])
    r = tetrachoric(*counts)
    density = np.exp(-(h * h + k * k - 2 * h * k * r) / (2 * (1 - r * r)))
    density /= 2 * np.pi * np.sqrt(1 - r * r)
    assert (quadrant(h, k, r) - share[0]) / density == pytest.approx(0, abs=1e-8)


@law
@given(cell, cell, cell, cell)
def test_exchanging_the_items_changes_nothing(a, b, c, d):
    assert tetrachoric(a, b, c, d) == pytest.approx(tetrachoric(a, c, b, d), abs=1e-8)


@law
@given(cell, cell, cell, cell)
def test_reversing_an_item_turns_the_sign(a, b, c, d):
    assert tetrachoric(a, b, c, d) == pytest.approx(-tetrachoric(b, a, d, c), abs=1e-6)


@law
@given(cell, cell, cell, cell)
def test_sign_is_that_of_the_association(a, b, c, d):
    a, b, c, d = (count or 0.5 for count in (a, b, c, d))
    association = a * d - b * c
    value = tetrachoric(a, b, c, d)
    assert -1 < value < 1
    assert value == pytest.approx(0, abs=1e-9) if association == 0 else value * association > 0


@law
@given(st.floats(1e-9, 1 - 1e-9))
def test_quantile_is_that_of_scipy(probability):
    assert normal_quantile(probability) == pytest.approx(norm.ppf(probability), rel=1e-9, abs=1e-9)


def test_equal_median_splits_have_pearsons_closed_form():
    # Thresholds at zero: P(both) = 1/4 + asin(r) / (2 pi).
    assert tetrachoric(30, 20, 20, 30) == pytest.approx(np.sin(2 * np.pi * (0.3 - 0.25)), abs=1e-12)


def test_reference_means(reference_dir):
    answers = pd.read_csv(reference_dir / "inputs" / "screen_binary.csv.gz", index_col=0)
    expected = pd.read_csv(reference_dir / "expected" / "screen_binary.csv.gz")
    right = answers.to_numpy().T == 1
    mean = mean_tetrachoric(right, np.ones_like(right))
    np.testing.assert_allclose(mean, expected["tet"], atol=1e-6)


def test_incomplete_answers_and_chosen_partners_use_common_models():
    rng = np.random.default_rng(5)
    seen = rng.random((70, 60)) < 0.8
    right = (rng.random((70, 60)) < 0.5) & seen
    every = mean_tetrachoric(right, seen)
    partners = np.array([[j for j in range(70) if j != i] for i in range(70)])
    np.testing.assert_allclose(
        mean_tetrachoric(right, seen, neighbours=partners), every, atol=1e-12
    )
    both = seen[0] & seen[1]
    alone = mean_tetrachoric(right[:2][:, both], np.ones((2, int(both.sum())), dtype=bool))
    assert mean_tetrachoric(right[:2], seen[:2])[0] == pytest.approx(alone[0])


def test_a_constant_item_has_no_value():
    right = np.array([[1, 1, 1, 1], [1, 0, 1, 0], [1, 0, 0, 0]], dtype=bool)
    mean = mean_tetrachoric(right, np.ones_like(right))
    assert np.isnan(mean[0])
    assert mean[1] == mean[2]
