"""A section of a report: sentences, drawings, tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from neartie.report.table import Table


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawing:
    """Panels with their caption.

    Attributes
    ----------
    panels : tuple of Markup
    title, caption : str
    shape : str
        As in `parts.html`.
    """

    panels: tuple[Markup, ...]
    title: str
    caption: str
    shape: str = "wide"


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """One question and its answer.

    Attributes
    ----------
    key : str
        For links.
    title : str
    sentences : tuple of str
    drawings : tuple of Drawing
    tables : tuple of Table
    """

    key: str
    title: str
    sentences: tuple[str, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    tables: tuple[Table, ...] = ()


def numbered(
    sections: Sequence[Section], *, figure: int = 0, table: int = 0
) -> list[dict[str, Any]]:
    """Return sections for a template, with figures and tables numbered on from those before.

    Parameters
    ----------
    sections : sequence of Section
    figure, table : int
        The last numbers used.

    Returns
    -------
    list of dict
        `key`, `title`, `sentences`, `drawings` and `tables` as pairs of number and content.
    """
    found = []
    for section in sections:
        drawings = list(enumerate(section.drawings, start=figure + 1))
        tables = list(enumerate(section.tables, start=table + 1))
        figure, table = figure + len(drawings), table + len(tables)
        found.append(
            {
                "key": section.key,
                "title": section.title,
                "sentences": section.sentences,
                "drawings": drawings,
                "tables": tables,
            }
        )
    return found
