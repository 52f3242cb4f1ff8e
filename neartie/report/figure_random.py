"""The reversal rates of the random subtests, with the observed one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.result import NearTieAudit
from neartie.report.formatting import p_text, percent
from neartie.report.sentences import Headline, headline, primary_random_rates
from neartie.report.style import DARK_VERMILION, INK, VERMILION, axes_or_new, empty, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BELOW = "#aab4be"
_MOST_BINS = 40


def random_table(audit: NearTieAudit) -> pd.DataFrame:
    """Return the rate of every random subtest in the primary band.

    Parameters
    ----------
    audit : NearTieAudit

    Returns
    -------
    DataFrame
        One row a random subtest with a defined rate: `rate` (proportion) and
        `at_least_observed` (0 or 1), which the p-value counts.

    References
    ----------
    P0, equations 10 and 11.
    """
    rates = primary_random_rates(audit)
    observed = headline(audit).rate
    at_least = np.zeros(len(rates)) if observed is None else rates >= observed - 1e-12
    return pd.DataFrame({"rate": rates, "at_least_observed": np.asarray(at_least, dtype=int)})


def plot_random(audit: NearTieAudit, *, ax: Axes | None = None) -> Axes:
    """Draw the rates of the random subtests, their median, and the observed rate with its p.

    Parameters
    ----------
    audit : NearTieAudit
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=5.2, height=3.0)
    tidy(ax)
    numbers, table = headline(audit), random_table(audit)
    if numbers.rate is None or table.empty:
        empty(ax, "No reversal rate, or no random subtest\nto compare it with.")
        ax.set(xticks=[], yticks=[])
        return ax
    edges = _edges(table["rate"].to_numpy(), observed=numbers.rate, n_pairs=numbers.n_eligible)
    split = [table.loc[table["at_least_observed"] == side, "rate"] for side in (0, 1)]
    ax.hist(
        [100 * part for part in split],
        bins=list(100 * edges),
        stacked=True,
        color=[_BELOW, VERMILION],
        edgecolor="white",
        linewidth=0.5,
    )
    ax.margins(x=0.04)
    ax.set_ylim(0, 1.34 * ax.dataLim.y1)
    _label(ax, numbers)
    ax.set_xlabel("pairs reversed (%)")
    ax.set_ylabel("random subtests")
    ax.locator_params(axis="x", steps=[1, 2, 5, 10])
    ax.locator_params(axis="y", nbins=5, integer=True)
    return ax


def _edges(rates: NDArray[np.float64], *, observed: float, n_pairs: int) -> NDArray[np.float64]:
    """Bins a whole number of pairs wide, one of which begins half a pair below the observed rate.

    Rates are nearly multiples of 1 / n_pairs: other widths would draw a comb, and no bin may
    hold rates on both sides of the observed one.
    """
    spread = float(np.ptp(rates))
    width_wanted = float(np.ptp(np.histogram_bin_edges(rates, bins="fd")[:2]))
    width_wanted = max(width_wanted, spread / _MOST_BINS)
    width = max(1, round(width_wanted * n_pairs)) / n_pairs
    start = observed - 0.5 / n_pairs
    first = int(np.floor((min(rates.min(), observed) - start) / width))
    last = int(np.ceil((max(rates.max(), observed) - start) / width)) + 1
    return np.asarray(start + width * np.arange(first, last + 1), dtype=np.float64)


def _label(ax: Axes, numbers: Headline) -> None:
    low, high = ax.get_xlim()
    rate, median = numbers.rate, numbers.random_median
    if rate is not None:
        text = f"observed {percent(rate)}%"
        if numbers.p_value is not None:
            text += f", {p_text(numbers.p_value)}"
        is_far_right = 100 * rate > low + 0.55 * (high - low)
        _mark(ax, rate, text, colour=VERMILION, line="-", height=0.99, to_the_left=is_far_right)
    if median is not None:
        # Away from the observed line, unless the axis ends too soon.
        place = (100 * median - low) / (high - low)
        to_the_left = place > 0.35 if rate is None or rate >= median else place > 0.65
        text = f"random median {percent(median)}%"
        _mark(ax, median, text, colour=INK, line="--", height=0.87, to_the_left=to_the_left)


def _mark(
    ax: Axes,
    rate: float,
    text: str,
    *,
    colour: str,
    line: str,
    height: float,
    to_the_left: bool,
) -> None:
    ax.axvline(100 * rate, ymax=height, color=colour, lw=1.2, ls=line)
    ax.annotate(
        text,
        (100 * rate, height),
        xycoords=ax.get_xaxis_transform(),
        xytext=(-5 if to_the_left else 5, 0),
        textcoords="offset points",
        ha="right" if to_the_left else "left",
        va="top",
        # Text needs more contrast than a line.
        color=DARK_VERMILION if colour == VERMILION else colour,
        fontsize=9,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.85},
    )
