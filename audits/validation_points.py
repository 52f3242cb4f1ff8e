"""Estimates with standard errors in the place of draws: the engines `map`, `newton` and `mm`."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from neartie.audits.validation_design import ValidationDesign
from neartie.data.battles import Battles
from neartie.data.errors import CaveatWarning
from neartie.data.responses import Responses

type Floats = NDArray[np.float64]

POINT_ENGINES: Final = {
    "two-pl": ("map",),
    "mirt-dif": ("map",),
    "residual-dif": (),
    "bradley-terry": ("newton", "mm"),
}
#: Options of a model that its point engines have too; all others are refused.
_TAKEN: Final = {
    "two-pl": (),
    "mirt-dif": ("dimension", "zero_sum"),
    "bradley-terry": ("ties", "first_shown"),
}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PointFit:
    """Estimates given one data set.

    Attributes
    ----------
    estimates : mapping of quantity to (estimate, standard error), each (n,) float
        NaN or infinite where there is none.
    ranking : str
        The quantity that ranks models.
    covariance : (n_model, n_model) float
        Of that quantity; empty if there are too many models.
    component : (n_model,) int
        Models with different numbers cannot be compared.
    converged : bool
    seconds : float
    """

    estimates: dict[str, tuple[Floats, Floats]]
    ranking: str
    covariance: Floats
    component: NDArray[np.int64]
    converged: bool
    seconds: float


def check_point_engine(design: ValidationDesign, engine: str) -> None:
    """Refuse a point engine that the kind of model has not, and options that it has not.

    Raises
    ------
    ValueError
    """
    engines = POINT_ENGINES[design.kind]
    if engine not in engines:
        raise ValueError(
            f"{design.kind} has no engine {engine}"
            + (f"; its estimates are found by {' or '.join(engines)}" if engines else "")
        )
    for name, value in design.options.items():
        usual = value is None or value is False
        usual = usual or (isinstance(value, str) and value in ("free", "half", "families"))
        if name not in _TAKEN[design.kind] and not usual:
            raise ValueError(f"engine {engine} does not know the option {name}; use gibbs or nuts")
    if engine == "mm" and (design.options.get("ties", "half") != "half" or _shown(design)):
        raise ValueError("engine mm takes ties as half wins and no first-shown effect; use newton")


def point_fit(
    design: ValidationDesign, data: Mapping[str, Floats], *, engine: str, rows: Mapping[str, Any]
) -> PointFit:
    """Return estimates given data of the shape of the design's own.

    Parameters
    ----------
    design : ValidationDesign
    data : mapping
        By observed variable of the model.
    engine : {'map', 'newton', 'mm'}
    rows : mapping
        Constant data of the model: what its rows of outcomes are.
    """
    started = time.perf_counter()
    with warnings.catch_warnings():
        # What is said here of one data set is counted over all.
        warnings.simplefilter("ignore", CaveatWarning)
        if isinstance(design.data, Battles):
            battles = _battles(design.data, data["outcome"], rows)
            found = _by_battles(design, battles, engine)
        else:
            found = _by_answers(design, _answers(design.data, data["score"]))
    return replace(found, seconds=time.perf_counter() - started)


def _by_answers(design: ValidationDesign, answers: Responses) -> PointFit:
    if design.kind == "two-pl":
        from neartie.inference.two_pl_map import fit_two_pl_map

        two = fit_two_pl_map(answers, priors=design.priors)  # type: ignore[arg-type]
        log_slope = np.log(two.discrimination)
        return _fit(
            {
                "ability": (two.ability, two.se),
                "difficulty": (two.difficulty, two.difficulty_se),
                "log_discrimination": (log_slope, two.log_discrimination_se),
            },
            ranking="ability",
            covariance=two.covariance,
            converged=two.converged,
        )
    from neartie.inference.mirt_dif_map import fit_mirt_dif_map

    own = {name: design.options[name] for name in _TAKEN["mirt-dif"] if name in design.options}
    many = fit_mirt_dif_map(answers, priors=design.priors, **own)  # type: ignore[arg-type]
    return _fit(
        {
            "expected_score": (many.expected_score, many.se),
            "easiness": (many.easiness, many.easiness_se),
            "dif": (many.dif.ravel(), many.dif_se.ravel()),
        },
        ranking="expected_score",
        covariance=many.covariance,
        converged=many.converged,
    )


def _by_battles(design: ValidationDesign, battles: Battles, engine: str) -> PointFit:
    from neartie.inference.bradley_terry import fit_bradley_terry

    fit = fit_bradley_terry(
        battles,
        engine=engine,
        ties=design.options.get("ties", "half"),
        first_shown=_shown(design),
    )
    error = np.sqrt(np.maximum(np.diag(fit.covariance), 0.0))
    alone = np.bincount(fit.group)[fit.group] < 2
    own = np.where(alone, np.nan, fit.within), np.where(alone, np.nan, error)
    names = {"first_shown": "first_shown_effect", "log_tie": "log_tie"}
    rest = {
        names[row["parameter"]]: (np.array([row["estimate"]]), np.array([row["se"]]))
        for row in fit.parameters.to_dict("records")
        if row["parameter"] in names
    }
    return _fit(
        {"strength": own, **rest},
        ranking="strength",
        covariance=fit.covariance,
        converged=fit.converged,
        component=fit.group,
    )


def _fit(
    estimates: dict[str, tuple[Floats, Floats]],
    *,
    ranking: str,
    covariance: Floats,
    converged: bool,
    component: NDArray[np.int64] | None = None,
) -> PointFit:
    n = len(estimates[ranking][0])
    together = np.zeros(n, dtype=np.int64)
    return PointFit(
        estimates=estimates,
        ranking=ranking,
        covariance=covariance,
        component=together if component is None else component,
        converged=converged,
        seconds=0.0,
    )


def _answers(design: Responses, score: Floats) -> Responses:
    values = np.full(design.values.shape, -1, dtype=np.int8)
    values[design.observed] = score.ravel()
    return Responses.build(values, items=design.items, models=design.models)


def _battles(design: Battles, outcome: Floats, rows: Mapping[str, Any]) -> Battles:
    """Return battles with these outcomes: one with a weight for each result of each row."""
    label = np.array(design.models, dtype=object)
    row, result = np.nonzero(outcome)
    first, second = rows["pair_first"][row], rows["pair_second"][row]
    shown = np.where(rows["pair_shown"][row] == 1, "a", "b")
    return Battles.build(
        label[first].tolist(),
        label[second].tolist(),
        [("a", "b", "tie")[k] for k in result],
        weight=outcome[row, result],
        first_shown=shown.tolist(),
    )


def _shown(design: ValidationDesign) -> bool:
    return bool(design.options.get("first_shown", False))
