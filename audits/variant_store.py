"""Finished variants of a robustness battery, so that a stopped run goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final

from neartie.data.errors import DataError
from neartie.data.files import to_json, write_text_atomic

FINISHED: Final = "variants.jsonl"


class VariantStore:
    """Rows of finished variants by name, in one file that is rewritten whole.

    Parameters
    ----------
    folder : path or None
        None keeps them in memory only.
    signature : dict
        Plain JSON. What a stored battery must share with this one to be continued by it.
    columns : sequence of str
        What every row holds, `variant` among it.

    Raises
    ------
    DataError
        If the folder holds another battery, or a damaged file.
    """

    def __init__(
        self,
        folder: str | PathLike[str] | None,
        signature: dict[str, Any],
        *,
        columns: Sequence[str],
    ) -> None:
        self.columns = tuple(columns)
        self.path = Path(folder) / FINISHED if folder is not None else None
        # as it reads back: tuples become lists
        self.signature: dict[str, Any] = json.loads(to_json(signature))
        self.done: dict[str, dict[str, Any]] = {}
        if self.path is not None and self.path.exists():
            self.done = self._load(self.path)

    def _load(self, path: Path) -> dict[str, dict[str, Any]]:
        try:
            head, *lines = path.read_text(encoding="utf-8").splitlines()
            stored = json.loads(head)
            rows = [json.loads(line) for line in lines]
            if any(tuple(row) != self.columns for row in rows):
                raise ValueError("a row has other columns")
            done = {row["variant"]: row for row in rows}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path} is damaged; delete it to start anew") from error
        if stored != self.signature:
            raise DataError(
                f"{path} belongs to an audit with other data, settings or seed; name another folder"
            )
        return done

    def add(self, row: dict[str, Any]) -> None:
        """Keep the row of a variant, on disk at once where there is a folder."""
        self.done[row["variant"]] = row
        if self.path is not None:
            parts = [self.signature, *self.done.values()]
            lines = [json.dumps(json.loads(to_json(part))) for part in parts]
            write_text_atomic("\n".join(lines) + "\n", self.path)
