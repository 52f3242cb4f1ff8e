"""Spectral working model: what a family-blind low-rank model explains of the responses (P0, C.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from threadpoolctl import ThreadpoolController

from neartie.data.errors import DataError

type Floats = NDArray[np.float64]
type Decomposition = Literal["exact", "randomized"]

OFFSET_LIMIT = 6.0
POWER_ITERATIONS = 5


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class WorkingResponses:
    """Standardised responses (P0, eqs 12 and 13).

    Attributes
    ----------
    probability : (n_item,) float in (0, 1), probability
        Smoothed share of right answers.
    scale : (n_item,) float, probability
        Standard deviation of one answer at that probability.
    response : (n_item, n_model) float, standard deviations
    """

    probability: Floats
    scale: Floats
    response: Floats


def working_responses(values: NDArray[np.int8]) -> WorkingResponses:
    r"""Return the standardised working responses of complete right/wrong data.

    Parameters
    ----------
    values : (n_item, n_model) int8
        1 right, 0 wrong.

    Returns
    -------
    WorkingResponses

    Raises
    ------
    DataError
        If a cell is missing.

    Notes
    -----
    :math:`\hat p_i = (\sum_m Y_{im} + 1/2)/(M + 1)`, :math:`s_i = \sqrt{\hat p_i(1-\hat p_i)}`,
    :math:`X_{im} = (Y_{im} - \hat p_i)/s_i`.

    References
    ----------
    P0, eqs 12 and 13.

    Examples
    --------
    >>> working_responses(np.array([[1, 0, 1]], dtype=np.int8)).probability
    array([0.625])
    """
    if (values < 0).any():
        raise DataError(
            f"the spectral model needs complete responses, but {int((values < 0).sum())} cells "
            "are missing: drop the items or the models that they belong to"
        )
    probability = (values.sum(axis=1, dtype=np.float64) + 0.5) / (values.shape[1] + 1)
    scale = np.sqrt(probability * (1 - probability))
    return WorkingResponses(
        probability=probability,
        scale=scale,
        response=standardise(values, probability, scale),
    )


def standardise(values: NDArray[np.int8], probability: Floats, scale: Floats) -> Floats:
    """Return the responses in standard deviations from given probabilities (P0, eq 13)."""
    return np.asarray((values - probability[:, None]) / scale[:, None])


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Coordinates:
    """Leading right singular vectors of the working responses of some items.

    Attributes
    ----------
    vectors : (n_model, dimension) float
        Orthonormal columns; signs and, between equal singular values, rotation are arbitrary.
    singular_values : (dimension,) float, standard deviations
    rank : int
        Number of singular values above rounding, counted up to the dimension asked for.
    """

    vectors: Floats
    singular_values: Floats
    rank: int


def spectral_coordinates(
    response: Floats,
    *,
    dimension: int,
    weight: NDArray[np.integer] | None = None,
    decomposition: Decomposition = "exact",
    rng: np.random.Generator | int | None = None,
) -> Coordinates:
    """Return model coordinates: the leading right singular vectors (P0, eqs 14 and 15).

    Parameters
    ----------
    response : (n_item, n_model) float
        Working responses.
    dimension : int
        How many to return. Cut to the numerical rank.
    weight : (n_item,) int, optional
        How often each row counts; 0 leaves an item out.
    decomposition : {"exact", "randomized"}
        Exact: by the eigenvectors of the smaller Gram matrix. Randomized: Halko, Martinsson
        and Tropp with five power iterations, as printed.
    rng : Generator, int or None
        For the randomized decomposition only.

    Returns
    -------
    Coordinates

    Raises
    ------
    DataError
        If no item is left, or the responses are all zero.
    ValueError
        If the dimension is below 1.

    References
    ----------
    P0, appendix C.2. Halko, Martinsson and Tropp (2011), SIAM Review 53, 217-288,
    doi:10.1137/090771806.

    Examples
    --------
    >>> x = np.array([[1.0, -1.0, 0.0], [2.0, -2.0, 0.0]])
    >>> fit = spectral_coordinates(x, dimension=2)
    >>> fit.rank, abs(fit.vectors[:, 0]).round(4)
    (1, array([0.7071, 0.7071, 0.    ]))
    """
    if dimension < 1:
        raise ValueError(f"dimension must be at least 1, got {dimension}")
    rows = response
    if weight is not None:
        kept = np.flatnonzero(weight)
        root = np.sqrt(weight[kept].astype(np.float64))
        rows = response[kept] if (root == 1).all() else response[kept] * root[:, None]
    if not len(rows):
        raise DataError("no item is left to estimate model coordinates from")
    wanted = min(dimension, *rows.shape)
    if decomposition == "randomized":
        singular, vectors = _randomized(rows, wanted, np.random.default_rng(rng))
    else:
        singular, vectors = _exact(rows, wanted)
    # eigenvalues of a Gram matrix are good to eps times the largest one
    limit = singular[0] * np.sqrt(max(rows.shape) * np.finfo(np.float64).eps)
    rank = int((singular > limit).sum())
    if rank == 0:
        raise DataError("all working responses are zero: the models do not differ on any item")
    return Coordinates(vectors=vectors[:, :rank], singular_values=singular[:rank], rank=rank)


def _exact(rows: Floats, wanted: int) -> tuple[Floats, Floats]:
    by_model = rows.shape[1] <= rows.shape[0]
    gram = rows.T @ rows if by_model else rows @ rows.T
    n = len(gram)
    # many small steps with a barrier between them: a second BLAS thread only slows it, thirtyfold
    # where another process wants the core
    with _thread_pools().limit(limits=1, user_api="blas"):
        eigenvalues, eigenvectors = eigh(
            gram, subset_by_index=[n - wanted, n - 1], overwrite_a=True, check_finite=False
        )
    singular = np.sqrt(np.maximum(eigenvalues[::-1], 0.0))
    vectors = eigenvectors[:, ::-1]
    if not by_model:
        vectors = rows.T @ vectors / np.where(singular > 0, singular, 1.0)
    return singular, np.ascontiguousarray(vectors)


@cache
def _thread_pools() -> ThreadpoolController:
    """Return the libraries' thread pools, found once: to look for them takes milliseconds."""
    return ThreadpoolController()


def _randomized(rows: Floats, wanted: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    from sklearn.utils.extmath import randomized_svd

    _, singular, vectors = randomized_svd(
        rows,
        n_components=wanted,
        n_iter=POWER_ITERATIONS,
        random_state=int(rng.integers(2**32)),
    )
    return singular, np.ascontiguousarray(vectors.T)


def spectral_offset(
    working: WorkingResponses, coordinates: Coordinates, *, limit: float = OFFSET_LIMIT
) -> Floats:
    r"""Return the fixed offset of the residual-DIF model.

    Parameters
    ----------
    working : WorkingResponses
        Of all items, including those that the coordinates were not estimated from.
    coordinates : Coordinates
    limit : float, logit
        Offsets are truncated to this size.

    Returns
    -------
    (n_item, n_model) float, logit
        :math:`\mathrm{clip}(L_i \cdot \Theta_m / s_i, -6, 6)` with :math:`L = X\Theta`. It depends
        on the coordinates through the projector alone, so not on signs or rotation.

    References
    ----------
    P0, eqs 16 and 17.
    """
    loadings = working.response @ coordinates.vectors
    offset = loadings @ coordinates.vectors.T
    offset /= working.scale[:, None]
    return np.clip(offset, -limit, limit, out=offset)
