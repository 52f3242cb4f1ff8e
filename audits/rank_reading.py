"""What can be ranked, from files: a posterior, draws of another program, estimates."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from neartie.audits.rank_source import Scores, scores_of
from neartie.data.errors import DataError
from neartie.data.json_records import looks_like_json
from neartie.data.layout import ITEM_NAMES, SCORE_NAMES
from neartie.data.read_battles import MODEL_NAMES
from neartie.data.read_draws import read_draws, read_estimates
from neartie.data.sources import open_source, plain_name
from neartie.data.tabular import first_bytes
from neartie.inference.posterior_file import read_posterior

POSTERIOR: Final = "posterior.nc"
_ANSWER_NAMES: Final = (*ITEM_NAMES, *SCORE_NAMES, "respondent", "model")
_NETCDF: Final = (b"\x89HDF", b"CDF")


def read_scores(path: str | Path, *, variable: str | None = None) -> Scores:
    """Return the models' scores from a file or folder.

    Parameters
    ----------
    path : path
        A folder with `posterior.nc`, or else with `models.csv` and `covariance.csv`; a posterior
        as netCDF; or a table of draws, CSV or Parquet, with a column a model.
    variable : str, optional
        Of a posterior, the variable to rank by.

    Returns
    -------
    Scores
        To be given to `neartie.audits.ranks.rank_models`.

    Raises
    ------
    DataError
        If there is nothing to rank there, it cannot be read, or it holds the answers or battles
        themselves, which are to be fitted first.
    """
    place = Path(path)
    if place.is_dir():
        return _from_folder(place, variable)
    if first_bytes(place).startswith(_NETCDF):
        return scores_of(read_posterior(place), variable=variable)
    if variable is not None:
        raise DataError(f"{place} is a table of draws, which has no variable {variable!r}")
    return scores_of(_draws(place))


def _draws(place: Path) -> pd.DataFrame:
    """Return draws; of answers and battles say which command fits them."""
    if not first_bytes(place).startswith(b"PAR1") and looks_like_json(place):
        raise DataError(_fit_first(place, "bradley-terry", "JSON, as battles are"))
    try:
        draws = read_draws(place)
    except DataError:
        columns = {plain_name(column) for column in _columns(place)}
        if columns.issuperset(MODEL_NAMES):
            raise DataError(_fit_first(place, "bradley-terry", "a table of battles")) from None
        if columns.intersection(_ANSWER_NAMES):
            raise DataError(_fit_first(place, "two-pl", "a table of answers")) from None
        raise
    if np.isin(draws.to_numpy(), (0.0, 1.0)).all():
        raise DataError(_fit_first(place, "two-pl", "nothing but 0 and 1, as answers are"))
    return draws


def _columns(place: Path) -> Sequence[str]:
    return open_source(place, recognised=lambda columns: True, one_column=True).columns


def _fit_first(place: Path, kind: str, what: str) -> str:
    return (
        f"{place} holds {what}, and no draws of scores: fit it first (neartie fit {kind} "
        f"{shlex.quote(str(place))} --out fitted), then rank the fit (neartie rank fitted)"
    )


def _from_folder(folder: Path, variable: str | None) -> Scores:
    if (folder / POSTERIOR).exists():
        return read_scores(folder / POSTERIOR, variable=variable)
    fitted = "engine" in _summary(folder / "summary.json")
    if fitted and not (folder / "covariance.csv").exists():
        raise DataError(
            f"{folder} holds a fit without draws and without the covariance of its estimates, "
            "which is left out for more than 2,000 models: rank a posterior (--engine gibbs or "
            "nuts), or fit fewer models"
        )
    if not (folder / "models.csv").exists() or not (folder / "covariance.csv").exists():
        raise DataError(
            f"{folder} holds neither {POSTERIOR} nor models.csv with covariance.csv; name the "
            "folder of a fit, a posterior, or a table of draws"
        )
    if variable is not None:
        raise DataError(f"{folder} holds estimates, which have no variable {variable!r}")
    table, covariance = read_estimates(folder)
    scores = scores_of(
        table["estimate"].to_numpy(),
        models=table["model"].tolist(),
        covariance=covariance,
        component=table["component"].to_numpy(),
    )
    summary = _summary(folder / "summary.json")
    said = str(summary.get("converged")).lower()
    verdict = str(summary.get("verdict", ""))
    converged = {"true": "yes", "yes": "yes", "false": "no", "no": "no"}.get(said, "not assessed")
    return replace(
        scores,
        label=str(table["label"].iloc[0]),
        kind=str(summary.get("kind", "estimate")),
        converged=converged,
        verdict=verdict,
        n_items=_whole(summary.get("n_items")),
        notices=tuple(text for text in _texts(summary.get("warnings")) if text != verdict),
    )


def _summary(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        # Only what it says of convergence is wanted, and "not assessed" is then said instead.
        return {}
    return found if isinstance(found, dict) else {}


def _texts(value: object) -> list[str]:
    return [str(text) for text in value] if isinstance(value, list) else []


def _whole(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
