"""Figures of a comparison: the ladder, calibration, pairs, and D beside D."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from neartie.audits.comparison import Comparison
from neartie.audits.comparison_pairs import OPEN
from neartie.audits.comparison_settings import PLUG_IN
from neartie.audits.draw_anchors import ANCHORS, DRAWS, INCLUSION, MEAN
from neartie.audits.draw_reversals import SCORES
from neartie.report.comparison_pair_tables import shown_pairs
from neartie.report.comparison_tables import ladder_rows
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
_LONGEST: Final = 42
#: Colour and mark of every kind of anchors.
ANCHOR_STYLES: Final = {
    PLUG_IN: (INK, "s"),
    DRAWS: (BLUE, "o"),
    MEAN: ("#009e73", "^"),
    INCLUSION: ("#e69f00", "D"),
}
_TITLES: Final = {"observed": "observed", "latent": "latent", "predictive": "replicated"}
# Between the kinds of anchors of one rung, in rows.
_STEP: Final = 0.19


def ladder_points(compared: Comparison, scores: str) -> pd.DataFrame:
    """Return what a panel of the ladder shows, one row a rung and kind of anchors.

    Parameters
    ----------
    compared : Comparison
    scores : str

    Returns
    -------
    DataFrame
        `rung`, `anchors`, `row` (0 is the top; kinds of anchors a little apart), `reversal_rate`,
        `low`, `high`, `random_median` (proportions), `excess_pp`, `excess_low`, `excess_high`.
    """
    table = ladder_rows(compared, scores)
    place = {name: k for k, name in enumerate(compared.settings.ladder)}
    shift = {kind: (k - 1.5) * _STEP for k, kind in enumerate(ANCHORS)}
    row = [
        place[rung] + (0.0 if rung == PLUG_IN else shift[kind])
        for rung, kind in zip(table["rung"], table["anchors"], strict=True)
    ]
    columns = ["reversal_rate", "low", "high", "random_median"]
    columns += ["excess_pp", "excess_low", "excess_high"]
    return table[["rung", "anchors"]].assign(row=row).join(table[columns])


def plot_ladder(compared: Comparison, *, ax: Axes | None = None) -> list[Axes]:
    """Draw reversal rates by rung, one panel for each kind of scores.

    Parameters
    ----------
    compared : Comparison
    ax : Axes, optional
        Axes alone in a figure, whose place the panels take; a new figure otherwise.

    Returns
    -------
    list of Axes
    """
    panels = beside(compared.settings.ladder, ax)
    rate = compared.audit.band()["rate"]
    for panel, scores in zip(panels, SCORES, strict=True):
        table = ladder_points(compared, scores)
        if rate is not None:
            panel.axvline(100 * rate, color=VERMILION, lw=1.1, ls=(0, (4, 2)), zorder=1)
        for rung in table["rung"].unique():
            own = table[table["rung"] == rung]
            median = 100 * own["random_median"].iloc[0]
            middle = compared.settings.ladder.index(rung)
            panel.vlines(median, middle - 0.42, middle + 0.42, color=GREY, lw=1.6, zorder=1)
        _marks(panel, table, ("reversal_rate", "low", "high"), scale=100)
        panel.set_xlabel("reversed (%)")
    # once all panels, which share it, have their marks
    panels[0].set_xlim(left=0)
    name_anchors(panels[0], compared.settings.ladder, lines=True)
    return panels


def plot_ladder_excess(compared: Comparison, *, ax: Axes | None = None) -> list[Axes]:
    """Draw the excess over matched-random subtests by rung, one panel for each kind of scores.

    Parameters
    ----------
    compared : Comparison
    ax : Axes, optional
        As in `plot_ladder`.

    Returns
    -------
    list of Axes
    """
    panels = beside(compared.settings.ladder, ax)
    for panel, scores in zip(panels, SCORES, strict=True):
        table = ladder_points(compared, scores)
        panel.axvline(0, color=GREY, lw=1.0, zorder=1)
        _marks(panel, table, ("excess_pp", "excess_low", "excess_high"))
        panel.set_xlabel("excess (points)")
    name_anchors(panels[0], compared.settings.ladder)
    return panels


def plot_calibration(compared: Comparison, rung: str, *, ax: Axes | None = None) -> Axes:
    """Draw how often the plug-in reverses the pairs that a rung gives like probabilities.

    Parameters
    ----------
    compared : Comparison
    rung : str
        In its headline cell.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=2.9, height=2.9)
    tidy(ax)
    anchors, scores = compared.settings.headline
    table = compared.calibration
    own = table[
        (table["rung"] == rung) & (table["anchors"] == anchors) & (table["scores"] == scores)
    ]
    ax.plot([0, 1], [0, 1], color=GREY, lw=0.9, zorder=1)
    if own.empty:
        empty(ax, "Not in this cell.")
    else:
        size = 12 + 150 * own["n_pairs"] / own["n_pairs"].sum()
        ax.plot(own["mean_probability"], own["share_reversed"], color=BLUE, lw=0.9, alpha=0.6)
        ax.scatter(
            own["mean_probability"], own["share_reversed"], s=size, color=BLUE, lw=0, zorder=3
        )
    ax.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), aspect="equal")
    ax.set(xlabel="probability of a reversal", ylabel="share that the plug-in reverses")
    ax.set_title(rung, fontsize=9, loc="left", color=INK)
    return ax


def plot_pairs(compared: Comparison, *, ax: Axes | None = None) -> Axes:
    """Draw the probability of the observed order of pairs, on all items and on the anchors.

    Parameters
    ----------
    compared : Comparison
        Those pairs that `read_pairs` puts first, by the highest rung.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=7.6, height=pairs_height(compared))
    table = shown_pairs(compared).head(MOST_PAIRS)
    if table.empty:
        empty(ax, "No rung beside the plug-in.")
        ax.set(xticks=[], yticks=[])
        return ax
    tidy(ax)
    ax.spines["left"].set_visible(False)
    row = np.arange(len(table))
    ax.axvline(0.5, color=GREY, lw=0.9, zorder=1)
    ax.hlines(row, table["a_above_b_full"], table["a_above_b_anchor"], color=PALE, lw=2.4, zorder=2)
    ax.plot(
        table["a_above_b_full"], row, "o", ms=5.5, mfc="white", mec=INK, zorder=3, label="all items"
    )
    for value, colour, label in (
        (0.0, BLUE, "anchors, plug-in keeps"),
        (1.0, VERMILION, "anchors, plug-in reverses"),
    ):
        own = (table["plugin_reversed"] == value).to_numpy()
        ax.plot(
            table["a_above_b_anchor"][own], row[own], "o", ms=5.5, color=colour, zorder=4,
            label=label,
        )  # fmt: skip
    tied = table["plugin_reversed"].isna().to_numpy()
    if tied.any():
        ax.plot(
            table["a_above_b_anchor"][tied], row[tied], "o", ms=5.5, color=GREY, zorder=4,
            label="anchors, plug-in ties",
        )  # fmt: skip
    ax.set_yticks(row, [""] * len(row))
    for place, pair in enumerate(zip(table["model_a"], table["model_b"], strict=True)):
        # lines of their own: SVG sets single lines flush right exactly
        for shift, name in zip((-0.19, 0.19), (pair[0], f"over {pair[1]}"), strict=True):
            ax.text(
                -0.015, place + shift, _short(name), transform=ax.get_yaxis_transform(),
                ha="right", va="center", fontsize=7.5, color=INK, parse_math=False,
            )  # fmt: skip
    ax.tick_params(axis="y", length=0)
    for place, reading in enumerate(table["reading"]):
        if reading != OPEN:
            ax.text(
                1.01, place, reading, transform=ax.get_yaxis_transform(), va="center",
                fontsize=7.5, color=GREY, parse_math=False,
            )  # fmt: skip
    ax.set(ylim=(len(table) - 0.4, -0.6), xlim=(-0.03, 1.03))
    ax.set_xlabel("probability that the first model is above the second")
    _legend(ax, columns=4)
    return ax


def plot_ranges(compared: Comparison, rung: str, half: int, *, ax: Axes | None = None) -> Axes:
    """Draw D of a rung's mean effects over the plug-in's D, item by item.

    Parameters
    ----------
    compared : Comparison
    rung : str
    half : int
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=2.9, height=2.9)
    tidy(ax)
    table = compared.anchors[compared.anchors["half"] == half]
    name = f"dif_range_{rung}"
    for anchor, colour, label in ((0, GREY, "others"), (1, BLUE, "the audit's anchors")):
        own = table[table["anchor"] == anchor]
        ax.plot(
            own["dif_range"], own[name], "o", ms=2.4, color=colour, alpha=0.6, mew=0, label=label,
            rasterized=len(table) > MOST_VECTOR_MARKS,
        )  # fmt: skip
    most = float(np.nanmax(table[["dif_range", name]].to_numpy()))
    ax.plot([0, most], [0, most], color=GREY, lw=0.9, zorder=1)
    ax.set(xlabel="D of the plug-in (logit)", ylabel=f"D of the mean, {rung} (logit)")
    ax.set_title(f"half {half}", fontsize=9, loc="left", color=INK)
    if not half:
        ax.legend(frameon=False, fontsize=7.5, labelcolor=INK, handletextpad=0.2, loc="upper left")
    return ax


def ladder_height(compared: Comparison) -> float:
    """Return the height in inches that keeps every rung legible."""
    return rungs_height(len(compared.settings.ladder))


def rungs_height(n: int) -> float:
    """Return the height in inches that keeps so many rungs legible."""
    return 1.5 + 0.52 * n


def pairs_height(compared: Comparison) -> float:
    """Return the height in inches of the figure of pairs."""
    return 1.2 + 0.36 * max(min(len(shown_pairs(compared)), MOST_PAIRS), 1)


def beside(ladder: Sequence[str], ax: Axes | None) -> list[Axes]:
    """Return a panel for each kind of scores in the place of one, the rungs named at the left.

    Parameters
    ----------
    ladder : sequence of str
        The rungs, from the top.
    ax : Axes or None
        Axes alone in a figure; a new figure otherwise.
    """
    n = len(ladder)
    ax = axes_or_new(ax, width=7.6, height=rungs_height(n))
    place, figure = ax.get_subplotspec(), ax.get_figure()
    if place is None or figure is None:
        raise ValueError("these axes stand on no grid; make them with add_subplot")
    ax.remove()
    grid = place.subgridspec(1, len(SCORES))
    panels: list[Axes] = []
    for k, scores in enumerate(SCORES):
        panel = figure.add_subplot(grid[0, k], sharex=panels[0] if panels else None)
        tidy(panel)
        panel.spines["left"].set_visible(False)
        for edge in np.arange(n - 1) + 0.5:
            panel.axhline(edge, color=PALE, lw=0.6, zorder=0)
        panel.set_yticks(range(n), ladder if k == 0 else [""] * n, fontsize=8.5)
        panel.tick_params(axis="y", length=0)
        panel.set_ylim(n - 0.45, -0.55)
        panel.set_title(_TITLES[scores], fontsize=9, loc="left", color=INK)
        panels.append(panel)
    return panels


def _marks(ax: Axes, table: pd.DataFrame, names: Sequence[str], *, scale: float = 1.0) -> None:
    value, low, high = names
    for kind, (colour, marker) in ANCHOR_STYLES.items():
        own = table[table["anchors"] == kind]
        ax.hlines(own["row"], scale * own[low], scale * own[high], color=colour, lw=1.4, zorder=2)
        ax.plot(
            scale * own[value], own["row"], marker, ms=4.4, color=colour, zorder=3, label=kind,
            ls="none",
        )  # fmt: skip


def name_anchors(ax: Axes, ladder: Sequence[str], *, lines: bool = False) -> None:
    """Name the anchors, and the lines of rates, once for all panels: above the first.

    Parameters
    ----------
    ax : Axes
        With the marks of all kinds of anchors.
    ladder : sequence of str
    lines : bool
        Whether the plug-in's rate and random medians are drawn.
    """
    handles: list[Any] = list(ax.get_legend_handles_labels()[0])
    labels = [f"{name} anchors" for name in ax.get_legend_handles_labels()[1]]
    if len(ladder) == 1:
        handles, labels = handles[:1], labels[:1]
    if lines:
        from matplotlib.lines import Line2D

        handles += [
            Line2D([], [], color=VERMILION, lw=1.1, ls=(0, (4, 2))),
            Line2D([], [], color=GREY, lw=1.6),
        ]
        labels += ["plug-in", "random subtests, median"]
    figure = ax.get_figure()
    if figure is not None:
        figure.legend(
            handles, labels, frameon=False, labelcolor=INK, fontsize=8, ncols=3 if lines else 4,
            loc="outside upper left", handletextpad=0.3, columnspacing=1.2,
        )  # fmt: skip


def _legend(ax: Axes, *, columns: int) -> None:
    ax.legend(
        frameon=False, labelcolor=INK, fontsize=8, ncols=columns, loc="lower left",
        bbox_to_anchor=(0, 1.0), borderaxespad=0.2, handletextpad=0.2, columnspacing=1.0,
    )  # fmt: skip


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
