"""False discoveries: names, order, missing tests, and the case C17."""

import pandas as pd
import pytest

from neartie.audits.multiplicity import control_false_discoveries


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_case_c17_names_the_right_item_in_any_order(case_dir, order):
    p = pd.read_csv(case_dir / "C17" / "pvalues.csv").set_index("item")["p"].iloc[order]
    table = control_false_discoveries(p)
    assert table.index[table["verdict"] == "flagged"].tolist() == ["item_07"]
    assert table.loc["item_07", "p_adjusted"] == pytest.approx(0.0220, abs=5e-5)
    assert p["item_20"] == 0.045
    assert table.loc["item_20", "p_adjusted"] == pytest.approx(0.45)
    assert table.attrs["n_tests"] == 20


def test_adjustment_equals_its_definition():
    p = pd.Series([0.03, 0.01, 0.02, 0.5], index=list("abcd"))
    # p(k) m / k, made monotone from the largest down
    assert control_false_discoveries(p)["p_adjusted"].tolist() == pytest.approx(
        [0.04, 0.04, 0.04, 0.5]
    )


def test_a_test_that_was_not_run_is_no_result():
    table = control_false_discoveries(pd.Series({"a": 0.04, "b": float("nan")}))
    assert table["verdict"].tolist() == ["flagged", "not tested"]
    assert table.attrs["n_tests"] == 1


def test_empty_input_gives_empty_output():
    assert control_false_discoveries(pd.Series(dtype=float)).empty


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"p-value of 'a' lies outside \[0, 1\]"):
        control_false_discoveries(pd.Series({"a": 1.2}))
    with pytest.raises(ValueError, match="'a' names more than one test"):
        control_false_discoveries(pd.Series([0.1, 0.2], index=["a", "a"]))
    with pytest.raises(ValueError, match=r"level must lie in \(0, 1\), got 2"):
        control_false_discoveries(pd.Series({"a": 0.1}), level=2)
