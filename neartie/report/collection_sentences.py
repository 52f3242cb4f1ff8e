"""What holds over several benchmarks, in sentences, each with its rule."""

from __future__ import annotations

from neartie.audits.collection import needed_benchmarks
from neartie.audits.collection_checks import CollectionChecks
from neartie.audits.control_comparison import PERMUTED
from neartie.report.formatting import SIGNIFICANT, count, p_text, percent, plural
from neartie.report.further_sentences import FLATTER, coarse_p


def collection_answer(whole: CollectionChecks) -> str:
    """Return in how many benchmarks near ties reverse more than under random subtests."""
    table = whole.primary_table()
    n = len(table)
    found = table[(table["excess_pp"] > 0) & (table["p_value"] <= SIGNIFICANT)]
    defined = table["excess_pp"].notna()
    others = table[defined & ~table.index.isin(found.index)]["benchmark"].tolist()
    without = table.loc[~defined, "benchmark"].tolist()
    text = (
        f"In {len(found)} of {plural(n, 'benchmark')}, near ties reverse more often under low-DIF "
        "scoring than under matched random subtests (excess above zero, p at most .05)"
    )
    if others and len(found):
        text += f"; not in {', '.join(others)}"
    if without:
        text += f"; without an excess, for want of pairs or random subtests: {', '.join(without)}"
    return f"{text}. Nothing is corrected for the number of benchmarks."


def permuted_summary(whole: CollectionChecks) -> tuple[str, ...]:
    """Return in how many benchmarks the excess over permuted labels is reliable; or nothing."""
    rows = {
        name: row
        for name, found in whole.checks.items()
        if (row := found.control(PERMUTED)) is not None
    }
    if not rows:
        return ()
    reliable = [
        name for name, row in rows.items() if row["excess_pp"] > 0 and row["p_value"] <= SIGNIFICANT
    ]
    named = f" ({', '.join(reliable)})" if reliable else ""
    coarse = coarse_p(min(int(row["n"]) for row in rows.values()))
    return (
        (
            f"Over anchors chosen under permuted family labels the excess is above zero with p at most "
            f".05 in {len(reliable)} of {plural(len(rows), 'benchmark')}{named}.{coarse}"
        ),
        (
            f"{FLATTER} Where an excess over random subtests is large and that over permuted labels is "
            "small, flatness of the anchors may be all there is."
        ),
    )


def passing_sentence(whole: CollectionChecks) -> str:
    """Return how many populations pass the rule over benchmarks (P0, eqs 44-46)."""
    table = whole.audits.passing_table()
    n = len(whole.audits.robustness)
    needed = needed_benchmarks(n)
    passed = int(table["passes"].sum())
    few = " With fewer than three benchmarks the rule says little." if n < 3 else ""
    return (
        f"Of {plural(len(table), 'population')}, the primary one included, {count(passed)} "
        f"{'passes' if passed == 1 else 'pass'} the rule: excess above zero, and p at most .05, in at "
        f"least {needed} of {plural(n, 'benchmark')}.{few}"
    )


def pooled_sentences(whole: CollectionChecks) -> tuple[str, ...]:
    """Return the sign checks of all benchmarks together, and the paper's rule (P0, D.3)."""
    pooled = whole.pooled
    if pooled is None or not pooled.effects.n:
        return ("No benchmark has sources that could be checked.",)
    verdict = "holds" if pooled.supported else "does not hold"
    parts = [
        (
            f"Of {count(pooled.effects.n)} extreme source effects of all benchmarks, "
            f"{count(pooled.effects.hits)} ({percent(pooled.effects.share)}%) keep their sign in the "
            f"other half (binomial {p_text(pooled.effects.p_value)}, as if independent); "
            f"{plural(pooled.n_supporting, 'benchmark reaches', 'benchmarks reach')} 65%. The rule "
            f"(70%, p at most .05, two such benchmarks) {verdict}."
        )
    ]
    if pooled.shifts.n:
        parts.append(
            f"Of {count(pooled.shifts.n)} contributions of sources to score shifts, "
            f"{count(pooled.shifts.hits)} keep their sign (binomial {p_text(pooled.shifts.p_value)})."
        )
    return tuple(parts)


def shifts_summary(whole: CollectionChecks) -> str:
    """Return which families change the direction of their shift between benchmarks."""
    signs: dict[str, set[int]] = {}
    for found in whole.checks.values():
        if found.shifts is not None:
            for row in found.shifts.table.to_dict("records"):
                signs.setdefault(row["family"], set()).add(int(row["shift_pp"] > 0))
    turned = sorted(family for family, seen in signs.items() if len(seen) > 1)
    who = f": {', '.join(turned)}" if turned else ""
    return (
        f"{count(len(turned))} of {plural(len(signs), 'family', 'families')} shift in both "
        f"directions over the benchmarks{who}. Shifts describe benchmarks, and rank no family."
    )
