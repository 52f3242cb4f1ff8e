"""Simulated data for the comparison with peers, and what they are judged by.

Answers: abilities and difficulties from N(0, 1), log discriminations from N(0, .4^2), as in
`recovery.py`. Several dimensions: every item leans on one of them, with a log-normal loading like
that, and on the others with half-normal ones of scale .2. Battles: strengths from N(0, 1), no ties.
Every data set has a seed of its own, so that it is the same for all programs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]
type Arrays = dict[str, Any]

SEED = 20261130
#: Normal quantile of an interval at 95 %.
Z = 1.959963984540054
#: Pairs of models whose difference is judged.
N_PAIR = 400


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """A data set: what programs see, and the truth, which they do not."""

    data: Arrays
    truth: Arrays


def chance(logit: Floats) -> Floats:
    """Return probabilities."""
    return 1 / (1 + np.exp(-logit))


def two_pl(n_model: int, n_item: int, number: int) -> Sample:
    """Return answers of a 2PL."""
    rng = np.random.default_rng([SEED, n_model, n_item, number])
    ability, difficulty = rng.normal(size=n_model), rng.normal(size=n_item)
    slope = np.exp(0.4 * rng.normal(size=n_item))
    right = rng.random((n_model, n_item)) < chance(slope * (ability[:, None] - difficulty))
    answers = right.astype(np.int8)
    varied = (answers.min(axis=0) < answers.max(axis=0)).nonzero()[0]
    return Sample(
        data={"answers": answers},
        truth={"ability": ability, "difficulty": difficulty, "varied": varied},
    )


def several(n_model: int, n_item: int, dimension: int, number: int) -> Sample:
    """Return answers of a 2PL of several dimensions."""
    rng = np.random.default_rng([SEED, n_model, n_item, dimension, number])
    loading = np.abs(0.2 * rng.normal(size=(n_item, dimension)))
    own = rng.integers(dimension, size=n_item)
    loading[np.arange(n_item), own] = np.exp(0.4 * rng.normal(size=n_item))
    ability = rng.normal(size=(n_model, dimension))
    logit = ability @ loading.T + rng.normal(size=n_item)
    answers = (rng.random(logit.shape) < chance(logit)).astype(np.int8)
    return Sample(data={"answers": answers, "dimension": dimension}, truth={"predictor": logit})


def uniform(n_model: int, n_battle: int, number: int, *, rounds: int = 0) -> Sample:
    """Return battles between pairs that are drawn evenly."""
    rng = np.random.default_rng([SEED, n_model, n_battle, number])
    first = rng.integers(n_model, size=n_battle)
    second = (first + rng.integers(1, n_model, size=n_battle)) % n_model
    return _battles(n_model, first, second, rng, rounds)


def ladder(n_model: int, games: int, number: int, *, rounds: int = 0) -> Sample:
    """Return battles in which every model meets the two next on either side, and nobody else."""
    rng = np.random.default_rng([SEED, n_model, games, 7, number])
    first = np.concatenate([np.arange(n_model - 1), np.arange(n_model - 2)])
    second = np.concatenate([np.arange(1, n_model), np.arange(2, n_model)])
    return _battles(n_model, np.repeat(first, games), np.repeat(second, games), rng, rounds)


def _battles(
    n_model: int,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    rng: np.random.Generator,
    rounds: int,
) -> Sample:
    strength = rng.normal(size=n_model)
    strength -= strength.mean()
    won = rng.random(len(first)) < chance(strength[first] - strength[second])
    winner, loser = np.where(won, first, second), np.where(won, second, first)
    a = rng.integers(n_model, size=N_PAIR)
    b = (a + rng.integers(1, n_model, size=N_PAIR)) % n_model
    return Sample(
        data={
            "winner": winner.astype(np.int32),
            "loser": loser.astype(np.int32),
            "n_model": n_model,
            "rounds": rounds,
        },
        truth={"strength": strength, "pairs": np.stack([a, b])},
    )


def root_mean_square(error: Floats) -> float:
    """Return the root of the mean square."""
    return float(np.sqrt(np.mean(np.square(error))))


def judge_answers(found: Arrays, truth: Arrays) -> dict[str, float]:
    """Return errors and coverage of a 2PL, after one linear link of the scale of ability.

    Scale and origin of a program are free: both are set by the line of least squares from its
    abilities to the true ones, which standard errors and difficulties then follow. Difficulties are
    judged where answers differ, without the worst twentieth. `unlinked` is coverage in the program's
    own unit, means taken out.
    """
    ability, true = found["ability"], truth["ability"]
    slope, origin = np.polyfit(ability, true, 1)
    error = origin + slope * ability - true
    result = {"ability": root_mean_square(error)}
    if "se" in found:
        half = Z * abs(slope) * found["se"]
        result |= {"covered": float(np.mean(np.abs(error) <= half)), "half": float(half.mean())}
        own = ability - ability.mean() - (true - true.mean())
        result["unlinked"] = float(np.mean(np.abs(own) <= Z * found["se"]))
    gap = np.abs(origin + slope * found["difficulty"] - truth["difficulty"])[truth["varied"]]
    kept = np.sort(np.where(np.isfinite(gap), gap, np.inf))[: int(0.95 * len(gap))]
    result["difficulty"] = root_mean_square(kept)
    return result


def judge_predictor(found: Arrays, truth: Arrays) -> dict[str, float]:
    """Return errors of the logits and of the probabilities, which no rotation changes."""
    logit, true = found["predictor"], truth["predictor"]
    return {
        "predictor": root_mean_square(logit - true),
        "probability": root_mean_square(chance(logit) - chance(true)),
    }


def judge_strengths(found: Arrays, truth: Arrays) -> dict[str, float]:
    """Return the error of centred strengths, and coverage of them and of differences.

    A covariance gives normal intervals of both. Draws of a bootstrap give percentiles of
    differences; those of strengths are the program's own, centred with its estimate.
    """
    strength, true = found["strength"], truth["strength"]
    centre = strength.mean()
    error = strength - centre - true
    result = {"strength": root_mean_square(error)}
    a, b = truth["pairs"]
    gap = true[a] - true[b]
    if "covariance" in found:
        full = found["covariance"]
        variance = np.diag(full)
        half = Z * np.sqrt(variance)
        wide = Z * np.sqrt(variance[a] + variance[b] - 2 * full[a, b])
        result["covered"] = float(np.mean(np.abs(error) <= half))
        result["pairs"] = float(np.mean(np.abs(strength[a] - strength[b] - gap) <= wide))
        result["half"] = float(half.mean())
    elif "low" in found:
        low, high = found["low"] - centre, found["high"] - centre
        result["covered"] = float(np.mean((low <= true) & (true <= high)))
        result["half"] = float(np.mean(high - low) / 2)
    if "draws" in found:
        lowest, highest = np.quantile(
            found["draws"][:, a] - found["draws"][:, b], [0.025, 0.975], 0
        )
        result["pairs"] = float(np.mean((lowest <= gap) & (gap <= highest)))
    return result
