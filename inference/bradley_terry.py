"""Bradley–Terry strengths of models from battles, by P1's iteration or by Newton's method."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from neartie.data.battle_graph import Separation, separate
from neartie.data.battle_order import position_notices
from neartie.data.battles import Battles
from neartie.data.errors import CaveatWarning
from neartie.data.memory import require_memory
from neartie.data.pair_counts import PairCounts
from neartie.data.wording import counted, listed
from neartie.inference.bradley_terry_existence import refuse_infinite
from neartie.inference.bradley_terry_kernel import (
    Codes,
    Optimum,
    Problem,
    covariance,
    evaluate,
    newton,
)
from neartie.inference.bradley_terry_mm import minorise
from neartie.inference.bradley_terry_phantoms import add_phantoms, phantom_notices
from neartie.inference.bradley_terry_result import BradleyTerryFit
from neartie.models.bradley_terry import TIE_MODELS, Floats, TieModel

PHANTOM_WINS: Final = 0.1
ENGINES: Final = ("newton", "mm")
_MATRICES: Final = 8


def fit_bradley_terry(
    battles: Battles,
    *,
    engine: str = "newton",
    ties: TieModel = "half",
    first_shown: bool = False,
    phantom_wins: float | None = None,
    prior_sd: float = np.inf,
    tolerance: float | None = None,
    max_iterations: int | None = None,
) -> BradleyTerryFit:
    r"""Return log strengths with their covariance.

    Parameters
    ----------
    battles : Battles
    engine : {'newton', 'mm'}
        Newton's method for every model below; or P1's minorisation-maximisation, which has the
        same optimum, but knows neither tie models nor priors nor the first-shown effect.
    ties : {'half', 'davidson', 'rao-kupper'}
        Ties as half a win for either side, or as an outcome of their own.
    first_shown : bool
        Whether to estimate the advantage of whoever is shown first, on the logit scale.
    phantom_wins : float, battles, optional
        Wins added to each side of every pair of models within a connected set, played or not.
        P1's 0.1 when left out, but 0 where there is a prior, a tie model, or a first-shown
        effect. With 0 and no prior the estimate is maximum likelihood.
    prior_sd : float, logit
        Standard deviation of a normal prior on each strength; none by default. Sums over
        connected sets stay zero, and nothing links different sets.
    tolerance : float, logit, optional
        End when no parameter moves further in one step; 1e-10 for Newton, 1e-11 for MM.
    max_iterations : int, optional
        100 for Newton, 100,000 for MM.

    Returns
    -------
    BradleyTerryFit

    Raises
    ------
    DataError
        If a common parameter has no finite estimate, or the matrix would not fit into memory.
    ValueError
        If an option is out of range, or the engine does not know it.

    Warns
    -----
    CaveatWarning
        If the iteration does not converge, or maximum likelihood is infinite for some models.

    Notes
    -----
    P1 says "0.1 phantom wins per pair"; here each side gets 0.1, so that a pair's count grows by
    0.2, also in the information. Phantom wins are not assigned to a position. A battle of weight w
    counts as w independent battles. Notices say so if phantom wins move some difference by more
    than half of the standard error that it has without them, or shorten that by a quarter.

    References
    ----------
    P1, "Pairwise Duels and the Bradley-Terry Layer", eq. (mm) and the one below it.

    Examples
    --------
    >>> battles = Battles.build(["owl"] * 10, ["ant"] * 10, ["a"] * 7 + ["b"] * 3)
    >>> fit = fit_bradley_terry(battles, phantom_wins=0)
    >>> gap = fit.difference("owl", "ant")
    >>> round(gap.estimate, 4), round(gap.se, 4)
    (0.8473, 0.6901)
    """
    phantom = _check_options(engine, ties, first_shown, phantom_wins, prior_sd)
    _check_limits(tolerance, max_iterations)
    n = battles.n_model
    require_memory(_MATRICES * 8 * n * n, purpose=f"the covariance of {n:,} models", limit=None)
    counts = battles.counts(by_position=first_shown)
    separation = separate(counts, battles.models)
    regularised = phantom > 0 or np.isfinite(prior_sd)
    group = separation.component if regularised else separation.group
    notices = _notices(battles, separation, regularised)
    if first_shown:
        notices += position_notices(battles)
    if ties != "half" and not counts.ties.any():
        notices.append(f"there is no tie: the tie parameter of {ties!r} stands at its border")
    observed = build_problem(
        counts, group=group, ties=ties, first_shown=first_shown, prior_sd=prior_sd
    )
    problem = add_phantoms(observed, separation.component, phantom)
    refuse_infinite(problem)
    # One thread is as fast at these sizes, and does not wait for a busy processor.
    with threadpool_limits(limits=1, user_api="blas"):
        optimum = _run(problem, engine, tolerance, max_iterations)
        curve = evaluate(problem, optimum.point)
        full = covariance(problem, curve.information)
        if phantom and optimum.converged:
            unaided = group if np.isfinite(prior_sd) else separation.group
            notices += phantom_notices(
                build_problem(
                    counts, group=unaided, ties=ties, first_shown=first_shown, prior_sd=prior_sd
                ),
                optimum.point,
                full,
                models=battles.models,
            )
    if not optimum.converged:
        notices.append(
            f"{engine} did not converge: after {optimum.n_iterations:,} iterations the last step "
            f"was {optimum.largest_step:.1e}"
        )
        warnings.warn(notices[-1], CaveatWarning, stacklevel=2)
    if not regularised and separation.is_separated:
        warnings.warn(
            "maximum likelihood is infinite for some models: "
            + "; ".join(separation.sentences())
            + "; use phantom wins or a prior",
            CaveatWarning,
            stacklevel=2,
        )
    own = np.diag(curve.information)[:n]
    within = optimum.point[:n]
    n_battles, _, win_rate = counts.by_model()
    idle = [name for name, weight in zip(battles.models, n_battles, strict=True) if weight == 0]
    if idle:
        notices.append(f"{counted(len(idle), 'model')} without any battle: {listed(idle)}")
    return BradleyTerryFit(
        models=battles.models,
        strength=np.where(n_battles > 0, _placed(within, group, separation), np.nan),
        within=within,
        covariance=np.ascontiguousarray(full[:n, :n]),
        se_diagonal=np.divide(1.0, np.sqrt(own), out=np.full(n, np.inf), where=own > 0),
        component=separation.component,
        group=group,
        separation=separation,
        n=n_battles,
        win_rate=win_rate,
        parameters=_parameters(problem, optimum, full, ties),
        log_likelihood=evaluate(
            replace(observed, precision=0.0), optimum.point, curvature=False
        ).value,
        engine=engine,
        ties=ties,
        phantom_wins=phantom,
        prior_sd=float(prior_sd),
        first_shown=first_shown,
        converged=optimum.converged,
        n_iterations=optimum.n_iterations,
        largest_step=optimum.largest_step,
        notices=tuple(notices),
    )


def build_problem(
    counts: PairCounts, *, group: Codes, ties: TieModel, first_shown: bool, prior_sd: float
) -> Problem:
    """Return what is maximised, without phantom wins: only pairs within groups carry likelihood.

    Parameters
    ----------
    counts : PairCounts
        By position if there is a first-shown effect.
    group : (n_model,) int
        Groups within which the estimate is finite.
    ties, first_shown, prior_sd
        As in `fit_bradley_terry`. Without a tie, a tie model has nothing to estimate and becomes
        the one of half wins, which is then the same.

    Returns
    -------
    Problem
    """
    inside = group[counts.first] == group[counts.second]
    kept = counts if inside.all() else counts.take(inside)
    return Problem(
        n_model=counts.n_model,
        first=kept.first,
        second=kept.second,
        shown=kept.shown.astype(np.float64),
        wins=kept.wins,
        losses=kept.losses,
        tied=kept.ties,
        group=group,
        ties=ties if kept.ties.any() else "half",
        has_order=first_shown,
        precision=prior_sd**-2,
    )


def _check_options(
    engine: str, ties: str, first_shown: bool, phantom_wins: float | None, prior_sd: float
) -> float:
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    if ties not in TIE_MODELS:
        raise ValueError(f"ties must be one of {', '.join(TIE_MODELS)}, got {ties!r}")
    if not prior_sd > 0:
        raise ValueError(f"prior_sd must be positive, got {prior_sd}")
    is_plain = ties == "half" and not first_shown and not np.isfinite(prior_sd)
    if engine == "mm" and not is_plain:
        raise ValueError(
            "engine 'mm' takes ties as half wins, and knows no first-shown effect and no prior; "
            "use engine 'newton'"
        )
    if phantom_wins is None:
        return PHANTOM_WINS if is_plain else 0.0
    if not (np.isfinite(phantom_wins) and phantom_wins >= 0):
        raise ValueError(f"phantom_wins must be finite and not negative, got {phantom_wins}")
    return float(phantom_wins)


def _check_limits(tolerance: float | None, max_iterations: int | None) -> None:
    if tolerance is not None and not tolerance > 0:
        raise ValueError(f"tolerance must be positive, got {tolerance}")
    if max_iterations is not None and max_iterations < 1:
        raise ValueError(f"max_iterations must be at least 1, got {max_iterations}")


def _notices(battles: Battles, separation: Separation, regularised: bool) -> list[str]:
    notices = [*battles.notices, *separation.sentences()]
    if regularised and separation.is_separated:
        notices.append(
            "strengths of models that never lose or never win are finite only by virtue of "
            "phantom wins or prior"
        )
    return notices


def _run(
    problem: Problem, engine: str, tolerance: float | None, max_iterations: int | None
) -> Optimum:
    if engine == "mm":
        return minorise(
            problem, tolerance=tolerance or 1e-11, max_iterations=max_iterations or 100_000
        )
    return newton(problem, tolerance=tolerance or 1e-10, max_iterations=max_iterations or 100)


def _placed(within: Floats, group: Codes, separation: Separation) -> Floats:
    """Return strengths with infinite ones for groups that maximum likelihood sends away."""
    strength = within.copy()
    if group is separation.component:
        return strength
    sizes = np.bincount(group)
    for component in range(int(separation.component.max()) + 1):
        members = np.unique(group[separation.component == component])
        if len(members) == 1:
            continue
        # Groups are numbered by component, the largest first.
        is_reference = sizes[members[0]] > sizes[members[1]]
        for one in members[1:] if is_reference else members:
            if is_reference:
                sign = separation.order(int(one), int(members[0]))
            else:
                sign = bool(separation.beneath(int(one))) - bool(separation.atop(int(one)))
            strength[group == one] = sign * np.inf if sign else np.nan
    return strength


def _parameters(problem: Problem, optimum: Optimum, full: Floats, ties: TieModel) -> pd.DataFrame:
    """Return the first-shown effect and the tie parameter, where fitted."""
    rows: list[tuple[str, float, float, str]] = []
    se = np.sqrt(np.maximum(np.diag(full), 0.0))
    if problem.has_order:
        at = problem.n_model
        rows.append(("first_shown", float(optimum.point[at]), float(se[at]), ""))
    if problem.has_tie:
        rows.append(("log_tie", float(optimum.point[-1]), float(se[-1]), ties))
    elif ties != "half":
        border = -np.inf if ties == "davidson" else 0.0
        rows.append(("log_tie", border, np.nan, f"{ties}, at its border: there is no tie"))
    return pd.DataFrame(rows, columns=["parameter", "estimate", "se", "note"])
