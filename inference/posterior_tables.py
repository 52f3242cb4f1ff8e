"""Tables of a posterior: one row a model, an item, a family effect, a common parameter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pandas as pd
import xarray as xr

from neartie.inference.posterior_tree import MEANS, SDS

# What describes a model, in the order of preference. Abilities of several dimensions do not: their
# axes can be turned at will.
MODEL_VARIABLES: Final = ("expected_score", "strength", "ability")
ITEM_VARIABLES: Final = ("discrimination", "difficulty", "easiness")
_SAMPLE: Final = ("chain", "draw")


def model_variable(posterior: xr.DataTree) -> str:
    """Return the name of the variable that models are compared by.

    Parameters
    ----------
    posterior : DataTree
        With the group `posterior`.

    Returns
    -------
    str
        The first of `expected_score` (proportion), `strength` (logit) and `ability` (logit) that
        the posterior holds over the dimension `model` alone.

    Raises
    ------
    ValueError
        If it holds none.
    """
    draws = posterior["posterior"].to_dataset()
    for name in MODEL_VARIABLES:
        if name in draws and draws[name].dims == (*_SAMPLE, "model"):
            return name
    raise ValueError(
        "the posterior compares no models: it holds neither "
        f"{', '.join(MODEL_VARIABLES)} over the dimension 'model'"
    )


def model_table(
    posterior: xr.DataTree, *, n: Mapping[str, float] | None = None, level: float = 0.95
) -> pd.DataFrame:
    """Return one row a model: what it is compared by, with what the posterior says of it.

    Parameters
    ----------
    posterior : DataTree
        With the group `posterior`.
    n : mapping of model to number, optional
        Answers or battles of each model.
    level : float in (0, 1)
        Of the equal-tailed intervals.

    Returns
    -------
    DataFrame, n_model rows
        `model`; `n`, where given; the quantity under its own name (the mean), see
        `model_variable`; `sd` (of the draws, ddof 1); `low`, `high`.

    Raises
    ------
    ValueError
        If the posterior compares no models, or the level is out of range.

    Examples
    --------
    >>> draws = xr.Dataset(
    ...     {"ability": (("chain", "draw", "model"), [[[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]])},
    ...     coords={"model": ["a", "b"]},
    ... )
    >>> tree = xr.DataTree.from_dict({"posterior": draws})
    >>> model_table(tree, n={"a": 8, "b": 7}, level=0.5)
      model  n  ability   sd  low  high
    0     a  8      1.0  1.0  0.5   1.5
    1     b  7      1.0  0.0  1.0   1.0
    """
    name = model_variable(posterior)
    values = posterior["posterior"].to_dataset()[name]
    table = _labels(values, ("model",))
    if n is not None:
        table["n"] = [n[str(model)] for model in table["model"]]
    return pd.concat([table, _summary(values, name, level=level)], axis=1)


def item_table(
    posterior: xr.DataTree, *, n: Mapping[str, float] | None = None, level: float = 0.95
) -> pd.DataFrame:
    """Return one row an item: its parameters, and the range of its family effects.

    Parameters
    ----------
    posterior : DataTree
        With the group `posterior`.
    n : mapping of item to number, optional
        Answers to each item.
    level : float in (0, 1)
        Of the equal-tailed intervals.

    Returns
    -------
    DataFrame, n_item rows
        `item`; `n`, where given; and for each of `discrimination` (logit per unit of ability),
        `difficulty` (unit of ability), `easiness` (logit) and `dif_range` (logit, largest minus
        smallest family effect) that the posterior holds: its mean under its own name and
        `..._sd`, `..._low`, `..._high`. Limits are NaN where only moments were kept, see `keep` of
        `fit`. No rows for a model without items.

    Raises
    ------
    ValueError
        If the level is out of range.

    Notes
    -----
    The range of noisy effects is biased upward: `dif_range` is far from zero even where no family
    differs. Compare items with each other, not with zero.
    """
    draws = posterior["posterior"].to_dataset()
    known = {name: _known(posterior, name) for name in ITEM_VARIABLES}
    if "dif" in draws:
        known["dif_range"] = (draws["dif"].max("family") - draws["dif"].min("family"),)
    else:
        known["dif_range"] = _known(posterior, "dif_range")
    parts = {name: values for name, values in known.items() if values}
    if not parts:
        return pd.DataFrame({"item": pd.Series(dtype="str")})
    table = _labels(next(iter(parts.values()))[0], ("item",))
    if n is not None:
        table["n"] = [n[str(item)] for item in table["item"]]
    columns = [
        _summary_of(values, name, level=level).rename(
            columns={part: f"{name}_{part}" for part in ("sd", "low", "high")}
        )
        for name, values in parts.items()
    ]
    return pd.concat([table, *columns], axis=1)


def dif_table(posterior: xr.DataTree, *, level: float = 0.95) -> pd.DataFrame:
    """Return one row an item and family: the effect of the family on the item.

    Parameters
    ----------
    posterior : DataTree
        With the group `posterior`.
    level : float in (0, 1)
        Of the equal-tailed intervals.

    Returns
    -------
    DataFrame, n_item x n_family rows
        `item`; `family`; `effect` (logit, posterior mean); `sd`; `low`, `high`, NaN where only
        moments were kept. No rows for a model without families.

    Raises
    ------
    ValueError
        If the level is out of range.
    """
    known = _known(posterior, "dif")
    if not known:
        return pd.DataFrame({"item": pd.Series(dtype="str"), "family": pd.Series(dtype="str")})
    values = tuple(part.transpose(..., "item", "family") for part in known)
    labels = _labels(values[0], ("item", "family"))
    return pd.concat([labels, _summary_of(values, "effect", level=level)], axis=1)


def parameter_table(posterior: xr.DataTree, *, level: float = 0.95) -> pd.DataFrame:
    """Return one row a parameter that all models or items have in common: scales, effects.

    Parameters
    ----------
    posterior : DataTree
        With the group `posterior`.
    level : float in (0, 1)
        Of the equal-tailed intervals.

    Returns
    -------
    DataFrame
        `parameter` (`name`, or `name[label]`); `estimate` (the mean); `sd`; `low`, `high`, NaN where
        only moments were kept. Those over items, models, factors or cells are not among them.

    Raises
    ------
    ValueError
        If the level is out of range.
    """
    names = set(map(str, posterior["posterior"].data_vars))
    if MEANS in posterior.children:
        names.update(map(str, posterior[MEANS].data_vars))
    many = {"item", "model", "factor", "cell", "probe"}
    rows = []
    for name in sorted(names):
        values = _known(posterior, name)
        others = [dim for dim in values[0].dims if dim not in _SAMPLE]
        if many.intersection(map(str, others)):
            continue
        summary = _summary_of(values, "estimate", level=level)
        summary.insert(0, "parameter", _names(values[0], name, others))
        rows.append(summary)
    columns = ["parameter", "estimate", "sd", "low", "high"]
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=columns)


def _names(values: xr.DataArray, name: str, dims: list[object]) -> list[str]:
    if not dims:
        return [name]
    labels = _labels(values, tuple(map(str, dims)))
    return [f"{name}[{', '.join(map(str, row))}]" for row in labels.itertuples(index=False)]


def _labels(values: xr.DataArray, dims: tuple[str, ...]) -> pd.DataFrame:
    """Return the labels of every cell, the last dimension fastest."""
    coordinates = [
        values[dim].to_numpy() if dim in values.coords else np.arange(values.sizes[dim])
        for dim in dims
    ]
    grid = np.meshgrid(*[np.arange(len(labels)) for labels in coordinates], indexing="ij")
    return pd.DataFrame(
        {
            dim: pd.Series([str(label) for label in labels[index.ravel()]], dtype="str")
            for dim, labels, index in zip(dims, coordinates, grid, strict=True)
        }
    )


def _known(posterior: xr.DataTree, name: str) -> tuple[xr.DataArray, ...]:
    """Return the draws of a variable; its mean and standard deviation; or nothing."""
    draws = posterior["posterior"].to_dataset()
    if name in draws:
        return (draws[name],)
    if MEANS in posterior.children and name in posterior[MEANS].to_dataset():
        return posterior[MEANS].to_dataset()[name], posterior[SDS].to_dataset()[name]
    return ()


def _summary_of(values: tuple[xr.DataArray, ...], name: str, *, level: float) -> pd.DataFrame:
    """Return mean, sd and limits; the latter need draws."""
    if len(values) == 1:
        return _summary(values[0], name, level=level)
    mean, sd = (part.to_numpy().ravel() for part in values)
    return pd.DataFrame({name: mean, "sd": sd, "low": np.nan, "high": np.nan})


def _summary(values: xr.DataArray, name: str, *, level: float) -> pd.DataFrame:
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level}")
    others = [dim for dim in values.dims if dim not in _SAMPLE]
    draws = values.transpose(*_SAMPLE, *others).to_numpy()
    flat = draws.reshape(draws.shape[0] * draws.shape[1], -1)
    low, high = np.quantile(flat, [0.5 - level / 2, 0.5 + level / 2], axis=0)
    return pd.DataFrame(
        {name: flat.mean(axis=0), "sd": flat.std(axis=0, ddof=1), "low": low, "high": high}
    )
