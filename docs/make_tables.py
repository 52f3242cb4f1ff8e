"""Compare the audit with the worked audit and the real leaderboard, and write both tables.

`python docs/make_tables.py` writes `docs/tables/worked_audit.md` and `docs/tables/open_llm_v1.md`.
The data are not part of the repository: NEARTIE_DATA names their folder, beside which the worked
audit lies in `reference/`.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from neartie.audits.composition import composition_units, recomposed_reversals
from neartie.audits.controls import compare_with_random, score_subtests
from neartie.audits.near_tie import audit_near_ties
from neartie.audits.population import build_population
from neartie.audits.purification import Purification, purify_anchors
from neartie.audits.ranking import BANDS, count_reversals
from neartie.audits.settings import AuditSettings
from neartie.audits.targets import Target, mean_tau_b, pooled, score_target
from neartie.data.read import read_responses
from neartie.data.responses import Responses
from neartie.inference.dimension import InnerSplit, select_dimension
from neartie.inference.residual_dif import fit_residual_dif
from neartie.inference.spectral import spectral_coordinates, spectral_offset, working_responses

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("NEARTIE_DATA", ROOT.parent / "shared" / "data"))
TABLES = ROOT / "docs" / "tables"
FRACTIONS = {"1of2": "0.5", "3of10": "0.3", "7of10": "0.7"}
HALVES = (0, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement:
    """One row of the table: how far computed values are from expected ones."""

    quantity: str
    source: str
    n: int
    largest: float
    tolerance: float

    @classmethod
    def of(
        cls, quantity: str, source: str, found: ArrayLike, expected: ArrayLike, tolerance: float = 0
    ) -> Agreement:
        """Compare values one by one."""
        difference = np.abs(np.asarray(found, float) - np.asarray(expected, float))
        return cls(
            quantity=quantity,
            source=source,
            n=difference.size,
            largest=float(difference.max()),
            tolerance=tolerance,
        )

    def __str__(self) -> str:
        if self.largest > self.tolerance:
            raise SystemExit(f"{self.quantity}: off by {self.largest:g}")
        exact = "0" if self.largest == 0 else f"{self.largest:.0e}"
        allowed = "exact" if self.tolerance == 0 else f"{self.tolerance:.0e}"
        return f"| {self.quantity} | {self.source} | {self.n:,} | {exact} | {allowed} |"


class WorkedAudit:
    """Inputs and expected values of the worked audit, and what neartie makes of the inputs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        models = self.table("inputs/frozen_population")
        self.models = models.astype({"half": "Int64", "representative": "Int64"})
        self.items = self.table("inputs/items")
        values = self.table("inputs/responses").set_index("item").loc[self.items["item"]]
        self.responses = Responses.build(
            values[self.models["model"]].to_numpy(np.int8), items=self.items, models=self.models
        )
        self.population = build_population(self.responses)

    def table(self, name: str) -> pd.DataFrame:
        """Return a table, all of it text."""
        return pd.read_csv(self.folder / f"{name}.csv.gz", dtype=str)

    def rows_of_half(self, name: str, half: int) -> pd.DataFrame:
        """Return the rows of a table that belong to a half."""
        table = self.table(name)
        return table[table["half"] == str(half)]

    def expected(self, name: str) -> Any:
        """Return expected values."""
        return json.loads((self.folder / "expected" / f"{name}.json").read_text())

    def half(self, half: int) -> tuple[np.ndarray, pd.DataFrame]:
        """Return answers and models of a half."""
        columns = self.population.half(half)
        return self.responses.values[:, columns], self.models.iloc[columns]

    def purified(self, alpha: str, half: int) -> Purification:
        """Return the anchors of a half, found anew."""
        values, models = self.half(half)
        return purify_anchors(
            values,
            family=models["family"],
            source=self.items["source"],
            dimension=2,
            alpha=alpha,
        )

    @cached_property
    def chains(self) -> dict[str, tuple[list[Purification], list[Target]]]:
        """Anchors and targets at each anchor fraction."""
        found = {}
        for name, alpha in FRACTIONS.items():
            parts = [self.purified(alpha, half) for half in HALVES]
            targets = [score_target(self.population, half, parts[1 - half]) for half in HALVES]
            found[name] = (parts, targets)
        return found


def fits(audit: WorkedAudit) -> Iterator[Agreement]:
    """Compare dimension, offsets and family effects of both halves."""
    losses: list[tuple[Any, Any]] = []
    offsets: list[tuple[Any, Any]] = []
    exact: list[tuple[Any, Any]] = []
    five: list[tuple[Any, Any]] = []
    for half in HALVES:
        values, models = audit.half(half)
        owners = audit.rows_of_half("inputs/inner_owner_split", half)
        items = audit.rows_of_half("inputs/inner_item_split", half)
        held_out = owners.loc[owners["role"] == "val", "owner"]
        calibration = items.set_index("item")["role"].loc[audit.items["item"]] == "C"
        choice = select_dimension(
            values,
            split=InnerSplit(
                validation=models["owner"].isin(held_out).to_numpy(),
                calibration=calibration.to_numpy(),
            ),
        )
        curve = audit.expected("k_selection")[str(half)]
        losses.append(
            (
                [*choice.table["loss"], *choice.table["se"], choice.k],
                [*curve["mean"], *curve["se"], curve["K_star"]],
            )
        )
        working = working_responses(values)
        offset = spectral_offset(working, spectral_coordinates(working.response, dimension=2))
        table = audit.table(f"expected/offset_all_items_half{half}")
        known = table[models["model"]].to_numpy(np.float64)
        offsets.append((offset, known))
        table = audit.table(f"expected/residual_all_items_half{half}")
        for kind, cycles, pairs in (("exact", None, exact), ("literal", 5, five)):
            fit = fit_residual_dif(values, family=models["family"], offset=known, cycles=cycles)
            columns = [f"b_{kind}", *(f"delta_{kind}_{f}" for f in fit.families), f"D_{kind}"]
            pairs.append(
                (
                    np.column_stack([fit.easiness, fit.effects, fit.dif_range]),
                    table[columns].astype(float),
                )
            )
    yield _agree("held-out losses, their SE, chosen K", "eqs 18–23", losses, 1e-8)
    yield _agree("spectral offsets of the first round (logit)", "eqs 12–17", offsets, 1e-8)
    yield _agree("easiness, effects, D at the optimum (logit)", "eqs 3–5", exact, 1e-6)
    yield _agree("the same after five cycles", "eqs 25–33", five, 1e-6)


def _agree(
    quantity: str, source: str, pairs: Sequence[tuple[Any, Any]], tolerance: float
) -> Agreement:
    found, expected = (np.concatenate([np.ravel(p[i]) for p in pairs]) for i in (0, 1))
    return Agreement.of(quantity, source, found, expected, tolerance)


def anchors_and_scores(audit: WorkedAudit) -> Iterator[Agreement]:
    """Compare everything from the anchors to the reversal counts, at three fractions."""
    weights, overlaps, rounds, counts, taus = [], [], [], [], []
    scores: list[tuple[Any, Any]] = []
    known_scores = audit.table("expected/scores")
    for name, (parts, targets) in audit.chains.items():
        setting = f"{name}_half_even"
        for half, part in enumerate(parts):
            table = audit.table(f"expected/anchors_{setting}_half{half}")
            weights += [
                (float(a == Fraction(b)), 1.0)
                for a, b in zip(part.subtest.weights(), table["weight"], strict=True)
            ]
            rounds.append((part.selecting.easiness, table["b_round3"].astype(float)))
            rounds.append((part.selecting.dif_range, table["D_round3"].astype(float)))
            rounds.append((part.signature.easiness, table["b_final"].astype(float)))
            summary = audit.expected("anchors_summary")[f"{setting}_half{half}"]
            overlaps.append((part.rounds["jaccard"].iloc[1:3], summary["jaccard"][1:]))
            target = targets[half]
            rows = known_scores[
                (known_scores["setting"] == setting) & (known_scores["target_half"] == str(half))
            ]
            rows = rows.set_index("model").loc[audit.models["model"].iloc[target.positions]]
            scores.append((target.scores.full, rows["full_count"].astype(int)))
            scores += [
                (float(score * int(d)), float(n))
                for score, n, d in zip(
                    target.scores.anchor,
                    rows["anchor_numerator"],
                    rows["anchor_denominator"],
                    strict=True,
                )
            ]
        ranking = audit.expected("ranking")[setting]
        taus.append((mean_tau_b(targets), ranking["tau_b_mean"]))
        for key, row in ranking["threshold"].items():
            epsilon = None if key == "all" else f"{int(key) / 10000:.4f}"
            # expected lists go by anchor half, so that the targets are 1 and 0
            for side, target in enumerate(reversed(targets)):
                count = count_reversals(target.pairs, target.signs, epsilon=epsilon)
                counts.append(
                    (
                        [count.n_band, count.n_eligible, count.n_reversed],
                        [
                            row["pairs_in_band_including_full_ties"][side],
                            row["eligible"][side],
                            row["flips"][side],
                        ],
                    )
                )
    yield _agree("anchor weights, as fractions", "eq 6, C.5", weights, 0)
    yield _agree("Jaccard overlap of rounds", "C.5", overlaps, 0)
    # five cycles made the expected values; these are optima
    yield _agree("easiness and D of round three and refit (logit)", "C.5", rounds, 3e-4)
    yield _agree("full and anchor scores, as counts and fractions", "eq 8", scores, 0)
    yield _agree("pairs in band, eligible, reversed", "eqs 38–40", counts, 0)
    yield _agree("mean Kendall's tau-b", "3.4", taus, 1e-12)


def resampling(audit: WorkedAudit) -> Iterator[Agreement]:
    """Compare random subtests and recompositions on the worked audit's own draws."""
    parts, targets = audit.chains["1of2"]
    draws = audit.table("inputs/random_subsets").astype(int)
    multiplicities = audit.table("inputs/composition_multiplicities").to_numpy(np.int64)
    _, unit = composition_units(audit.items["source"])
    random, recomposed = [], []
    for target in targets:
        subtest = parts[1 - target.half].subtest
        rows = draws[draws["anchor_half"] == 1 - target.half]
        selections = np.zeros((rows["replicate"].max() + 1, len(audit.items)), dtype=bool)
        selections[rows["replicate"], rows["item_index"]] = True
        random.append(score_subtests(target.values, selections, subtest, target.pairs))
        recomposed.append(
            recomposed_reversals(
                target.values, subtest, target.pairs, unit=unit, multiplicities=multiplicities
            )
        )
    rates, comparisons = [], []
    for column, epsilon in enumerate(BANDS):
        row = audit.expected("random_explicit")["by_eps_bp"][str(int(epsilon * 10000))]
        counts = random[0] + random[1]
        rates.append((counts.rate[:, column], row["T_r"]))
        found = compare_with_random(pooled(targets, epsilon), counts, column)
        comparisons.append(
            (
                [found.median, found.excess_pp, found.p_value],
                [row[k] for k in ("median", "excess_pp", "p")],
            )
        )
    yield _agree("rates of given random subtests", "eq 35", rates, 1e-15)
    yield _agree("their median, excess, p", "eqs 10, 11", comparisons, 1e-12)
    bootstrap = audit.expected("composition_bootstrap")
    given = [
        (
            [[p.n_eligible[r, 2], p.n_reversed[r, 2]] for p in reversed(recomposed)],
            replicate["ties_dropped"]["counts"],
        )
        for r, replicate in enumerate(bootstrap["replicates"])
    ]
    yield _agree("eligible and reversed in given recompositions", "eq 37", given, 0)
    ends = np.quantile((recomposed[0] + recomposed[1]).rate[:, 2], [0.025, 0.975])
    yield _agree("range over them", "C.7", [(ends, bootstrap["range_ties_dropped"])], 1e-15)


def worked_audit_table(folder: Path) -> str:
    """Return the table of agreement with the worked audit."""
    audit = WorkedAudit(folder)
    rows = [*fits(audit), *anchors_and_scores(audit), *resampling(audit)]
    head = "| quantity | P0 | values | largest difference | allowed |\n| --- | --- | ---: | ---: | ---: |"
    return "\n".join([head, *map(str, rows)]) + "\n"


def open_llm_table(data: Path, reference: Path) -> str:
    """Return expected and computed reversals of the real leaderboard, band by band."""
    responses = read_responses(
        data / "responses.csv.gz", items=data / "items.csv", models=reference / "models.csv"
    )
    audit = audit_near_ties(responses, AuditSettings(dimension=8, alpha="0.5"), rng=1)
    known = json.loads((reference / "expected.json").read_text())
    heads = (
        "band (points)",
        "expected: reversed of eligible",
        "neartie",
        "rate (%)",
        "random median (%)",
        "excess",
        "p",
    )
    lines = [f"| {' | '.join(heads)} |", "|" + " ---: |" * len(heads)]
    for row in audit.thresholds.to_dict("records"):
        counts = np.array(known["observed"][str(round(10000 * row["epsilon"]))]["counts"])
        eligible, reversed_ = counts.sum(axis=0)
        found = round(row["rate"] * row["n_eligible"])
        if (eligible, reversed_) != (row["n_eligible"], found):
            raise SystemExit(f"band {row['epsilon']}: the counts differ")
        lines.append(
            f"| {100 * row['epsilon']:g} | {reversed_} of {eligible:,} | {found} of {row['n_eligible']:,}"
            f" | {100 * row['rate']:.1f} | {100 * row['random_median']:.1f}"
            f" | {row['excess_pp']:+.1f} | {row['p_value']:.3f} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write both tables; stop at the first value that is off."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.parse_args(arguments)
    reference = DATA.parent / "reference"
    for name, text in (
        ("worked_audit", worked_audit_table(reference)),
        ("open_llm_v1", open_llm_table(DATA / "open_llm_v1", reference / "open_llm_v1")),
    ):
        (TABLES / f"{name}.md").write_text(text, encoding="utf-8")
        print(text)


if __name__ == "__main__":
    main()
