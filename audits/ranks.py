"""Which ranks and orderings are credible, from draws or from estimates with their covariance."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neartie.audits.rank_pairs import Comparison, compare_draws, compare_normal, normal_draws
from neartie.audits.rank_result import ModelRanking
from neartie.audits.rank_sets import (
    central_ranks,
    critical_value,
    joint_intervals,
    rank_masses,
    sets_from_differences,
    sets_from_ranks,
)
from neartie.audits.rank_source import Scores, Source, scores_of
from neartie.audits.rank_tables import Ranked, collect_ranking
from neartie.audits.rank_tiers import shared_ranks, tiers
from neartie.data.errors import DataError
from neartie.data.memory import require_memory
from neartie.data.wording import counted

type Floats = NDArray[np.float64]
type Progress = Callable[[str, float], None]

LIBRARIES: Final = ("neartie", "numpy", "scipy", "pandas", "numba")
#: What the joint statement of `rank_set_low` and `rank_set_high` is made from.
SETS: Final = ("differences", "ranks")
_MATRICES: Final = 24


def rank_models(
    source: Source,
    *,
    models: Sequence[str] | None = None,
    covariance: ArrayLike | None = None,
    component: ArrayLike | None = None,
    variable: str | None = None,
    among: Sequence[str] | None = None,
    level: float = 0.95,
    top: int = 3,
    sets: str = "differences",
    n_draws: int = 4000,
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
) -> ModelRanking:
    r"""Return ranks with intervals and joint sets, tiers, and the probability of every ordering.

    Parameters
    ----------
    source : DataTree, BradleyTerryFit, DataFrame, array, or Scores
        A posterior, as `fit` writes it; a Bradley-Terry fit; a data frame of draws with one column
        a model; an array of draws (n_draw, n_model) with `models`; or an array of estimates
        (n_model,) with `models` and `covariance`; or what `read_scores` read. Higher is better.
    models : sequence of str, optional
        Ids of the columns of an array.
    covariance : (n_model, n_model) float, optional
        Of the estimates. Only that of differences counts: it may be singular, and a number added
        to all of it changes nothing.
    component : (n_model,) labels, optional
        Models with different labels cannot be compared: their pairs are not identified, and ranks
        and tiers are within a label. Fits and posteriors bring their own.
    variable : str, optional
        Of a posterior, the variable to rank by. What the posterior itself names, when left out,
        else `expected_score`, `strength` or `ability`.
    among : sequence of str, optional
        Rank these models only, among themselves. The others count for nothing, so that models
        with an infinite maximum-likelihood estimate can be left out.
    level : float in (0, 1)
        Of every interval and set.
    top : int
        K of `p_top_K`.
    sets : {'differences', 'ranks'}
        What `rank_set_...` is made from: intervals of all differences that hold at once, or the
        ranks in the draws (see Notes).
    n_draws : int
        How many draws to make where there is a covariance and none are given.
    rng : Generator, int or None
        For these draws; an int is the seed itself. The order of the models does not matter.
    progress : callable, optional
        Called with the name of a step and the share of it that is done.

    Returns
    -------
    ModelRanking

    Raises
    ------
    DataError
        If ids are blank or repeated, a number is not finite, a covariance is not positive
        semi-definite, a model to rank is unknown or its estimate infinite, the draws are too few to bound an interval of
        this level, or memory does not suffice.
    ValueError
        If an option is out of range.

    Notes
    -----
    With :math:`\hat d_{ij}` the mean of the difference of models i and j and :math:`s_{ij}` its
    standard deviation, c is the smallest number for which at least `level` of the draws have
    :math:`|d_{ij} - \hat d_{ij}| \le c\, s_{ij}` **for all pairs at once**; draws are those given,
    or made from the covariance. Draws given are judged by the mean and standard deviation of all
    others, and c is such that one more draw would be within with that probability (see
    `neartie.audits.rank_sets.critical_value`). Of model i the set of ranks is

    .. math:: \{1 + \#\{j: \hat d_{ji} > c\,s_{ij}\}, \dots, n - \#\{j: \hat d_{ij} > c\,s_{ij}\}\}.

    For estimates this is the simultaneous confidence set of Mogstad et al. in one step; for a
    posterior it holds all ranks with at least the probability `level`, and most often more.
    Sets, tiers and jointly resolved pairs hold together. With ``sets='ranks'`` the sets are
    instead the narrowest equal-tailed rank intervals of one common level that hold all ranks of
    at least `level` of the draws (Besag et al.). They are narrower, and true only as far as the
    draws are a posterior whose prior is right: among near ties, ranks of draws are surer of
    themselves than they should be.

    Ties within a draw count as if broken at random. Estimates closer than a millionth of the
    standard error of their difference share the best rank among them.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm (2024), Review of Economic Studies 91(1), 476-518.
    doi:10.1093/restud/rdad006
    Besag, Green, Higdon and Mengersen (1995), Statistical Science 10(1), 3-41, section 6.3.
    doi:10.1214/ss/1177010123

    Examples
    --------
    Nine of thirteen battles against four: too few to tell the two apart.

    >>> from neartie import Battles, fit_bradley_terry
    >>> battles = Battles.build(["moss"] * 13, ["fern"] * 13, ["a"] * 9 + ["b"] * 4)
    >>> ranking = rank_models(fit_bradley_terry(battles, phantom_wins=0), rng=1)
    >>> ranking.ranks[["model", "rank", "rank_set_low", "rank_set_high", "tier"]]
      model  rank  rank_set_low  rank_set_high  tier
    0  moss     1             1              2     1
    1  fern     2             1              2     1
    >>> ranking.pairs[["difference", "low", "high", "p_above"]].round(3)
       difference    low   high  p_above
    0       0.811 -0.367  1.989    0.911
    """
    _check(level, top, sets, n_draws)
    say = progress or _silent
    scores = scores_of(
        source, models=models, covariance=covariance, component=component, variable=variable
    )
    if among is not None:
        scores = scores.among(among)
    scores.require_finite()
    n = len(scores.models)
    drawn = len(scores.draws) or n_draws
    _require_draws(drawn, level)
    needed = _MATRICES * 8 * n * n + 4 * 8 * n * drawn
    require_memory(needed, purpose=f"the ranks of {counted(n, 'model')}")
    seed = 0 if scores.has_draws and rng is None else _seed(rng)
    generator = np.random.default_rng(seed)
    parts = []
    groups = _components(scores)
    for number, members in enumerate(groups):
        say("pairs", number / len(groups))
        parts.append(_compare(scores, members, level=level, n_draws=n_draws, rng=generator))
    deviation = np.stack([part.found.deviation for part in parts]).max(axis=0)
    critical = critical_value(deviation, level=level, known=not scores.has_draws)
    say("ranks", 0)
    ranked = [_rank(part, critical=critical, level=level, sets=sets) for part in parts]
    return collect_ranking(
        scores,
        ranked,
        level=level,
        top=top,
        sets=sets,
        critical=critical,
        n_draws=drawn,
        seed=seed,
        versions=dict(_versions()),
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Part:
    """A connected set of models, compared."""

    members: NDArray[np.intp]
    estimate: Floats
    draws: Floats
    found: Comparison


def _compare(
    scores: Scores,
    members: NDArray[np.intp],
    *,
    level: float,
    n_draws: int,
    rng: np.random.Generator,
) -> _Part:
    estimate = scores.estimate[members]
    if scores.has_draws:
        draws = scores.draws[:, members]
        found = compare_draws(draws, level=level)
    else:
        covariance = scores.covariance[np.ix_(members, members)]
        draws = normal_draws(estimate, covariance, n_draw=n_draws, rng=rng)
        found = compare_normal(estimate, covariance, draws, level=level)
    return _Part(members=members, estimate=estimate, draws=draws, found=found)


def _rank(part: _Part, *, critical: float, level: float, sets: str) -> Ranked:
    found, n = part.found, len(part.members)
    joint_low, joint_high = joint_intervals(found, critical)
    mass = rank_masses(part.draws)
    low, high = central_ranks(mass, level=level)
    if sets == "ranks":
        set_low, set_high, held = sets_from_ranks(part.draws, mass, level=level)
    else:
        held = 1.0
        set_low, set_high = sets_from_differences(joint_low, joint_high)
    rank = shared_ranks(part.estimate, found.se)
    centred = part.draws - part.draws.mean(axis=1, keepdims=True)
    shift = part.estimate - centred.mean(axis=0)
    tail = (1 - level) / 2
    limits = np.quantile(centred, [tail, 1 - tail], axis=0) + shift
    others = found.p_above.sum(axis=1) + (found.p_tied.sum(axis=1) - 1) / 2
    return Ranked(
        members=part.members,
        estimate=part.estimate,
        limits=limits,
        rank=rank,
        rank_mean=n - others,
        rank_interval=np.stack([low, high]),
        rank_set=np.stack([set_low, set_high]),
        held=held,
        mass=mass,
        tier=tiers(rank, joint_low),
        found=found,
        joint=np.stack([joint_low, joint_high]),
    )


def _components(scores: Scores) -> list[NDArray[np.intp]]:
    """Return the models of each connected set, the largest first, then by their first id."""
    groups = [np.flatnonzero(scores.component == code) for code in np.unique(scores.component)]
    return sorted(groups, key=lambda members: (-len(members), members[0]))


def _check(level: float, top: int, sets: str, n_draws: int) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level}")
    if top < 1:
        raise ValueError(f"top must be at least 1, got {top}")
    if sets not in SETS:
        raise ValueError(f"sets must be one of {', '.join(SETS)}, got {sets!r}")
    if n_draws < 100:
        raise ValueError(f"n_draws must be at least 100, got {n_draws}")


def _require_draws(drawn: int, level: float) -> None:
    """Refuse draws of which less than one lies beyond a limit: their extremes bound nothing."""
    needed = math.ceil(round(2 / (1 - level), 6))
    if drawn < needed:
        raise DataError(
            f"{counted(drawn, 'draw')} cannot bound intervals of level {level:g}: at least "
            f"{needed:,} are needed, and better {20 * needed:,}"
        )


def _seed(rng: np.random.Generator | int | None) -> int:
    if isinstance(rng, (int, np.integer)):
        if rng < 0:
            raise ValueError(f"a seed is a whole number of at least 0, got {rng}")
        return int(rng)
    return int(np.random.default_rng(rng).integers(2**53))


@cache
def _versions() -> dict[str, str]:
    """Return them once: looking them up takes longer than ranking a few models."""
    return {"python": platform.python_version()} | {name: version(name) for name in LIBRARIES}


def _silent(_step: str, _share: float) -> None:
    """Say nothing."""
