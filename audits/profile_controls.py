"""Random subtests whose items are as likely to be anchors, as far as the family-blind model knows.

Where families differ in ability, what the spectral model leaves of that difference is the larger,
the more an item asks for it. Items with little residual DIF then ask for other abilities than
their cell on average. Subtests of items that ask for the same have the same shift (beyond the
paper).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from neartie.audits.anchors import Subtest
from neartie.audits.discrimination_controls import discrimination_strata, rest_correlation

type Floats = NDArray[np.float64]

DIRECTIONS = 3
PENALTY = 0.1


def profile_strata(
    subtest: Subtest,
    values: NDArray[np.int8],
    offset: Floats,
    family: NDArray[np.str_],
    *,
    index: NDArray[np.integer] | None = None,
) -> Subtest:
    """Return the anchors with their cells cut into strata of the chance of being an anchor.

    Parameters
    ----------
    subtest : Subtest
        The anchors.
    values : (n_item, n_model) int8
        Complete answers of the audit half.
    offset : (n_item, n_model) float, logit
        What the family-blind model explains of them.
    family : (n_model,) str
    index : (n_item,) int, optional
        Original item index, which breaks ties.

    Returns
    -------
    Subtest
        For `draw_subtests` only, as that of `discrimination_strata`.

    Notes
    -----
    The chance is that of a logistic regression on `item_profile` and its squares, ridge penalty
    .1. No residual effect has a part in it: of family effects it knows what the family-blind
    model took for ability.

    References
    ----------
    Rosenbaum and Rubin (1983), doi:10.1093/biomet/70.1.41: strata of the propensity score balance
    all that it was made from.
    """
    profile = item_profile(subtest, values, offset, family)
    return discrimination_strata(subtest, _anchor_logit(profile, subtest), index=index)


def item_profile(
    subtest: Subtest, values: NDArray[np.int8], offset: Floats, family: NDArray[np.str_]
) -> Floats:
    """Return what is matched, as ranks within cells.

    Parameters
    ----------
    subtest, values, offset, family
        See `profile_strata`.

    Returns
    -------
    (n_item, n_column) float in (-1/2, 1/2)
        Correlation with the rest of the test; standard deviation of the offset over models; range
        of its family means; and the first three principal coordinates of these means.
    """
    names = np.unique(family)
    means = np.stack([offset[:, family == name].mean(axis=1) for name in names], axis=1)
    means -= means.mean(axis=1, keepdims=True)
    axes = np.linalg.svd(means, full_matrices=False)[2][: min(DIRECTIONS, len(names) - 1)]
    columns = [
        rest_correlation(values),
        offset.std(axis=1),
        np.ptp(means, axis=1),
        *(means @ axes.T).T,
    ]
    # what differs by rounding alone must not be ranked
    rounded = [np.round(column, 9) for column in columns]
    out = np.zeros((len(values), len(columns)))
    for cell in range(len(subtest.cells.size)):
        inside = np.flatnonzero((subtest.cells.code == cell) & subtest.pool)
        for number, column in enumerate(rounded):
            if len(inside):
                out[inside, number] = (rankdata(column[inside]) - 0.5) / len(inside) - 0.5
    return out


def _anchor_logit(profile: Floats, subtest: Subtest) -> Floats:
    from sklearn.linear_model import LogisticRegression

    pool = subtest.pool
    if subtest.selected[pool].all():
        return np.zeros(len(profile))
    columns = np.hstack([profile, profile**2])
    model = LogisticRegression(C=1 / PENALTY, tol=1e-8, max_iter=1000)
    model.fit(columns[pool], subtest.selected[pool])
    return np.asarray(np.round(model.decision_function(columns), 6), dtype=np.float64)
