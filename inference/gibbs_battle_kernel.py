r"""Rows of battles as factors with normal weights: logits, weights and log-likelihoods.

The likelihood of a row, in its log odds :math:`\delta`, is

.. math:: e^{\kappa \delta} \prod_j \big(\cosh(y_j / 2) + C\big)^{-b_j}, \quad y_j = s\delta + o_j

with :math:`\kappa` half the difference of wins and losses, and

- ties as half wins: one factor, b the number of battles, C = 0;
- Davidson: one factor, b the number of battles, :math:`C = \nu / 2` for :math:`\nu < 2`; above,
  two factors with C = 0, s = 1/2 and :math:`o = \pm\operatorname{arcosh}(\nu / 2)`, since
  :math:`\cosh x + \cosh a = 2 \cosh\frac{x + a}{2} \cosh\frac{x - a}{2}`;
- Rao and Kupper: two factors, b the wins and the losses, each with the ties, C = 0 and
  :math:`o = \mp\tau`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_gamma_sums import (
    GammaSum,
    draw_gamma_sum,
    gamma_sum,
    log_excess,
    log_factor,
)
from neartie.inference.pairwise_bits import compiled
from neartie.inference.polya_gamma import draw_polya_gamma_sum

type Floats = NDArray[np.float64]
type Codes = NDArray[np.int64]

# Up to so many battles, exact Pólya–Gamma draws are about as quick as a sum of gamma variates.
MOST_EXACT: Final = 3.0
_BLOCK: Final = 8192
_PLAIN: Final = gamma_sum(0.0)


class Rows(NamedTuple):
    """Battles added up, in the order of their judges.

    Attributes
    ----------
    first, second : (n_row,) int
        Positions of the models.
    shown : (n_row,) float
        1 where the first was shown first.
    judge : (n_row,) int
        -1 for none.
    """

    first: Codes
    second: Codes
    shown: Floats
    judge: Codes


class Factors(NamedTuple):
    """Factors of the likelihood of every row.

    Attributes
    ----------
    lead : (n_row,) float, battles
        :math:`\\kappa`
    shapes : (n_row, n_factor) float, battles
        b
    slope : float
        s
    offsets : (n_factor,) float, logit
        o
    law : GammaSum
        With C.
    most_exact : float, battles
        Up to this b, where whole, weights are Pólya–Gamma and not a sum of gamma variates.
    """

    lead: Floats
    shapes: Floats
    slope: float
    offsets: Floats
    law: GammaSum
    most_exact: float


def factors_of(ties: str, outcome: Floats, tie: float) -> Factors:
    """Return the factors of the rows' likelihood.

    Parameters
    ----------
    ties : str
        `half`, `davidson` or `rao-kupper`.
    outcome : (n_row, 3) float, battles
        Won, lost, tied.
    tie : float
        As `neartie.models.bradley_terry` has it; without meaning for `half`.

    Returns
    -------
    Factors
    """
    won, lost, tied = outcome.T
    lead = 0.5 * (won - lost)
    if ties == "rao-kupper":
        shapes = np.stack([won + tied, lost + tied], axis=1)
        return Factors(lead, shapes, 1.0, np.array([-tie, tie]), _PLAIN, MOST_EXACT)
    shapes = (won + lost + tied)[:, None]
    if ties == "half":
        return Factors(lead, shapes, 1.0, np.zeros(1), _PLAIN, MOST_EXACT)
    cosine = 0.5 * math.exp(tie)
    if cosine < 1.0:
        return Factors(lead, shapes, 1.0, np.zeros(1), gamma_sum(cosine), 0.0)
    angle = math.acosh(cosine)
    both = np.repeat(shapes, 2, axis=1)
    return Factors(lead, both, 0.5, np.array([angle, -angle]), _PLAIN, MOST_EXACT)


@compiled
def row_logits(rows: Rows, strength: Floats, shown_effect: Floats, deviation: Floats) -> Floats:
    """Return the log odds of every row.

    Parameters
    ----------
    rows : Rows
    strength : (n_model,) float, logit
    shown_effect : (n_judge + 1,) float, logit
        The advantage of the first shown; last of those that name no judge.
    deviation : (n_judge or 0, n_model) float, logit
        Of judges.

    Returns
    -------
    (n_row,) float, logit
    """
    logit = np.empty(len(rows.first))
    judged = deviation.shape[0] > 0
    for r in range(len(logit)):
        a, b, judge = rows.first[r], rows.second[r], rows.judge[r]
        value = strength[a] - strength[b]
        if judged and judge >= 0:
            value += deviation[judge, a] - deviation[judge, b]
        place = judge if judge >= 0 else len(shown_effect) - 1
        logit[r] = value + rows.shown[r] * shown_effect[place]
    return logit


@compiled
def draw_weights(
    rng: np.random.Generator, logit: Floats, factors: Factors, precision: Floats, linear: Floats
) -> None:
    r"""Draw normal weights of all rows, given their log odds.

    Parameters
    ----------
    rng : Generator
    logit : (n_row,) float, logit
    factors : Factors
    precision, linear : (n_row,) float
        Filled: given the weights, the log-likelihood of a row, with factors as they are drawn
        from, is linear times :math:`\delta` less half of precision times :math:`\delta^2`.
    """
    slope = factors.slope
    for r in range(len(logit)):
        square, line = 0.0, factors.lead[r]
        for j in range(len(factors.offsets)):
            b, offset = factors.shapes[r, j], factors.offsets[j]
            if b == 0.0:
                continue
            y = slope * logit[r] + offset
            if _is_exact(b, factors.most_exact):
                weight = draw_polya_gamma_sum(rng, int(b), y)
            else:
                weight = draw_gamma_sum(rng, b, y, factors.law)
            square += weight * slope * slope
            line -= weight * slope * offset
        precision[r] = square
        linear[r] = line


@compiled
def _is_exact(b: float, most: float) -> bool:
    return bool(b <= most and b == math.floor(b))


def total_excess(logit: Floats, factors: Factors) -> float:
    """Return the log-likelihood less that of the factors that weights are drawn for.

    Parameters
    ----------
    logit : (n_row,) float, logit
    factors : Factors

    Returns
    -------
    float, nat
        Up to a constant; 0 where all weights are Pólya–Gamma.
    """
    total = 0.0
    for block in _blocks(len(logit)):
        here = logit[block]
        for j, offset in enumerate(factors.offsets):
            b = factors.shapes[block, j]
            drawn = (b > factors.most_exact) | (b != np.floor(b))
            if drawn.any():
                y = factors.slope * here[drawn] + offset
                total += float(b[drawn] @ log_excess(y, factors.law))
    return total


def likelihood_along(step: float, fixed: Floats, direction: Floats, factors: Factors) -> float:
    """Return the log-likelihood at the logits `fixed + step * direction`, up to a constant.

    Parameters
    ----------
    step : float
    fixed, direction : (n_row,) float, logit
    factors : Factors

    Returns
    -------
    float, nat
    """
    total = 0.0
    for block in _blocks(len(fixed)):
        logit = fixed[block] + step * direction[block]
        total += float(factors.lead[block] @ logit)
        for j, offset in enumerate(factors.offsets):
            y = factors.slope * logit + offset
            total += float(factors.shapes[block, j] @ log_factor(y, factors.law.cosine))
    return total


def rao_kupper_likelihood(
    tie: float, logit: Floats, won_or_tied: Floats, lost_or_tied: Floats, n_tied: float
) -> float:
    """Return the log-likelihood of Rao and Kupper's model at one threshold, up to a constant.

    Parameters
    ----------
    tie : float, logit
        Positive.
    logit, won_or_tied, lost_or_tied : (n_row,) float
    n_tied : float, battles
    """
    # expm1 overflows where its logarithm is 2 tie
    total = n_tied * (2.0 * tie + math.log(-math.expm1(-2.0 * tie)))
    for block in _blocks(len(logit)):
        ahead, behind = logit[block] - tie, logit[block] + tie
        total += float(won_or_tied[block] @ (0.5 * ahead + log_factor(ahead, 0.0)))
        total += float(lost_or_tied[block] @ (log_factor(behind, 0.0) - 0.5 * behind))
    return total


def davidson_likelihood(tie: float, logit: Floats, total: Floats, n_tied: float) -> float:
    """Return the log-likelihood of Davidson's model at one log nu, up to a constant.

    Parameters
    ----------
    tie : float
    logit, total : (n_row,) float
    n_tied : float, battles
    """
    value, cosine = n_tied * tie, 0.5 * math.exp(tie)
    for block in _blocks(len(logit)):
        value += float(total[block] @ log_factor(logit[block], cosine))
    return value


def _blocks(n: int) -> Iterator[slice]:
    """Yield the places of n rows, as many at a time as stay close to the processor."""
    for start in range(0, n, _BLOCK):
        yield slice(start, start + _BLOCK)
