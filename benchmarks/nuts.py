"""Speed of NUTS on the models of the toolkit: the yardstick for faster engines.

    python benchmarks/nuts.py                          # all sizes
    python benchmarks/nuts.py --case "2PL 50 x 100"    # one

Answers and battles are simulated from the models. Each case runs in a process of its own: seconds
from the built model to its draws, with and without compilation; the smallest bulk effective sample
size over what models are ranked by, for each second of sampling; the largest memory the process
held. Divergences and the largest R-hat are shown because a figure of draws that are not converged
would mean nothing.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from neartie.data.battles import Battles
from neartie.data.responses import Responses


def simulate_answers(n_item: int, n_model: int, n_factor: int) -> Responses:
    """Return answers of a model with positive loadings and three families."""
    rng = np.random.default_rng(n_item * 1000 + n_model)
    loading = np.exp(0.3 * rng.standard_normal((n_item, n_factor))) / np.sqrt(n_factor)
    ability = rng.standard_normal((n_model, n_factor))
    eta = loading @ ability.T + rng.standard_normal((n_item, 1))
    values = (rng.random(eta.shape) < 1 / (1 + np.exp(-eta))).astype(np.int8)
    names = [f"m{k:04d}" for k in range(n_model)]
    families = [("Ash", "Birch", "Cedar")[k % 3] for k in range(n_model)]
    return Responses.build(
        values,
        items=pd.DataFrame({"item": [f"q{k:04d}" for k in range(n_item)]}),
        models=pd.DataFrame({"model": names, "owner": names, "family": families}),
    )


def simulate_battles(n_model: int, n_battle: int) -> Battles:
    """Return battles of evenly drawn pairs."""
    rng = np.random.default_rng(n_model)
    strength = rng.standard_normal(n_model)
    first = rng.integers(n_model, size=n_battle)
    second = (first + rng.integers(1, n_model, size=n_battle)) % n_model
    won = rng.random(n_battle) < 1 / (1 + np.exp(strength[second] - strength[first]))
    names = [f"m{k:03d}" for k in range(n_model)]
    return Battles.build(
        [names[k] for k in first],
        [names[k] for k in second],
        ["a" if win else "b" for win in won],
    )


CASES: dict[str, tuple[str, Callable[[], Any], dict[str, Any]]] = {
    "2PL 50 x 100": ("two-pl", lambda: simulate_answers(50, 100, 1), {}),
    "2PL 150 x 500": ("two-pl", lambda: simulate_answers(150, 500, 1), {}),
    "BT 20": ("bradley-terry", lambda: simulate_battles(20, 2000), {}),
    "BT 100": ("bradley-terry", lambda: simulate_battles(100, 10_000), {}),
    "MIRT-DIF K=2 100 x 200": (
        "mirt-dif",
        lambda: simulate_answers(100, 200, 2),
        {"dimension": 2},
    ),
}


def run(name: str, *, draws: int, tune: int, chains: int, cores: int) -> None:
    """Fit one case and print its row."""
    from neartie.inference.diagnostics import diagnostics
    from neartie.inference.fit import fit

    kind, simulate, options = CASES[name]
    data = simulate()
    said: list[tuple[str, float]] = []
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = fit(
            data,
            kind=kind,
            options=options,
            draws=draws,
            tune=tune,
            chains=chains,
            cores=cores,
            target_accept=0.8,
            progress=lambda step, share: said.append((step, time.perf_counter())),
            rng=1,
        )
        total = time.perf_counter() - started
        table = diagnostics(tree)
    times = [moment for step, moment in said if step == "sampling"]
    sampling = times[-1] - times[0]
    ranked = table[table["quantity"].str.startswith(tree.attrs["ranking"] + "[")]
    smallest = ranked["ess_bulk"].min()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"| {name} | {total:.0f} | {sampling:.1f} | {smallest:.0f} | {smallest / sampling:.1f} | "
        f"{tree.attrs['max_rhat']:.3f} | {tree.attrs['n_divergent']} | {memory:.0f} |",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--case", choices=CASES, help="one case, in this process")
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--tune", type=int, default=1000)
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--cores", type=int, default=2)
    chosen = parser.parse_args()
    settings = {name: getattr(chosen, name) for name in ("draws", "tune", "chains", "cores")}
    if chosen.case:
        run(chosen.case, **settings)
        return
    print(
        "| model | seconds in all | seconds of sampling | smallest bulk ESS | per second | "
        "largest R-hat | divergences | memory, MB |\n|---|---|---|---|---|---|---|---|",
        flush=True,
    )
    for name in CASES:
        arguments = [f"--{key}={value}" for key, value in settings.items()]
        subprocess.run([sys.executable, __file__, "--case", name, *arguments], check=True)


if __name__ == "__main__":
    main()
