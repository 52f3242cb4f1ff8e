"""Statistics of right/wrong answers by which a fit and its replicates are compared."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from neartie.audits.near_tie_pairs import ComparedPairs, count_near_ties

type Floats = NDArray[np.float64]

#: Every statistic in words.
MEANINGS: Final = {
    "near_ties": "near-tied pairs of models",
    "mean_accuracy": "mean accuracy",
    "model_sd": "standard deviation of the models' accuracies",
    "item_sd": "standard deviation of the items' accuracies",
    "item_correlation_mean": "mean correlation of items with the models' accuracies",
    "item_correlation_sd": "standard deviation of items' correlations with the models' accuracies",
    "family_range": "mean range of families on an item, beyond their mean accuracies",
}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class AnswerStatistics:
    """What is computed of the answers, and of each replicate of them.

    Attributes
    ----------
    observed : (n_item, n_model) bool
        Where there are answers, in replicates too.
    pairs : ComparedPairs
    epsilon : float
        Band of the near ties, proportion.
    family : (n_model,) int
        Codes of the families, from 0; empty where there are none.
    """

    observed: NDArray[np.bool_]
    pairs: ComparedPairs
    epsilon: float | Fraction
    family: NDArray[np.intp]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the statistics, in the order of `scalars`."""
        return tuple(MEANINGS) if len(self.family) else tuple(MEANINGS)[:-1]

    def totals(self, values: NDArray[np.int8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the right answers on every item and of every model.

        Parameters
        ----------
        values : (n_item, n_model) int8
            1 right, whatever else is not.

        Returns
        -------
        items : (n_item,) int
        models : (n_model,) int
        """
        right = (values == 1) & self.observed
        return right.sum(axis=1), right.sum(axis=0)

    def scalars(self, values: NDArray[np.int8]) -> Floats:
        """Return the statistics of a whole matrix.

        Parameters
        ----------
        values : (n_item, n_model) int8

        Returns
        -------
        (n_statistic,) float
            NaN where one is not defined, as the correlations of constant items.
        """
        items, models = self.totals(values)
        n_item, n_model = self.observed.sum(axis=1), self.observed.sum(axis=0)
        of_items, of_models = _ratio(items, n_item), _ratio(models, n_model)
        correlation = self._correlations(values, of_models)
        found = [
            float(count_near_ties(self.pairs, 2 * models, n_model, epsilon=self.epsilon)),
            float(_mean(of_models)),
            _sd(of_models),
            _sd(of_items),
            _mean(correlation),
            _sd(correlation),
        ]
        if len(self.family):
            found.append(self._family_range(values))
        return np.array(found)

    def _correlations(self, values: NDArray[np.int8], accuracy: Floats) -> Floats:
        """Return the correlation of each item with the accuracies of the models that answered."""
        mask = self.observed.astype(np.float64)
        right = (values == 1) * mask
        level = np.nan_to_num(accuracy)
        n = mask.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean, mean_level = right.sum(axis=1) / n, mask @ level / n
            covariance = right @ level / n - mean * mean_level
            spread = (mean - mean**2) * (mask @ level**2 / n - mean_level**2)
            # Below rounding error an item, or the level of those who answered it, is constant.
            found = np.where(spread > 1e-12, covariance / np.sqrt(spread), np.nan)
        return np.asarray(found, dtype=np.float64)

    def _family_range(self, values: NDArray[np.int8]) -> float:
        indicator = np.eye(self.family.max() + 1)[self.family]
        mask = self.observed.astype(np.float64)
        right = (values == 1) * mask
        n = mask @ indicator
        share = _ratio(right @ indicator, n)
        level = _ratio((right.sum(axis=0) @ indicator), mask.sum(axis=0) @ indicator)
        shift = share - level
        answered = n > 0
        several = answered.sum(axis=1) > 1
        high = np.where(answered, shift, -np.inf).max(axis=1)[several]
        low = np.where(answered, shift, np.inf).min(axis=1)[several]
        return _mean(high - low)


def _ratio(count: NDArray[Any], n: NDArray[Any]) -> Floats:
    found = np.full(np.shape(count), np.nan)
    np.divide(count, n, out=found, where=n > 0)
    return found


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def _sd(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.std(ddof=1)) if len(known) > 1 else float("nan")
