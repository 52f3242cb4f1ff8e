"""Figures of a validation: positions against uniform ones, coverage, and orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from neartie.audits.validation_result import DesignValidation
from neartie.audits.validation_words import worded
from neartie.inference.uniformity import ecdf_band
from neartie.report.style import BLUE, GREY, INK, PALE, VERMILION, axes_or_new, empty, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Components drawn one by one.
_MOST_LINES: Final = 60
_COLOURS: Final = {0.5: "#56b4e9", 0.8: BLUE, 0.95: INK}


def ecdf_table(result: DesignValidation, quantity: str) -> pd.DataFrame:
    """Return what the figure of positions shows.

    Parameters
    ----------
    result : DesignValidation
    quantity : str

    Returns
    -------
    DataFrame
        `point`; `low`, `high` of the band; `pooled`, over all components; and a column a
        component, by number: shares of positions below the point, less the point.

    Notes
    -----
    The band holds all tracked components at once with probability .95 (Bonferroni's bound over
    components, exact along the points), if the engine is calibrated.
    """
    rows = result.positions[result.positions["quantity"] == quantity]
    wide = rows.pivot_table(index="data_set", columns="component", values="position", sort=False)
    values = wide.to_numpy()
    point, low, high = ecdf_band(len(values), level=1 - 0.05 / values.shape[1])
    below = np.array([(values <= at).mean(axis=0) for at in point]) - point[:, None]
    table = pd.DataFrame({"point": point, "low": low - point, "high": high - point})
    table["pooled"] = below.mean(axis=1)
    return pd.concat([table, pd.DataFrame(below, columns=wide.columns)], axis=1)


def plot_positions(result: DesignValidation, quantity: str, *, ax: Axes | None = None) -> Axes:
    """Draw how far positions of truths are from uniform, with the band of chance.

    Parameters
    ----------
    result : DesignValidation
    quantity : str
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax, width=3.9, height=2.5)
    tidy(ax)
    table = ecdf_table(result, quantity)
    ends = [0.0, *table["point"], 1.0]
    low, high, pooled = (_closed(table[name]) for name in ("low", "high", "pooled"))
    ax.fill_between(ends, low, high, color=PALE, lw=0, zorder=1)
    ax.axhline(0, color=GREY, lw=0.8, zorder=2)
    components = table.columns[4:]
    chosen = components[np.unique(np.linspace(0, len(components) - 1, _MOST_LINES).astype(int))]
    for component in chosen if len(components) > 1 else ():
        line = _closed(table[component])
        outside = bool(np.any((line < low - 1e-12) | (line > high + 1e-12)))
        ax.plot(
            ends, line, color=VERMILION if outside else BLUE, alpha=0.9 if outside else 0.25,
            lw=0.7, zorder=3 + outside,
        )  # fmt: skip
    ax.plot(ends, pooled, color=INK, lw=1.8, zorder=5)
    (row,) = result.quantities[result.quantities["quantity"] == quantity].to_dict("records")
    count = f" ({row['n']:,.0f})" if row["n"] > 1 else ""
    ax.set_title(f"{worded(quantity)}{count}, adjusted p {row['p_adjusted']:.2g}", loc="left")
    ax.set(xlim=(0, 1), xlabel="position of the truth among draws", ylabel="ECDF less uniform")
    return ax


def plot_coverage(result: DesignValidation, *, ax: Axes | None = None) -> Axes:
    """Draw the coverage of every quantity at every level, with 95 % limits.

    Parameters
    ----------
    result : DesignValidation
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes
    """
    names = list(dict.fromkeys(result.coverage["quantity"]))
    ax = axes_or_new(ax, width=6.6, height=coverage_height(result))
    tidy(ax)
    if not names:
        empty(ax, "No interval could be judged.")
        ax.set(xticks=[], yticks=[])
        return ax
    place = {name: k for k, name in enumerate(names)}
    for level, colour in _COLOURS.items():
        rows = result.coverage[result.coverage["level"] == level]
        y = rows["quantity"].map(place)
        ax.axvline(100 * level, color=colour, lw=1.0, ls=(0, (3, 3)), zorder=1)
        ax.hlines(y, 100 * rows["low"], 100 * rows["high"], color=colour, lw=1.8, zorder=2)
        missed = (rows["low"] > level) | (rows["high"] < level)
        for off, face in ((False, colour), (True, "white")):
            part = rows[missed == off]
            ax.plot(
                100 * part["covered"], part["quantity"].map(place), "o", ms=5, color=colour,
                mfc=face, zorder=3, label=None if off else f"{100 * level:.0f}% intervals",
            )  # fmt: skip
    ax.set_yticks(range(len(names)), [worded(name) for name in names], parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(names) - 0.5, -0.5)
    left = min(40.0, 100 * float(result.coverage["low"].min()) - 3)
    ax.set_xlim(max(left, -1.0), 101)
    ax.set_xlabel("truths within their intervals (%)")
    ax.legend(
        frameon=False, labelcolor=INK, fontsize=8.5, ncols=3, loc="lower left",
        bbox_to_anchor=(0, 1.0), borderaxespad=0,
    )  # fmt: skip
    return ax


def coverage_height(result: DesignValidation) -> float:
    """Return the height in inches that the rows of the figure of coverage need."""
    return 1.1 + 0.32 * max(1, result.coverage["quantity"].nunique())


def plot_orders(result: DesignValidation, *, ax: Axes | None = None) -> Axes:
    """Draw how often the likelier order of two models is the true one, over what was said.

    Parameters
    ----------
    result : DesignValidation
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes
        The area of a mark is the number of pairs.
    """
    ax = axes_or_new(ax, width=3.9, height=3.6)
    tidy(ax)
    rows = result.orders[result.orders["n"] > 0]
    if rows.empty:
        empty(ax, "No orders were compared.")
        ax.set(xticks=[], yticks=[])
        return ax
    ax.plot([50, 100], [50, 100], color=GREY, lw=0.8, zorder=1)
    area = 12 + 220 * rows["n"] / rows["n"].sum()
    ax.plot(100 * rows["said"], 100 * rows["right"], color=BLUE, lw=1.2, zorder=2)
    ax.scatter(100 * rows["said"], 100 * rows["right"], s=area, color=BLUE, lw=0, zorder=3)
    ax.set(xlabel="probability of the likelier order (%)", ylabel="orders that are true (%)")
    ax.set_xlim(49, 101)
    ax.set_ylim(min(49.0, 100 * float(rows["right"].min()) - 2), 101)
    return ax


def _closed(values: pd.Series) -> np.ndarray:
    """Return a curve with its ends at 0 and 1, where all paths meet."""
    return np.concatenate([[0.0], values.to_numpy(), [0.0]])
