"""Numbers as a journal prints them: percentages, points, p-values, correlations."""

from __future__ import annotations

from typing import Any

import pandas as pd

from neartie.data import wording

MISSING = "–"
MINUS = wording.MINUS
SIGNIFICANT = 0.05


def is_missing(value: Any) -> bool:
    """Return whether a single value is None, NaN, or pandas' missing value."""
    return value is None or bool(pd.isna(value))


def count(value: Any) -> str:
    """Return a whole number with commas between groups of three digits.

    Parameters
    ----------
    value : int or missing

    Returns
    -------
    str

    Examples
    --------
    >>> count(2226), count(None)
    ('2,226', '–')
    """
    return MISSING if is_missing(value) else f"{int(value):,}".replace("-", MINUS)


def percent(value: Any, *, digits: int = 1) -> str:
    """Return a proportion as a percentage, without the sign.

    Parameters
    ----------
    value : float in [0, 1], proportion, or missing
    digits : int
        Digits after the point.

    Returns
    -------
    str, per cent

    Examples
    --------
    >>> percent(100 / 216), percent(float("nan"))
    ('46.3', '–')
    """
    return MISSING if is_missing(value) else decimal(100 * float(value), digits=digits)


def decimal(value: Any, *, digits: int) -> str:
    """Return a number with a fixed number of digits and a true minus; never a negative zero.

    Examples
    --------
    >>> decimal(-0.94, digits=1), decimal(-0.001, digits=1)
    ('−0.9', '0.0')
    """
    if is_missing(value):
        return MISSING
    text = f"{float(value):.{digits}f}"
    if float(text) == 0:
        return text.lstrip("-")
    return text.replace("-", MINUS)


def signed(value: Any, *, digits: int = 1) -> str:
    """Return a difference with its sign, as in P0's Table 1.

    Examples
    --------
    >>> signed(10.19), signed(-0.94), signed(0.0)
    ('+10.2', '−0.9', '0.0')
    """
    text = decimal(value, digits=digits)
    return f"+{text}" if text[0].isdigit() and float(text) > 0 else text


def gap(value: Any) -> str:
    """Return a signed gap with two digits, or as many as it takes not to print a zero.

    A reversed pair has a nonzero gap under both scores, however small.

    Examples
    --------
    >>> gap(0.93), gap(-0.0042), gap(0.0)
    ('+0.93', '−0.004', '0.00')
    """
    if is_missing(value) or float(value) == 0:
        return signed(value, digits=2)
    digits = 2
    while digits < 12 and round(float(value), digits) == 0:
        digits += 1
    return signed(value, digits=digits)


def correlation(value: Any) -> str:
    """Return a correlation with three digits and no leading zero, as in P0's Table 1.

    Examples
    --------
    >>> correlation(0.955), correlation(-0.25), correlation(1.0), correlation(None)
    ('.955', '−.250', '1.000', '–')
    """
    return _without_leading_zero(decimal(value, digits=3))


def p_number(value: Any) -> str:
    """Return a p-value without its leading zero, with as many digits as its verdict needs.

    Three digits, or more while three would print 0, 1, or a number on the other side of .05.
    A randomization p-value is at least 1 / (R + 1), so a printed zero would always be wrong.

    Parameters
    ----------
    value : float in (0, 1], probability, or missing

    Returns
    -------
    str

    References
    ----------
    Phipson and Smyth (2010), Permutation P-values should never be zero, SAGMB 9(1), 39.
    doi:10.2202/1544-6115.1585

    Examples
    --------
    >>> p_number(1 / 1001), p_number(1 / 20001), p_number(0.0502), p_number(1.0)
    ('.001', '.00005', '.0502', '1.000')
    """
    if is_missing(value):
        return MISSING
    number = float(value)
    for digits in range(3, 12):
        text = f"{number:.{digits}f}"
        shown = float(text)
        same_side = (shown <= SIGNIFICANT) == (number <= SIGNIFICANT)
        if same_side and (shown > 0 or number <= 0) and (shown < 1 or number >= 1):
            break
    return _without_leading_zero(text)


def p_text(value: Any) -> str:
    """Return `p = .001`.

    Examples
    --------
    >>> p_text(0.689)
    'p = .689'
    """
    return f"p = {p_number(value)}"


def points(epsilon: float) -> str:
    """Return a band as percentage points, without trailing zeros.

    Parameters
    ----------
    epsilon : float in (0, 1], proportion

    Returns
    -------
    str, percentage points

    Examples
    --------
    >>> points(0.0025), points(0.01), points(0.05)
    ('0.25', '1', '5')
    """
    return f"{100 * epsilon:.10g}"


def point_word(epsilon: float) -> str:
    """Return a band with its unit: `1 point`, `2 points`.

    Examples
    --------
    >>> point_word(0.01), point_word(0.005)
    ('1 point', '0.5 points')
    """
    number = points(epsilon)
    return f"{number} point" if number == "1" else f"{number} points"


def plural(number: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> plural(1, "pair"), plural(2226, "pair"), plural(2, "family", "families")
    ('1 pair', '2,226 pairs', '2 families')
    """
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def _without_leading_zero(text: str) -> str:
    return text.replace("0.", ".", 1) if text.lstrip(MINUS).startswith("0.") else text
