"""Graded pairs: the same sums as one pair at a time, and the reference's."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import kendalltau

from neartie.inference.isotonic import signed_isotonic_r2
from neartie.inference.isotonic_pairs import graded_pair_sums
from neartie.inference.pairwise_binary import binary_pair_sums

law = settings(max_examples=40, deadline=None)
cells = st.sampled_from([0.0, 0.5, 1.0, 2.0, np.nan])
matrices = arrays(np.float64, st.tuples(st.integers(2, 5), st.integers(2, 12)), elements=cells)


def mutual_information(x, y):
    table = pd.crosstab(x, y).to_numpy() / len(x)

    def entropy(p):
        return -(p[p > 0] * np.log(p[p > 0])).sum()

    h_x, h_y = entropy(table.sum(axis=1)), entropy(table.sum(axis=0))
    information = h_x + h_y - entropy(table.ravel())
    return information, 2 * information / (h_x + h_y)


def slow_rows(scores):
    """The plain twin: one pair at a time."""
    rows = []
    for i, item in enumerate(scores):
        values = []
        for j, partner in enumerate(scores):
            both = ~np.isnan(item) & ~np.isnan(partner)
            x, y = item[both], partner[both]
            if i == j or len(np.unique(x)) < 2 or len(np.unique(y)) < 2:
                continue
            nested = np.cov(np.sort(x), np.sort(y), ddof=0)
            cov = np.cov(x, y, ddof=0)
            values.append(
                [
                    signed_isotonic_r2(x, y),
                    signed_isotonic_r2(y, x),
                    cov[0, 1],
                    cov[0, 0] * cov[1, 1],
                    nested[0, 1],
                    np.corrcoef(x, y)[0, 1],
                    *mutual_information(x, y),
                ]
            )
        rows.append(values)
    return rows


@law
@given(matrices)
def test_sums_are_those_of_one_pair_at_a_time(scores):
    fast = graded_pair_sums(scores)
    for i, values in enumerate(slow_rows(scores)):
        assert fast.n_pairs[i] == len(values)
        assert fast.n_pairs[i] + fast.n_undefined[i] == len(scores) - 1
        expected = np.sum(values, axis=0) if values else np.zeros(8)
        np.testing.assert_allclose(fast.sums[i], expected, atol=1e-10)
        negative = sum(value[0] + value[1] < 0 for value in values)
        assert fast.n_negative[i] == negative


@law
@given(matrices)
def test_direction_by_tau_has_the_sign_of_kendalls_tau(scores):
    pair = scores[:2]
    both = ~np.isnan(pair).any(axis=0)
    result = graded_pair_sums(pair[:, both], direction="tau")
    if result.n_pairs[0] == 0:
        return
    tau = kendalltau(*pair[:, both]).statistic
    forward = result.sums[0, 0]
    assert forward == 0 or (forward > 0) == (tau > -1e-12)


@law
@given(arrays(np.float64, st.tuples(st.integers(2, 5), st.integers(2, 12)), elements=st.sampled_from([0.0, 1.0, np.nan])))  # fmt: skip
def test_binary_items_give_what_the_closed_form_gives(scores):
    graded = graded_pair_sums(scores)
    binary = binary_pair_sums(scores == 1, ~np.isnan(scores))
    for statistic in ("covariance", "variance_product", "largest_covariance", "phi", "mi", "u_sym"):
        np.testing.assert_allclose(graded.mean(statistic), binary.mean(statistic), atol=1e-10)
    for form in ("predictor", "outcome"):
        np.testing.assert_allclose(graded.mean(form), binary.mean("signed_isotonic_r2"), atol=1e-10)
    assert not graded.n_disagree.any()


@pytest.mark.parametrize(("direction", "key"), [("fit", "mse"), ("tau", "tau")])
def test_reference_values_of_graded_items(reference_dir, direction, key):
    scores = pd.read_csv(reference_dir / "inputs" / "screen_ordinal.csv.gz").to_numpy(float).T
    expected = json.loads((reference_dir / "expected" / "screen_ordinal.json").read_text())[key]
    sums = graded_pair_sums(scores, direction=direction)
    np.testing.assert_allclose(sums.mean("predictor"), expected["fit_predictor"], atol=1e-9)
    np.testing.assert_allclose(sums.mean("outcome"), expected["fit_outcome"], atol=1e-9)


def test_pairs_where_tau_disagrees_are_counted(reference_dir):
    scores = pd.read_csv(reference_dir / "inputs" / "screen_ordinal.csv.gz").to_numpy(float).T
    # The reference's two tables of coefficients differ for items 4 with 9 and 4 with 8.
    assert graded_pair_sums(scores).n_disagree.tolist() == [0, 0, 0, 2, 0, 0, 0, 1, 1]


def test_chosen_partners_give_the_sums_over_them():
    scores = np.random.default_rng(1).integers(0, 4, (6, 30)).astype(float)
    partners = np.array([[(i + 1) % 6, (i + 2) % 6] for i in range(6)])
    some = graded_pair_sums(scores, neighbours=partners)
    for i, chosen in enumerate(partners):
        alone = [graded_pair_sums(scores[[i, j]]).sums[0] for j in chosen]
        np.testing.assert_allclose(some.sums[i], np.sum(alone, axis=0), atol=1e-12)


def test_groups_add_up():
    scores = np.random.default_rng(2).integers(0, 3, (7, 25)).astype(float)
    result = graded_pair_sums(scores, group=np.array([0, 1, 1, 2, 0, 2, 2]))
    symmetric = (result.sums[:, 0] + result.sums[:, 1]) / 2
    np.testing.assert_allclose(result.group_sums.sum(axis=1), symmetric, atol=1e-12)
    assert (result.group_pairs.sum(axis=1) == result.n_pairs).all()


def test_rows_asked_for_are_the_rows_of_the_whole():
    scores = np.random.default_rng(4).integers(0, 4, (6, 30)).astype(float)
    whole, rows = graded_pair_sums(scores), np.array([5, 2])
    some = graded_pair_sums(scores, rows=rows)
    assert (some.sums == whole.sums[rows]).all()
    assert (some.n_disagree == whole.n_disagree[rows]).all()
