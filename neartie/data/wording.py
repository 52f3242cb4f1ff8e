"""Small pieces of sentences: counts, lists of ids, text that is safe to show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MINUS: Final = "−"


def counted(n: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "item"), counted(1200, "item")
    ('1 item', '1,200 items')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def true_minus(number: str) -> str:
    """Return a number with the sign of a minus in place of a hyphen.

    Examples
    --------
    >>> true_minus(f"{-5.6:+.1f}"), true_minus("+5.6")
    ('−5.6', '+5.6')
    """
    return number.replace("-", MINUS)


def listed(ids: Sequence[str], *, limit: int = 5) -> str:
    """Return the first few ids in quotes, and how many more there are.

    Examples
    --------
    >>> listed(["a", "b", "c"], limit=2)
    "'a', 'b' and 1 more"
    """
    text = ", ".join(repr(value) for value in ids[:limit])
    return text if len(ids) <= limit else f"{text} and {len(ids) - limit:,} more"


def printable(text: str) -> str:
    r"""Return a text on one line, with control characters escaped.

    Examples
    --------
    >>> printable("a\nb\x1b[2J")
    'a\\nb\\x1b[2J'
    """
    return "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in text)


def visible(text: str, width: int) -> str:
    r"""Return a text on one line and no wider than asked, with control characters escaped.

    Examples
    --------
    >>> visible("a\nb\x1b[2J", 20), visible("abcdefgh", 5)
    ('a\\nb\\x1b[2J', 'abcd…')
    """
    plain = printable(text)
    return plain if len(plain) <= width else plain[: width - 1] + "…"


def as_many(texts: Sequence[str], room: int) -> str:
    """Return as many texts as there is room for, at least one, and how many more there are.

    Examples
    --------
    >>> as_many(["apple", "pear", "plum", "cherry"], 24)
    'apple, pear and 2 more'
    """
    whole = ", ".join(texts)
    if len(whole) <= room:
        return whole
    shown, used = 0, 0
    while shown < len(texts) and (not shown or used + len(texts[shown]) + 2 <= room - 10):
        used += len(texts[shown]) + 2
        shown += 1
    more = f" and {len(texts) - shown:,} more" if shown < len(texts) else ""
    return ", ".join(texts[:shown]) + more
