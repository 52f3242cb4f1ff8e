"""Tables of a ranking as text in cells."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd

from neartie.audits.rank_result import ModelRanking
from neartie.report.formatting import MISSING, count, decimal, is_missing, percent, signed
from neartie.report.table import Column, Table
from neartie.report.tables import EN_DASH

MOST_ROWS: Final = 300
MOST_PAIRS: Final = 40
MOST_IN_A_TIER: Final = 12


def probability(value: Any) -> str:
    """Return a probability with two digits, never as 0 or 1, which no data can give.

    Parameters
    ----------
    value : float in [0, 1], probability, or missing

    Returns
    -------
    str

    Examples
    --------
    >>> probability(0.934), probability(0.9999), probability(0.0)
    ('.93', '>.99', '<.01')
    """
    if is_missing(value):
        return MISSING
    number = float(value)
    if number < 0.005:
        return "<.01"
    return ">.99" if number >= 0.995 else f"{number:.2f}".lstrip("0")


def span_of(low: Any, high: Any) -> str:
    """Return a range of ranks.

    Examples
    --------
    >>> span_of(2, 11), span_of(1, 1)
    ('2–11', '1')
    """
    return count(low) if low == high else f"{count(low)}{EN_DASH}{count(high)}"


def digits_of(ranking: ModelRanking) -> int:
    """Return how many digits behind the point show two figures of a typical interval's half."""
    half = float(((ranking.ranks["high"] - ranking.ranks["low"]) / 2).median())
    if not np.isfinite(half) or half <= 0:
        return 3
    return int(np.clip(1 - np.floor(np.log10(half)), 0, 6))


def ranks(ranking: ModelRanking, *, most: int = MOST_ROWS) -> tuple[Table, int]:
    """Return the ranking, and how many models it leaves out.

    Parameters
    ----------
    ranking : ModelRanking
    most : int
        Rows at most.

    Returns
    -------
    Table
    int
    """
    several = ranking.n_components > 1
    level = f"{percent(ranking.level, digits=0)}%"
    columns = [Column(head="Set")] if several else []
    columns += [
        Column(head="Tier"),
        Column(head="Model", numeric=False, long=True),
        Column(head=ranking.label.replace("_", " ").capitalize()),
        Column(head=f"{level} interval"),
        Column(head="Rank"),
        Column(head="Alone"),
        Column(head="All at once"),
        Column(head="P(best)"),
        Column(head=f"P(top {ranking.top})"),
    ]
    digits = digits_of(ranking)
    rows = []
    for row in ranking.ranks.head(most).to_dict("records"):
        interval = f"{decimal(row['low'], digits=digits)} to {decimal(row['high'], digits=digits)}"
        cells = [count(row["component"] + 1)] if several else []
        cells += [
            count(row["tier"]),
            str(row["model"]),
            decimal(row["estimate"], digits=digits),
            interval,
            count(row["rank"]),
            span_of(row["rank_low"], row["rank_high"]),
            span_of(row["rank_set_low"], row["rank_set_high"]),
            probability(row["p_best"]),
            probability(row[ranking.top_column]),
        ]
        rows.append(tuple(cells))
    table = Table(
        caption="Ranks",
        columns=tuple(columns),
        rows=tuple(rows),
        note="Intervals of scores are about the mean of the models compared. Ranks: that of the "
        f"estimate, its {level} interval by itself, and the {level} set that holds for all models "
        "at once.",
    )
    return table, max(0, ranking.n_models - most)


def tier_table(ranking: ModelRanking) -> Table:
    """Return the tiers with their members."""
    several = ranking.n_components > 1
    columns = [Column(head="Set")] if several else []
    columns += [
        Column(head="Tier"),
        Column(head="Models"),
        Column(head="Members, best first", numeric=False, long=True),
    ]
    rows = []
    for _, group in ranking.ranks.groupby(["component", "tier"], sort=True):
        names = group["model"].tolist()
        first = group.iloc[0].to_dict()
        text = ", ".join(names[:MOST_IN_A_TIER])
        if len(names) > MOST_IN_A_TIER:
            text += f" and {count(len(names) - MOST_IN_A_TIER)} more"
        cells = [count(first["component"] + 1)] if several else []
        rows.append((*cells, count(first["tier"]), count(len(names)), text))
    return Table(
        caption="Tiers",
        columns=tuple(columns),
        rows=tuple(rows),
        note="A new tier begins with the first model that is surely below the best of the tier "
        "before, by the intervals that hold for all pairs at once.",
    )


def close_pairs(
    ranking: ModelRanking, needs: pd.DataFrame | None = None, *, most: int = MOST_PAIRS
) -> tuple[Table, int]:
    """Return neighbours in the ranking, and how many more there are.

    Parameters
    ----------
    ranking : ModelRanking
    needs : DataFrame, optional
        From `what_would_it_take` for neighbours; its `n_resolves` makes a column.
    most : int
        Rows at most.

    Returns
    -------
    Table
    int
    """
    place = {name: row for row, name in enumerate(ranking.ranks["model"])}
    pairs = ranking.pairs[ranking.pairs["identified"] == 1]
    # As numbers, also where there is no pair.
    gap = pairs["model_b"].map(place).astype(float) - pairs["model_a"].map(place).astype(float)
    pairs = pairs[gap == 1]
    level = f"{percent(ranking.level, digits=0)}%"
    columns = [
        Column(head="Ahead", numeric=False, long=True),
        Column(head="Behind", numeric=False, long=True),
        Column(head="Difference"),
        Column(head=f"{level} interval"),
        Column(head="P(above)"),
        Column(head="Resolved", numeric=False),
    ]
    resolves: dict[tuple[str, str], float] = {}
    if needs is not None:
        columns.append(Column(head="It would take"))
        for row in needs.to_dict("records"):
            resolves[row["model_a"], row["model_b"]] = row["n_resolves"]
    digits = digits_of(ranking)
    rows = []
    for row in pairs.head(most).to_dict("records"):
        state = "all at once" if row["resolved_jointly"] else "alone" if row["resolved"] else "no"
        cells = [
            str(row["model_a"]),
            str(row["model_b"]),
            signed(row["difference"], digits=digits),
            f"{decimal(row['low'], digits=digits)} to {decimal(row['high'], digits=digits)}",
            probability(row["p_above"]),
            state,
        ]
        if needs is not None:
            cells.append(_needed(resolves.get((row["model_a"], row["model_b"]), np.nan)))
        rows.append(tuple(cells))
    note = "Resolved: whether the interval leaves zero out, by itself or for all pairs at once."
    if needs is not None:
        note += (
            " It would take: further items or battles that resolve the pair by itself, if the "
            "difference stays what it is."
        )
    table = Table(
        caption="Neighbours in the list", columns=tuple(columns), rows=tuple(rows), note=note
    )
    return table, max(0, len(pairs) - most)


def settings(ranking: ModelRanking) -> Table:
    """Return every choice that made the numbers."""
    chosen = {"ranked by": ranking.label, "from": ranking.kind, **ranking.settings}
    chosen |= {"seed": ranking.seed, "joint critical value": f"{ranking.critical:.4f}"}
    rows = tuple((str(name).replace("_", " "), str(value)) for name, value in chosen.items())
    columns = (Column(head="Setting", numeric=False), Column(head="Value", numeric=False))
    return Table(caption="Settings", columns=columns, rows=rows)


def _needed(number: float) -> str:
    """Return how many units would resolve a pair, no finer than it can be known.

    Examples
    --------
    >>> _needed(93.0), _needed(131511.0), _needed(48102801.0)
    ('93', '130,000', 'over a million')
    """
    if is_missing(number) or np.isinf(number):
        return MISSING
    if number > 1e6:
        return "over a million"
    # Two figures are more than such a forecast has.
    return count(number if number < 100 else float(f"{number:.1e}"))
