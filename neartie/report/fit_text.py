"""A fit in sentences, and as plain text for a terminal."""

from __future__ import annotations

import textwrap
from typing import Final

from neartie.data.wording import printable, visible
from neartie.inference.fit_summary import FitSummary
from neartie.report.fit_tables import number, span
from neartie.report.formatting import count, percent, plural

WIDTH: Final = 80
FIRST: Final = 20
_NAME: Final = 36
_KINDS: Final = {
    "two-pl": "Two-parameter logistic model",
    "mirt-dif": "Multidimensional model with family effects",
    "residual-dif": "Family effects over a fixed spectral offset",
    "bradley-terry": "Bradley-Terry model",
}


def fit_title(summary: FitSummary) -> str:
    """Return the name of the model in words."""
    return _KINDS[summary.kind]


def fit_facts(summary: FitSummary) -> tuple[str, ...]:
    """Return what stands under the title."""
    facts = [plural(summary.n_models, "model")]
    if summary.n_items:
        facts.append(plural(summary.n_items, "item"))
    unit = "answer" if summary.n_items else "battle"
    facts.append(plural(summary.n_observations, unit))
    facts.append(f"engine {summary.engine}")
    phantom = summary.settings.get("phantom_wins")
    if phantom:
        facts.append(f"{phantom:g} phantom wins for either side of a pair")
    if summary.seed is not None:
        facts.append(f"seed {summary.seed}")
    return tuple(facts)


def fit_answer(summary: FitSummary) -> str:
    """Return what was found of the models, in two sentences."""
    what = summary.quantity.replace("_", " ")
    if summary.n_sets > 1:
        return (
            f"Nothing connects the {summary.n_sets} sets of models with each other: {what} is "
            "compared within a set only, and the sets stand one after the other."
        )
    table = summary.ranked()
    first = table.iloc[0]
    interval = f"{summary.level:.0%} interval {span(first['low'], first['high'])}"
    estimate = number(first[summary.quantity])
    parts = [f"The highest {what} is that of {first['model']}: {estimate} ({interval})."]
    flagged = int((summary.items["flag"] != "").sum()) if "flag" in summary.items else 0
    if flagged:
        verb = "is" if flagged == 1 else "are"
        parts.append(f"{plural(flagged, 'item')} {verb} flagged.")
    return " ".join(parts)


def fit_text(summary: FitSummary) -> str:
    """Return a short plain text: verdict, warnings, the first models.

    Parameters
    ----------
    summary : FitSummary

    Returns
    -------
    str
        Ends without a line break.
    """
    parts = [_wrapped(f"{fit_title(summary)}: {', '.join(fit_facts(summary))}.")]
    parts.append(_wrapped(summary.verdict))
    parts += [
        _wrapped(f"Warning: {printable(warning)}")
        for warning in summary.warnings
        if warning != summary.verdict
    ]
    head = summary.ranked().head(FIRST)
    error = "sd" if "sd" in head else "se"
    name = summary.quantity.replace("_", " ")
    # the error that takes the items as known, where there is one that does not
    known = "se_items_known" if "se_items_known" in head else None
    more = f" {'items known':>11}" if known else ""
    lines = [f"{name:>14} {error:>7}{more}  {'interval':>18}  model"]
    last = None
    for row in head.to_dict("records"):
        if last not in (None, row.get("component")):
            lines.append(f"{'(not comparable with those above)':>46}")
        last = row.get("component")
        lines.append(
            f"{number(row[summary.quantity]):>14} {number(row[error]):>7}"
            f"{f' {number(row[known]):>11}' if known else ''}  "
            f"{span(row['low'], row['high']):>18}  {visible(row['model'], _NAME)}"
        )
    if summary.n_models > FIRST:
        lines.append(f"... and {count(summary.n_models - FIRST)} more.")
    parts.append("\n".join(lines))
    parts += _common(summary)
    if summary.order is not None:
        parts.append(_wrapped(order_sentence(summary)))
    return "\n\n".join(parts)


def _common(summary: FitSummary) -> list[str]:
    """Return what all models, items or battles have in common: scales, first shown, ties."""
    table = summary.parameters
    table = table[~table["parameter"].astype(str).str.contains("[", regex=False)]
    if table.empty:
        return []
    error = "sd" if "sd" in table else "se"
    return [
        "\n".join(
            f"{number(row['estimate']):>14} {number(row[error]):>7}  "
            f"{span(row['low'], row['high']) if 'low' in row else '':>18}  "
            f"{str(row['parameter']).replace('_', ' ')} (parameter)"
            for row in table.to_dict("records")
        )
    ]


def order_sentence(summary: FitSummary) -> str:
    """Return how often whoever was shown first won; blank where nothing is known of it."""
    order = summary.order
    if order is None:
        return ""
    decided = order.n_first + order.n_second
    taken = "" if order.is_given else ", taking model_a as shown first"
    parts = []
    if decided:
        interval = f"{percent(order.low, digits=0)} to {percent(order.high, digits=0)}%"
        parts.append(
            f"The first shown won {count(order.n_first)} of {plural(decided, 'decided battle')} "
            f"({percent(order.share_first, digits=0)}%; 95% interval {interval}){taken}."
        )
    if order.n_swapped:
        pairs = plural(order.n_swapped, "pair")
        verb = "contradicts" if order.n_contradictory == 1 else "contradict"
        parts.append(
            f"Of {pairs} of battles that show the same two answers in both orders, "
            f"{count(order.n_contradictory)} {verb} each other."
        )
    return " ".join(parts)


def _wrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(text, WIDTH, break_on_hyphens=False))
