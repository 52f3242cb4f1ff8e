"""Finished parts of a long experiment, so that a killed run goes on where it was."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np

from neartie.data.errors import DataError
from neartie.data.files import to_json, write_text_atomic

PARTS: Final = "parts.jsonl"
EVERY: Final = 25


class PartStore:
    """Finished resamples by (configuration, resample), kept in one file from time to time.

    Parameters
    ----------
    folder : path or None
        None keeps them in memory only.
    signature : dict
        Plain JSON. What a stored run must share with this one to be continued by it.

    Raises
    ------
    DataError
        If the folder holds the parts of another run, or a damaged file.
    """

    def __init__(self, folder: str | PathLike[str] | None, signature: dict[str, Any]) -> None:
        self.path = Path(folder) / PARTS if folder is not None else None
        self.signature = signature
        self.done: dict[tuple[int, int], dict[str, Any]] = {}
        self.unsaved = 0
        if self.path is not None and self.path.exists():
            self._load(self.path)

    def _load(self, path: Path) -> None:
        try:
            head, *lines = path.read_text(encoding="utf-8").splitlines()
            stored = json.loads(head)
            parts = [json.loads(line) for line in lines]
            done = {(part["cell"], part["resample"]): part["found"] for part in parts}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path} is damaged; delete it to start anew") from error
        if stored != self.signature:
            raise DataError(
                f"{path} belongs to a run with other data, settings or seed; name another folder"
            )
        for part in done.values():
            part["auc"] = {n: np.nan if v is None else v for n, v in part["auc"].items()}
        self.done = done

    def add(self, cell: int, resample: int, found: dict[str, Any]) -> None:
        """Keep what was found in a resample."""
        self.done[cell, resample] = found
        self.unsaved += 1
        if self.unsaved >= EVERY:
            self.save()

    def save(self) -> None:
        """Write all parts, or leave the file as it was."""
        if self.path is None or (self.unsaved == 0 and self.path.exists()):
            return
        parts = [
            {"cell": cell, "resample": resample, "found": found}
            for (cell, resample), found in self.done.items()
        ]
        lines = [" ".join(to_json(part).split()) for part in [self.signature, *parts]]
        write_text_atomic("\n".join(lines) + "\n", self.path)
        self.unsaved = 0
