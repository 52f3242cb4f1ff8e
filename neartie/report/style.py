"""One look for all figures: palette, type, axes, and SVG text that can stand inside a page."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any

from neartie.data.labels import natural_key

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#1f2933"
GREY = "#6b7680"
PALE = "#d5dbe1"
BLUE = "#0072b2"
VERMILION = "#d55e00"
DARK_VERMILION = "#a84600"

# Beyond this many marks of a kind they are drawn as an image, or a page would take megabytes.
MOST_VECTOR_MARKS = 1500

# Okabe and Ito's colours, which stay apart under the common kinds of colour blindness; their
# vermilion is kept for reversals and their yellow, too pale on white, is left out.
_KNOWN_FAMILIES = {
    "Qwen": ("#0072b2", "o"),
    "Llama": ("#e69f00", "s"),
    "Gemma": ("#009e73", "^"),
    "Mistral/Mixtral": ("#cc79a7", "D"),
    "Phi": ("#56b4e9", "v"),
}
_FURTHER = (
    ("#5e3c99", "P"),
    ("#8c6d31", "X"),
    ("#4d4d4d", "p"),
    ("#0072b2", "h"),
    ("#e69f00", "d"),
    ("#009e73", "<"),
    ("#cc79a7", ">"),
    ("#56b4e9", "*"),
)

# `Any`: the stubs know each key by name, and a module constant is a plain dictionary.
_SETTINGS: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.0,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "svg.fonttype": "none",
    "path.simplify": True,
}


def family_styles(families: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return the colour and marker of each family, the same in every figure.

    Parameters
    ----------
    families : iterable of str

    Returns
    -------
    dict from family to (colour, matplotlib marker)
        In natural order. The five families of P0 always look the same; others take the
        remaining styles in natural order, and begin anew after eight.

    Examples
    --------
    >>> family_styles(["Phi", "Acme"])
    {'Acme': ('#5e3c99', 'P'), 'Phi': ('#56b4e9', 'v')}
    """
    styles = {}
    n_further = 0
    for family in sorted(set(families), key=natural_key):
        if family in _KNOWN_FAMILIES:
            styles[family] = _KNOWN_FAMILIES[family]
        else:
            styles[family] = _FURTHER[n_further % len(_FURTHER)]
            n_further += 1
    return styles


@contextmanager
def house_style() -> Iterator[None]:
    """Draw in the house style, and leave the user's matplotlib settings as they were."""
    import matplotlib as mpl

    with mpl.rc_context(_SETTINGS):
        yield


def axes_or_new(ax: Axes | None, *, width: float, height: float) -> Axes:
    """Return the given axes, or axes of a new pyplot figure of this size in inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def tidy(ax: Axes) -> None:
    """Leave two thin spines, small ticks and dark grey type."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)
    ax.tick_params(color=GREY, labelcolor=INK, length=3)
    for label in (ax.xaxis.label, ax.yaxis.label, ax.title):
        label.set_color(INK)


def empty(ax: Axes, message: str) -> None:
    """Say inside the axes why nothing is drawn."""
    ax.text(
        0.5,
        0.5,
        message,
        transform=ax.transAxes,
        ha="center",
        va="center",
        color=GREY,
        wrap=True,
        parse_math=False,
    )


def svg(figure: Figure, *, label: str, salt: str) -> str:
    """Return a figure as an SVG element to be put into a page.

    Parameters
    ----------
    figure : matplotlib Figure
    label : str
        What a screen reader says.
    salt : str
        Makes the ids of this figure differ from those of others on the page.

    Returns
    -------
    str
        One `svg` element: no dates, no program names, no ids that nothing refers to, no fixed
        size. Text stays text, so that it can be searched, copied and read aloud.
    """
    import matplotlib as mpl

    with mpl.rc_context({**_SETTINGS, "svg.hashsalt": salt}), warnings.catch_warnings():
        # The browser has the glyphs that the measuring font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        buffer = BytesIO()
        no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(buffer, format="svg", dpi=200, metadata=no_metadata)
    text = buffer.getvalue().decode("utf-8")
    text = text[text.index("<svg") :]
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    referenced = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', text))
    text = re.sub(r' id="([^"]*)"', lambda found: found[0] if found[1] in referenced else "", text)
    head, body = text.split(">", 1)
    view_box = re.search(r'viewBox="[^"]*"', head)
    if view_box is None:
        raise RuntimeError("matplotlib wrote an SVG without a viewBox")
    return (
        f'<svg {view_box[0]} role="img" aria-label="{_attribute(label)}" '
        'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
        f"{body.strip()}"
    )


def _attribute(text: str) -> str:
    from html import escape

    return escape(text, quote=True)
