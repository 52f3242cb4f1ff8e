"""The spectral offset estimated again from bootstrap samples of owners."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from threadpoolctl import threadpool_limits

from neartie.data.errors import DataError
from neartie.inference.spectral import OFFSET_LIMIT, WorkingResponses

type Floats = NDArray[np.float64]
type Whole = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class BootstrapOffset:
    """An offset as the product that it is: small enough to keep hundreds.

    Attributes
    ----------
    times : (n_model,) int
        How often each model's owner was drawn; 0 for models that did not count.
    loading : (n_item, k) float, logit
        Of the items on the sample's directions.
    coordinates : (k, n_model) float
        Of all models, drawn or not.
    dimension : int
        What was asked for; k is less where the sample has a lower rank.
    limit : float, logit
        To which the product is truncated.
    """

    times: Whole
    loading: Floats
    coordinates: Floats
    dimension: int
    limit: float

    @property
    def k(self) -> int:
        """Number of directions."""
        return len(self.coordinates)

    def values(self, models: Whole | slice = slice(None)) -> Floats:
        """Return the offset of chosen models, or of all.

        Parameters
        ----------
        models : (n_chosen,) int or slice
            Positions.

        Returns
        -------
        (n_item, n_chosen) float, logit
        """
        found = self.loading @ self.coordinates[:, models]
        return np.asarray(np.clip(found, -self.limit, self.limit, out=found))

    def of_items(self, rows: Whole) -> BootstrapOffset:
        """Return the offset of other items than it was made for, given by their rows.

        Where equal response patterns stand for one row, this gives every item its own.
        """
        return replace(self, loading=self.loading[rows])


def bootstrap_offsets(
    working: WorkingResponses,
    *,
    owner: ArrayLike,
    dimension: int,
    weight: NDArray[np.integer] | None = None,
    limit: float = OFFSET_LIMIT,
    n: int = 100,
    rng: np.random.Generator | int | None = None,
) -> Iterator[BootstrapOffset]:
    r"""Return offsets of bootstrap samples of owners, one after the other.

    Parameters
    ----------
    working : WorkingResponses
        Of all items and models. Shares and scales of items stay as they are.
    owner : (n_model,) str
        Whole owners are drawn, as many as there are, with replacement.
    dimension : int
        K. Cut to the rank of a sample, which `k` of the offset tells.
    weight : (n_item,) int, optional
        How often each row counts in the directions; 0 leaves an item out. `PreparedHalf` of the
        audit has one row for each response pattern, and these counts for its selected items.
    limit : float, logit
        Offsets are truncated to this size.
    n : int
        Number of samples.
    rng : Generator, int or None
        Owners are drawn in the order of their names: the order of models changes nothing.

    Returns
    -------
    iterator of BootstrapOffset

    Raises
    ------
    DataError
        If the number of owners is not that of models, there is one owner only, or no item is
        left.
    ValueError
        If the dimension or the number of samples is below 1.

    Notes
    -----
    With X the working responses, A the items that count and B the columns of the owners drawn
    (twice where drawn twice), :math:`X_{AB} = U S V^T` is cut to K directions. Items have the
    loadings :math:`L = X_{\cdot B} V`, each model the coordinates
    :math:`\theta_m = S^{-1} U^T X_{Am}`, and the offset is
    :math:`\mathrm{clip}(L_i \cdot \theta_m / s_i)`. If every owner is drawn once, :math:`\theta_m`
    is column m of :math:`V^T` and the offset P0's own. Models that were not drawn are projected on
    the directions of those that were.

    What varies is thus what the choice of owners contributes to the directions, which the
    residual-DIF model with a fixed offset takes as known. What the answers of given models
    contribute does not.

    References
    ----------
    P0, eqs 12-17. Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 8, for
    resampling whole groups.

    Examples
    --------
    >>> from neartie.inference.spectral import working_responses
    >>> answers = np.array([[1, 0, 1, 1], [0, 0, 1, 1], [1, 0, 0, 1]], dtype=np.int8)
    >>> samples = bootstrap_offsets(
    ...     working_responses(answers), owner=list("aabc"), dimension=1, n=3, rng=1
    ... )
    >>> [sample.times.tolist() for sample in samples]
    [[1, 1, 2, 0], [0, 0, 3, 0], [1, 1, 1, 1]]
    """
    for name, value in (("dimension", dimension), ("n", n)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
    n_model = working.response.shape[1]
    names, code = np.unique(np.asarray(owner).astype(str), return_inverse=True)
    if len(code) != n_model:
        raise DataError(f"{n_model} models have {len(code)} owners")
    if len(names) < 2:
        raise DataError(
            f"a bootstrap of owners needs at least two, but all models belong to {str(names[0])!r}"
        )
    if weight is not None and not np.any(weight):
        raise DataError("no item is left to estimate model coordinates from")
    drawn = np.random.default_rng(rng).multinomial(
        len(names), np.full(len(names), 1 / len(names)), size=n
    )
    return _offsets(working, drawn[:, code], dimension=dimension, weight=weight, limit=limit)


def _offsets(
    working: WorkingResponses,
    times: Whole,
    *,
    dimension: int,
    weight: NDArray[np.integer] | None,
    limit: float,
) -> Iterator[BootstrapOffset]:
    products = model_products(working, weight=weight)
    for sample in times:
        yield resampled_offset(working, products, sample, dimension=dimension, limit=limit)


def model_products(
    working: WorkingResponses, *, weight: NDArray[np.integer] | None = None
) -> Floats:
    """Return the inner products of models over the items that count, (n_model, n_model).

    Parameters
    ----------
    working : WorkingResponses
    weight : (n_item,) int, optional
        How often each row counts.

    Returns
    -------
    (n_model, n_model) float
    """
    rows = working.response
    if weight is not None:
        kept = np.flatnonzero(weight)
        rows = rows[kept] * np.sqrt(weight[kept].astype(np.float64))[:, None]
    return np.asarray(rows.T @ rows)


def resampled_offset(
    working: WorkingResponses,
    products: Floats,
    times: Whole,
    *,
    dimension: int,
    limit: float = OFFSET_LIMIT,
) -> BootstrapOffset:
    r"""Return the offset from models that count a given number of times.

    Parameters
    ----------
    working : WorkingResponses
    products : (n_model, n_model) float
        As `model_products` gives them.
    times : (n_model,) int
        How often each model counts.
    dimension : int
    limit : float, logit

    Returns
    -------
    BootstrapOffset

    Notes
    -----
    With W the counts and G the products, the leading eigenvectors of :math:`W^{1/2} G W^{1/2} = Q
    S^2 Q^T` are all that is needed: :math:`L = X W^{1/2} Q`, :math:`\Theta = S^{-2} Q^T W^{1/2} G`.
    """
    kept = np.flatnonzero(times)
    root = np.sqrt(times[kept].astype(np.float64))
    wanted = min(dimension, len(kept))
    # many small steps: further threads only slow it, see `spectral_coordinates`
    with threadpool_limits(limits=1, user_api="blas"):
        squares, vectors = eigh(
            products[np.ix_(kept, kept)] * np.outer(root, root),
            subset_by_index=[len(kept) - wanted, len(kept) - 1],
            overwrite_a=True,
            check_finite=False,
        )
    squares, vectors = squares[::-1], vectors[:, ::-1] * root[:, None]
    # as in `spectral_coordinates`: eigenvalues are good to eps times the largest one
    size = max(len(working.response), len(kept))
    rank = int((squares > squares[0] * size * np.finfo(np.float64).eps).sum())
    squares, vectors = squares[:rank], vectors[:, :rank]
    loading = working.response[:, kept] @ vectors
    return BootstrapOffset(
        times=times,
        loading=loading / working.scale[:, None],
        coordinates=vectors.T @ products[kept] / squares[:, None],
        dimension=dimension,
        limit=limit,
    )
