"""Coverage of 95 % intervals and sets where the truth is known, by model and engine.

    python benchmarks/recovery.py                             # every case, about half an hour
    python benchmarks/recovery.py --case "2PL laplace"        # one
    python benchmarks/recovery.py --store rows.jsonl          # keep a line a data set, and resume
    python benchmarks/recovery.py --store rows.jsonl --write  # also docs/tables/recovery.md

Truths are drawn anew for every data set. 2PL: 150 models, 500 items, abilities and difficulties
from N(0, 1), log discriminations from N(0, .4^2). MIRT-DIF: 120 models in four families, 60 items,
two dimensions; `dense` family effects on all items (scale .7), or `planted` ones of +-1 logit
on a fifth of the items and none elsewhere. BT: 30 models with strengths from N(0, 1), 3,000 battles of
random pairs. An interval is the span from the 2.5 % to the 97.5 % quantile of the draws, on the
scale of the model, with no link to the truth; differences are of 300 random pairs of models; a
data set counts as `sets` when the joint rank sets of `rank_models` hold every true rank. The Monte
Carlo error is the standard error of the mean over data sets, within which errors are shared.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from neartie.audits.ranks import rank_models
from neartie.data.battles import Battles
from neartie.data.responses import Responses
from neartie.inference.fit import fit

type Floats = NDArray[np.float64]
type Truth = dict[str, Floats]

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "tables" / "recovery.md"
N_PAIR = 300
SETTINGS = {"draws": 500, "tune": 500, "chains": 2, "cores": 2, "target_accept": 0.8}


def names(letter: str, n: int) -> list[str]:
    """Return ids whose order as text is that of the numbers."""
    return [f"{letter}{k:04d}" for k in range(n)]


def answers(logit: Floats, families: list[str], rng: np.random.Generator) -> Responses:
    """Return right/wrong answers with these chances."""
    values = (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(np.int8)
    models = pd.DataFrame({"model": names("m", logit.shape[1]), "family": families})
    return Responses.build(values, items=names("q", logit.shape[0]), models=models)


def simulate_two_pl(rng: np.random.Generator) -> tuple[Responses, Truth]:
    """Return answers of a 2PL at the size of a leaderboard."""
    ability, difficulty = rng.normal(size=150), rng.normal(size=500)
    log_slope = 0.4 * rng.normal(size=500)
    logit = np.exp(log_slope)[:, None] * (ability - difficulty[:, None])
    truth = {"ability": ability, "difficulty": difficulty, "log_discrimination": log_slope}
    return answers(logit, ["all"] * 150, rng), truth


def simulate_mirt(rng: np.random.Generator, *, dense: bool) -> tuple[Responses, Truth]:
    """Return answers of two dimensions and four families, with family effects."""
    n_item, n_model, n_family = 60, 120, 4
    family = np.arange(n_model) % n_family
    if dense:
        effect = 0.7 * rng.normal(size=(n_item, n_family))
    else:
        effect = np.zeros((n_item, n_family))
        planted = rng.choice(n_item, size=n_item // 5, replace=False)
        effect[planted] = rng.permuted([1.0, 1.0, -1.0, -1.0] * np.ones((12, 1)), axis=1)
    effect -= effect.mean(axis=1, keepdims=True)
    loading, ability = rng.normal(size=(n_item, 2)), rng.normal(size=(2, n_model))
    logit = loading @ ability + 1.5 * rng.normal(size=(n_item, 1)) + effect[:, family]
    chance = 1 / (1 + np.exp(-logit))
    truth = {"dif": effect, "expected_score": chance.mean(axis=0)}
    return answers(logit, [("Ash", "Birch", "Cedar", "Dogwood")[f] for f in family], rng), truth


def simulate_battles(rng: np.random.Generator) -> tuple[Battles, Truth]:
    """Return battles of random pairs."""
    n_model, n_battle = 30, 3000
    strength = rng.normal(size=n_model)
    strength -= strength.mean()
    first = rng.integers(n_model, size=n_battle)
    second = (first + rng.integers(1, n_model, size=n_battle)) % n_model
    won = rng.random(n_battle) < 1 / (1 + np.exp(strength[second] - strength[first]))
    label = np.array(names("m", n_model))
    outcome = np.where(won, "a", "b").tolist()
    return Battles.build(label[first], label[second], outcome), {"strength": strength}


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """Data of one kind, and the engine that they are fitted with."""

    simulate: Callable[[np.random.Generator], tuple[Any, Truth]]
    kind: str
    engine: str
    n_sets: int
    options: dict[str, Any] = field(default_factory=dict)


def _mirt(dense: bool) -> Callable[[np.random.Generator], tuple[Responses, Truth]]:
    return lambda rng: simulate_mirt(rng, dense=dense)


CASES: dict[str, Case] = {
    "BT nuts": Case(simulate=simulate_battles, kind="bradley-terry", engine="nuts", n_sets=60),
    "BT laplace": Case(
        simulate=simulate_battles, kind="bradley-terry", engine="laplace", n_sets=60
    ),
    "2PL nuts": Case(simulate=simulate_two_pl, kind="two-pl", engine="nuts", n_sets=8),
    "2PL laplace": Case(simulate=simulate_two_pl, kind="two-pl", engine="laplace", n_sets=12),
    "MIRT-DIF nuts, dense": Case(
        simulate=_mirt(True), kind="mirt-dif", engine="nuts", n_sets=10, options={"dimension": 2}
    ),
    "MIRT-DIF nuts, planted": Case(
        simulate=_mirt(False), kind="mirt-dif", engine="nuts", n_sets=10, options={"dimension": 2}
    ),
}


def study(name: str, seed: int) -> dict[str, Any]:
    """Fit one data set and return the shares that its intervals cover.

    Of a case, the data set with a number is the same for all engines.
    """
    case = CASES[name]
    rng = np.random.default_rng([20261130, seed])
    data, truth = case.simulate(rng)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings = SETTINGS if case.engine == "nuts" else {"draws": 1000}
        tree = fit(
            data, kind=case.kind, options=case.options, engine=case.engine, rng=seed, **settings
        )
        ranking = rank_models(tree)
    row: dict[str, Any] = {"case": name, "seed": seed, "seconds": time.perf_counter() - started}
    row["max_rhat"], row["divergent"] = tree.attrs["max_rhat"], tree.attrs["n_divergent"]
    ranked = tree.attrs["ranking"]
    score = truth[ranked]
    true_rank = pd.Series(
        pd.Series(-score).rank().astype(int).to_numpy(), index=names("m", len(score))
    )
    sets = ranking.ranks.set_index("model").loc[true_rank.index]
    inside = (sets["rank_set_low"] <= true_rank) & (true_rank <= sets["rank_set_high"])
    row["sets"] = float(inside.all())
    shares: dict[str, list[float]] = {}
    draws = tree["posterior"].to_dataset()
    for variable, draw, true in quantities(draws, truth, ranked, rng):
        low, high = np.quantile(draw, [0.025, 0.975], axis=0)
        shares[variable] = [float(np.mean((low <= true) & (true <= high))), int(true.size)]
    row["shares"] = shares
    return row


def quantities(
    draws: xr.Dataset, truth: Truth, ranked: str, rng: np.random.Generator
) -> Iterator[tuple[str, Floats, Floats]]:
    """Yield the name, the draws and the truth of what is covered."""
    for variable, true in truth.items():
        found = draws[variable].to_numpy()
        flat = found.reshape(-1, *found.shape[2:])
        if variable == "dif" and (true == 0).any():
            effect = (true != 0).any(axis=1)
            yield "dif, items with effects", flat[:, effect], true[effect]
            yield "dif, items without", flat[:, ~effect], true[~effect]
        else:
            yield variable, flat, true
        if variable == ranked:
            n = len(true)
            a = rng.integers(n, size=N_PAIR)
            b = (a + rng.integers(1, n, size=N_PAIR)) % n
            yield f"{variable} difference", flat[:, a] - flat[:, b], true[a] - true[b]


def table(rows: list[dict[str, Any]]) -> str:
    """Return the table as Markdown."""
    lines = [
        "| model, engine | data sets | quantity | intervals | covered, % | rank sets | R-hat | s |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name in CASES:
        found = [row for row in rows if row["case"] == name]
        if not found:
            continue
        n, held = len(found), int(sum(row["sets"] for row in found))
        rhat = max(row["max_rhat"] for row in found)
        seconds = np.median([row["seconds"] for row in found])
        ends = [str(n), f"{held} of {n}", "" if np.isnan(rhat) else f"{rhat:.2f}", f"{seconds:.0f}"]
        for place, variable in enumerate(found[0]["shares"]):
            share = 100 * np.array([row["shares"][variable][0] for row in found])
            total = sum(row["shares"][variable][1] for row in found)
            error = share.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
            first = [name, *ends] if place == 0 else [""] * 5
            lines.append(
                f"| {first[0]} | {first[1]} | {variable} | {total:,} | {share.mean():.1f} ± "
                f"{error:.1f} | {first[2]} | {first[3]} | {first[4]} |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the study and print or write its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", choices=CASES, action="append", help="all when left out")
    parser.add_argument("--sets", type=int, help="data sets a case")
    parser.add_argument("--store", type=Path, help="file that rows are kept in")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}")
    chosen = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if chosen.store and chosen.store.exists():
        rows = [json.loads(line) for line in chosen.store.read_text().splitlines()]
    for name in chosen.case or CASES:
        for seed in range(CASES[name].n_sets if chosen.sets is None else chosen.sets):
            if any(row["case"] == name and row["seed"] == seed for row in rows):
                continue
            rows.append(study(name, seed))
            print(json.dumps(rows[-1]), flush=True)
            if chosen.store:
                with chosen.store.open("a") as out:
                    out.write(json.dumps(rows[-1]) + "\n")
    text = table(rows)
    print(text)
    if chosen.write:
        TABLE.write_text(text)


if __name__ == "__main__":
    main()
