"""Figures of predictive checks: accuracies, totals, statistics, and models compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from neartie.audits.predictive_result import PredictiveChecks
from neartie.report.check_text import tail
from neartie.report.style import BLUE, GREY, INK, PALE, VERMILION, axes_or_new, empty, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_BINS: Final = 40
_MOST_VECTOR: Final = 1500


def plot_accuracies(
    checks: PredictiveChecks, *, side: str = "models", ax: Axes | None = None
) -> Axes:
    """Draw how accuracies are spread, as observed and over the replicates.

    Parameters
    ----------
    checks : PredictiveChecks
    side : {'models', 'items'}
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=4.6, height=2.8)
    tidy(ax)
    table = checks.histogram
    if not table[side].any():
        empty(ax, f"There are no {side}.")
        ax.set(xticks=[], yticks=[])
        return ax
    edges = [*table["low"], table["high"].iloc[-1]]
    ax.stairs(
        100 * table[f"observed_{side}"], edges, fill=True, color=PALE, label="observed", zorder=1
    )
    ax.stairs(
        100 * table[side], edges, color=BLUE, lw=1.8, label=f"{checks.source} predictive", zorder=2
    )
    ax.set_xlim(0, 1)
    ax.set_ylim(bottom=0)
    what = "win rate" if checks.kind == "bradley-terry" else "accuracy"
    ax.set(xlabel=f"{what} of {side}, proportion", ylabel=f"share of {side} (%)")
    _legend_above(ax)
    return ax


def totals_table(checks: PredictiveChecks, *, side: str = "models") -> pd.DataFrame:
    """Return what the figure of totals shows.

    Parameters
    ----------
    checks : PredictiveChecks
    side : {'models', 'items'}

    Returns
    -------
    DataFrame
        `observed`, `predicted`, `low`, `high` (proportion of answers or battles), `outside`; one
        row an item or model with any.
    """
    table = checks.models if side == "models" else checks.items
    table = table[table["n"] > 0]
    columns = ["observed", "predicted", "low", "high"]
    return table[columns].div(table["n"], axis=0).join(table["outside"])


def plot_totals(checks: PredictiveChecks, *, side: str = "models", ax: Axes | None = None) -> Axes:
    """Draw each total as predicted, with its interval, over the total as observed.

    Parameters
    ----------
    checks : PredictiveChecks
    side : {'models', 'items'}
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes
        What lies on the diagonal was predicted exactly; what stands out is outside its interval.
    """
    ax = axes_or_new(ax, width=4.2, height=3.8)
    tidy(ax)
    table = totals_table(checks, side=side)
    if table.empty:
        empty(ax, f"There are no {side}.")
        ax.set(xticks=[], yticks=[])
        return ax
    few = len(table) <= 100
    ax.plot([0, 1], [0, 1], color=GREY, lw=0.8, zorder=1)
    n_outside = int(table["outside"].sum())
    for out, colour, label in (
        (0, BLUE, "inside the interval"),
        (1, VERMILION, f"outside ({n_outside:,} of {len(table):,})"),
    ):
        rows = table[table["outside"] == out]
        if rows.empty:
            continue
        many = len(rows) > _MOST_VECTOR
        ax.vlines(
            rows["observed"], rows["low"], rows["high"], color=colour, alpha=0.9 if few else 0.35,
            lw=1.4 if few else 0.7, zorder=2 + out, rasterized=many,
        )  # fmt: skip
        ax.plot(
            rows["observed"], rows["predicted"], "o", ms=3.4 if few else 2, mew=0, color=colour,
            zorder=4 + out, label=label, rasterized=many,
        )  # fmt: skip
    what = "win rate" if checks.kind == "bradley-terry" else "accuracy"
    ax.set_xlabel(f"{what} of {side}, observed")
    ax.set_ylabel(f"replicated, {checks.level:.0%} interval")
    ends = table[["observed", "low", "high"]].to_numpy()
    room = 0.04 * max(np.nanmax(ends) - np.nanmin(ends), 0.02)
    limits = (float(np.nanmin(ends)) - room, float(np.nanmax(ends)) + room)
    ax.set(xlim=limits, ylim=limits)
    _legend_above(ax)
    return ax


def plot_statistic(
    checks: PredictiveChecks, name: str = "near_ties", *, ax: Axes | None = None
) -> Axes:
    """Draw a statistic of all replicates, and that of the data.

    Parameters
    ----------
    checks : PredictiveChecks
    name : str
        Of the statistic.
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes

    Raises
    ------
    KeyError
        If there is no such statistic.
    """
    ax = axes_or_new(ax, width=4.6, height=2.8)
    tidy(ax)
    row = checks.statistic(name)
    values = checks.replicates[name].dropna()
    if values.empty or not np.isfinite(row["observed"]):
        empty(ax, "It is not defined for these data.")
        ax.set(xticks=[], yticks=[])
        return ax
    ax.hist(values, bins=_bins(values), color=PALE, edgecolor="white", linewidth=0.4)
    ax.axvline(row["observed"], color=VERMILION if row["outside"] else BLUE, lw=2)
    ax.set_ylim(0, 1.22 * ax.dataLim.y1)
    left = row["observed"] > values.median()
    p = tail(row["p"], checks.n_draws)
    said = f"observed, p {p}" if p[0] in "<>" else f"observed, p = {p}"
    ax.annotate(
        said, (row["observed"], 0.98), xycoords=ax.get_xaxis_transform(),
        xytext=(-5 if left else 5, 0), textcoords="offset points", ha="right" if left else "left",
        va="top", color=INK, fontsize=8.5,
    )  # fmt: skip
    ax.set(xlabel=axis_name(checks, name), ylabel="replicates")
    return ax


def axis_name(checks: PredictiveChecks, name: str) -> str:
    """Return what a statistic is, short enough for an axis."""
    known = {
        "near_ties": f"pairs within {100 * checks.band:g} points of each other",
        "model_sd": "s.d. of the models' accuracies",
        "item_sd": "s.d. of the items' accuracies",
        "item_correlation_mean": "mean item correlation",
        "item_correlation_sd": "s.d. of the item correlations",
        "family_range": "mean range over families",
        "win_rate_sd": "s.d. of the win rates",
        "surprise": "share of pairs' results unexplained",
        "first_shown_wins": "wins of the model shown first",
    }
    return known.get(name, name.replace("_", " ")).replace(" 1 points", " 1 point")


def plot_comparison(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how far each model falls short of the best one, with standard errors.

    Parameters
    ----------
    table : DataFrame
        Of `neartie.compare_models`.
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=5.2, height=comparison_height(table))
    tidy(ax)
    rows = np.arange(len(table))
    short = -table["elpd_diff"].abs()
    error = table["diff_se"].fillna(0.0)
    ax.axvline(0, color=GREY, lw=0.8, zorder=1)
    ax.hlines(rows, short - 2 * error, short + 2 * error, color=BLUE, lw=1.6)
    shaky = table["max_pareto_k"] > table["k_limit"]
    for mask, face in ((~shaky, BLUE), (shaky, "white")):
        ax.plot(short[mask], rows[mask], "o", ms=6, color=BLUE, mfc=face, zorder=3)
    ax.set_yticks(rows, [str(name)[:36] for name in table["model"]], parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.set_xlabel("elpd short of the best, ± 2 standard errors of the difference")
    if shaky.any():
        ax.text(
            0.0, 1.02, "open: Pareto k above its limit, an unreliable estimate", transform=ax.transAxes,
            fontsize=8, color=GREY, va="bottom",
        )  # fmt: skip
    return ax


def comparison_height(table: pd.DataFrame) -> float:
    """Return the height in inches that the rows of a comparison need."""
    return 1.0 + 0.36 * len(table)


def _bins(values: pd.Series) -> list[float]:
    low, high = float(values.min()), float(values.max())
    whole = bool((values == values.round()).all())
    if whole:
        step = max(1, int(np.ceil((high - low + 1) / _MOST_BINS)))
        return list(np.arange(low - 0.5, high + step + 0.5, step))
    if high == low:
        return [low - 0.5, high + 0.5]
    return list(np.linspace(low, high, 31))


def _legend_above(ax: Axes) -> None:
    ax.legend(
        frameon=False, labelcolor=INK, fontsize=8.5, ncols=2, loc="lower left",
        bbox_to_anchor=(0, 1.0), borderaxespad=0, handlelength=1.4, columnspacing=1.2,
    )  # fmt: skip
