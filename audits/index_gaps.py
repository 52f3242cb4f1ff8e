"""Covariance of global indices, and whether a model is surely behind the best one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from neartie.audits.composite import accuracy_slope
from neartie.audits.scorecard_abilities import DomainAbilities
from neartie.audits.scorecard_settings import ScoreSettings


def index_covariance(
    found: Sequence[DomainAbilities],
    domains: pd.DataFrame,
    models: pd.DataFrame,
    settings: ScoreSettings,
) -> pd.DataFrame:
    """Return the covariance of the global indices of complete models.

    Parameters
    ----------
    found : sequence of DomainAbilities
    domains : DataFrame
        As in `neartie.audits.scorecard_result.Scorecard`.
    models : DataFrame
        `model`, `complete`, `half_width`.
    settings : ScoreSettings

    Returns
    -------
    DataFrame
        `model`, and a column for each model; points squared. Empty where no complete model has a
        standard error.

    Notes
    -----
    Errors of abilities of one domain go together, because the models share its items or meet in
    its duels. Those of different domains, of given abilities, and of the other terms of a
    composite are taken as independent.
    """
    complete = models[(models["complete"] == 1) & models["half_width"].notna()]
    ids = sorted(complete["model"])
    if not ids:
        return pd.DataFrame()
    used = domains[domains["model"].isin(ids) & domains["composite"].notna()]
    weight = {name: settings.domain_weights.get(name, 1.0) for name in used["domain"].unique()}
    total, points = sum(weight.values()), sum(settings.weights.values())
    square = np.zeros((len(ids), len(ids)))
    for part in found:
        if part.domain not in weight:
            continue
        rows = used[used["domain"] == part.domain].set_index("model").loc[ids]
        shared = np.zeros(square.shape)
        if part.covariance.size:
            slope = accuracy_slope(rows["ability"], rows["measured"] * points, settings=settings)
            at = {model: k for k, model in enumerate(part.table["model"])}
            place = np.array([at[model] for model in ids], dtype=np.intp)
            shared = part.covariance[np.ix_(place, place)] * np.outer(slope, slope)
        widest = rows["half_width_all"].fillna(rows["half_width"]).to_numpy(dtype=np.float64)
        np.fill_diagonal(shared, np.square(widest / settings.critical))
        square += (weight[part.domain] / total) ** 2 * shared
    table = pd.DataFrame(square, columns=ids)
    table.insert(0, "model", pd.Series(ids, dtype="str"), allow_duplicates=True)
    return table


def with_gaps(
    models: pd.DataFrame, covariance: pd.DataFrame, settings: ScoreSettings
) -> pd.DataFrame:
    """Return models with how far each complete one is behind the best.

    Parameters
    ----------
    models : DataFrame
        `model`, `global_index`, `rank`, best first.
    covariance : DataFrame
        From `index_covariance`.
    settings : ScoreSettings

    Returns
    -------
    DataFrame
        With `gap_to_best`, `gap_half_width` (points) and `below_best` (1 where the gap is the
        larger one) behind `rank`; missing where there is no covariance. Every model is judged
        alone.
    """
    gap, width = np.full(len(models), np.nan), np.full(len(models), np.nan)
    if not covariance.empty:
        square = covariance.iloc[:, 1:].to_numpy(dtype=np.float64)
        at = {model: k for k, model in enumerate(covariance["model"])}
        index = models["global_index"].to_numpy(dtype=np.float64)
        best = at[models["model"].iloc[0]]
        for row, model in enumerate(models["model"]):
            k = at.get(model)
            if k is not None:
                variance = square[k, k] + square[best, best] - 2 * square[k, best]
                gap[row] = index[0] - index[row]
                width[row] = settings.critical * np.sqrt(max(variance, 0.0))
    below = pd.Series(gap > width, index=models.index).astype("Int64")
    table = models.assign(gap_to_best=gap, gap_half_width=width, below_best=below)
    table.loc[np.isnan(gap), "below_best"] = pd.NA
    names = [name for name in models]
    after = names.index("rank") + 1
    return table[[*names[:after], "gap_to_best", "gap_half_width", "below_best", *names[after:]]]
