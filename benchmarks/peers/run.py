"""neartie beside its peers: seconds, memory, error and coverage on the same simulated data.

    python benchmarks/peers/run.py                       # every task, about an hour
    python benchmarks/peers/run.py --quick               # small sizes, about a minute
    python benchmarks/peers/run.py --task bt-1000        # one task; again for several
    python benchmarks/peers/run.py --write               # also docs/tables/peers.md

Makes an environment of its own for every peer (needs `uv` and a network the first time, and 6 GB
for those that bring torch), and runs each fit in a process of its own, with one thread. Within a
task, all programs fit one data set before the next, so that what else the machine does falls on all
alike; seconds of the processor tell more than those of the clock then. Who took longer than a minute
is not asked for a further one. A process is stopped after `--limit` seconds of the processor, or after
those in `comparison.py` where it is known not to end; with a higher limit it is tried again. What was found is kept in the cache
folder, line by line, and not done again unless `--again` is given; `--write` takes all lines.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from comparison import QUICK, TASKS, Method, Task
from environments import environment, last_line
from report import tables

HERE = Path(__file__).resolve().parent
TABLE = HERE.parent.parent / "docs" / "tables" / "peers.md"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "neartie-peers"
#: Seconds after which a method gets no further data set.
PATIENCE = 60
THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON", "VECLIB_MAXIMUM", "POLARS_MAX")


def surroundings(threads: int, folder: Path, fresh: bool) -> dict[str, str]:
    """Return the environment variables of a fit."""
    found = dict(os.environ) | {f"{name}_NUM_THREADS": str(threads) for name in THREADS}
    found["POLARS_MAX_THREADS"] = found["RAYON_NUM_THREADS"]
    found["XLA_FLAGS"] = (
        f"--xla_cpu_multi_thread_eigen={str(threads > 1).lower()}"
        f" intra_op_parallelism_threads={threads}"
    )
    if fresh:
        found["NUMBA_CACHE_DIR"] = str(folder / "compiled")
    return found


def fit(
    task: Task, method: Method, numbers: range, *, folder: Path, limit: float, threads: int
) -> dict[str, Any]:
    """Fit data sets in one process and return the row about it."""
    row: dict[str, Any] = {"task": task.name, "label": method.label, "first": numbers[0]}
    row |= {"program": method.program, "when": time.strftime("%Y-%m-%d %H:%M")}
    row |= {"load": os.getloadavg()[0], "limit": limit}
    place = environment(method.program, folder)
    if place.failure:
        return row | {"failure": place.failure}
    samples = [task.simulate(number) for number in numbers]
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        np.savez(
            work / "data.npz",
            **{f"{k}|{key}": v for k, s in enumerate(samples) for key, v in s.data.items()},
        )
        module = f"with_{method.program.replace('-', '_')}"
        answer = work / "answer"
        command: list[str | Path] = [
            place.python,
            HERE / "worker.py",
            module,
            method.name,
            f"{limit:.0f}",
        ]
        command += [work / "data.npz", answer]
        started = time.perf_counter()
        try:
            ended = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=False,
                timeout=PATIENCE + 10 * limit,
                cwd=work,
                env=surroundings(threads, work, method.fresh),
            )
            if ended.returncode == -signal.SIGXCPU:
                row |= {"failure": f"more than {limit:g} s", "stopped": True}
            elif ended.returncode < 0:
                row["failure"] = f"stopped by signal {-ended.returncode}, perhaps for its memory"
            elif ended.returncode:
                row["failure"] = last_line(ended.stderr)
        except subprocess.TimeoutExpired:
            said = f"more than {10 * limit:g} s of the clock"
            row |= {"failure": said, "stopped": True}
        row["process"] = time.perf_counter() - started
        if (work / "answer.json").exists():
            row |= json.loads((work / "answer.json").read_text())
            found = []
            for k, sample in enumerate(samples[: len(row["seconds"])]):
                with np.load(f"{answer}-{k}.npz") as stored:
                    found.append(task.judge(dict(stored), sample.truth))
            row["found"] = found
    return row


def wanted(method: Method, options: argparse.Namespace) -> bool:
    """Return whether the options ask for a method."""
    asked = not options.program or method.program in options.program
    return asked and not any(text in method.label for text in options.skip)


def without(row: dict[str, Any], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows but those that a new row replaces."""
    key = ("task", "label", "first")
    return [old for old in rows if any(old[name] != row[name] for name in key)]


def run(tasks: list[Task], options: argparse.Namespace, store: Path) -> list[dict[str, Any]]:
    """Run what is not in the store yet, and return all rows of it."""
    lines = store.read_text().splitlines() if store.exists() else []
    rows: list[dict[str, Any]] = []
    for line in lines:
        row = json.loads(line)
        rows = [*without(row, rows), row]
    if options.again:
        rows = [row for row in rows if row["task"] not in {task.name for task in tasks}]
        store.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for task in tasks:
        sets = task.sets if options.sets is None else options.sets
        for first in range(0, sets, task.together):
            for method in task.methods:
                if not wanted(method, options):
                    continue
                limit = min(options.limit, method.limit or options.limit)
                mine = [r for r in rows if (r["task"], r["label"]) == (task.name, method.label)]
                final = [r for r in mine if not ("stopped" in r and r["limit"] < limit)]
                slow = any("failure" in r or max(r["processor"]) > PATIENCE for r in final)
                if any(row["first"] == first for row in final) or (slow and first):
                    continue
                numbers = range(first, min(first + task.together, sets))
                row = fit(
                    task,
                    method,
                    numbers,
                    folder=options.cache,
                    limit=limit,
                    threads=options.threads,
                )
                rows = [*without(row, rows), row]
                told = row.get("failure") or f"{row['process']:.1f} s {row['found'][-1]}"
                print(f"{task.name} | {method.label} | {first} | {told}", flush=True)
                with store.open("a") as out:
                    out.write(json.dumps(row) + "\n")
    return rows


def main() -> None:
    """Run the comparison and print or write its tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [task.name for task in TASKS]
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all works")
    parser.add_argument("--task", action="append", choices=names, help="all when left out")
    parser.add_argument("--program", action="append", help="all when left out")
    parser.add_argument("--skip", action="append", default=[], help="text in a method's name")
    parser.add_argument("--sets", type=int, help="data sets a task")
    parser.add_argument(
        "--limit", type=float, default=300, help="seconds of the processor a process"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cache", type=Path, default=CACHE, help=f"folder, {CACHE}")
    parser.add_argument("--again", action="store_true", help="forget what was found before")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    every = QUICK if options.quick else TASKS
    chosen = [task for task in every if not options.task or task.name in options.task]
    store = options.cache / ("quick.jsonl" if options.quick else "rows.jsonl")
    options.again = options.again or options.quick
    rows = run(chosen, options, store)
    text = tables(every, rows)
    print(text)
    if options.write and not options.quick:
        TABLE.write_text(text)


if __name__ == "__main__":
    main()
