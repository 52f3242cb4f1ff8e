"""Tables of the comparison with peers, as Markdown."""

from __future__ import annotations

from typing import Any

import numpy as np
from comparison import Task

type Row = dict[str, Any]

#: Key of what is judged, its head in the table, and its format; shares are in per cent.
JUDGED: dict[str, tuple[tuple[str, str, str], ...]] = {
    "answers": (
        ("ability", "RMSE ability", ".4f"),
        ("covered", "covered, %", ".1f"),
        ("unlinked", "in its own unit, %", ".1f"),
        ("difficulty", "RMSE difficulty", ".3f"),
    ),
    "several": (("predictor", "RMSE logit", ".3f"), ("probability", "RMSE probability", ".4f")),
    "battles": (
        ("strength", "RMSE strength", ".4f"),
        ("covered", "covered, %", ".1f"),
        ("half", "half-width", ".4f"),
    ),
    "intervals": (
        ("covered", "strengths covered, %", ".1f"),
        ("pairs", "differences covered, %", ".1f"),
        ("half", "half-width", ".3f"),
    ),
}
SHARES = ("covered", "unlinked", "pairs")
FIRST = {"answers": "ability", "several": "predictor", "battles": "strength", "intervals": ""}


def judged(rows: list[Row], key: str) -> list[float]:
    """Return what was found for each data set, in order."""
    return [found[key] for row in rows for found in row.get("found", ()) if key in found]


def numbers(rows: list[Row]) -> list[int]:
    """Return the numbers of the data sets that were fitted."""
    return [row["first"] + k for row in rows for k in range(len(row.get("found", ())))]


def cell(rows: list[Row], key: str, form: str) -> str:
    """Return a mean over data sets; of shares with its error where there are several."""
    values = np.array(judged(rows, key))
    if not len(values):
        return ""
    if key not in SHARES:
        return format(values.mean(), form)
    values *= 100
    error = f" ± {values.std(ddof=1) / np.sqrt(len(values)):.1f}" if len(values) > 1 else ""
    return format(values.mean(), form) + error


def ratio(rows: list[Row], ours: list[Row], key: str) -> str:
    """Return the error relative to neartie's, over the data sets that both have fitted."""
    mine = dict(zip(numbers(rows), judged(rows, key), strict=True))
    others = dict(zip(numbers(ours), judged(ours, key), strict=True))
    both = mine.keys() & others.keys()
    if not both:
        return ""
    return f"{np.mean([mine[k] for k in both]) / np.mean([others[k] for k in both]):.2f}"


def middle(values: list[float]) -> str:
    """Return the median of seconds, with two digits that count."""
    if not values:
        return ""
    value = float(np.median(values))
    return f"{value:.2f}" if value < 9.95 else f"{value:.0f}"


def line(task: Task, label: str, rows: list[Row], ours: list[Row]) -> str:
    """Return the row of one method."""
    good = [row for row in rows if row.get("found")]
    failures = [row["failure"] for row in rows if "failure" in row]
    cells = [label]
    if good:
        complete = [row for row in good if "failure" not in row]
        cells += [
            middle([row["process"] for row in complete]),
            middle([one for row in good for one in row["seconds"]]),
            middle([row["whole"] for row in complete if "whole" in row]),
            middle([one for row in good for one in row["processor"]]),
            f"{max(row['megabytes'] for row in good):.0f}",
        ]
        first = FIRST[task.kind]
        if first:
            cells.append(ratio(good, ours, first))
        cells += [cell(good, key, form) for key, _, form in JUDGED[task.kind]]
        cells.append(str(len(numbers(good))))
        cells[-1] += f", then {failures[-1]}" if failures else ""
    else:
        width = 6 + bool(FIRST[task.kind]) + len(JUDGED[task.kind])
        cells += [""] * (width - 1) + [failures[-1] if failures else "not run"]
    return "| " + " | ".join(cells) + " |"


def table(task: Task, rows: list[Row]) -> str:
    """Return the table of one task."""
    heads = ["program: method", "process, s", "fit, s", "process, CPU s", "fit, CPU s", "MB"]
    heads += ["error / neartie's"] if FIRST[task.kind] else []
    heads += [head for _, head, _ in JUDGED[task.kind]] + ["data sets"]
    lines = [f"**{task.title}**", "", "| " + " | ".join(heads) + " |"]
    lines.append("| --- |" + " ---: |" * (len(heads) - 2) + " --- |")
    by_label: dict[str, list[Row]] = {method.label: [] for method in task.methods}
    for row in rows:
        if row["task"] == task.name and row["label"] in by_label:
            by_label[row["label"]].append(row)
    ours = [row for row in by_label[task.methods[0].label] if row.get("found")]
    lines += [line(task, label, found, ours) for label, found in by_label.items()]
    return "\n".join(lines) + "\n"


def measured(tasks: tuple[Task, ...], rows: list[Row]) -> str:
    """Return when the rows were made, beside what load, and with which versions."""
    names = {task.name for task in tasks}
    used = [row for row in rows if row["task"] in names]
    if not used:
        return "Nothing was run.\n"
    dates = sorted(row["when"] for row in used)
    load = np.array([row["load"] for row in used])
    seen: dict[str, set[str]] = {}
    for row in used:
        for name, version in row.get("versions", {}).items():
            seen.setdefault(name, set()).add(version)
    versions = ", ".join(f"{name} {' or '.join(sorted(seen[name]))}" for name in sorted(seen))
    return (
        f"Measured from {dates[0]} to {dates[-1]}; load of the machine before each fit "
        f"{np.median(load):.1f} in the median, {load.max():.1f} at most. {versions}.\n"
    )


def tables(tasks: tuple[Task, ...], rows: list[Row]) -> str:
    """Return all tables."""
    return "\n".join([table(task, rows) for task in tasks] + [measured(tasks, rows)])
