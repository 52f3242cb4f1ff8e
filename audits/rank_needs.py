"""What would it take: more items or battles, and what they would do to the order of a pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from neartie.audits.rank_result import ModelRanking

type Floats = NDArray[np.float64]

UNITS: Final = ("items", "battles")


def what_would_it_take(
    ranking: ModelRanking,
    *,
    unit: str,
    n_items: int | None = None,
    more: Sequence[int] = (100, 1000, 10_000),
    pairs: str = "neighbours",
    jointly: bool = False,
) -> pd.DataFrame:
    r"""Return what n more items or battles would do to the order of pairs.

    Parameters
    ----------
    ranking : ModelRanking
    unit : {'items', 'battles'}
        Items that both models answer, like those there are; or battles between just these two,
        with scores that are log strengths.
    n_items : int, optional
        Behind the present scores; needed where the unit is items.
    more : sequence of int >= 0
        Numbers n to look at.
    pairs : {'neighbours', 'all'}
        Models that stand next to each other in the ranking, or all pairs.
    jointly : bool
        Whether "resolved" means resolved at once with all other pairs, by the ranking's present
        critical value; else for itself.

    Returns
    -------
    DataFrame
        A row for each pair and n: `model_a`, `model_b`, `difference`, `se`, `p_above`;
        `n_resolves`: the smallest n that resolves the pair if the difference stays what it is
        (0 if it is resolved, infinite if it is zero); `n`; `p_expected`: mean of P(a above b)
        after n more, if the true difference is the estimated one; `p_resolved`: probability,
        by what is known now, that the pair will be resolved after n more, either way round.

    Raises
    ------
    ValueError
        If an option is out of range, or the ranking knows no strengths to fight battles with.

    Notes
    -----
    Normal approximation. With v the present variance of the difference d and :math:`\lambda` the
    information of one more unit, the variance after n more is :math:`v_n = 1/(1/v + n\lambda)`.
    For items, :math:`\lambda = 1/(v\,n_{items})`: variance falls like one over the number of
    items, which supposes that they are new draws from where the present ones came from, and that a
    prior matters little. For battles, :math:`\lambda = p(1-p)`, p the probability that a
    beats b: one battle without ties. Then

    .. math::

        p_{expected} = \Phi\bigl(d / \sqrt{v_n + n\lambda v_n^2}\bigr), \qquad
        n_{resolves} = \lceil (z^2/d^2 - 1/v) / \lambda \rceil,

    and the future estimate is normal around d with variance :math:`v - v_n`, which gives
    `p_resolved`. If the true difference is the estimated one, a pair is
    resolved about every other time at `n_resolves`.

    Examples
    --------
    >>> from neartie import Battles, fit_bradley_terry, rank_models
    >>> battles = Battles.build(["moss"] * 13, ["fern"] * 13, ["a"] * 9 + ["b"] * 4)
    >>> ranking = rank_models(fit_bradley_terry(battles, phantom_wins=0), rng=1)
    >>> what_would_it_take(ranking, unit="battles", more=[15])[["n_resolves", "p_expected"]].round(3)
       n_resolves  p_expected
    0        15.0       0.945
    """
    _check(ranking, unit, n_items, more, pairs)
    table = _chosen(ranking, pairs)
    difference = table["difference"].to_numpy(dtype=np.float64)
    variance = np.square(table["se"].to_numpy(dtype=np.float64))
    information = unit_information(difference, variance, unit=unit, n_items=n_items)
    z = ranking.critical if jointly else float(stats.norm.ppf(0.5 + ranking.level / 2))
    z = max(z, float(stats.norm.ppf(0.5 + ranking.level / 2)))
    parts = []
    for n in more:
        part = table[["model_a", "model_b", "difference", "se", "p_above"]].copy()
        part["n_resolves"] = units_to_resolve(difference, variance, information, z=z)
        part["n"] = int(n)
        part["p_expected"] = expected_probability(difference, variance, information, n=n)
        part["p_resolved"] = chance_to_resolve(difference, variance, information, n=n, z=z)
        parts.append(part)
    whole = pd.concat(parts, keys=range(len(parts)))
    return whole.sort_index(level=1, kind="stable", sort_remaining=False).reset_index(drop=True)


def unit_information(
    difference: ArrayLike, variance: ArrayLike, *, unit: str, n_items: int | None = None
) -> Floats:
    """Return the information on the difference of a pair in one more item or battle.

    Parameters
    ----------
    difference : (n_pair,) float
        Logit, where the unit is battles.
    variance : (n_pair,) float
        Present variance of the difference.
    unit : {'items', 'battles'}
    n_items : int, optional
        Behind the present scores.

    Returns
    -------
    (n_pair,) float
        One over the variance that a unit alone would leave.
    """
    if unit == "battles":
        p = special.expit(np.asarray(difference, dtype=np.float64))
        return np.asarray(p * (1 - p))
    with np.errstate(divide="ignore"):
        return np.asarray(1 / (np.asarray(variance, dtype=np.float64) * (n_items or 1)))


def units_to_resolve(
    difference: Floats, variance: Floats, information: Floats, *, z: float
) -> Floats:
    """Return how many further units put a difference z standard errors away from zero.

    Examples
    --------
    >>> units_to_resolve(np.array([0.5, 0.0]), np.array([1.0, 1.0]), np.array([0.1, 0.1]), z=2.0)
    array([150.,  inf])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        lacking = np.square(z / difference) - 1 / variance
        units = np.ceil(lacking / information - 1e-9)
    return np.where(difference == 0, np.inf, np.where(lacking <= 0, 0.0, units))


def expected_probability(
    difference: Floats, variance: Floats, information: Floats, *, n: float
) -> Floats:
    """Return the mean P(a above b) after n more units, if the estimated difference is the truth."""
    future = _future(variance, information, n)
    # Of the future estimate, as far as it comes from the new units.
    spread = n * np.where(variance > 0, information, 0.0) * future**2
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = difference / np.sqrt(future + spread)
    return np.asarray(stats.norm.cdf(np.where(difference == 0, 0.0, ratio)))


def chance_to_resolve(
    difference: Floats, variance: Floats, information: Floats, *, n: float, z: float
) -> Floats:
    """Return the probability, by present knowledge, that n more units resolve the pair."""
    future = _future(variance, information, n)
    spread, reach = np.sqrt(np.maximum(variance - future, 0.0)), z * np.sqrt(future)
    with np.errstate(divide="ignore", invalid="ignore"):
        up, down = (difference - reach) / spread, (-difference - reach) / spread
    moved = stats.norm.cdf(up) + stats.norm.cdf(down)
    return np.where(spread > 0, moved, (np.abs(difference) > reach).astype(np.float64))


def _future(variance: Floats, information: Floats, n: float) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        found = 1 / (1 / variance + n * information)
    return np.where(variance > 0, found, 0.0)


def _chosen(ranking: ModelRanking, pairs: str) -> pd.DataFrame:
    table = ranking.pairs[ranking.pairs["identified"] == 1]
    if pairs == "neighbours":
        place = {name: row for row, name in enumerate(ranking.ranks["model"])}
        # As numbers, also where there is no pair.
        gap = table["model_b"].map(place).astype(float) - table["model_a"].map(place).astype(float)
        table = table[gap == 1]
    return table.reset_index(drop=True)


def _check(
    ranking: ModelRanking, unit: str, n_items: int | None, more: Sequence[int], pairs: str
) -> None:
    if unit not in UNITS:
        raise ValueError(f"unit must be one of {', '.join(UNITS)}, got {unit!r}")
    if unit == "items" and (n_items is None or n_items < 1):
        raise ValueError(f"n_items must be the number of items behind the scores, got {n_items}")
    if unit == "battles" and ranking.label != "strength":
        raise ValueError(
            f"battles are about log strengths, and these models are ranked by {ranking.label!r}"
        )
    if pairs not in ("neighbours", "all"):
        raise ValueError(f"pairs must be neighbours or all, got {pairs!r}")
    if not len(more) or min(more) < 0:
        raise ValueError(f"more must hold numbers of at least 0, got {list(more)}")
