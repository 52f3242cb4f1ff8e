"""Abilities behind a scorecard: the 2PL of a domain of answers, or given ones (P1)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.judge_panel import JudgePanel
from neartie.audits.scorecard_settings import ScoreSettings
from neartie.data.errors import CaveatWarning, DataError
from neartie.data.labels import natural_key
from neartie.data.responses import Responses
from neartie.data.score_inputs import ScoreInputs
from neartie.inference.two_pl_map import fit_two_pl_map
from neartie.inference.two_pl_result import TwoPLFit

type Floats = NDArray[np.float64]


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


def given_abilities(domain: str, inputs: ScoreInputs) -> DomainAbilities:
    """Return the abilities of a domain that its user estimated elsewhere."""
    table = inputs.abilities[inputs.abilities["domain"] == domain].sort_values("model")
    table = table[["model", "ability", "se", "se_printed"]].reset_index(drop=True)
    answers = inputs.answers[(inputs.answers["domain"] == domain) & inputs.answers["score"].notna()]
    n = answers.groupby("model").size()
    table["n"] = table["model"].map(n).fillna(0).astype(int)
    known = table["ability"].notna() & table["se"].notna()
    table["reason"] = np.where(known, "", "ability or its standard error is missing")
    table.loc[~known, ["ability", "se", "se_printed"]] = np.nan
    return without_fit(domain, "given", table)


def fitted_abilities(
    domain: str, answers: pd.DataFrame, settings: ScoreSettings
) -> DomainAbilities:
    """Return abilities at the optimum of P1's objective, with the hygiene of items.

    Parameters
    ----------
    domain : str
    answers : DataFrame
        As in `ScoreInputs`.
    settings : ScoreSettings

    Returns
    -------
    DomainAbilities
        Without abilities, and with the reason, if no item has two different answers.
    """
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
        return without_fit(domain, "answers", table, notices=(f"no abilities: {error}",))
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


def no_items() -> pd.DataFrame:
    """Return a table of items without rows."""
    return pd.DataFrame(columns=["item", "n", "discrimination", "difficulty", "flag"])


def without_fit(
    domain: str, source: str, table: pd.DataFrame, *, notices: tuple[str, ...] = ()
) -> DomainAbilities:
    """Return abilities behind which there is no fit, and so no covariance and no items."""
    return DomainAbilities(
        domain=domain,
        source=source,
        table=table,
        covariance=np.zeros((0, 0)),
        items=no_items(),
        influence=pd.DataFrame(columns=["model", "item", "influence"]),
        panel=None,
        converged=True,
        notices=notices,
    )
