"""What a rung says of every near tie by name: order on the full test and on anchors, and a reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from neartie.audits.comparison_rows import SURE, UNLIKELY
from neartie.audits.comparison_settings import PLUG_IN

if TYPE_CHECKING:
    from neartie.audits.comparison import Comparison

CONTRADICTS: Final = "contradicts"
SURE_REVERSED: Final = "sure to reverse"
SURE_KEPT: Final = "sure to keep"
OPEN: Final = "open"
READINGS: Final = (CONTRADICTS, SURE_REVERSED, SURE_KEPT, OPEN)


def read_pairs(compared: Comparison, rung: str | None = None) -> pd.DataFrame:
    """Return the near ties as a rung sees them, those that need a second look first.

    Parameters
    ----------
    compared : Comparison
    rung : str, optional
        The highest when left out.

    Returns
    -------
    DataFrame
        `model_a`, `model_b`, `half`, `gap_full` (a minus b), `plugin_reversed`, `reversal`
        (probability that the pair reverses, in the headline cell), `a_above_b_full`,
        `a_above_b_anchor` (probabilities that a is above b), `reading`:

        - `contradicts`: the plug-in reverses the pair and the probability is at most .05, or the
          plug-in keeps it and the probability is at least .95;
        - `sure to reverse`, `sure to keep`: the same limits, in agreement with the plug-in, or
          where the plug-in ties;
        - `open`: between the limits, or undefined.

        In this order; within a reading those furthest from the plug-in's verdict first. Empty
        without a rung beside the plug-in.

    Raises
    ------
    ValueError
        If the rung was not run.

    Examples
    --------
    >>> from neartie import AuditSettings, ComparisonSettings, compare, load_example
    >>> quick = AuditSettings(dimension=2, controls=200, bootstraps=0)
    >>> settings = ComparisonSettings(rungs=("residual",), draws=20, subtests=50)
    >>> found = read_pairs(compare(load_example(), settings, audit=quick, rng=1))
    >>> found.columns[-4:].tolist()
    ['reversal', 'a_above_b_full', 'a_above_b_anchor', 'reading']
    """
    others = [name for name in compared.settings.ladder if name != PLUG_IN]
    if rung is None:
        rung = others[-1] if others else PLUG_IN
    if rung not in compared.settings.ladder:
        raise ValueError(f"rung must be one of {', '.join(compared.settings.ladder)}, got {rung!r}")
    own = compared.pair_probabilities
    own = own[own["rung"] == rung]
    anchors, scores = compared.settings.headline
    cell = own[(own["anchors"] == anchors) & (own["scores"] == scores)].reset_index(drop=True)
    pairs = compared.pairs[["model_a", "model_b", "half", "gap_full", "plugin_reversed"]]
    if cell.empty:
        return pairs.head(0).assign(
            reversal=0.0, a_above_b_full=0.0, a_above_b_anchor=0.0, reading=""
        )
    table = pairs.join(cell[["reversal", "a_above_b_full", "a_above_b_anchor"]])
    table["reading"] = _readings(table)
    far = (table["reversal"] - table["plugin_reversed"]).abs().fillna(-1.0)
    order = table.assign(
        place=table["reading"].map(READINGS.index), far=-far, row=np.arange(len(table))
    ).sort_values(["place", "far", "row"])
    return table.loc[order.index].reset_index(drop=True)


def _readings(table: pd.DataFrame) -> list[str]:
    found = []
    for probability, plug_in in zip(table["reversal"], table["plugin_reversed"], strict=True):
        if probability >= SURE:
            found.append(CONTRADICTS if plug_in == 0 else SURE_REVERSED)
        elif probability <= UNLIKELY:
            found.append(CONTRADICTS if plug_in == 1 else SURE_KEPT)
        else:
            found.append(OPEN)
    return found
