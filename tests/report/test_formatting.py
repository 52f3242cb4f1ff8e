"""Numbers in print: laws of rounding and sign."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neartie.report.formatting import (
    MINUS,
    MISSING,
    correlation,
    count,
    decimal,
    gap,
    p_number,
    percent,
    signed,
)

probabilities = st.floats(1e-6, 1.0)


def number(text: str) -> float:
    return float(text.replace(MINUS, "-").replace(",", ""))


@given(probabilities)
def test_printed_p_is_never_zero_nor_wrongly_one(p):
    shown = number(p_number(p))
    assert shown > 0
    assert shown < 1 or p > 1 - 1e-11


@given(probabilities)
def test_printed_p_stands_on_its_side_of_the_limit(p):
    assert (number(p_number(p)) <= 0.05) == (p <= 0.05)


@given(st.floats(-1e4, 1e4), st.integers(0, 4))
def test_decimals_read_back_and_have_no_negative_zero(value, digits):
    text = decimal(value, digits=digits)
    assert number(text) == pytest.approx(value, abs=0.5 * 10.0**-digits + 1e-9)
    assert "-" not in text
    assert not (MINUS in text and number(text) == 0)


@given(st.floats(-100, 100))
def test_sign_is_shown_unless_the_number_prints_as_zero(value):
    text = signed(value)
    assert (text[0] in f"+{MINUS}") == (number(text) != 0)


@given(st.floats(1e-8, 1.0), st.sampled_from([-1, 1]))
def test_a_gap_never_prints_as_zero(size, sign):
    assert number(gap(sign * size)) * sign > 0


@given(st.floats(-1, 1))
def test_correlations_have_no_leading_zero(value):
    text = correlation(value)
    assert number(text) == pytest.approx(value, abs=0.0005 + 1e-9)
    assert not text.lstrip(MINUS).startswith("0.") or number(text) == 0


@pytest.mark.parametrize("value", [None, float("nan"), np.nan, pd.NA])
@pytest.mark.parametrize("show", [count, percent, signed, correlation, p_number, gap])
def test_missing_is_a_dash(value, show):
    assert show(value) == MISSING
