"""What simulated comparisons say of a rung, in a sentence, with the error of having drawn few."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pandas as pd
from scipy import stats

from neartie.audits.comparison_settings import PLUG_IN, ComparisonSettings
from neartie.audits.few_data_sets import ENOUGH
from neartie.data.wording import counted

_NOMINAL: Final = 0.95


def share_limits(share: float, n: int) -> tuple[float, float]:
    """Return the 95 % limits of a share of independent trials, after Clopper and Pearson.

    Parameters
    ----------
    share : float in [0, 1]
    n : int
        Trials; without any the limits are 0 and 1.

    Returns
    -------
    (float, float)

    Examples
    --------
    >>> low, high = share_limits(0.95, 20)
    >>> round(low, 3), round(high, 3)
    (0.751, 0.999)
    """
    if not n or math.isnan(share):
        return 0.0, 1.0
    found = stats.binomtest(round(share * n), n).proportion_ci(_NOMINAL, method="exact")
    return float(found.low), float(found.high)


def mean_limits(mean: float, error: float, n: int) -> tuple[float, float]:
    """Return the 95 % limits of a mean of so many values, by Student's t; NaN without an error.

    Examples
    --------
    >>> low, high = mean_limits(0.0, 1.0, 3)
    >>> round(high, 3)
    4.303
    """
    if n < 2 or math.isnan(error):
        return math.nan, math.nan
    reach = float(stats.t.ppf(0.975, n - 1)) * error
    return mean - reach, mean + reach


def top_rung(settings: ComparisonSettings) -> str:
    """Return the highest rung; the plug-in where it is alone."""
    return settings.ladder[-1]


def headline_cell(settings: ComparisonSettings, rung: str) -> tuple[str, str]:
    """Return the cell that stands for a rung: the plug-in has anchors of its own alone.

    Examples
    --------
    >>> headline_cell(ComparisonSettings(), "plug-in")
    ('plug-in', 'latent')
    """
    anchors, scores = settings.headline
    return (PLUG_IN if rung == PLUG_IN else anchors), scores


def recovery_row(
    table: pd.DataFrame, rung: str, anchors: str, scores: str
) -> dict[str, Any] | None:
    """Return the row of a cell, or None where there is none."""
    own = table[
        (table["rung"] == rung) & (table["anchors"] == anchors) & (table["scores"] == scores)
    ]
    if own.empty:
        return None
    return {str(name): value for name, value in own.iloc[0].items()}


def rung_claim(table: pd.DataFrame, settings: ComparisonSettings, rung: str) -> str:
    """Return what simulations say of a rung's headline cell, in one sentence.

    Parameters
    ----------
    table : DataFrame
        Of `Recovery`.
    settings : ComparisonSettings
    rung : str

    Returns
    -------
    str

    Notes
    -----
    A coverage departs from 95 % where its Clopper-Pearson limits leave that out, and a bias from 0
    where its limits by Student's t do. Coverages of fewer than 20 leaderboards are not judged.
    """
    cell = headline_cell(settings, rung)
    row = recovery_row(table, rung, *cell)
    head = f"{rung}, {' × '.join(cell)}"
    if row is None or not row["n_replicates"]:
        return f"{head}: no rate was defined, so that nothing can be said."
    n = int(row["n_replicates"])
    return f"{head}: {_bias_words(row, n)}, and {_coverage_words(row, n)}."


def _bias_words(row: dict[str, Any], n: int) -> str:
    bias, error = row["bias"], row["bias_se"]
    where = "above" if bias > 0 else "below"
    low, high = mean_limits(bias, error, n)
    said = f"over {counted(n, 'leaderboard')} its rate lies {_points(abs(bias))} points {where}"
    if math.isnan(low):
        return f"{said} the truth"
    clear = "" if low > 0 or high < 0 else ", which may be chance"
    return f"{said} the truth on average (± {_points(error)}{clear})"


def _coverage_words(row: dict[str, Any], n: int) -> str:
    share = row["coverage"]
    if math.isnan(share):
        return "it has no interval"
    low, high = row["coverage_low"], row["coverage_high"]
    if n < ENOUGH:
        reading = "of too few leaderboards to judge by"
    elif high < _NOMINAL:
        reading = "too few"
    elif low > _NOMINAL:
        reading = "more than 95"
    else:
        reading = "which leave 95 possible"
    return (
        f"{round(100 * share)}% of its 95% intervals hold the truth (limits {_whole(low)} to "
        f"{_whole(high)}%, {reading})"
    )


def _points(share: float) -> str:
    return f"{100 * share:.1f}"


def _whole(share: float) -> str:
    return f"{np.floor(100 * share + 0.5):.0f}"
