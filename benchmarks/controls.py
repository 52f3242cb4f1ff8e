"""How often each control of the audit says yes, where the truth is known.

    python benchmarks/controls.py                     # a few minutes on one core
    python benchmarks/controls.py --replicates 10     # a first look

Leaderboards of 600 items and 240 models, K chosen from 1, 2, 4, 8. A sound test has 5 % in the
columns p <= .05 wherever no item has family effects.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from scipy import stats

from neartie.audits.control_comparison import compare_controls
from neartie.audits.near_tie import audit_near_ties
from neartie.audits.settings import AuditSettings
from neartie.data.simulate import simulate_leaderboard

SEED = 30_000
SETTINGS = AuditSettings(grid=(1, 2, 4, 8), alpha="0.5", controls=200, bootstraps=0)
_RICH: dict[str, Any] = {"n_items": 600, "n_dimensions": 4, "secondary_discrimination": 1.0}
CONDITIONS: dict[str, dict[str, Any]] = {
    "none, families exchangeable": {**_RICH, "impact": 0.0, "dif_effect": 0.0},
    "none, profiles .5 sd": {**_RICH, "impact": 0.5, "dif_effect": 0.0},
    "none, profiles 1 sd": {**_RICH, "impact": 1.0, "dif_effect": 0.0},
    "shared effects of 2 logits": {"n_items": 600, "dif_effect": 2.0},
    "shared effects of 3 logits": {"n_items": 600, "dif_effect": 3.0},
}


def main() -> None:
    """Print one row a condition and control."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replicates", type=int, default=60)
    parser.add_argument("--permutations", type=int, default=39)
    parser.add_argument("--rerun", choices=("all", "last"), default="all")
    options = parser.parse_args()
    print("| family effects | control | leaderboards | excess (points) | p <= .05 (%) | mean p |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for name, board in CONDITIONS.items():
        found: dict[str, list[tuple[float, float]]] = {}
        for replicate in range(options.replicates):
            seed = SEED + replicate
            data = simulate_leaderboard(**board, rng=seed).responses
            audit = audit_near_ties(data, SETTINGS, rng=seed)
            compared = compare_controls(
                data,
                audit,
                permutations=options.permutations,
                controls=200,
                rerun=options.rerun,
            )
            for row in compared.table.to_dict("records"):
                found.setdefault(row["control"], []).append((row["excess_pp"], row["p_value"]))
        for control, values in found.items():
            excess, p = np.array(values).T
            n, yes = len(p), int((p <= 0.05).sum())
            low, high = stats.binomtest(yes, n).proportion_ci()
            print(
                f"| {name} | {control} | {n} | {excess.mean():.1f} "
                f"({excess.std(ddof=1) / np.sqrt(n):.1f}) | {100 * yes / n:.1f} "
                f"({100 * low:.0f} to {100 * high:.0f}) | {p.mean():.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
