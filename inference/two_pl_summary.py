"""What is written and shown of 2PL estimates, and of scores on known items."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
import pandas as pd

from neartie.data.responses import Responses
from neartie.inference.fit_summary import (
    POINT_PACKAGES,
    FitSummary,
    flagged_models,
    worst_first,
)
from neartie.inference.score_models import COLUMN_NAMES, ScoredModels
from neartie.inference.two_pl_result import TwoPLFit


def summarise_two_pl(fit: TwoPLFit, data: Responses, *, level: float = 0.95) -> FitSummary:
    """Return tables and verdict of the joint mode of the 2PL.

    Parameters
    ----------
    fit : TwoPLFit
    data : Responses
        What it was fitted to.
    level : float in (0, 1)
        Of the intervals.

    Returns
    -------
    FitSummary
        Its settings hold `shift`, `unit` and `posterior_unit` too, by which `prior` is found on
        the scale of the estimates.

    Raises
    ------
    ValueError
        If the level is out of range.
    """
    said = fit.to_dict()
    places = {name: said[name] for name in ("log_posterior", "shift", "unit", "posterior_unit")}
    return FitSummary(
        kind="two-pl",
        engine="map",
        quantity="ability",
        models=flagged_models(fit.table(level=level), data),
        items=fit.item_table(level=level),
        dif=pd.DataFrame(),
        parameters=_no_parameters(),
        diagnostics=pd.DataFrame(),
        covariance=_labelled(fit.covariance, list(fit.models)),
        converged="yes" if fit.converged else "no",
        verdict=fit.verdict,
        level=level,
        seed=None,
        n_models=len(fit.models),
        n_items=len(fit.items),
        n_observations=int(fit.n.sum()),
        settings={**said["settings"], **places},
        versions={name: version(name) for name in POINT_PACKAGES},
        warnings=worst_first([], fit.notices, data),
    )


def summarise_scored(
    scored: ScoredModels, data: Responses, items: pd.DataFrame, *, source: str
) -> FitSummary:
    """Return tables of models that were scored on known items.

    Parameters
    ----------
    scored : ScoredModels
    data : Responses
        Their answers.
    items : DataFrame
        The known items, with `item`, `discrimination`, `difficulty`.
    source : str
        Where these come from.

    Returns
    -------
    FitSummary
        `models` has `se`, the posterior standard deviation `eap_sd` under the name that point
        engines have, and the columns of `ScoredModels`. Abilities have no covariance between
        models where items are known.
    """
    table = scored.table
    models = table[["model", "n", "ability"]].assign(se=table["eap_sd"])
    rest = ["low", "high", "se_items_known", "eap", "eap_sd", "ml", "ml_se", "ml_note"]
    models[[*rest, "node_spacing"]] = table[[*rest, "node_spacing"]]
    answers = data.item_accuracy().set_index("item")["n"]
    used = items[items["item"].isin(scored.items)].reset_index(drop=True)
    columns = {"item": used["item"]}
    for name, spellings in COLUMN_NAMES.items():
        found = next((spelling for spelling in spellings if spelling in used), None)
        # one that places an item is enough
        if found is not None and not (name == "easiness" and "difficulty" in columns):
            columns[name] = used[found].astype(np.float64)
    used = pd.DataFrame(columns)
    used.insert(1, "n", answers.loc[used["item"]].to_numpy())
    used["flag"] = ""
    variance = np.square(models["se"].to_numpy())
    widest = float((table["node_spacing"] / table["eap_sd"]).max())
    return FitSummary(
        kind="two-pl",
        engine="map",
        quantity="ability",
        models=flagged_models(models, data),
        items=used,
        dif=pd.DataFrame(),
        parameters=_no_parameters(),
        diagnostics=pd.DataFrame(),
        covariance=_labelled(np.diag(variance), models["model"].tolist()),
        converged="yes",
        verdict="Items taken as known, so that their error is not counted. Nodes lie "
        f"{widest:.2f} posterior sd apart at the most.",
        level=scored.level,
        seed=None,
        n_models=len(models),
        n_items=len(scored.items),
        n_observations=int(models["n"].sum()),
        settings={**scored.to_dict()["settings"], "items_from": source},
        versions={name: version(name) for name in POINT_PACKAGES},
        warnings=worst_first([], scored.notices, data),
    )


def _labelled(covariance: np.ndarray, models: list[str]) -> pd.DataFrame:
    """Return a covariance with a column `model`; without rows if it has none."""
    if not covariance.size:
        return pd.DataFrame()
    table = pd.DataFrame(covariance, columns=models)
    table.insert(0, "model", pd.Series(models, dtype="str"), allow_duplicates=True)
    return table


def _no_parameters() -> pd.DataFrame:
    return pd.DataFrame(columns=["parameter", "estimate", "se", "note"])
