"""How often the low-DIF anchors of a near-tie audit are items that a screen would question."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd
from scipy import stats

from neartie.audits.result import NearTieAudit
from neartie.audits.screen_reasons import RANKED
from neartie.audits.screen_result import ItemScreen
from neartie.data.errors import DataError

COLUMNS: Final = (
    "half",
    "anchor",
    "n_items",
    "n_without_coefficient",
    "n_ranked",
    "n_review",
    "n_negative",
    "share_review",
    "mean_fit",
    "odds_ratio",
    "p_value",
)


def items_against_the_others(screen: ItemScreen) -> list[str]:
    """Return the items with a negative coefficient: those that a screened audit leaves out.

    Parameters
    ----------
    screen : ItemScreen

    Returns
    -------
    list of str
        Ids, worst first. Flat items stay: with few models most of them are sound, and what goes
        with nothing cannot favour a family.
    """
    table = screen.table
    return table.loc[table["signed_isotonic_r2"] < 0, "item"].tolist()


def screened_anchors(audit: NearTieAudit, screen: ItemScreen) -> pd.DataFrame:
    """Return how many anchors, and how many other items, the screen questions.

    Parameters
    ----------
    audit : NearTieAudit
    screen : ItemScreen
        Of the same items, of all of them or more.

    Returns
    -------
    DataFrame
        One row a half and kind of item (`anchor` 1 or 0): `n_items`; `n_without_coefficient`,
        items with the same score for all screened models; `n_ranked`; `n_review` of these with a
        reason, `share_review`; `n_negative` with a negative coefficient; `mean_fit` of the ranked
        ones. `odds_ratio` and `p_value` compare the anchors of the half with its other ranked
        items by having a reason (Fisher's exact test, two-sided; missing where a margin is
        zero). Halves share items, so that their tests are not independent.

    Raises
    ------
    DataError
        If the audit has items that the screen lacks.

    Notes
    -----
    Low DIF is no sign of a sound item: an item that measures nothing measures it equally for all
    families. Where anchors hold more suspicious items than the rest does, part of what reverses
    near ties is noise of such items.
    """
    seen = screen.table.set_index("item")
    missing = sorted(set(audit.items["item"]) - set(seen.index))
    if missing:
        raise DataError(
            f"{len(missing)} items of the audit are not in the screen, first {missing[0]!r}"
        )
    joined = audit.items[["item", "half", "anchor"]].join(
        seen[["kind", "signed_isotonic_r2", "reason"]], on="item"
    )
    ranked = joined["kind"] == RANKED
    joined = joined.assign(
        ranked=ranked,
        review=ranked & (joined["reason"] != ""),
        negative=ranked & (joined["signed_isotonic_r2"] < 0),
    )
    rows = []
    for half, members in joined.groupby("half"):
        odds_ratio, p_value = _fisher(members)
        for anchor in (1, 0):
            part = members[members["anchor"] == anchor]
            n_ranked, n_review = int(part["ranked"].sum()), int(part["review"].sum())
            rows.append(
                {
                    "half": half,
                    "anchor": anchor,
                    "n_items": len(part),
                    "n_without_coefficient": len(part) - n_ranked,
                    "n_ranked": n_ranked,
                    "n_review": n_review,
                    "n_negative": int(part["negative"].sum()),
                    "share_review": n_review / n_ranked if n_ranked else np.nan,
                    "mean_fit": part["signed_isotonic_r2"].mean(),
                    "odds_ratio": odds_ratio,
                    "p_value": p_value,
                }
            )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _fisher(members: pd.DataFrame) -> tuple[float, float]:
    ranked = members[members["ranked"]]
    anchor, review = ranked["anchor"] == 1, ranked["review"]
    table = np.array(
        [
            [int((anchor & review).sum()), int((anchor & ~review).sum())],
            [int((~anchor & review).sum()), int((~anchor & ~review).sum())],
        ]
    )
    if (table.sum(axis=0) == 0).any() or (table.sum(axis=1) == 0).any():
        return np.nan, np.nan
    found = stats.fisher_exact(table)
    return float(found.statistic), float(found.pvalue)


def screened_anchor_sentences(table: pd.DataFrame) -> tuple[str, ...]:
    """Return the table of `screened_anchors` in a sentence for each half."""
    sentences = []
    for half, rows in table.groupby("half"):
        anchors, others = (rows[rows["anchor"] == kind].to_dict("records")[0] for kind in (1, 0))
        sentences.append(
            f"Half {half}: the screen questions {anchors['n_review']} of {anchors['n_ranked']} "
            f"ranked anchors and {others['n_review']} of {others['n_ranked']} other items; "
            f"{anchors['n_without_coefficient']} anchors and {others['n_without_coefficient']} "
            "others have no coefficient."
        )
    return tuple(sentences)
