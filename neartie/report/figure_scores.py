"""Full against anchor scores, with the near ties of the primary band as segments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from neartie.audits.result import NearTieAudit
from neartie.report.style import (
    GREY,
    INK,
    MOST_VECTOR_MARKS,
    VERMILION,
    axes_or_new,
    empty,
    family_styles,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Kind = Literal["score", "shift"]
_KEPT = "#9aa5b0"


def score_table(audit: NearTieAudit) -> pd.DataFrame:
    """Return the scores of the representatives in percentage points.

    Parameters
    ----------
    audit : NearTieAudit

    Returns
    -------
    DataFrame
        One row a representative: `model`, `owner`, `family`, `half`, `full`, `anchor` and
        `shift` (anchor minus full), all three in percentage points.

    References
    ----------
    P0, equation 8.
    """
    table = audit.scores[["model", "owner", "family", "half"]].copy()
    table["full"] = 100 * audit.scores["full"].astype(float)
    table["anchor"] = 100 * audit.scores["anchor"].astype(float)
    table["shift"] = table["anchor"] - table["full"]
    return table


def segment_table(audit: NearTieAudit) -> pd.DataFrame:
    """Return the near-tied pairs with the scores of both models, in percentage points.

    Parameters
    ----------
    audit : NearTieAudit

    Returns
    -------
    DataFrame
        One row an eligible pair of the primary band: `model_a`, `model_b`, `half`,
        `reversed`, `full_a`, `full_b`, `anchor_a`, `anchor_b`.
    """
    table = audit.pairs[["model_a", "model_b", "half", "reversed"]].copy()
    scores = score_table(audit).set_index("model")
    for column in ("full", "anchor"):
        for side in ("a", "b"):
            table[f"{column}_{side}"] = table[f"model_{side}"].map(scores[column]).astype(float)
    return table


def plot_scores(
    audit: NearTieAudit,
    *,
    half: int,
    kind: Kind = "shift",
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the scores of one half by family, with its near-tied pairs as segments.

    Parameters
    ----------
    audit : NearTieAudit
    half : {0, 1}
        The half that the models belong to.
    kind : {"shift", "score"}
        What stands on the vertical axis: the anchor score minus the full score, which keeps
        near ties apart, or the anchor score itself, which shows the whole ranking.
    legend : bool
        Whether to name families and lines below the axes.
    ax : Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If `kind` is neither of the two.
    """
    if kind not in ("score", "shift"):
        raise ValueError(f"kind must be 'score' or 'shift', got {kind!r}")
    ax = axes_or_new(ax, width=4.4, height=3.9)
    tidy(ax)
    scores = score_table(audit)
    ax.set_title(f"models of half {half}", loc="left")
    ax.set_xlabel("full score (%)")
    ax.set_ylabel("anchor minus full score (points)" if kind == "shift" else "anchor score (%)")
    inside = scores[scores["half"] == half]
    if inside.empty:
        empty(ax, "This half holds no representative.")
        return ax
    _draw_equality(ax, inside, kind)
    _draw_segments(ax, segment_table(audit).query("half == @half"), kind)
    styles = family_styles(scores["family"])
    for family, look in _looks(styles).items():
        chosen = inside[inside["family"] == family]
        ax.plot(chosen["full"], chosen["shift" if kind == "shift" else "anchor"], zorder=3, **look)
    if legend:
        _draw_legend(ax, styles)
    return ax


def _draw_equality(ax: Axes, scores: pd.DataFrame, kind: Kind) -> None:
    if kind == "shift":
        ax.axhline(0, color=GREY, lw=0.8, zorder=1)
        return
    low = min(scores["full"].min(), scores["anchor"].min())
    high = max(scores["full"].max(), scores["anchor"].max())
    ax.plot([low, high], [low, high], color=GREY, lw=0.8, zorder=1)
    ax.set_box_aspect(1)


def _draw_segments(ax: Axes, pairs: pd.DataFrame, kind: Kind) -> None:
    from matplotlib.collections import LineCollection

    height = {side: pairs[f"anchor_{side}"] for side in ("a", "b")}
    if kind == "shift":
        height = {side: height[side] - pairs[f"full_{side}"] for side in ("a", "b")}
    # Thousands of opaque segments would be one blot.
    opacity = min(0.9, max(0.12, 120 / max(1, len(pairs))))
    for is_reversed, colour, width in ((0, _KEPT, 0.8), (1, VERMILION, 1.0)):
        chosen = pairs["reversed"].astype(int) == is_reversed
        ends = zip(
            pairs.loc[chosen, "full_a"],
            height["a"][chosen],
            pairs.loc[chosen, "full_b"],
            height["b"][chosen],
            strict=True,
        )
        lines = [[(xa, ya), (xb, yb)] for xa, ya, xb, yb in ends]
        ax.add_collection(
            LineCollection(
                lines,
                colors=colour,
                linewidths=width,
                alpha=opacity,
                zorder=2,
                rasterized=len(pairs) > MOST_VECTOR_MARKS,
            )
        )


def _looks(styles: dict[str, tuple[str, str]]) -> dict[str, dict[str, Any]]:
    # A diamond of the same size looks larger than the other markers.
    return {
        family: {
            "color": colour,
            "linestyle": "",
            "marker": marker,
            "markersize": 3.8 if marker == "D" else 4.8,
            "markeredgecolor": "white",
            "markeredgewidth": 0.4,
        }
        for family, (colour, marker) in styles.items()
    }


def _draw_legend(ax: Axes, styles: dict[str, tuple[str, str]]) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], **look) for look in _looks(styles).values()]
    handles.append(Line2D([], [], color=_KEPT, lw=1.2))
    handles.append(Line2D([], [], color=VERMILION, lw=1.4))
    names = [*styles, "near tie, order kept", "near tie, reversed"]
    # Placeholders first: a family's name may begin with an underscore, which hides an entry,
    # or hold dollar signs, which would be read as mathematics.
    legend = ax.legend(
        handles,
        [str(i) for i in range(len(handles))],
        frameon=False,
        fontsize=8,
        labelcolor=INK,
        ncols=3 if max(map(len, styles), default=0) <= 16 else 2,
        loc="upper left",
        bbox_to_anchor=(-0.02, -0.17),
        borderaxespad=0,
        handletextpad=0.4,
        columnspacing=1.0,
    )
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(name if len(name) <= 24 else name[:23] + "…")
