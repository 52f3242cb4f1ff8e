"""The design of a validation: a model, and data for their shape alone."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.preparation import offset_of
from neartie.audits.validation_sizes import (
    Sizes,
    blank_battles,
    blank_responses,
    check_dimension,
)
from neartie.data.battles import Battles
from neartie.data.errors import DataError
from neartie.data.files import to_json
from neartie.data.responses import Responses
from neartie.inference.truths_dif import PLANTED
from neartie.models.bradley_terry_priors import BradleyTerryPriors
from neartie.models.priors import MirtDifPriors, ResidualDifPriors, TwoPLPriors
from neartie.models.record import KINDS

type Priors = TwoPLPriors | MirtDifPriors | ResidualDifPriors | BradleyTerryPriors

PRIORS: Final[dict[str, type[Priors]]] = {
    "two-pl": TwoPLPriors,
    "mirt-dif": MirtDifPriors,
    "residual-dif": ResidualDifPriors,
    "bradley-terry": BradleyTerryPriors,
}
_FACTORIES: Final = {
    "two-pl": ("neartie.models.two_pl", "build_two_pl"),
    "mirt-dif": ("neartie.models.mirt_dif", "build_mirt_dif"),
    "residual-dif": ("neartie.models.residual_dif_model", "build_residual_dif"),
    "bradley-terry": ("neartie.models.bradley_terry_model", "build_bradley_terry"),
}
# The offset of a design without data is the same whatever is drawn.
_OFFSET_SEED: Final = 5


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ValidationDesign:
    """What data are drawn from, and what is fitted to them.

    Attributes
    ----------
    kind : str
    data : Responses or Battles
        In the order of ids. Answers and outcomes do not matter; items, models, families, missing
        cells, pairs and their numbers do.
    options : dict
        Of the factory, without priors.
    priors : priors of the kind
        That the fit believes in.
    truth : dict
        Hyperparameters that truths have in their place.
    copied : bool
        Whether the shape is that of the user's data.
    """

    kind: str
    data: Responses | Battles
    options: dict[str, Any]
    priors: Priors
    truth: dict[str, float]
    copied: bool

    def build(self) -> Any:
        """Return the model, built with the data."""
        module, name = _FACTORIES[self.kind]
        factory: Callable[..., Any] = getattr(import_module(module), name)
        return factory(self.data, priors=self.priors, **self.options)

    @property
    def matched(self) -> bool:
        """Whether truths come from the priors that the fit believes in."""
        own = self.priors.to_dict()
        return all(name in own and own[name] == value for name, value in self.truth.items())

    def sizes(self) -> dict[str, int]:
        """Return how many there are of what, by name."""
        if isinstance(self.data, Battles):
            battles = {"battles": round(float(self.data.weight.sum()))}
            judges = len(self.data.judges) if self.options.get("judge_effects") else 0
            found = {"models": self.data.n_model, **battles, "judges": judges}
        else:
            families = 0
            if "family" in self.data.models.columns:
                families = int(self.data.models["family"].nunique())
            found = {
                "items": self.data.n_item,
                "models": self.data.n_model,
                "families": families,
                "missing answers": self.data.n_missing,
            }
        return {name: n for name, n in found.items() if n}

    def to_dict(self) -> dict[str, Any]:
        """Return kind, sizes, options and priors as plain values, with a digest of the shape."""
        plain = {
            name: value if isinstance(value, bool | int | float | str | None) else _digest(value)
            for name, value in self.options.items()
        }
        return {
            "kind": self.kind,
            "sizes": self.sizes(),
            "copied": self.copied,
            "options": plain,
            "priors": self.priors.to_dict(),
            "truth": self.truth,
            "shape": _digest(_shape(self.data)),
        }


def validation_design(
    like: Responses | Battles | None,
    *,
    kind: str | None,
    sizes: Sizes,
    options: Mapping[str, Any] | None,
    truth: Mapping[str, float] | None,
) -> ValidationDesign:
    """Return a design from the user's data, or from sizes.

    Parameters
    ----------
    like : Responses, Battles or None
        Whose shape to copy.
    kind : str or None
    sizes : Sizes
        Of invented data; those at hand where `like` is given are not used.
    options : mapping or None
        Of the factory, as `fit` takes them, with `priors` among them. For `residual-dif` an
        `offset`, or the `dimension` of the spectral offset of the data, or of an invented one.
    truth : mapping or None

    Raises
    ------
    ValueError
        If the kind, an option or a hyperparameter is unknown or out of range, or the design is too
        small for its dimensions or families.
    TypeError
        If the priors are those of another kind.
    DataError
        If data and kind do not fit each other.
    """
    chosen = kind or ("bradley-terry" if isinstance(like, Battles) else "two-pl")
    if chosen not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {chosen!r}")
    own = dict(options or {})
    priors = own.pop("priors", None) or PRIORS[chosen]()
    if not isinstance(priors, PRIORS[chosen]):
        raise TypeError(
            f"priors of {chosen} are {PRIORS[chosen].__name__}, got {type(priors).__name__}"
        )
    checked = check_truth(chosen, priors, truth or {})
    if like is None:
        _check_families(chosen, own, sizes.families)
    data = _shaped(like, chosen, sizes, own)
    if isinstance(data, Responses) and isinstance(own.get("dimension"), int):
        check_dimension(own["dimension"], items=data.n_item, models=data.n_model)
    if chosen == "residual-dif":
        own["offset"] = _offset(data, own, invented=like is None)
    return ValidationDesign(
        kind=chosen,
        data=data,
        options=own,
        priors=priors,
        truth=checked,
        copied=like is not None,
    )


def _check_families(kind: str, options: Mapping[str, Any], families: int) -> None:
    """Refuse an invented design with too few families for what it estimates."""
    if kind in ("mirt-dif", "residual-dif"):
        what = "family effects compare families"
    elif options.get("family_means"):
        what = "family means are compared"
    else:
        return
    if families < 2:
        raise ValueError(f"n_families must be at least 2, got {families}: {what}")


def check_truth(kind: str, priors: Priors, truth: Mapping[str, float]) -> dict[str, float]:
    """Return hyperparameters of truths, checked as those of the priors are.

    Raises
    ------
    ValueError
        If one is unknown, or out of range.

    Examples
    --------
    >>> check_truth("two-pl", TwoPLPriors(), {"difficulty_sd": 2.0})
    {'difficulty_sd': 2.0}
    >>> check_truth("two-pl", TwoPLPriors(), {"difficulty": 2.0})
    Traceback (most recent call last):
    ...
    ValueError: two-pl has no hyperparameter 'difficulty'; it has ability_sd, difficulty_sd, \
log_discrimination_mean, log_discrimination_sd, discrimination_mean, discrimination_sd, \
easiness_sd, family_mean_sd, difficulty_mean_sd, log_discrimination_mean_sd, log_scale_sd
    """
    planted = {name: truth[name] for name in PLANTED if name in truth}
    known = priors.to_dict()
    may = [*known, *(PLANTED if kind in ("mirt-dif", "residual-dif") else ())]
    for name in truth:
        if name not in may:
            raise ValueError(f"{kind} has no hyperparameter {name!r}; it has {', '.join(may)}")
    own = {name: value for name, value in truth.items() if name not in planted}
    type(priors)(**{**known, **own})  # raises as the priors themselves do
    if planted and len(planted) < len(PLANTED):
        raise ValueError(f"planted effects need both {PLANTED[0]} and {PLANTED[1]}")
    if planted and not (0 <= planted["dif_share"] <= 1 and planted["dif_effect"] >= 0):
        raise ValueError(
            "dif_share must lie in [0, 1] and dif_effect must not be negative, got "
            f"{planted['dif_share']:g} and {planted['dif_effect']:g}"
        )
    return {name: float(value) for name, value in truth.items()}


def _shaped(
    like: Responses | Battles | None, kind: str, sizes: Sizes, options: Mapping[str, Any]
) -> Responses | Battles:
    battles = kind == "bradley-terry"
    if like is None:
        return blank_battles(sizes, options) if battles else blank_responses(sizes)
    if isinstance(like, Battles) != battles:
        needed = "battles" if battles else "responses"
        raise DataError(f"{kind} takes {needed} to copy the design from")
    return like if isinstance(like, Battles) else like.canonical()[0]


def _offset(
    data: Responses | Battles, options: dict[str, Any], *, invented: bool
) -> NDArray[np.float64]:
    dimension = options.pop("dimension", None)
    given = options.pop("offset", None)
    if given is not None:
        return np.asarray(given, dtype=np.float64)
    if not isinstance(data, Responses):
        raise DataError("residual-dif takes responses")
    if invented:
        k = 1 if dimension is None else int(dimension)
        rng = np.random.default_rng(_OFFSET_SEED)
        loading = rng.standard_normal((data.n_item, k)) * 1.5 / np.sqrt(k)
        return np.asarray(loading @ rng.standard_normal((k, data.n_model)))
    if dimension is None:
        raise ValueError("residual-dif needs an offset, or the dimension of the spectral offset")
    return offset_of(data, dimension=int(dimension))


def _shape(data: Responses | Battles) -> list[Any]:
    """Return what data are drawn by."""
    if isinstance(data, Battles):
        columns = (data.model_a, data.model_b, data.shown, data.judge, data.weight)
        # without regard to the order of battles
        rows = sorted(zip(*(column.tolist() for column in columns), strict=True))
        return [list(data.models), list(data.judges), rows]
    families = data.models["family"].tolist() if "family" in data.models.columns else []
    cells = hashlib.sha256(np.packbits(data.observed).tobytes()).hexdigest()
    return [data.item_ids, data.model_ids, families, cells]


def _digest(content: Any) -> str:
    if isinstance(content, np.ndarray):
        return hashlib.sha256(np.ascontiguousarray(content).tobytes()).hexdigest()[:16]
    if isinstance(content, pd.DataFrame):
        content = content.to_dict("list")
    return hashlib.sha256(to_json(content).encode()).hexdigest()[:16]
