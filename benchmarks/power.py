"""How often the near-tie audit says yes when it should not, and when it should.

    python benchmarks/power.py                     # about ten minutes on one core
    python benchmarks/power.py --replicates 20     # a first look

Leaderboards of the bundled example's size are simulated and audited. The tables go to
`docs/tables/size_and_power.md`; the text that follows them there is written by hand and kept.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import roc_auc_score

from neartie.audits.near_tie import audit_near_ties
from neartie.audits.result import NearTieAudit
from neartie.audits.settings import AuditSettings
from neartie.data.simulate import simulate_leaderboard
from neartie.data.truth import LeaderboardTruth

TABLE = Path(__file__).resolve().parent.parent / "docs" / "tables" / "size_and_power.md"
READING = "<!-- Written by hand from here on; `benchmarks/power.py` keeps it. -->\n"
SEED = 20_000
LEVEL = 0.05
CONTROLS = 200
REPLICATES = 60


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A kind of leaderboard, and the dimensions with which it is audited (None: chosen)."""

    name: str
    board: dict[str, Any] = field(default_factory=dict)
    dimensions: tuple[int | None, ...] = (None,)
    more: int = 1


# Four dimensions of ability in which sources and, with impact, families differ.
_RICH = {"n_items": 600, "n_dimensions": 4, "secondary_discrimination": 1.0, "dif_effect": 0.0}
_BY_K = (None, 1, 2, 4, 8)
SIZE = (
    Condition(name="exchangeable", board={**_RICH, "impact": 0.0}, dimensions=_BY_K, more=3),
    Condition(name="profiles, .5 sd", board={**_RICH, "impact": 0.5}, dimensions=_BY_K),
    Condition(name="profiles, 1 sd", board={**_RICH, "impact": 1.0}, dimensions=_BY_K),
    Condition(name="the same, 300 items", board={**_RICH, "impact": 1.0, "n_items": 300}),
    Condition(name="the same, 1200 items", board={**_RICH, "impact": 1.0, "n_items": 1200}),
)
EFFECTS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
POWER = (
    *(
        Condition(
            name=f"shared {effect:g}" if effect else "none",
            board={"n_items": 600, "dif_effect": effect},
        )
        for effect in EFFECTS
    ),
    *(
        Condition(
            name=f"random {effect:g}",
            board={"n_items": 600, "dif_effect": effect, "direction": "random"},
        )
        for effect in (1.5, 3.0)
    ),
)


def audit_replicate(condition: Condition, seed: int) -> list[dict[str, Any]]:
    """Return what the audits of one simulated leaderboard find, one row a dimension.

    Parameters
    ----------
    condition : Condition
    seed : int
        Of leaderboard and audit: conditions that differ in one setting differ in nothing else.

    Returns
    -------
    list of dict
        `condition`, `dimension` (0: chosen), `k`, `rate`, `random_median`, `excess_pp`,
        `p_value`, `n_eligible`; `auc` of D for the planted items, `correlation` of estimated with
        true effects over items and families, both the mean of the halves and missing without
        planted effects.
    """
    board = simulate_leaderboard(**condition.board, rng=seed)
    rows = []
    for dimension in condition.dimensions:
        settings = AuditSettings(dimension=dimension, alpha="0.5", controls=CONTROLS, bootstraps=0)
        audit = audit_near_ties(board.responses, settings, rng=seed)
        band = audit.band()
        row = {"condition": condition.name, "dimension": dimension or 0, "k": np.mean(audit.k)}
        row |= {name: band[name] for name in ("rate", "random_median", "excess_pp", "p_value")}
        row["n_eligible"] = audit.n_eligible
        rows.append(row | recovery(audit, board.truth))
    return rows


def recovery(audit: NearTieAudit, truth: LeaderboardTruth) -> dict[str, float]:
    """Return how well D tells planted items, and effects correlate with the true ones."""
    if not truth.planted.any():
        return {"auc": np.nan, "correlation": np.nan}
    planted = pd.Series(truth.planted, index=truth.items)
    known = pd.DataFrame(truth.dif, index=truth.items, columns=list(truth.families))
    auc, correlation = [], []
    for half in (0, 1):
        items = audit.items[audit.items["half"] == half]
        auc.append(roc_auc_score(planted[items["item"]], items["dif_range"]))
        found = audit.dif[audit.dif["half"] == half].pivot(
            index="item", columns="family", values="effect"
        )
        true = known.loc[found.index, found.columns]
        correlation.append(np.corrcoef(found.to_numpy().ravel(), true.to_numpy().ravel())[0, 1])
    return {"auc": float(np.mean(auc)), "correlation": float(np.mean(correlation))}


def run(conditions: Iterable[Condition], *, replicates: int, seed: int = SEED) -> pd.DataFrame:
    """Return one row a replicate, condition and dimension; progress goes to stderr."""
    rows = []
    for condition in conditions:
        begin, n = time.perf_counter(), replicates * condition.more
        for replicate in range(n):
            rows += audit_replicate(condition, seed + replicate)
        seconds = time.perf_counter() - begin
        print(f"{condition.name}: {n} leaderboards, {seconds:.0f} s", file=sys.stderr)
    return pd.DataFrame(rows)


def rejection(p_values: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the share of p <= .05, with its exact 95 % limits."""
    test = stats.binomtest(int((p_values <= LEVEL).sum()), len(p_values))
    interval = test.proportion_ci(0.95, method="exact")
    return float(test.statistic), float(interval.low), float(interval.high)


def uniform_distance(p_values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the Kolmogorov-Smirnov distance of the p values from uniform, and its p value.

    A p value is a multiple of 1 / 201; a draw between it and the one below makes it continuous.
    """
    width = 1 / (CONTROLS + 1)
    smooth = p_values - width * np.random.default_rng(SEED).random(len(p_values))
    test = stats.kstest(smooth, "uniform")
    return float(test.statistic), float(test.pvalue)


def size_table(rows: pd.DataFrame) -> str:
    """Return the table of leaderboards without family effects."""
    lines = _head(
        "families, K of the fit, leaderboards, reversal rate (%), random median (%), "
        "excess (points), p <= .05 (%), mean p, KS distance, KS p"
    )
    for (name, dimension), group in rows.groupby(["condition", "dimension"], sort=False):
        p = group["p_value"].to_numpy(dtype=float)
        distance, ks_p = uniform_distance(p)
        k = str(dimension) if dimension else f"chosen ({group['k'].mean():.1f})"
        lines.append(
            f"| {name} | {k} | {len(group)} | {100 * group['rate'].mean():.1f} "
            f"| {100 * group['random_median'].mean():.1f} | {_mean(group['excess_pp'], 1)} "
            f"| {_share(p)} | {p.mean():.2f} | {distance:.2f} | {_small(ks_p)} |"
        )
    return "\n".join(lines) + "\n"


def power_table(rows: pd.DataFrame) -> str:
    """Return the table of leaderboards with family effects."""
    lines = _head(
        "direction and range (logits), leaderboards, AUC of D, correlation of effects, "
        "reversal rate (%), random median (%), excess (points), p <= .05 (%)"
    )
    for name, group in rows.groupby("condition", sort=False):
        found = group["auc"].notna().any()
        lines.append(
            f"| {name} | {len(group)} | {_mean(group['auc'], 3) if found else '–'} "
            f"| {_mean(group['correlation'], 3) if found else '–'} "
            f"| {100 * group['rate'].mean():.1f} | {100 * group['random_median'].mean():.1f} "
            f"| {_mean(group['excess_pp'], 1)} | {_share(group['p_value'].to_numpy(dtype=float))} |"
        )
    return "\n".join(lines) + "\n"


def _head(columns: str) -> list[str]:
    names = columns.split(", ")
    return [f"| {' | '.join(names)} |", f"| --- |{' ---: |' * (len(names) - 1)}"]


def _mean(values: pd.Series, digits: int) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():.{digits}f} ({error:.{digits}f})"


def _share(p_values: NDArray[np.float64]) -> str:
    share, low, high = rejection(p_values)
    return f"{100 * share:.1f} ({100 * low:.0f} to {100 * high:.0f})"


def _small(p_value: float) -> str:
    return "< .001" if p_value < 0.001 else f"{p_value:.3f}"


def document(size: str, power: str, *, command: str) -> str:
    """Return the generated part of the page."""
    return (
        f"Made by `{command}`. Simulated leaderboards of 600 items and 240 models unless stated, "
        f"in five families; the paper's settings with {CONTROLS} random subtests. In brackets: "
        "Monte Carlo standard errors of means, exact 95 % limits of shares.\n\n"
        "**Size: no item has family effects.** Abilities have four dimensions, in which sources "
        "differ; family means of ability are equal (exchangeable), or differ by the stated root "
        f"mean square in every dimension (profiles). A sound test has {100 * LEVEL:g} % in the "
        f"column p <= .05, and a mean p of .50.\n\n{size}\n"
        "**Power: a quarter of the items have family effects** with the stated range, under the "
        "defaults of `simulate_leaderboard` (three dimensions, profiles of .3 sd), K chosen. "
        "Shared effects lean the same way on all items; random ones favour other families on "
        f"every item. AUC and correlation are means over the halves.\n\n{power}\n"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--replicates", type=int, default=REPLICATES, help="leaderboards a condition"
    )
    parser.add_argument("--out", type=Path, default=TABLE, help="page to write")
    options = parser.parse_args(arguments)
    command = "python benchmarks/power.py"
    if options.replicates != REPLICATES:
        command += f" --replicates {options.replicates}"
    text = document(
        size_table(run(SIZE, replicates=options.replicates)),
        power_table(run(POWER, replicates=options.replicates)),
        command=command,
    )
    old = options.out.read_text(encoding="utf-8") if options.out.exists() else ""
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(text + READING + old.partition(READING)[2], encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
