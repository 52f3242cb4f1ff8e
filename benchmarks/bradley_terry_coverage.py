"""Coverage of 95 % intervals of Bradley–Terry strengths and differences, printed and right.

    python benchmarks/bradley_terry_coverage.py             # 1,600 data sets a design, a few minutes
    python benchmarks/bradley_terry_coverage.py --write     # also docs/tables/bradley_terry_coverage.md

Strengths are drawn anew from N(0, 1) for every data set, and centred. Designs: `uniform`, where
every pair meets equally often; `ladder`, where every model meets its four nearest neighbours 200
times a pair; `sparse`, where each model meets a handful of others drawn at random. Pairs are
200 drawn at random, so that on a ladder most are far apart. P1 prints the inverse root of the
diagonal of the information; for a difference that formula gives the root of the two squares' sum.
Data sets without a finite maximum-likelihood estimate are drawn again, and counted in the last
column. The Monte Carlo error is the standard error of the mean over data sets, within which models
share their errors.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neartie.inference.bradley_terry_kernel import Problem, covariance, evaluate, newton
from neartie.inference.bradley_terry_phantoms import add_phantoms

type Floats = NDArray[np.float64]
type Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "tables" / "bradley_terry_coverage.md"
Z = 1.959963984540054


@dataclass(frozen=True, kw_only=True, slots=True)
class Design:
    """Which pairs meet, and how often."""

    name: str
    n_model: int
    games: int
    pairs: Callable[[np.random.Generator], Pairs]


def uniform(n: int) -> Callable[[np.random.Generator], Pairs]:
    """Return a design in which all pairs meet."""
    return lambda _: np.triu_indices(n, 1)


def ladder(n: int) -> Callable[[np.random.Generator], Pairs]:
    """Return a design in which every model meets the two next on either side."""
    first = np.concatenate([np.arange(n - 1), np.arange(n - 2)])
    second = np.concatenate([np.arange(1, n), np.arange(2, n)])
    return lambda _: (first, second)


def sparse(n: int, degree: int) -> Callable[[np.random.Generator], Pairs]:
    """Return a design that joins all models in a ring and adds random pairs."""

    def pairs(rng: np.random.Generator) -> Pairs:
        ring = rng.permutation(n)
        extra = n * (degree - 2) // 2
        a = np.concatenate([ring, rng.integers(n, size=extra)])
        b = np.concatenate([np.roll(ring, 1), rng.integers(n, size=extra)])
        kept = a != b
        codes = np.unique(np.minimum(a, b)[kept] * n + np.maximum(a, b)[kept])
        return np.divmod(codes, n)

    return pairs


DESIGNS = (
    Design(
        name="uniform, 100 models, 20 battles a pair", n_model=100, games=20, pairs=uniform(100)
    ),
    Design(name="uniform, 20 models, 20 battles a pair", n_model=20, games=20, pairs=uniform(20)),
    Design(
        name="sparse, 100 models, about 4 opponents each, 100 battles a pair",
        n_model=100,
        games=100,
        pairs=sparse(100, 4),
    ),
    Design(
        name="ladder, 100 models, 200 battles a pair", n_model=100, games=200, pairs=ladder(100)
    ),
)


def simulate(design: Design, rng: np.random.Generator) -> tuple[Problem, Floats]:
    """Return the battles of one data set, and the centred true strengths."""
    n = design.n_model
    truth = rng.normal(size=n)
    truth -= truth.mean()
    first, second = design.pairs(rng)
    wins = rng.binomial(design.games, 1 / (1 + np.exp(truth[second] - truth[first])))
    problem = Problem(
        n_model=n,
        first=first,
        second=second,
        shown=np.zeros(len(first)),
        wins=wins.astype(float),
        losses=(design.games - wins).astype(float),
        tied=np.zeros(len(first)),
        group=np.zeros(n, dtype=np.int64),
        ties="half",
        has_order=False,
        precision=0.0,
    )
    return problem, truth


def covered(problem: Problem, point: Floats, truth: Floats, rng: np.random.Generator) -> Floats:
    """Return shares of strengths under the full and the diagonal formula, then of differences."""
    n, share = problem.n_model, np.empty(4)
    information = evaluate(problem, point).information
    error = point - truth
    a = rng.integers(n, size=200)
    b = (a + rng.integers(1, n, size=200)) % n
    for k, matrix in enumerate(
        (covariance(problem, information), np.diag(1 / np.diag(information)))
    ):
        v = np.diag(matrix)
        share[k] = np.mean(np.abs(error) <= Z * np.sqrt(v))
        gap = np.sqrt(v[a] + v[b] - 2 * matrix[a, b])
        share[2 + k] = np.mean(np.abs(error[a] - error[b]) <= Z * gap)
    return share


def study(design: Design, phantom_wins: float, rounds: int) -> tuple[Floats, int]:
    """Return the (rounds, 4) shares covered, and how many data sets had no finite estimate."""
    rng, shares, n_infinite = np.random.default_rng(20261130), [], 0
    while len(shares) < rounds:
        observed, truth = simulate(design, rng)
        problem = add_phantoms(observed, observed.group, phantom_wins)
        optimum = newton(problem)
        if optimum.converged:
            shares.append(covered(problem, optimum.point, truth, rng))
        else:
            n_infinite += 1
    return np.array(shares), n_infinite


def table(rounds: int) -> str:
    """Return the table as Markdown."""
    head = ("design", "phantom wins", "strength, full", "strength, printed", "difference, full",
            "difference, printed", "infinite")  # fmt: skip
    lines = ["| " + " | ".join(head) + " |", "| --- " + "| ---: " * 6 + "|"]
    for design in DESIGNS:
        for phantom_wins in (0.0, 0.1):
            shares, n_infinite = study(design, phantom_wins, rounds)
            shares *= 100
            mean, error = shares.mean(axis=0), shares.std(axis=0, ddof=1) / np.sqrt(rounds)
            cells = [f"{m:.1f} ± {e:.1f}" for m, e in zip(mean, error, strict=True)]
            lines.append(
                "| "
                + " | ".join([design.name, f"{phantom_wins:g}", *cells, str(n_infinite)])
                + " |"
            )
            print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the study and print or write its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1600, help="data sets a design")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}")
    options = parser.parse_args()
    text = table(options.rounds)
    if options.write:
        TABLE.write_text(text)


if __name__ == "__main__":
    main()
