"""What each draw of a posterior expects of every model: the share of the items it would solve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import expit

type Floats = NDArray[np.float64]

_SAMPLE = ("chain", "draw")
#: What is to be said wherever models are compared by a posterior whose abilities are an offset.
FIXED_ABILITIES: Final = (
    "abilities are fixed by the offset, so that intervals of models' scores and of their "
    "differences leave out how uncertain abilities are: they are too narrow to rank models by"
)


def expected_scores(posterior: xr.DataTree) -> xr.DataArray:
    r"""Return the expected score of every model under every draw.

    Parameters
    ----------
    posterior : DataTree
        Of a 2PL, or of a multidimensional model with or without family effects. Of the group
        `posterior` it reads `easiness`, `loading`, `ability`, `dif`, or `discrimination`,
        `difficulty` and `ability`; of `constant_data` the family of every model
        (`model_family`, a position on the dimension `family`) and an `offset`, where the model
        has them.

    Returns
    -------
    (chain, draw, model) float in [0, 1], proportion
        :math:`\frac1n \sum_i P_{im}` over all items, answered or not, so that models are compared
        on the same test.

    Raises
    ------
    ValueError
        If the posterior has no items and models, so that there is no score to expect.

    Notes
    -----
    It does not depend on the rotation of loadings and abilities. One draw at a time is held: the
    memory is that of n_item x n_model numbers.

    Examples
    --------
    >>> draws = xr.Dataset(
    ...     {
    ...         "ability": (("chain", "draw", "model"), [[[0.0, 1.0]]]),
    ...         "discrimination": (("chain", "draw", "item"), [[[1.0, 2.0]]]),
    ...         "difficulty": (("chain", "draw", "item"), [[[0.0, 0.0]]]),
    ...     },
    ...     coords={"model": ["a", "b"], "item": ["q1", "q2"]},
    ... )
    >>> expected_scores(xr.DataTree.from_dict({"posterior": draws})).to_numpy().round(3)
    array([[[0.5  , 0.806]]])
    """
    draws = posterior["posterior"].to_dataset()
    predictor = linear_predictor(posterior)
    n_chain, n_draw = draws.sizes["chain"], draws.sizes["draw"]
    models = _models(posterior)
    scores = np.empty((n_chain, n_draw, len(models)))
    for chain in range(n_chain):
        for draw in range(n_draw):
            eta = predictor(chain, draw)
            scores[chain, draw] = expit(eta, out=eta).mean(axis=0)
    return xr.DataArray(
        scores,
        dims=(*_SAMPLE, "model"),
        coords={"chain": draws["chain"], "draw": draws["draw"], "model": models},
        name="expected_score",
    )


type Predictor = Callable[[int, int], Floats]


def linear_predictor(posterior: xr.DataTree) -> Predictor:
    """Return the function that gives the logit of every answer under one draw.

    Parameters
    ----------
    posterior : DataTree
        As in `expected_scores`.

    Returns
    -------
    callable
        Takes the positions of a chain and of a draw, and returns an (n_item, n_model) array of
        its own, logit.

    Raises
    ------
    ValueError
        If the posterior has no items and models.
    """
    draws = posterior["posterior"].to_dataset()
    parts = [
        part
        for part in (_ability(draws), _easiness(draws), _effects(posterior), _offset(posterior))
        if part is not None
    ]
    if not parts:
        raise ValueError("the posterior holds no items and models: there is no score to expect")
    shape = draws.sizes["item"], len(_models(posterior))

    def predictor(chain: int, draw: int) -> Floats:
        eta = np.zeros(shape)
        for part in parts:
            eta += part(chain, draw)
        return eta

    return predictor


def _ability(draws: xr.Dataset) -> Predictor | None:
    if "loading" in draws:
        loading = draws["loading"].transpose(*_SAMPLE, "item", "factor").to_numpy()
        ability = draws["ability"].transpose(*_SAMPLE, "factor", "model").to_numpy()
        return lambda chain, draw: loading[chain, draw] @ ability[chain, draw]
    if "ability" not in draws or "item" not in draws.dims:
        return None
    theta = draws["ability"].transpose(*_SAMPLE, "model").to_numpy()[..., None, :]
    slope, difficulty = _column(draws, "discrimination", 1.0), _column(draws, "difficulty", 0.0)
    return lambda chain, draw: slope[chain, draw] * (theta[chain, draw] - difficulty[chain, draw])


def _column(draws: xr.Dataset, name: str, absent: float) -> Floats:
    """Return a variable of items as (chain, draw, item, 1), or a number where there is none."""
    if name not in draws:
        return np.full((draws.sizes["chain"], draws.sizes["draw"], 1, 1), absent)
    return np.asarray(draws[name].transpose(*_SAMPLE, "item").to_numpy()[..., None])


def _easiness(draws: xr.Dataset) -> Predictor | None:
    if "easiness" not in draws:
        return None
    easiness = draws["easiness"].transpose(*_SAMPLE, "item").to_numpy()[..., None]
    return lambda chain, draw: easiness[chain, draw]


def _effects(posterior: xr.DataTree) -> Predictor | None:
    draws = posterior["posterior"].to_dataset()
    if "dif" not in draws:
        return None
    effects = draws["dif"].transpose(*_SAMPLE, "item", "family").to_numpy()
    family = posterior["constant_data"]["model_family"].to_numpy()
    return lambda chain, draw: effects[chain, draw][:, family]


def _offset(posterior: xr.DataTree) -> Predictor | None:
    if "constant_data" not in posterior.children or "offset" not in posterior["constant_data"]:
        return None
    offset = posterior["constant_data"]["offset"].transpose("item", "model").to_numpy()
    return lambda chain, draw: offset


def _models(posterior: xr.DataTree) -> NDArray[np.str_]:
    for group in ("posterior", "constant_data"):
        if group in posterior.children and "model" in posterior[group].coords:
            return np.asarray(posterior[group]["model"].to_numpy())
    raise ValueError("the posterior holds no items and models: there is no score to expect")
