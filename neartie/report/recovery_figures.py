"""Figures of simulated comparisons: bias and coverage, rung by rung."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from neartie.audits.comparison_settings import PLUG_IN
from neartie.audits.draw_anchors import ANCHORS
from neartie.audits.draw_reversals import SCORES
from neartie.audits.recovery import Recovery
from neartie.audits.recovery_claim import mean_limits
from neartie.report.comparison_figures import ANCHOR_STYLES, beside, name_anchors
from neartie.report.recovery_tables import recovery_rows
from neartie.report.style import GREY, empty

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Between the kinds of anchors of one rung, in rows.
_STEP: Final = 0.19
_NOMINAL: Final = 95.0


def recovery_points(found: Recovery, scores: str) -> pd.DataFrame:
    """Return what a panel shows, one row a rung and kind of anchors.

    Parameters
    ----------
    found : Recovery
    scores : str

    Returns
    -------
    DataFrame
        `rung`, `anchors`, `row` (0 is the top; kinds of anchors a little apart), `bias`,
        `bias_low`, `bias_high` (points), `coverage`, `coverage_low`, `coverage_high` (per cent).
    """
    table = recovery_rows(found, scores)
    place = {name: k for k, name in enumerate(found.settings.ladder)}
    shift = {kind: (k - 1.5) * _STEP for k, kind in enumerate(ANCHORS)}
    rows = []
    for row in table.to_dict("records"):
        n, rung, kind = int(row["n_replicates"]), row["rung"], row["anchors"]
        low, high = mean_limits(row["bias"], row["bias_se"], n)
        rows.append(
            {
                "rung": rung,
                "anchors": kind,
                "row": place[rung] + (0.0 if rung == PLUG_IN else shift[kind]),
                "bias": 100 * row["bias"],
                "bias_low": 100 * low,
                "bias_high": 100 * high,
                "coverage": 100 * row["coverage"],
                "coverage_low": 100 * row["coverage_low"],
                "coverage_high": 100 * row["coverage_high"],
            }
        )
    return pd.DataFrame(rows)


def plot_bias(found: Recovery, *, ax: Axes | None = None) -> list[Axes]:
    """Draw the bias of reversal rates by rung, one panel for each kind of scores.

    Parameters
    ----------
    found : Recovery
    ax : Axes, optional
        Axes alone in a figure, whose place the panels take; a new figure otherwise.

    Returns
    -------
    list of Axes
        Limits that would leave the marks no room are cut.
    """
    panels = beside(found.settings.ladder, ax)
    tables = [recovery_points(found, scores) for scores in SCORES]
    whole = pd.concat(tables)
    mark = np.nan_to_num(float(whole["bias"].abs().max()))
    reach = np.nan_to_num(float(whole[["bias_low", "bias_high"]].abs().to_numpy().max(initial=0)))
    most = max(1.1 * mark + 1, min(1.05 * reach, 2.5 * mark + 5))
    for panel, table in zip(panels, tables, strict=True):
        panel.axvline(0, color=GREY, lw=1.0, zorder=1)
        _marks(panel, table, "bias")
        panel.set_xlabel("bias (points)")
    panels[0].set_xlim(-most, most)
    name_anchors(panels[0], found.settings.ladder)
    return panels


def plot_coverage(found: Recovery, *, ax: Axes | None = None) -> list[Axes]:
    """Draw the coverage of 95 % intervals by rung, one panel for each kind of scores.

    Parameters
    ----------
    found : Recovery
    ax : Axes, optional
        As in `plot_bias`.

    Returns
    -------
    list of Axes
        With Clopper-Pearson limits. Cells without intervals have no mark.
    """
    panels = beside(found.settings.ladder, ax)
    for panel, scores in zip(panels, SCORES, strict=True):
        table = recovery_points(found, scores)
        panel.axvline(_NOMINAL, color=GREY, lw=1.0, ls=(0, (4, 2)), zorder=1)
        if table.empty or table["coverage"].isna().all():
            empty(panel, "no intervals")
        _marks(panel, table, "coverage")
        panel.set_xlabel("held by 95% intervals (%)")
    panels[0].set_xlim(-4, 104)
    name_anchors(panels[0], found.settings.ladder)
    return panels


def _marks(ax: Axes, table: pd.DataFrame, name: str) -> None:
    for kind, (colour, marker) in ANCHOR_STYLES.items():
        own = table[table["anchors"] == kind]
        ax.hlines(
            own["row"], own[f"{name}_low"], own[f"{name}_high"], color=colour, lw=1.4, zorder=2
        )
        ax.plot(
            own[name], own["row"], marker, ms=4.4, color=colour, zorder=3, label=kind, ls="none"
        )
