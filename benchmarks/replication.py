"""Size and power of the tests beside the near-tie audit, by simulation.

    python benchmarks/replication.py [--replicates 150] [--store rows.json] [--out PAGE.md]

Whole leaderboards are fewer: `BOARDS` of them, and `REFITS` where every one is refitted under
permuted families or perturbed. With a store, finished parts are kept. The table goes to
`docs/tables/replication_power.md`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from battery_studies import attributions, batteries, passing, pooled_rule, variant_p_values
from content_studies import content_study, family_study, wilcoxon_study
from replication_studies import (
    STATISTICS,
    common_coverage,
    owner_coverage,
    replication_by_families,
    replication_by_leaderboard,
    replication_by_signature,
    source_signs,
)
from scipy import stats

from neartie.data.files import write_text_atomic

LEVEL = 0.05
BOARDS, REFITS = 80, 30
SMALL: dict[str, Any] = {"n_items": 300, "n_models": 160, "n_owners": 80}
NULL: dict[str, Any] = {**SMALL, "dif_effect": 0.0, "impact": 0.0}
LONG = "leaderboard without DIF or impact, 1,500 items"
PLANTED = "leaderboard, planted DIF, range 1.5"
LEADERBOARDS: dict[str, dict[str, Any]] = {
    "leaderboard without DIF or impact": NULL,
    "leaderboard without DIF, equal loadings": {**NULL, "n_dimensions": 1},
    LONG: {**NULL, "n_items": 1500},
    PLANTED: {**SMALL, "dif_effect": 1.5, "direction": "random"},
}
BESIDE_FAMILIES = ("leaderboard without DIF or impact", LONG, PLANTED)
SHARED: dict[str, Any] = {**SMALL, "n_models": 240, "n_owners": 120, "dif_effect": 3.0}
BATTERIES: dict[str, tuple[dict[str, Any], int | None]] = {
    "no DIF, families alike": ({**SHARED, "dif_effect": 0.0, "impact": 0.0}, 4),
    "shared DIF, range 3": (SHARED, None),
}

type Part = tuple[str, Callable[[], list[str]]]


def row(what: str, condition: str, hits: np.ndarray) -> str:
    """Return a line of the table: share of hits with its error or exact 95 % limits.

    Rows of `hits` are independent; entries of a row (families, variants) are not, and the standard
    error then is that over rows.
    """
    hits = np.asarray(hits, dtype=float)
    if not hits.size:
        return f"| {what} | {condition} | 0 | – | – |"
    if hits.ndim > 1 and not np.ptp(np.nan_to_num(hits)):
        hits = hits[:, 0]  # all rows alike: the exact limits of one entry, at most too wide
    if hits.ndim == 1:
        interval = stats.binomtest(int(hits.sum()), len(hits)).proportion_ci(0.95)
        limits = f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"
    else:
        error = np.nanmean(hits, axis=1).std(ddof=1) / np.sqrt(len(hits)) if len(hits) > 1 else 0.0
        middle = np.nanmean(hits)
        low, high = max(0.0, middle - 1.96 * error), min(1.0, middle + 1.96 * error)
        limits = f"{100 * low:.1f} to {100 * high:.1f}"
    return f"| {what} | {condition} | {len(hits)} | {100 * np.nanmean(hits):.1f} | {limits} |"


def signatures(label: str, item: float, n: int) -> list[str]:
    p = replication_by_signature(n, item=item)
    return [row(f"replication, {name}", label, p[name] <= LEVEL) for name in STATISTICS]


def leaderboards(label: str, n: int) -> list[str]:
    p = replication_by_leaderboard(LEADERBOARDS[label], n)
    return [row(f"replication, {name}", label, p[name] <= LEVEL) for name in STATISTICS]


def beside_families(label: str, n: int) -> list[str]:
    p = replication_by_families(LEADERBOARDS[label], n)
    return [
        row(f"beside permuted families, {name}", label, p[name] <= LEVEL) for name in STATISTICS
    ]


def sources(label: str, condition: dict[str, float], n: int) -> list[str]:
    p = source_signs(n, **condition)
    return [
        row(f"source signs, {name}", label, p[name] <= LEVEL) for name in ("binomial", "labels")
    ]


def pooled(label: str, n: int) -> list[str]:
    found = attributions(LEADERBOARDS[label], n)
    p = np.array([part.shifts.p_value for part in found], dtype=float)
    return [
        row("source shifts, binomial", label, p <= LEVEL),
        row("rule for source signs, five benchmarks", label, pooled_rule(found)),
    ]


def battery(label: str, n: int) -> list[str]:
    board, dimension = BATTERIES[label]
    found = batteries(board, n, dimension=dimension)
    p = variant_p_values(found)
    hits = (p <= LEVEL).where(p.notna()).to_numpy(dtype=float)
    passes = passing(found)
    return [
        row("battery, p of the primary analysis", label, p["primary"] <= LEVEL),
        row("battery, p of a perturbation", label, hits[:, 1:]),
        row("battery, rule over five benchmarks", label, passes.to_numpy()[:, 1:]),
    ]


def intervals(sd: float, n: int) -> list[str]:
    label = f"owner sd {sd:g}"
    return [
        row("owner bootstrap, interval misses", label, ~owner_coverage(n, owner_sd=sd)),
        row("common models, interval misses", label, ~common_coverage(n, owner_sd=sd)),
    ]


def content(difference: float, n: int) -> list[str]:
    found = content_study(n, difference=difference)
    label = f"true difference {100 * difference:.0f} points"
    if difference:
        lines = [row("q of the planted axis", label, found["planted_q"] <= LEVEL)]
    else:
        lines = [
            row("McNemar, one axis", label, found["mcnemar"] <= LEVEL),
            row("Wilcoxon, one axis", label, found["wilcoxon"] <= LEVEL),
            row("q of any axis, one annotator", label, found["any_q"] <= LEVEL),
        ]
    return [*lines, row("four-part rule", label, found["confirmed"])]


def signed_ranks(n: int) -> list[str]:
    return [row("Wilcoxon, one axis", "no difference, labels alone", wilcoxon_study(n) <= LEVEL)]


def families(lean: float, n: int) -> list[str]:
    label = f"favoured family leans {100 * lean:.0f} points"
    return [row("family association", label, family_study(n, lean=lean) <= LEVEL)]


def parts(n: int) -> list[Part]:
    """Return the parts of the table by name."""
    boards, refits = min(n, BOARDS), min(n, REFITS)
    signature = {"signatures independent": 0.0, "common part, sd 0.3 of noise": 0.3}
    source = {
        "noise alone": {},
        "item effects, no source effects": {"item": 0.5},
        "source effects, sd 0.1, and item effects": {"item": 0.5, "source": 0.1},
        "source effects, sd 0.2, and item effects": {"item": 0.5, "source": 0.2},
    }
    made: list[Part] = [(label, partial(signatures, label, i, n)) for label, i in signature.items()]
    for label in LEADERBOARDS:
        made.append((label, partial(leaderboards, label, boards)))
        if label in BESIDE_FAMILIES:
            made.append((f"{label}, families", partial(beside_families, label, refits)))
    made += [(label, partial(sources, label, part, n)) for label, part in source.items()]
    made += [(f"{label}, pooled", partial(pooled, label, boards)) for label in (LONG, PLANTED)]
    made += [(label, partial(battery, label, refits)) for label in BATTERIES]
    made += [(f"intervals {sd}", partial(intervals, sd, n)) for sd in (0.0, 1.0)]
    made += [(f"content {d}", partial(content, d, n)) for d in (0.0, 0.1, 0.2, 0.3)]
    made.append(("Wilcoxon", partial(signed_ranks, 20 * n)))
    made += [(f"families {lean}", partial(families, lean, n)) for lean in (0.0, 0.2)]
    return made


def run(made: Sequence[Part], *, workers: int, store: Path | None) -> list[str]:
    """Return the lines of all parts in their order; those in the store are taken from there."""
    done: dict[str, list[str]] = json.loads(store.read_text()) if store and store.exists() else {}

    def keep(name: str, lines: list[str]) -> None:
        done[name] = lines
        print("\n".join(lines), file=sys.stderr, flush=True)
        if store:
            write_text_atomic(json.dumps(done, indent=1), store)

    open_ = [(name, make) for name, make in made if name not in done]
    if workers == 1:
        for name, make in open_:
            keep(name, make())
    else:
        with ProcessPoolExecutor(workers, initializer=_one_thread) as pool:
            names = {pool.submit(make): name for name, make in open_}
            for future in as_completed(names):
                keep(names[future], future.result())
    return [line for name, _ in made for line in done[name]]


def _one_thread() -> None:
    import numba
    from threadpoolctl import threadpool_limits

    numba.set_num_threads(1)
    threadpool_limits(limits=1)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--replicates", type=int, default=150)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--store", type=Path, help="finished parts, to go on from")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    lines = run(parts(options.replicates), workers=options.workers, store=options.store)
    head = [
        "| test | condition | n | rejections at .05, % | 95 % limits |",
        "| --- | --- | ---: | ---: | --- |",
    ]
    text = "\n".join(head + lines) + "\n"
    print(text)
    if options.out:
        write_text_atomic(text, options.out)


if __name__ == "__main__":
    main()
