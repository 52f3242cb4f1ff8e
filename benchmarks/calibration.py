"""Simulation-based calibration of every model at small size: parameters, scales, ranks, orders.

    python benchmarks/calibration.py                       # every case, some 30 minutes of one core
    python benchmarks/calibration.py --case "2PL"          # one, some 2 minutes
    python benchmarks/calibration.py --store cases.json    # keep finished cases, and resume
    python benchmarks/calibration.py --store cases.json --write   # also docs/tables/calibration.md

Truths are drawn from the priors and answers from the truths by plain NumPy, which
follows the formulas of the factories' documentation and shares no code with them: a wrong prior,
likelihood, or sampler shows (`calibration_studies.py`). The model is compiled once a case. See `neartie.inference.calibration`
for the tests; `log_likelihood` is that of truth or draw given the data, which sees a posterior that
ignores part of the data.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from calibration_studies import BradleyTerry, MirtDif, ResidualDif, TwoPL

from neartie.inference.calibration import calibrate
from neartie.inference.calibration_result import Calibration

ROOT = Path(__file__).resolve().parent.parent
TABLES = {
    engine: ROOT / "docs" / "tables" / f"calibration{suffix}.md"
    for engine, suffix in (("nuts", ""), ("gibbs", "_gibbs"))
}
ALPHA = 0.01


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A model with options, and settings of the calibration."""

    study: Callable[..., Any]
    options: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)


CASES: dict[str, Case] = {
    "BT, no ties, scale estimated": Case(study=BradleyTerry, options={"hierarchical": True}),
    "BT, Davidson, first shown": Case(
        study=BradleyTerry, options={"ties": "davidson", "first_shown": True}
    ),
    "BT, Rao-Kupper": Case(study=BradleyTerry, options={"ties": "rao-kupper"}),
    "BT, judges": Case(study=BradleyTerry, options={"judge_effects": True}),
    "2PL": Case(study=TwoPL),
    "1PL, 15 % missing": Case(study=TwoPL, options={"discrimination": "one", "missing": 0.15}),
    "2PL, item scales and family means": Case(
        study=TwoPL, options={"hierarchical": True, "family_means": True}
    ),
    "1PL, half missing": Case(study=TwoPL, options={"discrimination": "one", "missing": 0.5}),
    "2PL, slopes of either sign": Case(study=TwoPL, options={"discrimination": "signed"}),
    "residual DIF, scale 1": Case(study=ResidualDif),
    "residual DIF, scale estimated": Case(study=ResidualDif, options={"hierarchical": True}),
    "MIRT-DIF, K = 1": Case(study=MirtDif, options={"dimension": 1}),
    "MIRT-DIF, K = 2, sums over items too": Case(
        study=MirtDif, options={"dimension": 2, "zero_sum": "families_and_items"}
    ),
    "2PL by laplace": Case(study=TwoPL, settings={"engine": "laplace"}),
    "BT, Davidson, first shown, by laplace": Case(
        study=BradleyTerry,
        options={"ties": "davidson", "first_shown": True},
        settings={"engine": "laplace"},
    ),
}


# Sweeps are cheap, and follow each other more closely than draws of NUTS.
GIBBS: dict[str, Any] = {"thin": 10, "tune": 300}


def run(
    name: str, n_replicates: int, *, engine: str = "nuts", seconds: float | None = None
) -> dict[str, Any]:
    """Calibrate one case, by an engine unless the case has one of its own."""
    case, started = CASES[name], time.perf_counter()
    study = case.study(**case.options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: Calibration = calibrate(
            study.model,
            study.simulate,
            quantities=study.quantities,
            ranking=study.ranking,
            n_replicates=n_replicates,
            seconds=seconds,
            rng=20261130,
            **{**GIBBS, "engine": engine} if engine == "gibbs" else {},
            **case.settings,
        )
    brier = found.pairs.brier() if found.pairs else (np.nan, np.nan)
    return {
        "case": name,
        "rows": json.loads(found.table().to_json(orient="records")),
        "brier": brier,
        "n_replicates": found.n_replicates,
        "n_divergent": found.n_divergent,
        "seconds": time.perf_counter() - started,
    }


def table(results: list[dict[str, Any]]) -> str:
    """Return the table as Markdown."""
    lines = [
        "| model | quantity | mean position | spread | in 50 % | in 95 % | slope | p, adjusted |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name in CASES:
        for result in (one for one in results if one["case"] == name):
            for place, row in enumerate(result["rows"]):
                first = f"{name} ({result['n_replicates']})" if place == 0 else ""
                count = f" ({row['n']})" if row["n"] > 1 else ""
                flag = " **!**" if row["p_adjusted"] < ALPHA else ""
                p = f"{row['p_adjusted']:.2g}{flag}"
                if row.get("slope") is not None:
                    cells = ["", "", "", "", f"{row['slope']:.3f} ± {row['slope_se']:.3f}"]
                else:
                    cells = [
                        f"{row['mean_position']:.3f} ± {row['mean_position_se']:.3f}",
                        f"{row['spread']:.2f} ± {row['spread_se']:.2f}",
                        f"{100 * row['covered_50']:.0f}",
                        f"{100 * row['covered_95']:.1f} ± {100 * row['covered_95_se']:.1f}",
                        "",
                    ]
                lines.append(
                    "| " + " | ".join([first, f"{row['quantity']}{count}", *cells, p]) + " |"
                )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the study and print or write its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", choices=CASES, action="append", help="all when left out")
    parser.add_argument("--engine", choices=TABLES, default="nuts")
    parser.add_argument("--replicates", type=int, default=150, help="data sets a case")
    parser.add_argument("--seconds", type=float, help="begin no data set of a case after that")
    parser.add_argument("--store", type=Path, help="file that finished cases are kept in")
    parser.add_argument("--write", action="store_true", help="write the table of the engine")
    chosen = parser.parse_args()
    results: list[dict[str, Any]] = []
    if chosen.store and chosen.store.exists():
        results = json.loads(chosen.store.read_text())
    table_file = TABLES[chosen.engine]
    by_laplace = [name for name, case in CASES.items() if case.settings]
    known = [name for name in CASES if chosen.engine == "nuts" or name not in by_laplace]
    for name in chosen.case or known:
        if any(result["case"] == name for result in results):
            continue
        results.append(run(name, chosen.replicates, engine=chosen.engine, seconds=chosen.seconds))
        print(table(results[-1:]), flush=True)
        print(f"{results[-1]['seconds']:.0f} s, {results[-1]['n_divergent']} divergences")
        if chosen.store:
            chosen.store.write_text(json.dumps(results))
    if chosen.write:
        table_file.write_text(table(results))


if __name__ == "__main__":
    main()
