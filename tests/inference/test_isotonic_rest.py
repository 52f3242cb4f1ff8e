"""Items against the rest score: the same as one item at a time, and the reference's values."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import mutual_info_score

from neartie.inference.isotonic import signed_isotonic_r2
from neartie.inference.isotonic_rest import rest_statistics

law = settings(max_examples=40, deadline=None)
cells = st.sampled_from([0, 1, 1, 0, -1])
matrices = arrays(np.int8, st.tuples(st.integers(2, 6), st.integers(2, 15)), elements=cells)


@law
@given(matrices)
def test_against_one_item_at_a_time(values):
    seen = values >= 0
    for i, row in enumerate(rest_statistics(values, seen)):
        others = np.delete(seen, i, axis=0)
        n_other = others.sum(axis=0)
        use = seen[i] & (n_other > 0)
        total = np.where(others, np.delete(values, i, axis=0), 0).sum(axis=0)
        x, rest = values[i, use].astype(float), (total[use] / n_other[use]).round(9)
        if len(np.unique(x)) < 2 or len(np.unique(rest)) < 2:
            assert np.isnan(row).all()
            continue
        levels = np.unique(rest, return_inverse=True)[1]
        expected = [
            signed_isotonic_r2(rest, x),
            np.corrcoef(x, rest)[0, 1],
            mutual_info_score(x, levels),
        ]
        np.testing.assert_allclose(row, expected, atol=1e-8)


def test_rest_scores_that_differ_by_rounding_alone_are_one_level():
    # 0.1 + 0.2 + 0.3 and 0.3 + 0.3 + 0 are the same score, in floating point not quite.
    others = np.array([[0.1, 0.3, 1.0, 0.0], [0.2, 0.3, 1.0, 0.0], [0.3, 0.0, 1.0, 0.0]])
    item = np.array([[1.0, 0.0, 1.0, 0.0]])
    scores = np.vstack([item, others])
    found = rest_statistics(scores, np.ones(scores.shape, dtype=bool))[0, 0]
    assert found == pytest.approx(signed_isotonic_r2([0.6, 0.6, 3.0, 0.0], item[0]))


def test_reference_values(reference_dir):
    answers = pd.read_csv(reference_dir / "inputs" / "screen_binary.csv.gz", index_col=0)
    expected = pd.read_csv(reference_dir / "expected" / "screen_binary.csv.gz")
    scores = answers.to_numpy().T
    found = rest_statistics(scores, np.ones(scores.shape, dtype=bool))
    for column, name in enumerate(("R2iso_rest", "rho_rest", "MI_rest")):
        np.testing.assert_allclose(found[:, column], expected[name], atol=1e-9)
