"""Tables of a fit as text in cells."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from neartie.inference.fit_summary import FitSummary
from neartie.report.formatting import MISSING, count, decimal, is_missing
from neartie.report.table import Column, Table

MOST_MODELS: Final = 100
MOST_ITEMS: Final = 25
MOST_EFFECTS: Final = 25
MOST_QUANTITIES: Final = 12
# Heads of further standard errors, and what they leave out.
_FURTHER_ERRORS: Final = {
    "se_diagonal": (
        "SE, others known",
        "Behind the interval: SE if all other strengths were known, often printed and too small.",
    ),
    "se_items_known": (
        "SE, items known",
        "Behind the interval: the SE that takes all items as known, as is often printed.",
    ),
}
_WORST_FIRST: Final = {"not converged": 0, "not assessed": 1, "approximation": 2, "converged": 3}


def models(summary: FitSummary) -> tuple[Table, int]:
    """Return the models from the top, and how many are not shown."""
    table = summary.ranked()
    error = "sd" if "sd" in table else "se"
    extra = [name for name in _FURTHER_ERRORS if name in table]
    flagged = "flag" in table and bool((table["flag"] != "").any())
    unit = "n answers" if summary.n_items else "n battles"
    columns = (
        Column(head="model", numeric=False, long=True),
        Column(head=unit),
        Column(head=summary.quantity.replace("_", " ")),
        Column(head="sd" if error == "sd" else "SE"),
        Column(head=f"{summary.level:.0%} interval"),
        *(Column(head=_FURTHER_ERRORS[name][0]) for name in extra),
        *((Column(head="rests on", numeric=False),) if flagged else ()),
    )
    rows = tuple(
        (
            row["model"],
            _count(row["n"]),
            number(row[summary.quantity]),
            number(row[error]),
            span(row["low"], row["high"]),
            *(number(row[name]) for name in extra),
            *((row["flag"],) if flagged else ()),
        )
        for row in table.head(MOST_MODELS).to_dict("records")
    )
    note = " ".join(_FURTHER_ERRORS[name][1] for name in extra)
    whole = Table(caption="Models", columns=columns, rows=rows, note=note)
    return whole, max(len(table) - MOST_MODELS, 0)


def flagged_items(summary: FitSummary) -> tuple[Table, int]:
    """Return the items with a flag, and how many are not shown."""
    if "flag" not in summary.items:
        return Table(caption="Items to look at", columns=(), rows=()), 0
    table = summary.items[summary.items["flag"] != ""]
    names = [name for name in ("difficulty", "easiness", "discrimination") if name in table]
    columns = (
        Column(head="item", numeric=False, long=True),
        Column(head="n answers"),
        *(Column(head=name) for name in names),
        Column(head="why", numeric=False),
    )
    rows = tuple(
        (row["item"], count(row["n"]), *(number(row[name]) for name in names), row["flag"])
        for row in table.head(MOST_ITEMS).to_dict("records")
    )
    return Table(caption="Items to look at", columns=columns, rows=rows), max(
        len(table) - MOST_ITEMS, 0
    )


def effects(summary: FitSummary) -> Table:
    """Return the family effects that are surest not to be zero: furthest away, in their own sd."""
    error = "sd" if "sd" in summary.dif else "se"
    columns = (
        Column(head="item", numeric=False, long=True),
        Column(head="family", numeric=False),
        Column(head="effect, logit"),
        Column(head="sd" if error == "sd" else "SE"),
        Column(head=f"{summary.level:.0%} interval"),
    )
    caption = "Family effects furthest from zero"
    if summary.dif.empty:
        return Table(caption=caption, columns=columns, rows=())
    size = (summary.dif["effect"] / summary.dif[error]).abs()
    order = summary.dif.assign(size=size).sort_values(
        ["size", "item", "family"], ascending=[False, True, True]
    )
    rows = tuple(
        (
            row["item"],
            row["family"],
            number(row["effect"]),
            number(row[error]),
            span(row["low"], row["high"]),
        )
        for row in order.head(MOST_EFFECTS).to_dict("records")
    )
    unit = "posterior sd" if error == "sd" else "standard error"
    note = (
        f"In units of their {unit}. Picked from many: some would stand here if no family differed "
        "at all."
    )
    return Table(caption=caption, columns=columns, rows=rows, note=note)


def parameters(summary: FitSummary) -> Table:
    """Return what all models or items have in common."""
    table = summary.parameters
    error = "sd" if "sd" in table else "se"
    has_limits = "low" in table
    columns = (
        Column(head="parameter", numeric=False),
        Column(head="estimate"),
        Column(head="sd" if error == "sd" else "SE"),
        *((Column(head=f"{summary.level:.0%} interval"),) if has_limits else ()),
    )
    rows = tuple(
        (
            row["parameter"],
            number(row["estimate"]),
            number(row[error]),
            *((span(row["low"], row["high"]),) if has_limits else ()),
        )
        for row in table.to_dict("records")
    )
    return Table(caption="Common parameters", columns=columns, rows=rows)


def worst_quantities(summary: FitSummary) -> Table:
    """Return the quantities that converged least."""
    columns = (
        Column(head="quantity", numeric=False, long=True),
        Column(head="R-hat"),
        Column(head="bulk ESS"),
        Column(head="tail ESS"),
        Column(head="verdict", numeric=False),
    )
    caption = "Convergence, the worst first"
    if summary.diagnostics.empty:
        return Table(caption=caption, columns=columns, rows=())
    order = summary.diagnostics.assign(
        place=summary.diagnostics["verdict"].map(_WORST_FIRST).fillna(4)
    ).sort_values(["place", "r_hat", "ess_bulk"], ascending=[True, False, True], kind="stable")
    rows = tuple(
        (
            row["quantity"],
            decimal(row["r_hat"], digits=3) if not is_missing(row["r_hat"]) else MISSING,
            _count(row["ess_bulk"]),
            _count(row["ess_tail"]),
            row["verdict"],
        )
        for row in order.head(MOST_QUANTITIES).to_dict("records")
    )
    return Table(caption=caption, columns=columns, rows=rows)


def settings(summary: FitSummary) -> Table:
    """Return every choice that made the fit."""
    columns = (Column(head="setting", numeric=False), Column(head="value", numeric=False))
    chosen = {"model": summary.kind, "engine": summary.engine, **summary.settings}
    rows = [(name.replace("_", " "), _plain(value)) for name, value in chosen.items()]
    if summary.seed is not None:
        rows.append(("seed", str(summary.seed)))
    return Table(caption="Settings", columns=columns, rows=tuple(rows))


def number(value: Any) -> str:
    """Return a number with three digits after the point; infinite ones as a sign.

    Examples
    --------
    >>> number(1.23456), number(float("-inf")), number(None)
    ('1.235', '−∞', '–')
    """
    if is_missing(value):
        return MISSING
    if value in (float("inf"), float("-inf")):
        return "∞" if value > 0 else "−∞"
    return decimal(value, digits=3)


def span(low: Any, high: Any) -> str:
    """Return an interval; a dash where there is none.

    Examples
    --------
    >>> span(-0.5, 1.25), span(float("nan"), float("nan"))
    ('−0.500 to 1.250', '–')
    """
    if is_missing(low) and is_missing(high):
        return MISSING
    return f"{number(low)} to {number(high)}"


def _count(value: Any) -> str:
    if is_missing(value):
        return MISSING
    return count(value) if float(value) == int(value) or value > 100 else f"{value:.1f}"


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or MISSING
    return MISSING if value is None or pd.isna(value) else str(value)
