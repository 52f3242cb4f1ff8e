"""Excess reversals over the width of the band (P0, figure 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from neartie.audits.result import NearTieAudit
from neartie.report.formatting import SIGNIFICANT, count, points
from neartie.report.style import BLUE, GREY, INK, PALE, axes_or_new, empty, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def excess_table(audit: NearTieAudit) -> pd.DataFrame:
    """Return excess reversals by band, beside the spread of the random subtests.

    Parameters
    ----------
    audit : NearTieAudit

    Returns
    -------
    DataFrame
        One row a band: `epsilon` (proportion), `gap_points`, `n_eligible`, `excess_pp`,
        `p_value`, `random_low_pp` and `random_high_pp` (central 95 % of the random subtests
        about their median, points), `significant` (p at most .05) and `primary`.

    References
    ----------
    P0, equations 10, 11 and 41.
    """
    table = audit.thresholds[["epsilon", "n_eligible", "excess_pp", "p_value"]].copy()
    table.insert(1, "gap_points", 100 * table["epsilon"].astype(float))
    median = audit.thresholds["random_median"].astype(float)
    for end in ("low", "high"):
        limit = audit.thresholds[f"random_{end}"].astype(float)
        table[f"random_{end}_pp"] = 100 * (limit - median)
    table[["excess_pp", "p_value"]] = table[["excess_pp", "p_value"]].astype(float)
    table["significant"] = (table["p_value"] <= SIGNIFICANT).astype(int)
    primary = np.isclose(table["epsilon"], audit.primary_epsilon, rtol=1e-9, atol=0)
    table["primary"] = primary.astype(int)
    return table.sort_values("epsilon", ignore_index=True)


def plot_excess(audit: NearTieAudit, *, ax: Axes | None = None) -> Axes:
    """Draw excess reversals over bands: filled where p is at most .05.

    The grey area is where 95 % of the random subtests lie about their median. No interval of
    the excess is drawn: the range over recompositions is not one.

    Parameters
    ----------
    audit : NearTieAudit
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=5.2, height=3.4)
    table = excess_table(audit)
    tidy(ax)
    shown = table.dropna(subset="excess_pp")
    if shown.empty:
        empty(ax, "No band has both an eligible pair\nand a random subtest to compare with.")
        ax.set(xticks=[], yticks=[])
        return ax
    gap = shown["gap_points"]
    ax.fill_between(
        gap, shown["random_low_pp"], shown["random_high_pp"], color=PALE, alpha=0.6, lw=0
    )
    ax.axhline(0, color=GREY, lw=0.8)
    ax.plot(gap, shown["excess_pp"], color=BLUE, lw=1.4, zorder=3)
    for significant, face, label in ((1, BLUE, "p ≤ .05"), (0, "white", "p > .05")):
        chosen = shown[shown["significant"] == significant]
        ax.plot(
            chosen["gap_points"],
            chosen["excess_pp"],
            "o",
            ms=6,
            color=BLUE,
            mfc=face,
            mew=1.3,
            zorder=4,
            label=label,
        )
    _mark_primary(ax, audit.primary_epsilon)
    _label_bands(ax, table)
    ax.set_ylabel("excess reversals (points)")
    ax.fill_between([], [], color=PALE, alpha=0.6, lw=0, label="95% of random subtests")
    ax.margins(y=0.12)
    ax.legend(
        frameon=False,
        labelcolor=INK,
        fontsize=8.5,
        ncols=3,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.04),
        handletextpad=0.4,
        columnspacing=1.4,
    )
    return ax


def _mark_primary(ax: Axes, epsilon: float) -> None:
    ax.axvline(100 * epsilon, color=INK, lw=0.9, ls=(0, (4, 3)), zorder=1)
    ax.annotate(
        "primary band",
        (100 * epsilon, 1.0),
        xycoords=ax.get_xaxis_transform(),
        xytext=(5, 0),
        textcoords="offset points",
        ha="left",
        va="top",
        color=INK,
        fontsize=8.5,
    )


def _label_bands(ax: Axes, table: pd.DataFrame) -> None:
    from matplotlib.ticker import NullLocator

    ax.set_xscale("log", base=2)
    ax.xaxis.set_minor_locator(NullLocator())
    # Bands without an excess keep their place.
    ax.set_xlim(table["gap_points"].min() / 1.17, table["gap_points"].max() * 1.17)
    ax.set_xticks(table["gap_points"], [points(epsilon) for epsilon in table["epsilon"]])
    # Texts of their own, not second lines of the tick labels: SVG centres single lines exactly.
    for gap, number in zip(table["gap_points"], table["n_eligible"], strict=True):
        ax.annotate(
            count(number),
            (gap, 0),
            xycoords=ax.get_xaxis_transform(),
            xytext=(0, -17),
            textcoords="offset points",
            ha="center",
            va="top",
            color=GREY,
            fontsize=8.5,
        )
    ax.set_xlabel("largest gap on the full benchmark (points); below, eligible pairs", labelpad=16)
