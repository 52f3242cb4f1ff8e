"""Reading a table of battles, or of their counts: who met whom, who won, and what else is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
from numpy.typing import NDArray
from pyarrow import compute

from neartie.data.battle_counts import COUNT_NAMES, amounts, shown, single_battles
from neartie.data.battles import OUTCOMES, Battles, assemble
from neartie.data.errors import DataError
from neartie.data.ids import encode_ids, near_duplicates, used_ids
from neartie.data.json_records import looks_like_json, open_records
from neartie.data.sources import find_column, open_source, plain_name
from neartie.data.tabular import Source, first_bytes, place
from neartie.data.wording import listed

MODEL_NAMES: Final = ("model_a", "model_b")
OPTIONAL_NAMES: Final = {
    "judge": ("judge", "judge_id", "worker", "annotator"),
    "prompt": ("prompt", "prompt_id", "question_id", "item"),
    "first_shown": ("first_shown", "position"),
    "weight": ("weight",),
}
_KEYS: Final = frozenset(
    [
        *MODEL_NAMES,
        "winner",
        *(name for names in (*OPTIONAL_NAMES.values(), *COUNT_NAMES.values()) for name in names),
    ]
)
# `position` is that of model_a, so that 1 and `first` say that model_a was shown first.
_SIDES: Final = {
    "model_a": 1,
    "a": 1,
    "first": 1,
    "1": 1,
    "model_b": -1,
    "b": -1,
    "second": -1,
    "2": -1,
    "": 0,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Layout:
    """Which column says what; -1 for one that is not there."""

    source: Source
    position: dict[str, int]

    @property
    def present(self) -> list[str]:
        return [name for name, position in self.position.items() if position >= 0]


def read_battles(path: str | PathLike[str]) -> Battles:
    """Return the battles that a table holds.

    Parameters
    ----------
    path : path
        CSV (delimited by comma, semicolon, tab or bar), Parquet, JSON (an array of objects) or
        JSON lines; text also compressed with gzip. What it is shows from its content.
        Columns, in any case:

        - `model_a`, `model_b`: ids of the two models;
        - `winner`: `model_a` or `a`, `model_b` or `b`, `tie`, `tie (bothbad)`, in any case; or
          counts: `win_a`, `win_b` (or `wins_a`, `wins_b`), and perhaps `tie` (or `ties`, `draw`,
          `draws`), how many battles of the row's two models ended so;
        - optional `judge` (or `judge_id`, `worker`, `annotator`) and `prompt` (or `prompt_id`,
          `question_id`, `item`): ids, may be blank;
        - optional `first_shown`: `model_a`, `a`, `model_b`, `b` or the id of one of the two;
          or `position`, that of model_a: 1 or `first`, 2 or `second`. Blank where not known.
          Without either, model_a counts as shown first;
        - optional `weight`: how many battles the row counts for; not beside counts.

    Returns
    -------
    Battles
        Without battles of a model with itself, which are counted. Ids are exactly as written.
        `notices` says what was left out or looks like a slip. Of counts, one battle a count.

    Raises
    ------
    DataError
        If the file cannot be read without guessing. The message says where, and what to do.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     table = Path(folder) / "battles.csv"
    ...     _ = table.write_text("model_a,model_b,winner\\nowl,ant,model_a\\nant,owl,tie\\n")
    ...     read_battles(table)
    Battles(2 battles, 2 models, 1 tie)
    >>> with TemporaryDirectory() as folder:
    ...     table = Path(folder) / "counts.csv"
    ...     _ = table.write_text("model_a,model_b,win_a,win_b,tie\\nowl,ant,3,1,2\\n")
    ...     read_battles(table)
    Battles(6 battles, 2 models, 2 ties)
    """
    layout = _read_layout(Path(path))
    source, present = layout.source, layout.present
    positions = [layout.position[name] for name in present]
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in present}
    names: dict[str, dict[str, int]] = {"model": {}, "judge": {}, "prompt": {}}
    n_rows = 0
    for block in source.batches(positions):
        arrays = dict(zip(present, block.arrays, strict=True))
        for name, column in _read_block(layout, arrays, block.start, names).items():
            parts[name].append(column)
        n_rows += block.n_rows
    if not n_rows:
        raise DataError(f"{source.path} has a header but no rows")
    columns = {name: np.concatenate(part) for name, part in parts.items()}
    if "winner" not in columns:
        columns = single_battles(columns, source=source)
    return _finish(layout, columns, names)


def _read_layout(path: Path) -> _Layout:
    is_parquet = first_bytes(path).startswith(b"PAR1")
    source: Source
    if not is_parquet and looks_like_json(path):
        source = open_records(path, keys=tuple(_KEYS))
    else:
        source = open_source(path, recognised=_is_recognised)
    position = {name: _required(source, (name,)) for name in MODEL_NAMES}
    position |= _results(source)
    for name, spellings in OPTIONAL_NAMES.items():
        found = find_column(source, spellings)
        position[name] = -1 if found is None else found
    if "win_a" in position and position["weight"] >= 0:
        raise DataError(
            f"{path} has counts (win_a, win_b) and a column 'weight'; take one of the two away"
        )
    return _Layout(source=source, position=position)


def _results(source: Source) -> dict[str, int]:
    """Return the position of the winner, or of the counts."""
    counts = {name: find_column(source, spellings) for name, spellings in COUNT_NAMES.items()}
    winner = find_column(source, ("winner",))
    has_counts = counts["win_a"] is not None and counts["win_b"] is not None
    if winner is not None and has_counts:
        raise DataError(
            f"{source.path} has a column 'winner' and counts (win_a, win_b); take one of the two "
            "away"
        )
    if has_counts:
        return {name: -1 if found is None else found for name, found in counts.items()}
    if winner is None and (counts["win_a"] is not None or counts["win_b"] is not None):
        return {name: _required(source, COUNT_NAMES[name]) for name in ("win_a", "win_b")}
    return {"winner": _required(source, ("winner",))}


def _is_recognised(columns: Sequence[str]) -> bool:
    plain = {plain_name(column) for column in columns}
    counts = all(plain.intersection(COUNT_NAMES[name]) for name in ("win_a", "win_b"))
    return plain.issuperset(MODEL_NAMES) and ("winner" in plain or counts)


def _required(source: Source, names: tuple[str, ...]) -> int:
    found = find_column(source, names)
    if found is None and plain_name(source.columns[0]) == "item":
        raise DataError(
            f"{source.path} holds answers to items and no battles: read it with read_responses "
            "(neartie fit two-pl)"
        )
    if found is None:
        raise DataError(
            f"{source.path} has no column {names[0]!r}; battles need model_a, model_b and winner, "
            "or model_a, model_b and the counts win_a, win_b (and tie). "
            f"Its columns: {listed(source.columns)}"
        )
    return found


def _read_block(
    layout: _Layout, arrays: dict[str, Any], start: int, names: dict[str, dict[str, int]]
) -> dict[str, NDArray[Any]]:
    """Return the columns of some rows as codes, and enter new ids into the names."""
    source, position = layout.source, layout.position
    columns: dict[str, NDArray[Any]] = {}
    texts: dict[str, tuple[NDArray[np.intp], list[str]]] = {}
    for name in MODEL_NAMES:
        codes, ids = encode_ids(arrays[name], source=source, position=position[name])
        used_ids(codes, ids, source=source, position=position[name], start=start)
        texts[name] = codes, ids
        columns[name] = _entered(codes, ids, names["model"])
    for name in ("judge", "prompt"):
        if name in arrays:
            codes, ids = encode_ids(arrays[name], source=source, position=position[name])
            columns[name] = _entered(codes, ids, names[name])
    if "winner" in arrays:
        columns["winner"] = _outcomes(layout, arrays["winner"], texts, start)
    for name in COUNT_NAMES:
        if name in arrays:
            columns[name] = amounts(source, arrays[name], start=start, column=name, whole=True)
    if "first_shown" in arrays:
        columns["first_shown"] = _sides(layout, arrays["first_shown"], texts, start)
    if "weight" in arrays:
        columns["weight"] = amounts(
            source, arrays["weight"], start=start, column="weight", whole=False
        )
    return columns


def _entered(codes: NDArray[np.intp], ids: list[str], known: dict[str, int]) -> NDArray[np.int64]:
    """Return codes into names common to all blocks; -1 for a blank id."""
    used = np.bincount(codes[codes >= 0], minlength=len(ids)) > 0
    table = [
        known.setdefault(text, len(known)) if is_used and text.strip() else -1
        for text, is_used in zip(ids, used, strict=True)
    ]
    return np.array([*table, -1], dtype=np.int64)[codes]


def _outcomes(layout: _Layout, array: Any, models: Any, start: int) -> NDArray[np.int8]:
    codes, texts = _labels(array)
    known = [OUTCOMES.get(text, 2) for text in texts]
    outcome = np.array([*known, 2], dtype=np.int8)[codes]
    bad = np.flatnonzero(outcome == 2)
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"{place(layout.source, start + row)}, column 'winner': {shown(array, row)} is none "
            f"of {', '.join(OUTCOMES)}"
        )
    _refuse_ambiguous(layout, "winner", codes, texts, models, start)
    return outcome


def _sides(layout: _Layout, array: Any, models: Any, start: int) -> NDArray[np.int8]:
    """Return 1 where model_a was shown first, -1 where model_b was, 0 where it is not known."""
    codes, texts = _labels(array)
    sides = np.array([*(_SIDES.get(text, 2) for text in texts), 0], dtype=np.int8)[codes]
    rows = np.flatnonzero(sides == 2)
    if len(rows):
        written = array.cast(pa.large_string()).take(rows).to_pylist()
        for row, value in zip(rows.tolist(), written, strict=True):
            pair = tuple(ids[c[row]] for c, ids in (models["model_a"], models["model_b"]))
            if value not in pair or pair[0] == pair[1]:
                raise DataError(
                    f"{place(layout.source, start + row)}: {value!r} does not say which of "
                    f"{pair[0]!r} and {pair[1]!r} was shown first; write model_a, model_b or the "
                    "id of one of the two"
                )
            sides[row] = 1 if value == pair[0] else -1
    _refuse_ambiguous(layout, "first_shown", codes, texts, models, start)
    return sides


def _refuse_ambiguous(
    layout: _Layout,
    column: str,
    codes: NDArray[np.int64],
    texts: list[str],
    models: Any,
    start: int,
) -> None:
    """Refuse `a` where the model in the other column is named `a`, and so on."""
    (first, first_ids), (second, second_ids) = models["model_a"], models["model_b"]
    for label, side in ((k, v) for k, v in _SIDES.items() if k and k in texts):
        other, ids = (second, second_ids) if side > 0 else (first, first_ids)
        if label not in ids:
            continue
        rows = np.flatnonzero((codes == texts.index(label)) & (other == ids.index(label)))
        if len(rows):
            own, right = ("model_a", "model_b") if side > 0 else ("model_b", "model_a")
            raise DataError(
                f"{place(layout.source, start + int(rows[0]))}, column {column!r}: {label!r} may "
                f"mean {own} or the model of that name in {right}; rename the model"
            )


def _labels(array: Any) -> tuple[NDArray[np.int64], list[str]]:
    """Return codes into distinct plain texts; -1 for a missing cell."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    plain = compute.utf8_lower(compute.utf8_trim_whitespace(array.cast(pa.large_string())))
    encoded = plain.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return codes, encoded.dictionary.to_pylist()


def _finish(
    layout: _Layout, columns: dict[str, NDArray[Any]], names: dict[str, dict[str, int]]
) -> Battles:
    """Put ids into plain order, and leave out what is no battle."""
    path, n = layout.source.path, len(columns["winner"])
    ordered, place_of = {}, {}
    for kind, known in names.items():
        ids = list(known)
        order = sorted(range(len(ids)), key=ids.__getitem__)
        ordered[kind] = tuple(ids[i] for i in order)
        place_of[kind] = np.full(len(ids) + 1, -1, dtype=np.int64)
        place_of[kind][order] = np.arange(len(ids))
    absent = np.full(n, -1, dtype=np.int64)
    used = {layout.position[name] for name in layout.present}
    extra = [name for i, name in enumerate(layout.source.columns) if i not in used]
    notices = [f"{path}: columns not used: {listed(extra)}"] if extra else []
    notices += near_duplicates(ordered["model"], kind="model", path=path)
    try:
        return assemble(
            models=ordered["model"],
            model_a=place_of["model"][columns["model_a"]],
            model_b=place_of["model"][columns["model_b"]],
            outcome=columns["winner"],
            weight=columns.get("weight", np.ones(n)),
            shown=columns.get("first_shown", np.ones(n, dtype=np.int8)),
            shown_is_given="first_shown" in columns,
            judges=ordered["judge"],
            judge=place_of["judge"][columns.get("judge", absent)],
            prompts=ordered["prompt"],
            prompt=place_of["prompt"][columns.get("prompt", absent)],
            notices=tuple(notices),
        )
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
