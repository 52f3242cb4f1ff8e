"""Figures of a ranking: intervals of scores and ranks side by side, and all pairs as a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from neartie.audits.rank_result import ModelRanking
from neartie.report.style import BLUE, GREY, INK, PALE, axes_or_new, empty, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: More models than this get a figure without names first, which shows the shape.
MOST_AT_A_GLANCE: Final = 60
#: More models than this are drawn without names only.
MOST_NAMED: Final = 400
MOST_NAMED_CELLS: Final = 40
MOST_WRITTEN_CELLS: Final = 12
_BAND = "#eef2f5"
_SET = "#b9c6d1"


def rank_table(ranking: ModelRanking) -> pd.DataFrame:
    """Return what the figure of a ranking shows, one row a model from the top.

    Parameters
    ----------
    ranking : ModelRanking

    Returns
    -------
    DataFrame
        `row` (0 is the top), `model`, `component`, `tier`, `band` (0 or 1, alternating from tier
        to tier), `estimate`, `low`, `high`, `rank`, `rank_low`, `rank_high`, `rank_set_low`,
        `rank_set_high`.
    """
    columns = ["model", "component", "tier", "estimate", "low", "high", "rank"]
    columns += ["rank_low", "rank_high", "rank_set_low", "rank_set_high"]
    table = ranking.ranks[columns].copy()
    begins = table[["component", "tier"]].ne(table[["component", "tier"]].shift()).any(axis=1)
    table.insert(3, "band", (begins.cumsum() % 2).astype(int))
    table.insert(0, "row", np.arange(len(table)))
    return table


def plot_ranking(
    ranking: ModelRanking, *, ax: Axes | None = None, named: bool = True
) -> tuple[Axes, Axes]:
    """Draw intervals of scores and of ranks side by side, tiers shaded.

    Parameters
    ----------
    ranking : ModelRanking
    ax : Axes, optional
        Axes alone in a figure of `figure_size`, whose place the two take; a new figure otherwise.
    named : bool
        Whether every model's name is written.

    Returns
    -------
    scores, ranks : Axes
    """
    width, height = figure_size(ranking, named=named)
    ax = axes_or_new(ax, width=width, height=height)
    place, figure = ax.get_subplotspec(), ax.get_figure()
    if place is None or figure is None:
        raise ValueError("these axes stand on no grid; make them with add_subplot")
    ax.remove()
    grid = place.subgridspec(1, 2)
    left = figure.add_subplot(grid[0, 0])
    right = figure.add_subplot(grid[0, 1], sharey=left)
    plot_scores(ranking, ax=left, named=named)
    plot_ranks(ranking, ax=right, named=named)
    right.tick_params(axis="y", labelleft=False, length=0)
    return left, right


def figure_size(ranking: ModelRanking, *, named: bool = True) -> tuple[float, float]:
    """Return width and height in inches that keep every row legible."""
    n = ranking.n_models
    if not named:
        return 7.4, 4.6
    row = 0.23 if n <= 24 else 0.17 if n <= 100 else 0.14
    return 7.8, max(1.9, 1.1 + row * n)


def plot_scores(ranking: ModelRanking, *, ax: Axes | None = None, named: bool = True) -> Axes:
    """Draw every score with its interval.

    Parameters
    ----------
    ranking : ModelRanking
    ax : Axes, optional
        Where to draw; a new figure otherwise.
    named : bool
        Whether every model's name is written.

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=4.4, height=figure_size(ranking)[1])
    table = rank_table(ranking)
    _prepare(ax, table)
    ax.hlines(table["row"], table["low"], table["high"], color=BLUE, lw=_width(len(table)))
    ax.plot(table["estimate"], table["row"], "o", ms=_mark(len(table)), color=BLUE, zorder=3)
    ax.set_xlabel(f"{ranking.label.replace('_', ' ')}, {ranking.level:.0%} interval")
    if named:
        size = 8.5 if len(table) <= 24 else 7.5 if len(table) <= 100 else 6.5
        names = [_short(name, 34) for name in table["model"]]
        ax.set_yticks(table["row"], names, fontsize=size, parse_math=False)
        ax.tick_params(axis="y", length=0)
    else:
        ax.set_yticks([])
        ax.set_ylabel(f"{len(table):,} models, best on top")
    _axis_on_top(ax, len(table) if named else 0)
    return ax


def plot_ranks(ranking: ModelRanking, *, ax: Axes | None = None, named: bool = True) -> Axes:
    """Draw every rank with its interval and its set, and the number of each tier.

    Parameters
    ----------
    ranking : ModelRanking
    ax : Axes, optional
    named : bool
        Whether the rows have the height that names need.

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=4.0, height=figure_size(ranking)[1])
    from matplotlib.ticker import MaxNLocator

    table = rank_table(ranking)
    n = len(table)
    _prepare(ax, table)
    ax.hlines(
        table["row"], table["rank_set_low"], table["rank_set_high"],
        color=_SET, lw=2.6 * _width(n), label="all ranks at once", zorder=2,
    )  # fmt: skip
    ax.hlines(
        table["row"], table["rank_low"], table["rank_high"],
        color=BLUE, lw=_width(n), label="this rank alone", zorder=3,
    )  # fmt: skip
    # A set of one rank has no length to be seen by.
    ax.plot(table["rank"], table["row"], "o", ms=_mark(n), color=BLUE, zorder=4)
    last = float(table["rank_set_high"].max())
    ax.set_xlim(1 - 0.04 * last, last * 1.02 + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel(f"rank, {ranking.level:.0%}")
    _number_tiers(ax, table)
    # Above the axes, and above the second scale of a long list.
    lift = 0.3 if named and n > MOST_AT_A_GLANCE else 0.02
    _axis_on_top(ax, n if named else 0)
    ax.legend(
        frameon=False, labelcolor=INK, fontsize=8, ncols=2, loc="lower center",
        bbox_to_anchor=(0.5, 1.0 + lift / _height(ax)), borderaxespad=0,
        handlelength=1.4, handletextpad=0.5, columnspacing=1.2,
    )  # fmt: skip
    return ax


def plot_pairs(ranking: ModelRanking, *, ax: Axes | None = None) -> Axes:
    """Draw the probability that the row's model is above the column's, for all pairs.

    Parameters
    ----------
    ranking : ModelRanking
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=6.0, height=5.4)
    grid = ranking.grid()
    n = len(grid)
    if n < 2:
        empty(ax, "One model: there is no pair.")
        ax.set(xticks=[], yticks=[])
        return ax
    from matplotlib import colormaps

    colours = colormaps["RdBu"].with_extremes(bad=PALE)
    cells = grid.to_numpy(dtype=float)
    image = ax.imshow(
        np.ma.masked_invalid(cells), cmap=colours, vmin=0, vmax=1, interpolation="nearest"
    )
    if n <= MOST_NAMED_CELLS:
        names = [_short(name, 24) for name in grid.index]
        size = 8.0 if n <= 24 else 6.5
        ax.set_xticks(range(n), names, rotation=90, fontsize=size, parse_math=False)
        ax.set_yticks(range(n), names, fontsize=size, parse_math=False)
    else:
        places = np.unique(np.append(np.arange(0, n, max(1, round(n / 6 / 10) * 10)), n - 1))
        ax.set_xticks(places, [str(place + 1) for place in places])
        ax.set_yticks(places, [str(place + 1) for place in places])
        ax.set(xlabel="place in the list", ylabel="place in the list")
    if n <= MOST_WRITTEN_CELLS:
        for i, j in np.ndindex(n, n):
            value = float(cells[i, j])
            if np.isfinite(value):
                ax.text(
                    j, i, f"{100 * value:.0f}", ha="center", va="center", fontsize=7.5,
                    color="white" if abs(value - 0.5) > 0.36 else INK,
                )  # fmt: skip
    figure = ax.get_figure()
    if figure is not None:
        bar = figure.colorbar(image, ax=ax, shrink=0.6)
        bar.set_label("probability that row is above column", color=INK)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def _prepare(ax: Axes, table: pd.DataFrame) -> None:
    """Shade every other tier, part connected sets, and put the best on top."""
    tidy(ax)
    ax.spines["left"].set_visible(False)
    for (_, band), rows in table.groupby([table["band"].diff().ne(0).cumsum(), "band"])["row"]:
        if band:
            ax.axhspan(rows.min() - 0.5, rows.max() + 0.5, color=_BAND, lw=0, zorder=0)
    for row in table.loc[table["component"].diff() > 0, "row"]:
        ax.axhline(row - 0.5, color=INK, lw=0.9, zorder=1)
    ax.set_ylim(len(table) - 0.4, -0.6)


def _number_tiers(ax: Axes, table: pd.DataFrame) -> None:
    height = _height(ax) / max(len(table), 1)
    for (_, tier), rows in table.groupby(["component", "tier"])["row"]:
        # Two numbers closer than a line of text would cover each other.
        if len(rows) * height >= 0.1:
            ax.text(
                1.015, rows.mean(), f"tier {tier}", transform=ax.get_yaxis_transform(),
                ha="left", va="center", fontsize=7.5, color=GREY,
            )  # fmt: skip


def _height(ax: Axes) -> float:
    figure = ax.get_figure()
    return float(figure.bbox.height / figure.dpi) if figure is not None else 1.0


def _axis_on_top(ax: Axes, n: int) -> None:
    """Repeat the scale above a long list, whose lower end is far away."""
    if n > MOST_AT_A_GLANCE:
        ax.tick_params(axis="x", top=True, labeltop=True)


def _width(n: int) -> float:
    return 2.2 if n <= 24 else 1.6 if n <= 100 else 1.0


def _mark(n: int) -> float:
    return 5.0 if n <= 24 else 3.6 if n <= 100 else 2.4


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
