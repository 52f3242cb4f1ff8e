"""Finished rungs of a comparison, so that a stopped run goes on where it was."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np

from neartie.audits.rung_result import CellResult, RungResult
from neartie.data.errors import DataError
from neartie.data.files import to_json, write_bytes_atomic
from neartie.data.responses import Responses

FOLDER: Final = "rungs"
# To be raised when what a file holds changes.
_FORMAT: Final = 2
_ENDING: Final = ".rung"
# Before the archive stands a digest of it: what is damaged is found before it is read.
_DIGEST: Final = hashlib.sha256().digest_size
_CHOSEN: Final = "chosen-"
_ARRAYS: Final = tuple(f.name for f in fields(CellResult) if f.name not in ("anchors", "scores"))


class RungStore:
    """Finished rungs by name, one file each.

    Parameters
    ----------
    folder : path or None
        None keeps nothing.
    signature : dict
        Plain JSON. What a stored rung must share with this comparison to be taken from it; under
        `comparison` the settings of every rung by its name.
    """

    def __init__(self, folder: str | PathLike[str] | None, signature: dict[str, Any]) -> None:
        self.folder = None if folder is None else Path(folder) / FOLDER
        self.signature = json.loads(to_json(signature))

    def load(self, name: str) -> RungResult | None:
        """Return a finished rung, or None.

        Raises
        ------
        DataError
            If its file is damaged, or belongs to another comparison.
        """
        path = None if self.folder is None else self.folder / f"{name}{_ENDING}"
        if path is None or not path.exists():
            return None
        try:
            content = path.read_bytes()
            if hashlib.sha256(content[_DIGEST:]).digest() != content[:_DIGEST]:
                raise ValueError("the digest differs")
            with np.load(BytesIO(content[_DIGEST:]), allow_pickle=False) as held:
                head = json.loads(str(held["head"]))
                arrays = {key: held[key] for key in held.files if key != "head"}
            found = _rung(head, arrays) if head.get("format") == _FORMAT else None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path} is damaged; delete it to make this rung anew") from error
        if found is None:
            raise DataError(
                f"{path} was made by another version of neartie; delete {path.parent}, or name another "
                "folder, to make the rungs anew"
            )
        if head["signature"] != self._of(name):
            raise DataError(
                f"{path} belongs to a comparison with other data, settings or seed; name another "
                "folder"
            )
        return found

    def _of(self, name: str) -> dict[str, Any]:
        return {**self.signature, "comparison": self.signature["comparison"][name]}

    def add(self, rung: RungResult) -> None:
        """Keep a finished rung."""
        if self.folder is None:
            return
        arrays = {"mean_range": rung.mean_range}
        arrays |= {f"{_CHOSEN}{kind}": shares for kind, shares in rung.chosen.items()}
        for number, cell in enumerate(rung.cells):
            arrays |= {f"{name}-{number}": getattr(cell, name) for name in _ARRAYS}
        head = {
            "format": _FORMAT,
            "signature": self._of(rung.name),
            "name": rung.name,
            "cells": [[cell.anchors, cell.scores] for cell in rung.cells],
            "spearman_d": rung.spearman_d,
            "jaccard": rung.jaccard,
            "facts": list(rung.facts),
            "seconds": rung.seconds,
        }
        buffer = BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, head=np.array(to_json(head)), **arrays)
        self.folder.mkdir(parents=True, exist_ok=True)
        content = buffer.getvalue()
        digest = hashlib.sha256(content).digest()
        write_bytes_atomic(digest + content, self.folder / f"{rung.name}{_ENDING}")


def fingerprint(responses: Responses) -> str:
    """Return a short text that stands for answers, ids and tables, whatever their order."""
    ordered, _ = responses.canonical()
    digest = hashlib.sha256(np.ascontiguousarray(ordered.values).tobytes())
    for table in (ordered.items, ordered.models):
        digest.update(table.to_csv(index=False).encode())
    return digest.hexdigest()[:16]


def _rung(head: dict[str, Any], arrays: dict[str, Any]) -> RungResult:
    def number(value: float | None) -> float:
        return float("nan") if value is None else value

    cells = tuple(
        CellResult(
            anchors=anchors,
            scores=scores,
            **{name: arrays[f"{name}-{i}"] for name in _ARRAYS},
        )
        for i, (anchors, scores) in enumerate(head["cells"])
    )
    first, second = head["facts"]
    return RungResult(
        name=head["name"],
        cells=cells,
        spearman_d={kind: number(value) for kind, value in head["spearman_d"].items()},
        jaccard={kind: number(value) for kind, value in head["jaccard"].items()},
        mean_range=arrays["mean_range"],
        chosen={
            key.removeprefix(_CHOSEN): value
            for key, value in arrays.items()
            if key.startswith(_CHOSEN)
        },
        facts=(first, second),
        seconds=head["seconds"],
    )
