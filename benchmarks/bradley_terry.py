"""Time of Bradley–Terry fits, side by side with other packages where they are installed.

    python benchmarks/bradley_terry.py                       # both sizes
    python benchmarks/bradley_terry.py --size 100 100000     # one size
    python benchmarks/bradley_terry.py --rounds 20           # fewer bootstrap rounds
    pip install choix evalica                                # for the comparison

Battles are simulated: strengths from N(0, 1), pairs drawn evenly, no ties. Times are wall-clock,
from battles in memory to the answer, the best of three. RMSE is that of centred strengths. The first
row of `neartie` gives estimate, full covariance, intervals and the interval of every rank that
pairwise differences at 95 % leave open; the others give what the row says.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
from collections.abc import Callable
from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray

from neartie.data.battles import Battles, assemble
from neartie.inference.bradley_terry import fit_bradley_terry
from neartie.inference.bradley_terry_bootstrap import bootstrap_bradley_terry
from neartie.inference.bradley_terry_result import BradleyTerryFit

type Floats = NDArray[np.float64]

SIZES = ((100, 100_000), (1000, 1_000_000))


def simulate(n_model: int, n_battle: int, rng: np.random.Generator) -> tuple[Battles, Floats]:
    """Return battles between evenly drawn pairs, and the centred true strengths."""
    truth = rng.normal(size=n_model)
    truth -= truth.mean()
    a = rng.integers(n_model, size=n_battle)
    b = (a + rng.integers(1, n_model, size=n_battle)) % n_model
    won = rng.random(n_battle) < 1 / (1 + np.exp(truth[b] - truth[a]))
    none = np.full(n_battle, -1, dtype=np.int64)
    digits = len(str(n_model))
    battles = assemble(
        models=tuple(f"model-{i:0{digits}d}" for i in range(n_model)),
        model_a=a,
        model_b=b,
        outcome=np.where(won, 1, -1).astype(np.int8),
        weight=np.ones(n_battle),
        shown=np.ones(n_battle, dtype=np.int8),
        shown_is_given=False,
        judges=(),
        judge=none,
        prompts=(),
        prompt=none,
        notices=(),
    )
    return battles, truth


def rank_intervals(fit: BradleyTerryFit) -> NDArray[np.int64]:
    """Return the best and worst rank of each model that its 95 % pairwise differences allow."""
    variance = np.diag(fit.covariance)
    se = np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * fit.covariance, 0))
    gap = fit.strength[:, None] - fit.strength[None, :]
    better, worse = np.sum(gap < -1.96 * se, axis=1), np.sum(gap > 1.96 * se, axis=1)
    return np.stack([1 + better, len(gap) - worse], axis=1)


def best_time(work: Callable[[], object]) -> float:
    """Return seconds: the best of three where one takes less than three."""
    seconds: list[float] = []
    while not seconds or (len(seconds) < 3 and seconds[0] < 3):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def row(label: str, work: Callable[[], Floats | None], truth: Floats, gives: str) -> None:
    """Time some work and print a row; work that gives no strengths has no RMSE."""
    found: list[Floats | None] = []
    seconds = best_time(lambda: found.append(work()))
    error = "-"
    if (strength := found[-1]) is not None:
        error = f"{np.sqrt(np.mean(np.square(strength - strength.mean() - truth))):.4f}"
    print(f"| {label} | {seconds:.3f} | {error} | {gives} |", flush=True)


def ours(battles: Battles, truth: Floats, rounds: int) -> None:
    """Print the rows of neartie."""

    def whole() -> Floats:
        fit = fit_bradley_terry(battles, phantom_wins=0)
        fit.table()
        rank_intervals(fit)
        return fit.strength

    everything = "estimate, covariance, intervals, ranks"
    row("neartie newton, maximum likelihood", whole, truth, everything)
    row(
        "neartie newton, 0.1 phantom wins",
        lambda: fit_bradley_terry(battles).strength,
        truth,
        "estimate, covariance",
    )
    row(
        "neartie mm, 0.1 phantom wins",
        lambda: fit_bradley_terry(battles, engine="mm").strength,
        truth,
        "estimate, covariance",
    )
    fit = fit_bradley_terry(battles, phantom_wins=0)

    def resample() -> None:
        bootstrap_bradley_terry(battles, fit, rounds=rounds, rng=1)

    row(f"neartie bootstrap, {rounds} rounds", resample, truth, "intervals")


def others(battles: Battles, truth: Floats) -> None:
    """Print the rows of the packages that are installed."""
    n = battles.n_model
    winner = np.where(battles.outcome > 0, battles.model_a, battles.model_b)
    loser = np.where(battles.outcome > 0, battles.model_b, battles.model_a)
    if importlib.util.find_spec("choix"):
        import choix

        def dense() -> Floats:
            wins = np.bincount(winner * n + loser, minlength=n * n).reshape(n, n).astype(float)
            return np.asarray(choix.ilsr_pairwise_dense(wins))

        row(f"choix {version('choix')} ilsr_pairwise_dense", dense, truth, "estimate")
    if importlib.util.find_spec("evalica"):
        import evalica

        names = np.array(battles.models)
        xs, ys = names[winner].tolist(), names[loser].tolist()
        winners = [evalica.Winner.X] * len(xs)

        def bradley_terry() -> Floats:
            scores = evalica.bradley_terry(xs, ys, winners).scores
            return np.log(scores.loc[list(battles.models)].to_numpy())

        row(f"evalica {version('evalica')} bradley_terry", bradley_terry, truth, "estimate")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, nargs=2, metavar=("MODELS", "BATTLES"))
    parser.add_argument("--rounds", type=int, default=100, help="bootstrap rounds")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f}, numpy {np.__version__}")
    begin = time.perf_counter()
    fit_bradley_terry(simulate(5, 100, np.random.default_rng(1))[0])
    print(f"first small fit, compilation or its cache: {time.perf_counter() - begin:.1f} s")
    for n_model, n_battle in [tuple(options.size)] if options.size else SIZES:
        battles, truth = simulate(n_model, n_battle, np.random.default_rng(20261130))
        print(f"\n{n_model:,} models, {n_battle:,} battles\n")
        print("| what | seconds | RMSE | gives |\n| --- | ---: | ---: | --- |")
        ours(battles, truth, options.rounds if n_model <= 100 else max(2, options.rounds // 10))
        others(battles, truth)


if __name__ == "__main__":
    main()
