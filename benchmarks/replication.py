"""Size and power of the tests beside the near-tie audit, by simulation.

    python benchmarks/replication.py [--replicates 200] [--out PAGE.md]

Whole leaderboards go through the audit where a test needs its fits; source effects, owner shifts
and annotators' labels are drawn directly, from models that the functions below state. The audit of
the bundled example lends item ids, sources and models.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from neartie.audits.attribution import attribute_sources
from neartie.audits.content_analysis import analyse_content
from neartie.audits.content_axes import ContentAxes
from neartie.audits.content_families import associate_families
from neartie.audits.family_shifts import shift_families
from neartie.audits.near_tie import audit_near_ties
from neartie.audits.replication import STATISTICS, replicate_signatures
from neartie.audits.replication_families import replicate_under_permuted_families
from neartie.audits.result import NearTieAudit
from neartie.audits.settings import AuditSettings
from neartie.data.example import load_example
from neartie.data.files import write_text_atomic
from neartie.data.responses import Responses
from neartie.data.simulate import simulate_leaderboard

LEVEL = 0.05
PLAIN = AuditSettings(alpha=0.5, controls=0, bootstraps=0)
LONG = "leaderboard without DIF or impact, 1,500 items"
PLANTED = "leaderboard, planted DIF, range 1.5"
BESIDE_FAMILIES = (LONG, PLANTED)


@cache
def example(dimension: int = 2) -> tuple[NearTieAudit, Responses]:
    """Return the audit that lends its ids, and its responses."""
    data = load_example()
    return audit_near_ties(data, replace(PLAIN, dimension=dimension), rng=1), data


def with_effects(audit: NearTieAudit, effects: np.ndarray) -> NearTieAudit:
    """Return the audit with other signatures, (2, n_item, n_family)."""
    return replace(audit, dif=audit.dif.assign(effect=effects.ravel()))


def drawn_signatures(
    audit: NearTieAudit, *, item: float, source: float, noise: float, rng: np.random.Generator
) -> np.ndarray:
    """Return effects of both halves: item and source parts in common, noise of their own.

    Items differ in the scale of their noise, the same in both halves, as items differ in how much
    they tell.
    """
    sources = audit.items["source"].iloc[: audit.n_items]
    n_family = audit.dif["family"].nunique()
    code = sources.astype("category").cat.codes.to_numpy()
    common = item * rng.normal(size=(audit.n_items, n_family))
    common += source * rng.normal(size=(code.max() + 1, n_family))[code]
    scale = noise * np.exp(0.3 * rng.normal(size=(audit.n_items, 1)))
    effects = common + scale * rng.normal(size=(2, audit.n_items, n_family))
    return effects - effects.mean(axis=2, keepdims=True)


def replication_by_leaderboard(
    board: dict[str, object], replicates: int, *, permutations: int = 199, seed: int = 1
) -> pd.DataFrame:
    """Return p-values of the three statistics on simulated leaderboards."""
    rows = []
    for number in range(replicates):
        data = simulate_leaderboard(rng=seed + number, **board).responses  # type: ignore[arg-type]
        audit = audit_near_ties(data, replace(PLAIN, dimension=4), rng=number)
        found = replicate_signatures(audit, data, permutations=permutations, rng=number)
        rows.append(found.table.set_index("statistic")["p_value"])
    return pd.DataFrame(rows)[list(STATISTICS)].reset_index(drop=True)


def replication_by_families(
    board: dict[str, object], replicates: int, *, permutations: int = 19, seed: int = 1
) -> pd.DataFrame:
    """Return p-values of the three statistics beside refits under permuted families."""
    rows = []
    for number in range(replicates):
        data = simulate_leaderboard(rng=seed + number, **board).responses  # type: ignore[arg-type]
        audit = audit_near_ties(data, replace(PLAIN, dimension=4), rng=number)
        found = replicate_under_permuted_families(
            audit, data, permutations=permutations, rng=number
        )
        rows.append(found.table.set_index("statistic")["p_value"])
    return pd.DataFrame(rows)[list(STATISTICS)].reset_index(drop=True)


def replication_by_signature(
    replicates: int, *, item: float, permutations: int = 199, seed: int = 1
) -> pd.DataFrame:
    """Return p-values of the three statistics on drawn signatures without unequal noise."""
    audit, data = example()
    rng = np.random.default_rng(seed)
    rows = []
    n_family = audit.dif["family"].nunique()
    for _ in range(replicates):
        common = item * rng.normal(size=(audit.n_items, n_family))
        effects = common + rng.normal(size=(2, audit.n_items, n_family))
        effects -= effects.mean(axis=2, keepdims=True)
        found = replicate_signatures(
            with_effects(audit, effects), data, permutations=permutations, rng=rng
        )
        rows.append(found.table.set_index("statistic")["p_value"])
    return pd.DataFrame(rows)[list(STATISTICS)].reset_index(drop=True)


def source_signs(
    replicates: int,
    *,
    item: float = 0.0,
    source: float = 0.0,
    permutations: int = 199,
    seed: int = 1,
) -> pd.DataFrame:
    """Return binomial and shuffled-label p-values of source-effect signs."""
    audit, data = example()
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(replicates):
        effects = drawn_signatures(audit, item=item, source=source, noise=0.5, rng=rng)
        found = attribute_sources(
            with_effects(audit, effects), data, permutations=permutations, rng=rng
        )
        rows.append({"binomial": found.effects.p_value, "labels": found.p_labels})
    return pd.DataFrame(rows)


def owner_coverage(
    replicates: int, *, owner_sd: float = 1.0, bootstraps: int = 400, seed: int = 1
) -> np.ndarray:
    """Return, by replicate and family, whether the interval holds the true mean shift of zero."""
    audit, _ = example()
    rng = np.random.default_rng(seed)
    table = audit.scores
    owners = sorted(set(table["owner"]))
    code = pd.Categorical(table["owner"], categories=owners).codes
    held = []
    for _ in range(replicates):
        shift = owner_sd * rng.normal(size=len(owners))[code] + rng.normal(size=len(table))
        scores = table.assign(anchor=table["full"] + shift / 100)
        found = shift_families(replace(audit, scores=scores), bootstraps=bootstraps, rng=rng).table
        held.append((found["low_pp"] <= 0) & (found["high_pp"] >= 0))
    return np.array(held)


def content_study(
    replicates: int, *, difference: float = 0.0, seed: int = 1, n_pairs: int = 250
) -> pd.DataFrame:
    """Return, by replicate, smallest p and q, Wilcoxon's p, and whether an axis was confirmed.

    Two annotators see the same true label and err in one label of ten. `difference` is how much
    more often high items truly have the first axis.
    """
    axes, rng = ContentAxes(), np.random.default_rng(seed)
    key = content_key(n_pairs)
    high = (key["group"] == "high").to_numpy()
    rows = []
    for _ in range(replicates):
        truth = {}
        for i, axis in enumerate(axes.binary):
            chance = np.where(high & (i == 0), 0.3 + difference, 0.3)
            truth[axis] = rng.random(len(key)) < chance
        score = {axis: rng.integers(0, 4, size=len(key)) for axis in axes.ordinal}
        labels = {}
        for name in ("A", "B"):
            binary = {a: (t ^ (rng.random(len(key)) < 0.1)).astype(float) for a, t in truth.items()}
            ordinal = {a: s.astype(float) for a, s in score.items()}
            labels[name] = key[["blind_id"]].assign(**binary, **ordinal)
        found = analyse_content(key, labels)
        mine = found.binary[found.binary["annotator"] == "A"].set_index("axis")
        rows.append(
            {
                "mcnemar": mine["p_value"].iloc[1],
                "any_q": mine["q_value"].min(),
                "planted_q": mine["q_value"].iloc[0],
                "wilcoxon": found.ordinal["p_value"].iloc[0],
                "confirmed": found.passes,
            }
        )
    return pd.DataFrame(rows)


def family_study(
    replicates: int, *, lean: float = 0.0, permutations: int = 199, seed: int = 1
) -> np.ndarray:
    """Return p-values of the family association of one axis.

    Families are uneven, and so are benchmarks in their families and in the share of the label;
    `lean` adds to that share in the first family.
    """
    axes = ContentAxes(binary={"code": "holds code"}, ordinal={})
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(replicates):
        key = content_key(250)
        bench = key["benchmark"].str[-1].astype(int).to_numpy()
        favour = np.where(rng.random(len(key)) < 0.2 + 0.1 * bench, "Ash", "Birch").astype(object)
        favour[rng.random(len(key)) < 0.2] = "Cedar"
        favour[rng.random(len(key)) < 0.37] = ""
        key = key.assign(advantaged=favour)
        share = 0.1 + 0.12 * bench + lean * (favour == "Ash")
        label = (rng.random(len(key)) < share).astype(float)
        labels = {"A": key[["blind_id"]].assign(code=label)}
        table = associate_families(key, labels, axes=axes, permutations=permutations, rng=rng).table
        found.append(table["p_value"].iloc[0])
    return np.array(found)


def content_key(n_pairs: int) -> pd.DataFrame:
    """Return a key of five benchmarks."""
    pair = np.repeat(np.arange(n_pairs), 2)
    return pd.DataFrame(
        {
            "blind_id": [f"b{i:04d}" for i in range(2 * n_pairs)],
            "benchmark": [f"bench{p % 5}" for p in pair],
            "pair": pair,
            "group": ["high", "control"] * n_pairs,
            "item": [f"q{i}" for i in range(2 * n_pairs)],
            "advantaged": "",
        }
    )


def row(what: str, condition: str, hits: np.ndarray) -> str:
    """Return a line of the table: share of hits with exact 95 % limits."""
    n, k = len(hits), int(np.sum(hits))
    interval = stats.binomtest(k, n).proportion_ci(0.95)
    return (
        f"| {what} | {condition} | {n} | {100 * k / n:.1f} | "
        f"{100 * interval.low:.1f} to {100 * interval.high:.1f} |"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    n = options.replicates
    lines = [
        "| test | condition | n | rejections at .05, % | 95 % limits |",
        "| --- | --- | ---: | ---: | --- |",
    ]

    def add(line: str) -> None:
        lines.append(line)
        print(line, file=sys.stderr, flush=True)

    for label, item in (("signatures independent", 0.0), ("common part, sd 0.3 of noise", 0.3)):
        p = replication_by_signature(n, item=item)
        for name in STATISTICS:
            add(row(f"replication, {name}", label, p[name] <= LEVEL))
    small = {"n_items": 300, "n_models": 160, "n_owners": 80}
    boards = {
        "leaderboard without DIF or impact": {"dif_effect": 0.0, "impact": 0.0},
        "leaderboard without DIF, equal loadings": {
            "dif_effect": 0.0,
            "impact": 0.0,
            "n_dimensions": 1,
        },
        LONG: {
            "dif_effect": 0.0,
            "impact": 0.0,
            "n_items": 1500,
        },
        PLANTED: {"dif_effect": 1.5, "direction": "random"},
    }
    for label, board in boards.items():
        p = replication_by_leaderboard(small | board, n)
        for name in STATISTICS:
            add(row(f"replication, {name}", label, p[name] <= LEVEL))
        if label in BESIDE_FAMILIES:
            p = replication_by_families(small | board, n)
            for name in STATISTICS:
                add(row(f"beside permuted families, {name}", label, p[name] <= LEVEL))
    conditions = {
        "noise alone": {},
        "item effects, no source effects": {"item": 0.5},
        "source effects, sd 0.1, and item effects": {"item": 0.5, "source": 0.1},
        "source effects, sd 0.2, and item effects": {"item": 0.5, "source": 0.2},
    }
    for label, condition in conditions.items():
        p = source_signs(n, **condition)
        for name in ("binomial", "labels"):
            add(row(f"source signs, {name}", label, p[name] <= LEVEL))
    for sd in (0.0, 1.0):
        held = owner_coverage(n, owner_sd=sd)
        add(row("owner bootstrap, interval misses", f"owner sd {sd:g}", ~held.ravel()))
    for difference in (0.0, 0.1, 0.2):
        found = content_study(n, difference=difference)
        label = f"true difference {100 * difference:.0f} points"
        if difference == 0:
            add(row("McNemar, one axis", label, found["mcnemar"] <= LEVEL))
            add(row("Wilcoxon, one axis", label, found["wilcoxon"] <= LEVEL))
            add(row("q of any axis, one annotator", label, found["any_q"] <= LEVEL))
        else:
            add(row("q of the planted axis", label, found["planted_q"] <= LEVEL))
        add(row("four-part rule", label, found["confirmed"]))
    for lean in (0.0, 0.2):
        label = f"favoured family leans {100 * lean:.0f} points"
        add(row("family association", label, family_study(n, lean=lean) <= LEVEL))
    text = "\n".join(lines) + "\n"
    print(text)
    if options.out:
        write_text_atomic(text, options.out)


if __name__ == "__main__":
    main()
