"""Figures of a fit: the models' intervals, and the items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from neartie.inference.fit_summary import FitSummary
from neartie.report.style import BLUE, GREY, PALE, VERMILION, axes_or_new, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMED: Final = 60
_NAME: Final = 34
_AXIS_NAMES: Final = {
    "ability": "ability, logit",
    "strength": "log strength",
    "expected_score": "expected score, proportion",
}


def model_intervals(summary: FitSummary) -> pd.DataFrame:
    """Return what the figure of the models shows, from the top.

    Parameters
    ----------
    summary : FitSummary

    Returns
    -------
    DataFrame, n_model rows
        `row` (0 is the top), `model`, `estimate`, `low`, `high`; infinite estimates and limits
        are missing.
    """
    table = summary.ranked()
    limits = table[["low", "high"]].replace([np.inf, -np.inf], np.nan)
    estimate = table[summary.quantity].replace([np.inf, -np.inf], np.nan)
    return pd.DataFrame(
        {"row": np.arange(len(table)), "model": table["model"], "estimate": estimate}
    ).join(limits)


def models_size(summary: FitSummary) -> tuple[float, float]:
    """Return width and height in inches that keep every row legible."""
    n = summary.n_models
    return (6.6, max(1.7, 0.9 + 0.2 * n)) if n <= MOST_NAMED else (6.6, 4.6)


def plot_models(summary: FitSummary, *, ax: Axes | None = None) -> Axes:
    """Draw every model's estimate with its interval, the best on top.

    Parameters
    ----------
    summary : FitSummary
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes
    """
    width, height = models_size(summary)
    ax = axes_or_new(ax, width=width, height=height)
    table = model_intervals(summary)
    named = len(table) <= MOST_NAMED
    ax.hlines(table["row"], table["low"], table["high"], color=BLUE, lw=1.6 if named else 0.8)
    ax.plot(table["estimate"], table["row"], "o", ms=4 if named else 1.6, color=BLUE, zorder=3)
    ax.set_xlabel(f"{_AXIS_NAMES[summary.quantity]}, {summary.level:.0%} interval")
    if named:
        names = [_short(name) for name in table["model"]]
        ax.set_yticks(table["row"], names, parse_math=False)
    else:
        ax.set_yticks([])
        ax.set_ylabel(f"{len(table):,} models, best on top")
    ax.set_ylim(len(table) - 0.4, -0.6)
    ax.grid(axis="x", color=PALE, lw=0.6)
    ax.set_axisbelow(True)
    tidy(ax)
    return ax


def item_columns(summary: FitSummary) -> tuple[str, str] | None:
    """Return the columns of `items` that are drawn against each other, None if there are none."""
    for pair in (
        ("difficulty", "discrimination"),
        ("easiness", "discrimination"),
        ("easiness", "dif_range"),
    ):
        if set(pair) <= set(summary.items.columns):
            return pair
    return None


def plot_items(summary: FitSummary, *, ax: Axes | None = None) -> Axes:
    """Draw every item: discrimination, or range of family effects, over where it is placed.

    Parameters
    ----------
    summary : FitSummary
        With items.
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes
        Flagged items stand out.

    Raises
    ------
    ValueError
        If the model has no two parameters an item.
    """
    columns = item_columns(summary)
    if columns is None:
        raise ValueError("the fit has no two parameters an item to draw against each other")
    across, up = columns
    ax = axes_or_new(ax, width=6.0, height=3.6)
    flagged = summary.items["flag"] != ""
    for rows, color, label in (
        (summary.items[~flagged], GREY, ""),
        (summary.items[flagged], VERMILION, f"flagged ({int(flagged.sum()):,})"),
    ):
        if len(rows):
            ax.plot(
                rows[across],
                rows[up],
                "o",
                ms=3.2,
                mew=0,
                alpha=0.6,
                color=color,
                label=label or None,
                rasterized=len(rows) > 1500,
            )
    if flagged.any():
        ax.legend(frameon=False, loc="best", fontsize=8.5)
    ax.set_xlabel(_item_axis(across))
    ax.set_ylabel(_item_axis(up))
    tidy(ax)
    return ax


def _item_axis(column: str) -> str:
    return {
        "difficulty": "difficulty, in units of ability",
        "easiness": "easiness, logit",
        "discrimination": "discrimination, logit per unit of ability",
        "dif_range": "range of family effects, logit",
    }[column]


def _short(text: str) -> str:
    return text if len(text) <= _NAME else f"{text[: _NAME - 1]}…"
