"""How often each control of the audit says yes, where the truth is known.

    python benchmarks/controls.py                     # about half an hour on two cores
    python benchmarks/controls.py --replicates 10     # a first look
    python benchmarks/controls.py --store rows.csv    # can be stopped and goes on from there
    python benchmarks/controls.py --store rows.csv --only profiles    # kinds whose name holds it

The table goes to `docs/tables/controls_level.md`; the text that follows it there is written by hand
and kept.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from neartie.audits.control_comparison import compare_controls
from neartie.audits.near_tie import audit_near_ties
from neartie.audits.settings import AuditSettings
from neartie.data.simulate import simulate_leaderboard

TABLE = Path(__file__).resolve().parent.parent / "docs" / "tables" / "controls_level.md"
READING = "<!-- Written by hand from here on; `benchmarks/controls.py` keeps it. -->\n"
# None of these leaderboards had a part in the choice of a control (that was made on 30,000 on).
SEED = 60_000
LEVEL = 0.05
CONTROLS = 200
PERMUTATIONS = 19
REPLICATES = 60
COLUMNS = ["condition", "seed", "k", "control", "rate", "median", "excess_pp", "p_value"]


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A kind of leaderboard, and the dimension with which it is audited (None: chosen)."""

    name: str
    dif: str
    board: dict[str, Any] = field(default_factory=dict)
    dimension: int | None = None


# Four dimensions of ability in which sources and, with impact, families differ.
_RICH: dict[str, Any] = {"n_items": 600, "n_dimensions": 4, "secondary_discrimination": 1.0}
_NULL: dict[str, Any] = {**_RICH, "dif_effect": 0.0}
CONDITIONS = (
    Condition(name="exchangeable families", dif="none", board={**_NULL, "impact": 0.0}),
    Condition(name="profiles, .5 sd", dif="none", board={**_NULL, "impact": 0.5}),
    Condition(name="profiles, 1 sd, K true", dif="none", board={**_NULL, "impact": 1.0},
              dimension=4),
    Condition(name="profiles, 1 sd, K = 1", dif="none", board={**_NULL, "impact": 1.0},
              dimension=1),
    Condition(name="the same, K true, 1200 items", dif="none",
              board={**_NULL, "impact": 1.0, "n_items": 1200}, dimension=4),
    Condition(name="random effects cancel", dif="random, 3 logits",
              board={"n_items": 600, "dif_effect": 3.0, "direction": "random"}),
    Condition(name="weak", dif="shared, 1 logit", board={"n_items": 600, "dif_effect": 1.0}),
    Condition(name="moderate", dif="shared, 2 logits", board={"n_items": 600, "dif_effect": 2.0}),
    Condition(name="strong", dif="shared, 3 logits", board={"n_items": 600, "dif_effect": 3.0}),
)  # fmt: skip


def audit_board(condition: Condition, seed: int) -> list[dict[str, Any]]:
    """Return what the controls say of one simulated leaderboard, one row a control."""
    data = simulate_leaderboard(**condition.board, rng=seed).responses
    settings = AuditSettings(
        grid=(1, 2, 4, 8),
        dimension=condition.dimension,
        alpha="0.5",
        controls=CONTROLS,
        bootstraps=0,
    )
    audit = audit_near_ties(data, settings, rng=seed)
    compared = compare_controls(data, audit, permutations=PERMUTATIONS, controls=CONTROLS)
    known = {"condition": condition.name, "seed": seed, "k": float(np.mean(audit.k))}
    rows = compared.table.to_dict("records")
    return [known | {name: row[name] for name in COLUMNS[3:]} for row in rows]


def run(
    conditions: Sequence[Condition],
    *,
    replicates: int,
    only: str = "",
    seconds: float = np.inf,
    store: Path | None = None,
    workers: int = 2,
) -> pd.DataFrame:
    """Return one row a leaderboard and control, in the order of conditions and seeds.

    Leaderboards are taken condition by condition within a seed, so that a run that stops early
    has all conditions. The stored rows of earlier runs are kept.
    """
    rows = pd.DataFrame(columns=COLUMNS)
    if store is not None and store.exists():
        rows = pd.read_csv(store)
    done = set(zip(rows["condition"], rows["seed"].astype(int), strict=True))
    tasks = [
        (condition, SEED + replicate)
        for replicate in range(replicates)
        for condition in conditions
        if only in condition.name and (condition.name, SEED + replicate) not in done
    ]
    found = [rows] if len(rows) else []
    begin = time.perf_counter()
    with ProcessPoolExecutor(workers, initializer=_one_thread) as pool:
        for first in range(0, len(tasks), 4 * workers):
            if time.perf_counter() - begin > seconds:
                break
            chunk = tasks[first : first + 4 * workers]
            for part in pool.map(audit_board, *zip(*chunk, strict=True)):
                found.append(pd.DataFrame(part))
            if store is not None:
                pd.concat(found).to_csv(store, index=False)
    print(f"{len(tasks)} leaderboards were open, {time.perf_counter() - begin:.0f} s",
          file=sys.stderr)  # fmt: skip
    names = [condition.name for condition in conditions]
    table = pd.concat(found)
    table = table[table["condition"].isin(names) & (table["seed"] < SEED + replicates)]
    return table.sort_values(
        ["condition", "seed"],
        kind="stable",
        key=lambda c: c.map(names.index) if c.name == "condition" else c,
    )


def _one_thread() -> None:
    import numba
    from threadpoolctl import threadpool_limits

    numba.set_num_threads(1)
    threadpool_limits(limits=1)


def table_text(rows: pd.DataFrame, conditions: Sequence[Condition]) -> str:
    """Return the table, one row a condition and control."""
    dif = {condition.name: condition.dif for condition in conditions}
    head = "leaderboards, family effects of items, K, control, n, excess (points), p <= .05 (%)"
    names = [*head.split(", "), "mean p"]
    lines = [f"| {' | '.join(names)} |", f"| --- | --- | ---: | --- |{' ---: |' * 4}"]
    for (name, control), group in rows.groupby(["condition", "control"], sort=False):
        p = group["p_value"].to_numpy(dtype=float)
        test = stats.binomtest(int((p <= LEVEL).sum()), len(p))
        limits = test.proportion_ci(0.95, method="exact")
        error = group["excess_pp"].std(ddof=1) / np.sqrt(len(group))
        lines.append(
            f"| {name} | {dif[str(name)]} | {group['k'].mean():.1f} | {control} | {len(p)} "
            f"| {group['excess_pp'].mean():.1f} ({error:.1f}) | {100 * test.statistic:.0f} "
            f"({100 * limits.low:.0f} to {100 * limits.high:.0f}) | {p.mean():.2f} |"
        )
    return "\n".join(lines) + "\n"


def document(table: str, *, command: str) -> str:
    """Return the generated part of the page."""
    return (
        f"Made by `{command}`. Simulated leaderboards of 240 models in five families, 600 items "
        f"unless stated; one anchor fraction; {CONTROLS} random subtests, {PERMUTATIONS} "
        "permutations of families with all rounds rerun. K is a mean over halves and "
        "leaderboards. In brackets: Monte Carlo standard errors of means, exact 95 % limits of "
        "shares. Where no item has family effects, a control that holds its level has 5 % in the "
        f"column p <= .05.\n\n{table}\n"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    parser.add_argument("--store", type=Path, help="finished leaderboards, to go on from")
    parser.add_argument("--seconds", type=float, default=np.inf, help="stop after this time")
    parser.add_argument(
        "--only", default="", help="kinds whose name holds this; the others as stored"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=TABLE, help="page to write")
    options = parser.parse_args(arguments)
    rows = run(
        CONDITIONS,
        only=options.only,
        replicates=options.replicates,
        seconds=options.seconds,
        store=options.store,
        workers=options.workers,
    )
    command = "python benchmarks/controls.py"
    if options.replicates != REPLICATES:
        command += f" --replicates {options.replicates}"
    text = document(table_text(rows, CONDITIONS), command=command)
    old = options.out.read_text(encoding="utf-8") if options.out.exists() else ""
    options.out.write_text(text + READING + old.partition(READING)[2], encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
