"""The state of a running Gibbs sampler on disk, so that a killed run goes on with the same draws."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from neartie.data.errors import DataError
from neartie.data.files import temporary_prefix, to_json
from neartie.data.tabular import os_reason
from neartie.inference.gibbs_protocol import State

type Floats = NDArray[np.float64]

_FORMAT: Final = 1
# Before the archive stands a digest of it: what is damaged is found before it is read.
_DIGEST: Final = hashlib.sha256().digest_size


@dataclass(kw_only=True, slots=True, eq=False)
class Chain:
    """One chain: what it holds, and where its random numbers come from."""

    state: State
    generator: np.random.Generator


@dataclass(kw_only=True, slots=True, eq=False)
class Run:
    """Chains at work.

    Attributes
    ----------
    chains : list of Chain
    sweeps : int
        Done by every chain, with those of the tuning.
    thin : int
        Sweeps from a kept draw to the next.
    kept : int
        Kept draws of every chain.
    points : (n_chain, n_draw, size) float
        The kept draws, first of all; the rest is yet to be filled.
    moments : (n_chain, 2, n_other) float
        Means, and sums of squares about them, of what is not in the kept draws.
    seen : int
        Draws of every chain that these are of.
    """

    chains: list[Chain]
    sweeps: int
    thin: int
    kept: int
    points: Floats
    moments: Floats
    seen: int = 0


def write_checkpoint(run: Run, path: str | PathLike[str], *, signature: Mapping[str, Any]) -> None:
    """Write everything that a run needs to go on, or leave what was there.

    Parameters
    ----------
    run : Run
    path : path
    signature : mapping
        Plain values: what another run must share to go on from here.

    Raises
    ------
    DataError
        If it cannot be written.
    """
    target = Path(path)
    head = {
        "format": _FORMAT,
        "signature": json.loads(to_json(dict(signature))),
        "sweeps": run.sweeps,
        "thin": run.thin,
        "kept": run.kept,
        "seen": run.seen,
        "generators": [chain.generator.bit_generator.state for chain in run.chains],
    }
    arrays: dict[str, Any] = {"head": np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)}
    for number, chain in enumerate(run.chains):
        arrays |= {f"{number}/{name}": value for name, value in chain.state.items()}
        arrays[f"{number}/ points"] = run.points[number, : run.kept]
        if run.moments.size:
            arrays[f"{number}/ moments"] = run.moments[number]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=temporary_prefix(), dir=target.parent)
        try:
            with os.fdopen(handle, "w+b") as stream:
                stream.write(bytes(_DIGEST))
                np.savez(stream, allow_pickle=False, **arrays)
                digest = _digest(stream)
                stream.seek(0)
                stream.write(digest)
            os.replace(name, target)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"{target} cannot be written: {os_reason(error)}") from error


def read_checkpoint(path: str | PathLike[str], *, signature: Mapping[str, Any], draws: int) -> Run:
    """Return a run as it was when its checkpoint was written.

    Parameters
    ----------
    path : path
    signature : mapping
    draws : int
        How many draws of a chain the run is to hold.

    Returns
    -------
    Run

    Raises
    ------
    DataError
        If the file is damaged, or belongs to another run.
    """
    source = Path(path)
    damaged = f"{source} is damaged, so that the run cannot go on from it; delete it to start anew"
    try:
        with source.open("rb") as stream:
            if stream.read(_DIGEST) != _digest(stream):
                raise DataError(damaged)
            stream.seek(_DIGEST)
            with np.load(stream, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
    except OSError as error:
        raise DataError(f"{source} cannot be read: {os_reason(error)}") from error
    head = json.loads(arrays.pop("head").tobytes())
    said = head["signature"] if head["format"] == _FORMAT else None
    wanted = json.loads(to_json(dict(signature)))
    if said != wanted:
        raise DataError(f"{source} belongs to another run{_difference(said, wanted)}")
    return _restored(head, arrays, draws=draws)


def _digest(stream: IO[bytes]) -> bytes:
    """Return the digest of what follows its own place in a file."""
    stream.seek(_DIGEST)
    return hashlib.file_digest(stream, "sha256").digest()  # type: ignore[arg-type]


def _restored(head: Mapping[str, Any], arrays: Mapping[str, Floats], *, draws: int) -> Run:
    chains = []
    for number, state in enumerate(head["generators"]):
        generator = np.random.Generator(getattr(np.random, state["bit_generator"])())
        generator.bit_generator.state = state
        values = {
            name.split("/", 1)[1]: np.array(value, dtype=np.float64, order="C")
            for name, value in arrays.items()
            if name.startswith(f"{number}/") and not name.startswith(f"{number}/ ")
        }
        chains.append(Chain(state=values, generator=generator))
    kept = [arrays[f"{number}/ points"] for number in range(len(chains))]
    points = np.empty((len(chains), draws, kept[0].shape[1]))
    for number, part in enumerate(kept):
        points[number, : head["kept"]] = part
    return Run(
        chains=chains,
        sweeps=int(head["sweeps"]),
        thin=int(head["thin"]),
        kept=int(head["kept"]),
        points=points,
        moments=np.array([arrays.get(f"{n}/ moments", np.empty((2, 0))) for n in range(len(kept))]),
        seen=int(head.get("seen", 0)),
    )


def _difference(said: Any, wanted: Mapping[str, Any]) -> str:
    """Return in words how two signatures differ."""
    if not isinstance(said, dict):
        return " of another version of neartie; delete it to start anew, or name another folder"
    names = [name for name in {**wanted, **said} if said.get(name) != wanted.get(name)]
    return (
        f", which differs in: {', '.join(names)}; delete it to start anew, or name another folder"
    )
