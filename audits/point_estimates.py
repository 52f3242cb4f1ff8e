"""What point engines print: estimates with each standard error, and what that leaves out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neartie.data.battles import Battles
from neartie.data.errors import CaveatWarning, DataError
from neartie.data.responses import Responses
from neartie.inference.bradley_terry import fit_bradley_terry
from neartie.inference.bradley_terry_result import BradleyTerryFit
from neartie.inference.two_pl_map import fit_two_pl_map
from neartie.inference.two_pl_result import TwoPLFit
from neartie.models.priors import TwoPLPriors

type Floats = NDArray[np.float64]

#: Quantities over models; the others are over items.
OVER_MODELS = ("ability", "strength")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PrintedEstimates:
    """One quantity of one point engine with one of its standard errors.

    Attributes
    ----------
    estimator : str
        Short name, such as `map` or `newton-ml`.
    label : str
        The same in words.
    se_name : str
        Which standard error: the name that it has in `models.csv` of `neartie fit`.
    quantity : {'ability', 'strength', 'difficulty', 'log_discrimination'}
    unit : str
        In which unit the estimates stand.
    ids : tuple of str
        Models or items, the order of all arrays.
    estimate, se : (n,) float
    covariance : (n, n) float
        That differences get: the printed one, or squares of standard errors on a diagonal where
        they come without. Empty for items, and where there are too many models.
    leaves_out : str
        What this standard error does not count, to stand after "it"; blank if nothing is known.
    moved_by : str
        Why the estimates themselves need not be posterior means.
    unit_is_free : bool
        Whether a factor to all estimates and errors would change no verdict on a pair.
    converged : bool
    """

    estimator: str
    label: str
    se_name: str
    quantity: str
    unit: str
    ids: tuple[str, ...]
    estimate: Floats
    se: Floats
    covariance: Floats
    leaves_out: str
    moved_by: str
    unit_is_free: bool
    converged: bool


def two_pl_estimates(
    responses: Responses, *, priors: TwoPLPriors | None, constant_items: str
) -> tuple[list[PrintedEstimates], list[str]]:
    """Return what the joint mode of the 2PL prints, in both units.

    Parameters
    ----------
    responses : Responses
    priors : TwoPLPriors or None
    constant_items : {'drop', 'keep'}
        As in `fit_two_pl_map`.

    Returns
    -------
    estimates : list of PrintedEstimates
        `map` in the posterior's unit and `map-mode-unit` in that of the mode, as printed; each
        with `se` and with `se_items_known`, P1's; then items.
    notices : list of str
        Of the fits.
    """
    found: list[PrintedEstimates] = []
    notices: list[str] = []
    for estimator, unit in (("map", "posterior"), ("map-mode-unit", "mode")):
        with warnings.catch_warnings():
            # What went wrong stands in the notices.
            warnings.simplefilter("ignore", CaveatWarning)
            fit = fit_two_pl_map(
                responses,
                priors=priors,
                unit=unit,  # type: ignore[arg-type]
                constant_items=constant_items,  # type: ignore[arg-type]
            )
        found += _of_two_pl(fit, estimator, unit)
        # That of the unit is what the comparison shows.
        notices += [text for text in fit.notices if "unit of ability is not" not in text]
    return sorted(found, key=lambda one: one.quantity not in OVER_MODELS), _once(notices)


def _of_two_pl(fit: TwoPLFit, estimator: str, unit: str) -> list[PrintedEstimates]:
    answered = fit.n > 0
    models = tuple(np.array(fit.models, dtype=object)[answered])
    fitted = np.isfinite(fit.difficulty)
    items = tuple(np.array(fit.items, dtype=object)[fitted])
    common: dict[str, Any] = {
        "estimator": estimator,
        "label": f"joint mode, in the unit of the {unit}",
        "unit": unit,
        "unit_is_free": True,
        "converged": fit.converged and fit.is_maximum,
        "moved_by": "a joint mode is not a mean",
    }
    known = fit.se_items_known[answered]
    full = fit.covariance
    nothing = np.empty((0, 0))
    over_items = common | {"ids": items, "covariance": nothing, "leaves_out": ""}
    return [
        PrintedEstimates(
            se_name="se",
            quantity="ability",
            ids=models,
            estimate=fit.ability[answered],
            se=fit.se[answered],
            covariance=full[np.ix_(answered, answered)] if full.size else nothing,
            leaves_out="",
            **common,
        ),
        PrintedEstimates(
            se_name="se_items_known",
            quantity="ability",
            ids=models,
            estimate=fit.ability[answered],
            se=known,
            covariance=np.diag(known**2) if full.size else nothing,
            leaves_out="takes the items as known",
            **common,
        ),
        PrintedEstimates(
            se_name="difficulty_se",
            quantity="difficulty",
            estimate=fit.difficulty[fitted],
            se=fit.difficulty_se[fitted],
            **over_items,
        ),
        PrintedEstimates(
            se_name="log_discrimination_se",
            quantity="log_discrimination",
            estimate=np.log(fit.discrimination[fitted]),
            se=fit.log_discrimination_se[fitted],
            **over_items,
        ),
    ]


def bradley_terry_estimates(
    battles: Battles,
    *,
    ties: str,
    first_shown: bool,
    phantom_wins: float,
    prior_sd: float | None,
) -> tuple[list[PrintedEstimates], list[str]]:
    """Return what maximum likelihood and phantom wins print, by Newton's method and by MM.

    Parameters
    ----------
    battles : Battles
    ties, first_shown
        As in `fit_bradley_terry`; MM is left out where it knows no such model.
    phantom_wins : float, battles
        On each side of every pair; 0 for none of these estimators.
    prior_sd : float or None, logit
        Of the posterior's strengths: its mode by Newton's method. None where the scale is
        estimated.

    Returns
    -------
    estimates : list of PrintedEstimates
        `newton-ml`, `mm-ml` where maximum likelihood is finite; `newton-phantom`, `mm-phantom`;
        `newton-prior`; each with `se` of the full covariance and with `se_diagonal`, P1's.
    notices : list of str

    Raises
    ------
    DataError
        If not a single estimate is finite.
    """
    is_plain = ties == "half" and not first_shown
    engines = ("newton", "mm") if is_plain else ("newton",)
    runs: list[tuple[str, str, str, dict[str, Any]]] = []
    for engine in engines:
        runs.append((f"{engine}-ml", "maximum likelihood", engine, {"phantom_wins": 0.0}))
    for engine in engines if phantom_wins else ():
        label = f"{phantom_wins:g} phantom wins a side of every pair"
        runs.append((f"{engine}-phantom", label, engine, {"phantom_wins": phantom_wins}))
    if prior_sd is not None:
        label = "mode under the posterior's prior"
        runs.append(("newton-prior", label, "newton", {"prior_sd": prior_sd, "phantom_wins": 0.0}))
    found: list[PrintedEstimates] = []
    notices: list[str] = []
    for estimator, label, engine, options in runs:
        try:
            fit = _fitted(battles, engine=engine, ties=ties, first_shown=first_shown, **options)
        except DataError as error:
            notices.append(f"{estimator} is left out: {error}")
            continue
        if estimator.endswith("-ml") and fit.separation.is_separated:
            notices.append(
                "maximum likelihood is infinite for some models, and is left out: "
                + "; ".join(fit.separation.sentences())
            )
            continue
        notices += list(fit.notices)
        found += _of_battles(fit, estimator, label)
    if not found:
        raise DataError(f"there is no estimate to compare: {'; '.join(_once(notices))}")
    return found, _once(notices)


def _fitted(battles: Battles, **options: Any) -> BradleyTerryFit:
    with warnings.catch_warnings():
        # What went wrong stands in the notices.
        warnings.simplefilter("ignore", CaveatWarning)
        return fit_bradley_terry(battles, **options)


def _of_battles(fit: BradleyTerryFit, estimator: str, label: str) -> list[PrintedEstimates]:
    # Alone in its set, a model has no strength: there is nothing to be stronger than.
    compared = np.bincount(fit.component)[fit.component] > 1
    ids = tuple(np.array(fit.models, dtype=object)[compared])
    moved_by = {
        "ml": "no prior pulls it in, as the posterior's does",
        "phantom": "phantom wins pull strengths together, and the posterior's prior does so "
        "otherwise",
        "prior": "a mode is not a mean",
    }[estimator.partition("-")[2]]
    common: dict[str, Any] = {
        "estimator": estimator,
        "label": f"{label}, by {'MM' if fit.engine == 'mm' else 'Newton'}",
        "quantity": "strength",
        "unit": "logit",
        "ids": ids,
        "estimate": fit.within[compared],
        "moved_by": moved_by,
        "unit_is_free": False,
        "converged": fit.converged,
    }
    diagonal = fit.se_diagonal[compared]
    return [
        PrintedEstimates(
            se_name="se",
            se=fit.se[compared],
            covariance=fit.covariance[np.ix_(compared, compared)],
            leaves_out="counts phantom wins as battles" if fit.phantom_wins else "",
            **common,
        ),
        PrintedEstimates(
            se_name="se_diagonal",
            se=diagonal,
            covariance=np.diag(diagonal**2),
            leaves_out="takes the strengths of all others as known, and no covariance goes with it",
            **common,
        ),
    ]


def left_out_options(kind: str, options: Mapping[str, Any]) -> list[str]:
    """Return what the posterior's model has and no point engine knows, by the names of options.

    Examples
    --------
    >>> left_out_options("bradley-terry", {"ties": "davidson", "judge_effects": True})
    ['judge_effects']
    """
    known = {"two-pl": {"discrimination"}, "bradley-terry": {"ties", "first_shown"}}[kind]
    return [
        name for name, value in options.items() if name not in {*known, "priors"} and _on(value)
    ]


def _on(value: Any) -> bool:
    """Return whether an option is used; a table of covariates is."""
    return value is not None and (not isinstance(value, bool | str) or bool(value))


def _once(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(texts))
