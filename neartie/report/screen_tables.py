"""Tables of the item screen as text in cells."""

from __future__ import annotations

from typing import Final

import pandas as pd

from neartie.audits.screen_reasons import RANKED, SOLVED_BY_EVERYBODY
from neartie.audits.screen_result import ItemScreen
from neartie.report.formatting import correlation, count, decimal, percent
from neartie.report.table import Column, Table

MOST_ROWS: Final = 40


def review_list(screen: ItemScreen, *, most: int = MOST_ROWS) -> tuple[Table, int]:
    """Return the review list, worst first, and how many more items are on it.

    Parameters
    ----------
    screen : ItemScreen
    most : int
        Rows at most.

    Returns
    -------
    Table
    int
    """
    review = screen.review()
    has_source = "source" in review and screen.table["source"].nunique() > 1
    has_label = "is_bad" in review
    columns = [Column(head="Rank"), Column(head="Item", numeric=False, long=True)]
    columns += [Column(head="Source", numeric=False, long=True)] if has_source else []
    columns += [
        Column(head="Mean" if screen_is_graded(screen) else "Right (%)"),
        Column(head="Fit"),
    ]
    columns += [Column(head="Known bad", numeric=False)] if has_label else []
    columns += [Column(head="Evidence", numeric=False), Column(head="Reason", numeric=False)]
    rows = []
    for row in review.head(most).to_dict("records"):
        cells = [count(row["rank"]), str(row["item"])]
        cells += [str(row["source"])] if has_source else []
        mean = row["accuracy"]
        cells += [decimal(mean, digits=2) if screen_is_graded(screen) else percent(mean)]
        cells += [decimal(row["signed_isotonic_r2"], digits=4)]
        cells += [{1.0: "yes", 0.0: "no"}.get(row["is_bad"], "")] if has_label else []
        rows.append((*cells, str(row["strength"]), str(row["reason"])))
    table = Table(
        caption="Items to review, strong evidence first, then worst first",
        columns=tuple(columns),
        rows=tuple(rows),
        note="Fit is the mean signed isotonic R² over the pairs in which both items vary.",
    )
    return table, max(0, len(review) - most)


def screen_is_graded(screen: ItemScreen) -> bool:
    """Return whether the answers are graded, so that a mean is no percentage."""
    return bool(screen.n_ranked) and bool(screen.table["acc"].isna().all())


def without_coefficient(screen: ItemScreen, *, most: int = MOST_ROWS) -> tuple[Table, int]:
    """Return the items without a coefficient, but for those solved by everybody, and the rest.

    Parameters
    ----------
    screen : ItemScreen
    most : int

    Returns
    -------
    Table
    int
        How many more there are.
    """
    left = screen.without_coefficient()
    left = left[left["kind"] != SOLVED_BY_EVERYBODY]
    has_label = "is_bad" in left
    columns = [Column(head="Item", numeric=False, long=True), Column(head="Models")]
    columns += [Column(head="Known bad", numeric=False)] if has_label else []
    columns += [Column(head="Reason", numeric=False)]
    rows = []
    for row in left.head(most).to_dict("records"):
        cells = [str(row["item"]), count(row["n_models"])]
        cells += [{1.0: "yes", 0.0: "no"}.get(row["is_bad"], "")] if has_label else []
        rows.append((*cells, str(row["reason"])))
    table = Table(caption="Items that cannot be ranked", columns=tuple(columns), rows=tuple(rows))
    return table, max(0, len(left) - most)


def kinds(screen: ItemScreen) -> Table:
    """Return how many items there are of each class, and how many of them are known to be bad."""
    columns = [Column(head="Class", numeric=False), Column(head="Items")]
    bad: dict[str, tuple[int, int]] = {}
    if not screen.labelled.empty:
        columns += [Column(head="Labelled"), Column(head="Known bad")]
        bad = {
            row["kind"]: (row["n_items"], row["n_bad"])
            for row in screen.labelled.to_dict("records")
        }
    rows = []
    for kind, number in screen.kinds().items():
        name = "with a coefficient" if kind == RANKED else kind
        extra = tuple(count(n) for n in bad.get(kind, (0, 0))) if bad else ()
        rows.append((name, count(number), *extra))
    return Table(caption="Classes of items", columns=tuple(columns), rows=tuple(rows))


def auc(screen: ItemScreen) -> Table:
    """Return the AUC of every statistic, best first."""
    table = screen.auc.sort_values("auc", ascending=False, kind="stable").reset_index(drop=True)
    within = table["auc_within"].notna().any()
    columns = [Column(head="Statistic", numeric=False), Column(head="AUC")]
    columns += [Column(head="95% interval", numeric=False)]
    columns += [Column(head="Within sources")] if within else []
    columns += [Column(head="Bad"), Column(head="Good")]
    rows = []
    for row in table.to_dict("records"):
        interval = f"{correlation(row['low'])} to {correlation(row['high'])}"
        if pd.isna(row["low"]):
            interval = "none: " + str(row["reason"]).split(":")[0]
        cells = [str(row["statistic"]), correlation(row["auc"]), interval]
        cells += [correlation(row["auc_within"])] if within else []
        rows.append((*cells, count(row["n_bad"]), count(row["n_good"])))
    marked = tuple(table.index[table["statistic"] == "signed_isotonic_r2"])
    return Table(
        caption="How well each statistic finds the known bad items",
        columns=tuple(columns),
        rows=tuple(rows),
        note="Items with a coefficient only. Directions were fixed in advance. The intervals are "
        "DeLong's. Within sources: the mean over sources, weighted by pairs of a bad and a good "
        "item."
        if within
        else "Items with a coefficient only. Directions were fixed in advance. The intervals are "
        "DeLong's.",
        marked=marked,
    )


def precision(screen: ItemScreen) -> Table:
    """Return how many of the first k items of the list are known to be bad."""
    rows = tuple(
        (count(row["k"]), decimal(row["n_bad"], digits=1), percent(row["precision"]), percent(row["chance"]))
        for row in screen.precision.to_dict("records")
    )  # fmt: skip
    heads = ("First", "Known bad", "Share (%)", "By chance (%)")
    return Table(
        caption="Known bad items among the first of the list",
        columns=tuple(Column(head=head) for head in heads),
        rows=rows,
    )


def settings(screen: ItemScreen) -> Table:
    """Return every choice that made the numbers."""
    chosen = {**screen.settings, "seed": screen.seed, "removed items": len(screen.removed)}
    rows = tuple((str(name).replace("_", " "), str(value)) for name, value in chosen.items())
    columns = (Column(head="Setting", numeric=False), Column(head="Value", numeric=False))
    return Table(caption="Settings", columns=columns, rows=rows)
