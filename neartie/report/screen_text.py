"""The item screen in sentences, and as plain text for a terminal."""

from __future__ import annotations

import textwrap
from typing import Final

from neartie.audits.screen_reasons import (
    SOLVED_BY_EVERYBODY,
    SOLVED_BY_NOBODY,
    STRONG,
    WEAK,
)
from neartie.audits.screen_result import ItemScreen
from neartie.report.formatting import correlation, count, is_missing, plural

WIDTH: Final = 80
FIRST: Final = 15


def screen_answer(screen: ItemScreen) -> str:
    """Return what the screen found, in two or three sentences.

    Parameters
    ----------
    screen : ItemScreen

    Returns
    -------
    str
    """
    strong, weak = screen.review_counts()[STRONG], screen.review_counts()[WEAK]
    ranked = plural(screen.n_ranked, "item")
    if screen.n_ranked == 0:
        return "No item varies together with another, so the screen has nothing to rank."
    parts = [f"Of {ranked} with a coefficient, {_second_look(strong, weak)}."]
    negative = int((screen.table["signed_isotonic_r2"] < 0).sum())
    if negative:
        verb = "goes" if negative == 1 else "go"
        parts.append(f"{plural(negative, 'item')} {verb} against the others.")
    kinds = screen.kinds()
    nobody, everybody = kinds.get(SOLVED_BY_NOBODY, 0), kinds.get(SOLVED_BY_EVERYBODY, 0)
    others = screen.n_items - screen.n_ranked - nobody - everybody
    apart = [f"{plural(nobody, 'item')} solved by nobody"] if nobody else []
    apart += [f"{plural(everybody, 'item')} solved by everybody"] if everybody else []
    apart += [plural(others, "other item" if apart else "item")] if others else []
    if apart:
        verb = "has" if nobody + everybody + others == 1 else "have"
        parts.append(f"{' and '.join(apart)} {verb} no coefficient and no rank.")
    return " ".join(parts)


def _second_look(strong: int, weak: int) -> str:
    """Return how many items the list holds, those with strong evidence apart."""
    if not strong and not weak:
        return "none stands out"
    if not weak:
        return f"{count(strong)} {'deserves' if strong == 1 else 'deserve'} a second look"
    cannot = "cannot be told from an item that has nothing to do with the others"
    if not strong:
        return f"none has strong evidence against it, and {count(weak)} {cannot}"
    deserve = "deserves" if strong == 1 else "deserve"
    return f"{count(strong)} {deserve} a second look, and {count(weak)} more {cannot}"


def auc_sentence(screen: ItemScreen) -> str:
    """Return how well the coefficient finds the known bad items; blank without labels."""
    rows = screen.auc[screen.auc["statistic"] == "signed_isotonic_r2"]
    if rows.empty:
        return ""
    row = rows.iloc[0]
    interval = str(row["reason"])
    if not is_missing(row["low"]):
        interval = f"95% interval {correlation(row['low'])} to {correlation(row['high'])}"
    return (
        f"Known bad items: AUC {correlation(row['auc'])} ({interval}) on {count(row['n_bad'])} bad "
        f"and {count(row['n_good'])} good items with a coefficient."
    )


def screen_text(screen: ItemScreen) -> str:
    """Return a short plain text: warnings, answer, head of the review list.

    Parameters
    ----------
    screen : ItemScreen

    Returns
    -------
    str
        Ends without a line break.
    """
    parts = [_wrapped(f"Warning: {_printable(warning)}") for warning in screen.warnings]
    parts.append(_wrapped(screen_answer(screen)))
    sentence = auc_sentence(screen)
    parts += [_wrapped(sentence)] if sentence else []
    head = screen.review()
    lines = []
    for row in head.head(FIRST).to_dict("records"):
        lines.append(
            f"{count(row['rank']):>5}  {row['signed_isotonic_r2']:8.4f}  {row['strength']:<6}  "
            f"{_printable(row['item'])}"
        )
        lines += textwrap.wrap(
            row["reason"], WIDTH, initial_indent=" " * 17, subsequent_indent=" " * 17
        )
    if lines:
        heading = " rank       fit  evidence, item and reason"
        parts.append("\n".join([heading, *lines]))
    if len(head) > FIRST:
        parts.append(f"... and {count(len(head) - FIRST)} more.")
    return "\n\n".join(parts)


def _wrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(text, WIDTH, break_on_hyphens=False))


def _printable(text: str) -> str:
    """Control characters could move the cursor or recolour the terminal."""
    return "".join(mark if mark.isprintable() else " " for mark in text)
