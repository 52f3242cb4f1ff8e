"""Signs of extreme values, checked in the other half (P0, D.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import stats

type Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class SignChecks:
    """How many selected values keep their sign.

    Attributes
    ----------
    hits : int
        Values with the same nonzero sign in both halves.
    n : int
        Checks.
    """

    hits: int
    n: int

    @classmethod
    def of(cls, chosen: NDArray[np.int8], first: Floats, second: Floats) -> Self:
        """Return the checks of chosen values.

        Parameters
        ----------
        chosen : (n_source, n_family) int8
            Nonzero where selected.
        first, second : (n_source, n_family) float
        """
        same = np.sign(first) * np.sign(second) > 0
        return cls(hits=int(same[chosen != 0].sum()), n=int((chosen != 0).sum()))

    @property
    def share(self) -> float | None:
        """Proportion of hits; None without checks."""
        return self.hits / self.n if self.n else None

    @property
    def p_value(self) -> float | None:
        """One-sided exact binomial p against one half, as if checks were independent.

        Examples
        --------
        >>> SignChecks(hits=43, n=60).p_value < 0.001
        True
        """
        return float(stats.binom.sf(self.hits - 1, self.n, 0.5)) if self.n else None

    def to_dict(self) -> dict[str, Any]:
        """Return counts, share and p."""
        return {"hits": self.hits, "n": self.n, "share": self.share, "p_value": self.p_value}

    def __str__(self) -> str:
        if not self.n:
            return "no sign could be checked"
        return f"{self.hits} of {self.n} signs return in the other half, binomial p = {self.p_value:.3g}"


def choose_extremes(values: Floats, eligible: NDArray[np.bool_], extremes: int) -> NDArray[np.int8]:
    """Return which sources are the most extreme of every family.

    Parameters
    ----------
    values : (n_source, n_family) float
        In the half that discovers.
    eligible : (n_source,) bool
    extremes : int
        How many largest and how many smallest values, whatever their sign: both ends of one
        order, from large to small, in which equal values keep the order of rows. With fewer than
        twice as many eligible sources each is chosen at most once; with fewer than two, none is.

    Returns
    -------
    (n_source, n_family) int8
        1 for the largest, -1 for the smallest, 0 otherwise.

    Examples
    --------
    >>> choose_extremes(np.array([[0.1], [0.4], [-0.2]]), np.ones(3, bool), 1).ravel()
    array([ 0,  1, -1], dtype=int8)
    """
    chosen = np.zeros(values.shape, dtype=np.int8)
    rows = np.flatnonzero(eligible)
    if len(rows) < 2:
        return chosen
    order = rows[np.argsort(-values[rows], axis=0, kind="stable")]
    n_small = min(extremes, len(rows) // 2)
    n_large = min(extremes, len(rows) - n_small)
    np.put_along_axis(chosen, order[:n_large], 1, axis=0)
    np.put_along_axis(chosen, order[len(rows) - n_small :], -1, axis=0)
    return chosen


def pool_checks(checks: Sequence[SignChecks]) -> SignChecks:
    """Return the checks of several benchmarks added up."""
    return SignChecks(hits=sum(c.hits for c in checks), n=sum(c.n for c in checks))
