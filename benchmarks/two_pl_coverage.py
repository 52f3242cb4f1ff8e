"""Coverage of 95 % intervals of 2PL abilities at the joint mode, by printed and by right errors.

    python benchmarks/two_pl_coverage.py             # a few minutes
    python benchmarks/two_pl_coverage.py --write     # also docs/tables/two_pl_coverage.md

Abilities, difficulties and log discriminations are drawn from P1's priors anew for every data set,
and every model answers every item. Compared with the centred true abilities are the abilities in
the mode's own unit, as printed; the same after the unit is set to that of the truth by a
regression, which is what surveys of programs do; and in the posterior's unit, the default,
which knows nothing of the truth. Pairs are all differences of two models. Errors with items known
are P1's; for a pair that formula gives the root of the two squares' sum. The Monte Carlo error is
the standard error of the mean over data sets, within which models share their errors. RMSE is
after the regression, beside that of the mode with the true item parameters.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neartie.data.responses import Responses
from neartie.inference.known_items import KnownItems, maximum
from neartie.inference.two_pl_map import fit_two_pl_map

type Floats = NDArray[np.float64]

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "tables" / "two_pl_coverage.md"
Z = 1.959963984540054
#: Models, items, data sets.
SIZES = (
    (150, 500, 200),
    (500, 1000, 20),
    (30, 200, 200),
    (100, 30, 200),
    (60, 1000, 30),
    (500, 20, 30),
)
HEAD = (
    "models x items",
    "data sets",
    "mode's unit, items known",
    "mode's unit, right",
    "linked, items known",
    "linked, right",
    "posterior's unit, items known",
    "posterior's unit, right",
    "pairs, items known",
    "pairs, right",
    "RMSE",
    "RMSE, items known",
)


def simulate(
    n_model: int, n_item: int, rng: np.random.Generator
) -> tuple[Responses, KnownItems, Floats]:
    """Return responses, the same with the true items, and the true abilities."""
    ability, difficulty = rng.normal(size=n_model), 1.5 * rng.normal(size=n_item)
    slope = np.exp(0.5 * rng.normal(size=n_item))
    chance = 1 / (1 + np.exp(-slope[:, None] * (ability - difficulty[:, None])))
    right = rng.random(chance.shape) < chance
    data = Responses.build(
        right.astype(np.int8),
        items=[f"q{i:05d}" for i in range(n_item)],
        models=[f"m{m:05d}" for m in range(n_model)],
    )
    known = KnownItems(
        slope=slope,
        intercept=-slope * difficulty,
        right=right,
        observed=np.ones_like(right),
    )
    return data, known, ability


def linked(estimate: Floats, truth: Floats) -> float:
    """Return the unit that brings centred estimates closest to centred truths."""
    return float(estimate @ truth / (estimate @ estimate))


def one(n_model: int, n_item: int, rng: np.random.Generator) -> Floats:
    """Return shares covered, in the order of the table's head, then the two errors."""
    data, known, ability = simulate(n_model, n_item, rng)
    fit = fit_two_pl_map(data, unit="mode")
    truth = ability - ability.mean()
    unit = linked(fit.ability, truth)
    row = []
    for c in (1.0, unit, fit.posterior_unit):
        error = np.abs(c * fit.ability - truth)
        row += [np.mean(error <= Z * c * se) for se in (fit.se_items_known, fit.se)]
    a, b = np.triu_indices(n_model, 1)
    c = fit.posterior_unit
    gap = np.abs(c * (fit.ability[a] - fit.ability[b]) - (truth[a] - truth[b]))
    variance = np.diag(fit.covariance)
    for spread in (
        fit.se_items_known[a] ** 2 + fit.se_items_known[b] ** 2,
        variance[a] + variance[b] - 2 * fit.covariance[a, b],
    ):
        row.append(np.mean(gap <= Z * c * np.sqrt(spread)))
    best, _ = maximum(known, mean=0.0, precision=1.0)
    best = best - best.mean()
    for estimate in (fit.ability, best):
        row.append(np.sqrt(np.mean(np.square(linked(estimate, truth) * estimate - truth))))
    return np.array(row)


def rows(scale: float) -> Iterator[str]:
    """Yield the table as Markdown, line by line."""
    yield "| " + " | ".join(HEAD) + " |"
    yield "| --- " + "| ---: " * (len(HEAD) - 1) + "|"
    for n_model, n_item, rounds in SIZES:
        n = max(2, round(rounds * scale))
        rng = np.random.default_rng(20261130)
        found = np.array([one(n_model, n_item, rng) for _ in range(n)])
        mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(n)
        cells = [f"{100 * m:.1f} ± {100 * e:.1f}" for m, e in zip(mean[:8], error[:8], strict=True)]
        cells += [f"{m:.4f}" for m in mean[8:]]
        yield f"| {n_model} x {n_item:,} | {n} | " + " | ".join(cells) + " |"


def main() -> None:
    """Run the study and print or write its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of data sets")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}")
    options = parser.parse_args()
    begin, lines = time.perf_counter(), []
    for line in rows(options.scale):
        print(line, flush=True)
        lines.append(line)
    print(f"{time.perf_counter() - begin:.0f} s")
    if options.write:
        TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
