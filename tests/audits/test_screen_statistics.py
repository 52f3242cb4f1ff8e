"""The table of P2: the reference's values, definitions written out, laws."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from neartie.audits.screen_statistics import STATISTICS, item_statistics, suspicion
from neartie.data.responses import Responses

law = settings(max_examples=25, deadline=None)
SLOW = frozenset({"tetrachoric", "d_2pl", "a_2pl"})
COLUMNS = {
    "signed_isotonic_r2": "M_iso",
    "acc": "Acc",
    "f1": "F1",
    "smc": "SMC",
    "mi": "MI",
    "phi": "phi",
    "tetrachoric": "tet",
    "kappa": "kappa",
    "u_sym": "U_sym",
    "mi_rest": "MI_rest",
    "rho_rest": "rho_rest",
    "z": "z",
    "r2_iso_rest": "R2iso_rest",
    "delta_alpha": "delta_alpha",
    "delta_rho": "delta_rhobar",
    "d_2pl": "d_2pl",
    "a_2pl": "a_2pl",
}


def build(values):
    n_item, n_model = np.shape(values)
    return Responses.build(
        values,
        items=[f"q{i}" for i in range(n_item)],
        models=[f"m{m}" for m in range(n_model)],
    )


@pytest.fixture(scope="module")
def found(reference_dir):
    answers = pd.read_csv(reference_dir / "inputs" / "screen_binary.csv.gz", index_col=0)
    return item_statistics(build(answers.to_numpy().T)).table


@pytest.fixture(scope="module")
def expected(reference_dir):
    return pd.read_csv(reference_dir / "expected" / "screen_binary.csv.gz")


@pytest.mark.parametrize("statistic", COLUMNS)
def test_reference_values(found, expected, statistic):
    tolerance = 1e-6 if statistic == "tetrachoric" else 1e-9
    np.testing.assert_allclose(found[statistic], expected[COLUMNS[statistic]], atol=tolerance)


def test_every_statistic_of_the_table_is_there(found):
    assert set(STATISTICS) - {"loevinger_h"} == set(COLUMNS)
    assert list(found.columns[-len(STATISTICS) :]) == list(STATISTICS)
    assert found[list(STATISTICS)].notna().all(axis=None)


def test_loevingers_h_counts_guttman_errors():
    # Items of accuracy 3/4 and 1/2 with one error of the Guttman order where 0.5 is expected.
    right = [[1, 1, 0, 1], [1, 0, 1, 0]]
    easy, hard = np.array(right, dtype=bool)
    errors, expected = (hard & ~easy).sum(), 4 * 0.5 * 0.25
    table = item_statistics(build(right), leave_out=SLOW).table
    assert table["loevinger_h"].tolist() == pytest.approx([1 - errors / expected] * 2)


def test_a_perfect_scale_has_h_of_one():
    right = np.tril(np.ones((6, 6), dtype=int), -1)[1:]
    table = item_statistics(build(right), leave_out=SLOW).table
    np.testing.assert_allclose(table["loevinger_h"], 1.0)


def test_graded_items_have_what_is_defined_for_them():
    scores = np.random.default_rng(3).integers(0, 4, (6, 40)) / 2
    statistics = item_statistics(build(scores))
    table = statistics.table
    correlation = np.corrcoef(scores)
    np.testing.assert_allclose(table["phi"], (correlation.sum(axis=1) - 1) / 5)
    rest = [np.corrcoef(row, scores.sum(axis=0) - row)[0, 1] for row in scores]
    np.testing.assert_allclose(table["rho_rest"], rest, atol=1e-7)
    covariance = np.cov(scores)

    def alpha(c):
        return len(c) / (len(c) - 1) * (1 - np.trace(c) / c.sum())

    drop = [np.delete(np.delete(covariance, i, 0), i, 1) for i in range(6)]
    np.testing.assert_allclose(
        table["delta_alpha"], [alpha(covariance) - alpha(c) for c in drop], atol=1e-9
    )
    for name in ("acc", "f1", "smc", "kappa", "tetrachoric", "d_2pl", "a_2pl"):
        assert table[name].isna().all()
    assert "exist for right/wrong answers" in statistics.notes[0]


@pytest.mark.parametrize("form", ["predictor", "outcome", "symmetric"])
def test_forms_of_the_coefficient(reference_dir, form):
    import json

    scores = pd.read_csv(reference_dir / "inputs" / "screen_ordinal.csv.gz").to_numpy(float).T
    expected = json.loads((reference_dir / "expected" / "screen_ordinal.json").read_text())
    table = item_statistics(build(scores), form=form).table
    np.testing.assert_allclose(
        table["signed_isotonic_r2"], expected["mse"][f"fit_{form}"], atol=1e-7
    )


@law
@given(arrays(np.int8, (6, 20), elements=st.sampled_from([0, 1])), st.integers(0, 10**6))
def test_a_constant_item_takes_part_in_nothing(values, seed):
    without = item_statistics(build(values), leave_out=SLOW).table
    constant = np.full((1, 20), seed % 2, dtype=np.int8)
    table = item_statistics(build(np.vstack([values, constant])), leave_out=SLOW).table
    assert table.loc[6, list(STATISTICS)].isna().all()
    pd.testing.assert_frame_equal(
        table[["n_pairs", *STATISTICS]].head(6),
        without[["n_pairs", *STATISTICS]],
        check_exact=False,
    )


@law
@given(arrays(np.int8, (5, 18), elements=st.sampled_from([0, 1, -1])), st.integers(0, 10**6))
def test_row_and_column_order_change_nothing(values, seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(5), rng.permutation(18)
    table = item_statistics(build(values), leave_out=SLOW).table.iloc[rows].reset_index(drop=True)
    moved = item_statistics(build(values[rows][:, columns]), leave_out=SLOW).table
    pd.testing.assert_frame_equal(moved, table, check_exact=False)


def test_larger_is_more_suspicious_for_all_but_difficulty():
    table = pd.DataFrame({"signed_isotonic_r2": [0.5], "d_2pl": [1.0], "accuracy": [0.2]})
    assert suspicion(table).iloc[0].to_dict() == {"signed_isotonic_r2": -0.5, "d_2pl": 1.0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "both"}, "form must be one of symmetric, predictor, outcome, got 'both'"),
        ({"direction": "up"}, "direction must be fit or tau, got 'up'"),
    ],
)
def test_wrong_choices_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        item_statistics(build([[0, 1], [1, 0]]), **options)


def test_suspicion_ties_what_differs_by_rounding_alone():
    low, high = 0.1 + 0.2, 0.3
    table = pd.DataFrame({"phi": [low, high, 0.0, np.nan, 3e-7, 3.00001e-7]})
    turned = suspicion(table)["phi"]
    assert low != high
    assert turned.iloc[0] == turned.iloc[1] == pytest.approx(-0.3, abs=1e-11)
    assert turned.iloc[2] == 0
    assert np.isnan(turned.iloc[3])
    assert turned.iloc[4] > turned.iloc[5]
