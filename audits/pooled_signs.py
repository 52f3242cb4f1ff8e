"""Sign checks of several benchmarks together, and the rule for them (P0, D.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from neartie.audits.anchors import exact_fraction
from neartie.audits.attribution import Attribution
from neartie.audits.sign_checks import SignChecks, pool_checks


@dataclass(frozen=True, kw_only=True, slots=True)
class PooledChecks:
    """Sign checks of several benchmarks together (P0, D.3).

    Attributes
    ----------
    effects, shifts : SignChecks
        Added up over the benchmarks.
    n_supporting : int
        Benchmarks whose share of replicated effect signs reaches the limit.
    supported : bool
        Whether effect signs replicate by the paper's rule; shifts are secondary, without a rule.
    """

    effects: SignChecks
    shifts: SignChecks
    n_supporting: int
    supported: bool


def pool_attributions(
    attributions: Mapping[str, Attribution],
    *,
    pooled_share: float | str | Fraction = "0.7",
    level: float = 0.05,
    each_share: float | str | Fraction = "0.65",
    min_benchmarks: int = 2,
) -> PooledChecks:
    """Return the sign checks of several benchmarks, and whether effect signs replicate.

    Parameters
    ----------
    attributions : mapping of str to Attribution
        By benchmark.
    pooled_share, each_share : number, proportion
        Smallest share of replicated signs, of all checks and of one benchmark.
    level : float
        Largest one-sided binomial p of all checks.
    min_benchmarks : int
        How many benchmarks must reach `each_share`.

    Returns
    -------
    PooledChecks

    References
    ----------
    P0, D.3.
    """
    effects = pool_checks([found.effects for found in attributions.values()])
    each = exact_fraction(each_share)
    supporting = sum(
        found.effects.n > 0 and found.effects.hits >= each * found.effects.n
        for found in attributions.values()
    )
    return PooledChecks(
        effects=effects,
        shifts=pool_checks([found.shifts for found in attributions.values()]),
        n_supporting=supporting,
        supported=bool(
            effects.p_value is not None
            and effects.hits >= exact_fraction(pooled_share) * effects.n
            and effects.p_value <= level
            and supporting >= min_benchmarks
        ),
    )
