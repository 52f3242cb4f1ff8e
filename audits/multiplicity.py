"""Multiple testing with names: which items stay flagged when many were tested."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control


def control_false_discoveries(p_values: pd.Series, *, level: float = 0.05) -> pd.DataFrame:
    """Return adjusted p-values and flags under the names that the tests have.

    Parameters
    ----------
    p_values : Series of float in [0, 1]
        The index names the tests. Missing where a test could not be run: it is no result, and
        does not count in the size of the family.
    level : float in (0, 1)
        False discovery rate.

    Returns
    -------
    DataFrame
        In the order given: the index; `p`; `p_adjusted` (Benjamini-Hochberg, missing where not
        tested); `verdict`: `flagged`, `not flagged` or `not tested`. `attrs["n_tests"]` holds the
        size of the family. Empty for empty input.

    Raises
    ------
    ValueError
        If a p-value lies outside [0, 1], a name stands twice, or the level outside (0, 1).

    References
    ----------
    Benjamini and Hochberg (1995), Journal of the Royal Statistical Society B 57, 289-300.

    Examples
    --------
    >>> table = control_false_discoveries(pd.Series({"q1": 0.01, "q2": 0.5, "q3": None}))
    >>> table["p_adjusted"].tolist(), table["verdict"].tolist()
    ([0.02, 0.5, nan], ['flagged', 'not flagged', 'not tested'])
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level}")
    if p_values.index.has_duplicates:
        name = p_values.index[p_values.index.duplicated()][0]
        raise ValueError(f"{name!r} names more than one test")
    p = p_values.to_numpy(dtype=np.float64)
    tested = ~np.isnan(p)
    outside = p_values.index[tested & ((p < 0) | (p > 1))]
    if len(outside):
        raise ValueError(f"the p-value of {outside[0]!r} lies outside [0, 1]")
    adjusted = np.full(len(p), np.nan)
    if tested.any():
        adjusted[tested] = false_discovery_control(p[tested], method="bh")
    verdict = np.where(adjusted <= level, "flagged", "not flagged")
    table = pd.DataFrame(
        {"p": p, "p_adjusted": adjusted, "verdict": np.where(tested, verdict, "not tested")},
        index=p_values.index,
    )
    table.attrs["n_tests"] = int(tested.sum())
    return table
