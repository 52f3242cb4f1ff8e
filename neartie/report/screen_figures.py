"""Figures of the item screen: sorted coefficients, item characteristics, sources, AUC."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from neartie.audits.screen_reasons import RANKED
from neartie.audits.screen_result import ItemScreen
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

MOST_LABELLED_CELLS = 15


def fit_table(screen: ItemScreen) -> pd.DataFrame:
    """Return the ranked items in the order of their coefficient, with the null band.

    Parameters
    ----------
    screen : ItemScreen

    Returns
    -------
    DataFrame
        `position` (1 = worst), `item`, `signed_isotonic_r2`, `null_low`, `null_high`,
        `suspicious` (1 where there is a reason), and `is_bad` where known.
    """
    table = screen.table[screen.table["kind"] == RANKED]
    columns = ["item", "signed_isotonic_r2", "null_low", "null_high"]
    columns += ["is_bad"] if "is_bad" in table else []
    shown = table[columns].reset_index(drop=True)
    shown.insert(0, "position", np.arange(1, len(shown) + 1))
    shown["suspicious"] = (table["reason"] != "").to_numpy().astype(int)
    return shown


def plot_fit(screen: ItemScreen, *, ax: Axes | None = None) -> Axes:
    """Draw the coefficients, worst first, over the band of shuffled answers.

    Parameters
    ----------
    screen : ItemScreen
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=6.4, height=3.6)
    table = fit_table(screen)
    tidy(ax)
    if table.empty:
        empty(ax, "No item varies together with another.")
        ax.set(xticks=[], yticks=[])
        return ax
    x = table["position"]
    if table["null_low"].notna().any():
        ax.fill_between(
            x, table["null_low"], table["null_high"], color=PALE, lw=0, step="mid",
            label="95% of shuffled answers",
        )  # fmt: skip
    ax.axhline(0, color=GREY, lw=0.8)
    as_image = len(table) > MOST_VECTOR_MARKS
    for value, colour, label in (
        (0, BLUE, "no reason found"),
        (1, VERMILION, "on the review list"),
    ):
        chosen = table[table["suspicious"] == value]
        if len(chosen):
            ax.plot(
                chosen["position"], chosen["signed_isotonic_r2"], ".", ms=4, color=colour,
                label=label, rasterized=as_image, zorder=3,
            )  # fmt: skip
    if "is_bad" in table:
        bad = table[table["is_bad"] == 1]
        ax.plot(
            bad["position"], bad["signed_isotonic_r2"], "o", ms=6, mfc="none", mec=INK, mew=0.8,
            label="known to be bad", rasterized=as_image, zorder=4,
        )  # fmt: skip
    ax.set(xlabel="place in the list (1 = worst)", ylabel="mean signed isotonic R²")
    _legend(ax)
    return ax


def plot_curve(screen: ItemScreen, item: str, *, ax: Axes | None = None) -> Axes:
    """Draw the mean score on an item over the rest score, with the best monotone fit.

    Parameters
    ----------
    screen : ItemScreen
    item : str
        One of those in `screen.curves`.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=3.0, height=2.4)
    curve = screen.curves[screen.curves["item"] == item]
    tidy(ax)
    if curve.empty:
        empty(ax, "No curve for this item.")
        return ax
    falling = curve["fit"].iloc[-1] < curve["fit"].iloc[0]
    ax.plot(curve["rest"], curve["fit"], color=VERMILION if falling else GREY, lw=1.3, zorder=2)
    size = 14 + 60 * curve["n"] / curve["n"].max()
    ax.scatter(curve["rest"], curve["score"], s=size, color=BLUE, alpha=0.85, lw=0, zorder=3)
    low, high = min(0.0, curve["score"].min()), max(1.0, curve["score"].max())
    ax.set(ylim=(low - 0.06 * (high - low), high + 0.06 * (high - low)))
    ax.set(xlabel="mean on the other items", ylabel="mean score")
    ax.set_title(_short(item, 30), parse_math=False, fontsize=9)
    return ax


def source_grid(screen: ItemScreen) -> pd.DataFrame:
    """Return mean coefficients as a grid: items of a source (rows) with partners of another.

    Parameters
    ----------
    screen : ItemScreen

    Returns
    -------
    DataFrame
        Sources by partner sources, in the order of their own mean, weakest first.
    """
    grid = screen.sources.pivot(index="source", columns="partner_source", values="mean")
    own = pd.Series(np.diag(grid.reindex(columns=grid.index)), index=grid.index)
    order = own.sort_values(kind="stable", na_position="last").index
    return grid.reindex(index=order, columns=order)


def plot_sources(screen: ItemScreen, *, ax: Axes | None = None) -> Axes:
    """Draw the grid of mean coefficients between sources.

    Parameters
    ----------
    screen : ItemScreen
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=5.6, height=5.0)
    if screen.sources.empty:
        empty(ax, "One source, or too many to draw.")
        ax.set(xticks=[], yticks=[])
        return ax
    grid = source_grid(screen)
    values = grid.to_numpy(dtype=float)
    largest = float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 1.0
    image = ax.imshow(values, cmap="RdBu", vmin=-largest, vmax=largest)
    names = [_short(str(name), 22) for name in grid.index]
    size = 8.0 if len(names) <= MOST_LABELLED_CELLS else 6.0
    ax.set_xticks(range(len(names)), names, rotation=90, fontsize=size, parse_math=False)
    ax.set_yticks(range(len(names)), names, fontsize=size, parse_math=False)
    if len(names) <= MOST_LABELLED_CELLS:
        for i, j in np.ndindex(values.shape):
            if np.isfinite(values[i, j]):
                strong = abs(values[i, j]) > 0.65 * largest
                ax.text(
                    j, i, f"{values[i, j]:.3f}", ha="center", va="center", fontsize=7.5,
                    color="white" if strong else INK,
                )  # fmt: skip
    figure = ax.get_figure()
    if figure is not None:
        bar = figure.colorbar(image, ax=ax, shrink=0.7)
        bar.set_label("mean signed isotonic R²", color=INK)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def plot_auc(screen: ItemScreen, *, ax: Axes | None = None) -> Axes:
    """Draw the AUC of every statistic with its interval, best first.

    Parameters
    ----------
    screen : ItemScreen
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=5.2, height=4.2)
    tidy(ax)
    if screen.auc.empty:
        empty(ax, "No item is known to be bad or good.")
        ax.set(xticks=[], yticks=[])
        return ax
    table = screen.auc.sort_values("auc", kind="stable").reset_index(drop=True)
    for row, entry in enumerate(table.to_dict("records")):
        colour = VERMILION if entry["statistic"] == "signed_isotonic_r2" else BLUE
        if np.isfinite(entry["low"]):
            ax.plot([entry["low"], entry["high"]], [row, row], color=colour, lw=1.2)
        ax.plot(entry["auc"], row, "o", ms=5, color=colour)
    ax.axvline(0.5, color=GREY, lw=0.8, ls=(0, (4, 3)))
    ax.set_yticks(range(len(table)), table["statistic"])
    ax.set(xlabel="AUC (0.5 = chance)", xlim=(min(0.3, table["auc"].min() - 0.05), 1.02))
    return ax


def _legend(ax: Axes) -> None:
    ax.legend(
        frameon=False, labelcolor=INK, fontsize=8.5, ncols=4, loc="lower center",
        bbox_to_anchor=(0.5, 1.01), handletextpad=0.4, columnspacing=1.2,
    )  # fmt: skip


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
