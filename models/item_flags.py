"""Items that a two-parameter fit calls into question, with the reason in words."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

# P1, item hygiene.
LEAST_DISCRIMINATION: Final = 0.3
LARGEST_DIFFICULTY: Final = 3.0


def item_flags(
    discrimination: ArrayLike,
    difficulty: ArrayLike | None = None,
    *,
    least_discrimination: float = LEAST_DISCRIMINATION,
    largest_difficulty: float = LARGEST_DIFFICULTY,
) -> list[str]:
    """Return for every item why it deserves a look, or an empty text.

    Parameters
    ----------
    discrimination : (n_item,) float, logit per ability
        Estimates, such as posterior means; of either sign.
    difficulty : (n_item,) float, ability, optional
        Where the model has them.
    least_discrimination, largest_difficulty : float
        Limits of P1: 0.3 and 3.

    Returns
    -------
    list of str, n_item
        Of `reversed` (the more able answer it less often), `flat` (discrimination below the
        limit: a reverse-keyed item ends there when discriminations are positive), `extreme`
        (difficulty beyond the limit), joined by `; `.

    References
    ----------
    P1, section on item hygiene.

    Examples
    --------
    >>> item_flags([1.2, 0.2, -0.8, 1.0], [0.0, 3.5, 0.0, -3.2])
    ['', 'flat; extreme', 'reversed', 'extreme']
    """
    slope = np.asarray(discrimination, dtype=np.float64)
    place = np.zeros_like(slope) if difficulty is None else np.asarray(difficulty, dtype=np.float64)
    if place.shape != slope.shape:
        raise ValueError(f"{slope.shape} discriminations have {place.shape} difficulties")
    reasons = {
        "reversed": slope < 0,
        "flat": (slope >= 0) & (slope < least_discrimination),
        "extreme": np.abs(place) > largest_difficulty,
    }
    return [
        "; ".join(reason for reason, where in reasons.items() if where[i])
        for i in range(len(slope))
    ]
