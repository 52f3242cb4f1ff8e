"""Figures of the further checks: controls, populations, family shifts (P0, figure 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from neartie.audits.control_comparison import MATCHED
from neartie.audits.family_shifts import FamilyShifts
from neartie.audits.further_checks import FurtherChecks
from neartie.audits.result import NearTieAudit
from neartie.audits.robustness import Robustness
from neartie.report.formatting import SIGNIFICANT
from neartie.report.sentences import primary_random_rates
from neartie.report.style import (
    BLUE,
    GREY,
    INK,
    PALE,
    VERMILION,
    axes_or_new,
    empty,
    family_styles,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Of benchmarks, in their order; apart for the colour-blind, and by marker.
BENCHMARK_STYLES: Final = (
    ("#0072b2", "o"),
    ("#e69f00", "s"),
    ("#009e73", "^"),
    ("#cc79a7", "D"),
    ("#56b4e9", "v"),
    ("#5e3c99", "P"),
    ("#8c6d31", "X"),
    ("#4d4d4d", "p"),
)


def benchmark_style(position: int) -> tuple[str, str]:
    """Return the colour and marker of a benchmark by its position; they begin anew after eight."""
    return BENCHMARK_STYLES[position % len(BENCHMARK_STYLES)]


def controls_frame(audit: NearTieAudit, checks: FurtherChecks) -> pd.DataFrame:
    """Return the rates behind the figure of controls: `control`, `rate` (proportion)."""
    matched = primary_random_rates(audit)
    parts = [pd.DataFrame({"control": MATCHED, "rate": matched})]
    if checks.controls is not None:
        parts.append(checks.controls.rates[["control", "rate"]])
    return pd.concat([p for p in parts if len(p)], ignore_index=True).dropna()


def plot_controls(audit: NearTieAudit, checks: FurtherChecks, *, ax: Axes | None = None) -> Axes:
    """Draw the rates of every control, one row a control, and the observed rate as a line.

    Parameters
    ----------
    audit : NearTieAudit
    checks : FurtherChecks
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=6.0, height=2.4)
    tidy(ax)
    table = controls_frame(audit, checks)
    names = list(dict.fromkeys(table["control"]))
    observed = audit.band()["rate"]
    if not names or observed is None:
        empty(ax, "No reversal rate, or no control to compare it with.")
        ax.set(xticks=[], yticks=[])
        return ax
    for row, name in enumerate(names):
        rates = 100 * table.loc[table["control"] == name, "rate"].to_numpy(dtype=np.float64)
        at = len(names) - 1 - row
        low, quarter, median, upper, high = np.quantile(rates, [0.025, 0.25, 0.5, 0.75, 0.975])
        ax.plot([low, high], [at, at], color=PALE, lw=7, solid_capstyle="butt", zorder=1)
        ax.plot([quarter, upper], [at, at], color=GREY, lw=7, solid_capstyle="butt", zorder=2)
        ax.plot([median], [at], "|", color="white", ms=9, mew=2, zorder=3)
    ax.axvline(100 * observed, color=VERMILION, lw=1.4)
    ax.annotate(
        "observed",
        (100 * observed, 1.0),
        xycoords=ax.get_xaxis_transform(),
        xytext=(0, 3),
        textcoords="offset points",
        ha="center",
        va="bottom",
        color=VERMILION,
        fontsize=8.5,
    )
    ax.set_yticks(range(len(names)), names[::-1])
    ax.set_ylim(-0.6, len(names) - 0.4)
    ax.set_xlabel("pairs reversed (%)")
    return ax


def plot_robustness(found: Mapping[str, Robustness], *, ax: Axes | None = None) -> Axes:
    """Draw the excess of every population: a row a population, a colour a benchmark.

    Filled where p is at most .05; diamonds mark the primary analysis.

    Parameters
    ----------
    found : mapping of str to Robustness
        By benchmark.
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes

    References
    ----------
    P0, figure 2.
    """
    ax = axes_or_new(ax, width=6.2, height=4.0)
    tidy(ax)
    variants = list(dict.fromkeys(v for part in found.values() for v in part.table["variant"]))
    tables = {name: part.table.set_index("variant") for name, part in found.items()}
    place = {name: len(variants) - 1 - row for row, name in enumerate(variants)}
    spread = np.linspace(0.22, -0.22, len(tables)) if len(tables) > 1 else np.zeros(1)
    for position, (name, table) in enumerate(tables.items()):
        colour = BLUE if len(tables) == 1 else benchmark_style(position)[0]
        shown = table.dropna(subset="excess_pp")
        for variant, excess, p in zip(
            shown.index, shown["excess_pp"], shown["p_value"], strict=True
        ):
            ax.plot(
                [excess],
                [place[variant] + spread[position]],
                "D" if variant == "primary" else "o",
                ms=6,
                color=colour,
                mfc=colour if p <= SIGNIFICANT else "white",
                mew=1.3,
            )
        if len(tables) > 1:
            ax.plot([], [], "o", ms=6, color=colour, label=name)
    ax.axvline(0, color=GREY, lw=0.8)
    for row in range(0, len(variants), 2):
        ax.axhspan(row - 0.5, row + 0.5, color=PALE, alpha=0.25, lw=0)
    ax.set_yticks(range(len(variants)), variants[::-1], parse_math=False)
    ax.set_ylim(-0.5, len(variants) - 0.5)
    ax.set_xlabel("excess reversals over matched random subtests (points)")
    if len(tables) > 1:
        legend_above(ax, len(tables))
    return ax


def plot_shifts(shifts: FamilyShifts, *, ax: Axes | None = None) -> Axes:
    """Draw family shifts in points of the score with 95 % intervals over owners.

    Parameters
    ----------
    shifts : FamilyShifts
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=5.2, height=2.6)
    tidy(ax)
    table = shifts.table
    styles = family_styles(table["family"])
    order = list(styles)[::-1]
    for row in table.to_dict("records"):
        colour, marker = styles[row["family"]]
        at = order.index(row["family"])
        ax.plot([row["low_pp"], row["high_pp"]], [at, at], color=colour, lw=1.6)
        ax.plot([row["shift_pp"]], [at], marker, color=colour, ms=6)
    ax.axvline(0, color=GREY, lw=0.8)
    ax.set_yticks(range(len(order)), order, parse_math=False)
    ax.set_ylim(-0.6, len(order) - 0.4)
    ax.set_xlabel("anchor minus full score (points)")
    return ax


def legend_above(ax: Axes, n: int) -> None:
    """Put a legend of n entries above the axes."""
    legend = ax.legend(
        frameon=False,
        labelcolor=INK,
        fontsize=8.5,
        ncols=min(n, 3),
        loc="lower left",
        bbox_to_anchor=(0.0, 1.01),
        handletextpad=0.4,
        columnspacing=1.4,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
