"""Predictive checks in sentences, and as plain text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Hashable
from typing import Any, Final

import numpy as np
import pandas as pd

from neartie.audits.predictive_result import PredictiveChecks
from neartie.data.wording import printable
from neartie.report.formatting import MISSING, count, decimal, is_missing, p_number, percent, plural

WIDTH: Final = 80


def check_answer(checks: PredictiveChecks) -> str:
    """Return what the check found, in a few sentences.

    Parameters
    ----------
    checks : PredictiveChecks

    Returns
    -------
    str
    """
    table = checks.statistics
    out = table.loc[table["outside"] == 1, "meaning"].tolist()
    level = f"{percent(checks.level, digits=0)}%"
    if out:
        first = (
            f"{len(out)} of {plural(len(table), 'statistic')} of the data "
            f"{'is' if len(out) == 1 else 'are'} outside what the {checks.source} predicts at "
            f"{level}: {'; '.join(out)}."
        )
    else:
        first = (
            f"None of {plural(len(table), 'statistic')} of the data is outside what the "
            f"{checks.source} predicts at {level}."
        )
    return " ".join([first, *(_covered(row) for row in checks.coverage.to_dict("records"))])


def tail(p: float, n: int) -> str:
    """Return a tail probability of so many replicates, never as 0 or 1.

    Examples
    --------
    >>> tail(0.529, 1000), tail(0.0, 1000), tail(1.0, 400)
    ('.529', '<.001', '>.997')
    """
    if is_missing(p):
        return MISSING
    least = 1 / n
    if least / 2 <= p <= 1 - least / 2:
        return p_number(p)
    text = f"{np.ceil(1000 * least) / 1000 if p < 0.5 else np.floor(1000 * (1 - least)) / 1000:.3f}"
    return f"{'<' if p < 0.5 else '>'}{text.lstrip('0')}"


def shown(value: Any) -> str:
    """Return a count as a count, and any other number with three digits or one.

    Examples
    --------
    >>> shown(1200.0), shown(0.1234), shown(432.13), shown(None)
    ('1,200', '0.123', '432.1', '–')
    """
    if is_missing(value):
        return MISSING
    if float(value).is_integer():
        return count(value)
    return decimal(value, digits=1 if abs(value) >= 100 else 3)


def interval(low: Any, high: Any) -> str:
    """Return an interval in the same way.

    Examples
    --------
    >>> interval(4.0, 17.0)
    '4 to 17'
    """
    return f"{shown(low)} to {shown(high)}"


def _covered(row: dict[Hashable, Any]) -> str:
    return (
        f"Of {count(row['n'])} totals of {row['quantity']}, {count(row['n_outside'])} "
        f"({percent(row['share'])}%) {'is' if row['n_outside'] == 1 else 'are'} outside their "
        f"intervals; of their replicates, {percent(row['expected'])}%."
    )


def comparison_answer(table: pd.DataFrame) -> str:
    """Return which model predicts best, and whether that is more than noise.

    Parameters
    ----------
    table : DataFrame
        Of `neartie.compare_models`.

    Returns
    -------
    str

    Examples
    --------
    >>> comparison_answer(pd.DataFrame({"model": ["2PL", "1PL"], "elpd_diff": [0.0, 20.0],
    ...                                 "diff_se": [0.0, 4.0]}))
    'Left-out answers are predicted best by 2PL. 1PL falls short by 20.0 (standard error 4.0).'
    """
    best = table["model"].iloc[0]
    parts = [f"Left-out answers are predicted best by {best}."]
    for row in table.iloc[1:].to_dict("records"):
        short, error = abs(row["elpd_diff"]), row["diff_se"]
        noise = ", which is within noise" if short < 2 * error or short < 4 else ""
        parts.append(
            f"{row['model']} falls short by {short:.1f} (standard error {error:.1f}){noise}."
        )
    return " ".join(parts)


def check_text(checks: PredictiveChecks, comparison: pd.DataFrame | None = None) -> str:
    """Return a short plain text: what was found, caveats, statistics.

    Parameters
    ----------
    checks : PredictiveChecks
    comparison : DataFrame, optional
        Of `neartie.compare_models`.

    Returns
    -------
    str
        Ends without a line break.
    """
    parts = [_wrapped(check_answer(checks))]
    parts += [_wrapped(f"Warning: {printable(text)}") for text in checks.warnings]
    lines = [f"{'observed':>9} {'predicted':>10}  {'interval':>19} {'p':>6}   statistic"]
    for row in checks.statistics.to_dict("records"):
        mark = "*" if row["outside"] else " "
        lines.append(
            f"{shown(row['observed']):>9} {shown(row['predicted']):>10}  {interval(row['low'], row['high']):>19} "
            f"{tail(row['p'], checks.n_draws):>6} {mark} {row['statistic']}"
        )
    parts.append("\n".join(lines))
    if comparison is not None:
        parts.append(_wrapped(printable(comparison_answer(comparison))))
    return "\n\n".join(parts)


def _wrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(text, WIDTH, break_on_hyphens=False))
