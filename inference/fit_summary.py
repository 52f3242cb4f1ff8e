"""What is written and shown of a fit: tables, verdict, settings, caveats."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any, Final

import numpy as np
import pandas as pd
import xarray as xr
from scipy import stats

from neartie.data.battle_order import PositionReport, known_positions, position_caveats
from neartie.data.battles import Battles
from neartie.data.responses import Responses
from neartie.data.wording import counted
from neartie.inference.bradley_terry_result import BradleyTerryFit
from neartie.inference.diagnostics import APPROXIMATE_ENGINES, diagnostics
from neartie.inference.expected_scores import FIXED_ABILITIES
from neartie.inference.posterior_tables import (
    dif_table,
    item_table,
    model_table,
    model_variable,
    parameter_table,
)
from neartie.models.flag_words import flags_in_words, model_flags

#: Packages whose versions stand beside the numbers of a point engine.
POINT_PACKAGES: Final = ("neartie", "numpy", "scipy", "numba")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FitSummary:
    """A fit, tabulated.

    Attributes
    ----------
    kind : str
        `two-pl`, `mirt-dif`, `residual-dif` or `bradley-terry`.
    engine : str
    quantity : str
        What models are compared by: the name of a column of `models`.
    models, items, dif, parameters, diagnostics : DataFrame
        As `neartie.inference.posterior_tables` and `neartie.inference.diagnostics` have them;
        models and items also have `flag` (text, blank where there is nothing to say). Empty where the
        model has no such thing. A point engine has `se` for `sd`, and no diagnostics.
    covariance : DataFrame
        `model`, and a column for each model: of the estimates of a point engine. Empty for a
        posterior.
    converged : str
        `yes`, `no` or `not assessed`.
    verdict : str
        A sentence.
    level : float in (0, 1)
        Of the intervals.
    seed : int or None
        None where nothing was drawn.
    n_models, n_items, n_observations : int
        Observations are answers or battles; no items with battles.
    settings, versions : dict
    warnings : tuple of str
        Caveats, worst first.
    order : PositionReport or None
        How often whoever was shown first won. None for answers, and for battles whose data do
        not say who was shown first and whose model does not ask.
    """

    kind: str
    engine: str
    quantity: str
    models: pd.DataFrame
    items: pd.DataFrame
    dif: pd.DataFrame
    parameters: pd.DataFrame
    diagnostics: pd.DataFrame
    covariance: pd.DataFrame
    converged: str
    verdict: str
    level: float
    seed: int | None
    n_models: int
    n_items: int
    n_observations: int
    settings: dict[str, Any]
    versions: dict[str, str]
    warnings: tuple[str, ...]
    order: PositionReport | None = None

    @property
    def is_approximate(self) -> bool:
        """Whether its draws are those of an approximating density, not of a sampler."""
        return self.engine in APPROXIMATE_ENGINES

    @property
    def can_be_ranked(self) -> bool:
        """Whether there are draws or a covariance of the estimates, of which ranks are made."""
        return not (self.diagnostics.empty and self.covariance.empty)

    def ranked(self) -> pd.DataFrame:
        """Return `models` from the highest to the lowest; equal ones by id.

        Where `component` says that sets of models cannot be compared, one set after the other.
        """
        sets = ["component"] if "component" in self.models else []
        return self.models.sort_values(
            [*sets, self.quantity, "model"],
            ascending=[*(True for _ in sets), False, True],
            ignore_index=True,
        )

    @property
    def n_sets(self) -> int:
        """Number of sets of models that nothing connects: 1 where all can be compared."""
        return int(self.models["component"].nunique()) if "component" in self.models else 1

    def to_dict(self) -> dict[str, Any]:
        """Return headline numbers and settings: what `summary.json` holds."""
        return {
            "kind": self.kind,
            "engine": self.engine,
            "quantity": self.quantity,
            "n_models": self.n_models,
            "n_items": self.n_items,
            "n_observations": self.n_observations,
            "converged": self.converged,
            "verdict": self.verdict,
            "parameters": self.parameters.to_dict("records"),
            "order": asdict(self.order) if self.order else None,
            "level": self.level,
            "seed": self.seed,
            "settings": self.settings,
            "versions": self.versions,
            "warnings": list(self.warnings),
        }


def summarise_posterior(
    posterior: xr.DataTree, data: Responses | Battles, *, level: float = 0.95
) -> FitSummary:
    """Return tables and verdict of a posterior.

    Parameters
    ----------
    posterior : DataTree
        As `neartie.inference.fit.fit` gives it.
    data : Responses or Battles
        What it was fitted to.
    level : float in (0, 1)
        Of the intervals.

    Returns
    -------
    FitSummary

    Raises
    ------
    ValueError
        If the level is out of range, or the posterior compares no models.
    """
    attributes = posterior.attrs
    settings = {
        **json.loads(attributes["settings"]),
        **json.loads(attributes.get("options", "{}")),
        **{f"prior_{name}": v for name, v in json.loads(attributes.get("priors", "{}")).items()},
    }
    counts = _counts(data)
    items = item_table(posterior, n=counts.items, level=level)
    if len(items):
        items["flag"] = _flags(items, data)
    models = model_table(posterior, n=counts.models, level=level)
    if isinstance(data, Responses):
        share = data.accuracy().set_index("model")["accuracy"]
        models.insert(2, "accuracy", share.reindex(models["model"]).to_numpy())
    if (component := _component(posterior)) is not None:
        models["component"] = component
    models = flagged_models(models, data)
    notices = json.loads(attributes.get("notices", "[]"))
    if attributes["kind"] == "residual-dif":
        notices.append(FIXED_ABILITIES)
    failed = [attributes["verdict"]] if attributes["converged"] != "yes" else []
    fitted = settings.get("first_shown") is True
    order = known_positions(data, asked=fitted) if isinstance(data, Battles) else None
    return FitSummary(
        kind=attributes["kind"],
        engine=attributes["engine"],
        quantity=model_variable(posterior),
        models=models,
        items=items,
        dif=dif_table(posterior, level=level),
        parameters=parameter_table(posterior, level=level),
        diagnostics=diagnostics(posterior),
        covariance=pd.DataFrame(),
        converged=attributes["converged"],
        verdict=attributes["verdict"],
        level=level,
        seed=int(attributes["seed"]),
        n_models=len(counts.models),
        n_items=len(counts.items),
        n_observations=counts.total,
        settings=settings,
        versions=json.loads(attributes["versions"]),
        warnings=worst_first(
            failed,
            [*position_caveats(order, fitted=fitted), *notices],
            data,
        ),
        order=order,
    )


def summarise_bradley_terry(
    fit: BradleyTerryFit, data: Battles, *, level: float = 0.95
) -> FitSummary:
    """Return tables and verdict of Bradley–Terry estimates with their covariance.

    Parameters
    ----------
    fit : BradleyTerryFit
    data : Battles
        What it was fitted to.
    level : float in (0, 1)
        Of the intervals.

    Returns
    -------
    FitSummary
        Of its tables, `items`, `dif` and `diagnostics` are empty.

    Raises
    ------
    ValueError
        If the level is out of range.
    """
    said = fit.to_dict()
    covariance = pd.DataFrame(fit.covariance, columns=list(fit.models))
    covariance.insert(0, "model", pd.Series(fit.models, dtype="str"), allow_duplicates=True)
    order = known_positions(data, asked=fit.first_shown)
    steps = counted(fit.n_iterations, "iteration")
    steps = f"{steps}, largest last step {fit.largest_step:.1e}"
    return FitSummary(
        kind="bradley-terry",
        engine=fit.engine,
        quantity="strength",
        models=flagged_models(fit.table(level=level), data, uninformed=_speaks_alone(fit)),
        items=pd.DataFrame({"item": pd.Series(dtype="str")}),
        dif=pd.DataFrame(),
        parameters=_with_limits(fit.parameters, level),
        diagnostics=pd.DataFrame(),
        covariance=covariance,
        converged="yes" if fit.converged else "no",
        verdict=f"Converged: {steps}." if fit.converged else f"Not converged after {steps}.",
        level=level,
        seed=None,
        n_models=len(fit.models),
        n_items=0,
        n_observations=len(data.outcome),
        settings=said["settings"],
        versions={name: version(name) for name in POINT_PACKAGES},
        warnings=worst_first(
            [], [*position_caveats(order, fitted=fit.first_shown), *fit.notices], data
        ),
        order=order,
    )


def flagged_models(
    models: pd.DataFrame, data: Responses | Battles, *, uninformed: str = "prior only"
) -> pd.DataFrame:
    """Return the table of models with a column `flag`: whose estimate the data do not bound.

    Parameters
    ----------
    models : DataFrame
        With `model`.
    data : Responses or Battles
    uninformed : str
        As in `neartie.models.flag_words.model_flags`.

    Returns
    -------
    DataFrame
    """
    said = model_flags(data, models["model"].tolist(), uninformed=uninformed)
    return models.assign(flag=pd.Series(said, index=models.index, dtype="str"))


def worst_first(
    failed: Iterable[str], notices: Iterable[str], data: Responses | Battles
) -> tuple[str, ...]:
    """Return what failed, then notices of the fit, then those of the reader, each once."""
    of_fit = [notice for notice in notices if notice not in data.notices]
    return tuple(dict.fromkeys([*failed, *of_fit, *data.notices]))


def _component(posterior: xr.DataTree) -> np.ndarray | None:
    """Return the connected set of each model; None where all models can be compared."""
    if "constant_data" not in posterior.children:
        return None
    constant = posterior["constant_data"].to_dataset()
    if "component" not in constant or np.unique(constant["component"]).size < 2:
        return None
    return constant["component"].to_numpy()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Counts:
    models: Mapping[str, float]
    items: Mapping[str, float]
    total: int


def _counts(data: Responses | Battles) -> _Counts:
    if isinstance(data, Responses):
        models, items = data.accuracy(), data.item_accuracy()
        return _Counts(
            models=dict(zip(models["model"], models["n"], strict=True)),
            items=dict(zip(items["item"], items["n"], strict=True)),
            total=int(data.observed.sum()),
        )
    weight = np.zeros(len(data.models))
    for side in (data.model_a, data.model_b):
        np.add.at(weight, side, data.weight)
    met = weight.astype(np.int64) if np.all(weight == np.round(weight)) else weight
    return _Counts(
        models=dict(zip(data.models, met.tolist(), strict=True)),
        items={},
        total=len(data.outcome),
    )


def _flags(items: pd.DataFrame, data: Responses | Battles) -> pd.Series:
    """Return what is to be said of every item in words, blank for most."""
    if isinstance(data, Battles):
        return pd.Series([""] * len(items), dtype="str")
    said = flags_in_words(
        data,
        items["item"].tolist(),
        discrimination=_column(items, "discrimination"),
        difficulty=_column(items, "difficulty"),
    )
    return pd.Series(said, dtype="str")


def _with_limits(parameters: pd.DataFrame, level: float) -> pd.DataFrame:
    """Return common parameters of a point engine with their intervals, the note behind."""
    if parameters.empty:
        return parameters
    margin = stats.norm.ppf(0.5 + level / 2) * parameters["se"]
    found = parameters.assign(
        low=parameters["estimate"] - margin, high=parameters["estimate"] + margin
    )
    return found[["parameter", "estimate", "se", "low", "high", "note"]]


def _speaks_alone(fit: BradleyTerryFit) -> str:
    """Return what bounds the strength of a model that won or lost every battle."""
    if not np.isfinite(fit.strength).all():
        return "infinite"
    return "phantom wins only" if fit.phantom_wins else "prior only"


def _column(table: pd.DataFrame, name: str) -> np.ndarray | None:
    return table[name].to_numpy() if name in table else None
