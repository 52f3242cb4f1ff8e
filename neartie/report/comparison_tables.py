"""A comparison as tables of text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pandas as pd

from neartie.audits.comparison import Comparison
from neartie.audits.comparison_settings import PLUG_IN
from neartie.audits.draw_anchors import DRAWS, INCLUSION, MEAN
from neartie.audits.draw_reversals import LATENT, OBSERVED, PREDICTIVE
from neartie.report.comparison_words import headline_words, margin_words, top_rung
from neartie.report.formatting import (
    MISSING,
    correlation,
    count,
    decimal,
    is_missing,
    percent,
    signed,
)
from neartie.report.table import Column, Table
from neartie.report.tables import EN_DASH

_TITLES: Final = {
    OBSERVED: "Observed scores",
    LATENT: "Latent scores",
    PREDICTIVE: "Scores of replicated answers",
}
_NO_BREAK: Final = "\N{NON-BREAKING HYPHEN}"


def key_cells(compared: Comparison) -> list[tuple[str, str]]:
    """Return the cells (anchors, scores) that stand for a rung in short tables, the headline last."""
    usual = [(DRAWS, OBSERVED), (MEAN, OBSERVED), (PLUG_IN, LATENT)]
    headline = compared.settings.headline
    return [*(cell for cell in usual if cell != headline), headline]


def key_table(compared: Comparison, *, narrow: bool = False) -> Table:
    """Return one row a rung with the cells that matter; the highest rung stands out.

    Parameters
    ----------
    compared : Comparison
    narrow : bool
        For a page: without the verdict, and limits of rates in whole per cents.

    Returns
    -------
    Table
    """
    cells = key_cells(compared)
    rows, top = [], top_rung(compared)
    for rung in compared.settings.ladder:
        # one estimate is its own only draw, its mean, and most often chosen
        own = [
            _row(compared, rung, PLUG_IN if rung == PLUG_IN else anchors, scores)
            for anchors, scores in cells
        ]
        last = own[-1]
        rows.append(
            (
                unbroken(rung),
                *(_rate(row, digits=0 if narrow else 1) for row in own),
                _points(last, "excess_pp", "excess_low", "excess_high"),
                MISSING if last is None or rung == PLUG_IN else whole(last["verdict"]),
            )
        )
    table = Table(
        caption="The ladder in short: reversal rates in per cent",
        note=(
            "Anchors × scores, those of the plug-in its own. With 95% intervals where there are "
            "draws. Excess over matched-random subtests"
            f"{'' if narrow else ' and verdict'}: of {headline_words(compared)}."
        ),
        columns=(
            Column(head="rung", numeric=False),
            *(Column(head=" × ".join(cell)) for cell in cells),
            Column(head="excess (points)"),
            Column(head="verdict", numeric=False),
        ),
        rows=tuple(rows),
        marked=tuple(place for place, name in enumerate(compared.settings.ladder) if name == top),
    )
    return without(table, "verdict") if narrow else table


def ladder_table(compared: Comparison, scores: str, *, narrow: bool = False) -> Table:
    """Return one row a rung and kind of anchors for one kind of scores.

    Parameters
    ----------
    compared : Comparison
    scores : str
    narrow : bool
        For a page: without the random rates, which the excess holds, and without the interval of
        the difference, which is that of the rate less a constant.

    Returns
    -------
    Table
        Of observed scores the plug-in's anchors stand once: they are the audit in every rung. Rows
        of the headline cell stand out.
    """
    rows = ladder_rows(compared, scores).to_dict("records")
    margin = margin_words(compared.settings.margin)
    difference = ("difference",) if narrow else ("difference", "difference_low", "difference_high")
    table = Table(
        caption=f"{_TITLES[scores]}, by rung and anchors",
        note=(
            f"Difference: from the plug-in, in points. P: that it is below {margin}. "
            f"{'' if narrow else 'Random: median of matched-random subtests. '}"
            "Excess: over matched-random subtests, scored in the same way. With 95% intervals."
        ),
        columns=(
            Column(head="rung", numeric=False),
            Column(head="anchors", numeric=False),
            Column(head="reversed (%)"),
            Column(head="difference"),
            Column(head="P"),
            Column(head="random (%)"),
            Column(head="excess (points)"),
            Column(head="verdict", numeric=False),
        ),
        rows=tuple(
            (
                unbroken(row["rung"]),
                unbroken(row["anchors"]),
                _rate(row),
                _points(row, *difference, scale=100),
                correlation(row[compared.settings.margin_name]),
                percent(row["random_median"]),
                _points(row, "excess_pp", "excess_low", "excess_high"),
                whole(row["verdict"]),
            )
            for row in rows
        ),
        marked=tuple(
            place
            for place, row in enumerate(rows)
            if (row["anchors"], row["scores"]) == compared.settings.headline
        ),
    )
    return without(table, "random (%)") if narrow else table


def ladder_rows(compared: Comparison, scores: str) -> pd.DataFrame:
    """Return the rows of the ladder for one kind of scores, without those that repeat the audit."""
    own = compared.ladder[compared.ladder["scores"] == scores]
    repeats = (own["anchors"] == PLUG_IN) & (own["rung"] != PLUG_IN) & (scores == OBSERVED)
    return own[~repeats].reset_index(drop=True)


def agreement_table(compared: Comparison) -> Table | None:
    """Return how far D, anchors and pairs agree with the plug-in's, one row a rung; None without."""
    rungs = [name for name in compared.settings.ladder if name != PLUG_IN]
    if not rungs:
        return None
    rows = []
    for rung in rungs:
        kinds = {kind: _row(compared, rung, kind, OBSERVED) for kind in (DRAWS, MEAN, INCLUSION)}
        last = _row(compared, rung, *compared.settings.headline)
        rows.append(
            (
                unbroken(rung),
                *(_number(kinds[kind], "spearman_d") for kind in (DRAWS, MEAN)),
                *(_number(kinds[kind], "jaccard") for kind in (DRAWS, MEAN, INCLUSION)),
                _number(last, "brier"),
                _number(last, "auc"),
            )
        )
    return Table(
        caption="Agreement with the plug-in",
        note=(
            "D: Spearman correlation over items, mean of the halves. Anchors: Jaccard overlap with "
            f"the audit's (two sets at random: {correlation(_by_chance(compared))}). Brier score and "
            "AUC: of the "
            f"reversal probabilities ({headline_words(compared)}) against the plug-in's verdicts; "
            ".25 and .5 are those of a coin."
        ),
        columns=(
            Column(head="rung", numeric=False),
            Column(head="D, draws"),
            Column(head="D, mean"),
            Column(head="anchors, draws"),
            Column(head="anchors, mean"),
            Column(head="anchors, inclusion"),
            Column(head="Brier"),
            Column(head="AUC"),
        ),
        rows=tuple(rows),
    )


def fit_table(compared: Comparison) -> Table:
    """Return convergence and seconds, one row a rung and half; fits to distrust stand out."""
    rows = compared.rungs.to_dict("records")
    return Table(
        caption="Fits",
        note="Of the samplers: the largest R-hat and the smallest effective sample sizes of all "
        "quantities that do not turn with the factors. Seconds: of both halves together, with "
        "scoring.",
        columns=(
            Column(head="rung", numeric=False),
            Column(head="half"),
            Column(head="K"),
            Column(head="converged", numeric=False),
            Column(head="R-hat"),
            Column(head="ESS, bulk"),
            Column(head="ESS, tail"),
            Column(head="Pareto k"),
            Column(head="seconds"),
        ),
        rows=tuple(
            (
                unbroken(row["rung"]),
                count(row["half"]),
                count(row["k"]),
                str(row["converged"] or MISSING),
                decimal(row["max_rhat"], digits=3),
                count(row["min_ess_bulk"]),
                count(row["min_ess_tail"]),
                decimal(row["pareto_k"], digits=2),
                decimal(row["seconds"], digits=1),
            )
            for row in rows
        ),
        marked=tuple(place for place, row in enumerate(rows) if row["converged"] == "no"),
    )


def without(table: Table, *heads: str) -> Table:
    """Return a table without the columns of these heads."""
    kept = [k for k, column in enumerate(table.columns) if column.head not in heads]
    return replace(
        table,
        columns=tuple(table.columns[k] for k in kept),
        rows=tuple(tuple(row[k] for k in kept) for row in table.rows),
    )


def unbroken(name: str) -> str:
    """Return a name that a line does not break at its hyphens.

    Examples
    --------
    >>> unbroken("plug-in") == "plug-in".replace("-", "\N{NON-BREAKING HYPHEN}")
    True
    """
    return name.replace("-", _NO_BREAK)


def whole(words: str) -> str:
    """Return words that a line does not break between.

    Examples
    --------
    >>> whole("cannot say") == "cannot\N{NO-BREAK SPACE}say"
    True
    """
    return words.replace(" ", "\N{NO-BREAK SPACE}")


def _row(compared: Comparison, *cell: str) -> Mapping[str, Any] | None:
    try:
        return {str(name): value for name, value in compared.row(*cell).items()}
    except ValueError:
        return None


def _rate(row: Mapping[Any, Any] | None, *, digits: int = 1) -> str:
    if row is None or is_missing(row["reversal_rate"]):
        return MISSING
    rate = percent(row["reversal_rate"])
    if is_missing(row["low"]):
        return rate
    low, high = (percent(row[name], digits=digits) for name in ("low", "high"))
    return f"{rate} ({low}{EN_DASH}{high})"


def _points(row: Mapping[Any, Any] | None, *names: str, scale: float = 1) -> str:
    if row is None or is_missing(row[names[0]]):
        return MISSING
    middle, *limits = (scale * row[name] for name in names)
    if not limits or is_missing(limits[0]):
        return signed(middle)
    low, high = limits
    return f"{signed(middle)} ({decimal(low, digits=1)}, {decimal(high, digits=1)})"


def _by_chance(compared: Comparison) -> float:
    """Return the overlap of two independent sets that keep the primary fraction of the items."""
    share = float(compared.audit.settings["alpha"][0])
    return share / (2 - share)


def _number(row: Mapping[Any, Any] | None, name: str) -> str:
    return MISSING if row is None else correlation(row[name])
