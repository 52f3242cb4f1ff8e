"""Figures of a scorecard: index, profile of domains, reliability, anchor gaps, judges, frontier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from neartie.audits.scorecard_result import Scorecard
from neartie.report.style import BLUE, GREY, INK, PALE, VERMILION, axes_or_new, empty, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

#: More models than this are drawn without names.
MOST_NAMED: Final = 60
MOST_WRITTEN: Final = 14
MOST_LABELLED: Final = 30
_AXIS: Final = {"cost": "cost of 1,000 items", "latency": "median latency, seconds"}


def index_height(card: Scorecard) -> float:
    """Return the height in inches that keeps every row of `plot_index` legible."""
    n = len(card.models)
    return max(1.9, 0.9 + 0.23 * n) if n <= MOST_NAMED else 4.8


def plot_index(card: Scorecard, *, ax: Axes | None = None) -> Axes:
    """Draw the global index of every model with both intervals.

    Parameters
    ----------
    card : Scorecard
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=6.6, height=index_height(card))
    table = card.models
    tidy(ax)
    ax.spines["left"].set_visible(False)
    y = np.arange(len(table))
    ranked = table["rank"].notna().to_numpy()
    ax.hlines(y, table["low"], table["high"], color=PALE, lw=6, label="all terms", zorder=2)
    printed = table["half_width_printed"]
    index = table["global_index"]
    ax.hlines(y, index - printed, index + printed, color=BLUE, lw=1.8, label="as printed", zorder=3)
    ax.plot(index[ranked], y[ranked], "o", ms=5, color=BLUE, zorder=4)
    if not ranked.all():
        ax.plot(
            index[~ranked], y[~ranked], "o", ms=5, mfc="white", mec=BLUE, zorder=4,
            label="lacks domains: no rank",
        )  # fmt: skip
    if len(table) <= MOST_NAMED:
        ax.set_yticks(y, [_short(name, 34) for name in table["model"]], parse_math=False)
        ax.tick_params(axis="y", length=0)
    else:
        ax.set_yticks([])
        ax.set_ylabel(f"{len(table):,} models, best on top")
    ax.set_ylim(len(table) - 0.4, -0.6)
    ax.set_xlabel("global index, points")
    ax.legend(
        frameon=False, labelcolor=INK, fontsize=8.5, ncols=3, loc="lower center",
        bbox_to_anchor=(0.4, 1.0), handlelength=1.4, columnspacing=1.2,
    )  # fmt: skip
    return ax


def profile_grid(card: Scorecard) -> pd.DataFrame:
    """Return scores with a row a model, best first, and a column a domain."""
    wide = card.domains.pivot(index="model", columns="domain", values="score")
    return wide.reindex(index=card.models["model"], columns=card.domain_names)


def plot_profile(card: Scorecard, *, ax: Axes | None = None) -> Axes:
    """Draw the scores of every model in every domain as a map.

    Parameters
    ----------
    card : Scorecard
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=6.0, height=index_height(card))
    grid = profile_grid(card)
    from matplotlib import colormaps

    cells = grid.to_numpy(dtype=np.float64)
    colours = colormaps["Blues"].with_extremes(bad="white")
    ax.imshow(np.ma.masked_invalid(cells), cmap=colours, vmin=0, vmax=1000, aspect="auto")
    ax.set_xticks(
        range(len(grid.columns)), [_short(str(name), 18) for name in grid.columns],
        rotation=35 if len(grid.columns) > 5 else 0, ha="right" if len(grid.columns) > 5 else "center",
        parse_math=False,
    )  # fmt: skip
    if len(grid) <= MOST_NAMED:
        ax.set_yticks(range(len(grid)), [_short(name, 34) for name in grid.index], parse_math=False)
    else:
        ax.set_yticks([])
        ax.set_ylabel(f"{len(grid):,} models, best on top")
    if len(grid) <= MOST_NAMED and len(grid.columns) <= MOST_WRITTEN:
        for i, j in np.ndindex(cells.shape):
            known = np.isfinite(cells[i, j])
            text = f"{cells[i, j]:.0f}" if known else "–"
            ax.text(
                j, i, text, ha="center", va="center", fontsize=7.5,
                color="white" if known and cells[i, j] > 620 else INK if known else GREY,
            )  # fmt: skip
    ax.tick_params(length=0, labelcolor=INK)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def plot_reliability(card: Scorecard, model: str, *, ax: Axes | None = None) -> Axes:
    """Draw the reliability diagram of a model, all domains together.

    Parameters
    ----------
    card : Scorecard
    model : str
    ax : Axes, optional

    Returns
    -------
    Axes
        A point a bin, its area in proportion to the answers in it; a bar from the diagonal.
    """
    ax = axes_or_new(ax, width=2.7, height=2.7)
    bins = card.bins[(card.bins["model"] == model) & (card.bins["domain"] == "")]
    tidy(ax)
    ax.plot([0, 1], [0, 1], color=GREY, lw=0.8, zorder=1)
    said = ""
    if bins.empty:
        empty(ax, "No confidences.")
    else:
        size = 6 + 110 * bins["n"] / max(int(bins["n"].max()), 1)
        ax.vlines(
            bins["confidence"],
            bins["confidence"],
            bins["accuracy"],
            color=VERMILION,
            lw=1.4,
            zorder=2,
        )
        ax.scatter(bins["confidence"], bins["accuracy"], s=size, color=BLUE, lw=0, zorder=3)
        n, errors = bins["n"].to_numpy(dtype=np.int64), bins["error"].to_numpy(dtype=np.float64)
        error = float(n @ errors / n.sum())
        said = f"ECE {error:.3f}, {int(n.sum()):,} answers"
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    ax.set(xlabel="stated confidence", ylabel="share right")
    ax.set_title(f"{_short(model, 30)}\n{said}", loc="left", fontsize=8.5, parse_math=False)
    return ax


def gap_table(card: Scorecard) -> pd.DataFrame:
    """Return the known anchor gaps, largest first, proportions."""
    columns = ["domain", "model", "contamination_gap", "gap_low", "gap_high"]
    known = card.domains[card.domains["contamination_gap"].notna()][columns]
    return known.sort_values("contamination_gap", ascending=False).reset_index(drop=True)


def plot_gaps(card: Scorecard, *, ax: Axes | None = None) -> Axes:
    """Draw anchor gaps with their intervals, largest first, and where resistance is lost.

    Parameters
    ----------
    card : Scorecard
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=6.4, height=3.6)
    table = gap_table(card)
    tidy(ax)
    limit = 100 * card.settings["gap_limit"]
    ax.axhspan(0, limit, color="#f6e3d8", lw=0, zorder=0)
    ax.axhline(0, color=GREY, lw=0.8)
    x = np.arange(1, len(table) + 1)
    ax.vlines(x, 100 * table["gap_low"], 100 * table["gap_high"], color=PALE, lw=3, zorder=2)
    sure = (table["gap_low"] > 0).to_numpy()
    for chosen, colour, label in (
        (~sure, BLUE, "could be none"),
        (sure, VERMILION, "interval above zero"),
    ):
        if chosen.any():
            ax.plot(
                x[chosen], 100 * table["contamination_gap"][chosen], "o", ms=3.5, color=colour,
                label=label, zorder=3,
            )  # fmt: skip
    for k in np.flatnonzero(sure)[:8]:
        row = table.iloc[k]
        ax.annotate(
            f"{_short(row['model'], 24)}, {row['domain']}", (x[k], 100 * row["contamination_gap"]),
            xytext=(5, 3), textcoords="offset points", fontsize=7.5, color=INK, parse_math=False,
        )  # fmt: skip
    ax.set(xlabel="model and domain, largest gap first", ylabel="anchors minus fresh items, points")
    ax.legend(frameon=False, labelcolor=INK, fontsize=8.5, loc="upper right")
    return ax


def plot_judges(card: Scorecard, *, ax: Axes | None = None) -> Axes:
    """Draw the share of decided verdicts that went to the first shown, judge by judge.

    Parameters
    ----------
    card : Scorecard
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    table = card.judges[card.judges["share_first"].notna()]
    table = table.sort_values("n", ascending=False).head(MOST_LABELLED)
    ax = axes_or_new(ax, width=5.6, height=max(1.6, 0.9 + 0.26 * len(table)))
    tidy(ax)
    ax.spines["left"].set_visible(False)
    if table.empty:
        empty(ax, "No decided verdict.")
        return ax
    y = np.arange(len(table))
    ax.axvline(50, color=GREY, lw=0.8)
    ax.hlines(y, 100 * table["share_low"], 100 * table["share_high"], color=BLUE, lw=1.8)
    ax.plot(100 * table["share_first"], y, "o", ms=5, color=BLUE)
    several = table["domain"].nunique() > 1
    names = [
        _short(f"{row['judge']}, {row['domain']}" if several else row["judge"], 34)
        for row in table.to_dict("records")
    ]
    ax.set_yticks(y, names, parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(table) - 0.4, -0.6)
    ax.set_xlabel("decided verdicts for the first shown, %")
    return ax


def plot_items(card: Scorecard, *, ax: Axes | None = None) -> Axes:
    """Draw every item by difficulty and discrimination, with the limits of hygiene.

    Parameters
    ----------
    card : Scorecard
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=5.6, height=3.6)
    table = card.items.dropna(subset=["discrimination", "difficulty"])
    tidy(ax)
    if table.empty:
        empty(ax, "No item has estimates.")
        return ax
    flagged = (table["flag"] != "").to_numpy()
    ax.axhline(0.3, color=GREY, lw=0.8)
    for limit in (-3, 3):
        ax.axvline(limit, color=GREY, lw=0.8)
    for chosen, colour, label in ((~flagged, BLUE, "no flag"), (flagged, VERMILION, "flagged")):
        part = table[chosen]
        ax.plot(
            part["difficulty"], part["discrimination"], ".", ms=4, color=colour, label=label,
            rasterized=len(table) > 1500,
        )  # fmt: skip
    ax.set_yscale("log")
    _plain_numbers(ax.yaxis)
    ax.set(xlabel="difficulty", ylabel="discrimination")
    ax.legend(frameon=False, labelcolor=INK, fontsize=8.5, ncols=2, loc="upper right")
    return ax


def frontier_table(card: Scorecard, axis: str) -> pd.DataFrame:
    """Return what a frontier is drawn from: `model`, `cost` or `latency`, `global_index`, `on`."""
    known = card.models[card.models[axis].notna() & card.models["rank"].notna()]
    table = known[["model", axis, "global_index", "low", "high"]].assign(
        on=known[f"{axis}_frontier"].astype(int)
    )
    return table.sort_values([axis, "global_index"]).reset_index(drop=True)


def plot_frontier(card: Scorecard, axis: str, *, ax: Axes | None = None) -> Axes:
    """Draw quality over cost or latency, with the Pareto set.

    Parameters
    ----------
    card : Scorecard
    axis : {'cost', 'latency'}
    ax : Axes, optional

    Returns
    -------
    Axes
        On a log scale, unless something costs nothing.
    """
    ax = axes_or_new(ax, width=6.4, height=3.8)
    table = frontier_table(card, axis)
    tidy(ax)
    if table.empty:
        empty(ax, "No ranked model has a cost.")
        return ax
    if (table[axis] > 0).all():
        ax.set_xscale("log")
        _plain_numbers(ax.xaxis)
    ax.vlines(table[axis], table["low"], table["high"], color=PALE, lw=2, zorder=1)
    on, off = table[table["on"] == 1], table[table["on"] == 0]
    edge = on.drop_duplicates([axis, "global_index"])
    right = float(table[axis].max())
    ax.step(
        [*edge[axis], right], [*edge["global_index"], edge["global_index"].iloc[-1]],
        where="post", color=VERMILION, lw=1.2, zorder=2,
    )  # fmt: skip
    ax.plot(off[axis], off["global_index"], "o", ms=4, color=GREY, label="dominated", zorder=3)
    ax.plot(on[axis], on["global_index"], "o", ms=6, color=VERMILION, label="frontier", zorder=4)
    for row in on.head(MOST_LABELLED).to_dict("records"):
        ax.annotate(
            _short(row["model"], 24), (row[axis], row["global_index"]), xytext=(0, 6),
            textcoords="offset points", fontsize=7.5, color=INK, parse_math=False, ha="center",
        )  # fmt: skip
    ax.set(xlabel=_AXIS[axis], ylabel="global index, points")
    ax.legend(frameon=False, labelcolor=INK, fontsize=8.5, loc="lower right")
    return ax


def _plain_numbers(axis: Axis) -> None:
    """Write 0.2 on a log scale, not a power of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
