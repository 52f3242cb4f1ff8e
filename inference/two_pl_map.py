"""Abilities and items of the 2PL by P1's penalised likelihood: exact optimum, or Adam as printed."""

from __future__ import annotations

import warnings
from typing import Final, Literal, get_args

import numpy as np
from threadpoolctl import threadpool_limits

from neartie.data.errors import CaveatWarning, DataError
from neartie.data.memory import require_memory
from neartie.data.responses import Responses
from neartie.data.wording import counted, listed
from neartie.inference.two_pl_arrow import Penalised
from neartie.inference.two_pl_climb import (
    MAX_ADAM,
    MAX_NEWTON,
    Summit,
    adam,
    newton,
    random_start,
    warm_start,
)
from neartie.inference.two_pl_place import MOST_MODELS, Placed, place
from neartie.inference.two_pl_result import TwoPLFit
from neartie.models.answers import checked_answers
from neartie.models.flag_words import flags_in_words
from neartie.models.prior_only import prior_only, prior_only_notices
from neartie.models.priors import TwoPLPriors

type Optimiser = Literal["newton", "adam"]
type Centring = Literal["after", "within"]
type ConstantItems = Literal["drop", "keep"]
type Unit = Literal["mode", "posterior"]

#: A unit of the mode that is further than this from the posterior's is said.
_UNIT_TOLERANCE: Final = 0.05
#: Below so many answers a model, and above so many items a model, intervals are known not to hold.
_FEW_ANSWERS: Final = 30
_MANY_ITEMS: Final = 5
#: Nats by which starts may differ and still have found one optimum.
_SAME_OPTIMUM: Final = 1e-6
_FIELDS: Final = (
    "ability_sd",
    "difficulty_sd",
    "log_discrimination_mean",
    "log_discrimination_sd",
)


def fit_two_pl_map(
    responses: Responses,
    *,
    priors: TwoPLPriors | None = None,
    optimiser: Optimiser = "newton",
    centring: Centring | None = None,
    unit: Unit | None = None,
    constant_items: ConstantItems = "drop",
    starts: int = 1,
    max_iterations: int | None = None,
    rng: np.random.Generator | int | None = None,
) -> TwoPLFit:
    r"""Return the joint posterior mode of abilities, difficulties and discriminations.

    Parameters
    ----------
    responses : Responses
        Right/wrong answers; missing cells do not count. The order of rows and columns changes
        nothing.
    priors : TwoPLPriors, optional
        P1's by default. Used are `ability_sd`, `difficulty_sd`, `log_discrimination_mean` and
        `log_discrimination_sd`.
    optimiser : {'newton', 'adam'}
        Newton's method, to the exact optimum; or Adam with P1's stopping rule, to reproduce it.
    centring : {'after', 'within'}, optional
        Re-centre abilities and difficulties together at the optimum; or hold the mean of the
        abilities at zero on the way, which P1's text describes and which ends at a slightly
        worse point of its objective. `after` for Newton, always `within` for Adam.
    unit : {'mode', 'posterior'}, optional
        Keep the unit of ability in which the mode comes out, as printed; or stretch abilities
        and difficulties (and shrink discriminations) to the unit that the posterior has. The
        posterior's by default, in which intervals hold; the mode's for Adam, which is here to
        reproduce P1.
    constant_items : {'drop', 'keep'}
        Items with equal answers, or with one: leave them out, so that they have no estimates and
        change nothing; or keep them, with estimates that are the prior's.
    starts : int
        The first is P1's, log odds of accuracies; further ones are drawn from the priors.
    max_iterations : int, optional
        200 for Newton, 500 for Adam.
    rng : Generator or int, optional
        Of further starts.

    Returns
    -------
    TwoPLFit

    Raises
    ------
    DataError
        If a score is graded, there is nothing to fit, or a matrix would not fit into memory.
    ValueError
        If an option is out of range.

    Warns
    -----
    CaveatWarning
        If the iteration does not converge.

    Notes
    -----
    The likelihood does not change if abilities and difficulties are multiplied by c and
    discriminations divided by it. Along that direction the density of a point favours small
    abilities, because it does not count that there is :math:`c^{n_{model} + n_{item}}` times the
    room at c. With a thousand items the mode's abilities are a fifth too small for it. Order and
    ranks do not depend on the unit; intervals for the abilities themselves hold in the
    posterior's unit, which counts the room, and which takes the expected squares of abilities and
    difficulties in the place of squares. Measured, they do from 30 answers a model on and up to
    5 items a model; notices say where they need not. P1's numbers are those of `unit="mode"`.

    Standard errors are those of the normal approximation at the mode: the inverse of all second
    derivatives, projected by the same centring as the estimates. `se_items_known` is P1's.

    References
    ----------
    P1, "Psychometric Scoring", equations `eq:2pl`, `eq:map`, `eq:se`.

    Examples
    --------
    >>> answers = Responses.build(
    ...     [[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0]], items=["x", "y", "z"], models=list("abcd")
    ... )
    >>> fit = fit_two_pl_map(answers)
    >>> fit.table()["ability"].round(3).tolist()
    [0.887, 0.175, 0.175, -1.238]
    """
    if unit is None:
        unit = "mode" if optimiser == "adam" else "posterior"
    _check_options(optimiser, centring, unit, constant_items, starts, max_iterations)
    chosen = TwoPLPriors() if priors is None else priors
    answers = checked_answers(responses)
    data = answers.responses
    require_memory(
        40 * data.values.size + 24 * min(data.n_model, 2 * data.n_item) ** 2,
        purpose=f"the curvature of {data.n_item:,} items and {data.n_model:,} models",
    )
    silent = prior_only(data)
    silent = silent[silent["kind"] == "item"]
    kept = np.full(data.n_item, True)
    if constant_items == "drop":
        kept = ~data.items["item"].isin(silent["id"]).to_numpy()
    if not kept.any():
        raise DataError(
            "no item has two different answers, so that there is nothing to compare models by"
        )
    fitted = data.take(items=kept)
    problem = Penalised.of(fitted.values == 1, fitted.observed, chosen)
    within = optimiser == "adam" or centring == "within"
    # One thread is as fast at these sizes, and gives the same bytes on every machine.
    with threadpool_limits(limits=1, user_api="blas"):
        climbs = _climb(
            problem, optimiser, starts, max_iterations, np.random.default_rng(rng), within=within
        )
        summit = min(climbs, key=lambda climb: climb.value)
        placed = place(problem, summit, unit=unit, within=within)
    notices = [*_silent_items(silent["id"].tolist(), constant_items), *prior_only_notices(fitted)]
    if constant_items == "keep":
        notices = list(answers.notices)
    notices = [*_doubts(summit, climbs, placed, optimiser, unit, problem), *notices]
    if not summit.converged:
        warnings.warn(notices[0], CaveatWarning, stacklevel=2)
    items = {name: np.full(data.n_item, np.nan) for name in placed.items}
    for name, values in placed.items.items():
        items[name][kept] = values
    ids = data.item_ids
    return TwoPLFit(
        models=tuple(data.model_ids),
        items=tuple(ids),
        ability=placed.ability,
        se=placed.se,
        se_items_known=placed.se_items_known,
        covariance=placed.covariance,
        **items,
        flags=tuple(
            flags_in_words(
                data,
                ids,
                discrimination=items["discrimination"],
                difficulty=items["difficulty"],
                uninformed="left out" if constant_items == "drop" else "prior only",
            )
        ),
        n=data.observed.sum(axis=0),
        n_answers=data.observed.sum(axis=1),
        shift=placed.shift,
        unit=placed.unit,
        posterior_unit=placed.posterior_unit,
        log_posterior=-summit.value,
        optimiser=optimiser,
        centring="within" if within else "after",
        constant_items=constant_items,
        priors={name: float(getattr(chosen, name)) for name in _FIELDS},
        converged=summit.converged,
        is_maximum=summit.is_minimum,
        n_iterations=summit.n_iterations,
        largest_step=summit.largest_step,
        start_log_posteriors=tuple(-climb.value for climb in climbs),
        notices=tuple(notices),
    )


def _climb(
    problem: Penalised,
    optimiser: str,
    starts: int,
    max_iterations: int | None,
    rng: np.random.Generator,
    *,
    within: bool,
) -> list[Summit]:
    """Return where each start ends."""
    found = []
    for k in range(starts):
        start = random_start(problem, rng) if k else warm_start(problem)
        if optimiser == "adam":
            found.append(adam(problem, start, max_iterations=max_iterations or MAX_ADAM))
        else:
            limit = max_iterations or MAX_NEWTON
            found.append(newton(problem, start, sum_zero=within, max_iterations=limit))
    return found


def _silent_items(ids: list[str], constant_items: str) -> list[str]:
    if not ids or constant_items == "keep":
        return []
    verb = "is" if len(ids) == 1 else "are"
    return [
        f"{counted(len(ids), 'item')} {verb} left out, without two different answers: {listed(ids)}"
    ]


def _doubts(
    summit: Summit,
    climbs: list[Summit],
    placed: Placed,
    optimiser: str,
    unit: str,
    problem: Penalised,
) -> list[str]:
    """Return what is doubtful, the worst first."""
    found = []
    if not summit.converged:
        found.append(
            f"{optimiser} did not converge: after {counted(summit.n_iterations, 'iteration')} "
            f"the optimum is {summit.largest_step:.1e} away, to first order"
        )
    if not summit.is_minimum:
        found.append(
            "the curvature at the estimate is not that of a maximum; standard errors are from "
            "the expected information"
        )
    apart = max(climb.value for climb in climbs) - summit.value
    if apart > _SAME_OPTIMUM and optimiser == "newton":
        found.append(f"starts end up to {apart:.3g} nats apart; the best one is reported")
    if unit == "mode" and abs(np.log(placed.posterior_unit)) > _UNIT_TOLERANCE:
        found.append(
            "the joint mode's unit of ability is not the prior's: abilities, difficulties and "
            f"their errors are to be multiplied by {placed.posterior_unit:.3f} for intervals to "
            "hold (unit 'posterior', the default of newton); order and ranks stay the same"
        )
    typical = float(np.median(problem.observed.sum(axis=0)))
    if typical < _FEW_ANSWERS:
        found.append(
            f"half of the models have {typical:.0f} answers or fewer: below {_FEW_ANSWERS} the joint "
            "mode's intervals are too short; a posterior (engine nuts) has no such trouble"
        )
    if problem.n_item > _MANY_ITEMS * problem.n_model:
        found.append(
            f"{counted(problem.n_item, 'item')} for {counted(problem.n_model, 'model')}: the unit of "
            "ability is hardly known, so that intervals of abilities need not hold; ranks do not "
            "depend on it, and a posterior (engine nuts) counts it"
        )
    if problem.n_model > MOST_MODELS:
        found.append(
            f"the covariance of {problem.n_model:,} abilities is left out (more than "
            f"{MOST_MODELS:,}), so that ranks have no intervals"
        )
    return found


def _check_options(
    optimiser: str,
    centring: str | None,
    unit: str,
    constant_items: str,
    starts: int,
    max_iterations: int | None,
) -> None:
    for name, value, allowed in (
        ("optimiser", optimiser, get_args(Optimiser.__value__)),
        ("centring", centring or "after", get_args(Centring.__value__)),
        ("unit", unit, get_args(Unit.__value__)),
        ("constant_items", constant_items, get_args(ConstantItems.__value__)),
    ):
        if value not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
    if optimiser == "adam" and centring == "after":
        raise ValueError("Adam, as printed, centres after each step; leave centring out")
    if starts < 1:
        raise ValueError(f"starts must be at least 1, got {starts}")
    if max_iterations is not None and max_iterations < 1:
        raise ValueError(f"max_iterations must be at least 1, got {max_iterations}")
