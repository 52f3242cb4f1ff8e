"""Joint posterior mode of the multidimensional model with family effects, its scales held."""

from __future__ import annotations

import warnings
from typing import Final, Literal, get_args

import numpy as np
from scipy.special import expit
from threadpoolctl import threadpool_limits

from neartie.data.errors import CaveatWarning
from neartie.data.memory import available_memory, require_memory
from neartie.data.responses import Responses
from neartie.data.wording import counted
from neartie.inference.mirt_dif_result import MirtDifFit
from neartie.inference.mirt_errors import (
    MOST_MODELS,
    MOST_WORK,
    joint_errors,
    joint_memory,
    joint_work,
    known_errors,
)
from neartie.inference.mirt_newton import MAX_ITERATIONS, MirtSummit, climb, curves_upwards
from neartie.inference.mirt_objective import Floats, PenalisedMirt, Point
from neartie.inference.mirt_scales import (
    FoundScales,
    MirtDifScales,
    empirical_scales,
    prior_scales,
)
from neartie.inference.mirt_start import random_start, spectral_start
from neartie.models.answers import checked_answers, family_notices, family_positions
from neartie.models.dif_effects import ZeroSum, check_zero_sum
from neartie.models.flag_words import flags_in_words
from neartie.models.priors import MirtDifPriors

type ScaleRule = Literal["answers", "prior"]
type Errors = Literal["auto", "joint", "known"]

#: Nats by which starts may differ and still have found one optimum.
_SAME_OPTIMUM: Final = 1e-6
#: Below so many answers for each parameter of an item, intervals are known to be too short.
_FEW_ANSWERS: Final = 15
#: Share of an axis' usual mean square below which it is empty.
_EMPTY: Final = 1e-6


def fit_mirt_dif_map(
    responses: Responses,
    *,
    dimension: int,
    priors: MirtDifPriors | None = None,
    scales: MirtDifScales | ScaleRule = "answers",
    zero_sum: ZeroSum = "families",
    errors: Errors = "auto",
    starts: int = 1,
    max_iterations: int = MAX_ITERATIONS,
    rng: np.random.Generator | int | None = None,
) -> MirtDifFit:
    r"""Return the joint posterior mode of abilities, loadings, easiness and family effects.

    Parameters
    ----------
    responses : Responses
        Right/wrong answers, the model table with the column `family`; missing cells do not count.
        The order of rows and columns changes nothing.
    dimension : int
        K, the number of dimensions of ability.
    priors : MirtDifPriors, optional
        Of the scales; not used where these are given.
    scales : MirtDifScales or {'answers', 'prior'}
        At what the scales of the priors are held: at given values; at those that the answers make
        most probable; or at the medians of their priors.
    zero_sum : {'families', 'families_and_items'}
        Over what the effects sum to zero, as in `build_mirt_dif`.
    errors : {'auto', 'joint', 'known'}
        Standard errors that count all parameters as uncertain; or those that take the other side
        as known, which are too small. `auto` takes joint ones where they take half a minute at most.
    starts : int
        The first is a decomposition of the answers; further ones are drawn from the priors.
    max_iterations : int
        Of Newton steps.
    rng : Generator or int, optional
        Of further starts.

    Returns
    -------
    MirtDifFit

    Raises
    ------
    DataError
        If a score is graded, there is no answer, a family is missing, there is one only, or a
        matrix would not fit into memory.
    ValueError
        If an option is out of range.

    Warns
    -----
    CaveatWarning
        If the iteration does not converge.

    Notes
    -----
    The target is the density that `build_mirt_dif` gives to ability, loading, easiness and `dif`,
    answers and scales given. Together with the scales it has no useful maximum: they shrink to
    zero with all that they spread, and the density grows without bound. Scales are therefore
    found first, each parameter counted with its uncertainty, and then held; see
    `neartie.inference.mirt_scales.empirical_scales`. That they are estimated is not in the errors.

    With loadings and abilities normal, the two penalties are together the sum of the singular
    values of their product over the loading scale: the mode's predictor is a logistic regression
    with that penalty and a rank of at most K. Where K is what the answers carry, starts end at one
    predictor; with a few dozen models and more dimensions than that, one in several ended half a
    nat below. Once no singular value of the residuals is above the inverse of the loading scale,
    further dimensions stay empty, and the optimum is the only one.

    The mode's unit of ability is not the prior's (abilities are larger and loadings smaller where
    there are more items than models). That changes nothing for models with many answers; those
    with few are drawn too close to the mean, and their errors are too small.

    Expected scores are those of the probabilities at the mode (not their posterior means); their
    errors are by the delta method. Effects are shrunk to zero by their prior, so that ranges of
    effects are smaller than the true ones.

    References
    ----------
    P0, equations 1 to 4. Srebro, Rennie and Jaakkola (2005), Maximum-margin matrix factorization,
    NIPS 17, for the penalty on singular values.

    Examples
    --------
    >>> import pandas as pd
    >>> models = pd.DataFrame({"model": list("abcd"), "family": ["Phi", "Llama", "Phi", "Llama"]})
    >>> answers = Responses.build(
    ...     [[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0]], items=["x", "y", "z"], models=models
    ... )
    >>> fit = fit_mirt_dif_map(answers, dimension=1, scales="prior")
    >>> fit.table()["expected_score"].round(2).tolist()
    [0.75, 0.62, 0.6, 0.28]
    """
    _check_options(dimension, scales, errors, starts, max_iterations)
    check_zero_sum(zero_sum)
    chosen = MirtDifPriors() if priors is None else priors
    answers = checked_answers(responses)
    data = answers.responses
    families, family = family_positions(data)
    empty = PenalisedMirt.of(
        data.values == 1,
        data.observed,
        family,
        dimension=int(dimension),
        sums_over_items=zero_sum == "families_and_items",
    )
    require_memory(
        8 * (8 * data.values.size + 3 * data.n_item * len(empty.mean) ** 2),
        purpose=f"{dimension} dimensions of {data.n_item:,} items and {data.n_model:,} models",
    )
    generator = np.random.default_rng(rng)
    # One thread each: the same bytes on every machine. Blocks of items go to several threads.
    with threadpool_limits(limits=1, user_api="blas"):
        found = _scales(empty, scales, chosen)
        problem = found.scales.hold(empty)
        points = [found.point, *(random_start(problem, generator) for _ in range(starts - 1))]
        ends = [climb(problem, point, max_iterations=max_iterations) for point in points]
        summit = min(ends, key=lambda end: end.state.value)
        known = known_errors(problem, summit)
        wanted = _is_joint(problem, errors)
        joint = joint_errors(problem, summit) if wanted else None
        is_maximum = joint is not None if wanted else curves_upwards(problem, summit)
        ability, loading = principal_axes(problem, summit.point)
        score = expit(summit.point.item @ summit.state.design).mean(axis=0)
    notices = _doubts(problem, ends, summit, found, joint is not None, is_maximum, errors)
    if not summit.converged:
        warnings.warn(notices[0], CaveatWarning, stacklevel=2)
    covariance = np.diag(known.score**2) if joint is None else joint.covariance
    variance = np.maximum(np.diag(covariance), 0.0)
    items = known if joint is None else joint
    k = problem.dimension
    return MirtDifFit(
        models=tuple(data.model_ids),
        items=tuple(data.item_ids),
        families=families,
        family=family,
        expected_score=score,
        se=np.sqrt(variance),
        se_items_known=known.score,
        covariance=covariance if data.n_model <= MOST_MODELS else np.empty((0, 0)),
        easiness=summit.point.item[:, k].copy(),
        easiness_se=items.easiness,
        easiness_se_abilities_known=known.easiness,
        dif=summit.point.item[:, k + 1 :] @ problem.basis.T,
        dif_se=items.dif,
        dif_se_abilities_known=known.dif,
        ability=ability,
        loading=loading,
        scales=found.scales,
        scales_from=scales if isinstance(scales, str) else "given",
        dimension=k,
        zero_sum=zero_sum,
        errors="known" if joint is None else "joint",
        flags=tuple(flags_in_words(data, data.item_ids)),
        n=data.observed.sum(axis=0),
        n_answers=data.observed.sum(axis=1),
        log_posterior=-summit.state.value,
        converged=summit.converged,
        is_maximum=is_maximum,
        largest_slope=summit.largest_slope,
        n_iterations=summit.n_iterations,
        n_products=summit.n_products,
        n_rounds=found.n_rounds,
        scales_converged=found.converged,
        start_log_posteriors=tuple(-end.state.value for end in ends),
        notices=(*notices, *answers.notices, *family_notices(families, family)),
    )


def principal_axes(problem: PenalisedMirt, point: Point) -> tuple[Floats, Floats]:
    """Return ability and loading on the principal axes of their product.

    Parameters
    ----------
    problem : PenalisedMirt
    point : Point

    Returns
    -------
    ability : (dimension, n_model) float
    loading : (n_item, dimension) float
        The same product. Mean squares of abilities decrease; the loadings of an axis sum to zero
        or more.
    """
    k = problem.dimension
    _, axes = np.linalg.eigh(point.ability @ point.ability.T)
    axes = axes[:, ::-1]
    loading = point.item[:, :k] @ axes
    axes = axes * np.where(loading.sum(axis=0) < 0, -1.0, 1.0)
    return np.asarray(axes.T @ point.ability), np.asarray(point.item[:, :k] @ axes)


def _scales(
    problem: PenalisedMirt, scales: MirtDifScales | ScaleRule, priors: MirtDifPriors
) -> FoundScales:
    start = spectral_start(problem)
    if isinstance(scales, str) and scales == "answers":
        return empirical_scales(problem, start, priors)
    held = scales if isinstance(scales, MirtDifScales) else prior_scales(priors, problem.dimension)
    return FoundScales(scales=held, point=start, n_rounds=0, converged=True)


def _is_joint(problem: PenalisedMirt, errors: str) -> bool:
    if errors != "auto":
        return errors == "joint"
    free = available_memory()
    fits = free is None or joint_memory(problem) < free
    return fits and joint_work(problem) <= MOST_WORK and problem.n_model <= MOST_MODELS


def _doubts(
    problem: PenalisedMirt,
    ends: list[MirtSummit],
    summit: MirtSummit,
    found: FoundScales,
    is_joint: bool,
    is_maximum: bool,
    errors: str,
) -> list[str]:
    """Return what is doubtful, the worst first."""
    said = []
    if not summit.converged:
        said.append(
            f"the mode was not reached: after {counted(summit.n_iterations, 'iteration')} the "
            f"largest slope is {summit.largest_slope:.1e} nat"
        )
    if not is_maximum:
        said.append("the curvature at the estimate is not that of a maximum of the density")
    if not found.converged:
        said.append(
            f"the scales still moved after {counted(found.n_rounds, 'round')}; they are held at "
            "the last values"
        )
    apart = max(end.state.value for end in ends) - summit.state.value
    if apart > _SAME_OPTIMUM:
        said.append(f"starts end up to {apart:.3g} nats apart; the best one is reported")
    if not is_joint and errors != "known":
        reason = "would need more time or memory" if is_maximum else "need a maximum"
        said.append(
            "standard errors of scores take items as known, those of items abilities as known, "
            f"and scores of different models as independent: all are too small (joint ones {reason})"
        )
    squares = np.square(np.linalg.svd(summit.point.ability, compute_uv=False))
    axes = min(problem.dimension, problem.n_model)
    n_empty = problem.dimension - int((squares > _EMPTY * problem.n_model).sum())
    if n_empty and axes:
        said.append(
            f"{n_empty} of {counted(problem.dimension, 'dimension')} hold nothing at the mode: "
            "the answers do not outweigh the penalty on loadings there"
        )
    typical = float(np.median(problem.observed.sum(axis=1)))
    if typical < _FEW_ANSWERS * len(problem.mean):
        said.append(
            f"half of the items have {typical:.0f} answers or fewer, for "
            f"{len(problem.mean)} parameters each: below {_FEW_ANSWERS} answers a parameter the "
            "joint mode's intervals are too short; a posterior (engine nuts) has no such trouble"
        )
    return said


def _check_options(
    dimension: int, scales: object, errors: str, starts: int, max_iterations: int
) -> None:
    whole = isinstance(dimension, int | np.integer) and not isinstance(dimension, bool)
    if not whole or dimension < 1:
        raise ValueError(f"dimension must be a whole number of at least 1, got {dimension!r}")
    rules = get_args(ScaleRule.__value__)
    if not isinstance(scales, MirtDifScales) and scales not in rules:
        raise ValueError(
            f"scales must be one of {', '.join(rules)}, or MirtDifScales, got {scales!r}"
        )
    if errors not in get_args(Errors.__value__):
        raise ValueError(f"errors must be one of auto, joint, known, got {errors!r}")
    for name, value in (("starts", starts), ("max_iterations", max_iterations)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
