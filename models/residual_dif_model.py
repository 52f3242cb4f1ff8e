"""The residual-DIF model, a fixed offset and family effects, in PyMC."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import ArrayLike, NDArray

from neartie.data.errors import DataError
from neartie.data.responses import Responses
from neartie.models.answers import checked_answers, family_notices, family_positions
from neartie.models.dif_effects import ZeroSum, check_zero_sum, family_effects
from neartie.models.predictor import item_model_coords, observe_answers
from neartie.models.prior_only import prior_only
from neartie.models.priors import ResidualDifPriors
from neartie.models.record import ModelRecord

type Floats = NDArray[np.float64]


def build_residual_dif(
    responses: Responses,
    offset: ArrayLike,
    *,
    priors: ResidualDifPriors | None = None,
    zero_sum: ZeroSum = "families",
    hierarchical: bool = False,
    sparse: bool = False,
) -> pm.Model:
    r"""Return the model of family effects that remain beside a fixed offset.

    Parameters
    ----------
    responses : Responses
        Right/wrong answers, the model table with the column `family`; missing cells have no
        likelihood. The order of rows and columns changes nothing.
    offset : (n_item, n_model) float, logit
        What ability explains, in the order of the responses; for the audit's see
        `neartie.inference.spectral`.
    priors : ResidualDifPriors, optional
        By default those whose mode is the penalised estimate of the audit.
    zero_sum : {'families', 'families_and_items'}
        Over what the effects sum to zero.
    hierarchical : bool
        Estimate the scale of the effects.
    sparse : bool
        A regularised horseshoe over items.

    Returns
    -------
    pm.Model
        With `model.neartie`, its `ModelRecord`. Variables: `easiness` (item, logit), `dif` (item,
        family, logit), `dif_range` (item), `dif_scale` where it is estimated, `score`, observed.
        Constant data: `model_family` and `offset`.

    Raises
    ------
    DataError
        If a score is graded, a family is missing or there is one only, or, under a flat prior of
        easiness, an item has equal answers or none: its easiness would be infinite.
    ValueError
        If the offset has another shape or is not finite, or options contradict each other.

    Notes
    -----
    ::

        score[i, m] ~ Bernoulli(logit = offset[i, m] + easiness[i] + dif[i, f(m)])
        easiness[i] ~ Flat()             (or Normal(easiness_mean, easiness_sd))
        dif ~ ZeroSumNormal(dif_sd)      (or scales as in build_mirt_dif)

    With a flat easiness and a fixed scale the mode is the minimum of P0's equation 3 with penalty
    :math:`\lambda = 1/\mathrm{dif\_sd}^2`. Models do not differ but by their offset, so the
    ranking by expected score is that of fixed abilities.

    References
    ----------
    P0, equations 1 to 4 and appendix C.4.

    Examples
    --------
    >>> import pandas as pd
    >>> models = pd.DataFrame({"model": ["a", "b"], "family": ["Phi", "Llama"]})
    >>> answers = Responses.build([[1, 0], [0, 1]], items=["q1", "q2"], models=models)
    >>> [variable.name for variable in build_residual_dif(answers, np.zeros((2, 2))).free_RVs]
    ['easiness', 'dif']
    """
    check_zero_sum(zero_sum)
    if hierarchical and sparse:
        raise ValueError("choose one of hierarchical and sparse: sparse effects have scales")
    chosen = ResidualDifPriors() if priors is None else priors
    answers = checked_answers(responses)
    families, position = family_positions(answers.responses)
    fixed = _ordered(responses, answers.responses, offset)
    if chosen.easiness_sd is None:
        _refuse_infinite(answers.responses)
    coords: dict[str, Any] = {**item_model_coords(answers), "family": families}
    with pm.Model(coords=coords) as model:
        pm.Data("model_family", position, dims="model")
        pm.Data("offset", fixed, dims=("item", "model"))
        easiness = (
            pm.Flat("easiness", dims="item")
            if chosen.easiness_sd is None
            else pm.Normal("easiness", chosen.easiness_mean, chosen.easiness_sd, dims="item")
        )
        effects = family_effects(
            chosen,
            zero_sum=zero_sum,
            sparse=sparse,
            fixed_scale=None if hierarchical or sparse else chosen.dif_sd,
        )
        pm.Deterministic("dif_range", effects.max(axis=1) - effects.min(axis=1), dims="item")
        observe_answers(answers, *_factors(easiness, effects, position), offset=fixed)
    model.neartie = _record(
        model,
        chosen,
        {"zero_sum": zero_sum, "hierarchical": hierarchical, "sparse": sparse},
        notices=answers.notices + family_notices(families, position),
    )
    return model


def _record(
    model: pm.Model,
    priors: ResidualDifPriors,
    options: dict[str, Any],
    *,
    notices: tuple[str, ...],
) -> ModelRecord:
    scale = ("dif_scale",) if "dif_scale" in model.named_vars else ()
    return ModelRecord(
        kind="residual-dif",
        options=options,
        priors=priors.to_dict(),
        diagnosed=("easiness", "dif", "dif_range", *scale),
        ranking="expected_score",
        notices=notices,
    )


def _factors(easiness: Any, effects: Any, position: NDArray[np.intp]) -> tuple[Any, Any]:
    indicator = np.eye(position.max() + 1)[position].T
    left = pt.concatenate([easiness[:, None], effects], axis=1)
    return left, np.concatenate([np.ones((1, len(position))), indicator], axis=0)


def _ordered(given: Responses, canonical: Responses, offset: ArrayLike) -> Floats:
    """Return the offset in canonical order."""
    values = np.asarray(offset, dtype=np.float64)
    if values.shape != (given.n_item, given.n_model):
        raise ValueError(
            f"the offset must have the shape of the responses, {given.n_item} items x "
            f"{given.n_model} models; got {values.shape}"
        )
    if not np.isfinite(values).all():
        raise ValueError("the offset must be finite everywhere, also where answers are missing")
    row = {name: i for i, name in enumerate(given.item_ids)}
    column = {name: m for m, name in enumerate(given.model_ids)}
    rows = [row[name] for name in canonical.item_ids]
    return values[rows][:, [column[name] for name in canonical.model_ids]]


def _refuse_infinite(responses: Responses) -> None:
    table = prior_only(responses)
    items = table[table["kind"] == "item"]
    if len(items):
        first = items.iloc[0]
        raise DataError(
            f"under a flat prior {len(items)} of {responses.n_item} items have no finite easiness, "
            f"the first of them {first['id']!r} ({first['reason']}): leave them out (see "
            "neartie.prior_only), or give ResidualDifPriors(easiness_sd=...)"
        )
