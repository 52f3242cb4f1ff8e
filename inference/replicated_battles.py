"""Battles as a Bradley–Terry model would have them again: counts a row, one set a draw."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from neartie.data.errors import DataError
from neartie.models.bradley_terry import TieModel, outcome_log_probabilities

type Codes = NDArray[np.int64]
type Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ObservedBattles:
    """The battles that a posterior was found from, added up by row.

    Attributes
    ----------
    outcome : (n_row, 3) int
        Battles that the first won, lost, and that nobody won.
    first, second : (n_row,) int
        Positions in `models`.
    shown : (n_row,) int
        1 where the first was shown first; meaningless unless `orders_apart`.
    models : tuple of str
        Ids.
    ties : {'half', 'davidson', 'rao-kupper'}
    orders_apart : bool
        Whether rows keep apart who was shown first.
    """

    outcome: Codes
    first: Codes
    second: Codes
    shown: Codes
    models: tuple[str, ...]
    ties: TieModel
    orders_apart: bool


def observed_battles(tree: xr.DataTree, *, group: str = "posterior") -> ObservedBattles:
    """Return the battles that stand beside the draws.

    Parameters
    ----------
    tree : DataTree
        As `fit` or `draw_prior` gives it.
    group : str
        Where the draws are.

    Returns
    -------
    ObservedBattles

    Raises
    ------
    DataError
        If the tree holds no battles, or their weights are no whole numbers.
    """
    if "observed_data" not in tree.children or "outcome" not in tree["observed_data"]:
        raise DataError("the fit holds no battles (`outcome` in `observed_data`) to replicate")
    outcome = tree["observed_data"]["outcome"].transpose("pair", "result").to_numpy()
    if (outcome != np.floor(outcome)).any():
        raise DataError(
            "some battles have weights that are no whole numbers: how often such a battle would "
            "be won again is not defined; fit the battles without weights to check the model"
        )
    constant = tree["constant_data"].to_dataset()
    options = json.loads(str(tree.attrs.get("options", "{}")))
    return ObservedBattles(
        outcome=outcome.astype(np.int64),
        first=constant["pair_first"].to_numpy().astype(np.int64),
        second=constant["pair_second"].to_numpy().astype(np.int64),
        shown=constant["pair_shown"].to_numpy().astype(np.int64),
        models=tuple(str(label) for label in tree[group]["model"].to_numpy()),
        ties=cast(TieModel, options.get("ties", "half")),
        orders_apart=bool(options.get("first_shown", False)),
    )


def replicate_battles(
    tree: xr.DataTree,
    battles: ObservedBattles,
    *,
    positions: NDArray[np.intp],
    rng: np.random.Generator,
    group: str = "posterior",
) -> Iterator[Codes]:
    """Yield the outcomes that each of some draws would give to as many battles.

    Parameters
    ----------
    tree : DataTree
    battles : ObservedBattles
        Of the tree.
    positions : (n,) int
        Of the draws, chain after chain.
    rng : Generator
    group : str
        Where the draws are.

    Yields
    ------
    (n_row, 3) int
        Won, lost, tied. With ties as half wins, which is a way to count them and not one in
        which they arise, nothing is tied.
    """
    draws = tree[group].to_dataset()
    judge = tree["constant_data"]["pair_judge"].to_numpy()
    total = battles.outcome.sum(axis=1)
    n_draw = draws.sizes["draw"]
    for position in positions:
        chain, draw = divmod(int(position), n_draw)
        point = draws.isel(chain=chain, draw=draw)
        tie = float(point["log_tie"]) if "log_tie" in point else 0.0
        logs = outcome_log_probabilities(row_logits(point, battles, judge), tie, ties=battles.ties)
        chance = np.exp(np.stack(logs, axis=1))
        if battles.ties == "half":
            chance[:, 2] = 0.0
        yield rng.multinomial(total, chance / chance.sum(axis=1, keepdims=True))


def row_logits(point: xr.Dataset, battles: ObservedBattles, judge: Codes) -> Floats:
    """Return the log odds that the first of each row wins, before ties, under one draw.

    Parameters
    ----------
    point : Dataset
        One draw.
    battles : ObservedBattles
    judge : (n_row,) int
        Position of the judge, -1 for none.

    Returns
    -------
    (n_row,) float, logit
    """
    first, second, named = battles.first, battles.second, judge >= 0
    strength = point["strength"].to_numpy()
    logit = strength[first] - strength[second]
    if "first_shown_effect" in point:
        advantage = np.full(len(first), float(point["first_shown_effect"]))
        if "judge_first_shown" in point:
            own = point["judge_first_shown"].to_numpy()
            advantage = np.where(named, own[judge], advantage)
        logit = logit + battles.shown * advantage
    if "judge_effect" in point:
        effect = point["judge_effect"].transpose("judge", "model").to_numpy()
        logit = logit + np.where(named, effect[judge, first] - effect[judge, second], 0.0)
    return np.asarray(logit, dtype=np.float64)
