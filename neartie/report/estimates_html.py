"""The report of point estimates beside a posterior: one HTML file that works offline."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

import neartie
from neartie.audits.estimates_result import EstimateComparison, rule_of
from neartie.report import estimates_figures, estimates_tables
from neartie.report.estimates_text import estimates_answer
from neartie.report.formatting import percent, plural
from neartie.report.page import panel, render_page
from neartie.report.table import Column, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMES: Final = {"two-pl": "2PL", "bradley-terry": "Bradley–Terry"}


def render_estimates(found: EstimateComparison, *, name: str) -> str:
    """Return the report as one HTML page without scripts or links to other files.

    Parameters
    ----------
    found : EstimateComparison
    name : str
        What was fitted, for the title.

    Returns
    -------
    str
        The same comparison and name give the same text. Names are escaped wherever they stand.
    """
    pairs = estimates_tables.shown_pairs(found)
    first = estimates_tables.first_pairs(pairs)
    more = len(pairs) - len(first)
    drawn = estimates_tables.distinct_estimators(found)
    left_out = [one for one in found.models["estimator"].drop_duplicates() if one not in set(drawn)]
    stretch = found.estimators.loc[found.estimators["estimator"].isin(drawn), "stretch"]
    content = {
        "title": f"{_NAMES[found.kind]} estimates of {name} beside the posterior",
        "facts": (
            plural(found.n_models, "model"),
            *([plural(found.n_items, "item")] if found.n_items else []),
            f"{plural(found.n_draws, 'draw')} by {found.engine}",
            f"seed {found.seed}",
        ),
        "warnings": found.warnings,
        "level": f"{percent(found.level, digits=0)}%",
        "answer": estimates_answer(found),
        "twins": f"Not drawn, for the same numbers: {', '.join(left_out)}." if left_out else "",
        "errors": estimates_tables.error_table(found),
        "agreement": estimates_tables.agreement_table(found),
        "changes": estimates_tables.change_table(found),
        "items": estimates_tables.item_table(found) if len(found.items) else None,
        "sentences": found.estimators["sentence"].tolist(),
        "rule": rule_of(found.level),
        "over": "all models" if found.kind == "two-pl" else "each connected set",
        "stretched": bool(((stretch - 1).abs() > 0.02).any()),
        "pairs": estimates_tables.pair_table(first) if len(first) else None,
        "pairs_below": f"and {plural(more, 'pair')} more; all are in pairs.csv" if more else "",
        "figures": _figures(found, drawn),
        "convergence": found.verdict,
        "settings": _settings(found),
        "versions": found.versions,
        "version": found.versions.get("neartie", neartie.__version__),
    }
    return render_page("estimates.html", content)


def _figures(found: EstimateComparison, drawn: list[str]) -> dict[str, list[Markup]]:
    errors = panel(
        partial(_side_by_side, found),
        size=(7.6, estimates_figures.errors_height(found)),
        label="Printed standard errors, and what their intervals hold of the posterior",
        salt="errors",
    )
    estimates = [
        panel(
            partial(estimates_figures.plot_estimates, found, one),
            size=(2.9, 2.8),
            label=f"Estimates of {one} over posterior means",
            salt=one,
        )
        for one in drawn
    ]
    changed = panel(
        partial(estimates_figures.plot_changed, found),
        size=(7.6, estimates_figures.changed_height(found)),
        label="Intervals of differences whose verdict changes",
        salt="changed",
    )
    return {"errors": [errors], "estimates": estimates, "changed": [changed]}


def _side_by_side(found: EstimateComparison, *, ax: Axes) -> Axes:
    return estimates_figures.plot_errors(found, ax=ax)[0]


def _settings(found: EstimateComparison) -> Table:
    sampler = found.settings.get("sampler", {})
    rows = {
        "model": found.kind,
        **{f"option {name}": value for name, value in found.settings["options"].items()},
        "phantom wins": f"{found.settings['phantom_wins']:g} a side of every pair",
        **{
            f"sampler {name}".replace("_", " "): str(value)
            for name, value in sampler.items()
            if value is not None and "log_likelihood" not in name
        },
        "seed": str(found.seed),
        "level": f"{found.level:g}",
    }
    if found.kind == "two-pl":
        rows.pop("phantom wins")
    return Table(
        caption="Settings",
        columns=(Column(head="setting", numeric=False), Column(head="value", numeric=False)),
        rows=tuple(rows.items()),
    )
