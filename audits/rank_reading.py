"""What can be ranked, from files: a posterior, draws of another program, estimates."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from neartie.audits.rank_source import Scores, scores_of
from neartie.data.errors import DataError
from neartie.data.read_draws import read_draws, read_estimates
from neartie.data.tabular import first_bytes
from neartie.inference.posterior_file import read_posterior

POSTERIOR: Final = "posterior.nc"
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
        If there is nothing to rank there, or it cannot be read.
    """
    place = Path(path)
    if place.is_dir():
        return _from_folder(place, variable)
    if first_bytes(place).startswith(_NETCDF):
        return scores_of(read_posterior(place), variable=variable)
    if variable is not None:
        raise DataError(f"{place} is a table of draws, which has no variable {variable!r}")
    return scores_of(read_draws(place))


def _from_folder(folder: Path, variable: str | None) -> Scores:
    if (folder / POSTERIOR).exists():
        return read_scores(folder / POSTERIOR, variable=variable)
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
