"""Items that a two-parameter fit calls into question, with the reason in words."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

# P1, item hygiene.
LEAST_DISCRIMINATION: Final = 0.3
LARGEST_DIFFICULTY: Final = 3.0


def item_flags(
    values: NDArray[np.int8],
    discrimination: ArrayLike | None = None,
    difficulty: ArrayLike | None = None,
    *,
    least_discrimination: float = LEAST_DISCRIMINATION,
    largest_difficulty: float = LARGEST_DIFFICULTY,
) -> list[str]:
    """Return for every item why it deserves a look, or an empty text.

    Parameters
    ----------
    values : (n_item, n_model) int8
        1 right, 0 wrong, -1 missing.
    discrimination : (n_item,) float, logit per ability, optional
        Estimates, such as posterior means, of either sign.
    difficulty : (n_item,) float, ability, optional
    least_discrimination, largest_difficulty : float
        Limits of P1: 0.3 and 3.

    Returns
    -------
    list of str, n_item
        Of `reversed` (the more able answer it less often), `flat` (discrimination below the
        limit), `extreme` (difficulty beyond the limit), joined by semicolons.

    Raises
    ------
    ValueError
        If there are not as many estimates as items.

    Notes
    -----
    A prior under which discriminations are positive hides a reverse-keyed item: its estimate is
    what the prior allows at the least, and how little that is depends on the number of answers.
    So `reversed` looks at the answers: their correlation with the share of the other items that
    a model answered rightly lies more than a standard error below zero. A negative
    discrimination is `reversed` as it is.

    References
    ----------
    P1, section on item hygiene.

    Examples
    --------
    >>> answers = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1]], dtype=np.int8)
    >>> item_flags(answers, [1.2, 0.2, 1.0, 0.6], [0.0, 3.5, -3.2, 0.0])
    ['', 'flat; extreme', 'extreme', 'reversed']
    """
    n_item = len(values)
    slope = np.ones(n_item) if discrimination is None else np.asarray(discrimination, dtype=float)
    place = np.zeros(n_item) if difficulty is None else np.asarray(difficulty, dtype=float)
    for name, given in (("discriminations", slope), ("difficulties", place)):
        if given.shape != (n_item,):
            raise ValueError(f"{n_item} items have {name} of shape {given.shape}")
    correlation, n = item_rest_correlation(values)
    with np.errstate(invalid="ignore"):  # undefined correlations compare as false
        against = correlation * np.sqrt(np.maximum(n - 1, 0)) < -1
    reasons = {
        "reversed": (slope < 0) | against,
        "flat": (slope >= 0) & (slope < least_discrimination),
        "extreme": np.abs(place) > largest_difficulty,
    }
    return ["; ".join(name for name, where in reasons.items() if where[i]) for i in range(n_item)]


def item_rest_correlation(
    values: NDArray[np.int8],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return every item's correlation with the share of the other items that models got right.

    Parameters
    ----------
    values : (n_item, n_model) int8
        1 right, 0 wrong, -1 missing.

    Returns
    -------
    correlation : (n_item,) float in [-1, 1]
        Over the models that answered the item and another one; NaN where either side is constant.
    n : (n_item,) int
        Their number.

    Examples
    --------
    >>> answers = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1]], dtype=np.int8)
    >>> item_rest_correlation(answers)[0].round(3)
    array([-0.5  ,    nan, -0.866])
    """
    right, seen = values == 1, values >= 0
    others = seen.sum(axis=0) - seen
    used = seen & (others > 0)
    n = used.sum(axis=1)
    rest = np.divide(
        right.sum(axis=0) - right, others, out=np.zeros(values.shape), where=others > 0
    )

    def centred(x: NDArray[np.float64]) -> NDArray[np.float64]:
        mean = np.sum(x, axis=1, where=used) / np.maximum(n, 1)
        return np.where(used, x - mean[:, None], 0.0)

    answer, rest = centred(right.astype(np.float64)), centred(rest)
    spread = np.sqrt(np.square(answer).sum(axis=1) * np.square(rest).sum(axis=1))
    # below it nothing but rounding is left
    defined = spread > 1e-12
    total = (answer * rest).sum(axis=1)
    return np.divide(total, spread, out=np.full(len(n), np.nan), where=defined), n
