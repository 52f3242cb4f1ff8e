"""What simulation-based calibration found, and the tests of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.inference.uniformity import holm, mean_test, smallest_ecdf_p_value

type Floats = NDArray[np.float64]

# Location, spread, and shape.
N_TEST = 3


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Calibration:
    """Positions of truths among draws, over many data sets.

    Attributes
    ----------
    positions : mapping of quantity to (n_replicate, n_component) float in (0, 1)
        Uniform if the model is calibrated.
    autocorrelation : mapping of quantity to float
        Of successive kept draws, the mean over components and data sets. Well above 0 it spoils
        the tests: thin more.
    pairs : PairRecords or None
        Orders of two models; None where no quantity ranks them.
    n_divergent : int
        Divergences of the sampler over all data sets.
    settings : mapping
        As asked for; a limit of time may have left fewer data sets, see `n_replicates`.
    """

    positions: Mapping[str, Floats]
    autocorrelation: Mapping[str, float]
    pairs: PairRecords | None
    n_divergent: int
    settings: Mapping[str, Any]

    @property
    def n_replicates(self) -> int:
        """Data sets that were fitted."""
        return len(next(iter(self.positions.values())))

    def table(self) -> pd.DataFrame:
        r"""Return one row a quantity, with its tests.

        Returns
        -------
        DataFrame
            `quantity`; `n` components; `mean_position` (above .5: the draws lie too low), its
            standard error; `spread`, the mean squared distance of positions from .5 over its
            expectation of 1/12 (above 1: draws too narrow); `covered_50`, `covered_95`, shares of
            central intervals that hold the truth, with `covered_95_se`; `autocorrelation`; `p`,
            of the three tests together; `p_adjusted`, for the number of rows too.

            Where models are ranked, the row `P(i above j)` has `slope` and `slope_se` (see
            `PairRecords.slope`) in the place of positions and intervals.

        Notes
        -----
        Three tests a quantity: mean position, spread (both by Student's t over the means of data
        sets, within which components share errors) and the smallest ECDF p-value over components
        times their number. `p` is Bonferroni's of the three, `p_adjusted` Holm's over rows: the
        probability that a calibrated model has any row below alpha is at most alpha.
        """
        rows = [
            position_row(name, positions, self.autocorrelation[name])
            for name, positions in self.positions.items()
        ]
        if self.pairs is not None:
            rows.append(self.pairs.row())
        table = pd.DataFrame(rows)
        return table.assign(p_adjusted=holm(table["p"]))


def position_row(name: str, positions: Floats, autocorrelation: float) -> dict[str, Any]:
    """Return the row of a quantity in `Calibration.table`, but `p_adjusted`.

    Parameters
    ----------
    name : str
    positions : (n_replicate, n_component) float in (0, 1)
    autocorrelation : float
    """
    distance = positions - 0.5
    mean, error, p_mean = mean_test(positions.mean(axis=1), expected=0.5)
    spread, spread_error, p_spread = mean_test(12 * (distance**2).mean(axis=1), expected=1.0)
    tests = p_mean, p_spread, smallest_ecdf_p_value(positions)
    covered = {share: np.abs(distance) <= share / 200 for share in (50, 95)}
    return {
        "quantity": name,
        "n": positions.shape[1],
        "mean_position": mean,
        "mean_position_se": error,
        "spread": spread,
        "spread_se": spread_error,
        "covered_50": float(covered[50].mean()),
        "covered_95": float(covered[95].mean()),
        "covered_95_se": mean_test(covered[95].mean(axis=1))[1],
        "autocorrelation": autocorrelation,
        "p": min(1.0, N_TEST * min(tests)),
    }


def order_slope(product: Floats, expected: Floats) -> tuple[float, float, float]:
    """Return the slope of `PairRecords.slope` from its two sums, one of each a data set.

    Parameters
    ----------
    product, expected : (n_replicate,) float

    Returns
    -------
    slope, standard_error, p_value : float
    """
    slope = product.mean() / expected.mean()
    error = (product - slope * expected).std(ddof=1) / expected.mean()
    p = mean_test(product - expected)[2]
    return float(slope), float(error / np.sqrt(len(product))), p


@dataclass(frozen=True, slots=True, eq=False)
class PairRecords:
    """Orders of two models: what was true, and its probability in either half of the draws.

    Attributes
    ----------
    truth : (n_replicate, n_pair) float, 0 or 1
        1 where the first of a pair is above.
    even, odd : (n_replicate, n_pair) float in [0, 1], probability
        Shares of draws with the first above.
    """

    truth: Floats
    even: Floats
    odd: Floats

    def slope(self) -> tuple[float, float, float]:
        r"""Return the calibration slope, its standard error, and the p-value of slope 1.

        Returns
        -------
        slope, standard_error, p_value : float
            Below 1: orders are said with too much confidence.

        Notes
        -----
        With :math:`p, q` the shares in the halves of the draws and y the truth, a calibrated
        posterior has :math:`E[(y - p)(q - 1/2)] = 0`, exactly and for any number of independent
        draws, as both y and p are unbiased for the same probability, whatever q. The slope is
        :math:`\sum (y - 1/2)(q - 1/2) / \sum (p - 1/2)(q - 1/2)`, with either half in both roles;
        the test is of the mean of the difference over data sets.
        """
        product = self._product(self.truth, self.even) + self._product(self.truth, self.odd)
        expected = 2 * self._product(self.even, self.odd)
        return order_slope(product, expected)

    def brier(self) -> tuple[float, float]:
        """Return the mean squared error of probabilities from half the draws, and its expectation.

        Returns
        -------
        found, expected : float
            Equal up to Monte Carlo error when calibrated.
        """
        found = 0.5 * ((self.truth - self.even) ** 2 + (self.truth - self.odd) ** 2)
        half = 0.5 * (self.even + self.odd)
        # Unbiased for q(1 - q) + q(1 - q)/n: what the truth and a share of n draws vary by.
        product = half - self.even * self.odd
        noise = 0.5 * (self.even - self.odd) ** 2
        return float(found.mean()), float((product + noise).mean())

    def row(self) -> dict[str, Any]:
        """Return the row of the table: the slope, and p of its test."""
        slope, error, p = self.slope()
        return {
            "quantity": "P(i above j)",
            "n": self.truth.shape[1],
            "slope": slope,
            "slope_se": error,
            "p": p,
        }

    @staticmethod
    def _product(a: Floats, b: Floats) -> Floats:
        return np.asarray(((a - 0.5) * (b - 0.5)).mean(axis=1))
