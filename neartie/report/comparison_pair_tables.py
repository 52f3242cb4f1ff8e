"""The near ties of a comparison by name, as tables of text."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from neartie.audits.comparison import Comparison
from neartie.audits.comparison_claim import rung_words
from neartie.audits.comparison_pairs import CONTRADICTS, OPEN, read_pairs
from neartie.audits.comparison_settings import PLUG_IN
from neartie.report.comparison_tables import whole, without
from neartie.report.comparison_words import headline_words, top_rung
from neartie.report.formatting import correlation, count, decimal, is_missing
from neartie.report.table import Column, Table

MOST_PAIRS: Final = 25
PAIRS_ON_A_PAGE: Final = 12


def shown_pairs(compared: Comparison) -> pd.DataFrame:
    """Return the near ties of `read_pairs`, each with the model first that is ahead on all items."""
    table = read_pairs(compared)
    behind = table["gap_full"] < 0
    swapped = table.assign(
        model_a=table["model_b"],
        model_b=table["model_a"],
        gap_full=-table["gap_full"],
        a_above_b_full=1 - table["a_above_b_full"],
        a_above_b_anchor=1 - table["a_above_b_anchor"],
    )
    return table.where(~behind, swapped, axis=0)


def pair_table(compared: Comparison, *, narrow: bool = False) -> Table | None:
    """Return the pairs that need a second look; None without a rung beside the plug-in.

    Parameters
    ----------
    compared : Comparison
    narrow : bool
        For a page: fewer, without half and gap.

    Returns
    -------
    Table or None
    """
    table = shown_pairs(compared)
    if table.empty:
        return None
    rows = table.head(PAIRS_ON_A_PAGE if narrow else MOST_PAIRS).to_dict("records")
    made = Table(
        caption=f"Near ties by {rung_words(top_rung(compared) or PLUG_IN)}",
        note=(
            f"The first model is ahead on all items. {'' if narrow else 'Gap: in points. '}Plug-in: "
            "whether the audit's anchors turn them around. P(reversal), and that the first is above "
            f"the second: in {headline_words(compared)}. A small P(reversal) says that the order is "
            "the same on both, not which one it is."
            f"{'' if narrow else ' Marked: it contradicts the plug-in.'}"
        ),
        columns=(
            Column(head="model", numeric=False, long=True),
            Column(head="above", numeric=False, long=True),
            Column(head="half"),
            Column(head="gap"),
            Column(head="plug-in", numeric=False),
            Column(head="P(reversal)"),
            Column(head="P(above), all items"),
            Column(head="P(above), anchors"),
            Column(head="reading", numeric=False),
        ),
        rows=tuple(
            (
                row["model_a"],
                row["model_b"],
                count(row["half"]),
                decimal(100 * row["gap_full"], digits=2),
                _verdict(row["plugin_reversed"]),
                correlation(row["reversal"]),
                correlation(row["a_above_b_full"]),
                correlation(row["a_above_b_anchor"]),
                whole(row["reading"]),
            )
            for row in rows
        ),
        marked=tuple(place for place, row in enumerate(rows) if row["reading"] == CONTRADICTS),
    )
    return without(made, "half", "gap") if narrow else made


def pair_counts(compared: Comparison) -> str:
    """Return how many near ties the highest rung decides, in a sentence."""
    table = read_pairs(compared)
    if table.empty:
        return ""
    n = table["reading"].value_counts().to_dict()
    against = n.get(CONTRADICTS, 0)
    sure = len(table) - n.get(OPEN, 0) - against
    rung = rung_words(top_rung(compared) or PLUG_IN)
    likelier = (table["reversal"] > 0.5) & (table["plugin_reversed"] == 0)
    likelier |= (table["reversal"] < 0.5) & (table["plugin_reversed"] == 1)
    return (
        f"Of {count(len(table))} near ties {rung} contradicts the plug-in on {count(against)} (with a "
        f"probability of at least .95 for the opposite), is as sure of {count(sure)} more, and "
        f"leaves {count(n.get(OPEN, 0))} open. On {count(int(likelier.sum()))} its likelier verdict is not "
        "the plug-in's."
    )


def _verdict(plug_in: Any) -> str:
    if is_missing(plug_in):
        return "ties"
    return "reverses" if plug_in else "keeps"
