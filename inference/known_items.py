"""Abilities under items whose parameters are known, one model at a time: arrays in and out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from neartie.inference.pairwise_bits import compiled, in_row_blocks

type Floats = NDArray[np.float64]
type Mask = NDArray[np.bool_]

TOLERANCE: Final = 1e-12
MAX_STEPS: Final = 200


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class KnownItems:
    """Answers to known items: logit P = slope x ability + intercept.

    Attributes
    ----------
    slope, intercept : (n_item,) float
        Slopes of either sign.
    right, observed : (n_item, n_model) bool
    """

    slope: Floats
    intercept: Floats
    right: Mask
    observed: Mask

    def derivatives(self, ability: Floats) -> tuple[Floats, Floats]:
        """Return first and minus second derivative of each model's log-likelihood, (n_model,)."""
        first, second = np.empty(len(ability)), np.empty(len(ability))
        data = (self.slope, self.intercept, self.right, self.observed, ability, first, second)
        in_row_blocks(lambda start, stop: _fill_slopes(start, stop, *data), len(ability), block=16)
        return first, second

    def log_likelihood(self, ability: Floats) -> Floats:
        """Return it at nodes, (n_node, n_model) in and out."""
        total = np.empty(ability.shape)
        nodes, data = np.ascontiguousarray(ability), (self.slope, self.intercept)

        def work(start: int, stop: int) -> None:
            _fill_models(start, stop, *data, self.right, self.observed, nodes, total)

        in_row_blocks(work, ability.shape[1], block=16)
        return total


@compiled
def _fill_slopes(
    start: int,
    stop: int,
    slope: NDArray[np.float64],
    intercept: NDArray[np.float64],
    right: NDArray[np.bool_],
    observed: NDArray[np.bool_],
    ability: NDArray[np.float64],
    first: NDArray[np.float64],
    second: NDArray[np.float64],
) -> None:
    for m in range(start, stop):
        rise, bend = 0.0, 0.0
        for i in range(slope.shape[0]):
            if not observed[i, m]:
                continue
            logit = slope[i] * ability[m] + intercept[i]
            tail = np.exp(-abs(logit))
            low = tail / (1.0 + tail)
            if right[i, m]:
                rise += slope[i] * (low if logit >= 0.0 else 1.0 - low)
            else:
                rise -= slope[i] * (1.0 - low if logit >= 0.0 else low)
            bend += slope[i] * slope[i] * low / (1.0 + tail)
        first[m], second[m] = rise, bend


@compiled
def _fill_models(
    start: int,
    stop: int,
    slope: NDArray[np.float64],
    intercept: NDArray[np.float64],
    right: NDArray[np.bool_],
    observed: NDArray[np.bool_],
    nodes: NDArray[np.float64],
    total: NDArray[np.float64],
) -> None:
    for m in range(start, stop):
        for k in range(nodes.shape[0]):
            value, product = 0.0, 1.0
            for i in range(slope.shape[0]):
                if not observed[i, m]:
                    continue
                logit = slope[i] * nodes[k, m] + intercept[i]
                if right[i, m]:
                    logit = -logit
                value -= max(logit, 0.0)
                # Factors lie between one and two: many of them need but one logarithm.
                product *= 1.0 + np.exp(-abs(logit))
                if product > 1e100:
                    value -= np.log(product)
                    product = 1.0
            total[k, m] = value - np.log(product)


def ends(items: KnownItems) -> tuple[Mask, Mask]:
    """Return where a likelihood has not fallen at plus and at minus infinity, (n_model,) each.

    There it has no finite maximum: every answer agrees with an infinite ability.
    """
    positive, negative = (items.slope > 0)[:, None], (items.slope < 0)[:, None]
    against_high = items.observed & ((positive & ~items.right) | (negative & items.right))
    against_low = items.observed & ((positive & items.right) | (negative & ~items.right))
    return ~against_high.any(axis=0), ~against_low.any(axis=0)


def maximum(items: KnownItems, *, mean: float, precision: float) -> tuple[Floats, Floats]:
    """Return the maximum of likelihood and normal prior, and the information there.

    Parameters
    ----------
    items : KnownItems
    mean, precision : float
        Of the prior; precision 0 for the likelihood alone, which must have a finite maximum.

    Returns
    -------
    ability, information : (n_model,) float
        The information is that of the items, plus the precision.

    Notes
    -----
    The log density is concave. Newton's steps are kept inside a bracket of the maximum, which
    they tighten, and are replaced by halving where they leave it.
    """
    n_model = items.right.shape[1]
    low, high = np.full(n_model, mean - 1.0), np.full(n_model, mean + 1.0)
    for bound, sign in ((low, -1.0), (high, 1.0)):
        width = 1.0
        while True:
            first, _ = items.derivatives(bound)
            wrong_side = sign * (first - precision * (bound - mean)) > 0
            if not wrong_side.any() or width > 1e12:
                break
            width *= 2
            bound[wrong_side] = mean + sign * width
    ability = np.clip(np.full(n_model, mean), low, high)
    for _ in range(MAX_STEPS):
        first, information = items.derivatives(ability)
        rise, information = first - precision * (ability - mean), information + precision
        low, high = np.where(rise > 0, ability, low), np.where(rise < 0, ability, high)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            proposed = ability + rise / information
        outside = ~((proposed >= low) & (proposed <= high))
        proposed = np.where(outside, (low + high) / 2, proposed)
        moved = np.abs(proposed - ability)
        ability = proposed
        if np.all(moved <= TOLERANCE * (1 + np.abs(ability))):
            break
    return ability, items.derivatives(ability)[1] + precision
