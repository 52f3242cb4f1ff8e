"""The summary of a matrix of answers as a screen of text: 24 lines of 80 columns at most."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from neartie.data.wording import as_many, counted, visible

if TYPE_CHECKING:
    from neartie.data.summary import ResponseSummary

WIDTH = 80
HEIGHT = 24
_LABEL = 12
_ROOM = WIDTH - _LABEL
_ID = 34


def summary_text(summary: ResponseSummary) -> str:
    """Return the lines of a summary.

    Parameters
    ----------
    summary : ResponseSummary
        From `neartie.data.summary.describe`.

    Returns
    -------
    str
        Ids are shortened, and characters that a terminal would act on are shown escaped.
    """
    lines = [
        *_section("answers", [_answers(summary)]),
        *_section("missing", [_missing(summary)]),
        *_section("mean score" if summary.graded else "accuracy", [_accuracy(summary)]),
        *_section("constant", _constant(summary)),
        *_section("no answers", _without_answers(summary)),
        *_section("identical", _identical(summary)),
        *_section("families", [_families(summary)], most=2),
        *_section("owners", [_owners(summary)], most=2),
        *_section("sources", [_sources(summary)], most=2),
    ]
    return "\n".join([*lines, *_notices(summary.notices, HEIGHT - len(lines))])


def _section(label: str, texts: Sequence[str], *, most: int = 1) -> list[str]:
    """Return texts beside a label, each on at most so many lines."""
    lines = [line for text in texts for line in _wrapped(text, _ROOM, most)]
    return [f"{label if i == 0 else '':<{_LABEL}}{line}" for i, line in enumerate(lines)]


def _wrapped(text: str, width: int, most: int) -> list[str]:
    lines = textwrap.wrap(visible(text, 10_000), width, break_on_hyphens=False)
    if len(lines) > most:
        lines = [*lines[: most - 1], lines[most - 1][: width - 1] + "…"]
    return lines


def _notices(notices: Sequence[str], room: int) -> list[str]:
    """Return what fits of the notices; the rest are counted."""
    lines: list[str] = []
    for done, notice in enumerate(notices):
        wrapped = _wrapped(notice, WIDTH - 6, 3)
        rest = len(notices) - done
        if len(lines) + len(wrapped) > room - (rest > 1):
            return [*lines, f"note: {rest} more (--json shows them)"]
        lines += [f"{'note: ' if i == 0 else '      '}{line}" for i, line in enumerate(wrapped)]
    return lines


def _named(head: str, ids: Sequence[str], *, lines: int = 1) -> str:
    return f"{head}: " + as_many([visible(i, _ID) for i in ids], lines * (_ROOM - 4) - len(head))


def _answers(summary: ResponseSummary) -> str:
    kind = "graded" if summary.graded else "right/wrong"
    return f"{counted(summary.n_items, 'item')} x {counted(summary.n_models, 'model')}, {kind}"


def _missing(summary: ResponseSummary) -> str:
    if not summary.n_missing:
        return "none"
    share = f"{100 * summary.share_missing:.2f}"
    cells = f"{counted(summary.n_missing, 'cell')} ({'< 0.01' if share == '0.00' else share} %)"
    items = counted(summary.n_items_with_gaps, "item")
    return f"{cells}, in {items} and {counted(summary.n_models_with_gaps, 'model')}"


def _accuracy(summary: ResponseSummary) -> str:
    if summary.accuracy.empty:
        return "not defined: no model has answered"
    low, lower, median, upper, high = (f"{value:.3f}" for value in summary.accuracy["accuracy"])
    return f"{low} to {high} over models; quartiles {lower}, {median}, {upper}"


def _constant(summary: ResponseSummary) -> list[str]:
    table = summary.constant_items
    named = {1.0: "all right", 0.0: "all wrong"}
    groups = [(words, table["item"][table["score"] == score]) for score, words in named.items()]
    groups.append(("with one other score", table["item"][~table["score"].isin(list(named))]))
    return [
        _named(f"{counted(len(ids), 'item')} {words}", ids.tolist())
        for words, ids in groups
        if len(ids)
    ] or ["no item"]


def _without_answers(summary: ResponseSummary) -> list[str]:
    pairs = ((summary.items_without_answers, "item"), (summary.models_without_answers, "model"))
    return [_named(counted(len(ids), noun), ids) for ids, noun in pairs if ids] or [
        "no item, no model"
    ]


def _identical(summary: ResponseSummary) -> list[str]:
    lines = []
    for groups, noun in ((summary.identical_models, "model"), (summary.identical_items, "item")):
        if groups:
            of_many = counted(sum(map(len, groups)), noun)
            head = f"{of_many} in {counted(len(groups), 'group')}, as"
            lines.append(_named(head, groups[0]))
    return lines or ["no models, no items (constant ones apart)"]


def _families(summary: ResponseSummary) -> str:
    head = f"{len(summary.families):,} {_origin(summary.family_source)}"
    if summary.n_without_family:
        head += f"; {counted(summary.n_without_family, 'model')} without"
    return _sized(head, summary.families)


def _owners(summary: ResponseSummary) -> str:
    return _sized(f"{len(summary.owners):,} {_origin(summary.owner_source)}", summary.owners)


def _sources(summary: ResponseSummary) -> str:
    if summary.sources.empty:
        return "not given (column 'source' of an item table)"
    return _sized(f"{len(summary.sources):,}", summary.sources)


def _origin(where: str) -> str:
    return "from the model table" if where == "table" else "from the model ids"


def _sized(head: str, table: pd.DataFrame) -> str:
    pairs = zip(table.iloc[:, 0], table.iloc[:, 1], strict=True)
    sizes = [f"{visible(label, _ID - 8) or '(blank)'} {n:,}" for label, n in pairs]
    return _named(head, sizes, lines=2) if sizes else head
