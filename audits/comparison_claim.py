"""The sentences that a comparison allows: what the plug-in says, and what the highest rung makes of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from neartie.audits.comparison_rows import DIFFERS, MATCHES
from neartie.audits.comparison_settings import ADVI, FULL, LAPLACE, PATHFINDER, PLUG_IN
from neartie.audits.draw_anchors import DRAWS, INCLUSION, MEAN
from neartie.audits.draw_reversals import LATENT, OBSERVED, PREDICTIVE
from neartie.data.wording import true_minus
from neartie.inference.diagnostics import MAX_RHAT

if TYPE_CHECKING:
    from neartie.audits.comparison import Comparison

_OBSERVED_RATE: Final = "the plug-in's rate on observed answers"
_ANCHORS: Final = {
    PLUG_IN: "the plug-in's anchors",
    DRAWS: "its own anchors, draw by draw,",
    MEAN: "the anchors of its mean effects",
    INCLUSION: "the items that are most often its anchors",
}
_SCORES: Final = {
    OBSERVED: "On the same answers",
    LATENT: "In expected scores, without the noise of answers,",
    PREDICTIVE: "In replicated answers",
}


def claim(compared: Comparison) -> str:
    """Return in words what the highest rung says of the plug-in, and whether it may be relied on.

    Parameters
    ----------
    compared : Comparison

    Returns
    -------
    str
        Of all cells of the highest rung those that matter: its own anchors on observed answers, by
        draws and by their mean; the plug-in's anchors in expected scores; and the headline.
    """
    said = [_plug_in_sentence(compared)]
    others = [name for name in compared.settings.ladder if name != PLUG_IN]
    if not others:
        return said[0]
    top = others[-1]
    cells = dict.fromkeys(
        [(DRAWS, OBSERVED), (MEAN, OBSERVED), (PLUG_IN, LATENT), compared.settings.headline]
    )
    name = rung_words(top)
    for scores in _SCORES:
        rows = [_row(compared, top, *cell) for cell in cells if cell[1] == scores]
        parts = [_cell_words(row, compared) for row in rows if row is not None]
        if parts:
            said.append(f"{_SCORES[scores]} {'; '.join(parts)}.")
    doubt = doubt_words(compared, top)
    if len(said) > 1:
        begin = name[0].upper() + name[1:]
        if doubt:
            begin = f"{begin[:-1]}; {doubt})" if begin.endswith(")") else f"{begin} ({doubt})"
        said[1] = f"{begin}: {said[1][0].lower()}{said[1][1:]}"
    if not doubt:
        said.append("Its fits of both halves converged.")
    return " ".join(said)


def rung_words(name: str) -> str:
    """Return what a rung that stands for the whole ladder is called.

    Examples
    --------
    >>> rung_words("full"), rung_words("advi")
    ('the full posterior', 'the highest rung (advi)')
    """
    return "the full posterior" if name == FULL else f"the highest rung ({name})"


def doubt_words(compared: Comparison, rung: str) -> str:
    """Return what stands against a claim about a rung.

    Parameters
    ----------
    compared : Comparison
    rung : str

    Returns
    -------
    str
        Empty where the fits of both halves converged.
    """
    states = set(compared.rungs.loc[compared.rungs["rung"] == rung, "converged"])
    if states == {"yes"}:
        return ""
    if "no" in states:
        return f"not converged, so that this may not be claimed yet{_rates_agree(compared, rung)}"
    if rung in (LAPLACE, PATHFINDER, ADVI):
        return "an approximation, whose error no convergence shows"
    return "convergence not assessed, so that this may not be claimed yet"


def _rates_agree(compared: Comparison, rung: str) -> str:
    """Return what is to be said for the rates of a rung whose parameters did not converge."""
    ladder = compared.ladder
    rows = ladder[(ladder["rung"] == rung) & ladder["rate_r_hat"].notna()]
    if rows.empty:
        return ""
    worst, least = float(rows["rate_r_hat"].max()), float(rows["rate_ess_bulk"].min())
    if worst >= MAX_RHAT:
        return f"; of the rates too, the largest R-hat is {worst:.2f}"
    return (
        f", though its chains agree on all rates of the ladder, with an R-hat of at most {worst:.3f} "
        f"and at least {least:,.0f} effective draws"
    )


def difference_words(row: Mapping[str, Any], margin: float) -> str:
    """Return the verdict of a row of the ladder in words.

    Parameters
    ----------
    row : mapping
        Of the ladder.
    margin : float, proportion

    Returns
    -------
    str
        Empty where fixed anchors on observed answers leave nothing to judge.

    Examples
    --------
    >>> difference_words({"verdict": "differs", "difference": -0.204}, 0.02)
    '20.4 points lower than the plug-in'
    >>> difference_words({"verdict": "matches", "difference": -0.004}, 0.02)
    'within 2 points of the plug-in'
    """
    points = 100 * row["difference"]
    # The plug-in's rate is one of observed answers: other scores have a lower one anyway.
    whose = "the plug-in" if row.get("scores", OBSERVED) == OBSERVED else _OBSERVED_RATE
    if row["verdict"] == MATCHES:
        return f"within {_points(margin)} of {whose}"
    if row["verdict"] == DIFFERS:
        return f"{abs(points):.1f} points {'higher' if points > 0 else 'lower'} than {whose}"
    if math.isnan(row["difference_low"]):
        return ""
    return "no telling whether it matches the plug-in"


def _plug_in_sentence(compared: Comparison) -> str:
    band = compared.audit.band()
    n = f"{compared.audit.n_eligible:,} near ties"
    if band["rate"] is None:
        return f"The plug-in's reversal rate is undefined: none of {n} is without a tie."
    said = f"The cross-fitted plug-in reverses {_percent(band['rate'])} of {n}"
    if band["random_median"] is None or band["excess_pp"] is None:
        return f"{said}."
    more = "more" if band["excess_pp"] >= 0 else "fewer"
    said += (
        f", {abs(band['excess_pp']):.1f} points {more} than matched random subtests "
        f"({_percent(band['random_median'])})"
    )
    return (
        f"{said[:-1]}, p = {band['p_value']:.3g})." if band["p_value"] is not None else f"{said}."
    )


def _cell_words(row: Mapping[str, Any], compared: Comparison) -> str:
    said = f"{_ANCHORS[row['anchors']]} reverse {_percent(row['reversal_rate'])}"
    brackets = []
    if not math.isnan(row["low"]):
        brackets.append(f"{100 * row['low']:.1f} to {_percent(row['high'])}")
    if row["scores"] == OBSERVED:
        brackets.append(difference_words(row, compared.settings.margin))
    if not math.isnan(row["excess_pp"]):
        excess = f"{_signed(row['excess_pp'])} over random"
        if not math.isnan(row["excess_low"]):
            excess += f", {_signed(row['excess_low'])} to {_signed(row['excess_high'])}"
        if not math.isnan(row["p_value"]):
            excess += f", p = {row['p_value']:.3g}"
        brackets.append(excess)
    return f"{said} ({'; '.join(filter(None, brackets))})"


def _row(compared: Comparison, *cell: str) -> Mapping[str, Any] | None:
    try:
        return {str(key): value for key, value in compared.row(*cell).items()}
    except ValueError:
        return None


def _percent(share: float) -> str:
    return "undefined" if math.isnan(share) else f"{100 * share:.1f} %"


def _signed(points: float) -> str:
    return true_minus(f"{points:+.1f}") if round(points, 1) else "0.0"


def _points(margin: float) -> str:
    return f"{100 * margin:g} point{'' if margin == 0.01 else 's'}"
