"""What the 2PL's Gibbs sampler works on: the model's options, its data by both sides, a point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_two_pl_items import ItemPrior
from neartie.inference.gibbs_two_pl_kernel import Cells
from neartie.models.priors import TwoPLPriors

type Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Problem:
    """A two-parameter model and its data.

    Attributes
    ----------
    discrimination, hierarchical
        As in `build_two_pl`.
    standard : bool
        Whether the model's variable is `ability_standard`.
    priors : TwoPLPriors
    family : (n_model,) int
        Position of each model's family; zeros without family means.
    n_family : int
        0 without family means.
    by_model, by_item : Cells
    """

    discrimination: str
    hierarchical: bool
    standard: bool
    priors: TwoPLPriors
    family: NDArray[np.intp]
    n_family: int
    by_model: Cells
    by_item: Cells

    @property
    def n_item(self) -> int:
        """Items."""
        return len(self.by_item.right_start) - 1

    @property
    def n_model(self) -> int:
        """Models."""
        return len(self.by_model.right_start) - 1


@dataclass(kw_only=True, slots=True, eq=False)
class Point:
    r"""Values of all unknowns, such that the logits are :math:`a_i\theta_m + d_i`.

    Attributes
    ----------
    ability : (n_model,) float
    first : (n_item,) float
        :math:`\log a_i`, zero where slopes are 1; :math:`a_i` for slopes of either sign.
    intercept : (n_item,) float, logit
        :math:`d_i`.
    family_mean : (n_family,) float, ability
        A single zero without family means.
    ability_scale : float
        Standard deviation of abilities within families.
    first_mean, first_scale : float
        Of the normal prior of `first`.
    second_mean, second_scale : float
        Of that of difficulties, or of intercepts where slopes are of either sign.
    """

    ability: Floats
    first: Floats
    intercept: Floats
    family_mean: Floats
    ability_scale: float
    first_mean: float
    first_scale: float
    second_mean: float
    second_scale: float

    def slope(self, problem: Problem) -> Floats:
        """Return the slopes, (n_item,)."""
        return self.first.copy() if problem.discrimination == "signed" else np.exp(self.first)

    def difficulty(self, problem: Problem) -> Floats:
        """Return the difficulties, (n_item,)."""
        return -self.intercept / self.slope(problem)

    def center(self, problem: Problem) -> Floats:
        """Return the prior mean of each ability, (n_model,)."""
        return self.family_mean[problem.family]

    def item_prior(self, problem: Problem) -> ItemPrior:
        """Return the prior of the items."""
        return ItemPrior(
            problem.discrimination == "signed",
            self.first_mean,
            self.first_scale,
            self.second_mean,
            self.second_scale,
        )


def cells_of(
    unit: NDArray[np.intp],
    other: NDArray[np.intp],
    right: NDArray[np.bool_],
    *,
    n_unit: int,
    n_other: int,
) -> Cells:
    """Return the answers of each unit.

    Parameters
    ----------
    unit, other : (n_cell,) int
        Whose answer it is, and to what (or the other way round).
    right : (n_cell,) bool
    n_unit, n_other : int

    Returns
    -------
    Cells

    Examples
    --------
    >>> cells = cells_of(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([True, False, True]),
    ...                  n_unit=2, n_other=2)
    >>> cells.complete, cells.right.tolist(), cells.seen_start.tolist()
    (False, [0, 1], [0, 2, 3])
    """
    order = np.lexsort((other, unit))
    unit, other, right = unit[order], other[order], right[order]

    def starts(of: NDArray[np.intp]) -> NDArray[np.int64]:
        return np.searchsorted(of, np.arange(n_unit + 1)).astype(np.int64)

    complete = len(unit) == n_unit * n_other
    seen = np.zeros(0, dtype=np.uint32) if complete else other.astype(np.uint32)
    return Cells(complete, starts(unit[right]), other[right].astype(np.uint32), starts(unit), seen)
