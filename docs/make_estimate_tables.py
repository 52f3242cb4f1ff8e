"""Hold point estimates of real data against posteriors, and write the tables of the page.

`python docs/make_estimate_tables.py` writes `docs/tables/estimates_two_pl.md` and
`docs/tables/estimates_bradley_terry.md`: what the commands on `docs/compare_estimates.md` find. The
data are not part of the repository: NEARTIE_DATA names their folder.
"""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd

from neartie.audits.compare_estimates import compare_estimates
from neartie.audits.estimates_result import EstimateComparison
from neartie.data.read import read_responses
from neartie.data.read_battles import read_battles

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("NEARTIE_DATA", ROOT.parent / "shared" / "data"))
TABLES = ROOT / "docs" / "tables"
HEAD = ("estimator", "error", "SE ratio", "held (%)", "pairs (%)", "off (sd)", "stretch", "changed")


def rows(found: EstimateComparison, *, lead: tuple[str, ...] = ()) -> list[str]:
    """Return the lines of one comparison; MM is left out, since it repeats Newton's numbers."""
    table = found.estimators[~found.estimators["estimator"].str.startswith("mm-")]
    return [_line(lead, pd.Series(row)) for row in table.to_dict("records")]


def _line(lead: tuple[str, ...], row: pd.Series) -> str:
    over_models = row["quantity"] in ("ability", "strength")
    cells = [
        *lead,
        f"`{row['estimator']}`",
        f"`{row['se_name']}`",
        f"{row['se_ratio']:.2f}",
        f"{100 * row['mass']:.1f}",
        f"{100 * row['pair_mass']:.1f}" if over_models else "",
        f"{row['bias_rms_sd']:.2f}",
        f"{row['stretch']:.3f}" if row["stretch"] == row["stretch"] else "",
        f"{row['n_changed']} ({row['n_close']})" if over_models else "",
        row["verdict"],
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Write both tables."""
    answers = read_responses(DATA / "swebench_verified" / "responses.csv.gz")
    found = compare_estimates(answers, draws=4000, rng=1)
    _write("two_pl", rows(found))
    lines = []
    for name, path in (
        ("baseball", "bt_classic/baseball.csv"),
        ("crowd", "llmfao_crowd/battles.csv.gz"),
    ):
        found = compare_estimates(read_battles(DATA / path), draws=4000, rng=1)
        lines += rows(found, lead=(name,))
    _write("bradley_terry", lines, lead=("data",))


def _write(name: str, lines: list[str], *, lead: tuple[str, ...] = ()) -> None:
    head = [*lead, *HEAD, "intervals"]
    text_columns = len(lead) + 2
    rule = ["---"] * text_columns + ["---:"] * (len(HEAD) - 2) + ["---"]
    text = "\n".join([f"| {' | '.join(head)} |", f"| {' | '.join(rule)} |", *lines]) + "\n"
    (TABLES / f"estimates_{name}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
