"""What a reader of an item screen should know first, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd

from neartie.audits.screen_reasons import (
    DEGENERATE,
    FEWEST_TO_JUDGE,
    RANKED,
    SOLVED_BY_EVERYBODY,
    SOLVED_BY_NOBODY,
)

if TYPE_CHECKING:
    from neartie.audits.screen import ScreenSettings

FEW_MODELS: Final = 30
FEW_ITEMS: Final = 8
MANY_NEGATIVE: Final = 0.4
MANY_FLAT: Final = 0.5
# 2.5 % of fewer shuffles are less than one.
FEWEST_SHUFFLES: Final = 40


def collect_caveats(
    table: pd.DataFrame,
    *,
    n_models: int,
    settings: ScreenSettings,
    n_blank: int,
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
    settings : ScreenSettings
    n_blank : int
        Items without a value in the column within which items were compared.
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
                *_too_few(ranked, settings.within),
                *_structure(ranked, settings.within),
                *_without_coefficient(table),
                *_few_models(n_models),
                *_flat(ranked, settings.level),
                *_few_shuffles(settings.n_null),
                *_blank(n_blank, settings.within),
                *_signs(ranked, settings.direction),
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
    n_left = int((table["kind"] != RANKED).sum())
    if n_left == 0:
        return []
    apart = ", ".join(f"{counts[kind]} {kind}" for kind in DEGENERATE if kind in counts)
    text = f"{n_left} of {len(table)} items have no coefficient and no rank: {apart}."
    if {SOLVED_BY_NOBODY, SOLVED_BY_EVERYBODY} & set(counts.index):
        text += (
            " In saturated benchmarks items that all models solve, or none, are often the bad "
            "ones; look at them separately."
        )
    return [text]


def _few_models(n_models: int) -> list[str]:
    if n_models >= FEW_MODELS:
        return []
    return [f"With {n_models} models a coefficient is mostly noise; trust the order loosely."]


def _too_few(ranked: pd.DataFrame, within: str | None) -> list[str]:
    if not 0 < len(ranked) < FEW_ITEMS or within is not None:
        return []
    judged = (
        "none is called flat, and the order says little"
        if len(ranked) < FEWEST_TO_JUDGE
        else "take reasons and order as hints"
    )
    text = (
        f"There is not enough to judge items by: {len(ranked)} of them have a coefficient, each "
        f"compared with {len(ranked) - 1} other{'s' if len(ranked) > 2 else ''} at most; {judged}."
    )
    return [text]


def _flat(ranked: pd.DataFrame, level: float) -> list[str]:
    if ranked["p_adjusted"].isna().all():
        return []
    flat = (ranked["p_adjusted"] > level).mean()
    if flat <= MANY_FLAT:
        return []
    if flat == 1:
        text = (
            "The ranked items cannot be told from shuffled answers, not one of them: there are too "
            "few models, items or shuffles, or the items do not belong together. So none is called "
            "flat."
        )
        return [text]
    return [f"{flat:.0%} of the ranked items cannot be told from shuffled answers."]


def _few_shuffles(n_null: int) -> list[str]:
    if n_null == 0 or n_null >= FEWEST_SHUFFLES:
        return []
    text = (
        f"The null band rests on {n_null} shuffle{'s' if n_null > 1 else ''}, too few for a band "
        f"that holds 95%: below {FEWEST_SHUFFLES} it is about as wide as they happen to lie."
    )
    return [text]


def _blank(n_blank: int, within: str | None) -> list[str]:
    if n_blank == 0:
        return []
    if n_blank == 1:
        return [f"1 item has no {within!r}, and is compared with no other."]
    return [f"{n_blank} items have no {within!r}, and are compared with each other."]


def _signs(ranked: pd.DataFrame, direction: str) -> list[str]:
    n_disagree, n_pairs = int(ranked["n_disagree"].sum()), int(ranked["n_pairs"].sum())
    if n_disagree == 0:
        return []
    decides = "tau" if direction == "tau" else "the fit"
    text = (
        f"In {n_disagree} of {n_pairs} comparisons of an item with another Kendall's tau has "
        f"another sign than the better-fitting direction; {decides} decides."
    )
    return [text]
