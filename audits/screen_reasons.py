"""Why an item is on the review list, in words."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

import pandas as pd

#: Classes of items, in the order in which they are reported.
SOLVED_BY_NOBODY: Final = "solved by nobody"
SOLVED_BY_EVERYBODY: Final = "solved by everybody"
SAME_SCORE: Final = "same score for all"
NO_ANSWER: Final = "no answer"
NO_PARTNER: Final = "no partner"
RANKED: Final = "ranked"
DEGENERATE: Final = (SOLVED_BY_NOBODY, SAME_SCORE, NO_ANSWER, NO_PARTNER, SOLVED_BY_EVERYBODY)

FEWEST_IN_SOURCE: Final = 5


def classify(table: pd.DataFrame, *, binary: bool) -> pd.Series:
    """Return the class of each item: ranked, or why it has no coefficient.

    Parameters
    ----------
    table : DataFrame
        `n_models`, `accuracy`, `n_pairs`, `varies`.
    binary : bool
        Whether answers are right/wrong.

    Returns
    -------
    Series of str
    """
    kinds = []
    for row in table.to_dict("records"):
        if row["n_models"] == 0:
            kinds.append(NO_ANSWER)
        elif not row["varies"] and not binary:
            kinds.append(SAME_SCORE)
        elif not row["varies"]:
            kinds.append(SOLVED_BY_EVERYBODY if row["accuracy"] == 1 else SOLVED_BY_NOBODY)
        else:
            kinds.append(RANKED if row["n_pairs"] > 0 else NO_PARTNER)
    return pd.Series(kinds, index=table.index, name="kind", dtype="str")


def reasons(table: pd.DataFrame) -> pd.Series:
    """Return what is suspicious about each item, in words; blank where nothing is.

    Parameters
    ----------
    table : DataFrame
        `kind`, `n_models`, `n_pairs`, `n_negative`, `signed_isotonic_r2`; `null_low` and
        `null_high`, NaN without a null; `own_source`, `other_sources` and `n_own_source`, the
        mean coefficient with partners of the item's own source and of the others, NaN without.

    Returns
    -------
    Series of str
    """
    words = [
        _ranked(row) if row["kind"] == RANKED else _degenerate(row)
        for row in table.to_dict("records")
    ]
    return pd.Series(words, index=table.index, name="reason", dtype="str")


def _degenerate(row: Mapping[Hashable, Any]) -> str:
    models = f"{row['n_models']} model" + ("s" if row["n_models"] != 1 else "")
    return {
        SOLVED_BY_NOBODY: f"solved by nobody ({models}): nothing to compare; check its key",
        SOLVED_BY_EVERYBODY: f"solved by everybody ({models}): nothing to compare",
        SAME_SCORE: f"the same score for all {models}: nothing to compare",
        NO_ANSWER: "no model answered it",
        NO_PARTNER: "varies, but no other item varies over the models that answered both",
    }[row["kind"]]


def _ranked(row: Mapping[Hashable, Any]) -> str:
    value, low, high = row["signed_isotonic_r2"], row["null_low"], row["null_high"]
    parts = []
    if 2 * row["n_negative"] > row["n_pairs"]:
        parts.append(f"negative with {row['n_negative']} of {row['n_pairs']} items")
    elif value < 0:
        parts.append(f"negative on average ({value:.4f})")
    if value < low:
        parts.append(f"lower than shuffled answers get ({low:.4f})")
    elif low <= value <= high:
        reach = f"reach {high:.4f}" if value >= 0 else f"go down to {low:.4f}"
        parts.append(f"flat: {value:.4f}, and shuffled answers {reach}")
    own, others = row["own_source"], row["other_sources"]
    if row["n_own_source"] >= FEWEST_IN_SOURCE and own < 0 <= others:
        parts.append(f"contradicts its source: {own:.4f} within it, {others:.4f} with the others")
    return "; ".join(parts)
