"""How estimates with printed standard errors compare with draws of a posterior, value by value."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

type Floats = NDArray[np.float64]
type Codes = NDArray[np.intp]

#: Draws times pairs that are looked at; beyond, evenly spaced draws stand for all.
_MOST_CHECKS: Final = 2 * 10**8
_LEAST_DRAWS: Final = 200


def centred(draws: Floats, component: Codes) -> Floats:
    """Return draws with mean zero over every connected set, as point estimates have it.

    Parameters
    ----------
    draws : (n_draw, n_model) float
    component : (n_model,) int

    Returns
    -------
    (n_draw, n_model) float

    Examples
    --------
    >>> centred(np.array([[1.0, 3.0, 7.0]]), np.array([0, 0, 1]))
    array([[-1.,  1.,  0.]])
    """
    found = np.array(draws, dtype=np.float64)
    for code in np.unique(component):
        inside = component == code
        found[:, inside] -= found[:, inside].mean(axis=1, keepdims=True)
    return found


def printed_limits(estimate: Floats, se: Floats, *, level: float) -> tuple[Floats, Floats]:
    """Return the limits of the intervals that standard errors stand for: estimate ± z se."""
    margin = float(stats.norm.ppf(0.5 + level / 2)) * se
    return estimate - margin, estimate + margin


def compare_values(estimate: Floats, se: Floats, draws: Floats, *, level: float) -> pd.DataFrame:
    """Return estimates beside what a posterior says of the same quantities.

    Parameters
    ----------
    estimate, se : (n,) float
        Of the same origin as the draws.
    draws : (n_draw, n) float
    level : float in (0, 1)
        Of all intervals.

    Returns
    -------
    DataFrame, n rows
        `estimate`, `se`, `low`, `high` (estimate ± z se); `posterior_mean`, `posterior_sd` (ddof
        1), `posterior_low`, `posterior_high` (equal tails); `bias`, the estimate minus the
        posterior mean, and `bias_sd`, the same in posterior standard deviations; `se_ratio`, se
        over posterior standard deviation; `overlap`, length of what the two intervals share over
        the length of what either covers; `mass`, the share of draws within low and high.

    Examples
    --------
    >>> draws = np.array([[-1.0], [0.0], [1.0]])
    >>> found = compare_values(np.zeros(1), np.full(1, 0.5), draws, level=0.95)
    >>> found[["bias", "se_ratio", "mass"]].round(3).to_numpy().tolist()
    [[0.0, 0.5, 0.333]]
    """
    low, high = printed_limits(estimate, se, level=level)
    mean, sd = draws.mean(axis=0), draws.std(axis=0, ddof=1)
    below, above = np.quantile(draws, [0.5 - level / 2, 0.5 + level / 2], axis=0)
    shared = np.maximum(np.minimum(high, above) - np.maximum(low, below), 0.0)
    either = (high - low) + (above - below) - shared
    with np.errstate(divide="ignore", invalid="ignore"):
        return pd.DataFrame(
            {
                "estimate": estimate,
                "se": se,
                "low": low,
                "high": high,
                "posterior_mean": mean,
                "posterior_sd": sd,
                "posterior_low": below,
                "posterior_high": above,
                "bias": estimate - mean,
                "bias_sd": (estimate - mean) / sd,
                "se_ratio": se / sd,
                "overlap": shared / either,
                "mass": ((draws >= low) & (draws <= high)).mean(axis=0),
            }
        )


def stretch(estimate: Floats, posterior_mean: Floats) -> float:
    """Return how many times as far from the origin estimates lie as posterior means do.

    Returns
    -------
    float
        The least-squares factor c of `estimate = c * posterior_mean`; NaN where all means are 0.

    Examples
    --------
    >>> stretch(np.array([-1.0, 1.0]), np.array([-2.0, 2.0]))
    0.5
    """
    total = float(posterior_mean @ posterior_mean)
    return float(estimate @ posterior_mean) / total if total > 0 else float("nan")


def summarise_values(table: pd.DataFrame, *, has_unit: bool) -> dict[str, float]:
    """Return the summary of a table of `compare_values`.

    Parameters
    ----------
    table : DataFrame
    has_unit : bool
        Whether the quantity has a zero and a unit, so that a stretch makes sense.

    Returns
    -------
    dict
        `bias_mean`, `bias_rms`; `bias_rms_sd`, the root mean square of the bias in posterior
        standard deviations; `stretch`, and `bias_rms_unit`, the root mean square that is left
        when estimates are divided by it; `se_ratio` (median), `se_ratio_low`, `se_ratio_high` (5
        and 95 %); `overlap` and `mass` (means).
    """
    bias = table["bias"].to_numpy()
    estimate, mean = table["estimate"].to_numpy(), table["posterior_mean"].to_numpy()
    factor = stretch(estimate, mean) if has_unit else float("nan")
    ratio = table["se_ratio"].to_numpy()
    tails = np.quantile(ratio, [0.05, 0.95])
    return {
        "bias_mean": float(bias.mean()),
        "bias_rms": _root_mean_square(bias),
        "bias_rms_sd": _root_mean_square(table["bias_sd"].to_numpy()),
        "stretch": factor,
        "bias_rms_unit": _root_mean_square(estimate / factor - mean) if factor else float("nan"),
        "se_ratio": float(np.median(ratio)),
        "se_ratio_low": float(tails[0]),
        "se_ratio_high": float(tails[1]),
        "overlap": float(table["overlap"].mean()),
        "mass": float(table["mass"].mean()),
    }


def mass_of_differences(draws: Floats, low: Floats, high: Floats, comparable: Floats) -> float:
    """Return the mean share of draws within the intervals of all differences.

    Parameters
    ----------
    draws : (n_draw, n_model) float
    low, high : (n_model, n_model) float
        Of row minus column.
    comparable : (n_model, n_model) bool
        Which pairs count; the upper triangle is looked at.

    Returns
    -------
    float in [0, 1]
        NaN without a pair. With very many pairs, over evenly spaced draws.

    Examples
    --------
    >>> draws = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 0.0]])
    >>> limits = np.full((2, 2), 1.0)
    >>> mass_of_differences(draws, -limits, limits, np.ones((2, 2), bool)).__round__(3)
    0.667
    """
    upper = np.triu(comparable, k=1)
    n_pair = int(upper.sum())
    if not n_pair:
        return float("nan")
    most = max(_LEAST_DRAWS, _MOST_CHECKS // n_pair)
    if len(draws) > most:
        draws = draws[np.linspace(0, len(draws) - 1, most).round().astype(int)]
    values = np.ascontiguousarray(draws.T)
    held = 0
    for i in range(len(values) - 1):
        others = np.flatnonzero(upper[i])
        gap = values[i] - values[others]
        inside = (gap >= low[i, others, None]) & (gap <= high[i, others, None])
        held += int(np.count_nonzero(inside))
    return held / (n_pair * len(draws))


def _root_mean_square(values: Floats) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
