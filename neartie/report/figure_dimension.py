"""Held-out loss over the dimension K, with the one-standard-error rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from neartie.audits.result import NearTieAudit
from neartie.report.style import BLUE, GREY, INK, VERMILION, axes_or_new, empty, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def dimension_table(audit: NearTieAudit) -> pd.DataFrame:
    """Return the loss curve of each half with its best and selected dimension.

    Parameters
    ----------
    audit : NearTieAudit

    Returns
    -------
    DataFrame
        The columns of `audit.dimension`, and `best` (0 or 1; the smaller K where losses are
        equal) and `limit` (nat per answer: smallest loss plus its standard error). Empty when
        the dimension was given.

    References
    ----------
    P0, equations 21 to 23.
    """
    table = audit.dimension.sort_values(["half", "k"], ignore_index=True)
    # Sorted by K: the first of equal losses belongs to the smaller dimension.
    best = table.groupby("half")["loss"].idxmin()
    table["best"] = table.index.isin(best).astype(int)
    limit = (table["loss"] + table["se"]).where(table["best"] == 1)
    table["limit"] = limit.groupby(table["half"]).transform("max")
    return table


def plot_dimension(audit: NearTieAudit, *, half: int, ax: Axes | None = None) -> Axes:
    """Draw one half's loss over K with one standard error to either side.

    Parameters
    ----------
    audit : NearTieAudit
    half : {0, 1}
        The half that the dimension was chosen in.
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes
    """
    from matplotlib.ticker import NullLocator

    ax = axes_or_new(ax, width=4.4, height=3.2)
    tidy(ax)
    ax.set_title(f"half {half}", loc="left")
    table = dimension_table(audit)
    curve = table[table["half"] == half]
    if curve.empty:
        empty(ax, f"K = {audit.k[half]} was given, not chosen.")
        ax.set(xticks=[], yticks=[])
        return ax
    # The other rules do not look at this line.
    limit = curve["limit"].iloc[0] if audit.settings.get("rule", "one-se") == "one-se" else np.nan
    if np.isfinite(limit):
        ax.axhline(limit, color=GREY, lw=0.8, ls=(0, (4, 3)), zorder=1)
    ax.errorbar(
        curve["k"], curve["loss"], curve["se"], color=BLUE, ecolor="#8fb8d4", lw=1.3, zorder=2
    )
    ax.plot(curve["k"], curve["loss"], "o", color=BLUE, ms=4, zorder=3)
    best, selected = curve[curve["best"] == 1], curve[curve["selected"] == 1]
    ax.plot(best["k"], best["loss"], "o", ms=9, mfc="none", mec=INK, mew=1.2, zorder=4)
    ax.plot(selected["k"], selected["loss"], "o", ms=8, color=VERMILION, zorder=5)
    ax.set_xscale("log", base=2)
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(curve["k"], [str(k) for k in curve["k"]])
    ax.margins(x=0.07)
    _label(ax, selected["k"].tolist(), best["k"].tolist(), has_limit=bool(np.isfinite(limit)))
    ax.set_xlabel("dimension K")
    ax.set_ylabel("held-out loss (nat per answer)")
    return ax


def _label(ax: Axes, selected: list[int], best: list[int], *, has_limit: bool) -> None:
    from matplotlib.lines import Line2D

    disc = Line2D([], [], ls="", marker="o", ms=6, color=VERMILION)
    ring = Line2D([], [], ls="", marker="o", ms=7, mfc="none", mec=INK, mew=1.2)
    entries = [(disc, f"selected, K = {k}") for k in selected]
    entries += [(ring, f"smallest loss, K = {k}") for k in best]
    if has_limit:
        dashes = Line2D([], [], color=GREY, lw=0.9, ls=(0, (4, 3)))
        entries.append((dashes, "smallest loss + 1 SE"))
    ax.legend(
        [handle for handle, _ in entries],
        [name for _, name in entries],
        frameon=False,
        fontsize=8,
        labelcolor=INK,
        ncols=2,
        loc="upper left",
        bbox_to_anchor=(-0.02, -0.19),
        borderaxespad=0,
        handletextpad=0.4,
        columnspacing=1.0,
    )
