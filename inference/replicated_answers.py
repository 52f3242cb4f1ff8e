"""Answers as a model would give them again: one matrix a draw, where there were answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import expit

from neartie.data.errors import DataError
from neartie.inference.expected_scores import linear_predictor

type Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ObservedAnswers:
    """The answers that a posterior was found from.

    Attributes
    ----------
    values : (n_item, n_model) int8
        1 right, 0 wrong, -1 missing.
    items, models : tuple of str
        Ids.
    families : tuple of str
        Of the models; empty where the model of the answers knows none.
    """

    values: NDArray[np.int8]
    items: tuple[str, ...]
    models: tuple[str, ...]
    families: tuple[str, ...]


def observed_answers(tree: xr.DataTree, *, group: str = "posterior") -> ObservedAnswers:
    """Return the answers that stand beside the draws.

    Parameters
    ----------
    tree : DataTree
        As `fit` or `draw_prior` gives it.
    group : str
        Where the draws are.

    Returns
    -------
    ObservedAnswers

    Raises
    ------
    DataError
        If the tree holds no answers.
    """
    if "observed_data" not in tree.children or "score" not in tree["observed_data"]:
        raise DataError("the fit holds no answers (`score` in `observed_data`) to replicate")
    score = tree["observed_data"].to_dataset()["score"]
    constant = tree["constant_data"].to_dataset()
    draws = tree[group].to_dataset()
    items, models = (
        _labels("item", draws, constant, score),
        _labels("model", draws, constant, score),
    )
    if set(score.dims) == {"item", "model"}:
        values = score.transpose("item", "model").to_numpy().astype(np.int8)
    else:
        values = np.full((len(items), len(models)), -1, dtype=np.int8)
        rows, columns = constant["cell_item"].to_numpy(), constant["cell_model"].to_numpy()
        values[rows, columns] = score.to_numpy()
    families: tuple[str, ...] = ()
    if "model_family" in constant:
        names = _labels("family", draws, constant)
        families = tuple(names[place] for place in constant["model_family"].to_numpy())
    return ObservedAnswers(values=values, items=items, models=models, families=families)


def replicate_answers(
    tree: xr.DataTree,
    *,
    positions: NDArray[np.intp],
    observed: NDArray[np.bool_],
    rng: np.random.Generator,
    group: str = "posterior",
) -> Iterator[NDArray[np.int8]]:
    """Yield the answers that each of some draws would give.

    Parameters
    ----------
    tree : DataTree
    positions : (n,) int
        Of the draws, chain after chain.
    observed : (n_item, n_model) bool
        Where to draw an answer.
    rng : Generator
    group : str
        Where the draws are.

    Yields
    ------
    (n_item, n_model) int8
        0 and 1; 0 where nothing was observed.

    Notes
    -----
    One matrix at a time is held. A cell uses the same random number whatever is missing
    elsewhere.
    """
    groups = {"posterior": tree[group].to_dataset(), "constant_data": tree["constant_data"]}
    predictor = linear_predictor(xr.DataTree.from_dict(groups))
    n_draw = tree[group].sizes["draw"]
    for position in positions:
        chain, draw = divmod(int(position), n_draw)
        logit = predictor(chain, draw)
        chance = expit(logit, out=logit)
        yield ((rng.random(chance.shape) < chance) & observed).astype(np.int8)


def _labels(dim: str, *sources: xr.Dataset | xr.DataArray) -> tuple[str, ...]:
    for source in sources:
        if dim in source.coords:
            return tuple(str(label) for label in source[dim].to_numpy())
    raise DataError(f"the fit does not name its {dim}s")
