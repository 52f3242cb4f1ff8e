"""Tables of who decides: the items and sources that carry the gap of a pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd

from neartie.audits.rank_deciders import GapDeciders
from neartie.report.formatting import count, percent, signed
from neartie.report.rank_tables import probability
from neartie.report.table import Column, Table

MOST_ITEMS: Final = 10


def item_frame(deciders: Sequence[GapDeciders]) -> pd.DataFrame:
    """Return the items of all pairs below each other, with the pair first.

    Parameters
    ----------
    deciders : sequence of GapDeciders

    Returns
    -------
    DataFrame
        `model_a`, `model_b`, and the columns of `GapDeciders.items`.
    """
    return _stacked(deciders, "items")


def source_frame(deciders: Sequence[GapDeciders]) -> pd.DataFrame:
    """Return the sources of all pairs below each other, with the pair first."""
    return _stacked(deciders, "sources")


def decider_table(found: GapDeciders) -> Table:
    """Return the items that speak for the leader of a pair most.

    Parameters
    ----------
    found : GapDeciders

    Returns
    -------
    Table
    """
    columns = (
        Column(head="Item", numeric=False, long=True),
        Column(head="Source", numeric=False),
        Column(head="Its part of the gap, points"),
        Column(head="P(favours the first)"),
        Column(head="Gap without it and those above"),
    )
    rows = tuple(
        (
            row["item"],
            row["source"],
            signed(100 * row["gap"], digits=3),
            probability(row["p_favours_a"]),
            signed(100 * row["gap_left"], digits=2),
        )
        for row in found.items.head(MOST_ITEMS).to_dict("records")
    )
    return Table(caption=f"{found.model_a} and {found.model_b}", columns=columns, rows=rows)


def decider_sentence(found: GapDeciders) -> str:
    """Return what the gap of a pair rests on, in a sentence."""
    below = max(len(found.items) - MOST_ITEMS, 0)
    more = f" {count(below)} more items are in deciders.csv." if below else ""
    if found.gap == 0:
        return f"{found.model_a} and {found.model_b} have equal scores.{more}"
    leader, other = (
        (found.model_a, found.model_b) if found.gap > 0 else (found.model_b, found.model_a)
    )
    share = percent(found.n_to_flip / found.n_items)
    chance = found.p_above if found.gap > 0 else 1 - found.p_above
    return (
        f"{leader} is {signed(100 * abs(found.gap), digits=2)} points ahead of {other} "
        f"(probability {probability(chance)}). It rests on {count(found.n_to_flip)} of "
        f"{count(found.n_items)} items ({share}%): without those that speak for it most, the order "
        f"turns around.{more}"
    )


def _stacked(deciders: Sequence[GapDeciders], name: str) -> pd.DataFrame:
    parts = []
    for found in deciders:
        part = getattr(found, name).copy()
        part.insert(0, "model_a", found.model_a)
        part.insert(1, "model_b", found.model_b)
        parts.append(part)
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
