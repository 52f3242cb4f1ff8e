"""The report of predictive checks: one HTML file that works offline."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
from markupsafe import Markup

import neartie
from neartie.audits.predictive_result import PredictiveChecks
from neartie.report import check_figures
from neartie.report.check_text import (
    check_answer,
    comparison_answer,
    interval,
    shown,
    tail,
)
from neartie.report.formatting import count, percent, plural
from neartie.report.page import panel, render_page
from neartie.report.table import Column, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_ROWS: Final = 30


def render_checks(
    checks: PredictiveChecks, *, name: str, comparison: pd.DataFrame | None = None
) -> str:
    """Return the report as one HTML page without scripts or links to other files.

    Parameters
    ----------
    checks : PredictiveChecks
    name : str
        What was fitted, for the title.
    comparison : DataFrame, optional
        Of `neartie.compare_models`.

    Returns
    -------
    str
        The same checks and name give the same text. Names are escaped wherever they stand.
    """
    outside = _outside(checks)
    content = {
        "title": f"{checks.source.capitalize()} predictive check of {name}",
        "facts": (
            plural(len(checks.models), "model"),
            *([plural(len(checks.items), "item")] if len(checks.items) else []),
            plural(checks.n_draws, "replicate"),
            f"seed {checks.seed}",
        ),
        "warnings": checks.warnings,
        "source": checks.source,
        "across": checks.across,
        "level": f"{percent(checks.level, digits=0)}%",
        "answer": check_answer(checks),
        "statistics": statistics_table(checks),
        "outside": outside if outside.rows else None,
        "outside_below": "all are in models.csv and items.csv",
        "comparison": None if comparison is None else comparison_table(comparison),
        "comparison_answer": "" if comparison is None else comparison_answer(comparison),
        "figures": _figures(checks, comparison),
        "settings": _settings(checks),
        "versions": checks.versions,
        "version": checks.versions.get("neartie", neartie.__version__),
    }
    return render_page("checks.html", content)


def statistics_table(checks: PredictiveChecks) -> Table:
    """Return the statistics as text in cells; those outside their intervals stand out."""
    rows = checks.statistics.to_dict("records")
    return Table(
        caption="The data beside their replicates",
        note="p is the share of replicates above the observed value, half of equal ones counted.",
        columns=(
            Column(head="statistic", numeric=False),
            Column(head="observed"),
            Column(head="predicted"),
            Column(head="interval"),
            Column(head="p"),
        ),
        rows=tuple(
            (
                row["meaning"],
                shown(row["observed"]),
                shown(row["predicted"]),
                interval(row["low"], row["high"]),
                tail(row["p"], checks.n_draws),
            )
            for row in rows
        ),
        marked=tuple(place for place, row in enumerate(rows) if row["outside"]),
    )


def comparison_table(table: pd.DataFrame) -> Table:
    """Return a comparison of models as text in cells."""
    return Table(
        caption="Models compared by left-out answers",
        note="elpd is the expected log predictive density; weights are for an average of the fits.",
        columns=(
            Column(head="fit", numeric=False, long=True),
            Column(head="elpd"),
            Column(head="short of the best"),
            Column(head="its standard error"),
            Column(head="effective parameters"),
            Column(head="weight"),
            Column(head="largest Pareto k"),
            Column(head="its limit"),
            Column(head="answers above (%)"),
        ),
        rows=tuple(
            (
                str(row["model"]),
                f"{row['elpd']:.1f}",
                f"{abs(row['elpd_diff']):.1f}",
                f"{row['diff_se']:.1f}",
                f"{row['p']:.1f}",
                f"{row['weight']:.2f}",
                f"{row['max_pareto_k']:.2f}",
                f"{row['k_limit']:.2f}",
                percent(row["share_high_k"]),
            )
            for row in table.to_dict("records")
        ),
    )


def _outside(checks: PredictiveChecks) -> Table:
    parts = []
    for kind, table in (("model", checks.models), ("item", checks.items)):
        rows = table[table["outside"] == 1].rename(columns={kind: "id"})
        parts.append(rows.assign(kind=kind))
    rows = pd.concat(parts, ignore_index=True)
    rows = rows.assign(far=(rows["p"] - 0.5).abs()).sort_values(
        ["far", "id"], ascending=[False, True], ignore_index=True
    )
    unit = "won" if checks.kind == "bradley-terry" else "right"
    return Table(
        caption="Totals outside their intervals, the farthest first",
        columns=(
            Column(head="", numeric=False),
            Column(head="id", numeric=False, long=True),
            Column(head="of"),
            Column(head=unit),
            Column(head="predicted"),
            Column(head="interval"),
            Column(head="p"),
        ),
        rows=tuple(
            (
                row["kind"],
                str(row["id"]),
                count(row["n"]),
                shown(row["observed"]),
                shown(row["predicted"]),
                interval(row["low"], row["high"]),
                tail(row["p"], checks.n_draws),
            )
            for row in rows.head(_MOST_ROWS).to_dict("records")
        ),
    )


def _settings(checks: PredictiveChecks) -> Table:
    rows = {
        "model": checks.kind,
        "replicates": f"{checks.n_draws:,}, drawn from the {checks.source}",
        "seed": str(checks.seed),
        "band of near ties": f"{checks.band:g}, {checks.across}",
        "level": f"{checks.level:g}",
        **{name.replace("_", " "): str(value) for name, value in checks.settings.items()},
    }
    return Table(
        caption="Settings",
        columns=(Column(head="setting", numeric=False), Column(head="value", numeric=False)),
        rows=tuple(rows.items()),
    )


def _figures(checks: PredictiveChecks, comparison: pd.DataFrame | None) -> dict[str, Any]:
    sides = ["models", *(["items"] if len(checks.items) else [])]
    drawn: dict[str, list[Markup]] = {"totals": [], "accuracies": [], "statistics": []}
    for side in sides:
        draw: Callable[..., Axes] = partial(check_figures.plot_totals, checks, side=side)
        label = f"Totals of {side}, replicated over observed"
        drawn["totals"].append(panel(draw, size=(3.9, 3.6), label=label, salt=f"totals-{side}"))
        draw = partial(check_figures.plot_accuracies, checks, side=side)
        label = f"Distribution over {side}, observed and replicated"
        drawn["accuracies"].append(panel(draw, size=(3.9, 2.6), label=label, salt=f"spread-{side}"))
    for name in checks.statistics["statistic"]:
        draw = partial(check_figures.plot_statistic, checks, name)
        label = f"Replicates of: {check_figures.axis_name(checks, name)}"
        drawn["statistics"].append(panel(draw, size=(3.9, 2.4), label=label, salt=name))
    if comparison is not None:
        size = (6.4, check_figures.comparison_height(comparison))
        draw = partial(check_figures.plot_comparison, comparison)
        drawn["comparison"] = [panel(draw, size=size, label="Fits compared", salt="comparison")]
    return drawn
