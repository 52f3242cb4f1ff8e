"""What a reader of an item screen should know first, in sentences."""

from __future__ import annotations

from typing import Final

import pandas as pd

from neartie.audits.screen_reasons import RANKED, SOLVED_BY_EVERYBODY, SOLVED_BY_NOBODY

FEW_MODELS: Final = 30
MANY_NEGATIVE: Final = 0.4
MANY_FLAT: Final = 0.5


def collect_caveats(
    table: pd.DataFrame,
    *,
    n_models: int,
    within: str | None,
    null_exact: bool,
    notes: tuple[str, ...],
    reader_notices: tuple[str, ...],
) -> tuple[str, ...]:
    """Return the caveats of a screen, worst first.

    Parameters
    ----------
    table : DataFrame
        As `ItemScreen.table`.
    n_models : int
    within : str or None
        Column within which items were compared.
    null_exact : bool
        As in `PermutationNull`.
    notes, reader_notices : tuple of str
        Carried along.

    Returns
    -------
    tuple of str
    """
    ranked = table[table["kind"] == RANKED]
    return tuple(
        dict.fromkeys(
            [
                *_structure(ranked, within),
                *_without_coefficient(table),
                *_few_models(n_models),
                *_flat(ranked),
                *_signs(ranked),
                *([] if null_exact else [_SHARED_NULL]),
                *notes,
                *reader_notices,
            ]
        )
    )


_SHARED_NULL = (
    "The null distribution of an item is that of the shuffled item nearest in accuracy, because "
    "shuffling every item would take too long."
)


def _structure(ranked: pd.DataFrame, within: str | None) -> list[str]:
    n_pairs = int(ranked["n_pairs"].sum())
    if n_pairs == 0:
        return ["No pair of items varies together: the screen ranks nothing."]
    share = ranked["n_negative"].sum() / n_pairs
    if share <= MANY_NEGATIVE:
        return []
    advice = "compare items within sources or clusters" if within is None else "use narrower groups"
    text = (
        f"{share:.0%} of the pairs of items are related negatively: the items do not share one "
        f"direction, which the screen takes for granted; {advice}."
    )
    return [text]


def _without_coefficient(table: pd.DataFrame) -> list[str]:
    counts = table["kind"].value_counts()
    nobody, everybody = counts.get(SOLVED_BY_NOBODY, 0), counts.get(SOLVED_BY_EVERYBODY, 0)
    n_left = int((table["kind"] != RANKED).sum())
    if n_left == 0:
        return []
    apart = [f"{nobody} solved by nobody"] if nobody else []
    apart += [f"{everybody} solved by everybody"] if everybody else []
    detail = f": {', '.join(apart)}" if apart else ""
    text = (
        f"{n_left} of {len(table)} items have no coefficient and no rank{detail}. In saturated "
        "benchmarks these are often the bad ones; look at them separately."
    )
    return [text]


def _few_models(n_models: int) -> list[str]:
    if n_models >= FEW_MODELS:
        return []
    return [f"With {n_models} models a coefficient is mostly noise; trust the order loosely."]


def _flat(ranked: pd.DataFrame) -> list[str]:
    if ranked["null_low"].isna().all():
        return []
    flat = ranked["signed_isotonic_r2"].between(ranked["null_low"], ranked["null_high"]).mean()
    if flat <= MANY_FLAT:
        return []
    return [f"{flat:.0%} of the ranked items cannot be told from shuffled answers."]


def _signs(ranked: pd.DataFrame) -> list[str]:
    n_disagree = int(ranked["n_disagree"].sum()) // 2
    if n_disagree == 0:
        return []
    text = (
        f"In {n_disagree} pair(s) of items Kendall's tau has another sign than the better-fitting "
        "direction, which decides."
    )
    return [text]
