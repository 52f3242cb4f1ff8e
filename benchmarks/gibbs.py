"""Speed of the Gibbs sampler beside NUTS on the same PyMC models, and how it grows.

    python benchmarks/gibbs.py                                   # side by side; some 20 minutes
    python benchmarks/gibbs.py --case "2PL 150 x 500"            # one case
    python benchmarks/gibbs.py --growth                          # seconds a sweep by size
    python benchmarks/gibbs.py --paper --draws 500 --tune 200    # 14,042 items x 750 models, K = 16
    python benchmarks/gibbs.py --population ../shared/data/open_llm_v1   # a real one

Sizes are models x items. Every fit runs in a process of its own, one after the other, two chains in
two threads. The smallest bulk effective sample size is that over what models are ranked by, over the
range of family effects of an item (D), and over everything else that convergence is judged by,
hyperparameters included; each for a CPU second of sampling, tuning counted, compilation not.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from nuts import simulate_answers, simulate_battles
from threadpoolctl import threadpool_limits


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """Data, a model of them, and how long either engine samples."""

    kind: str
    simulate: Callable[[], Any]
    options: dict[str, Any] = field(default_factory=dict)
    nuts: tuple[int, int] = (500, 500)
    gibbs: tuple[int, int] = (1000, 500)


CASES: dict[str, Case] = {
    "2PL 150 x 500": Case(
        kind="two-pl", simulate=lambda: simulate_answers(500, 150, 1), nuts=(300, 400)
    ),
    "2PL 500 x 1,000": Case(
        kind="two-pl", simulate=lambda: simulate_answers(1000, 500, 1), nuts=(60, 120)
    ),
    "MIRT-DIF K=2, 100 x 200": Case(
        kind="mirt-dif",
        simulate=lambda: simulate_answers(200, 100, 2),
        options={"dimension": 2},
        gibbs=(2000, 250),
    ),
    "BT 100, scale estimated": Case(
        kind="bradley-terry",
        simulate=lambda: simulate_battles(100, 10_000),
        options={"hierarchical": True},
    ),
}

GROWTH: dict[str, tuple[str, int, int, int]] = {
    f"{kind}{f', K = {k}' if k else ''}, {n_model} x {n_item}": (kind, n_item, n_model, k)
    for kind, n_item, n_model, k in (
        ("two-pl", 500, 150, 0),
        ("two-pl", 1000, 500, 0),
        ("two-pl", 5000, 1000, 0),
        ("mirt-dif", 200, 100, 2),
        ("mirt-dif", 1000, 400, 2),
        ("mirt-dif", 1000, 400, 8),
        ("mirt-dif", 1000, 400, 16),
        ("mirt-dif", 1000, 400, 32),
        ("mirt-dif", 2000, 400, 8),
        ("mirt-dif", 1000, 800, 8),
    )
}


def run(name: str, engine: str) -> None:
    """Fit one case by one engine and print what was found as JSON."""
    from neartie.inference.diagnostics import diagnostics
    from neartie.inference.fit import fit

    case, said = CASES[name], list[tuple[str, float]]()
    draws, tune = case.nuts if engine == "nuts" else case.gibbs
    data = case.simulate()
    asked: dict[str, Any] = {"target_accept": 0.8} if engine == "nuts" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = fit(
            data,
            kind=case.kind,
            options=case.options,
            engine=engine,
            draws=draws,
            tune=tune,
            chains=2,
            cores=2,
            progress=lambda step, _: said.append((step.partition(" ")[0], time.process_time())),
            rng=1,
            **asked,
        )
        table = diagnostics(tree)
    compiling = [moment for step, moment in said if step == "compiling"]
    times = [moment for step, moment in said if step in ("tuning", "sampling")]
    # NUTS reports from its first draw on; Gibbs when something is due, but compiles nothing.
    began = times[0] if engine == "nuts" else compiling[0]
    seconds = times[-1] - began
    ranked = table["quantity"].str.startswith(tree.attrs["ranking"] + "[")
    ranges = table["quantity"].str.startswith("dif_range[")
    groups = {"ranked": table[ranked], "D": table[ranges], "rest": table[~ranked & ~ranges]}
    found = {
        name: float(part["ess_bulk"].min()) if len(part) else None for name, part in groups.items()
    }
    worst = groups["rest"].sort_values("ess_bulk").iloc[0]["quantity"]
    print(
        json.dumps(
            {
                "seconds": seconds,
                **found,
                "worst": worst,
                "rhat": tree.attrs["max_rhat"],
                "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )
    )


def compare(names: list[str]) -> None:
    """Print both engines' rows of every case, and how often the one goes into the other."""
    print(
        "| model | engine | CPU seconds | ESS a CPU second: ranked by | D | the rest | its worst | largest "
        "R-hat | memory, MB |\n|---|---|---:|---:|---:|---:|---|---:|---:|",
        flush=True,
    )
    for name in names:
        rows = {engine: _child(name, engine) for engine in ("nuts", "gibbs")}
        for engine, row in rows.items():
            rates = [_rate(row, key) for key in ("ranked", "D", "rest")]
            print(
                f"| {name} | {engine} | {row['seconds']:.1f} | {' | '.join(rates)} | "
                f"{row['worst']} | {row['rhat']:.3f} | {row['memory']:.0f} |",
                flush=True,
            )
        times = [
            f"{rows['gibbs'][key] / rows['gibbs']['seconds'] * rows['nuts']['seconds'] / rows['nuts'][key]:.0f} x"
            if rows["nuts"][key]
            else ""
            for key in ("ranked", "D", "rest")
        ]
        print(f"| | gibbs / nuts | | {' | '.join(times)} | | | |", flush=True)


def _rate(row: dict[str, Any], key: str) -> str:
    return "" if row[key] is None else f"{row[key] / row['seconds']:.1f}"


def _child(name: str, engine: str) -> dict[str, Any]:
    arguments = [sys.executable, __file__, "--case", name, "--engine", engine]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return row


def grow() -> None:
    """Print the CPU seconds of a sweep by size, one chain on one core."""
    from neartie.inference.fit import _model
    from neartie.inference.gibbs import block_sampler

    threadpool_limits(limits=1)
    print("| model, models x items | CPU seconds a sweep |\n|---|---:|", flush=True)
    for name, (kind, n_item, n_model, k) in GROWTH.items():
        data = simulate_answers(n_item, n_model, max(k, 1))
        sampler = block_sampler(_model(data, kind=kind, options={"dimension": k} if k else {}))
        rng = np.random.default_rng(1)
        state = sampler.start(rng)
        for _ in range(55):  # compiles, and leaves the start behind
            sampler.sweep(state, rng, tuning=True)
        began, sweeps = time.process_time(), 0
        while time.process_time() - began < 3 or sweeps < 3:
            sampler.sweep(state, rng, tuning=True)
            sweeps += 1
        print(f"| {name} | {(time.process_time() - began) / sweeps:.4f} |", flush=True)


# What audits and rankings need of large data.
KEPT = ("linear_predictor", "dif_range", "dif_scale", "loading_scale", "easiness_scale")


def paper(draws: int, tune: int, checkpoint: str | None) -> None:
    """Fit the size of the paper's largest benchmark, and print a log."""
    log_fit(
        simulate_answers(14_042, 750, 16),
        16,
        draws=draws,
        tune=tune,
        chains=2,
        start="map",
        checkpoint=checkpoint,
        keep=KEPT,
    )


def population(folder: Path, models: Path | None, dimension: int) -> None:
    """Fit the models that a near-tie audit of a leaderboard retains."""
    from neartie.audits.population import build_population
    from neartie.data.read import read_responses

    whole = read_responses(
        folder / "responses.csv.gz",
        items=folder / "items.csv",
        models=models or folder / "models.csv",
    )
    found = build_population(whole, rng=1)
    data = replace(found.responses, models=found.table[["model", "family"]].reset_index(drop=True))
    log_fit(data, dimension, draws=500, tune=500, chains=4, thin=5)


def log_fit(data: Any, dimension: int, **settings: Any) -> None:
    """Fit, say how far it is now and then, and in the end what the chains are worth."""
    from neartie.inference.diagnostics import diagnostics
    from neartie.inference.fit import fit

    began, spent, last = time.perf_counter(), time.process_time(), [-np.inf]

    def log(step: str, share: float) -> None:
        now = time.perf_counter() - began
        if now < last[0] + 15 and share < 1:
            return
        last[0] = now
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"{now:7.0f} s  {100 * share:5.1f} %  {memory:.1f} GB  {step}", flush=True)

    print(f"{data.n_item:,} items x {data.n_model:,} models, K = {dimension}", flush=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = fit(
            data,
            kind="mirt-dif",
            options={"dimension": dimension},
            engine="gibbs",
            cores=2,
            progress=log,
            rng=1,
            **settings,
        )
        table = diagnostics(tree)
    log(f"posterior, {time.process_time() - spent:.0f} CPU s, {tree.attrs['facts']}", 1.0)
    table = table.assign(kind=table["quantity"].str.partition("[")[0])
    found = table.groupby("kind").agg(
        n=("r_hat", "size"),
        largest_r_hat=("r_hat", "max"),
        smallest_bulk=("ess_bulk", "min"),
        median_bulk=("ess_bulk", "median"),
        smallest_tail=("ess_tail", "min"),
    )
    print(found.round(3).to_string())
    print(tree.attrs["verdict"])


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--case", choices=CASES, action="append", help="all when left out")
    parser.add_argument("--engine", choices=("nuts", "gibbs"), help="one, in this process")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--paper", action="store_true")
    parser.add_argument("--population", type=Path, help="folder of a leaderboard")
    parser.add_argument("--models", type=Path, help="another model table of --population")
    parser.add_argument("--dimension", type=int, default=8, help="of --population")
    parser.add_argument("--draws", type=int, default=500, help="of --paper")
    parser.add_argument("--tune", type=int, default=200, help="of --paper")
    parser.add_argument("--checkpoint", help="file from which --paper goes on after a stop")
    chosen = parser.parse_args()
    if chosen.engine:
        run(chosen.case[0], chosen.engine)
    elif chosen.growth:
        grow()
    elif chosen.population:
        population(chosen.population, chosen.models, chosen.dimension)
    elif chosen.paper:
        paper(chosen.draws, chosen.tune, chosen.checkpoint)
    else:
        compare(chosen.case or list(CASES))


if __name__ == "__main__":
    main()
