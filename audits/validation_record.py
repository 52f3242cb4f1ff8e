"""What one simulated data set says: how intervals, positions, orders and ranks fared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from neartie.audits.ranks import rank_models
from neartie.audits.validation_points import PointFit
from neartie.inference.calibration import lag_one, ranks_of, truth_positions
from neartie.inference.mixing import FEWEST_DRAWS, mixing

type Floats = NDArray[np.float64]
type Values = Mapping[str, Floats]
type Positions = NDArray[np.intp]

LEVELS: Final = (0.5, 0.8, 0.95)
RANK_LEVEL: Final = 0.95
#: Draws that the position of a truth is taken among: few, so that they are nearly independent.
N_POSITION: Final = 100
#: Components of a quantity whose positions are kept, evenly spaced; intervals are of all.
MOST_TRACKED: Final = 100
#: Pairs of models that are compared, evenly spaced.
MOST_PAIRS: Final = 1000
#: Bins of P(i above j).
N_BIN: Final = 10
#: Quantities that are tested, but are no parameters with intervals.
UNCOVERED: Final = ("log_likelihood", "rank")
_DIGITS: Final = 6


def record_draws(
    found: Values,
    true: Values,
    *,
    ranking: str,
    n_chain: int,
    component: Positions,
    sampled: bool,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Return the record of draws beside the truth that their data came from.

    Parameters
    ----------
    found : mapping of quantity to (n_draw, ...) float
        Chain after chain.
    true : mapping of quantity to (1, ...) float
    ranking : str
        The quantity that ranks models.
    n_chain : int
    component : (n_model,) int
        Models with different numbers are not compared.
    sampled : bool
        Whether chains sampled the draws, so that their mixing can be judged.
    rng : Generator
        For ties.

    Returns
    -------
    dict
        Plain values.
    """
    shared = [name for name in found if name in true]
    flat = {name: np.reshape(found[name], (len(found[name]), -1)) for name in shared}
    truth = {name: np.reshape(true[name], -1) for name in shared}
    n_draw = len(flat[ranking])
    thinned = slice(None, None, max(1, n_draw // N_POSITION))
    quantities = {}
    for name in shared:
        kept = _spread(truth[name].size, MOST_TRACKED)
        quantities[name] = {} if name in UNCOVERED else _of_draws(flat[name], truth[name])
        quantities[name] |= _positions(flat[name][thinned, kept], truth[name][kept], rng)
    score = flat[ranking]
    own = _spread(truth[ranking].size, MOST_TRACKED)
    ranks = ranks_of(score[thinned])[:, own], ranks_of(truth[ranking][None])[0, own]
    quantities["rank"] = _positions(*ranks, rng)
    first, second = tracked_pairs(component)
    gap, true_gap = (
        score[:, first] - score[:, second],
        truth[ranking][first] - truth[ranking][second],
    )
    half = gap[thinned]
    names = [str(k) for k in range(score.shape[1])]
    ranking_table = (
        rank_models(score, models=names, component=component, level=RANK_LEVEL)
        if n_draw >= _draws_for(RANK_LEVEL)
        else None
    )
    return {
        "quantities": quantities,
        "differences": _of_draws(gap, true_gap) if len(first) else {},
        "orders": _orders(true_gap, _above(half[::2]), _above(half[1::2])),
        "ranks": {} if ranking_table is None else _ranks(ranking_table, truth[ranking], component),
        "mixing": _mixing(flat, ranking, n_chain) if sampled else {},
    }


def record_estimates(fit: PointFit, true: Values) -> dict[str, Any]:
    """Return the record of estimates beside the truth that their data came from.

    Notes
    -----
    Abilities and strengths are estimated with mean zero over the models that can be compared, and
    difficulties are moved with abilities; so are the truths, before they are compared.
    """
    truth = {name: np.reshape(true[name], -1) for name in fit.estimates}
    own = truth[fit.ranking]
    if fit.ranking in ("strength", "ability"):
        truth[fit.ranking] = _centred(own, fit.component)
        if "difficulty" in truth:
            truth["difficulty"] = truth["difficulty"] - own.mean()
        own = truth[fit.ranking]
    quantities = {
        name: _of_estimates(estimate, error, truth[name])
        for name, (estimate, error) in fit.estimates.items()
    }
    score = fit.estimates[fit.ranking][0]
    usable = np.where(np.isfinite(score), fit.component, -1)
    first, second = tracked_pairs(usable)
    record: dict[str, Any] = {"quantities": quantities, "differences": {}, "orders": {}}
    record |= {"ranks": {}, "mixing": {}}
    if not fit.covariance.size or not len(first):
        return record
    variance = np.diag(fit.covariance)
    square = variance[first] + variance[second] - 2 * fit.covariance[first, second]
    error, gap = np.sqrt(np.maximum(square, 0.0)), score[first] - score[second]
    true_gap = own[first] - own[second]
    with np.errstate(divide="ignore", invalid="ignore"):
        # of two models with equal estimates and no error, neither is above
        above = np.where((gap == 0) & (error == 0), 0.5, stats.norm.cdf(gap / error))
    record["differences"] = _of_estimates(gap, error, true_gap)
    record["orders"] = _orders(true_gap, above, above)
    if np.isfinite(score).all():
        names = [str(k) for k in range(len(score))]
        ranking = rank_models(
            score,
            models=names,
            covariance=fit.covariance,
            component=fit.component,
            level=RANK_LEVEL,
            rng=0,
        )
        record["ranks"] = _ranks(ranking, own, fit.component)
    return record


def tracked_pairs(component: Positions) -> tuple[Positions, Positions]:
    """Return the pairs that are compared: all within a connected set, or evenly spaced ones.

    Examples
    --------
    >>> tracked_pairs(np.array([0, 0, 1, 0]))
    (array([0, 0, 1]), array([1, 3, 3]))
    """
    first, second = np.triu_indices(len(component), 1)
    together = (component[first] == component[second]) & (component[first] >= 0)
    first, second = first[together], second[together]
    chosen = _spread(len(first), MOST_PAIRS)
    return first[chosen], second[chosen]


def _of_draws(draws: Floats, truth: Floats) -> dict[str, Any]:
    tails = [(1 - level) / 2 for level in LEVELS]
    limits = np.quantile(draws, [*tails, *(1 - tail for tail in tails)], axis=0)
    return _fared(draws.mean(axis=0), limits[: len(LEVELS)], limits[len(LEVELS) :], truth)


def _of_estimates(estimate: Floats, error: Floats, truth: Floats) -> dict[str, Any]:
    factor = np.array([stats.norm.ppf(0.5 + level / 2) for level in LEVELS])[:, None]
    with np.errstate(invalid="ignore"):
        low, high = estimate - factor * error, estimate + factor * error
    return _fared(estimate, low, high, truth)


def _fared(estimate: Floats, low: Floats, high: Floats, truth: Floats) -> dict[str, Any]:
    """Return means over components; those without a finite interval are counted apart."""
    used = np.isfinite(estimate) & np.isfinite(low).all(axis=0) & np.isfinite(high).all(axis=0)
    found: dict[str, Any] = {"n": int(used.sum()), "missing": int((~used).sum())}
    if not used.any():
        return found
    off = estimate[used] - truth[used]
    held = (low[:, used] <= truth[used]) & (truth[used] <= high[:, used])
    return found | {
        "bias": float(off.mean()),
        "square": float((off**2).mean()),
        "covered": held.mean(axis=1).tolist(),
        "width": (high - low)[:, used].mean(axis=1).tolist(),
    }


def _positions(draws: Floats, truth: Floats, rng: np.random.Generator) -> dict[str, Any]:
    places = truth_positions(draws, truth, rng=rng)
    return {"positions": places.round(_DIGITS).tolist(), "lag_one": lag_one(draws)}


def _orders(true_gap: Floats, even: Floats, odd: Floats) -> dict[str, Any]:
    """Return what the calibration of P(i above j) is made of; see `PairRecords.slope`."""
    if not len(true_gap):
        return {}
    truth = (true_gap > 0).astype(float)
    y, p, q = truth - 0.5, even - 0.5, odd - 0.5
    chance = 0.5 * (even + odd)
    # the order that is thought the likelier one, so that bins lie between a half and one
    likely = np.maximum(chance, 1 - chance)
    right = np.where(chance >= 0.5, truth, 1 - truth)
    place = np.minimum((likely - 0.5) * 2 * N_BIN, N_BIN - 1).astype(int)
    bins = [np.bincount(place, weights=w, minlength=N_BIN) for w in (None, likely, right)]
    return {
        "product": float((y * p + y * q).mean()),
        "expected": float((2 * p * q).mean()),
        "brier": float((0.5 * ((truth - even) ** 2 + (truth - odd) ** 2)).mean()),
        "bins": [part.tolist() for part in bins],
    }


def _ranks(ranking: Any, truth: Floats, component: Positions) -> dict[str, Any]:
    """Return how ranks and resolved pairs fared; ranks are within a connected set."""
    table = ranking.ranks.assign(place=ranking.ranks["model"].astype(int)).set_index("place")
    table = table.sort_index()
    above = (truth[None, :] > truth[:, None]) & (component[None, :] == component[:, None])
    rank = 1 + above.sum(axis=1)
    in_set = (table["rank_set_low"] <= rank) & (rank <= table["rank_set_high"])
    alone = (table["rank_low"] <= rank) & (rank <= table["rank_high"])
    pairs = ranking.pairs[ranking.pairs["identified"] == 1]
    one, other = truth[pairs["model_a"].astype(int)], truth[pairs["model_b"].astype(int)]
    wrong = (pairs["difference"].to_numpy() > 0) != (one > other)
    found: dict[str, Any] = {"n": len(rank), "n_pair": len(pairs)}
    for name in ("resolved", "resolved_jointly"):
        claimed = pairs[name].to_numpy() == 1
        found |= {name: int(claimed.sum()), f"{name}_wrong": int((claimed & wrong).sum())}
    return found | {
        "all_in_sets": bool(in_set.all()),
        "in_sets": float(in_set.mean()),
        "in_intervals": float(alone.mean()),
        "set_width": float((table["rank_set_high"] - table["rank_set_low"] + 1).mean()),
        "interval_width": float((table["rank_high"] - table["rank_low"] + 1).mean()),
    }


def _mixing(flat: Values, ranking: str, n_chain: int) -> dict[str, Any]:
    """Return the worst R-hat and sample sizes over tracked components."""
    parts = [flat[name][:, _spread(flat[name].shape[1], MOST_TRACKED)] for name in flat]
    said = [_mixed(part, n_chain) for part in (np.concatenate(parts, axis=1), flat[ranking])]
    if any(each is None or not each.varies.any() for each in said):
        return {}
    whole, scores = said
    bulk, tail = float(np.nanmin(whole.ess_bulk)), float(np.nanmin(whole.ess_tail))
    worst = float(np.nanmax(whole.r_hat)) if n_chain > 1 else None
    return {
        "max_rhat": worst,
        "min_ess": min(bulk, tail),
        "ess_ranking": float(np.nanmedian(scores.ess_bulk)),
    }


def _mixed(draws: Floats, n_chain: int) -> Any:
    by_chain = draws.reshape(n_chain, -1, draws.shape[1])
    return mixing(by_chain.transpose(2, 0, 1)) if by_chain.shape[1] >= FEWEST_DRAWS else None


def _centred(values: Floats, component: Positions) -> Floats:
    total = np.bincount(component, weights=values) / np.bincount(component)
    return np.asarray(values - total[component])


def _above(gap: Floats) -> Floats:
    return np.asarray((gap > 0).mean(axis=0) + 0.5 * (gap == 0).mean(axis=0))


def _spread(n: int, most: int) -> Positions:
    """Return positions of at most so many evenly spaced elements."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.intp))


def _draws_for(level: float) -> int:
    return int(np.ceil(round(2 / (1 - level), 6)))
