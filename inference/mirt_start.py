"""Where the climb to the multidimensional mode starts: one decomposition, or a draw of the priors."""

from __future__ import annotations

from typing import Final

import numpy as np

from neartie.data.errors import DataError
from neartie.inference.mirt_objective import Floats, PenalisedMirt, Point, along_constraint
from neartie.inference.spectral import spectral_coordinates

_LARGEST_LOADING: Final = 3.0


def spectral_start(problem: PenalisedMirt) -> Point:
    r"""Return abilities from the leading singular vectors, and loadings that go with them.

    Parameters
    ----------
    problem : PenalisedMirt

    Returns
    -------
    Point
        No effects of families.

    Notes
    -----
    P0's decomposition of standardised answers (eqs 12 to 15), a missing answer standing at its
    item's mean. Singular vectors have unit length: abilities are :math:`\sqrt{M}` times those, so
    that their mean square is 1. Where the answers have a smaller rank than there are dimensions,
    the others start from small waves, because zero would be a saddle.

    References
    ----------
    P0, appendix C.2.
    """
    n = problem.observed.sum(axis=1)
    share = (problem.right.sum(axis=1) + 0.5) / (n + 1.0)
    scale = np.sqrt(share * (1 - share))
    response = np.where(problem.observed, (problem.right - share[:, None]) / scale[:, None], 0.0)
    k, n_model = problem.dimension, problem.n_model
    ability = np.empty((k, n_model))
    place = (np.arange(n_model) + 0.5) / n_model
    ability[:] = 0.1 * np.cos(np.pi * (np.arange(k)[:, None] + 1) * place)
    try:
        vectors = spectral_coordinates(response, dimension=k).vectors
        ability[: vectors.shape[1]] = np.sqrt(n_model) * vectors.T
    except DataError:
        # Every item has equal answers: there is nothing to decompose.
        pass
    item = np.zeros((problem.n_item, len(problem.mean)))
    item[:, :k] = np.clip(
        response @ ability.T / (n_model * scale[:, None]), -_LARGEST_LOADING, _LARGEST_LOADING
    )
    item[:, k] = np.log(share / (1 - share))
    return Point(item=item, ability=ability)


def random_start(problem: PenalisedMirt, rng: np.random.Generator) -> Point:
    """Return a draw from the priors."""
    normal: Floats = rng.normal(size=(problem.n_item, len(problem.mean)))
    item = problem.mean + normal / np.sqrt(problem.precision)
    ability = rng.normal(size=(problem.dimension, problem.n_model))
    return Point(item=along_constraint(problem, item), ability=ability)
