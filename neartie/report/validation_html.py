"""The report of a validation: one HTML file that works offline."""

from __future__ import annotations

from functools import partial
from typing import Any

from markupsafe import Markup

import neartie
from neartie.audits.few_data_sets import ENOUGH
from neartie.audits.validation_result import ALPHA, DesignValidation
from neartie.audits.validation_words import held, worded
from neartie.report import validation_figures as figures
from neartie.report.formatting import MISSING, count, decimal, is_missing, percent, plural
from neartie.report.page import panel, render_page
from neartie.report.table import Column, Table
from neartie.report.validation_text import design_rows, median_of


def render_validation(result: DesignValidation, *, name: str) -> str:
    """Return the report as one HTML page without scripts or links to other files.

    Parameters
    ----------
    result : DesignValidation
    name : str
        Of the design, for the title.

    Returns
    -------
    str
        The same result and name give the same text: seconds are left out. Names are escaped
        wherever they stand.
    """
    engine = str(result.settings["engine"])
    content = {
        "title": f"Validation of {engine} for {name}",
        "facts": (
            plural(result.n_fitted, "simulated data set"),
            *(f"{n:,} {what}" for what, n in result.design["sizes"].items()),
            f"seed {result.seed}",
        ),
        "warnings": result.warnings,
        "claim": result.claim,
        "verdict": result.verdict,
        "matched": result.matched,
        "alpha": f"{ALPHA:g}",
        "engine": engine,
        "coverage": coverage_table(result),
        "tests": quantity_table(result),
        "has_positions": not result.positions.empty,
        "ranks": rank_table(result),
        "figures": _figures(result),
        "settings": _settings(result),
        "versions": result.versions,
        "version": result.versions.get("neartie", neartie.__version__),
    }
    return render_page("validation.html", content)


def coverage_table(result: DesignValidation) -> Table:
    """Return coverage and width as text in cells; 95 % intervals that miss stand out."""
    rows: list[tuple[str, ...]] = []
    marked = []
    for name, part in result.coverage.groupby("quantity", sort=False):
        levels = part.sort_values("level").to_dict("records")
        cells = [held(level).replace("%", "") for level in levels]
        last = levels[-1]
        if last["n_data_sets"] >= ENOUGH and (last["low"] > 0.95 or last["high"] < 0.95):
            marked.append(len(rows))
        rows.append((worded(str(name)), *cells, _with_error(last, "width", 3)))
    return Table(
        caption="Truths within central intervals, in per cent",
        note="± is the standard error over data sets; in brackets are 95% limits, where there are few "
        "or all are alike. Marked: the 95% limits of the coverage of 95% intervals leave 95 out, which "
        "one row in twenty does by chance.",
        columns=(
            Column(head="quantity", numeric=False),
            Column(head="in 50%"),
            Column(head="in 80%"),
            Column(head="in 95%"),
            Column(head="width of 95% intervals"),
        ),
        rows=tuple(rows),
        marked=tuple(marked),
    )


def quantity_table(result: DesignValidation) -> Table:
    """Return tests and errors as text in cells; rows that depart stand out."""
    rows = result.quantities.to_dict("records")
    return Table(
        caption="Tests of calibration, and errors of estimates",
        note="Uniform positions have mean .5 and spread 1: above, draws are too narrow. The slope of "
        "P(i above j) is 1: below, orders are said with too much confidence.",
        columns=(
            Column(head="quantity", numeric=False),
            Column(head="of them"),
            Column(head="mean position"),
            Column(head="spread"),
            Column(head="slope"),
            Column(head="adjusted p"),
            Column(head="bias"),
            Column(head="RMSE"),
        ),
        rows=tuple(
            (
                worded(str(row["quantity"])),
                count(row["n"]),
                _with_error(row, "mean_position", 3),
                _with_error(row, "spread", 2),
                _with_error(row, "slope", 3),
                MISSING if is_missing(row["p_adjusted"]) else f"{row['p_adjusted']:.2g}",
                _with_error(row, "bias", 3),
                decimal(row["rmse"], digits=3),
            )
            for row in rows
        ),
        marked=tuple(
            k for k, row in enumerate(rows) if result.enough and row["p_adjusted"] < ALPHA
        ),
    )


def rank_table(result: DesignValidation) -> Table | None:
    """Return how ranks fared as text in cells; None where nothing was ranked."""
    if result.ranks.empty:
        return None
    rows = result.ranks.to_dict("records")
    return Table(
        caption="Ranks and resolved pairs",
        note="95% sets and intervals of neartie.rank_models, from the same fits.",
        columns=(
            Column(head="what", numeric=False),
            Column(head="found"),
            Column(head="95% limits"),
            Column(head="should be"),
        ),
        rows=tuple(_rank_row(row) for row in rows),
    )


def _rank_row(row: dict[Any, Any]) -> tuple[str, ...]:
    if row["statistic"] == "brier" or str(row["statistic"]).endswith("_width"):
        digits = 3 if row["statistic"] == "brier" else 1
        limits = f"{decimal(row['low'], digits=digits)} to {decimal(row['high'], digits=digits)}"
        return row["meaning"], decimal(row["value"], digits=digits), limits, ""
    limits = f"{percent(row['low'])} to {percent(row['high'])}"
    if is_missing(row["low"]):
        limits = MISSING
    bound = "at most" if row["statistic"] == "any_jointly_wrong" else "at least"
    nominal = "" if is_missing(row["nominal"]) else f"{bound} {percent(row['nominal'], digits=0)}"
    return f"{row['meaning']} (%)", percent(row["value"]), limits, nominal


def _with_error(row: dict[Any, Any], name: str, digits: int) -> str:
    if is_missing(row[name]):
        return MISSING
    text = decimal(row[name], digits=digits)
    error = row[f"{name}_se"]
    return text if is_missing(error) else f"{text} ± {decimal(error, digits=digits)}"


def _settings(result: DesignValidation) -> Table:
    rows = [
        *design_rows(result),
        *((name.replace("_", " "), str(value)) for name, value in result.settings.items()),
        ("data sets", f"{result.n_data_sets:,}, of which {result.n_fitted:,} with a fit"),
        *median_of(result),
        ("seed", str(result.seed)),
    ]
    return Table(
        caption="Design and settings",
        columns=(Column(head="setting", numeric=False), Column(head="value", numeric=False)),
        rows=tuple(rows),
    )


def _figures(result: DesignValidation) -> dict[str, Any]:
    drawn: dict[str, list[Markup]] = {"positions": [], "coverage": [], "orders": []}
    for name in dict.fromkeys(result.positions["quantity"]):
        drawn["positions"].append(
            panel(
                partial(figures.plot_positions, result, name),
                size=(3.9, 2.5),
                label=f"Positions of truths of {worded(name)} against uniform ones",
                salt=f"positions-{name}",
            )
        )
    drawn["coverage"].append(
        panel(
            partial(figures.plot_coverage, result),
            size=(6.6, figures.coverage_height(result)),
            label="Coverage of intervals by quantity and level",
            salt="coverage",
        )
    )
    if result.orders["n"].sum():
        drawn["orders"].append(
            panel(
                partial(figures.plot_orders, result),
                size=(6.6, 3.2),
                label="How often the likelier order is true, over its probability",
                salt="orders",
            )
        )
    return drawn
