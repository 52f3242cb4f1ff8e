"""Ids: read as the text that they are, checked for blanks, repeats and near-duplicates."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
from numpy.typing import NDArray

from neartie.data.errors import DataError
from neartie.data.tabular import Source, place
from neartie.data.wording import listed

_SEPARATORS = re.compile(r"[\s_-]+")
_IDLE_SEPARATOR = re.compile(r"(?<![0-9])-|-(?![0-9])")


def encode_ids(array: Any, *, source: Source, position: int) -> tuple[NDArray[np.intp], list[str]]:
    """Return the ids of some rows as codes, and the texts that the codes stand for.

    Parameters
    ----------
    array : pyarrow.Array, n_row
        Text, whole numbers, or codes of either.
    source, position
        The table and the column, for the message.

    Returns
    -------
    codes : (n_row,) int
        Positions in `texts`; -1 for a missing id.
    texts : list of str
        The ids as written; whole numbers in decimal digits.

    Raises
    ------
    DataError
        If the column holds anything but text and whole numbers. Floating-point numbers cannot
        be turned back into the ids that they once were: 7, 7.0 and 007 look the same.
    """
    column = source.columns[position]
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_string_view(array.type):
        array = array.cast(pa.large_string())
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    kind = encoded.dictionary.type
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        raise DataError(
            f"{source.path}: column {column!r} holds numbers with decimals, not ids; "
            "write the ids as text"
        )
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if not (is_text or pa.types.is_integer(kind) or pa.types.is_null(kind)):
        raise DataError(
            f"{source.path}: column {column!r} holds {kind}, not ids; write the ids as text"
        )
    texts = ["" if value is None else str(value) for value in encoded.dictionary.to_pylist()]
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.intp)
    return codes, texts


def used_ids(
    codes: NDArray[np.intp], texts: list[str], *, source: Source, position: int, start: int
) -> list[str]:
    """Return the ids that occur in some rows.

    Parameters
    ----------
    codes, texts
        From `encode_ids`. Texts may be listed that no row uses.
    source, position, start
        The table, the column, and the position of the first row, for the message.

    Returns
    -------
    list of str

    Raises
    ------
    DataError
        If an id is missing or blank.
    """
    counts = np.bincount(codes + 1, minlength=len(texts) + 1)
    used = np.flatnonzero(counts[1:])
    blank = [-1] if counts[0] else []
    blank += [int(code) for code in used if not texts[code].strip()]
    if blank:
        row = start + int(np.flatnonzero(np.isin(codes, blank))[0])
        name = source.columns[position]
        raise DataError(f"{place(source, row)}: the id in column {name!r} is blank")
    return [texts[code] for code in used]


def id_column(source: Source, position: int) -> list[str]:
    """Return a column whose every row has an id of its own.

    Parameters
    ----------
    source : Source
        The table.
    position : int
        Which column.

    Returns
    -------
    list of str
        In file order.

    Raises
    ------
    DataError
        If there is no row, or an id is blank or stands twice.
    """
    ids: list[str] = []
    for block in source.batches([position]):
        codes, texts = encode_ids(block.arrays[0], source=source, position=position)
        used_ids(codes, texts, source=source, position=position, start=block.start)
        ids += [texts[code] for code in codes]
    if not ids:
        raise DataError(f"{source.path} has a header but no rows")
    first: dict[str, int] = {}
    for row, text in enumerate(ids):
        if first.setdefault(text, row) != row:
            raise DataError(
                f"{place(source, row)}: {text!r} stands in row {first[text] + source.first_row} "
                "already; each row must have an id of its own"
            )
    return ids


def header_ids(source: Source, positions: Iterable[int], *, kind: str) -> list[str]:
    """Return column names that are ids.

    Parameters
    ----------
    source : Source
        The table.
    positions : iterable of int
        Which columns.
    kind : {'item', 'model'}
        What the columns are, for the message.

    Returns
    -------
    list of str

    Raises
    ------
    DataError
        If a name is blank or stands twice.
    """
    first: dict[str, int] = {}
    for position in positions:
        name = source.columns[position]
        if not name.strip():
            raise DataError(
                f"{source.path}: column {position + 1} has no {kind} id in the header; is there "
                "a delimiter too many?"
            )
        if first.setdefault(name, position) != position:
            raise DataError(
                f"{source.path}: {kind} {name!r} stands in two columns, {first[name] + 1} and "
                f"{position + 1}"
            )
    return list(first)


def near_key(text: str) -> str:
    """Return what is left of an id when spelling is taken lightly.

    Parameters
    ----------
    text : str
        An id.

    Returns
    -------
    str
        Without case, Unicode form, white space, dashes and underscores; but between two digits
        one dash remains, since `1-11` and `11-1` are no variants of one another.

    Examples
    --------
    >>> near_key("Acme/Big_Model 7b") == near_key("acme/big-model-7B ")
    True
    >>> near_key("q1-11") == near_key("q11-1")
    False
    """
    plain = text.lower() if text.isascii() else _plain_unicode(text)
    return _IDLE_SEPARATOR.sub("", _SEPARATORS.sub("-", plain).strip("-"))


def _plain_unicode(text: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    kinds = ((mark, unicodedata.category(mark)) for mark in folded)
    return "".join("-" if kind == "Pd" else mark for mark, kind in kinds if kind != "Cf")


def near_duplicates(ids: Iterable[str], *, kind: str, path: Path, noun: str = "ids") -> list[str]:
    """Return a notice if some ids differ in spelling only.

    Parameters
    ----------
    ids : iterable of str
        They are never merged.
    kind : {'item', 'model', 'family', 'owner', 'source'}
        What they name.
    path : Path
        Where they stand.
    noun : str
        What they are called in the notice.

    Returns
    -------
    list of str
        Empty, or one notice, which names the first few groups.
    """
    groups: dict[str, list[str]] = defaultdict(list)
    for text in ids:
        groups[near_key(text)].append(text)
    close = sorted(sorted(group) for group in groups.values() if len(group) > 1)
    if not close:
        return []
    shown = "; ".join(listed(group) for group in close[:3])
    more = f"; and {len(close) - 3:,} more such groups" if len(close) > 3 else ""
    how = f"{noun} that differ only in case, blanks, dashes or Unicode form are kept apart"
    return [f"{path}: {kind} {how}: {shown}{more}"]


def nearest_spelling(ids: Sequence[str], among: Iterable[str]) -> str:
    """Return a hint that one of some unknown ids has a known variant, or the empty text."""
    known = {near_key(text): text for text in among}
    for text in ids:
        if near_key(text) in known:
            return f"; {text!r} is spelled {known[near_key(text)]!r} there"
    return ""
