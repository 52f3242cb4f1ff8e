"""What can be ranked: draws of the models' scores, or estimates with their covariance."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from neartie.data.errors import DataError
from neartie.data.labels import natural_key
from neartie.data.wording import counted, listed
from neartie.inference.bradley_terry_result import BradleyTerryFit

type Floats = NDArray[np.float64]
#: Variables that say how good a model is, in the order in which they are looked for.
VARIABLES: Final = ("expected_score", "strength", "ability")
#: Attributes of a posterior that name the variable to rank by.
_ATTRIBUTES: Final = ("ranking_variable", "ranking")
_SYMMETRY: Final = 1e-8


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Scores:
    """What is known of the models' scores.

    Attributes
    ----------
    models : tuple of str
        Ids, in natural order, which is the order of all arrays.
    draws : (n_draw, n_model) float
        Draws of a posterior or a bootstrap; no rows where there are none.
    estimate : (n_model,) float
        Infinite or NaN where a fit has no finite one; such a model can only be left out.
    covariance : (n_model, n_model) float
        Of the estimates; empty where there are draws.
    component : (n_model,) int
        Models with different numbers cannot be compared.
    label : str
        What the scores are, such as `ability`.
    kind : str
        What they come from.
    converged : {'yes', 'no', 'not assessed'}
    verdict : str
        A sentence on convergence; blank where there is nothing to say.
    n_items : int
        Items behind the scores; 0 where it is not known, or there are none.
    notices : tuple of str
        Caveats of the fit behind the scores, such as the models for whom the prior alone speaks.
    """

    models: tuple[str, ...]
    draws: Floats
    estimate: Floats
    covariance: Floats
    component: NDArray[np.intp]
    label: str
    kind: str
    converged: str
    verdict: str
    n_items: int
    notices: tuple[str, ...] = ()

    @property
    def has_draws(self) -> bool:
        """Whether there are draws, and no covariance."""
        return len(self.draws) > 0

    def require_finite(self) -> None:
        """Refuse models whose estimate is infinite or missing: their ranks have no interval.

        Raises
        ------
        DataError
            If there is one.
        """
        lost = [
            name
            for name, value in zip(self.models, self.estimate, strict=True)
            if not np.isfinite(value)
        ]
        if lost:
            given = set(self.estimate[~np.isfinite(self.estimate)])
            what = "infinite" if all(np.isinf(value) for value in given) else "not finite"
            fit = ", or fit with phantom wins or a prior" if self.label == "strength" else ""
            raise DataError(
                f"the {self.label} of {listed(lost)} is {what}, so that its rank has no interval: "
                f"leave it out (--without, or among=... in Python){fit}"
            )

    def among(self, models: Sequence[str]) -> Scores:
        """Return some of the models only.

        Raises
        ------
        DataError
            If one is unknown or named twice, or none is named.
        """
        wanted = sorted(models, key=natural_key)
        position = {name: m for m, name in enumerate(self.models)}
        unknown = [name for name in wanted if name not in position]
        if unknown:
            raise DataError(
                f"there is no model {listed(unknown)} to rank; some of them: {listed(self.models)}"
            )
        _refuse_repeated(wanted)
        if not wanted:
            raise DataError("no model is named that should be ranked")
        place = [position[name] for name in wanted]
        cut = self.covariance if self.has_draws else self.covariance[np.ix_(place, place)]
        return replace(
            self,
            models=tuple(wanted),
            draws=self.draws[:, place],
            estimate=self.estimate[place],
            covariance=cut,
            component=self.component[place],
        )


type Source = Scores | xr.DataTree | BradleyTerryFit | pd.DataFrame | ArrayLike


def scores_of(
    source: Source,
    *,
    models: Sequence[str] | None = None,
    covariance: ArrayLike | None = None,
    component: ArrayLike | None = None,
    variable: str | None = None,
) -> Scores:
    """Return what is known of the models' scores, checked and in natural order of the ids.

    Parameters
    ----------
    source : Scores, DataTree, BradleyTerryFit, DataFrame, or array
        See `neartie.audits.ranks.rank_models`.
    models : sequence of str, optional
        Ids of the columns of an array.
    covariance : (n_model, n_model) float, optional
        Makes of a one-dimensional source estimates.
    component : (n_model,) labels, optional
        In the order of the source.
    variable : str, optional
        Of a posterior.

    Returns
    -------
    Scores

    Raises
    ------
    DataError
        If ids are missing, blank or repeated, a draw or a covariance is not finite, or the
        covariance is none. Estimates that are not finite are refused by `Scores.require_finite`,
        so that they can be left out before.
    """
    if isinstance(source, Scores):
        _only_with_arrays(models, covariance)
        found = source
    elif isinstance(source, xr.DataTree):
        _only_with_arrays(models, covariance)
        found = _from_posterior(source, variable)
    elif isinstance(source, BradleyTerryFit):
        _only_with_arrays(models, covariance)
        found = _from_fit(source)
    elif isinstance(source, pd.DataFrame):
        _only_with_arrays(models, covariance)
        found = _from_draws(source.to_numpy(dtype=np.float64), [str(c) for c in source.columns])
    else:
        found = _from_arrays(np.asarray(source, dtype=np.float64), models, covariance)
    if component is not None:
        found = replace(found, component=_codes(component, len(found.models)))
    order = sorted(range(len(found.models)), key=lambda m: natural_key(found.models[m]))
    return found.among([found.models[m] for m in order])


def _only_with_arrays(models: object, covariance: object) -> None:
    if models is not None or covariance is not None:
        raise ValueError("models and covariance go with an array; other sources bring their own")


def _from_arrays(
    values: Floats, models: Sequence[str] | None, covariance: ArrayLike | None
) -> Scores:
    if models is None:
        raise ValueError("an array needs the ids of its models: models=[...]")
    if covariance is None:
        if values.ndim != 2:
            raise ValueError(
                f"draws need two dimensions (draw, model), got {values.ndim}; estimates need "
                "covariance=..."
            )
        return _from_draws(values, list(models))
    if values.ndim != 1:
        raise ValueError(f"estimates have one dimension, got {values.ndim}")
    return _from_estimate(values, np.asarray(covariance, dtype=np.float64), list(models))


def _from_draws(draws: Floats, models: list[str]) -> Scores:
    _check_ids(models, draws.shape[1])
    if len(draws) == 0:
        raise DataError("there is no draw to rank by")
    bad = np.argwhere(~np.isfinite(draws))
    if len(bad):
        draw, model = bad[0]
        raise DataError(
            f"draw {draw + 1} of model {models[model]!r} is {draws[draw, model]}; "
            f"{counted(len(bad), 'value')} in all are no finite numbers"
        )
    return Scores(
        models=tuple(models),
        draws=draws,
        estimate=draws.mean(axis=0),
        covariance=np.empty((0, 0)),
        component=np.zeros(len(models), dtype=np.intp),
        label="score",
        kind="draws",
        converged="not assessed",
        verdict="",
        n_items=0,
    )


def _from_estimate(estimate: Floats, covariance: Floats, models: list[str]) -> Scores:
    n = len(estimate)
    _check_ids(models, n)
    if covariance.shape != (n, n):
        raise DataError(
            f"the covariance of {counted(n, 'model')} has shape ({n}, {n}), got {covariance.shape}"
        )
    for m, name in enumerate(models):
        if not np.isfinite(covariance[m]).all():
            raise DataError(f"the covariance of model {name!r} holds what is no finite number")
    scale = float(np.max(np.abs(covariance), initial=0.0))
    if np.max(np.abs(covariance - covariance.T), initial=0.0) > _SYMMETRY * scale:
        i, j = np.unravel_index(np.argmax(np.abs(covariance - covariance.T)), covariance.shape)
        raise DataError(
            f"the covariance is not symmetric: that of {models[i]!r} and {models[j]!r} is "
            f"{covariance[i, j]:g} and {covariance[j, i]:g}"
        )
    return Scores(
        models=tuple(models),
        draws=np.empty((0, n)),
        estimate=estimate,
        covariance=(covariance + covariance.T) / 2,
        component=np.zeros(n, dtype=np.intp),
        label="score",
        kind="estimate",
        converged="not assessed",
        verdict="",
        n_items=0,
    )


def _from_fit(fit: BradleyTerryFit) -> Scores:
    size = np.bincount(fit.component)
    alone = size[fit.component] == 1
    strength = np.where(alone, 0.0, fit.strength)
    found = _from_estimate(strength, fit.covariance, list(fit.models))
    verdict = f"The {fit.engine} iteration {'ended' if fit.converged else 'did not converge'}."
    return replace(
        found,
        component=fit.component.astype(np.intp),
        label="strength",
        kind="bradley-terry",
        converged="yes" if fit.converged else "no",
        verdict="" if fit.converged else verdict,
        notices=fit.notices,
    )


def _from_posterior(tree: xr.DataTree, variable: str | None) -> Scores:
    if "posterior" not in tree.children:
        raise DataError("this tree has no group 'posterior', so there are no draws to rank by")
    posterior = tree["posterior"].to_dataset()
    name = _ranking_variable(tree, posterior, variable)
    if name == "expected_score" and name not in posterior:
        from neartie.inference.expected_scores import expected_scores

        values = expected_scores(tree)
    else:
        values = posterior[name]
    sample = [dim for dim in ("chain", "draw") if dim in values.dims]
    if set(values.dims) != {*sample, "model"} or "draw" not in sample:
        raise DataError(
            f"variable {name!r} has dimensions {', '.join(map(str, values.dims))}; to be ranked "
            "by, it must have chain, draw and model, and no other"
        )
    if "model" not in values.coords:
        raise DataError(f"the dimension 'model' of variable {name!r} has no ids")
    array = values.transpose(*sample, "model").to_numpy().astype(np.float64)
    models = [str(label) for label in values["model"].to_numpy()]
    found = _from_draws(array.reshape(-1, array.shape[-1]), models)
    converged = str(tree.attrs.get("converged", "not assessed"))
    return replace(
        found,
        component=_component_of(tree, len(models)),
        label=name,
        kind=str(tree.attrs.get("kind", "posterior")),
        converged=converged,
        verdict=str(tree.attrs.get("verdict", "")),
        n_items=posterior.sizes.get("item", 0),
        notices=_notices(tree),
    )


def _ranking_variable(tree: xr.DataTree, posterior: xr.Dataset, variable: str | None) -> str:
    named = [variable] if variable else [str(tree.attrs.get(name, "")) for name in _ATTRIBUTES]
    for name in filter(None, named):
        if name in posterior or name == "expected_score":
            return name
        held = listed([str(other) for other in posterior.data_vars])
        raise DataError(f"the posterior has no variable {name!r}; it has {held}")
    for name in VARIABLES:
        if name in posterior and set(posterior[name].dims) <= {"chain", "draw", "model"}:
            return name
    raise DataError(
        f"none of the variables {', '.join(VARIABLES)} is in this posterior, and it does not say "
        "which one to rank by; name it with variable=... (--variable)"
    )


def _notices(tree: xr.DataTree) -> tuple[str, ...]:
    try:
        found = json.loads(str(tree.attrs.get("notices", "[]")))
    except ValueError:
        # Another program may mean something else by the name; nothing of ours is lost.
        return ()
    return tuple(map(str, found)) if isinstance(found, list) else ()


def _component_of(tree: xr.DataTree, n_model: int) -> NDArray[np.intp]:
    if "constant_data" in tree.children and "component" in tree["constant_data"].data_vars:
        return _codes(tree["constant_data"]["component"].to_numpy(), n_model)
    return np.zeros(n_model, dtype=np.intp)


def _codes(component: ArrayLike, n_model: int) -> NDArray[np.intp]:
    labels = np.asarray(component)
    if labels.shape != (n_model,):
        raise DataError(
            f"component needs one label for each of {counted(n_model, 'model')}, got shape "
            f"{labels.shape}"
        )
    return np.unique(labels.astype(str), return_inverse=True)[1].astype(np.intp)


def _check_ids(models: list[str], n_column: int) -> None:
    if len(models) != n_column:
        raise DataError(
            f"there are {counted(n_column, 'column')} of numbers and {counted(len(models), 'id')}"
        )
    if not models:
        raise DataError("there is no model to rank")
    for place, name in enumerate(models):
        if not isinstance(name, str):
            raise DataError(f"the id of model {place + 1} is not text: {name!r}")
        if not name.strip():
            raise DataError(f"the id of model {place + 1} is blank")
    _refuse_repeated(models)


def _refuse_repeated(models: Sequence[str]) -> None:
    times = Counter(models)
    repeated = sorted((name for name in times if times[name] > 1), key=natural_key)
    if repeated:
        raise DataError(f"model {listed(repeated)} is there more than once; ids must differ")
