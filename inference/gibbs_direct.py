"""Items and abilities of the multidimensional model without weights, and what a chain keeps for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_anchors import (
    ITEM,
    ability_starts,
    follow,
    item_starts,
    start_anchor,
)
from neartie.inference.gibbs_cells import FamilyCells
from neartie.inference.gibbs_direct_abilities import draw_abilities_directly
from neartie.inference.gibbs_direct_items import draw_items_directly
from neartie.inference.gibbs_item_draws import ItemPriors
from neartie.inference.gibbs_item_kernel import empty_sums, packed_products
from neartie.inference.gibbs_mirt_moves import Unknowns
from neartie.inference.gibbs_protocol import State

type Floats = NDArray[np.float64]

# Weights are drawn in one sweep of so many, to sum over the effects when their scale is drawn.
WEIGHTS_EVERY: Final = 4
SWEEP, TALLY = "_sweep", "_tally"
# A width below which starts of standard effects are small.
_NARROW: Final = 0.03


def start_directly(state: State, cells: FamilyCells) -> None:
    """Write what a chain keeps beside its unknowns, unless it has it."""
    if ITEM in state:
        return
    start_anchor(state, n_item=len(cells.answers), n_family=cells.n_family)
    state[SWEEP] = np.array(0.0)
    # Proposals and accepted ones since tuning ended: of items, of abilities.
    state[TALLY] = np.zeros((2, 2))


def wants_weights(state: State) -> bool:
    """Say whether weights are drawn in this sweep, and count it."""
    state[SWEEP] += 1.0
    return float(state[SWEEP]) % WEIGHTS_EVERY == 1.0


def draw_directly(
    state: State,
    unknowns: Unknowns,
    cells: FamilyCells,
    priors: ItemPriors,
    *,
    tuning: bool,
    rng: np.random.Generator,
) -> None:
    """Draw items given abilities, and abilities given items, in place.

    Parameters
    ----------
    state : State
        Its anchors are read, and the accepted proposals counted in it.
    unknowns : Unknowns
    cells : FamilyCells
    priors : ItemPriors
        One width for all items.
    tuning : bool
        Nothing is counted meanwhile.
    rng : Generator
    """
    design = _design(cells, priors)
    accepted = (
        _draw_items(state, unknowns, cells, priors, design, rng),
        _draw_abilities(state, unknowns, cells, priors, design, rng),
    )
    if not tuning:
        state[TALLY] += (cells.answers.shape, accepted)


def follow_chain(
    state: State, unknowns: Unknowns, cells: FamilyCells, priors: ItemPriors, *, copy: bool
) -> None:
    """Move the anchors towards where the chain is; all they get with `copy`."""
    items = np.column_stack(
        [unknowns.loading, unknowns.easiness, priors.width[:, None] * unknowns.effects]
    )
    follow(state, unknowns.ability, items, _design(cells, priors), copy=copy)


def shares_accepted(state: State) -> Mapping[str, float]:
    """Return the shares of accepted proposals since tuning ended."""
    proposed, accepted = state[TALLY]
    shares = accepted / np.maximum(proposed, 1.0)
    return {"accepted_item": float(shares[0]), "accepted_ability": float(shares[1])}


def _design(cells: FamilyCells, priors: ItemPriors) -> Floats:
    """Return what multiplies the last F numbers of an item in each model's logits, (n_model, F)."""
    n_family = len(priors.contrasts)
    return np.hstack([np.ones((n_family, 1)), priors.contrasts])[cells.family]


def _columns(rows: Floats) -> tuple[Floats, Floats]:
    """Return vectors as columns, and their packed products."""
    n_factor = rows.shape[1]
    n_packed = n_factor * (n_factor + 1) // 2
    columns = np.ascontiguousarray(packed_products(rows, n_packed + n_factor).T)
    return columns[n_packed:], columns[:n_packed]


def _draw_items(
    state: State,
    unknowns: Unknowns,
    cells: FamilyCells,
    priors: ItemPriors,
    design: Floats,
    rng: np.random.Generator,
) -> int:
    n_factor, width = unknowns.loading.shape[1], priors.width[0]
    items = np.column_stack([unknowns.loading, unknowns.easiness, unknowns.effects])
    begin = item_starts(state, unknowns.ability, design)
    begin[:, n_factor + 1 :] *= width / (width**2 + _NARROW**2)
    rows, products = _columns(unknowns.ability)
    accepted = draw_items_directly(
        rng,
        items,
        begin,
        cells.answers,
        rows,
        products,
        cells.start,
        priors,
        empty_sums(len(items), cells.n_family, n_factor),
    )
    unknowns.loading = np.ascontiguousarray(items[:, :n_factor])
    unknowns.easiness = np.ascontiguousarray(items[:, n_factor])
    unknowns.effects = np.ascontiguousarray(items[:, n_factor + 1 :])
    return accepted


def _draw_abilities(
    state: State,
    unknowns: Unknowns,
    cells: FamilyCells,
    priors: ItemPriors,
    design: Floats,
    rng: np.random.Generator,
) -> int:
    share = cells.share_right
    effects = priors.width[:, None] * unknowns.effects
    begin = ability_starts(
        state,
        unknowns.loading,
        np.column_stack([unknowns.easiness, effects]),
        design,
        share * (1 - share),
    )
    rows, products = _columns(unknowns.loading)
    return draw_abilities_directly(
        rng,
        unknowns.ability,
        begin,
        cells.by_model,
        rows,
        products,
        unknowns.easiness + priors.contrasts @ effects.T,
        cells.family,
        unknowns.centers(cells, priors.contrasts),
    )
