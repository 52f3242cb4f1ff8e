"""How far rungs are off the truth on simulated leaderboards, as tables of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from neartie.audits.comparison_settings import PLUG_IN
from neartie.audits.draw_reversals import LATENT, OBSERVED, PREDICTIVE
from neartie.audits.recovery import Recovery
from neartie.audits.recovery_claim import headline_cell, recovery_row, share_limits, top_rung
from neartie.data.wording import counted
from neartie.report.comparison_tables import unbroken, without
from neartie.report.formatting import MISSING, count, decimal, is_missing, percent, signed
from neartie.report.table import Column, Table
from neartie.report.tables import EN_DASH

TITLES: Final = {
    OBSERVED: "Observed scores",
    LATENT: "Latent scores",
    PREDICTIVE: "Scores of replicated answers",
}


def key_table(found: Recovery) -> Table:
    """Return one row a rung with the cell that stands for it; the highest rung stands out.

    Parameters
    ----------
    found : Recovery

    Returns
    -------
    Table
    """
    ladder, top = found.settings.ladder, top_rung(found.settings)
    rows = []
    for rung in ladder:
        cell = headline_cell(found.settings, rung)
        row = recovery_row(found.table, rung, *cell)
        rows.append(
            (
                unbroken(rung),
                unbroken(cell[0]),
                *((MISSING,) * 6 if row is None else _cells(row, short=True)),
            )
        )
    n = found.to_dict()["n_replicates"]
    return Table(
        caption=f"Rungs against the truth on {counted(n, 'simulated leaderboard')}",
        note=(
            f"{found.settings.headline[1].capitalize()} scores. Truth, bias, RMSE (root mean square "
            "error) and width of 95% intervals in points; ± is the Monte Carlo error. Held: 95% "
            f"intervals that hold the truth, in per cent ({all_held_words(n)}). Claims: leaderboards of "
            "which an excess is claimed, in per cent."
        ),
        columns=(
            Column(head="rung", numeric=False),
            Column(head="anchors", numeric=False),
            Column(head="truth"),
            Column(head="bias"),
            Column(head="RMSE"),
            Column(head="held"),
            Column(head="width"),
            Column(head="claims"),
        ),
        rows=tuple(rows),
        marked=tuple(place for place, name in enumerate(ladder) if name == top),
    )


def all_held_words(n: int) -> str:
    """Return what it says of a share that it is one in all of so many leaderboards.

    Examples
    --------
    >>> all_held_words(2)
    '100 of 2 leaderboards leaves 16 to 100 possible'
    """
    low, high = (percent(limit, digits=0) for limit in share_limits(1.0, n))
    return f"100 of {counted(n, 'leaderboard')} leaves {low} to {high} possible"


def recovery_table(found: Recovery, scores: str, *, narrow: bool = False) -> Table:
    """Return one row a rung and kind of anchors for one kind of scores.

    Parameters
    ----------
    found : Recovery
    scores : str
    narrow : bool
        For a page: without mean rates, true excess and the width of intervals.

    Returns
    -------
    Table
        Of observed scores the plug-in's anchors stand once: they are the audit in every rung.
    """
    rows = recovery_rows(found, scores).to_dict("records")
    table = Table(
        caption=f"{TITLES[scores]}, by rung and anchors",
        note=(
            "Rates and truths in per cent, means over leaderboards; bias, RMSE, width and excess in "
            "points; ± is the Monte Carlo error. Held: 95% intervals that hold the truth, in per "
            "cent, with Clopper-Pearson limits. Claims: leaderboards of which an excess is claimed, "
            "in per cent."
        ),
        columns=(
            Column(head="rung", numeric=False),
            Column(head="anchors", numeric=False),
            Column(head="rate"),
            Column(head="truth"),
            Column(head="bias"),
            Column(head="RMSE"),
            Column(head="held"),
            Column(head="width"),
            Column(head="excess"),
            Column(head="true excess"),
            Column(head="claims"),
        ),
        rows=tuple(
            (
                unbroken(row["rung"]),
                unbroken(row["anchors"]),
                percent(row["rate"]),
                *_cells(row, short=False)[:5],
                signed(row["excess_pp"]),
                signed(row["excess_target_pp"]),
                percent(row["claims"], digits=0),
            )
            for row in rows
        ),
        marked=tuple(
            place
            for place, row in enumerate(rows)
            if (row["anchors"], row["scores"]) == headline_cell(found.settings, row["rung"])
        ),
    )
    return without(table, "rate", "width", "true excess") if narrow else table


def recovery_rows(found: Recovery, scores: str) -> pd.DataFrame:
    """Return the rows of one kind of scores, without those that repeat the audit."""
    own = found.table[found.table["scores"] == scores]
    repeats = (own["anchors"] == PLUG_IN) & (own["rung"] != PLUG_IN) & (scores == OBSERVED)
    return own[~repeats].reset_index(drop=True)


def gain_table(found: Recovery) -> Table:
    """Return how near anchors and D come to the true ones, one row a rung and kind of anchors."""
    # the plug-in's own anchors are the same in every rung
    own = found.anchors[(found.anchors["anchors"] != PLUG_IN) | (found.anchors["rung"] == PLUG_IN)]
    return Table(
        caption="Anchors against those of the true D",
        note=(
            "Gain: share of the avoidable true D that a choice of anchors avoids, 1 for the best "
            "choice, 0 for one at random; ± is the Monte Carlo error; blank where there is no DIF. "
            "Spearman: correlation of D over items with the true D. Means over leaderboards and "
            "halves."
        ),
        columns=(
            Column(head="rung", numeric=False),
            Column(head="anchors", numeric=False),
            Column(head="gain"),
            Column(head="Spearman"),
            Column(head="choices"),
        ),
        rows=tuple(
            (
                unbroken(row["rung"]),
                unbroken(row["anchors"]),
                _with_error(row["gain"], row["gain_se"], digits=2),
                decimal(row["spearman"], digits=2),
                count(row["n"]),
            )
            for row in own.to_dict("records")
        ),
    )


def _cells(row: Mapping[Any, Any], *, short: bool) -> tuple[str, ...]:
    """Return truth, bias, RMSE, coverage, width and claims as text."""
    held = percent(row["coverage"], digits=0)
    if not short and held != MISSING:
        low, high = (percent(row[f"coverage_{end}"], digits=0) for end in ("low", "high"))
        held += f" ({low}{EN_DASH}{high})"
    return (
        percent(row["target"]),
        _with_error(100 * row["bias"], 100 * row["bias_se"], digits=1, sign=True),
        percent(row["rmse"]),
        held,
        percent(row["interval_width"]),
        percent(row["claims"], digits=0),
    )


def _with_error(value: float, error: float, *, digits: int, sign: bool = False) -> str:
    if is_missing(value):
        return MISSING
    text = signed(value, digits=digits) if sign else decimal(value, digits=digits)
    return text if is_missing(error) else f"{text} ± {decimal(error, digits=digits)}"
