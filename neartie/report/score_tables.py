"""Tables of a scorecard as text in cells."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from neartie.audits.scorecard_result import Scorecard
from neartie.report.formatting import MISSING, count, decimal, is_missing, percent, signed
from neartie.report.table import Column, Table

MOST_ROWS: Final = 60
MOST_FLAGGED: Final = 40
MOST_PAIRS: Final = 40


def index_table(card: Scorecard, *, most: int = MOST_ROWS) -> tuple[Table, int]:
    """Return the global index of the models, best first, and how many more there are."""
    lacking = bool((card.models["missing"] != "").any())
    columns = [Column(head="Rank"), Column(head="Model", numeric=False, long=True)]
    columns += [Column(head="Index"), Column(head="Interval"), Column(head="± printed")]
    columns += [Column(head="Behind the best")]
    if lacking:
        columns += [Column(head="Shared domains"), Column(head="Lacks", numeric=False)]
    rows = []
    for row in card.models.head(most).to_dict("records"):
        cells = [count(row["rank"]), str(row["model"]), _points(row["global_index"]), _limits(row)]
        cells += [_points(row["half_width_printed"]), _behind(row)]
        cells += [_points(row["shared_index"]), str(row["missing"])] if lacking else []
        rows.append(tuple(cells))
    table = Table(
        caption="Global index, of 1,000 points",
        columns=tuple(columns),
        rows=tuple(rows),
        note="The interval counts the error of every term; “± printed” is the half-width of the "
        "white paper, which counts that of ability alone, with items taken as known. Behind the "
        "best: the difference with its own half-width."
        + (
            " A model that lacks domains has no rank; its index is over its own domains. Shared "
            "domains: the index over those that all models have."
            if lacking
            else ""
        ),
    )
    return table, max(0, len(card.models) - most)


def domain_table(card: Scorecard, domain: str, *, most: int = MOST_ROWS) -> tuple[Table, int]:
    """Return the terms of one domain, best first, and how many more models there are."""
    rows = card.domains[card.domains["domain"] == domain]
    rows = rows.sort_values(["score", "model"], ascending=[False, True])
    kind = rows["source"].iloc[0]
    specs: list[tuple[str, Any]] = [("Score", lambda r: _points(r["score"]))]
    if kind != "task":
        specs += [
            ("Interval", _limits),
            ("Strength (SE)" if kind == "duels" else "Ability (SE)", _estimate),
        ]
    if kind == "duels":
        specs.append(("SE, printed", lambda r: _two(r["se_printed"])))
    if kind == "answers" or rows["accuracy"].notna().any():
        specs.append(("Right (%)", lambda r: percent(r["accuracy"])))
    if rows["consistency"].notna().any():
        specs.append(("Consistency", lambda r: _three(r["consistency"])))
    if rows["ece"].notna().any():
        specs += [
            ("ECE (if calibrated)", _error),
            ("Brier", lambda r: _three(r["brier"])),
        ]
    if rows["resistance"].notna().any():
        specs.append(("Anchor gap (resistance)", _gap))
    if kind == "answers" and (rows["measured"] < 1).any():
        specs.append(("Measured (%)", lambda r: percent(r["measured"], digits=0)))
    has_reason = bool((rows["reason"] != "").any())
    columns = [Column(head="Model", numeric=False, long=True)]
    columns += [Column(head=head) for head, _ in specs]
    columns += [Column(head="Note", numeric=False)] if has_reason else []
    cells = []
    for row in rows.head(most).to_dict("records"):
        line = [str(row["model"]), *(show(row) for _, show in specs)]
        cells.append((*line, str(row["reason"])) if has_reason else tuple(line))
    table = Table(
        caption=f"{domain}",
        columns=tuple(columns),
        rows=tuple(cells),
        note=_DOMAIN_NOTES[kind],
    )
    return table, max(0, len(rows) - most)


_DOMAIN_NOTES: Final = {
    "answers": "Ability in logits, from a 2PL with the domain's items. Anchor gap in points. If calibrated: the ECE that "
    "calibrated answers with these confidences would have on average.",
    "duels": "Bradley–Terry log strength, standardised over the models.",
    "given": "Abilities as given.",
    "task": "Scores as given; nothing is known of their errors.",
}


def judge_table(card: Scorecard, *, most: int = MOST_PAIRS) -> tuple[Table, int]:
    """Return the judges of duels, and how many more there are."""
    several = card.judges["domain"].nunique() > 1
    heads = ["Verdicts", "Own duels left out", "Ties (%)", "Unreadable"]
    heads += ["First shown wins (%)", "Interval", "Position effect (pp)", "Contradictions"]
    columns = [Column(head="Domain", numeric=False)] if several else []
    columns += [Column(head="Judge", numeric=False, long=True)]
    columns += [Column(head=head) for head in heads]
    rows = []
    ordered = card.judges.sort_values(["domain", "n", "judge"], ascending=[True, False, True])
    for row in ordered.head(most).to_dict("records"):
        cells = [str(row["domain"])] if several else []
        decided = row["n"] - row["n_tie"]
        cells += [str(row["judge"]), count(row["n"]), count(row["n_self"])]
        cells += [percent(1 - decided / row["n"]) if row["n"] else MISSING]
        cells += [count(row["n_unparsed"]), percent(row["share_first"])]
        cells += [_between(100 * row["share_low"], 100 * row["share_high"])]
        cells += [signed(_times(100, row["position_effect"]))]
        swapped = row["n_swapped"]
        cells += [f"{row['n_contradictory']} of {swapped}" if swapped else MISSING]
        rows.append(tuple(cells))
    table = Table(
        caption="Judges",
        columns=tuple(columns),
        rows=tuple(rows),
        note="First shown wins: of decided verdicts, after un-swapping. Position effect: by how "
        "much being shown first raises the chance to win, compared within pairs of models. "
        "Contradictions: of duels that a judge saw in both orders.",
    )
    return table, max(0, len(ordered) - most)


def agreement_table(card: Scorecard, *, most: int = MOST_PAIRS) -> tuple[Table, int]:
    """Return agreement of pairs of judges, those with most shared cases first."""
    known = card.agreement[card.agreement["n"] > 0]
    known = known.sort_values(["n", "judge_a", "judge_b"], ascending=[False, True, True])
    several = known["domain"].nunique() > 1
    columns = [Column(head="Domain", numeric=False)] if several else []
    columns += [Column(head="Judges", numeric=False, long=True), Column(head="Both judged")]
    columns += [Column(head="Agree (%)"), Column(head="by chance"), Column(head="Kappa")]
    with_reason = bool((known.head(most)["reason"] != "").any())
    columns += [Column(head="Note", numeric=False)] if with_reason else []
    rows = []
    for row in known.head(most).to_dict("records"):
        cells = [str(row["domain"])] if several else []
        cells += [f"{row['judge_a']} – {row['judge_b']}", count(row["n"])]
        cells += [percent(row["observed"]), percent(row["expected"]), _two(row["kappa"])]
        rows.append((*cells, row["reason"]) if with_reason else tuple(cells))
    table = Table(caption="Agreement of judges", columns=tuple(columns), rows=tuple(rows))
    return table, max(0, len(known) - most)


def hygiene_table(card: Scorecard) -> Table:
    """Return how many items of each domain have a flag."""
    rows = []
    for domain, part in card.items.groupby("domain", sort=False):
        flags = part["flag"]
        cells = [str(domain), count(len(part)), count((flags != "").sum())]
        cells += [count(flags.str.contains(word).sum()) for word in _FLAGS]
        rows.append(tuple(cells))
    columns = [Column(head="Domain", numeric=False), Column(head="Items"), Column(head="Flagged")]
    columns += [Column(head=head) for head in _FLAGS.values()]
    return Table(
        caption="Item hygiene",
        columns=tuple(columns),
        rows=tuple(rows),
        note="Flat: discrimination below 0.3. Extreme: difficulty beyond 3. Reversed: the more able "
        "answer it less often. Silent: all models answered alike, so that it has no estimates.",
    )


_FLAGS: Final = {
    "flat": "Flat",
    "extreme": "Extreme",
    "reversed": "Reversed",
    "left out": "Silent",
}


def flagged_table(card: Scorecard, *, most: int = MOST_FLAGGED) -> tuple[Table, int]:
    """Return the flagged items with their estimates, and how many more there are."""
    flagged = card.flagged()
    silent = flagged["flag"].str.startswith("left out")
    flagged = pd.concat([flagged[~silent], flagged[silent]])
    rows = tuple(
        (
            str(row["domain"]), str(row["item"]), count(row["n"]), _two(row["discrimination"]),
            _two(row["difficulty"]), str(row["flag"]),
        )
        for row in flagged.head(most).to_dict("records")
    )  # fmt: skip
    columns = (
        Column(head="Domain", numeric=False),
        Column(head="Item", numeric=False, long=True),
        Column(head="Models"),
        Column(head="Discrimination"),
        Column(head="Difficulty"),
        Column(head="Reason", numeric=False),
    )
    table = Table(caption="Items to look at", columns=columns, rows=rows)
    return table, max(0, len(flagged) - most)


def economics_table(card: Scorecard) -> Table:
    """Return costs and latencies beside the index, the cheapest first."""
    there = [axis for axis in ("cost", "latency") if card.models[axis].notna().any()]
    rows = []
    shown = card.models[card.models[there].notna().any(axis=1)].sort_values(there)
    heads = {"cost": "Cost per 1,000 items", "latency": "Median latency (s)"}
    columns = [Column(head="Model", numeric=False, long=True), Column(head="Index")]
    for axis in there:
        columns += [Column(head=heads[axis]), Column(head="Frontier", numeric=False)]
    for row in shown.head(MOST_ROWS).to_dict("records"):
        cells = [str(row["model"]), _points(row["global_index"])]
        for axis in there:
            on = row[f"{axis}_frontier"]
            cells += [_amount(row[axis]), "yes" if not is_missing(on) and on == 1 else ""]
        rows.append(tuple(cells))
    return Table(
        caption="Quality beside cost",
        columns=tuple(columns),
        rows=tuple(rows),
        note="Cost and latency enter no score. Models without a rank have no place on a frontier.",
    )


def settings(card: Scorecard) -> Table:
    """Return the version of the rules and every choice that made the numbers."""
    chosen: dict[str, Any] = {"rules": card.stamp, **card.settings, "seed": card.seed}
    weights = chosen.pop("domain_weights")
    chosen["domain weights"] = (
        ", ".join(f"{name} {value:g}" for name, value in weights.items()) or "equal"
    )
    rows = tuple((str(name).replace("_", " "), str(value)) for name, value in chosen.items())
    columns = (Column(head="Setting", numeric=False), Column(head="Value", numeric=False))
    return Table(caption="Settings", columns=columns, rows=rows)


def _points(value: Any) -> str:
    return decimal(value, digits=0)


def _two(value: Any) -> str:
    return decimal(value, digits=2)


def _three(value: Any) -> str:
    return decimal(value, digits=3)


def _amount(value: Any) -> str:
    return MISSING if is_missing(value) else f"{value:,.3g}"


def _times(factor: float, value: Any) -> Any:
    return None if is_missing(value) else factor * value


def _between(low: Any, high: Any, *, digits: int = 0) -> str:
    if is_missing(low):
        return MISSING
    return f"{decimal(low, digits=digits)} to {decimal(high, digits=digits)}"


def _limits(row: Any) -> str:
    return _between(row["low"], row["high"])


def _gap(row: Any) -> str:
    if is_missing(row["contamination_gap"]):
        return MISSING
    gap = signed(100 * row["contamination_gap"], digits=0)
    return f"{gap} ({_two(row['resistance'])})"


def _error(row: Any) -> str:
    if is_missing(row["ece"]) or is_missing(row["ece_if_calibrated"]):
        return _three(row["ece"])
    return f"{_three(row['ece'])} ({_three(row['ece_if_calibrated'])})"


def _estimate(row: Any) -> str:
    if is_missing(row["ability"]):
        return MISSING
    return f"{_two(row['ability'])} ({_two(row['se'])})"


def _behind(row: Any) -> str:
    if is_missing(row["gap_to_best"]) or row["rank"] == 1:
        return MISSING
    return f"{_points(row['gap_to_best'])} ± {_points(row['gap_half_width'])}"
