"""One audit half made ready for purifications under any family labels (P0, C.2 and C.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neartie.inference.residual_dif import ResidualDif
from neartie.inference.spectral import (
    OFFSET_LIMIT,
    Decomposition,
    WorkingResponses,
    spectral_coordinates,
    spectral_offset,
    working_responses,
)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Patterns:
    """Distinct response rows. Items that were answered alike get the same fit to the last bit,
    so that their order is decided by the stated tie rule and never by rounding."""

    row: NDArray[np.intp]  # one item of each pattern
    of_item: NDArray[np.intp]  # pattern of each item

    @classmethod
    def find(cls, values: NDArray[np.int8]) -> Patterns:
        """Return the patterns of an items x models matrix."""
        packed = np.packbits(values == 1, axis=1)
        keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
        _, row, of_item = np.unique(keys, return_index=True, return_inverse=True)
        return cls(row=row, of_item=of_item.ravel())

    def count(self, selected: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return how many selected items each pattern has."""
        return np.bincount(self.of_item[selected], minlength=len(self.row))

    def spread(self, fit: ResidualDif) -> ResidualDif:
        """Return the fit of the patterns as one of the items."""
        of = self.of_item
        return ResidualDif(
            families=fit.families,
            family_size=fit.family_size,
            easiness=fit.easiness[of],
            effects=fit.effects[of],
            constant=fit.constant[of],
            iterations=fit.iterations[of],
            last_update=fit.last_update[of],
            converged=fit.converged,
        )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PreparedHalf:
    """What every purification of one audit half shares, whatever the family labels.

    Attributes
    ----------
    patterns : Patterns
        Of the items' answers.
    values : (n_pattern, n_model) int8
    working : WorkingResponses
        Of the patterns.
    """

    patterns: Patterns
    values: NDArray[np.int8]
    working: WorkingResponses


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Offset:
    """Spectral offset learned from some items.

    Attributes
    ----------
    values : (n_pattern, n_model) float, logit
    k : int
        Its dimension.
    """

    values: NDArray[np.float64]
    k: int


def prepare_half(
    values: NDArray[np.int8], *, order: NDArray[np.intp] | None = None
) -> PreparedHalf:
    """Return what purifications of one audit half share.

    Parameters
    ----------
    values : (n_item, n_model) int8
        Complete responses.
    order : (n_model,) int, optional
        Order of the prepared models.

    Returns
    -------
    PreparedHalf

    Raises
    ------
    DataError
        If cells are missing.
    """
    patterns = Patterns.find(values)
    columns = np.arange(values.shape[1]) if order is None else order
    distinct = np.take(values[patterns.row], columns, axis=1)
    return PreparedHalf(patterns=patterns, values=distinct, working=working_responses(distinct))


def half_offset(
    prepared: PreparedHalf,
    selected: NDArray[np.bool_],
    *,
    dimension: int,
    limit: float = OFFSET_LIMIT,
    decomposition: Decomposition = "exact",
    rng: np.random.Generator | int | None = None,
) -> Offset:
    """Return the offset of all items from the directions of the selected ones.

    Parameters
    ----------
    prepared : PreparedHalf
    selected : (n_item,) bool
    dimension, limit, decomposition, rng
        See `purify_anchors`.

    Returns
    -------
    Offset
        Family-blind: it depends on family labels only by way of the selected items.
    """
    coordinates = spectral_coordinates(
        prepared.working.response,
        dimension=dimension,
        weight=prepared.patterns.count(selected),
        decomposition=decomposition,
        rng=rng,
    )
    offset = spectral_offset(prepared.working, coordinates, limit=limit)
    return Offset(values=offset, k=coordinates.rank)
