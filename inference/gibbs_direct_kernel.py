r"""Draws of vectors given all else without Pólya–Gamma weights: Metropolis's rule about their modes.

Weights say much of what is drawn given them, so that draws creep. Here a vector x whose logits are
:math:`D x + c` is proposed from a density about the mode of its conditional, with the curvature there.
The mode is sought by Newton's method from a start that is a function of what is held, never
of x itself: the proposal is the same forth and back, however few steps are taken, and what is drawn
has exactly the conditional as its distribution. How close the search comes to the mode only changes
the share of accepted proposals.

Parts that abilities (`neartie.inference.gibbs_direct_abilities`) and items
(`neartie.inference.gibbs_direct_items`) share.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_gaussian import factor_in_place, solve_transposed, solve_upper
from neartie.inference.logistic_sums import exp_below_zero, summed
from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]

# The mode is at hand when the next step, which is still taken, is shorter than this, in standard
# deviations.
NEAR: Final = 1.0
MAX_STEPS: Final = 20
# No number moves more than this in a step.
LONGEST: Final = 3.0
# Most proposals lie on the other side of the mode, by this share of the distance: what is drawn in turn
# with other blocks then wanders less (Adler 1981, Physical Review D 23, 2901-2904).
RELAX: Final = 0.5
# The share that comes from a t density about the mode instead, whose tails are heavier than those of
# any conditional here, and the share that takes a random step from where it is: conditionals of few
# answers may be skewed, and a chain is not to wait long in their tails.
FREE_SHARE: Final = 0.08
WALK_SHARE: Final = 0.02
# Length of a random step over the root of the dimension.
WALK: Final = 2.0
# Log-likelihoods beyond this are lost in rounding when they are compared.
_LARGEST: Final = 1e9
_FACTORS: Final = 1000


@summed
def dot(one: Floats, other: Floats) -> float:
    """Return the sum of products."""
    total = 0.0
    for m in range(one.shape[0]):
        total += one[m] * other[m]
    return total


@summed
def total(values: Floats) -> float:
    """Return the sum."""
    result = 0.0
    for m in range(values.shape[0]):
        result += values[m]
    return result


@compiled
def add_rows(x: Floats, rows: Floats, logit: Floats) -> None:
    """Add x times rows, (K,) times (K, n), to logits, in place."""
    for k in range(rows.shape[0]):
        factor, row = x[k], rows[k]
        for m in range(logit.shape[0]):
            logit[m] += factor * row[m]


@compiled
def read_answers(answers: NDArray[np.int8], right: Floats, seen: Floats) -> None:
    """Write 1 where an answer is right, and where there is one; 0 elsewhere."""
    for m in range(answers.shape[0]):
        right[m] = 1.0 if answers[m] > 0 else 0.0
        seen[m] = 1.0 if answers[m] >= 0 else 0.0


@summed
def _softplus_part(logit: Floats, seen: Floats) -> tuple[float, float]:
    product, positive = 1.0, 0.0
    for m in range(logit.shape[0]):
        size = abs(logit[m])
        product *= 1.0 + seen[m] * exp_below_zero(-size)
        positive += seen[m] * (logit[m] + size)
    return product, positive


@compiled
def log_likelihood(logit: Floats, right: Floats, seen: Floats) -> float:
    r"""Return the log-likelihood of answers at their logits, nat.

    Parameters
    ----------
    logit, right, seen : (n,) float
        The latter two as `read_answers` writes them.

    Returns
    -------
    float
        Minus infinity where it is so large that rounding would decide.

    Examples
    --------
    >>> value = log_likelihood(np.array([0.0, 2.0, 9.0]), np.array([1.0, 0, 0]), np.array([1.0, 1, 0]))
    >>> bool(np.isclose(value, -np.log(2) - np.log1p(np.exp(2.0))))
    True
    """
    softplus = 0.0
    for first in range(0, logit.shape[0], _FACTORS):
        product, positive = _softplus_part(
            logit[first : first + _FACTORS], seen[first : first + _FACTORS]
        )
        softplus += math.log(product) + 0.5 * positive
    gain = dot(right, logit)
    return gain - softplus if abs(gain) + softplus < _LARGEST else -np.inf


@summed
def weigh(logit: Floats, seen: Floats, chance: Floats, weight: Floats) -> None:
    """Write the chances p of right answers and the weights p(1 - p), 0 where there is no answer."""
    for m in range(logit.shape[0]):
        tail = exp_below_zero(-abs(logit[m]))
        larger = 1.0 / (1.0 + tail)
        above_half = 0.5 * math.copysign((1.0 - tail) * larger, logit[m])
        chance[m] = seen[m] * (0.5 + above_half)
        weight[m] = seen[m] * (tail * larger * larger)


@compiled
def degrees(size: int) -> int:
    """Return the degrees of freedom of proposals of that many numbers, an even number.

    A t density of many dimensions has its mass farther out than the normal one at the same degrees.
    """
    return 8 + 4 * (size // 2)


@compiled
def inverse_scale(rng: np.random.Generator, df: int) -> float:
    """Return the root of an even df over a chi-square value: times normal values it gives t ones."""
    product = 1.0
    for _ in range(df // 2):
        product *= 1.0 - rng.random()
    return math.sqrt(0.5 * df / -math.log(product))


@compiled
def newton_step(x: Floats, matrix: Floats, gradient: Floats) -> float:
    """Take one step of Newton's, in place, and return its length in standard deviations.

    Parameters
    ----------
    x : (d,) float
    matrix : (d, d) float
        Minus the second derivatives; the upper triangle is overwritten by its factor.
    gradient : (d,) float
        Overwritten by the step.
    """
    factor_in_place(matrix)
    solve_transposed(matrix, gradient)
    square, largest = 0.0, 0.0
    for k in range(x.shape[0]):
        square += gradient[k] * gradient[k]
    solve_upper(matrix, gradient)
    for k in range(x.shape[0]):
        largest = max(largest, abs(gradient[k]))
    shrink = min(1.0, LONGEST / max(largest, 1e-300))
    for k in range(x.shape[0]):
        x[k] += shrink * gradient[k]
    return math.sqrt(square)


@compiled
def propose(
    rng: np.random.Generator, x: Floats, mode: Floats, factor: Floats, proposed: Floats
) -> float:
    r"""Write a proposal, and return what it adds to the log ratio of densities.

    Parameters
    ----------
    rng : Generator
    x, mode : (d,) float
    factor : (d, d) float
        R with the curvature :math:`R^\top R` at the mode.
    proposed : (d,) float
        Written.

    Returns
    -------
    float, nat
        Log density of coming back less that of going there.

    Notes
    -----
    With :math:`y = R(x - \mathrm{mode})` one of: a t value; :math:`-\rho y + \sqrt{1 - \rho^2}`
    times a normal value, which keeps the normal distribution about the mode; a normal step from y.
    """
    size, kind = x.shape[0], rng.random()
    walks, relaxed = kind < WALK_SHARE, kind >= WALK_SHARE + FREE_SHARE
    df = degrees(size)
    if walks:
        scale, share = WALK / math.sqrt(size), 1.0
    elif relaxed:
        scale, share = math.sqrt(1.0 - RELAX**2), -RELAX
    else:
        scale, share = inverse_scale(rng, df), 0.0
    back, forth = 0.0, 0.0
    for k in range(size):
        part = 0.0
        for j in range(k, size):
            part += factor[k, j] * (x[j] - mode[j])
        proposed[k] = share * part + scale * rng.standard_normal()
        back += part * part
        forth += proposed[k] * proposed[k]
    solve_upper(factor, proposed)
    for k in range(size):
        proposed[k] += mode[k]
    if walks:
        return 0.0
    if relaxed:
        return float(0.5 * (forth - back))
    return float(0.5 * (df + size) * (math.log1p(forth / df) - math.log1p(back / df)))
