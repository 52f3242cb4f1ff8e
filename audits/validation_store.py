"""Finished data sets of a simulation, a line each, so that a stopped run goes on where it was."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any, Final

from neartie.data.errors import DataError
from neartie.data.files import to_json, write_text_atomic
from neartie.data.tabular import os_reason

RECORDS: Final = "data_sets.jsonl"
# Of these an error names the parts that differ.
_OPENED: Final = ("design", "boards", "comparison", "audit")


class RecordStore:
    """Records by the number of their data set; the file grows by a line each.

    Parameters
    ----------
    folder : path or None
        None keeps them in memory only.
    signature : dict
        What a stored run must share with this one to be continued by it.
    noun : str
        What errors call the run.

    Raises
    ------
    DataError
        If the folder holds the data sets of another design, or a damaged file.

    Notes
    -----
    A kill leaves at worst half a line at the end, which is dropped: the data set is drawn again,
    to the same numbers.
    """

    def __init__(
        self,
        folder: str | PathLike[str] | None,
        signature: dict[str, Any],
        *,
        noun: str = "validation",
    ) -> None:
        self.noun = noun
        self.path = Path(folder) / RECORDS if folder is not None else None
        # as it reads back
        self.signature: dict[str, Any] = json.loads(to_json(signature))
        self.done: dict[int, dict[str, Any]] = {}
        if self.path is not None:
            if self.path.exists():
                self.done = self._load(self.path)
            self.save()

    def _load(self, path: Path) -> dict[int, dict[str, Any]]:
        try:
            head, *lines = path.read_text(encoding="utf-8").split("\n")
            stored = json.loads(head)
            # what follows the last line end was cut off by a kill
            records = [json.loads(line) for line in lines[:-1]]
            done = {int(record["data_set"]): record for record in records}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path} is damaged; delete it to start anew") from error
        if stored != self.signature:
            raise DataError(
                f"{path} belongs to a {self.noun} that differs in "
                f"{_differing(stored, self.signature)}; name another folder, or delete it"
            )
        return done

    def save(self) -> None:
        """Write all records in order, or leave the file as it was."""
        if self.path is None:
            return
        parts = [self.signature, *(self.done[number] for number in sorted(self.done))]
        write_text_atomic("".join(f"{_line(part)}\n" for part in parts), self.path)

    def add(self, record: dict[str, Any]) -> dict[str, Any]:
        """Keep a record, on disk at once where there is a folder; return it as it reads back."""
        line = _line(record)
        found: dict[str, Any] = json.loads(line)
        self.done[int(found["data_set"])] = found
        if self.path is not None:
            try:
                with self.path.open("a", encoding="utf-8", newline="\n") as stream:
                    stream.write(f"{line}\n")
            except OSError as error:
                raise DataError(f"{self.path} cannot be written: {os_reason(error)}") from error
        return found


def _line(content: Any) -> str:
    return json.dumps(json.loads(to_json(content)), ensure_ascii=False)


def _differing(stored: Any, own: dict[str, Any]) -> str:
    """Return in words what two signatures differ in.

    Examples
    --------
    >>> _differing({"design": {"n": 1}, "seed": 1}, {"design": {"n": 2}, "seed": 2})
    'n and seed'
    >>> _differing({"a": 1, "b": 1, "c": 1}, {"a": 2, "b": 2, "c": 2})
    'a, b and c'
    """
    if not isinstance(stored, dict):
        return "design"
    names = [
        part
        for name, value in own.items()
        if stored.get(name) != value
        for part in (_parts(stored.get(name), value) if name in _OPENED else []) or [name]
    ]
    *others, last = names or ["design"]
    return f"{', '.join(others)} and {last}" if others else last


def _parts(before: Any, now: Any) -> list[str]:
    """Return the names of parts that differ; what only wraps other parts is looked through."""
    if not (isinstance(before, dict) and isinstance(now, dict)):
        return []
    names = [name for name in now if before.get(name) != now[name]]
    return _parts(before.get(names[0]), now[names[0]]) or names if len(now) == 1 else names
