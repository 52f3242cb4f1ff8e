"""The joint mode of the multidimensional model: time, distance from the truth, coverage.

    python benchmarks/mirt_dif_map.py             # a few minutes
    python benchmarks/mirt_dif_map.py --write     # also docs/tables/mirt_dif_map.md

Every item loads on one dimension, by exp(N(0, 0.4²)), and a little on the others, N(0, 0.15²);
abilities and easiness are N(0, 1), family effects N(0, 0.4²) less their mean over families, or
absent. Every model answers every item. Scales are found from the answers.

RMSE is that of the linear predictor, whose standard deviation is about 1.6. Then follow the scale
of the family effects as found; per cent of 95 % intervals that hold for expected scores, for
their differences between two models, for easiness and for effects, each by errors that take the
other side as known and by joint ones. The Monte Carlo error is the standard error of the mean over
data sets, within which models share their errors. CPU seconds, over all threads, are the median
over data sets, of the estimate with known errors and of joint ones besides: where other work shares
the machine they tell more than those on the wall.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from neartie.data.responses import Responses
from neartie.inference.mirt_dif_map import fit_mirt_dif_map

type Floats = NDArray[np.float64]

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "tables" / "mirt_dif_map.md"
Z = 1.959963984540054
#: Models, items, dimensions, families, scale of effects, data sets.
DESIGNS = (
    (500, 1000, 4, 4, 0.4, 4),
    (500, 1000, 4, 4, 0.0, 4),
    (300, 300, 4, 5, 0.4, 12),
    (150, 500, 2, 5, 0.4, 20),
    (100, 200, 2, 4, 0.4, 40),
    (100, 200, 2, 4, 0.0, 40),
    (60, 400, 3, 4, 0.4, 20),
    (200, 50, 2, 4, 0.4, 40),
)
HEAD = (
    "models x items",
    "K",
    "families",
    "effects",
    "data sets",
    "CPU seconds",
    "joint errors, CPU seconds",
    "RMSE",
    "effects found",
    "scores, items known",
    "scores, joint",
    "pairs, items known",
    "pairs, joint",
    "easiness, abilities known",
    "easiness, joint",
    "effects, abilities known",
    "effects, joint",
)


def simulate(
    n_model: int, n_item: int, k: int, n_family: int, scale: float, rng: np.random.Generator
) -> tuple[Responses, Floats, Floats, Floats]:
    """Return responses, and the true linear predictor, easiness and effects."""
    loading = 0.15 * rng.normal(size=(n_item, k))
    loading[np.arange(n_item), np.arange(n_item) % k] = np.exp(0.4 * rng.normal(size=n_item))
    ability, easiness = rng.normal(size=(k, n_model)), rng.normal(size=n_item)
    effects = scale * rng.normal(size=(n_item, n_family))
    effects -= effects.mean(axis=1, keepdims=True)
    family = np.arange(n_model) % n_family
    predictor = loading @ ability + easiness[:, None] + effects[:, family]
    models = pd.DataFrame(
        {
            "model": [f"m{m:05d}" for m in range(n_model)],
            "family": [f"family {f:02d}" for f in family],
        }
    )
    data = Responses.build(
        (rng.random(predictor.shape) < expit(predictor)).astype(np.int8),
        items=[f"q{i:05d}" for i in range(n_item)],
        models=models,
    )
    return data, predictor, easiness, effects


def one(design: tuple[int, int, int, int, float], rng: np.random.Generator) -> Floats:
    """Return seconds, error, scale and shares covered, in the order of the table's head."""
    data, predictor, easiness, effects = simulate(*design, rng)
    seconds = []
    for errors in ("known", "joint"):
        begin = time.process_time()
        fit = fit_mirt_dif_map(data, dimension=design[2], errors=errors)  # type: ignore[arg-type]
        seconds.append(time.process_time() - begin)
    row = [seconds[0], seconds[1] - seconds[0]]
    row.append(float(np.sqrt(np.mean(np.square(fit.linear_predictor() - predictor)))))
    row.append(fit.scales.dif_scale)
    missed = np.abs(fit.expected_score - expit(predictor).mean(axis=0))
    row += [float(np.mean(missed <= Z * se)) for se in (fit.se_items_known, fit.se)]
    a, b = np.triu_indices(data.n_model, 1)
    gap = fit.expected_score - expit(predictor).mean(axis=0)
    gap = np.abs(gap[a] - gap[b])
    variance = np.diag(fit.covariance)
    for spread in (
        fit.se_items_known[a] ** 2 + fit.se_items_known[b] ** 2,
        variance[a] + variance[b] - 2 * fit.covariance[a, b],
    ):
        row.append(float(np.mean(gap <= Z * np.sqrt(spread))))
    missed = np.abs(fit.easiness - easiness)
    for se in (fit.easiness_se_abilities_known, fit.easiness_se):
        row.append(float(np.mean(missed <= Z * se)))
    missed = np.abs(fit.dif - effects)
    row += [float(np.mean(missed <= Z * se)) for se in (fit.dif_se_abilities_known, fit.dif_se)]
    return np.array(row)


def rows(scale: float) -> Iterator[str]:
    """Yield the table as Markdown, line by line."""
    yield "| " + " | ".join(HEAD) + " |"
    yield "| --- " + "| ---: " * (len(HEAD) - 1) + "|"
    # compiled before it is timed
    one((8, 9, 1, 2, 0.4), np.random.default_rng(1))
    for n_model, n_item, k, n_family, size, rounds in DESIGNS:
        n = max(2, round(rounds * scale))
        rng = np.random.default_rng(20261130)
        found = np.array([one((n_model, n_item, k, n_family, size), rng) for _ in range(n)])
        mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(n)
        cells = [f"{s:.2f}" for s in np.median(found[:, :2], axis=0)]
        cells += [f"{mean[2]:.3f}", f"{mean[3]:.2f}"]
        # without effects, whether intervals shrunk to zero hold zero is no question
        shown = 8 if size else 6
        cells += [
            f"{100 * m:.1f} ± {100 * e:.1f}"
            for m, e in zip(mean[4 : 4 + shown], error[4 : 4 + shown], strict=True)
        ]
        cells += ["–"] * (8 - shown)
        start = f"| {n_model} x {n_item:,} | {k} | {n_family} | {size:g} | {n} | "
        yield start + " | ".join(cells) + " |"


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
