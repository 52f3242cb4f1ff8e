"""McNemar's test: paired by id, exact, never above one."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from neartie.audits.paired_tests import mcnemar, mcnemar_by_item
from neartie.data.errors import DataError

law = settings(max_examples=60, deadline=None)
answers = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=40)


@law
@given(answers)
def test_exact_p_is_that_of_the_binomial_test(rows):
    first, second = np.array(rows, dtype=float).reshape(-1, 2).T
    found = mcnemar(first, second)
    if found.b + found.c == 0:
        assert found.p_value == found.mid_p_value == 1
    else:
        expected = stats.binomtest(found.b, found.b + found.c).pvalue
        assert found.p_value == pytest.approx(expected)
        assert found.mid_p_value <= found.p_value


@law
@given(answers)
def test_exchanging_the_sides_changes_the_counts_alone(rows):
    first, second = np.array(rows, dtype=float).reshape(-1, 2).T
    one, other = mcnemar(first, second), mcnemar(second, first)
    assert (one.b, one.c, one.p_value) == (other.c, other.b, other.p_value)


@pytest.mark.parametrize(
    ("pair", "counts", "p_value", "mid_p_value"),
    [
        (("same1", "same2"), (0, 0), 1, 1),
        (("lead", "lag"), (5, 5), 1, 1),
        (("strong", "weak"), (9, 2), 0.0654, 0.0386),
    ],
)
def test_case_c43(case_dir, pair, counts, p_value, mid_p_value):
    table = pd.read_csv(case_dir / "C43" / "pairs.csv")
    found = mcnemar(table[pair[0]], table[pair[1]])
    assert (found.b, found.c) == counts
    assert found.p_value == pytest.approx(p_value, abs=5e-5)
    assert found.mid_p_value == pytest.approx(mid_p_value, abs=5e-5)


def test_case_c44_pairs_on_the_item_id(case_dir):
    table = pd.read_csv(case_dir / "C44" / "long.csv")
    a, b = (table[table["model"] == name].set_index("item")["score"] for name in "AB")
    found = mcnemar_by_item(a, b.sample(frac=1, random_state=1))
    assert (found.n_shared, found.b, found.c) == (9, 4, 1)
    assert (found.n_first_only, found.n_second_only) == (3, 3)
    assert found.p_value == pytest.approx(0.375)
    assert found.mid_p_value == pytest.approx(0.2188, abs=5e-5)
    assert (found.first, found.second) == (pytest.approx(6 / 9), pytest.approx(3 / 9))
    assert "left out: 3 + 3 items" in str(found)


def test_no_shared_item_is_said():
    found = mcnemar_by_item(pd.Series([1], index=["a"]), pd.Series([0], index=["b"]))
    assert found.n_shared == 0
    assert np.isnan(found.first)
    assert str(found) == "no shared items: nothing to compare"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mcnemar([1, 0], [1]), "compare by item id instead"),
        (lambda: mcnemar([0.5], [1]), "answers are 1, 0 or missing, got 0.5"),
        (
            lambda: mcnemar_by_item(
                pd.Series([1, 0], index=["q", "q"]), pd.Series([1], index=["q"])
            ),
            "item 'q' stands more than once",
        ),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(DataError, match=message):
        call()
