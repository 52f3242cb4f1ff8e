"""Shared ranks of estimates, and tiers: whom the best of a group is surely above."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]
type Codes = NDArray[np.int64]

#: Estimates closer than this share of the standard error of their difference count as equal.
TIE_TOLERANCE = 1e-6


def shared_ranks(estimate: Floats, se: Floats) -> Codes:
    """Return the rank of each estimate; equal ones share the best rank among them.

    Parameters
    ----------
    estimate : (n_model,) float
        Higher is better.
    se : (n_model, n_model) float
        Of the differences. Neighbours less than `TIE_TOLERANCE` of it apart are equal: such gaps
        come from the rounding of an iteration, and decide nothing.

    Returns
    -------
    (n_model,) int
        From 1.

    Examples
    --------
    >>> shared_ranks(np.array([0.81, 0.80, 0.80, 0.69]), np.full((4, 4), 0.05))
    array([1, 2, 2, 4])
    """
    order = np.argsort(-estimate, kind="stable")
    rank = np.empty(len(estimate), dtype=np.int64)
    current = 1
    for place, model in enumerate(order):
        if place:
            before = order[place - 1]
            gap = estimate[before] - estimate[model]
            if gap > TIE_TOLERANCE * se[before, model]:
                current = place + 1
        rank[model] = current
    return rank


def tiers(rank: Codes, joint_low: Floats) -> Codes:
    """Return the tier of each model; 1 is the best.

    Parameters
    ----------
    rank : (n_model,) int
        From `shared_ranks`.
    joint_low : (n_model, n_model) float
        Lower limits of the differences row minus column, which hold together.

    Returns
    -------
    (n_model,) int

    Notes
    -----
    Models are passed in the order of their ranks. The best of a tier is its head; a new tier
    begins with the first model that is resolved below the head. Models of one rank are passed
    together: if one of them is resolved below one of the heads, all begin the new tier.

    Examples
    --------
    >>> low = np.array([[0, -0.1, 0.3], [-0.3, 0, -0.2], [-0.9, -0.4, 0]])
    >>> tiers(np.array([1, 2, 3]), low)
    array([1, 1, 2])
    """
    tier = np.empty(len(rank), dtype=np.int64)
    current = 0
    head = np.empty(0, dtype=np.intp)
    for value in np.unique(rank):
        members = np.flatnonzero(rank == value)
        if current == 0 or bool((joint_low[np.ix_(head, members)] > 0).any()):
            current += 1
            head = members
        tier[members] = current
    return tier
