"""What is written and shown of the joint mode of the multidimensional model."""

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
from neartie.inference.mirt_dif_result import MirtDifFit


def summarise_mirt_dif(fit: MirtDifFit, data: Responses, *, level: float = 0.95) -> FitSummary:
    """Return tables and verdict of the joint mode of the multidimensional model.

    Parameters
    ----------
    fit : MirtDifFit
    data : Responses
        What it was fitted to.
    level : float in (0, 1)
        Of the intervals.

    Returns
    -------
    FitSummary
        Its parameters are the scales, which were held and have no error.

    Raises
    ------
    ValueError
        If the level is out of range.
    """
    said = fit.to_dict()
    models = fit.table(level=level)
    share = data.accuracy().set_index("model")["accuracy"]
    models.insert(2, "accuracy", share.loc[models["model"]].to_numpy())
    covariance = pd.DataFrame()
    if fit.covariance.size:
        covariance = pd.DataFrame(fit.covariance, columns=list(fit.models))
        covariance.insert(0, "model", pd.Series(fit.models, dtype="str"), allow_duplicates=True)
    scales = fit.scales.to_dict()
    origin = {
        "answers": "found from the answers, then held",
        "prior": "median of its prior, held",
        "given": "given, held",
    }[fit.scales_from]
    parameters = pd.DataFrame(
        {"parameter": list(scales), "estimate": list(scales.values()), "se": np.nan, "note": origin}
    )
    return FitSummary(
        kind="mirt-dif",
        engine="map",
        quantity="expected_score",
        models=flagged_models(models, data),
        items=fit.item_table(level=level),
        dif=fit.dif_table(level=level),
        parameters=parameters,
        diagnostics=pd.DataFrame(),
        covariance=covariance,
        converged="yes" if fit.converged else "no",
        verdict=fit.verdict,
        level=level,
        seed=None,
        n_models=len(fit.models),
        n_items=len(fit.items),
        n_observations=int(fit.n.sum()),
        settings={**said["settings"], "log_posterior": fit.log_posterior},
        versions={name: version(name) for name in POINT_PACKAGES},
        warnings=worst_first([], fit.notices, data),
    )
