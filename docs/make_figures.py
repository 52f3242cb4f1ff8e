"""Draw the figures of README and documentation from the bundled example.

`python docs/make_figures.py` audits the example as `neartie demo` does and writes `docs/images/`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from neartie.audits.near_tie import audit_near_ties
from neartie.audits.result import NearTieAudit
from neartie.data.example import load_example
from neartie.report import figures
from neartie.report.style import house_style

IMAGES = Path(__file__).resolve().parent / "images"
SEED = 0  # that of `neartie demo`
DPI = 130


def panels(audit: NearTieAudit) -> dict[str, tuple[Callable[..., Axes], ...]]:
    """Return what stands side by side in every image."""
    return {
        "near_ties": (partial(figures.plot_random, audit), partial(figures.plot_excess, audit)),
        "scores": tuple(partial(figures.plot_scores, audit, half=half) for half in (0, 1)),
        "dimension": tuple(partial(figures.plot_dimension, audit, half=half) for half in (0, 1)),
        "dif": tuple(partial(figures.plot_dif, audit, half=half) for half in (0, 1)),
    }


def draw(path: Path, parts: Sequence[Callable[..., Axes]], *, width: float, height: float) -> None:
    """Draw the parts side by side; width and height in inches."""
    with house_style():
        figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(wspace=0.06))
        FigureCanvasAgg(figure)
        for part, axes in zip(parts, figure.subplots(1, len(parts)), strict=True):
            part(ax=axes)
        # Without the program's name, the same picture gives the same bytes.
        figure.savefig(path, dpi=DPI, metadata={"Software": None})


def main(arguments: Sequence[str] | None = None) -> None:
    """Audit the example and write its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=IMAGES)
    folder = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    audit = audit_near_ties(load_example(), rng=SEED)
    for name, parts in panels(audit).items():
        path = folder / f"{name}.png"
        draw(path, parts, width=9.6, height=4.1 if name == "scores" else 3.3)
        print(f"{path} ({path.stat().st_size:,} bytes)")


if __name__ == "__main__":
    main()
