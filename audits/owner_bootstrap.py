"""Resampling owners, each with all its models (P0, eqs 42 and 43)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

type Floats = NDArray[np.float64]

BOOTSTRAPS = 2000
CHUNK = 256


def draw_owners(
    bootstraps: int | NDArray[np.integer],
    n_owner: int,
    rng: np.random.Generator | int | None,
) -> NDArray[np.intp]:
    """Return drawn owners, or those that were given once they are checked.

    Parameters
    ----------
    bootstraps : int or (n_replicate, n_draw) int
    n_owner : int
    rng : Generator, int or None

    Returns
    -------
    (n_replicate, n_draw) int
        Positions among the owners.
    """
    if isinstance(bootstraps, (int, np.integer)):
        if bootstraps < 0:
            raise ValueError(f"bootstraps must not be negative, got {bootstraps}")
        if not bootstraps:
            return np.empty((0, n_owner), dtype=np.intp)
        return np.random.default_rng(rng).integers(n_owner, size=(int(bootstraps), n_owner))
    draws = np.asarray(bootstraps, dtype=np.intp)
    if draws.ndim != 2 or (draws.size and not 0 <= draws.min() <= draws.max() < n_owner):
        raise ValueError(f"draws must be rows of positions among {n_owner} owners")
    return draws


def owner_means(
    models: pd.DataFrame,
    owners: list[str],
    families: list[str],
    values: Floats,
    draws: NDArray[np.intp],
) -> Floats:
    """Return family means in every replicate.

    Parameters
    ----------
    models : DataFrame
        `owner`, `family`.
    owners, families : list of str
    values : (n_model, n_column) float
    draws : (n_replicate, n_draw) int
        Positions among `owners`; each brings all its models.

    Returns
    -------
    (n_replicate, n_family, n_column) float
        NaN where the replicate lacks the family.
    """
    owner = pd.Categorical(models["owner"], categories=owners).codes.astype(np.intp)
    family = pd.Categorical(models["family"], categories=families).codes.astype(np.intp)
    total = np.zeros((len(owners), len(families), values.shape[1] + 1))
    np.add.at(total, (owner, family), np.column_stack([np.ones(len(models)), values]))
    flat = total.reshape(len(owners), len(families) * (values.shape[1] + 1))
    out = np.full((len(draws), len(families), values.shape[1]), np.nan)
    for first in range(0, len(draws), CHUNK):
        part = draws[first : first + CHUNK]
        times = np.zeros((len(part), len(owners)))
        np.add.at(times, (np.arange(len(part))[:, None], part), 1.0)
        sums = (times @ flat).reshape(len(part), *total.shape[1:])
        count = sums[:, :, :1]
        np.divide(sums[:, :, 1:], count, out=out[first : first + CHUNK], where=count > 0)
    return out


def percentile_limits(means: Floats) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Return the 2.5th and 97.5th percentile of the replicates that hold a family.

    Parameters
    ----------
    means : (n_replicate, n_family, n_column) float

    Returns
    -------
    low, high : (n_family, n_column) float
        NaN without such a replicate.
    n_undefined : (n_family,) int
        Replicates that lack the family.
    """
    n_family, n_column = means.shape[1:]
    low, high = np.full((n_family, n_column), np.nan), np.full((n_family, n_column), np.nan)
    undefined = np.zeros(n_family, dtype=np.intp)
    for f in range(n_family):
        defined = ~np.isnan(means[:, f, 0])
        undefined[f] = int((~defined).sum())
        if defined.any():
            low[f], high[f] = np.quantile(means[defined, f], [0.025, 0.975], axis=0)
    return low, high, undefined
