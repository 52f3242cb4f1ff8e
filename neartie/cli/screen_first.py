"""`neartie audit --screen`: the item screen before a near-tie audit, and its anchors in that light."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neartie.audits.result import NearTieAudit
    from neartie.audits.screen_result import ItemScreen
    from neartie.data.responses import Responses


class ScreenFirst(StrEnum):
    """Whether items are screened before an audit, and what follows from it."""

    no = "no"
    report = "report"
    drop = "drop"


def screen_first(data: Responses, *, drop: bool, seed: int) -> tuple[Responses, ItemScreen]:
    """Return the responses to audit, and the screen of all their items.

    Parameters
    ----------
    data : Responses
    drop : bool
        Leave out the items with a negative coefficient; a notice says how many.
    seed : int

    Returns
    -------
    Responses
    ItemScreen
    """
    import numpy as np

    from neartie.audits.screen import ScreenSettings, screen_items
    from neartie.audits.screen_anchors import items_against_the_others

    screen = screen_items(data, ScreenSettings(statistics="fast"), rng=seed)
    gone = set(items_against_the_others(screen)) if drop else set()
    if gone:
        kept = data.take(items=np.array([item not in gone for item in data.item_ids]))
        notice = (
            f"The screen left out {len(gone)} of {data.n_item} items before the audit, because "
            "they go against the others. It saw the same answers as the audit."
        )
        data = replace(kept, notices=(*kept.notices, notice))
    return data, screen


def write_anchor_screen(audit: NearTieAudit, screen: ItemScreen, folder: Path) -> tuple[str, ...]:
    """Write the screen and the table of questioned anchors; return the table in sentences.

    Parameters
    ----------
    audit : NearTieAudit
    screen : ItemScreen
        Of all items that the audit has.
    folder : Path
        Gets `screen.csv` and `screened_anchors.csv`.

    Returns
    -------
    tuple of str
    """
    from neartie.audits.screen_anchors import screened_anchor_sentences, screened_anchors
    from neartie.data.files import write_csv_atomic

    table = screened_anchors(audit, screen)
    write_csv_atomic(screen.table, folder / "screen.csv")
    write_csv_atomic(table, folder / "screened_anchors.csv")
    return screened_anchor_sentences(table)
