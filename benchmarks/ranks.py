"""Time and memory of ranks: draws of many models, and estimates with their covariance.

    python benchmarks/ranks.py                     # all sizes
    python benchmarks/ranks.py --size 1000 4000    # one size: models, draws
    python benchmarks/ranks.py --sets              # how often joint sets hold, by their definition

A row is one call of `rank_models`, compiled beforehand; memory is what the process took at most
above what it had before the call. `--sets` repeats 400 experiments with twelve models whose
estimates are independent normals of sd 0.3, and counts how often all true ranks lie in their sets.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from neartie.audits.ranks import SETS, rank_models

SIZES = ((12, 4000), (60, 4000), (300, 4000), (1000, 4000))
SD = 0.3


def ids(n_model: int) -> list[str]:
    """Return ids in natural order."""
    return [f"model-{m:05d}" for m in range(n_model)]


def time_size(n_model: int, n_draw: int) -> None:
    """Print a row for draws and one for an estimate with its covariance."""
    rng = np.random.default_rng(1)
    truth = rng.normal(size=n_model)
    draws = truth + 0.1 * rng.normal(size=(n_draw, n_model))
    covariance = 0.01 * np.eye(n_model)
    for label in ("draws", "estimate"):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begin = time.perf_counter()
        if label == "draws":
            found = rank_models(draws, models=ids(n_model))
        else:
            found = rank_models(
                truth, models=ids(n_model), covariance=covariance, n_draws=n_draw, rng=1
            )
        seconds = time.perf_counter() - begin
        memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000
        print(
            f"| {label} | {n_model:,} | {n_draw:,} | {seconds:.2f} | {memory:,.0f} | "
            f"{found.n_tiers} |",
            flush=True,
        )


def joint_sets(n_repeat: int) -> None:
    """Print how often all true ranks lie in their sets, and how wide these are."""
    rng = np.random.default_rng(2)
    steps = np.arange(12.0)
    truths = {
        "0.15 apart": 0.15 * steps,
        "0.01 apart": 0.01 * steps,
        "two groups, 0.01 apart within": np.where(steps < 6, 0, 3) + 0.01 * steps,
        "new each time, normal, sd 0.5": None,
    }
    for label, fixed in truths.items():
        for sets in SETS:
            hits, width = 0, 0.0
            for _ in range(n_repeat):
                truth = 0.5 * rng.normal(size=12) if fixed is None else fixed
                rank = dict(zip(ids(12), 12 - np.argsort(np.argsort(truth)), strict=True))
                table = rank_models(
                    rng.normal(truth, SD),
                    models=ids(12),
                    covariance=SD**2 * np.eye(12),
                    sets=sets,
                    n_draws=1000,
                    rng=rng,
                ).ranks
                true = table["model"].map(rank)
                inside = (table["rank_set_low"] <= true) & (true <= table["rank_set_high"])
                hits += bool(inside.all())
                width += float((table["rank_set_high"] - table["rank_set_low"] + 1).mean())
            print(
                f"| {label} | {sets} | {hits / n_repeat:.3f} | {width / n_repeat:.1f} |", flush=True
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", type=int, nargs=2, action="append", metavar=("MODELS", "DRAWS"))
    parser.add_argument("--sets", action="store_true")
    parser.add_argument("--repeats", type=int, default=400)
    chosen = parser.parse_args()
    if chosen.sets:
        print("| true scores | sets from | all ranks within | ranks in a set |\n|---|---|---|---|")
        joint_sets(chosen.repeats)
        return
    rank_models(np.random.default_rng(0).normal(size=(100, 3)), models=["a", "b", "c"])
    rank_models(np.zeros(3), models=["a", "b", "c"], covariance=np.eye(3), rng=0)
    print("| source | models | draws | seconds | MB | tiers |\n|---|---|---|---|---|---|")
    for n_model, n_draw in chosen.size or SIZES:
        time_size(n_model, n_draw)


if __name__ == "__main__":
    main()
