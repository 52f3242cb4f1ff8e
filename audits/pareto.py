"""The efficiency frontier: models that no other model beats in quality and cost at once (P1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neartie.data.errors import DataError


def pareto_set(quality: ArrayLike, cost: ArrayLike) -> NDArray[np.bool_]:
    """Return which models lie on the frontier.

    Parameters
    ----------
    quality : (n_model,) float
        More is better; NaN where not measured.
    cost : (n_model,) float
        Less is better; NaN where not measured.

    Returns
    -------
    (n_model,) bool
        False for a model of which one of the two is missing.

    Raises
    ------
    DataError
        If the lists differ in length.

    Notes
    -----
    A model is left out if another one is at least as good on both and better on one. Models that
    are equal on both are kept, or left out, together.

    References
    ----------
    P1, "The efficiency frontier".

    Examples
    --------
    >>> pareto_set([600, 700, 700, 650], [1.0, 2.0, 2.0, 3.0])
    array([ True,  True,  True, False])
    """
    q, c = np.asarray(quality, dtype=np.float64), np.asarray(cost, dtype=np.float64)
    if q.shape != c.shape or q.ndim != 1:
        raise DataError(f"qualities and costs must be of one length, got {q.shape} and {c.shape}")
    known = np.flatnonzero(~np.isnan(q) & ~np.isnan(c))
    order = known[np.lexsort((-q[known], c[known]))]
    kept = np.zeros(len(q), dtype=bool)
    best, best_cost = -np.inf, np.nan
    for model in order:
        # sorted by cost, and within a cost by quality: only what came before can beat it
        if q[model] > best or (q[model] == best and c[model] == best_cost):
            kept[model] = True
            best, best_cost = q[model], c[model]
    return kept
