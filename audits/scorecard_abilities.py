"""Abilities behind a scorecard: a 2PL for each domain of answers, Bradley-Terry for duels (P1)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.judge_panel import JudgePanel, judge_panel
from neartie.audits.scorecard_settings import ScoreSettings
from neartie.data.battle_order import report_positions, resolve_swapped
from neartie.data.battles import Battles
from neartie.data.errors import CaveatWarning, DataError
from neartie.data.labels import natural_key
from neartie.data.responses import Responses
from neartie.data.score_inputs import ScoreInputs
from neartie.data.wording import counted, listed
from neartie.inference.bradley_terry import fit_bradley_terry
from neartie.inference.bradley_terry_result import BradleyTerryFit
from neartie.inference.two_pl_map import fit_two_pl_map
from neartie.inference.two_pl_result import TwoPLFit

type Floats = NDArray[np.float64]

_SIGN_WORDS = {1.0: "a", -1.0: "b", 0.0: "tie"}
_SIDE_WORDS = {1.0: "a", -1.0: "b", 0.0: ""}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class DomainAbilities:
    """Abilities of the models in one domain.

    Attributes
    ----------
    domain : str
    source : str
        `answers`, `duels` or `given`.
    table : DataFrame
        `model`, `ability`, `se`, `se_printed` (logit), `n` (answers, or verdicts), `reason` (why
        there is no ability, else blank).
    covariance : (n_model, n_model) float
        Of the abilities in the table; empty where it is not known.
    items : DataFrame
        `item`, `n`, `discrimination`, `difficulty`, `flag` (P1's hygiene); empty for others.
    influence : DataFrame
        `model`, `item`, `influence`: by how much an answer moved the model's ability, logit, to
        first order with items known. Empty for others.
    panel : JudgePanel or None
        Where duels name judges and prompts.
    converged : bool
    notices : tuple of str
    """

    domain: str
    source: str
    table: pd.DataFrame
    covariance: Floats
    items: pd.DataFrame
    influence: pd.DataFrame
    panel: JudgePanel | None
    converged: bool
    notices: tuple[str, ...]


def domain_abilities(inputs: ScoreInputs, settings: ScoreSettings) -> Iterator[DomainAbilities]:
    """Yield the abilities of each domain, in the natural order of domains.

    Parameters
    ----------
    inputs : ScoreInputs
    settings : ScoreSettings

    Yields
    ------
    DomainAbilities
        Given abilities where there are any for a domain; else a fit.

    Raises
    ------
    DataError
        If a domain has both answers and duels, or duels leave no verdict.
    """
    given = set(inputs.abilities["domain"])
    answered, duelled = set(inputs.answers["domain"]), set(inputs.verdicts["domain"])
    for first, second, what in (
        (answered, duelled, "answers and duels"),
        (given, duelled, "given abilities and duels"),
    ):
        both = sorted(first & second)
        if both:
            raise DataError(f"domain {both[0]!r} has both {what}; name them differently")
    for domain in sorted(given | answered | duelled, key=natural_key):
        if domain in given:
            yield _given(domain, inputs)
        elif domain in answered:
            yield _fitted(domain, inputs.answers, settings)
        else:
            yield _duelled(domain, inputs, settings)


def _given(domain: str, inputs: ScoreInputs) -> DomainAbilities:
    table = inputs.abilities[inputs.abilities["domain"] == domain].sort_values("model")
    table = table[["model", "ability", "se", "se_printed"]].reset_index(drop=True)
    answers = inputs.answers[(inputs.answers["domain"] == domain) & inputs.answers["score"].notna()]
    n = answers.groupby("model").size()
    table["n"] = table["model"].map(n).fillna(0).astype(int)
    known = table["ability"].notna() & table["se"].notna()
    table["reason"] = np.where(known, "", "ability or its standard error is missing")
    table.loc[~known, ["ability", "se", "se_printed"]] = np.nan
    return _abilities(domain, "given", table)


def _fitted(domain: str, answers: pd.DataFrame, settings: ScoreSettings) -> DomainAbilities:
    rows = answers[(answers["domain"] == domain) & answers["score"].notna()]
    data = _responses(rows)
    try:
        with warnings.catch_warnings():
            # what the warning says stands in the notices
            warnings.simplefilter("ignore", CaveatWarning)
            fit = fit_two_pl_map(data, unit=settings.unit)
    except DataError as error:
        table = pd.DataFrame(
            {
                "model": pd.Series(data.model_ids, dtype="str"),
                "ability": np.nan,
                "se": np.nan,
                "se_printed": np.nan,
                "n": data.observed.sum(axis=0),
                "reason": f"no fit: {error}",
            }
        )
        return _abilities(domain, "answers", table, notices=(f"no abilities: {error}",))
    fitted = fit.table()
    table = fitted[["model", "ability", "se"]].assign(
        se_printed=fitted["se_items_known"], n=fitted["n"], reason=""
    )
    items = fit.item_table()[["item", "n", "discrimination", "difficulty", "flag"]]
    return DomainAbilities(
        domain=domain,
        source="answers",
        table=table,
        covariance=fit.covariance,
        items=items,
        influence=_influence(fit, data),
        panel=None,
        converged=fit.converged,
        notices=fit.notices,
    )


def _responses(rows: pd.DataFrame) -> Responses:
    """Return answers as a matrix, items in natural and models in plain order."""
    models = sorted(set(rows["model"]))
    items = sorted(set(rows["item"]), key=natural_key)
    values = np.full((len(items), len(models)), -1, dtype=np.int8)
    i = rows["item"].map({item: k for k, item in enumerate(items)}).to_numpy(dtype=np.intp)
    j = rows["model"].map({model: k for k, model in enumerate(models)}).to_numpy(dtype=np.intp)
    values[i, j] = rows["score"].to_numpy(dtype=np.int8)
    return Responses.build(values, items=items, models=models)


def _influence(fit: TwoPLFit, data: Responses) -> pd.DataFrame:
    r"""Return :math:`a_i (x_i - p_i) / I` of every answer, I with the prior's part."""
    a, b = fit.discrimination[:, None], fit.difficulty[:, None]
    with np.errstate(over="ignore"):
        p = 1 / (1 + np.exp(-a * (fit.ability[None, :] - b)))
    moved = a * (data.values - p) * np.square(fit.se_items_known)[None, :]
    i, j = np.nonzero(data.observed & ~np.isnan(moved))
    return pd.DataFrame(
        {
            "model": np.array(data.model_ids, dtype=object)[j],
            "item": np.array(data.item_ids, dtype=object)[i],
            "influence": moved[i, j],
        }
    )


def _duelled(domain: str, inputs: ScoreInputs, settings: ScoreSettings) -> DomainAbilities:
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
    table, covariance = _standardised(fit, battles)
    lost = table.loc[table["reason"] != "", "model"].tolist()
    if lost:
        said.append(f"{counted(len(lost), 'model')} without a strength: {listed(lost)}")
    said += fit.notices
    return DomainAbilities(
        domain=domain,
        source="duels",
        table=table,
        covariance=covariance,
        items=_no_items(),
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


def _standardised(fit: BradleyTerryFit, battles: Battles) -> tuple[pd.DataFrame, Floats]:
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
            "se": standard["se"],
            "se_printed": standard["se_diagonal"],
            "n": n,
            "reason": reason,
        }
    )
    table.loc[reason != "", ["ability", "se", "se_printed"]] = np.nan
    inside = fit.component == 0
    spread = float(np.std(fit.strength[inside & np.isfinite(fit.strength)]))
    covariance = fit.covariance / spread**2 if spread > 0 else np.zeros((0, 0))
    return table, covariance


def _no_items() -> pd.DataFrame:
    return pd.DataFrame(columns=["item", "n", "discrimination", "difficulty", "flag"])


def _abilities(
    domain: str, source: str, table: pd.DataFrame, *, notices: tuple[str, ...] = ()
) -> DomainAbilities:
    return DomainAbilities(
        domain=domain,
        source=source,
        table=table,
        covariance=np.zeros((0, 0)),
        items=_no_items(),
        influence=pd.DataFrame(columns=["model", "item", "influence"]),
        panel=None,
        converged=True,
        notices=notices,
    )
