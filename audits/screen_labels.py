"""What known bad items say about a screen: AUC, precision, and what no screen can rank."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.auc import area_under_curve, auc_table, precision_at
from neartie.audits.screen_statistics import STATISTICS, suspicion
from neartie.data.errors import DataError

FIRST: Final = (10, 20, 50, 100)
_VALUES: Final = {"1": 1.0, "1.0": 1.0, "true": 1.0, "0": 0.0, "0.0": 0.0, "false": 0.0}


def bad_labels(items: pd.DataFrame) -> NDArray[np.float64] | None:
    """Return which items are known to be bad, or None without a column `is_bad`.

    Parameters
    ----------
    items : DataFrame
        `item` and perhaps `is_bad`: 1, 0, true, false, or blank for unknown.

    Returns
    -------
    (n_item,) float in {0, 1, NaN} or None
        None also if no item has a label.

    Raises
    ------
    DataError
        If a label is something else; names the item.

    Examples
    --------
    >>> bad_labels(pd.DataFrame({"item": ["q1", "q2", "q3"], "is_bad": ["1", "False", ""]}))
    array([ 1.,  0., nan])
    """
    if "is_bad" not in items.columns:
        return None
    labels = np.full(len(items), np.nan)
    for i, (item, value) in enumerate(zip(items["item"], items["is_bad"], strict=True)):
        text = "" if pd.isna(value) else str(value).strip().lower()
        if text and text not in _VALUES:
            raise DataError(
                f"item {item!r} has is_bad = {value!r} in the item table: 1, 0 or blank is meant"
            )
        labels[i] = _VALUES.get(text, np.nan)
    return None if np.isnan(labels).all() else labels


def judge(table: pd.DataFrame, *, level: float = 0.95) -> pd.DataFrame:
    """Return the AUC of every statistic that the table has.

    Parameters
    ----------
    table : DataFrame
        `is_bad`, columns out of `STATISTICS`, perhaps `source`.
    level : float in (0, 1)
        Of the intervals.

    Returns
    -------
    DataFrame
        `statistic, n_bad, n_good, auc, low, high, auc_within, reason`. `auc_within` is the mean
        over sources, each weighted by its number of pairs of a bad and a good item: what is
        left when differences between sources do not count. Missing for a single source.
    """
    turned = suspicion(table)
    turned = turned[[name for name in STATISTICS if name in turned and turned[name].notna().any()]]
    found = auc_table(turned, table["is_bad"], level=level)
    within = [_within(turned[name], table) for name in found["statistic"]]
    found.insert(6, "auc_within", np.array(within, dtype=np.float64))
    return found


def precision_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return how many of the first k items of the list are bad.

    Parameters
    ----------
    table : DataFrame
        `is_bad`, `signed_isotonic_r2`.

    Returns
    -------
    DataFrame
        `k` (10, 20, 50, 100, and the number of bad items, as far as the list goes), `n_bad`
        found (a mean over orders where items tie), `precision`, `chance`.
    """
    known = table["is_bad"].notna() & table["signed_isotonic_r2"].notna()
    score = -table["signed_isotonic_r2"].to_numpy()[known]
    label = table["is_bad"].to_numpy()[known]
    n_bad = int(label.sum())
    rows = []
    for k in sorted({k for k in (*FIRST, n_bad) if 0 < k <= len(score)}):
        share = precision_at(score, label, k=k)
        rows.append({"k": k, "n_bad": k * share, "precision": share, "chance": n_bad / len(score)})
    return pd.DataFrame(rows, columns=["k", "n_bad", "precision", "chance"])


def labelled_kinds(table: pd.DataFrame) -> pd.DataFrame:
    """Return how many labelled items there are of each class, and how many of them are bad.

    Parameters
    ----------
    table : DataFrame
        `kind`, `is_bad`.

    Returns
    -------
    DataFrame
        `kind`, `n_items`, `n_bad`, ranked items first.
    """
    known = table[table["is_bad"].notna()]
    counts = known.groupby("kind", sort=False)["is_bad"].agg(["size", "sum"]).astype(int)
    return counts.rename(columns={"size": "n_items", "sum": "n_bad"}).reset_index()


def _within(score: pd.Series, table: pd.DataFrame) -> float:
    if "source" not in table or table["source"].nunique() < 2:
        return float("nan")
    total, weight = 0.0, 0
    for _, members in table.groupby("source", sort=False):
        found = area_under_curve(score.loc[members.index], members["is_bad"])
        pairs = found.n_bad * found.n_good
        if pairs:
            total, weight = total + pairs * found.auc, weight + pairs
    return total / weight if weight else float("nan")
