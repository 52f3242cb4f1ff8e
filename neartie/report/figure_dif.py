"""Range of the residual family effects over item easiness, with the anchors marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from neartie.audits.result import NearTieAudit
from neartie.report.formatting import plural
from neartie.report.style import BLUE, INK, MOST_VECTOR_MARKS, axes_or_new, empty, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEFT_OUT = "#b3a79a"


def dif_table(audit: NearTieAudit) -> pd.DataFrame:
    """Return easiness and DIF range of every item in the half that they were fitted in.

    Parameters
    ----------
    audit : NearTieAudit

    Returns
    -------
    DataFrame
        `item`, `source`, `half`, `easiness` (logit; missing where no finite one exists),
        `dif_range` (logit), `anchor`, `constant`, and `drawn` (0 or 1: easiness and range are
        both finite).

    References
    ----------
    P0, equation 5.
    """
    columns = ["item", "source", "half", "easiness", "dif_range", "anchor", "constant"]
    table = audit.items[columns].copy()
    values = table[["easiness", "dif_range"]].astype(float)
    table[["easiness", "dif_range"]] = values
    table["drawn"] = np.isfinite(values).all(axis=1).astype(int)
    return table


def plot_dif(audit: NearTieAudit, *, half: int, ax: Axes | None = None) -> Axes:
    """Draw the DIF range over easiness for the items as fitted in one half.

    Parameters
    ----------
    audit : NearTieAudit
    half : {0, 1}
        The half that the items were fitted in.
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=4.4, height=3.6)
    tidy(ax)
    ax.set_title(f"items as fitted in half {half}", loc="left")
    ax.set_xlabel("easiness (logit)")
    ax.set_ylabel("range of family effects (logit)")
    table = dif_table(audit)
    inside = table[table["half"] == half]
    drawn = inside[inside["drawn"] == 1]
    if drawn.empty:
        empty(ax, "No item of this half has a finite easiness.")
        return ax
    n_items = len(drawn)
    size = float(np.clip(3.4 - 0.5 * np.log10(n_items / 500), 1.6, 4.0))
    opacity = 0.7 if n_items <= MOST_VECTOR_MARKS else 0.35
    for anchor, colour in ((0, _LEFT_OUT), (1, BLUE)):
        chosen = drawn[drawn["anchor"].astype(int) == anchor]
        ax.plot(
            chosen["easiness"],
            chosen["dif_range"],
            "o",
            ms=size,
            color=colour,
            mec="none",
            alpha=opacity,
            rasterized=n_items > MOST_VECTOR_MARKS,
        )
    ax.set_ylim(bottom=min(0.0, float(drawn["dif_range"].min())))
    _legend(ax, inside)
    return ax


def _legend(ax: Axes, items: pd.DataFrame) -> None:
    """Below the axes; items that all or no model answers have no easiness: they are counted."""
    from matplotlib.lines import Line2D

    drawn = items[items["drawn"] == 1]["anchor"].astype(int)
    undrawn = items[items["drawn"] == 0]["anchor"].astype(int)
    entries = [
        (Line2D([], [], ls="", marker="o", color=colour, ms=5), f"{name} ({number:,})")
        for colour, name, number in (
            (_LEFT_OUT, "left out", int((drawn == 0).sum())),
            (BLUE, "anchors", int((drawn == 1).sum())),
        )
    ]
    if len(undrawn):
        note = f"no finite easiness: {len(undrawn):,} ({plural(int(undrawn.sum()), 'anchor')})"
        entries.append((Line2D([], [], ls=""), note))
    ax.legend(
        [handle for handle, _ in entries],
        [name for _, name in entries],
        frameon=False,
        fontsize=8,
        labelcolor=INK,
        ncols=2,
        loc="upper left",
        bbox_to_anchor=(-0.02, -0.18),
        borderaxespad=0,
        handletextpad=0.1,
        columnspacing=0.8,
    )
