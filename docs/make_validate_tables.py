"""Make docs/tables/validate.md: one design, several engines, and a wrong prior.

python docs/make_validate_tables.py STORE     # some 3 minutes of one core; goes on from STORE
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from neartie import DesignValidation, validate_design
from neartie.audits.validation_words import held, worded

TABLE = Path(__file__).resolve().parent / "tables" / "validate.md"
DESIGN: dict[str, Any] = {"kind": "two-pl", "n_items": 40, "n_models": 15, "rng": 1}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "map": ("`--engine map`", {"engine": "map", "n_data_sets": 200}),
    "gibbs": ("`--engine gibbs`", {"engine": "gibbs", "n_data_sets": 80}),
    "laplace": ("`--engine laplace`", {"engine": "laplace", "n_data_sets": 40}),
    "truth": (
        "`--engine gibbs --truth ability_sd=2`",
        {"engine": "gibbs", "truth": {"ability_sd": 2.0}, "n_data_sets": 25},
    ),
}
QUANTITIES = ("ability", "ability difference", "difficulty", "log_discrimination")


def row(name: str, found: DesignValidation) -> str:
    """Return the line of a case."""
    covered = found.coverage[found.coverage["level"] == 0.95].set_index("quantity")
    cells = [held(covered.loc[quantity]).replace("%", "") for quantity in QUANTITIES]
    tested = found.quantities.set_index("quantity")
    slope = tested.loc["P(i above j)", ["slope", "slope_se"]]
    p = found.quantities["p_adjusted"].min()
    parts = [name, str(found.n_fitted), *cells, f"{slope.iloc[0]:.3f} ± {slope.iloc[1]:.3f}"]
    sets = found.ranks.set_index("statistic").loc["all_in_sets", "value"]
    return " | ".join(["", *parts, f"{100 * sets:.0f}", f"{p:.2g}", ""]).strip()


def main() -> None:
    """Run the cases and write the table."""
    store = Path(sys.argv[1])
    heads = [worded(name) for name in QUANTITIES]
    columns = ["", "data sets", *heads, "slope", "rank sets", "smallest adjusted p"]
    lines = [f"| {' | '.join(columns)} |", "| --- |" + " ---: |" * (len(columns) - 1)]
    for name, (said, settings) in CASES.items():
        found = validate_design(**DESIGN, **settings, folder=store / name)
        lines.append(row(said, found))
        print(lines[-1], f"{found.seconds['seconds'].median():.2g} s a fit", found, sep="\n")
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
