"""Abilities of a scorecard's duels: eligible verdicts, Bradley-Terry, clustered errors (P1)."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.judge_panel import judge_panel
from neartie.audits.scorecard_abilities import DomainAbilities, no_items
from neartie.audits.scorecard_settings import ScoreSettings
from neartie.data.battle_order import report_positions, resolve_swapped
from neartie.data.battles import Battles
from neartie.data.errors import CaveatWarning
from neartie.data.score_inputs import ScoreInputs
from neartie.data.wording import counted, listed
from neartie.inference.bradley_terry import fit_bradley_terry
from neartie.inference.bradley_terry_bootstrap import bootstrap_bradley_terry
from neartie.inference.bradley_terry_result import BradleyTerryFit

type Floats = NDArray[np.float64]

#: Fewer bootstrap rounds give no covariance worth having.
FEWEST_ROUNDS: Final = 100
#: Fewer prompts cannot tell how much prompts differ; then duels are drawn.
FEWEST_PROMPTS: Final = 30
_SIGN_WORDS = {1.0: "a", -1.0: "b", 0.0: "tie"}
_SIDE_WORDS = {1.0: "a", -1.0: "b", 0.0: ""}


def duelled_abilities(
    domain: str, inputs: ScoreInputs, settings: ScoreSettings, rng: np.random.Generator
) -> DomainAbilities:
    """Return standardised Bradley-Terry strengths from the verdicts that count.

    Parameters
    ----------
    domain : str
    inputs : ScoreInputs
    settings : ScoreSettings
    rng : Generator
        Of the bootstrap behind standard errors.

    Returns
    -------
    DomainAbilities
        Of the largest set of models that duels connect; others have a reason.

    Raises
    ------
    DataError
        If no verdict is left.

    References
    ----------
    P1, "Judge protocol" and "Aggregation".
    """
    rows = inputs.verdicts[inputs.verdicts["domain"] == domain]
    battles = battles_of(rows, shown_is_given=inputs.shown_is_given)
    said = list(battles.notices)
    panel = None
    if battles.judges and battles.prompts:
        panel = judge_panel(battles, fewest_judges=settings.fewest_judges)
        said += panel.notices
        battles = panel.battles
    elif battles.judges:
        said.append(
            "verdicts name judges but no prompts, so that nothing says which belong to one duel: "
            "agreement and the least number of judges are not assessed, and judges who take part "
            "are not left out"
        )
    if battles.prompts and report_positions(battles).n_swapped:
        # Two verdicts of one judge on one duel are not two pieces of evidence.
        battles = resolve_swapped(battles)
        said.append(battles.notices[-1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaveatWarning)
        fit = fit_bradley_terry(battles, phantom_wins=settings.phantom_wins)
        covariance, how = verdict_covariance(fit, battles, settings.n_resamples, rng)
    said.append(how)
    table, covariance = _standardised(fit, battles, covariance)
    lost = table.loc[table["reason"] != "", "model"].tolist()
    if lost:
        said.append(f"{counted(len(lost), 'model')} without a strength: {listed(lost)}")
    said += fit.notices
    return DomainAbilities(
        domain=domain,
        source="duels",
        table=table,
        covariance=covariance,
        items=no_items(),
        influence=pd.DataFrame(columns=["model", "item", "influence"]),
        panel=panel,
        converged=fit.converged,
        notices=tuple(dict.fromkeys(said)),
    )


def battles_of(verdicts: pd.DataFrame, *, shown_is_given: bool) -> Battles:
    """Return the verdicts of one domain as battles.

    Parameters
    ----------
    verdicts : DataFrame
        As in `ScoreInputs`.
    shown_is_given : bool

    Returns
    -------
    Battles

    Examples
    --------
    >>> verdicts = pd.DataFrame({"model_a": ["owl"], "model_b": ["ant"], "outcome": [-1.0],
    ...                          "shown": [1.0], "judge": ["x"], "prompt": ["p"]})
    >>> battles_of(verdicts, shown_is_given=True)
    Battles(1 battle, 2 models, 0 ties)
    """
    named = {name: verdicts[name].tolist() for name in ("judge", "prompt")}
    return Battles.build(
        verdicts["model_a"].tolist(),
        verdicts["model_b"].tolist(),
        verdicts["outcome"].map(_SIGN_WORDS).tolist(),
        first_shown=verdicts["shown"].map(_SIDE_WORDS).tolist() if shown_is_given else None,
        judge=named["judge"] if any(named["judge"]) else None,
        prompt=named["prompt"] if any(named["prompt"]) else None,
    )


def verdict_covariance(
    fit: BradleyTerryFit, battles: Battles, rounds: int, rng: np.random.Generator
) -> tuple[Floats, str]:
    """Return the covariance of strengths where several verdicts are about the same two answers.

    Parameters
    ----------
    fit : BradleyTerryFit
    battles : Battles
    rounds : int
        Of the bootstrap.
    rng : Generator

    Returns
    -------
    covariance : (n_model, n_model) float, logit
        Prompts drawn again, with all their verdicts; duels, where there are fewer than
        `FEWEST_PROMPTS` prompts. That of the fit where every prompt has one verdict, or rounds are too
        few.
    how : str
        What was done, in a sentence.
    """
    several = len(battles.prompts) > 0 and bool((np.bincount(battles.prompt + 1)[1:] > 1).any())
    if not several:
        return fit.covariance, "standard errors take verdicts as independent"
    if rounds < FEWEST_ROUNDS:
        return fit.covariance, (
            "standard errors take the verdicts of one duel as independent, and are too small"
        )
    unit, drawn = "prompt", battles
    if len(np.unique(battles.prompt)) < FEWEST_PROMPTS:
        unit, drawn = "duel", _by_duel(battles)
    boot = bootstrap_bradley_terry(drawn, fit, rounds=rounds, unit="prompt", rng=rng)
    covariance: Floats = np.atleast_2d(np.cov(boot.draws, rowvar=False))
    lost = f"; {boot.n_degenerate} rounds had no estimate" if boot.n_degenerate else ""
    how = f"standard errors come from drawing {unit}s again with all their verdicts{lost}"
    if unit == "duel":
        how += "; there are too few prompts to count how much prompts differ"
    return covariance, how


def _by_duel(battles: Battles) -> Battles:
    """Return battles in which a prompt is a prompt and a pair of models."""
    low = np.minimum(battles.model_a, battles.model_b)
    high = np.maximum(battles.model_a, battles.model_b)
    key = (battles.prompt * battles.n_model + low) * battles.n_model + high
    known, code = np.unique(key, return_inverse=True)
    return replace(battles, prompts=tuple(f"{k:09d}" for k in range(len(known))), prompt=code)


def _standardised(
    fit: BradleyTerryFit, battles: Battles, covariance: Floats
) -> tuple[pd.DataFrame, Floats]:
    """Return strengths of mean 0 and variance 1, of the largest connected set only."""
    standard = fit.standardised()
    reason = np.full(len(fit.models), "", dtype=object)
    reason[~np.isfinite(standard["strength"].to_numpy())] = "no finite strength to standardise"
    reason[fit.component != 0] = "no chain of duels connects it with the others"
    n = np.bincount(battles.model_a, minlength=len(fit.models)) + np.bincount(
        battles.model_b, minlength=len(fit.models)
    )
    table = pd.DataFrame(
        {
            "model": standard["model"],
            "ability": standard["strength"],
            "se": np.sqrt(np.diag(covariance)),
            "se_printed": standard["se_diagonal"],
            "n": n,
            "reason": reason,
        }
    )
    inside = fit.component == 0
    spread = float(np.std(fit.strength[inside & np.isfinite(fit.strength)]))
    # the same sd, which P1 omits
    table["se"] /= spread if spread > 0 else np.nan
    table.loc[reason != "", ["ability", "se", "se_printed"]] = np.nan
    return table, covariance / spread**2 if spread > 0 else np.zeros((0, 0))
