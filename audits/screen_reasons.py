"""Why an item is on the review list, in words."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
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

#: How strong the reasons of an item are.
STRONG: Final = "strong"
WEAK: Final = "weak"

LEVEL: Final = 0.05
STRONG_LEVEL: Final = 0.01
FEWEST_IN_SOURCE: Final = 5
FEWEST_TO_JUDGE: Final = 5
FEWEST_MODELS: Final = 10
FEW_ON_A_SIDE: Final = 2


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


def reasons(
    table: pd.DataFrame, *, binary: bool, n_null: int, level: float = LEVEL
) -> pd.DataFrame:
    """Return what is suspicious about each item, in words, and how strong that is.

    Parameters
    ----------
    table : DataFrame
        `kind`, `n_models`, `accuracy`, `n_pairs`, `n_negative`, `signed_isotonic_r2`; `null_low`,
        `null_high`, `p_null`, `p_adjusted` and `p_below`, NaN without a null; `own_source`,
        `other_sources` and `n_own_source`, the mean coefficient with partners of the item's own
        source and of the others, NaN without.
    binary : bool
        Whether answers are right/wrong.
    n_null : int
        Shuffles behind the null.
    level : float in (0, 1)
        An item whose `p_adjusted` is larger is flat.

    Returns
    -------
    DataFrame
        `reason`, blank where nothing is suspicious; `strength`, strong, weak or blank.

    Notes
    -----
    Strong: negative beyond chance, that is, `p_below` is at most .01 (with fewer than 99
    shuffles: no shuffle was as low), so that of 1,000 items that have nothing to do with the
    others about ten come out; contradicting its source by more than the null band; solved by
    nobody. Weak: flat, negative or contradicting within what chance does, and everything that
    rests on fewer than ten models. An item is flat unless its association with the others stands
    after Benjamini and Hochberg's control of false discoveries over the ranked items. Flat is
    said of items only where there are others to set them against: at least five ranked items, and
    some that are not flat.
    """
    ranked = table["kind"] == RANKED
    related = (table.loc[ranked, "p_adjusted"] <= level).any()
    rule = _Rule(
        binary=binary,
        below=max(STRONG_LEVEL, 1 / (n_null + 1)) if n_null else float("nan"),
        level=level,
        tell_flat=bool(related and ranked.sum() >= FEWEST_TO_JUDGE),
    )
    found = [
        _ranked(row, rule) if row["kind"] == RANKED else _degenerate(row)
        for row in table.to_dict("records")
    ]
    columns = ["reason", "strength"]
    return pd.DataFrame(found, columns=columns, index=table.index).astype("str")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rule:
    """Limits of the reasons; `below` is NaN without a null."""

    binary: bool
    below: float
    level: float
    tell_flat: bool


def _degenerate(row: Mapping[Hashable, Any]) -> tuple[str, str]:
    models = f"{row['n_models']} model" + ("s" if row["n_models"] != 1 else "")
    text = {
        SOLVED_BY_NOBODY: f"solved by nobody ({models}): nothing to compare; check its key",
        SOLVED_BY_EVERYBODY: f"solved by everybody ({models}): nothing to compare",
        SAME_SCORE: f"the same score for all {models}: nothing to compare",
        NO_ANSWER: "no model answered it",
        NO_PARTNER: "varies, but no other item varies over the models that answered both",
    }[row["kind"]]
    enough = row["kind"] == SOLVED_BY_NOBODY and row["n_models"] >= FEWEST_MODELS
    return text, STRONG if enough else ""


def _ranked(row: Mapping[Hashable, Any], rule: _Rule) -> tuple[str, str]:
    strong: list[str] = []
    weak: list[str] = []
    for text, is_strong in (*_negative(row, rule), *_flat(row, rule), *_against_source(row)):
        (strong if is_strong else weak).append(text)
    few = _few_models(row, binary=rule.binary)
    if not strong and not weak:
        return "", ""
    strength = STRONG if strong and row["n_models"] >= FEWEST_MODELS else WEAK
    return "; ".join([*strong, *weak, *few]), strength


def _negative(row: Mapping[Hashable, Any], rule: _Rule) -> list[tuple[str, bool]]:
    value, most = row["signed_isotonic_r2"], 2 * row["n_negative"] > row["n_pairs"]
    with_most = f"negative with {row['n_negative']} of {row['n_pairs']} items"
    if pd.isna(row["p_below"]):
        return [(with_most, True)] if most else []
    if value < 0 and row["p_below"] <= rule.below:
        first = with_most if most else f"negative on average ({value:.4f})"
        return [(f"{first}; lower than shuffled answers get (p = {row['p_below']:.3f})", True)]
    if most:
        return [(f"{with_most}, on too little evidence (p = {row['p_below']:.3f})", False)]
    return []


def _flat(row: Mapping[Hashable, Any], rule: _Rule) -> list[tuple[str, bool]]:
    beyond = row["signed_isotonic_r2"] < 0 and row["p_below"] <= rule.below
    if not rule.tell_flat or beyond or not row["p_adjusted"] > rule.level:
        return []
    value = row["signed_isotonic_r2"]
    return [(f"flat: {value:.4f} is no more than shuffled answers get (p = {row['p_null']:.2g})", False)]  # fmt: skip


def _against_source(row: Mapping[Hashable, Any]) -> list[tuple[str, bool]]:
    own, others = row["own_source"], row["other_sources"]
    if row["n_own_source"] < FEWEST_IN_SOURCE or not own < 0 <= others:
        return []
    without_null = pd.isna(row["null_low"])
    beyond = bool(without_null or (own < row["null_low"] and others > row["null_high"]))
    text = f"contradicts its source: {own:.4f} within it, {others:.4f} with the others"
    return [(text, beyond)]


def _few_models(row: Mapping[Hashable, Any], *, binary: bool) -> list[str]:
    """Say on how little the coefficient of an item rests that is suspicious anyway."""
    n = int(row["n_models"])
    if n < FEWEST_MODELS:
        return [f"few models: {n} answered it"]
    if not binary:
        return []
    right = round(row["accuracy"] * n)
    for count, verb in ((right, "solved"), (n - right, "failed")):
        if count <= FEW_ON_A_SIDE:
            return [f"few models: {count} {verb} it"]
    return []
