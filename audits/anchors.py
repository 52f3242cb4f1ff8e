"""Source-by-easiness cells, low-DIF anchors within them, and exact weights (P0, 3.3 and C.5)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neartie.data.errors import DataError

type Floats = NDArray[np.float64]
type ConstantItems = Literal["keep", "drop"]

STRATA = 4


def exact_fraction(value: float | str | Fraction) -> Fraction:
    """Return the fraction that a decimal number is written as: 0.7 is 7/10, not a double.

    Parameters
    ----------
    value : float, str or Fraction

    Returns
    -------
    Fraction

    Raises
    ------
    ValueError
        If it is not a finite number.

    Examples
    --------
    >>> exact_fraction(0.7) * 45
    Fraction(63, 2)
    """
    try:
        return value if isinstance(value, Fraction) else Fraction(str(value).strip())
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"expected a number such as 0.5 or 1/3, got {value!r}") from None


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Cells:
    """Every item's source-by-easiness cell.

    Attributes
    ----------
    code : (n_item,) int
        Position of the item's cell.
    source : (n_cell,) str
    stratum : (n_cell,) int
        0 holds the hardest items of the source.
    size : (n_cell,) int
        Number of items; at least one.
    """

    code: NDArray[np.intp]
    source: tuple[str, ...]
    stratum: NDArray[np.intp]
    size: NDArray[np.intp]

    @property
    def names(self) -> list[str]:
        """`source|stratum` of every cell."""
        return [f"{s}|{t}" for s, t in zip(self.source, self.stratum.tolist(), strict=True)]


def build_cells(
    source: ArrayLike,
    easiness: Floats,
    *,
    strata: int = STRATA,
    index: NDArray[np.integer] | None = None,
) -> Cells:
    """Return near-equal easiness strata within every source.

    Parameters
    ----------
    source : (n_item,) str
    easiness : (n_item,) float, logit
        -inf and inf are allowed (items that every model misses or solves).
    strata : int
        How many; a source with fewer items has one stratum an item.
    index : (n_item,) int, optional
        Original item index, which breaks ties. Row number when left out.

    Returns
    -------
    Cells
        The first `n mod strata` strata of a source are one item longer.

    Raises
    ------
    DataError
        If an easiness is NaN.

    References
    ----------
    P0, appendix C.5, step 2e.

    Examples
    --------
    >>> build_cells(["s"] * 5, np.array([0.3, -1.0, 2.0, 0.1, 0.3])).code
    array([1, 0, 3, 0, 2])
    """
    sources = np.asarray(source).astype(str)
    if np.isnan(easiness).any():
        raise DataError(f"item {int(np.argmax(np.isnan(easiness))) + 1} has no easiness")
    ties = np.arange(len(sources)) if index is None else np.asarray(index)
    code = np.empty(len(sources), dtype=np.intp)
    names: list[str] = []
    numbers: list[int] = []
    sizes: list[int] = []
    for name in np.unique(sources):
        members = np.flatnonzero(sources == name)
        ordered = members[np.lexsort((ties[members], easiness[members]))]
        for number, part in enumerate(np.array_split(ordered, min(strata, len(ordered)))):
            code[part] = len(names)
            names.append(str(name))
            numbers.append(number)
            sizes.append(len(part))
    return Cells(
        code=code,
        source=tuple(names),
        stratum=np.array(numbers, dtype=np.intp),
        size=np.array(sizes, dtype=np.intp),
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Subtest:
    """Items that stand for their cells.

    Attributes
    ----------
    cells : Cells
    selected : (n_item,) bool
    pool : (n_item,) bool
        Items that could have been selected; matched-random subtests are drawn from them.
    kept : (n_cell,) int
        Selected items of each cell; at least one.
    """

    cells: Cells
    selected: NDArray[np.bool_]
    pool: NDArray[np.bool_]
    kept: NDArray[np.intp]

    @property
    def denominator(self) -> int:
        """Least common multiple of `kept`: every weight is a whole number over it."""
        return math.lcm(*(int(k) for k in np.unique(self.kept)))

    def weights(self) -> list[Fraction]:
        """Return the exact weight of every item: cell size over kept items, or 0 (P0, eq 6)."""
        size, kept = self.cells.size.tolist(), self.kept.tolist()
        by_cell = [Fraction(n, k) for n, k in zip(size, kept, strict=True)]
        chosen = zip(self.cells.code.tolist(), self.selected.tolist(), strict=True)
        return [by_cell[c] if is_selected else Fraction(0) for c, is_selected in chosen]


def select_anchors(
    cells: Cells,
    dif_range: Floats,
    *,
    alpha: float | str | Fraction = Fraction(1, 2),
    constant: NDArray[np.bool_] | None = None,
    constant_items: ConstantItems = "keep",
    index: NDArray[np.integer] | None = None,
) -> Subtest:
    r"""Return the items with the least residual DIF of every cell.

    Parameters
    ----------
    cells : Cells
    dif_range : (n_item,) float, logit
    alpha : number in (0, 1]
        Fraction to retain. Read as the decimal number that it is written as.
    constant : (n_item,) bool, optional
        Items with the same answer from every model of the fitting half.
    constant_items : {"keep", "drop"}
        Their residual effects are zero, so that they are always kept as anchors (the paper).
        `drop` takes them out of anchors and controls alike, except in a cell that holds nothing
        else; the cell's mass does not change.
    index : (n_item,) int, optional
        Original item index, which breaks ties.

    Returns
    -------
    Subtest
        :math:`k_c = \max\{1, \mathrm{round}(\alpha n_c)\}` items a cell, half to even, with
        :math:`n_c` counted over the items that can be selected.

    Raises
    ------
    ValueError
        If alpha does not lie in (0, 1].

    References
    ----------
    P0, eqs 6 and 7, appendix C.5.

    Examples
    --------
    >>> cells = build_cells(["s"] * 4, np.zeros(4), strata=1)
    >>> select_anchors(cells, np.array([0.3, 0.1, 0.2, 0.1])).selected
    array([False,  True, False,  True])
    """
    share = exact_fraction(alpha)
    if not 0 < share <= 1:
        raise ValueError(f"alpha must lie in (0, 1], got {alpha}")
    if constant_items not in ("keep", "drop"):
        raise ValueError(f"constant_items must be 'keep' or 'drop', got {constant_items!r}")
    n_cell = len(cells.size)
    pool = np.ones(len(dif_range), dtype=bool)
    if constant_items == "drop" and constant is not None:
        usable = np.bincount(cells.code[~constant], minlength=n_cell)
        pool = ~constant | (usable[cells.code] == 0)
    available = np.bincount(cells.code[pool], minlength=n_cell)
    kept = np.array([max(1, round(share * int(n))) for n in available], dtype=np.intp)
    ties = np.arange(len(dif_range)) if index is None else np.asarray(index)
    order = np.lexsort((ties, dif_range, ~pool, cells.code))
    first = np.cumsum(cells.size) - cells.size
    position = np.arange(len(order)) - first[cells.code[order]]
    selected = np.zeros(len(order), dtype=bool)
    selected[order] = position < kept[cells.code[order]]
    return Subtest(cells=cells, selected=selected, pool=pool, kept=kept)


def jaccard(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float:
    """Return the overlap of two item sets: size of the intersection over that of the union.

    Examples
    --------
    >>> jaccard(np.array([True, True, False]), np.array([False, True, True]))
    0.3333333333333333
    """
    return int((first & second).sum()) / int((first | second).sum())
