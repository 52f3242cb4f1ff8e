"""Coverage of 95 % intervals of a scorecard's domain scores: printed, with the right SE, all terms.

    python benchmarks/scorecard_coverage.py             # 40 data sets a size, a minute
    python benchmarks/scorecard_coverage.py --write     # also docs/tables/scorecard_coverage.md

Thirty models with abilities at normal quantiles answer new items in every data set, a fifth of them
anchors that nobody has seen. Confidences follow the probability of a right answer, with an
overconfidence of the model's own (-.10 to .25); of three samples each agrees with the first with
probability .5 + .45 p. The true score takes the true ability, and the other terms at 100,000 items.
Coverage is of the true score, and of the mean of the model's own estimates, which leaves bias out.
Differences are of neighbours in ability. The Monte Carlo error is the standard error of the mean over
data sets.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from math import comb
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from neartie.audits.confidence import confidence_bins
from neartie.audits.scorecard import make_scorecard
from neartie.audits.scorecard_settings import ScoreSettings
from neartie.data.score_inputs import ScoreInputs

type Floats = NDArray[np.float64]

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "tables" / "scorecard_coverage.md"
N_MODEL = 30
MODELS = [f"m{m:02d}" for m in range(N_MODEL)]
SETTINGS = ScoreSettings(n_resamples=200)


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawn:
    """Probabilities of right answers, confidences, and agreement of samples; models by items."""

    right: Floats
    confidence: Floats
    agree: Floats


ABILITY = special.ndtri((np.arange(N_MODEL) + 0.5) / N_MODEL)
ABILITY /= np.sqrt(np.mean(ABILITY**2))
EXCESS = np.linspace(-0.1, 0.25, N_MODEL)[np.random.default_rng(1).permutation(N_MODEL)]


def draw(rng: np.random.Generator, n_item: int) -> Drawn:
    """Return new items and what the models do on them."""
    difficulty, slope = rng.normal(0, 1.2, n_item), np.exp(rng.normal(0, 0.4, n_item))
    right = special.expit(slope * (ABILITY[:, None] - difficulty))
    stated = right + EXCESS[:, None] + rng.normal(0, 0.12, right.shape)
    confidence = np.round(np.clip(stated, 0, 1) * 20) / 20
    return Drawn(right=right, confidence=confidence, agree=0.5 + 0.45 * right)


def true_scores() -> tuple[Floats, Floats]:
    """Return true abilities as shares, and true domain scores, points."""
    many = draw(np.random.default_rng(9), 100_000)
    ece = np.empty(N_MODEL)
    for m in range(N_MODEL):
        code = confidence_bins(many.confidence[m], n_bins=10)
        excess = np.bincount(code, weights=many.right[m] - many.confidence[m], minlength=10)
        ece[m] = np.abs(excess).sum() / many.right.shape[1]
    q = many.agree
    mode = sum(comb(3, j) * q**j * (1 - q) ** (3 - j) * max(j, 3 - j) / 3 for j in range(4))
    share = special.expit(ABILITY)
    w = SETTINGS.weights
    score = w["accuracy"] * share + w["consistency"] * mode.mean(axis=1)
    score += w["calibration"] * (1 - ece) + w["resistance"]
    return 1000 * share, 1000 * score


def one_set(seed: int, n_item: int) -> pd.DataFrame:
    """Return the estimates of one data set, models in the order of ability."""
    rng = np.random.default_rng(seed)
    drawn = draw(rng, n_item)
    ids = {
        "model": np.repeat(MODELS, n_item),
        "item": np.tile([f"q{i:03d}" for i in range(n_item)], N_MODEL),
    }
    answers = pd.DataFrame(ids).assign(
        score=(rng.random(drawn.right.shape) < drawn.right).ravel().astype(float),
        confidence=drawn.confidence.ravel(),
        anchor=np.tile((np.arange(n_item) < n_item // 5).astype(float), N_MODEL),
    )
    samples = pd.concat(
        pd.DataFrame(ids).assign(
            answer=np.where(rng.random(drawn.agree.shape) < drawn.agree, "7", "8").ravel()
        )
        for _ in range(3)
    )
    card = make_scorecard(ScoreInputs.build(answers=answers, samples=samples), SETTINGS, rng=seed)
    square = card.covariance.set_index("model").loc[MODELS, MODELS].to_numpy()
    gap = np.sqrt(np.diag(square)[1:] + np.diag(square)[:-1] - 2 * np.diag(square, 1))
    rows = card.domains.set_index("model").loc[MODELS].reset_index(drop=True)
    return rows.assign(
        data_set=seed, m=np.arange(N_MODEL), gap_half_width=1.96 * np.append(gap, np.nan)
    )


def covered(error: pd.Series, half: pd.Series, data_set: pd.Series) -> str:
    """Return a share in per cent with its Monte Carlo error."""
    by_set = (error.abs() <= half).groupby(data_set).mean()
    return f"{100 * by_set.mean():.1f} ± {100 * by_set.std() / np.sqrt(len(by_set)):.1f}"


def lines(n_item: int, n_sets: int) -> list[str]:
    """Return the rows of the table for one size."""
    found = pd.concat([one_set(s, n_item) for s in range(n_sets)], ignore_index=True)
    share, score = true_scores()
    ratio = 1 / SETTINGS.weights["accuracy"]
    kinds = {
        "ability alone": (1000 * found["ability_share"], share, ratio, ("printed", "")),
        "domain score": (found["score"], score, 1.0, ("printed", "", "all")),
    }
    size = f"{n_item} items"
    rows = []
    for kind, (estimate, truth, factor, which) in kinds.items():
        error = estimate - truth[found["m"]]
        own = estimate - estimate.groupby(found["m"]).transform("mean")
        cells = []
        for name in ("printed", "", "all"):
            if name not in which:
                cells.append("")
                continue
            half = factor * found[f"half_width_{name}" if name else "half_width"]
            cells.append(
                f"{covered(error, half, found['data_set'])} ({covered(own, half, found['data_set'])})"
            )
        rows.append(f"| {size} | {kind} | {error.mean():+.0f} | {' | '.join(cells)} |")
    wide = found.pivot(index="data_set", columns="m", values="score").to_numpy()
    gap = pd.DataFrame(np.diff(wide, axis=1) - np.diff(score)).stack()
    half = found.pivot(index="data_set", columns="m", values="gap_half_width").iloc[:, :-1].stack()
    sets = pd.Series(gap.index.get_level_values(0))
    shown = covered(gap.reset_index(drop=True), half.reset_index(drop=True), sets)
    rows.append(f"| {size} | difference of neighbours | {gap.mean():+.0f} | | | {shown} |")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--items", type=int, nargs="+", default=[60, 150])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    table = [
        "| items | what | bias, points | printed | right SE | all terms |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for n_item in options.items:
        table += lines(n_item, options.sets)
    text = "\n".join(table) + "\n"
    print(text)
    if options.write:
        TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
