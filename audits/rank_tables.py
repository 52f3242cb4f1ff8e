"""The tables of a ranking, put together from its connected sets, and its caveats."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.rank_pairs import Comparison
from neartie.audits.rank_result import ModelRanking
from neartie.audits.rank_source import Scores
from neartie.data.wording import counted
from neartie.inference.expected_scores import FIXED_ABILITIES

type Floats = NDArray[np.float64]
type Codes = NDArray[np.int64]

# Draws that should lie in each tail of an interval.
_TAIL_DRAWS: Final = 20
# How a fit says that sets of models never met.
_APART: Final = "no battle connects"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Ranked:
    """A connected set of models, ranked.

    Attributes
    ----------
    members : (n_member,) int
        Positions among all models.
    estimate : (n_member,) float
    limits : (2, n_member) float
        Of the interval of each score.
    rank, tier : (n_member,) int
    rank_mean : (n_member,) float
    rank_interval, rank_set : (2, n_member) int
    held : float in [0, 1]
        Of sets from ranks, the share of draws that sets from all other draws would hold; else 1.
    mass : (n_member, n_member) float, probability
        Of model and rank.
    found : Comparison
    joint : (2, n_member, n_member) float
        Limits of all differences, which hold together.
    """

    members: NDArray[np.intp]
    estimate: Floats
    limits: Floats
    rank: Codes
    rank_mean: Floats
    rank_interval: Codes
    rank_set: Codes
    held: float
    mass: Floats
    tier: Codes
    found: Comparison
    joint: Floats


def collect_ranking(
    scores: Scores,
    parts: list[Ranked],
    *,
    level: float,
    top: int,
    sets: str,
    critical: float,
    n_draws: int,
    seed: int,
    versions: dict[str, str],
) -> ModelRanking:
    """Return the ranking of all connected sets.

    Parameters
    ----------
    scores : Scores
    parts : list of Ranked
        The connected sets, largest first.
    level, top, sets, critical, n_draws, seed, versions
        As in `ModelRanking`.

    Returns
    -------
    ModelRanking
    """
    names = np.array(scores.models, dtype=object)
    # Within a rank, members stand in the natural order of their ids.
    orders = [np.argsort(part.rank, kind="stable") for part in parts]
    tables = [
        _rank_table(part, order, names, component, top)
        for component, (part, order) in enumerate(zip(parts, orders, strict=True))
    ]
    pairs = [_pair_table(part, order, names) for part, order in zip(parts, orders, strict=True)]
    pairs += _across([table["model"].tolist() for table in tables])
    probability = [
        pd.DataFrame(part.mass[order], columns=[str(r + 1) for r in range(len(order))])
        for part, order in zip(parts, orders, strict=True)
    ]
    ranks = pd.concat(tables, ignore_index=True)
    masses = pd.concat(probability, ignore_index=True)
    masses.insert(0, "model", ranks["model"])
    filled = [table for table in pairs if len(table)]
    return ModelRanking(
        ranks=ranks,
        pairs=pd.concat(filled, ignore_index=True) if filled else pairs[0],
        rank_probability=masses,
        level=level,
        top=top,
        sets=sets,
        critical=critical,
        label=scores.label,
        kind=scores.kind,
        has_draws=scores.has_draws,
        n_models=len(scores.models),
        n_draws=n_draws,
        n_components=len(parts),
        converged=scores.converged,
        verdict=scores.verdict,
        seed=seed,
        settings={"level": level, "top": top, "sets": sets, "n_draws": n_draws},
        versions=versions,
        warnings=tuple(_caveats(scores, parts, level=level, n_draws=n_draws)),
    )


def _rank_table(
    part: Ranked, order: NDArray[np.intp], names: NDArray[Any], component: int, top: int
) -> pd.DataFrame:
    table = pd.DataFrame(
        {
            "model": pd.Series(names[part.members], dtype="str"),
            "estimate": part.estimate,
            "low": part.limits[0],
            "high": part.limits[1],
            "rank_mean": part.rank_mean,
            "rank_low": part.rank_interval[0],
            "rank_high": part.rank_interval[1],
            "rank_set_low": part.rank_set[0],
            "rank_set_high": part.rank_set[1],
            "p_best": part.mass[:, 0],
            "tier": part.tier,
            "rank": part.rank,
            f"p_top_{top}": np.minimum(part.mass[:, :top].sum(axis=1), 1.0),
            "component": component,
        }
    )
    return table.iloc[order].reset_index(drop=True)


def _pair_table(part: Ranked, order: NDArray[np.intp], names: NDArray[Any]) -> pd.DataFrame:
    first, second = np.triu_indices(len(order), k=1)
    i, j = order[first], order[second]
    found, (joint_low, joint_high) = part.found, part.joint
    low, high = found.low[i, j], found.high[i, j]
    return pd.DataFrame(
        {
            "model_a": pd.Series(names[part.members[i]], dtype="str"),
            "model_b": pd.Series(names[part.members[j]], dtype="str"),
            "difference": found.difference[i, j],
            "low": low,
            "high": high,
            "p_above": found.p_above[i, j],
            "resolved": ((low > 0) | (high < 0)).astype(int),
            "se": found.se[i, j],
            "p_tied": found.p_tied[i, j],
            "joint_low": joint_low[i, j],
            "joint_high": joint_high[i, j],
            "resolved_jointly": ((joint_low[i, j] > 0) | (joint_high[i, j] < 0)).astype(int),
            "identified": 1,
        }
    )


def _across(groups: list[list[str]]) -> list[pd.DataFrame]:
    """Return the pairs of models that nothing connects."""
    pairs = [(a, b) for one, other in combinations(groups, 2) for a in one for b in other]
    if not pairs:
        return []
    table = pd.DataFrame(pairs, columns=["model_a", "model_b"], dtype="str")
    for name in ("difference", "low", "high", "p_above"):
        table[name] = np.nan
    table["resolved"] = 0
    for name in ("se", "p_tied", "joint_low", "joint_high"):
        table[name] = np.nan
    table["resolved_jointly"] = 0
    table["identified"] = 0
    return [table]


def _because(verdict: str) -> str:
    """Return the reason that a verdict gives, without what it begins with."""
    for beginning in ("Not converged: ", "Convergence is not assessed: "):
        verdict = verdict.removeprefix(beginning)
    return f": {verdict}" if verdict else ""


def _caveats(scores: Scores, parts: list[Ranked], *, level: float, n_draws: int) -> list[str]:
    found = []
    if scores.converged == "no":
        found.append(
            "the fit behind these ranks did not converge, so that nothing below can be relied on"
            + _because(scores.verdict)
        )
    elif scores.has_draws and scores.converged != "yes":
        found.append("convergence of these draws was not assessed" + _because(scores.verdict))
    if len(parts) > 1:
        found.append(
            f"nothing connects the {len(parts)} sets of models with each other: ranks and tiers "
            "are within a set, and no model of one is above or below one of another"
        )
    if scores.kind == "residual-dif":
        found.append(FIXED_ABILITIES)
    # What nothing connects is said above, in words that fit ranks.
    found += [f"of the fit: {text}" for text in scores.notices if not text.startswith(_APART)]
    in_tail = n_draws * (1 - level) / 2
    if in_tail < _TAIL_DRAWS:
        found.append(
            f"{counted(n_draws, 'draw')} put {in_tail:.3g} beyond each limit of an interval; "
            "limits and joint sets are rough"
        )
    held = min(part.held for part in parts)
    # Half as many again are missed as should be.
    if held < level - (1 - level) / 2:
        found.append(
            f"the rank sets are made from the very draws that they are to hold, and hold only "
            f"{held:.0%} of draws that are left out: take more draws, or sets from differences"
        )
    fixed = sum(int(np.count_nonzero(np.triu(part.found.se == 0, k=1))) for part in parts)
    if fixed:
        verb = "has" if fixed == 1 else "have"
        found.append(
            f"{counted(fixed, 'pair')} {verb} a difference without any uncertainty: two models "
            "with the same scores throughout, or scores that do not vary"
        )
    return found
