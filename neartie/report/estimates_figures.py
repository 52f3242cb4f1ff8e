"""Figures of point estimates beside a posterior: agreement, errors, pairs that change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from neartie.audits.estimates_result import TOLERANCE, EstimateComparison
from neartie.audits.point_estimates import OVER_MODELS
from neartie.report.estimates_tables import distinct_estimators, first_pairs, shown_pairs
from neartie.report.style import (
    BLUE,
    GREY,
    INK,
    MOST_VECTOR_MARKS,
    PALE,
    VERMILION,
    axes_or_new,
    empty,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_PAIRS: Final = 14
_LONGEST: Final = 30


def error_table(found: EstimateComparison) -> pd.DataFrame:
    """Return what the figures of errors show, one row an estimator and error, over models.

    Parameters
    ----------
    found : EstimateComparison

    Returns
    -------
    DataFrame
        `row` (0 is the top), `label`, and of `estimators`: `se_ratio`, `se_ratio_low`,
        `se_ratio_high`, `mass`, `pair_se_ratio`, `pair_mass`, `verdict`.
    """
    table = found.estimators[
        found.estimators["quantity"].isin(OVER_MODELS)
        & found.estimators["estimator"].isin(distinct_estimators(found))
    ].reset_index(drop=True)
    label = table["estimator"] + ", " + table["se_name"]
    columns = ["se_ratio", "se_ratio_low", "se_ratio_high", "mass", "pair_se_ratio", "pair_mass"]
    return pd.DataFrame({"row": np.arange(len(table)), "label": label}).join(
        table[[*columns, "verdict"]]
    )


def plot_estimates(found: EstimateComparison, name: str, *, ax: Axes | None = None) -> Axes:
    """Draw the estimates of one estimator over posterior means, with the line of equality.

    Parameters
    ----------
    found : EstimateComparison
    name : str
        Of the estimator.
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=3.4, height=3.3)
    tidy(ax)
    mine = found.models[found.models["estimator"] == name]
    mine = mine.drop_duplicates("model")
    x, y = mine["posterior_mean"].to_numpy(), mine["estimate"].to_numpy()
    both = np.concatenate([x, y])
    room = 0.05 * max(float(np.ptp(both)), 1e-9)
    limits = float(both.min()) - room, float(both.max()) + room
    ax.plot(limits, limits, color=GREY, lw=0.9, zorder=1)
    row = found.estimators[found.estimators["estimator"] == name].iloc[0]
    if abs(row["stretch"] - 1) > 0.02:
        ax.plot(
            limits, np.array(limits) * row["stretch"], color=VERMILION, lw=0.9, ls=(0, (4, 2)),
            label=f"stretch {row['stretch']:.2f}", zorder=1,
        )  # fmt: skip
        ax.legend(frameon=False, fontsize=8, labelcolor=INK, loc="upper left")
    ax.plot(
        x, y, "o", ms=4.0 if len(x) <= 200 else 2.0, color=BLUE, alpha=0.8, mew=0, zorder=3,
        rasterized=len(x) > MOST_VECTOR_MARKS,
    )  # fmt: skip
    ax.set(xlim=limits, ylim=limits, xlabel="posterior mean", ylabel="estimate")
    ax.set_title(name, fontsize=9, loc="left")
    ax.set_aspect("equal")
    return ax


def plot_errors(found: EstimateComparison, *, ax: Axes | None = None) -> tuple[Axes, Axes]:
    """Draw printed standard errors, and what their intervals hold, side by side.

    Parameters
    ----------
    found : EstimateComparison
    ax : Axes, optional
        Axes alone in a figure, whose place the two take; a new figure otherwise.

    Returns
    -------
    ratios, masses : Axes
    """
    ax = axes_or_new(ax, width=7.6, height=errors_height(found))
    place, figure = ax.get_subplotspec(), ax.get_figure()
    if place is None or figure is None:
        raise ValueError("these axes stand on no grid; make them with add_subplot")
    ax.remove()
    grid = place.subgridspec(1, 2)
    left = figure.add_subplot(grid[0, 0])
    right = figure.add_subplot(grid[0, 1], sharey=left)
    plot_ratios(found, ax=left)
    plot_masses(found, ax=right)
    right.tick_params(axis="y", labelleft=False, length=0)
    return left, right


def plot_ratios(found: EstimateComparison, *, ax: Axes | None = None) -> Axes:
    """Draw printed standard errors over posterior standard deviations.

    Parameters
    ----------
    found : EstimateComparison
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=4.4, height=errors_height(found))
    table = error_table(found)
    _rows(ax, table)
    ax.axvline(1, color=GREY, lw=0.9, zorder=1)
    ax.hlines(
        table["row"] - 0.12, table["se_ratio_low"], table["se_ratio_high"], color=BLUE, lw=2.0,
    )  # fmt: skip
    ax.plot(table["se_ratio"], table["row"] - 0.12, "o", ms=4.5, color=BLUE, label="models")
    ax.plot(
        table["pair_se_ratio"], table["row"] + 0.18, "D", ms=4.5, mfc="white", mec=VERMILION,
        label="differences",
    )  # fmt: skip
    ax.set_xlabel("printed SE / posterior standard deviation")
    _legend(ax)
    return ax


def plot_masses(found: EstimateComparison, *, ax: Axes | None = None) -> Axes:
    """Draw how much of the posterior the printed intervals hold, with the band in which they hold.

    Parameters
    ----------
    found : EstimateComparison
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=4.4, height=errors_height(found))
    table = error_table(found)
    _rows(ax, table)
    margin = TOLERANCE * (1 - found.level)
    ax.axvspan(100 * (found.level - margin), 100 * (found.level + margin), color=PALE, lw=0)
    ax.axvline(100 * found.level, color=GREY, lw=0.9, zorder=1)
    ax.plot(100 * table["mass"], table["row"] - 0.12, "o", ms=4.5, color=BLUE, label="models")
    ax.plot(
        100 * table["pair_mass"], table["row"] + 0.18, "D", ms=4.5, mfc="white", mec=VERMILION,
        label="differences",
    )  # fmt: skip
    ax.set_xlabel(f"held by {100 * found.level:.3g}% intervals (% of the posterior)")
    _legend(ax)
    return ax


def plot_changed(found: EstimateComparison, *, ax: Axes | None = None) -> Axes:
    """Draw the intervals of differences whose verdict changes, posterior above printed.

    Parameters
    ----------
    found : EstimateComparison
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=7.4, height=changed_height(found))
    table = first_pairs(shown_pairs(found), most=MOST_PAIRS)
    if table.empty:
        empty(ax, "No pair gets another verdict.")
        ax.set(xticks=[], yticks=[])
        return ax
    tidy(ax)
    ax.spines["left"].set_visible(False)
    row = np.arange(len(table))
    ax.axvline(0, color=GREY, lw=0.9, zorder=1)
    for shift, before, colour, label in (
        (-0.16, "posterior_", INK, "posterior"),
        (0.16, "", VERMILION, "printed"),
    ):
        ax.hlines(row + shift, table[f"{before}low"], table[f"{before}high"], color=colour, lw=2.0)
        ax.plot(
            table[f"{before}difference"], row + shift, "o", ms=4.0, color=colour, label=label,
            zorder=3,
        )  # fmt: skip
    names = [
        f"{_short(a)} – {_short(b)}"
        for a, b in zip(table["model_a"], table["model_b"], strict=True)
    ]
    ax.set_yticks(row, names, fontsize=8, parse_math=False)
    ax.tick_params(axis="y", length=0)
    for place, (name, se) in enumerate(zip(table["estimator"], table["se_name"], strict=True)):
        ax.text(
            1.01, place, f"{name}, {se}", transform=ax.get_yaxis_transform(), va="center",
            fontsize=7.5, color=GREY, parse_math=False,
        )  # fmt: skip
    ax.set_ylim(len(table) - 0.4, -0.6)
    ax.set_xlabel(f"difference, first minus second, {100 * found.level:.3g}% interval")
    _legend(ax)
    return ax


def errors_height(found: EstimateComparison) -> float:
    """Return the height in inches that keeps every row legible."""
    return 1.2 + 0.36 * len(error_table(found))


def changed_height(found: EstimateComparison) -> float:
    """Return the height in inches of the figure of changed pairs."""
    return 1.2 + 0.34 * max(len(first_pairs(shown_pairs(found), most=MOST_PAIRS)), 1)


def _rows(ax: Axes, table: pd.DataFrame) -> None:
    tidy(ax)
    ax.spines["left"].set_visible(False)
    ax.set_yticks(table["row"], table["label"], fontsize=8, parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(table) - 0.4, -0.6)


def _legend(ax: Axes) -> None:
    ax.legend(
        frameon=False, labelcolor=INK, fontsize=8, ncols=2, loc="lower left",
        bbox_to_anchor=(0, 1.0), borderaxespad=0.2, handletextpad=0.3, columnspacing=1.0,
    )  # fmt: skip


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
