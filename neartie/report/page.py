"""What every report shares: one HTML page that works offline, with tables and drawn panels.

A report is a template that extends `page.html` and takes its tables, panels and caveats from the
macros in `parts.html`; a module beside this one gathers what stands in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup, escape

from neartie.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WARNINGS_FIRST: Final = 4
# Symbols in our own words; text from data never passes through this table.
_SYMBOLS: Final = (
    (r"τ_b", "<i>τ</i><sub><i>b</i></sub>"),
    (r"p_rand", "<i>p</i><sub>rand</sub>"),
    (r"p_perm", "<i>p</i><sub>perm</sub>"),
    (r"\bp = ", "<i>p</i>\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"),
    (r"^p$|\bp(?= (?:is|at most|values|takes|cannot)\b)|(?<=one-sided )p\b", "<i>p</i>"),
    (r"\bK\b", "<i>K</i>"),
    (r"(?<=Close )n\b", "<i>n</i>"),
)
# Where an id may be broken: after a separator, but not at the point within a number.
_SEPARATORS: Final = re.compile(r"(?!(?<=\d)\.\d)([/_.:|-]+)(?=[^/_.:|-])")


def render_page(template: str, content: Mapping[str, Any]) -> str:
    """Return a report as one HTML page without scripts or links to other files.

    Parameters
    ----------
    template : str
        File in `templates`, which extends `page.html`.
    content : mapping
        What the template names. `page.html` wants `title` (str), `facts` (texts under it),
        `warnings` (texts, worst first); every other name is the template's own, and one that is
        missing is an error.

    Returns
    -------
    str
        The same content gives the same text. Text is escaped wherever it stands.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("neartie.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["symbols"] = with_symbols
    environment.filters["breakable"] = breakable
    content = {"n_warnings_first": WARNINGS_FIRST, **content}
    return environment.get_template(template).render(content)


def panel(draw: Callable[..., Axes], *, size: tuple[float, float], label: str, salt: str) -> Markup:
    """Return one drawing as an SVG element in the house style.

    Parameters
    ----------
    draw : callable
        Called with `ax=`.
    size : (float, float), inches
        Width and height.
    label : str
        What a screen reader says.
    salt : str
        Makes the ids of this drawing differ from those of others on the page.

    Returns
    -------
    Markup
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with style.house_style():
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        draw(ax=figure.add_subplot())
        # Matplotlib escapes the text that it writes; `style.svg` escapes the label.
        return Markup(style.svg(figure, label=label, salt=salt))


def with_symbols(text: str) -> Markup:
    r"""Return our own words with their symbols set as mathematics.

    Examples
    --------
    >>> str(with_symbols("p = .03 at K"))
    '<i>p</i>\xa0=\xa0.03 at <i>K</i>'
    """
    marked = str(escape(text))
    for pattern, markup in _SYMBOLS:
        marked = re.sub(pattern, markup, marked)
    return Markup(marked)


def breakable(text: str) -> Markup:
    """Return a long name that a line may break after its separators, never inside a number.

    Examples
    --------
    >>> str(breakable("org/model-7b_v0.1"))
    'org/<wbr>model-<wbr>7b_<wbr>v0.1'
    """
    pieces = _SEPARATORS.sub("\\1\0", str(text)).split("\0")
    return Markup("<wbr>").join(escape(piece) for piece in pieces)
