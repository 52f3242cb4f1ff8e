"""Choice of the spectral dimension by nested owner- and item-held-out loss (P0, C.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit

from neartie.data.errors import DataError
from neartie.inference.spectral import OFFSET_LIMIT, Coordinates, spectral_coordinates, standardise

type Floats = NDArray[np.float64]
type Rule = Literal["one-se", "paired", "minimum"]

DIMENSION_GRID = (1, 2, 4, 8, 16, 32, 64, 128, 256)
VALIDATION_SHARE = Fraction(1, 4)
CALIBRATION_SHARE = Fraction(1, 2)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class InnerSplit:
    """Who and what is held out inside one audit half.

    Attributes
    ----------
    validation : (n_model,) bool
        Models of validation owners; the others train.
    calibration : (n_item,) bool
        Items that place a validation model; the others evaluate.
    """

    validation: NDArray[np.bool_]
    calibration: NDArray[np.bool_]


def split_inner(
    owner: ArrayLike, source: ArrayLike, *, rng: np.random.Generator | int | None = None
) -> InnerSplit:
    """Return a random inner split: a quarter of the owners, half of the items of each source.

    Parameters
    ----------
    owner : (n_model,) str
    source : (n_item,) str
    rng : Generator, int or None

    Returns
    -------
    InnerSplit
        A quarter and a half are rounded to nearest (half to even), at least one each.

    Raises
    ------
    DataError
        If there are fewer than two owners, or no item is left to evaluate on.

    References
    ----------
    P0, appendix C.3.
    """
    rng = np.random.default_rng(rng)
    owners, sources = np.asarray(owner).astype(str), np.asarray(source).astype(str)
    names = np.unique(owners)
    if len(names) < 2:
        raise DataError(
            "choosing the dimension holds owners out, but this half has only one: "
            f"{', '.join(names)}; give the dimension instead"
        )
    n_validation = max(1, round(VALIDATION_SHARE * len(names)))
    validation = np.isin(owners, rng.permutation(names)[:n_validation])
    calibration = np.zeros(len(sources), dtype=bool)
    for name in np.unique(sources):
        members = np.flatnonzero(sources == name)
        n_calibration = max(1, round(CALIBRATION_SHARE * len(members)))
        calibration[rng.permutation(members)[:n_calibration]] = True
    if calibration.all():
        raise DataError(
            "every source has a single item, so that none is left to evaluate the dimension on: "
            "give the dimension instead"
        )
    return InnerSplit(validation=validation, calibration=calibration)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class DimensionChoice:
    """The chosen dimension and the whole loss curve.

    Attributes
    ----------
    k : int
        Chosen dimension.
    k_best : int
        Dimension of the smallest mean loss.
    rule : str
    rank : int
        Numerical rank of the inner training matrix, counted up to the largest candidate.
    losses : (n_validation_model, n_k) float, nat per answer
        Loss of every validation model under every feasible dimension.
    table : DataFrame
        `k`; `loss`, its mean; `se` (eq 22); `difference` from the smallest mean loss and its
        paired `difference_se`; `selected` (0 or 1).
    """

    k: int
    k_best: int
    rule: Rule
    rank: int
    losses: Floats
    table: pd.DataFrame


def select_dimension(
    values: NDArray[np.int8],
    *,
    split: InnerSplit,
    grid: Sequence[int] = DIMENSION_GRID,
    rule: Rule = "one-se",
    ridge: float = 1.0,
    limit: float = OFFSET_LIMIT,
    **decomposition: Any,
) -> DimensionChoice:
    r"""Return the dimension that predicts held-out owners on held-out items.

    Parameters
    ----------
    values : (n_item, n_model) int8
        Complete responses of one audit half.
    split : InnerSplit
    grid : sequence of int
        Candidates; those above the rank of the training matrix are left out.
    rule : {"one-se", "paired", "minimum"}
        `one-se`: the smallest dimension within one SE (eq 22) of the smallest loss (eq 23, as
        printed). `paired`: the same with the SE of the difference from the best one, model by
        model. `minimum`: the best one. A tie goes to the smaller dimension.
    ridge : float
        :math:`\lambda_\theta` of eq 19.
    limit : float, logit
        Truncation of the predicted offset.
    **decomposition
        Passed to `spectral_coordinates`.

    Returns
    -------
    DimensionChoice

    Raises
    ------
    DataError
        If a side of the split is empty or no candidate is feasible.

    Notes
    -----
    Item probabilities and scales come from training owners only. The SE of eq 22 is that of a
    mean over models, not of a difference between two dimensions on the same models; it is the
    larger one, so that the printed rule favours small dimensions.

    References
    ----------
    P0, eqs 18-23.
    """
    train, held_out = values[:, ~split.validation], values[:, split.validation]
    evaluation = ~split.calibration
    if not (train.shape[1] and held_out.shape[1] and evaluation.any() and split.calibration.any()):
        raise DataError("the inner split leaves no model or no item on one side")
    probability = (train.sum(axis=1, dtype=np.float64) + 0.5) / (train.shape[1] + 1)
    scale = np.sqrt(probability * (1 - probability))
    response = standardise(train, probability, scale)
    basis = spectral_coordinates(response, dimension=max(grid), **decomposition)
    feasible = sorted({k for k in grid if k <= basis.rank})
    if not feasible:
        raise DataError(
            f"no dimension of {sorted(grid)} is feasible: the training matrix has rank {basis.rank}"
        )
    losses = _held_out_losses(
        held_out, response @ basis.vectors, probability, scale, split, feasible, ridge, limit
    )
    return _choose(losses, feasible, rule, basis)


def _held_out_losses(
    held_out: NDArray[np.int8],
    factors: Floats,
    probability: Floats,
    scale: Floats,
    split: InnerSplit,
    feasible: list[int],
    ridge: float,
    limit: float,
) -> Floats:
    """Return the loss of each held-out model (rows) under each dimension (P0, eqs 19-21)."""
    calibration, evaluation = split.calibration, ~split.calibration
    known = standardise(held_out[calibration], probability[calibration], scale[calibration])
    gram = factors[calibration].T @ factors[calibration]
    moment = factors[calibration].T @ known
    answers = held_out[evaluation]
    base = logit(probability[evaluation])[:, None]
    losses = np.empty((held_out.shape[1], len(feasible)))
    for column, k in enumerate(feasible):
        place = np.linalg.solve(gram[:k, :k] + ridge * np.eye(k), moment[:k])
        predicted = factors[evaluation, :k] @ place
        predicted /= scale[evaluation, None]
        np.clip(predicted, -limit, limit, out=predicted)
        predicted += base
        # logits are truncated, so that the plain form cannot overflow; logaddexp is far slower
        losses[:, column] = (np.log1p(np.exp(predicted)) - answers * predicted).mean(axis=0)
    return losses


def _choose(losses: Floats, feasible: list[int], rule: Rule, basis: Coordinates) -> DimensionChoice:
    n = len(losses)
    mean = losses.mean(axis=0)
    best = int(np.argmin(mean))
    missing = np.full(len(feasible), np.nan)
    difference = losses - losses[:, [best]]
    # the standard deviation of a single model is undefined; the rules then keep the minimum
    se = losses.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else missing
    difference_se = difference.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else missing
    if rule == "minimum" or n == 1:
        chosen = best
    elif rule == "one-se":
        chosen = int(np.argmax(mean <= mean[best] + se[best]))
    elif rule == "paired":
        chosen = int(np.argmax(difference.mean(axis=0) <= difference_se))
    else:
        raise ValueError(f"rule must be 'one-se', 'paired' or 'minimum', got {rule!r}")
    table = pd.DataFrame(
        {
            "k": feasible,
            "loss": mean,
            "se": se,
            "difference": difference.mean(axis=0),
            "difference_se": difference_se,
            "selected": [int(i == chosen) for i in range(len(feasible))],
        }
    )
    return DimensionChoice(
        k=feasible[chosen],
        k_best=feasible[best],
        rule=rule,
        rank=basis.rank,
        losses=losses,
        table=table,
    )
