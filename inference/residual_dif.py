"""Residual item-by-family effects under a fixed offset (P0, 3.2 and C.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit

from neartie.data.errors import ConvergenceError, DataError
from neartie.inference.residual_dif_kernel import alternating_cycles, joint_newton

type Floats = NDArray[np.float64]

MAX_ITERATION = 200
# beyond it exponentials of offset and easiness could leave the range of a double
MAX_OFFSET = 300.0


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ResidualDif:
    """Residual family effects of every item.

    Attributes
    ----------
    families : tuple of str
        Names of the columns of `effects`, sorted.
    family_size : (n_family,) int
        Number of models behind each column.
    easiness : (n_item,) float, logit
        At the family mean. NaN for a constant item, which has no finite one (not after a fixed
        number of cycles, which leaves every item finite).
    effects : (n_item, n_family) float, logit
        Sum zero over families. Zero for a constant item: the limit of the penalised estimate.
    constant : (n_item,) int
        1 if every answer is right, -1 if every answer is wrong, 0 otherwise.
    iterations : (n_item,) int
        Newton steps, or cycles.
    last_update : (n_item,) float, logit
        Largest change of a parameter in the last step, or of an effect in the last cycle.
    converged : bool
        Whether the largest last update is below the tolerance.
    """

    families: tuple[str, ...]
    family_size: NDArray[np.intp]
    easiness: Floats
    effects: Floats
    constant: NDArray[np.int8]
    iterations: NDArray[np.int64]
    last_update: Floats
    converged: bool

    @property
    def dif_range(self) -> Floats:
        """(n_item,) float, logit: largest minus smallest effect (P0, eq 5)."""
        return np.asarray(self.effects.max(axis=1) - self.effects.min(axis=1))

    @property
    def order_easiness(self) -> Floats:
        """(n_item,) float, logit: easiness, with -inf and inf for items without a finite one."""
        infinite = np.where(self.constant > 0, np.inf, -np.inf)
        return np.where(np.isnan(self.easiness), infinite, self.easiness)


def family_codes(family: ArrayLike) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """Return the sorted family names and every model's position among them.

    Raises
    ------
    DataError
        If a label is blank, or fewer than two families are there: DIF compares families.

    Examples
    --------
    >>> family_codes(["Phi", "Llama", "Phi"])
    (('Llama', 'Phi'), array([1, 0, 1]))
    """
    labels = np.asarray(family, dtype=object)
    blank = [i for i, label in enumerate(labels) if not (isinstance(label, str) and label.strip())]
    if blank:
        raise DataError(
            f"the family label of model {blank[0] + 1} is blank: leave such models out, "
            "or give them a family"
        )
    names, codes = np.unique(labels.astype(str), return_inverse=True)
    if len(names) < 2:
        raise DataError(
            f"family effects compare at least two families, but all {len(labels)} models belong "
            f"to {str(names[0])!r}"
            if len(names)
            else "there are no models to compare"
        )
    return tuple(str(name) for name in names), codes.astype(np.intp)


def fit_residual_dif(
    values: NDArray[np.int8],
    *,
    family: ArrayLike,
    offset: Floats | float = 0.0,
    penalty: float = 1.0,
    cycles: int | None = None,
    tolerance: float = 1e-8,
    start: ResidualDif | None = None,
) -> ResidualDif:
    r"""Return the penalised estimate of easiness and family effects of every item.

    Parameters
    ----------
    values : (n_item, n_model) int8
        1 right, 0 wrong, -1 missing.
    family : (n_model,) str
        Family of each model; at least two.
    offset : (n_item, n_model) float, logit
        Fixed part of the linear predictor.
    penalty : float
        :math:`\lambda > 0` of P0, eq 3.
    cycles : int, optional
        Run exactly the printed alternation with this many cycles (the paper: 5). By default the
        optimum of eq 3, by Newton's method on all parameters of an item together.
    tolerance : float, logit
        Largest update at which an item is done.
    start : ResidualDif, optional
        An earlier fit of the same items and families to start from.

    Returns
    -------
    ResidualDif

    Raises
    ------
    DataError
        If shapes disagree, the penalty is not positive, an item has no answer, a family label is
        blank, or there is one family only.
    ConvergenceError
        If Newton's method did not reach the tolerance.

    Notes
    -----
    Minimises :math:`\sum_m [\log(1 + e^{\xi_{im}}) - Y_{im}\xi_{im}] + \frac\lambda2 \sum_f
    \delta_{if}^2` for every item i. At the optimum the effects sum to zero by themselves (add up
    their gradients), so that constraint (4) does not bind; it is a descent step of the printed
    alternation. Effects of a family with few models are shrunk towards zero: see `family_size`.

    References
    ----------
    P0, eqs 1-5 and appendix C.4.

    Examples
    --------
    >>> answers = np.array([[1, 1, 1, 0, 1, 1, 1, 0, 0]], dtype=np.int8)
    >>> fit = fit_residual_dif(answers, family=list("AAAABBBBC"))
    >>> fit.easiness.round(4), fit.effects.round(4)
    (array([0.5316]), array([[ 0.2532,  0.2532, -0.5063]]))
    """
    families, codes = family_codes(family)
    full_offset = np.broadcast_to(np.asarray(offset, dtype=np.float64), values.shape)
    _check(values, codes, full_offset, penalty)
    n_answer = (values >= 0).sum(axis=1)
    n_right = (values == 1).sum(axis=1)
    if (n_answer == 0).any():
        raise DataError(f"item {int(np.argmin(n_answer)) + 1} has no answer at all: leave it out")
    constant = np.where(n_right == n_answer, 1, np.where(n_right == 0, -1, 0)).astype(np.int8)

    order = np.argsort(codes, kind="stable")
    blocks = np.searchsorted(codes[order], np.arange(len(families) + 1)).astype(np.intp)
    # with a fixed number of cycles every item is run, as printed; otherwise those with an optimum
    rows = np.flatnonzero(constant == 0) if cycles is None else np.arange(len(values))
    easiness, effects = _initial(
        n_right / n_answer, _mean_offset(values, full_offset), len(families), start, rows
    )
    solve, limit = (joint_newton, MAX_ITERATION) if cycles is None else (alternating_cycles, cycles)
    iterations, last = solve(
        np.ascontiguousarray(values),
        np.ascontiguousarray(full_offset),
        rows,
        order,
        blocks,
        easiness,
        effects,
        penalty,
        tolerance,
        limit,
    )
    fit = ResidualDif(
        families=families,
        family_size=np.bincount(codes, minlength=len(families)),
        easiness=_spread(easiness, rows, len(values), np.nan),
        effects=_spread(effects, rows, len(values), 0.0),
        constant=constant,
        iterations=_spread(iterations, rows, len(values), 0),
        last_update=_spread(last, rows, len(values), 0.0),
        converged=bool((last < tolerance).all()),
    )
    if cycles is None and not fit.converged:
        raise ConvergenceError(
            f"residual effects of {int((~(last < tolerance)).sum())} items did not converge in "
            f"{MAX_ITERATION} steps (largest last update {last.max():.2g} logit)",
            fit,
        )
    return fit


def _check(
    values: NDArray[np.int8], codes: NDArray[np.intp], offset: Floats, penalty: float
) -> None:
    if values.ndim != 2 or values.dtype != np.int8:
        raise DataError("values must be an items x models matrix of int8: 1, 0 or -1 for missing")
    if values.shape[1] != len(codes):
        raise DataError(f"{values.shape[1]} models have {len(codes)} family labels")
    if not penalty > 0:
        raise ValueError(f"penalty must be positive, got {penalty}")
    # the smallest and the largest are NaN if one is, and need no copy of the matrix
    if offset.size and not (offset.min() >= -MAX_OFFSET and offset.max() <= MAX_OFFSET):
        raise ValueError(f"offsets must lie within {MAX_OFFSET:g} logits of 0")


def _mean_offset(values: NDArray[np.int8], offset: Floats) -> Floats:
    """Return the mean offset of every item over the models that answered it."""
    answered = values >= 0
    if answered.all():
        return np.asarray(offset.mean(axis=1))
    return np.asarray(np.sum(offset, axis=1, where=answered) / answered.sum(axis=1))


def _initial(
    share: Floats,
    mean_offset: Floats,
    n_family: int,
    start: ResidualDif | None,
    rows: NDArray[np.intp],
) -> tuple[Floats, Floats]:
    """Return P0's starting values (eqs 25 and 26), or those of an earlier fit."""
    easiness = (logit(np.clip(share, 1e-4, 1 - 1e-4)) - mean_offset)[rows]
    effects = np.zeros((len(rows), n_family))
    if start is not None:
        known = np.isfinite(start.easiness[rows])
        easiness = np.where(known, start.easiness[rows], easiness)
        effects[known] = start.effects[rows][known]
    return easiness, effects


def _spread[T: np.generic](
    part: NDArray[T], rows: NDArray[np.intp], n: int, fill: float
) -> NDArray[T]:
    whole = np.full((n, *part.shape[1:]), fill, dtype=part.dtype)
    whole[rows] = part
    return whole
