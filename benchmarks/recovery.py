"""Coverage of 95 % intervals and sets where the truth is known, by model and engine.

    python benchmarks/recovery.py                             # every case, about an hour of one core
    python benchmarks/recovery.py --case "2PL laplace"        # one
    python benchmarks/recovery.py --store rows.jsonl          # keep a line a data set, and resume
    python benchmarks/recovery.py --store rows.jsonl --write  # also docs/tables/recovery.md

Truths are drawn anew for every data set. 2PL: 150 models, 500 items, abilities and difficulties
from N(0, 1), log discriminations from N(0, .4^2); or, `truths from the priors`, all of them from the
model's own priors, N(0, 1.5^2) for difficulties and N(0, .5^2) for log discriminations; `item scales`
estimates mean and scale of difficulties and log discriminations. MIRT-DIF: 120 models in four families, 60 items,
two dimensions; `dense` family effects on all items (scale .7), or `planted` ones of +-1 logit on a
fifth of the items and none elsewhere. BT: 30 models with strengths from N(0, 1), 7 battles a pair.
Priors are the default ones, which otherwise are wider than these truths or of another shape.

An interval is the span from the 2.5 % to the 97.5 % quantile of the draws (samplers: one chain), on
the scale of the model, with no link to the truth (but `linked`: after the line of least squares from
posterior means to truths, as other packages are judged in `peers/`); differences are of 300 random pairs of models; a
data set counts as `rank sets` when the joint sets of `rank_models` hold every true rank at once. The
Monte Carlo error is the standard error of the mean over data sets, within which errors are shared.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.ranks import rank_models
from neartie.data.battles import Battles
from neartie.data.responses import Responses
from neartie.inference.engine_draws import EngineDraws
from neartie.inference.flat_model import FlatModel, flatten_model, observed_arrays
from neartie.inference.free_values import FreeValues, free_values
from neartie.inference.gibbs import block_sampler
from neartie.inference.gibbs_chains import Length, sample_gibbs
from neartie.inference.laplace import approximate_laplace
from neartie.inference.nuts import sample_nuts
from neartie.models.bradley_terry_model import build_bradley_terry
from neartie.models.mirt_dif import build_mirt_dif
from neartie.models.priors import TwoPLPriors
from neartie.models.two_pl import build_two_pl

type Floats = NDArray[np.float64]
type Truth = dict[str, Floats]

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "tables" / "recovery.md"
N_PAIR = 300
N_DRAW, N_TUNE = 1000, 1000
GIBBS_TUNE = 300


def names(letter: str, n: int) -> list[str]:
    """Return ids whose order as text is that of the numbers."""
    return [f"{letter}{k:04d}" for k in range(n)]


def answers(logit: Floats, families: list[str], rng: np.random.Generator) -> Responses:
    """Return right/wrong answers with these chances."""
    values = (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(np.int8)
    models = pd.DataFrame({"model": names("m", logit.shape[1]), "family": families})
    return Responses.build(values, items=names("q", logit.shape[0]), models=models)


def simulate_two_pl(
    rng: np.random.Generator, *, difficulty_sd: float = 1.0, log_slope_sd: float = 0.4
) -> tuple[Responses, Truth]:
    """Return answers of a 2PL at the size of a leaderboard."""
    ability, difficulty = rng.normal(size=150), difficulty_sd * rng.normal(size=500)
    log_slope = log_slope_sd * rng.normal(size=500)
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
    """Return battles in which all pairs meet equally often."""
    n_model = 30
    strength = rng.normal(size=n_model)
    strength -= strength.mean()
    first, second = (np.repeat(side, 7) for side in np.triu_indices(n_model, 1))
    won = rng.random(len(first)) < 1 / (1 + np.exp(strength[second] - strength[first]))
    label = np.array(names("m", n_model))
    outcome = np.where(won, "a", "b").tolist()
    return Battles.build(label[first], label[second], outcome), {"strength": strength}


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """Data of one kind, their model, and the engine that draws from it."""

    simulate: Callable[[np.random.Generator], tuple[Any, Truth]]
    build: Callable[..., Any]
    engine: str
    n_sets: int
    ranking: str
    options: dict[str, Any] = field(default_factory=dict)
    thin: int = 1  # sweeps a draw of gibbs


def _mirt(engine: str, *, dense: bool, **options: Any) -> Case:
    return Case(
        simulate=lambda rng: simulate_mirt(rng, dense=dense),
        build=build_mirt_dif,
        engine=engine,
        n_sets=40 if engine == "gibbs" else 10,
        ranking="expected_score",
        thin=4,
        options={"dimension": 2, **options},
    )


def _bt(engine: str) -> Case:
    return Case(
        simulate=simulate_battles,
        build=build_bradley_terry,
        engine=engine,
        n_sets=60,
        ranking="strength",
    )


def _two_pl(engine: str, *, own: bool = False, n_sets: int = 8, **options: Any) -> Case:
    prior = TwoPLPriors()
    truths = {"difficulty_sd": prior.difficulty_sd, "log_slope_sd": prior.log_discrimination_sd}
    return Case(
        simulate=partial(simulate_two_pl, **truths) if own else simulate_two_pl,
        build=build_two_pl,
        engine=engine,
        n_sets=n_sets,
        ranking="ability",
        options=options,
    )


CASES: dict[str, Case] = {
    "2PL nuts": _two_pl("nuts"),
    "2PL gibbs": _two_pl("gibbs", n_sets=40),
    "2PL gibbs, item scales": _two_pl("gibbs", n_sets=40, hierarchical=True),
    "2PL gibbs, truths from the priors": _two_pl("gibbs", own=True, n_sets=40),
    "2PL laplace": _two_pl("laplace"),
    "MIRT-DIF nuts, dense": _mirt("nuts", dense=True),
    "MIRT-DIF nuts, planted": _mirt("nuts", dense=False),
    "MIRT-DIF gibbs, dense": _mirt("gibbs", dense=True),
    "MIRT-DIF gibbs, planted": _mirt("gibbs", dense=False),
    "MIRT-DIF gibbs, planted, sparse prior": _mirt("gibbs", dense=False, sparse=True),
    "BT nuts": _bt("nuts"),
    "BT laplace": _bt("laplace"),
}
_COMPILED: dict[str, FlatModel] = {}


def draw(case: Case, name: str, data: Any, seed: int) -> tuple[FlatModel | FreeValues, EngineDraws]:
    """Return draws from the posterior; the model of a case is compiled once, its data replaced."""
    if case.engine == "gibbs":
        model = case.build(data, **case.options)
        layout, length = free_values(model), Length(draws=N_DRAW, tune=GIBBS_TUNE, thin=case.thin)
        sampler = block_sampler(model)
        return layout, sample_gibbs(sampler, layout, length=length, chains=1, cores=1, seed=seed)
    if name not in _COMPILED:
        _COMPILED[name] = flatten_model(case.build(data, **case.options), replaceable=True)
    observed = observed_arrays(case.build(data, **case.options))
    flat = _COMPILED[name].with_observed(observed)
    if case.engine == "laplace":
        return flat, approximate_laplace(flat, draws=1000, rng=seed)
    return flat, sample_nuts(
        flat, draws=N_DRAW, tune=N_TUNE, chains=1, cores=1, target_accept=0.8, seed=seed
    )


def study(name: str, seed: int) -> dict[str, Any]:
    """Fit one data set and return the shares that its intervals cover.

    The data set with a number is the same for all engines.
    """
    case, rng = CASES[name], np.random.default_rng([20261130, seed])
    data, truth = case.simulate(rng)
    started = time.perf_counter()
    flat, drawn = draw(case, name, data, seed)
    row: dict[str, Any] = {"case": name, "seed": seed, "seconds": time.perf_counter() - started}
    row["divergent"] = int(np.sum(drawn.stats.get("diverging", 0)))
    values = {str(key): one.to_numpy()[0] for key, one in flat.expand(drawn.points).items()}
    if case.ranking == "expected_score":
        family = np.arange(len(truth["expected_score"])) % 4
        values["expected_score"] = np.array(
            [
                (1 / (1 + np.exp(-(w @ z + b[:, None] + d[:, family])))).mean(axis=0)
                for w, z, b, d in zip(
                    values["loading"], values["ability"], values["easiness"], values["dif"],
                    strict=True,
                )
            ]
        )  # fmt: skip
    score = values[case.ranking]
    row["ess"] = (
        float(np.median([ess(one) for one in score.T])) if case.engine != "laplace" else None
    )
    ids = names("m", score.shape[1])
    sets = rank_models(score, models=ids).ranks.set_index("model").loc[ids]
    true_rank = pd.Series(-truth[case.ranking]).rank().to_numpy()
    low, high = sets["rank_set_low"].to_numpy(), sets["rank_set_high"].to_numpy()
    row["sets"] = float(((low <= true_rank) & (true_rank <= high)).all())
    shares: dict[str, list[float]] = {}
    for variable, found, true in quantities(values, truth, case.ranking, rng):
        lowest, highest = np.quantile(found, [0.025, 0.975], axis=0)
        shares[variable] = [float(np.mean((lowest <= true) & (true <= highest))), int(true.size)]
    row["shares"] = shares
    return row


def ess(draws: Floats) -> float:
    """Return the bulk effective sample size of one chain."""
    from arviz_stats.base import array_stats

    return float(array_stats.ess(draws[None], method="bulk"))


def quantities(
    draws: dict[str, Floats], truth: Truth, ranked: str, rng: np.random.Generator
) -> Iterator[tuple[str, Floats, Floats]]:
    """Yield the name, the draws and the truth of what is covered."""
    for variable, true in truth.items():
        flat = draws[variable]
        if variable == "dif" and (true == 0).any():
            effect = (true != 0).any(axis=1)
            yield "dif, items with effects", flat[:, effect], true[effect]
            yield "dif, items without", flat[:, ~effect], true[~effect]
        else:
            yield variable, flat, true
        if variable == "ability":
            slope, origin = np.polyfit(flat.mean(axis=0), true, 1)
            yield "ability, linked", origin + slope * flat, true
        if variable == ranked:
            n = len(true)
            a = rng.integers(n, size=N_PAIR)
            b = (a + rng.integers(1, n, size=N_PAIR)) % n
            yield f"{variable} difference", flat[:, a] - flat[:, b], true[a] - true[b]


def table(rows: list[dict[str, Any]]) -> str:
    """Return the table as Markdown."""
    lines = [
        "| model, engine | data sets | quantity | intervals | covered, % | rank sets | ESS | s |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name in CASES:
        found = [row for row in rows if row["case"] == name]
        if not found:
            continue
        n, held = len(found), int(sum(row["sets"] for row in found))
        sizes = [row["ess"] for row in found if row["ess"] is not None]
        seconds = np.median([row["seconds"] for row in found])
        ends = [
            str(n),
            f"{held} of {n}",
            f"{np.median(sizes):.0f}" if sizes else "",
            f"{seconds:.0f}",
        ]
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
    parser.add_argument("--first", type=int, default=0, help="number of the first data set")
    parser.add_argument("--store", type=Path, help="file that rows are kept in")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}")
    chosen = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if chosen.store and chosen.store.exists():
        rows = [json.loads(line) for line in chosen.store.read_text().splitlines()]
    for name in chosen.case or CASES:
        n_sets = CASES[name].n_sets if chosen.sets is None else chosen.sets
        for seed in range(chosen.first, chosen.first + n_sets):
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
