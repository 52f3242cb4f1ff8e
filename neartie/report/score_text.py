"""A scorecard in sentences, and as plain text for a terminal."""

from __future__ import annotations

import textwrap
from typing import Any, Final

from neartie.audits.panel_agreement import summarise_agreement
from neartie.audits.scorecard_result import Scorecard
from neartie.report.formatting import count, decimal, is_missing, plural

WIDTH: Final = 80
FIRST: Final = 15


def score_answer(card: Scorecard) -> str:
    """Return who leads and who may, in two or three sentences.

    Parameters
    ----------
    card : Scorecard

    Returns
    -------
    str
    """
    ranked = card.models[card.models["rank"].notna()]
    if ranked.empty:
        if card.models.empty:
            return agreement_sentence(card)
        if card.models["n_domains"].any():
            return "No model has a score in every domain, so none is ranked."
        return "No domain gives a score, so that there is no index."
    best = ranked.iloc[0]
    leaders = ranked[ranked["rank"] == 1]["model"].tolist()
    verb = "leads" if len(leaders) == 1 else "lead together"
    parts = [f"{' and '.join(leaders)} {verb} with {interval(best)}."]
    others = ranked[ranked["rank"] > 1]
    judged = others[others["below_best"].notna()]
    near = judged[judged["below_best"] == 0]
    if len(judged):
        behind = len(judged) - len(near)
        some = "No other model" if not behind else plural(behind, "model")
        parts.append(f"{some} {'is' if behind <= 1 else 'are'} surely below it, each judged alone.")
    if len(near):
        which = _named(near["model"].tolist())
        verb = "is" if len(near) == 1 else "are"
        parts.append(f"{which} {verb} so close that the order is open.")
    lacking = int((card.models["complete"] == 0).sum())
    if lacking:
        parts.append(
            f"{plural(lacking, 'model')} {'lacks' if lacking == 1 else 'lack'} domains and "
            f"{'has' if lacking == 1 else 'have'} no rank."
        )
    return " ".join(parts)


def interval(row: Any) -> str:
    """Return points with their interval, as far as there is one."""
    text = f"{decimal(row['global_index'], digits=0)} of 1,000 points"
    if is_missing(row["low"]):
        return text
    return f"{text} ({decimal(row['low'], digits=0)} to {decimal(row['high'], digits=0)})"


def agreement_sentence(card: Scorecard) -> str:
    """Return how far judges agree; blank without judges."""
    found = summarise_agreement(card.agreement)
    if not found["n_pairs"]:
        return ""
    text = (
        f"{plural(int(found['n_pairs']), 'pair')} of judges give the same label "
        f"{decimal(100 * found['observed'], digits=0)}% of the time"
    )
    if is_missing(found["kappa"]):
        return f"{text}; kappa is undefined."
    low, high, mean = (decimal(found[f"kappa{s}"], digits=2) for s in ("_low", "_high", ""))
    spread = f", from {low} to {high}" if low != high else ""
    return f"{text}; Cohen's kappa is {mean} on average{spread}."


def calibration_sentence(card: Scorecard) -> str:
    """Return the range of calibration errors; blank where no confidence was stated."""
    known = card.domains[card.domains["ece"].notna()]
    if known.empty:
        return ""
    low, high = (decimal(known["ece"].agg(how), digits=3) for how in ("min", "max"))
    size = f"of {low}" if len(known) == 1 else f"between {low} and {high}"
    text = f"{plural(len(known), 'calibration error')} (ECE, by model and domain) {size}"
    if known["ece_if_calibrated"].notna().any():
        typical = decimal(known["ece_if_calibrated"].median(), digits=3)
        text += f", where a calibrated model would show {typical} on average"
    return f"{text}."


def frontier_sentence(card: Scorecard, axis: str) -> str:
    """Return which models lie on a frontier; blank where nothing was measured."""
    on = card.frontier(axis)
    if not on:
        return ""
    words = {"cost": "costs less", "latency": "answers faster"}
    verb = "is" if len(on) == 1 else "are"
    return (
        f"{_named(on, most=12)} {verb} on the frontier: no model {words[axis]} and scores as high, or "
        "scores higher for as little."
    )


def score_text(card: Scorecard) -> str:
    """Return the short text for a terminal.

    Parameters
    ----------
    card : Scorecard

    Returns
    -------
    str
    """
    lines = [f"scorecard, rules {card.stamp}", ""]
    if len(card.models):
        width = max(5, *(len(model) for model in card.models["model"].head(FIRST)))
        width = min(width, 40)
        lines.append(f"  rank  {'model':<{width}}  index   95% interval  domains")
        for row in card.models.head(FIRST).to_dict("records"):
            rank = "–" if is_missing(row["rank"]) else count(row["rank"])
            limits = (
                "–"
                if is_missing(row["low"])
                else f"{decimal(row['low'], digits=0)} to {decimal(row['high'], digits=0)}"
            )
            name = row["model"] if len(row["model"]) <= width else row["model"][: width - 1] + "…"
            lacks = f"  lacks {row['missing']}" if row["missing"] else ""
            index = decimal(row["global_index"], digits=0)
            lines.append(
                f"  {rank:>4}  {name:<{width}}  {index:>5}  {limits:>13}  {row['n_domains']:>7}{lacks}"
            )
        if len(card.models) > FIRST:
            lines.append(f"  and {count(len(card.models) - FIRST)} more in models.csv")
        lines.append("")
    paragraphs = [score_answer(card)]
    if len(card.models):
        paragraphs += [calibration_sentence(card), agreement_sentence(card)]
    paragraphs += [frontier_sentence(card, axis) for axis in ("cost", "latency")]
    if len(card.flagged()):
        n = len(card.flagged())
        paragraphs.append(
            f"{plural(n, 'item')} of {count(len(card.items))} {'deserves' if n == 1 else 'deserve'} "
            "a look (items.csv)."
        )
    lines += [textwrap.fill(text, WIDTH) for text in paragraphs if text]
    if card.warnings:
        lines += ["", "Caveats, worst first:"]
        lines += [
            textwrap.fill(text, WIDTH, initial_indent="- ", subsequent_indent="  ")
            for text in card.warnings
        ]
    return "\n".join(lines)


def _named(models: list[str], *, most: int = 6) -> str:
    shown = ", ".join(models[:most])
    return shown if len(models) <= most else f"{shown} and {len(models) - most} more"
