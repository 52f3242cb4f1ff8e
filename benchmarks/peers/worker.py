"""Fit data sets with one method of one program, in a process of its own.

    python worker.py MODULE METHOD LIMIT DATA.npz ANSWER

Runs in the environment of that program: numpy is all that it shares with the rest. `MODULE` (for
instance `with_girth`) has a dictionary `METHODS`. A method is given a data set, puts it into the form
that its program reads, and returns the fit, a function without arguments: only that is timed. What
is found goes to ANSWER-0.npz and so on, one file a data set, and ANSWER.json is written anew after
each of them, so that a process that is stopped has told what it had. The system stops a process that has used
LIMIT seconds of the processor.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
import time
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

#: Libraries whose versions are told beside that of the program.
BESIDE = ("numpy", "scipy", "numba", "torch", "jax")


def peak_megabytes() -> float:
    """Return the largest memory of this process, since its own program was started.

    The kernel's other count, `ru_maxrss`, starts from that of the process which started this one.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith("VmHWM"))


def versions(packages: list[str]) -> dict[str, str]:
    """Return the versions of those that are installed."""
    found = {}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def data_sets(path: Path) -> list[dict[str, Any]]:
    """Return the data sets of a file, in which the key is `number|name`."""
    sets: dict[int, dict[str, Any]] = {}
    with np.load(path) as stored:
        for key in stored.files:
            number, name = key.split("|")
            value = stored[key]
            sets.setdefault(int(number), {})[name] = value if value.ndim else value.item()
    return [sets[number] for number in sorted(sets)]


def main() -> None:
    """Fit the data sets in turn."""
    module, method, limit, data, answer = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
    warnings.simplefilter("ignore")
    program = importlib.import_module(module)
    record: dict[str, Any] = {"seconds": [], "processor": []}
    for number, one in enumerate(data_sets(Path(data))):
        fit = program.METHODS[method](one)
        started, before = time.perf_counter(), time.process_time()
        found = fit()
        record["seconds"].append(time.perf_counter() - started)
        record["processor"].append(time.process_time() - before)
        record["megabytes"], record["whole"] = peak_megabytes(), time.process_time()
        used = [name for name in BESIDE if name in sys.modules]
        record["versions"] = versions([program.PACKAGE, *used])
        arrays: dict[str, Any] = {key: np.asarray(value) for key, value in found.items()}
        np.savez(f"{answer}-{number}.npz", **arrays)
        Path(f"{answer}.json").write_text(json.dumps(record))


if __name__ == "__main__":
    main()
