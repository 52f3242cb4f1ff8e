"""Time and memory of the near-tie audit at the paper's MMLU size, step by step, and its growth.

    python benchmarks/audit.py                # breakdown and whole process
    python benchmarks/audit.py --growth       # also over items, models and K
    python benchmarks/audit.py --battery      # robustness battery and permuted families

The matrix is simulated: 14,042 items in 57 sources, about 1,500 retained models of 5 families in
two halves. Settings are the paper's: K grid to 256, three rounds and the refit, 1,000 controls,
2,000 recompositions, six bands. `primary` leaves out the sensitivity analysis over anchor
fractions; `default` is what the command does. A first small audit compiles the kernels (their
machine code is cached on disk, so that only the first run ever pays for it); its time is shown.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from neartie.audits.control_comparison import compare_controls
from neartie.audits.near_tie import audit_near_ties
from neartie.audits.robustness import check_robustness
from neartie.audits.settings import AuditSettings
from neartie.data.responses import Responses
from neartie.data.simulate import simulate_leaderboard

PRIMARY = AuditSettings(alpha="0.5")


class StepClock:
    """Seconds between the names that the audit reports."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._step = ""
        self._since = time.perf_counter()

    def __call__(self, step: str, share: float) -> None:
        now = time.perf_counter()
        self.seconds[self._step] = self.seconds.get(self._step, 0.0) + now - self._since
        self._step, self._since = step, now

    def close(self) -> dict[str, float]:
        self("end", 1.0)
        self.seconds.pop("", None)
        return self.seconds


def board(n_items: int, n_models: int) -> Responses:
    """Return a leaderboard of the paper's proportions."""
    return simulate_leaderboard(
        n_items=n_items,
        n_models=n_models,
        n_owners=max(20, n_models // 3),
        n_sources=min(57, n_items // 20),
        n_dimensions=16,
        rng=20261130,
    ).responses


def run(data: Responses, settings: AuditSettings) -> tuple[float, dict[str, float], str]:
    """Return seconds, seconds by step, and the size that was audited."""
    clock = StepClock()
    begin = time.perf_counter()
    audit = audit_near_ties(data, settings, rng=1, progress=clock)
    seconds = time.perf_counter() - begin
    size = (
        f"{audit.n_items} x {len(audit.population)}, "
        f"{audit.to_dict()['n_representatives']} representatives, K {audit.k[0]}/{audit.k[1]}"
    )
    return seconds, clock.close(), size


def whole_process(data: Responses, *options: str) -> tuple[float, float]:
    """Return seconds and peak MB of `neartie audit` from Parquet to report."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        table = pd.DataFrame(data.values, columns=data.model_ids)
        table.insert(0, "item", data.item_ids)
        table.to_parquet(folder / "responses.parquet")
        data.items.to_csv(folder / "items.csv", index=False)
        data.models.to_csv(folder / "models.csv", index=False)
        command = [sys.executable, "-m", "neartie", "audit", str(folder / "responses.parquet")]
        command += ["--items", str(folder / "items.csv"), "--models", str(folder / "models.csv")]
        command += ["--out", str(folder / "out"), *options]
        begin = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return seconds, peak


def growth() -> None:
    """Print how time grows over items, models and K."""
    print("\n| items | models | K | seconds |\n| ---: | ---: | ---: | ---: |")
    for n_items, n_models, k in (
        (3500, 1600, 16),
        (7000, 1600, 16),
        (14042, 1600, 16),
        (7000, 400, 16),
        (7000, 800, 16),
        (7000, 3200, 16),
        (7000, 1600, 4),
        (7000, 1600, 64),
        (7000, 1600, 256),
    ):
        settings = AuditSettings(alpha="0.5", dimension=k)
        seconds, _, _ = run(board(n_items, n_models), settings)
        print(f"| {n_items:,} | {n_models:,} | {k} | {seconds:.1f} |")


def battery(data: Responses, permutations: int) -> None:
    """Print the time of the robustness battery and of a few permutations of family labels."""
    audit = audit_near_ties(data, PRIMARY, rng=1)
    clock = StepClock()
    begin = time.perf_counter()
    checked = check_robustness(data, audit, progress=clock)
    seconds = time.perf_counter() - begin
    clock.close()
    print(f"\nbattery of {len(checked.table) - 1} variants, 200 controls: {seconds:.1f} s")
    for rerun in ("all", "last"):
        begin = time.perf_counter()
        compare_controls(data, audit, permutations=permutations, controls=0, rerun=rerun)
        seconds = time.perf_counter() - begin
        print(f"{permutations} permutations of families, rerun {rerun}: {seconds:.1f} s")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--growth", action="store_true", help="also time other sizes")
    parser.add_argument("--battery", action="store_true", help="robustness and permutations only")
    parser.add_argument("--items", type=int, default=14042)
    parser.add_argument("--models", type=int, default=1680)
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, numpy {np.__version__}")
    begin = time.perf_counter()
    run(board(200, 200), AuditSettings(controls=10, bootstraps=10, dimension=2))
    print(f"first small audit, compilation or its cache: {time.perf_counter() - begin:.1f} s")

    data = board(options.items, options.models)
    if options.battery:
        battery(data, permutations=4)
        return
    for label, settings in (("primary", PRIMARY), ("default", AuditSettings())):
        seconds, steps, size = run(data, settings)
        print(f"\n{label}: {size}\n\n| step | seconds |\n| --- | ---: |")
        for step, value in steps.items():
            print(f"| {step} | {value:.2f} |")
        print(f"| **all, after reading** | **{seconds:.1f}** |")
    for label, extra in (("primary", ("--alpha", "0.5")), ("default", ())):
        seconds, peak = whole_process(data, *extra)
        print(f"\nwhole process from Parquet, {label}: {seconds:.1f} s, peak {peak:,.0f} MB")
    if options.growth:
        growth()


if __name__ == "__main__":
    main()
