"""Leaderboards with known truth: of a design, or copied from a user's own data."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from inspect import signature
from typing import Any, Final, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.population import build_population
from neartie.audits.settings import AuditSettings
from neartie.data.design import LeaderboardDesign, family_names
from neartie.data.responses import Responses
from neartie.data.simulate import simulate_leaderboard
from neartie.data.truth import LeaderboardTruth, SimulatedLeaderboard, row_blocks
from neartie.inference.mirt_dif_map import fit_mirt_dif_map

#: Arguments of `simulate_leaderboard` and what they are when left out.
DESIGN: Final[dict[str, Any]] = {
    name: parameter.default
    for name, parameter in signature(simulate_leaderboard).parameters.items()
    if name != "rng"
}


class Boards(Protocol):
    """Draws leaderboards with their truth."""

    def draw(self, rng: np.random.Generator) -> SimulatedLeaderboard:
        """Return one."""

    def to_dict(self) -> dict[str, Any]:
        """Return what they are, as plain values."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DesignBoards:
    """Leaderboards that `simulate_leaderboard` invents, each with a truth of its own.

    Attributes
    ----------
    design : mapping
        Arguments of `simulate_leaderboard`.

    Raises
    ------
    ValueError
        If one is unknown or out of range, or sizes do not fit together.

    Examples
    --------
    >>> DesignBoards(design={"n_items": 40, "n_models": 30, "n_owners": 12}).design["n_items"]
    40
    """

    design: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse at once what could not be drawn later."""
        unknown = [name for name in self.design if name not in DESIGN]
        if unknown:
            raise ValueError(f"no {unknown[0]} in a design; there are {', '.join(DESIGN)}")
        whole = DESIGN | dict(self.design)
        LeaderboardDesign(**whole | {"families": family_names(whole["families"])})

    def draw(self, rng: np.random.Generator) -> SimulatedLeaderboard:
        """Return one."""
        return simulate_leaderboard(**dict(self.design), rng=rng)

    def to_dict(self) -> dict[str, Any]:
        """Return the arguments."""
        return {"design": dict(self.design)}


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelBoards:
    """Leaderboards from the full model itself, its scales given: nothing is misspecified.

    Halves come with the leaderboard and owe nothing to its answers. The audit's own halves balance
    observed accuracy, which chooses among the noise of the answers.

    Attributes
    ----------
    n_items, n_models, n_owners, n_families, n_sources : int
        Models belong to owners and families in turn.
    dimension : int
        K.
    loading_scale, easiness_mean, easiness_scale, dif_scale : float, logit
        See `build_mirt_dif`; a `dif_scale` of 0 leaves family effects out.

    Raises
    ------
    ValueError
        If a value is out of range, or sizes do not fit together.
    """

    n_items: int = 120
    n_models: int = 100
    n_owners: int = 50
    n_families: int = 4
    n_sources: int = 4
    dimension: int = 2
    loading_scale: float = 0.8
    easiness_mean: float = 0.5
    easiness_scale: float = 1.5
    dif_scale: float = 0.4

    def __post_init__(self) -> None:
        """Refuse at once what could not be drawn later."""
        least = {"n_families": 2}
        for name, value in asdict(self).items():
            if isinstance(value, int) and value < least.get(name, 1):
                raise ValueError(f"{name} must be at least {least.get(name, 1)}, got {value}")
            if not math.isfinite(value):
                raise ValueError(f"{name} must be finite, got {value}")
            if name.endswith("_scale") and value < 0:
                raise ValueError(f"{name} must be 0 or more, got {value}")
        for name, most in (
            ("n_owners", "n_models"),
            ("n_families", "n_owners"),
            ("n_sources", "n_items"),
        ):
            if getattr(self, name) > getattr(self, most):
                raise ValueError(
                    f"{name} must be at most {most} ({getattr(self, most)}), "
                    f"got {getattr(self, name)}"
                )

    def draw(self, rng: np.random.Generator) -> SimulatedLeaderboard:
        """Return one."""
        n_item, n_model, n_family = self.n_items, self.n_models, self.n_families
        owner = np.arange(n_model) % self.n_owners
        # Owners have models of two families, every other one of them.
        family = (owner + (np.arange(n_model) // self.n_owners) % 2 * (owner % 2)) % n_family
        families = tuple(f"family-{f + 1}" for f in range(n_family))
        width = len(str(n_model))
        models = [f"owner-{o + 1:0{width}}/model-{m + 1:0{width}}" for m, o in enumerate(owner)]
        source = np.arange(n_item) * self.n_sources // n_item
        items = tuple(f"item-{i + 1:0{len(str(n_item))}}" for i in range(n_item))
        effects = self.dif_scale * rng.standard_normal((n_item, n_family))
        truth = LeaderboardTruth(
            items=items,
            models=tuple(models),
            families=families,
            family=family,
            easiness=self.easiness_mean + self.easiness_scale * rng.standard_normal(n_item),
            loadings=self.loading_scale * rng.standard_normal((n_item, self.dimension)),
            abilities=rng.standard_normal((n_model, self.dimension)),
            dif=effects - effects.mean(axis=1, keepdims=True),
            planted=np.full(n_item, self.dif_scale > 0),
            settings=asdict(self),
        )
        values = (rng.random((n_item, n_model)) < truth.probability()).astype(np.int8)
        table = {"model": models, "owner": [name.partition("/")[0] for name in models]}
        return SimulatedLeaderboard(
            responses=Responses.build(
                values,
                items=pd.DataFrame({"item": items, "source": [f"source-{s + 1}" for s in source]}),
                models=pd.DataFrame(
                    table
                    | {
                        "family": [families[f] for f in family],
                        "half": (owner // n_family) % 2,
                    }
                ),
            ),
            truth=truth,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the settings."""
        return {"model": asdict(self)}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LikeBoards:
    """Answers drawn anew from one truth: a parametric bootstrap of a user's data.

    Attributes
    ----------
    responses : Responses
        Whose items, sources, models, owners and families they have.
    truth : LeaderboardTruth
    label : str
        What the truth is, in a few words.
    """

    responses: Responses
    truth: LeaderboardTruth
    label: str

    def draw(self, rng: np.random.Generator) -> SimulatedLeaderboard:
        """Return new answers of the same truth."""
        values = np.empty((self.responses.n_item, self.responses.n_model), dtype=np.int8)
        for rows in row_blocks(*values.shape):
            chance = self.truth.probability(items=rows)
            values[rows] = rng.random(chance.shape) < chance
        values.flags.writeable = False
        return SimulatedLeaderboard(
            responses=replace(self.responses, values=values), truth=self.truth
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the label, the sizes and a digest of the data that are copied."""
        return {"like": self.label, **self.truth.settings}


def boards_like(
    responses: Responses,
    *,
    dimension: int,
    dif_factor: float = 1.0,
    audit: AuditSettings | None = None,
    rng: np.random.Generator | int | None = None,
) -> LikeBoards:
    """Return leaderboards that copy a user's own: its fit is the truth, its answers are drawn anew.

    Parameters
    ----------
    responses : Responses
        Right/wrong answers, as for `audit_near_ties`.
    dimension : int
        K of the fit.
    dif_factor : float
        What the fitted family effects are multiplied with; 0 leaves a leaderboard without any.
    audit : AuditSettings, optional
        Whose population is copied.
    rng : Generator, int or None
        Of the population's cap.

    Returns
    -------
    LikeBoards
        The truth is the joint mode of MIRT-DIF, `fit_mirt_dif_map`, at all retained models. Its
        effects are shrunk, so that a factor of 1 is rather less DIF than the data have.

    Raises
    ------
    DataError
        If the data do not allow an audit or the fit.
    ValueError
        If `dif_factor` is negative or not finite.
    """
    if not 0 <= dif_factor < float("inf"):
        raise ValueError(f"dif_factor must be a number of at least 0, got {dif_factor}")
    settings = audit or AuditSettings()
    ordered, _ = responses.canonical()
    population = build_population(
        ordered,
        min_family_size=settings.min_family_size,
        owner_cap=settings.owner_cap,
        missing=settings.missing,
        rng=rng,
    )
    columns = ["model", "owner", "family"]
    if population.frozen:
        columns += ["half", "representative"]
    own = replace(population.responses, models=population.table[columns].reset_index(drop=True))
    fit = fit_mirt_dif_map(own, dimension=dimension, errors="known")
    items, models = _places(fit.items, own.item_ids), _places(fit.models, own.model_ids)
    truth = LeaderboardTruth(
        items=tuple(own.item_ids),
        models=tuple(own.model_ids),
        families=fit.families,
        family=fit.family[models],
        easiness=fit.easiness[items],
        loadings=fit.loading[items],
        abilities=fit.ability.T[models],
        dif=dif_factor * fit.dif[items],
        planted=np.full(len(items), dif_factor != 0),
        settings={
            "n_items": own.n_item,
            "n_models": own.n_model,
            "dimension": dimension,
            "dif_factor": dif_factor,
            "data": _digest(own),
        },
    )
    return LikeBoards(responses=own, truth=truth, label="joint mode of MIRT-DIF")


def _digest(responses: Responses) -> str:
    """Return a few characters that other data would hardly share."""
    names = "\0".join([*responses.item_ids, "", *responses.model_ids])
    found = hashlib.sha256(names.encode())
    found.update(np.ascontiguousarray(responses.values).tobytes())
    return found.hexdigest()[:16]


def _places(have: tuple[str, ...], wanted: tuple[str, ...] | list[str]) -> NDArray[np.intp]:
    place = {name: i for i, name in enumerate(have)}
    return np.array([place[name] for name in wanted], dtype=np.intp)
