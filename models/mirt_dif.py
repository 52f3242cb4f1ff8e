"""The multidimensional model with family effects on items, in PyMC."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray

from neartie.data.responses import Responses
from neartie.models.answers import Answers, checked_answers, family_notices, family_positions
from neartie.models.dif_effects import ZeroSum, check_zero_sum, family_effects
from neartie.models.predictor import at_cells, item_model_coords, observe_answers
from neartie.models.priors import MirtDifPriors
from neartie.models.record import ModelRecord

N_PROBE: Final = 60
# Which cells stand for the linear predictor depends on the data's sizes alone.
PROBE_SEED: Final = 20170


def build_mirt_dif(
    responses: Responses,
    *,
    dimension: int,
    priors: MirtDifPriors | None = None,
    zero_sum: ZeroSum = "families",
    sparse: bool = False,
    family_means: bool = False,
) -> pm.Model:
    r"""Return the multidimensional logistic model with family effects on every item.

    Parameters
    ----------
    responses : Responses
        Right/wrong answers, the model table with the column `family`; missing cells have no
        likelihood. The order of rows and columns changes nothing.
    dimension : int
        K, the number of dimensions of ability.
    priors : MirtDifPriors, optional
    zero_sum : {'families', 'families_and_items'}
        Effects of an item sum to zero over families. Summing to zero over items too leaves what a
        family is better at throughout (impact) to ability.
    sparse : bool
        A regularised horseshoe over items: most have no family effects, some have large ones.
    family_means : bool
        Let the mean ability differ between families in every dimension.

    Returns
    -------
    pm.Model
        With `model.neartie`, its `ModelRecord`. Dims `item`, `model`, `family`, `factor`, `probe`.
        Variables:

        - `ability` (factor, model), `loading` (item, factor): turn together, no direction of
          theirs means anything; align loadings before showing them;
        - `easiness` (item, logit), higher is easier;
        - `dif` (item, family, logit), higher favours the family; `dif_range` (item);
        - `loading_scale`, `easiness_mean`, `easiness_scale`, `dif_scale`;
        - `dif_standard`, and with `sparse` `dif_local`, `dif_slab_variance`: what `dif` is made of;
        - `family_mean` (factor, family): with `family_means`;
        - `linear_predictor` (probe, logit): of cells drawn once, by which convergence is judged;
        - `score`, observed.

        Constant data: `model_family`, `probe_item`, `probe_model`, positions.

    Raises
    ------
    DataError
        If a score is graded, there is no answer, a family is missing, or there is one only.
    ValueError
        If the dimension is not a positive number, or `zero_sum` is unknown.

    Notes
    -----
    ::

        score[i, m] ~ Bernoulli(logit = loading[i] . ability[:, m] + easiness[i] + dif[i, f(m)])
        ability[k, m] ~ Normal(family_mean[k, f(m)], 1)
        loading[i, k] ~ Normal(0, loading_scale)
        easiness[i] ~ Normal(easiness_mean, easiness_scale)
        dif = dif_scale * dif_standard,  dif_standard ~ ZeroSumNormal(1)
        dif_scale ~ HalfNormal(dif_scale_sd)
        loading_scale ~ LogNormal(log(loading_spread / sqrt(K)), log_scale_sd)
        easiness_mean ~ Normal(0, easiness_mean_sd)
        easiness_scale ~ LogNormal(log of its median, log_scale_sd)
        family_mean[k] ~ ZeroSumNormal(family_mean_sd)                  (else 0)

    `sparse`: see `neartie.models.dif_effects.family_effects`. One loading scale for all
    dimensions, so that not only the likelihood but the prior too is the same after a rotation.

    Identified are the linear predictor and what is made of it: expected scores, and by sums of
    zero easiness and effects. Under `zero_sum="families"` a shift of a family's abilities and the
    effects on all items can stand for each other, and the priors alone divide what they share.

    References
    ----------
    P0, equations 1 to 4.

    Examples
    --------
    >>> import pandas as pd
    >>> models = pd.DataFrame({"model": ["a", "b"], "family": ["Phi", "Llama"]})
    >>> answers = Responses.build([[1, 0], [1, 1]], items=["q1", "q2"], models=models)
    >>> model = build_mirt_dif(answers, dimension=1)
    >>> model.neartie.ranking, model.coords["family"]
    ('expected_score', ('Llama', 'Phi'))
    """
    if isinstance(dimension, bool) or not isinstance(dimension, int | np.integer) or dimension < 1:
        raise ValueError(f"dimension must be a whole number of at least 1, got {dimension!r}")
    check_zero_sum(zero_sum)
    chosen = MirtDifPriors() if priors is None else priors
    answers = checked_answers(responses)
    families, position = family_positions(answers.responses)
    coords: dict[str, Any] = {
        **item_model_coords(answers),
        "family": families,
        "factor": range(1, int(dimension) + 1),
    }
    with pm.Model(coords=coords) as model:
        pm.Data("model_family", position, dims="model")
        ability, loading, easiness = _parameters(chosen, position, family_means=family_means)
        effects = family_effects(chosen, zero_sum=zero_sum, sparse=sparse)
        pm.Deterministic("dif_range", effects.max(axis=1) - effects.min(axis=1), dims="item")
        left, right = _factors(ability, loading, easiness, effects, position)
        _probe(answers, left, right)
        observe_answers(answers, left, right)
    model.neartie = ModelRecord(
        kind="mirt-dif",
        options={
            "dimension": int(dimension),
            "zero_sum": zero_sum,
            "sparse": sparse,
            "family_means": family_means,
        },
        priors=chosen.to_dict(),
        diagnosed=(
            "linear_predictor",
            "easiness",
            "dif",
            "dif_range",
            "dif_scale",
            "loading_scale",
            "easiness_mean",
            "easiness_scale",
        ),
        ranking="expected_score",
        notices=answers.notices + family_notices(families, position),
    )
    return model


def _parameters(
    priors: MirtDifPriors, position: NDArray[np.intp], *, family_means: bool
) -> tuple[Any, Any, Any]:
    """Return ability (factor, model), loading (item, factor) and easiness (item)."""
    n_factor = len(pm.modelcontext(None).coords["factor"])
    center: Any = 0.0
    if family_means:
        means = pm.ZeroSumNormal(
            "family_mean", sigma=priors.family_mean_sd, dims=("factor", "family")
        )
        center = means[:, position]
    ability = pm.Normal("ability", center, 1.0, dims=("factor", "model"))
    median = priors.loading_spread / np.sqrt(n_factor)
    scale = pm.LogNormal("loading_scale", np.log(median), priors.log_scale_sd)
    loading = pm.Normal("loading", 0.0, scale, dims=("item", "factor"))
    mean = pm.Normal("easiness_mean", 0.0, priors.easiness_mean_sd)
    spread = pm.LogNormal("easiness_scale", np.log(priors.easiness_scale), priors.log_scale_sd)
    return ability, loading, pm.Normal("easiness", mean, spread, dims="item")


def _factors(
    ability: Any, loading: Any, easiness: Any, effects: Any, position: NDArray[np.intp]
) -> tuple[Any, Any]:
    """Return the two matrices whose product is the linear predictor.

    Effects enter through indicators of the families: one product of matrices has a far quicker
    gradient than a sum with gathered columns.
    """
    indicator = np.eye(position.max() + 1)[position].T
    left = pt.concatenate([loading, easiness[:, None], effects], axis=1)
    right = pt.concatenate([ability, np.ones((1, len(position))), indicator], axis=0)
    return left, right


def _probe(answers: Answers, left: Any, right: Any) -> None:
    """Add the linear predictor of a few answered cells."""
    n = len(answers.values)
    rng = np.random.default_rng(PROBE_SEED)
    chosen = np.sort(rng.choice(n, size=min(N_PROBE, n), replace=False))
    item, column = answers.cell_item[chosen], answers.cell_model[chosen]
    pm.modelcontext(None).add_coord("probe", range(len(chosen)))
    pm.Data("probe_item", item, dims="probe")
    pm.Data("probe_model", column, dims="probe")
    predictor = at_cells(left, right, item, column, whole=False)
    pm.Deterministic("linear_predictor", predictor, dims="probe")
