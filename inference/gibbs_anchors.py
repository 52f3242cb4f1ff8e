"""Where searches for conditional modes begin: values of a chain's tuning, turned to the factors at hand.

Factors turn in every sweep, so that a loading by itself says nothing. An anchor holds abilities and
items that belong together; a linear map, fitted to what is held in an update, takes them to the
factors at hand. So a start depends on what is held and on the anchor alone, never on what is drawn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neartie.inference.gibbs_protocol import State
from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]

ABILITY, ITEM = "_anchor_ability", "_anchor_item"
# A ridge, for what cannot be told apart.
_RIDGE = 1e-3
# The share of the new value in an anchor that follows a chain.
GAIN = 0.1


def start_anchor(state: State, *, n_item: int, n_family: int) -> None:
    """Write an anchor of no effects: searches begin at the middle of the priors."""
    n_factor, n_model = state["ability"].shape
    state[ABILITY] = np.zeros((n_model, n_factor))
    state[ITEM] = np.zeros((n_item, n_factor + n_family))


def follow(state: State, ability: Floats, items: Floats, design: Floats, *, copy: bool) -> None:
    """Move an anchor towards the values of a chain, in place.

    Parameters
    ----------
    state : State
    ability : (n_model, K) float
    items : (n_item, K + F) float
        Loadings, easiness, and contrasts of effects on the scale of logits.
    design : (n_model, F) float
        What multiplies the last F of these: 1, and the contrasts of a model's family.
    copy : bool
        Whether to take the values as they are.
    """
    if copy:
        state[ABILITY][...], state[ITEM][...] = ability, items
        return
    n_factor = ability.shape[1]
    old_items, old_ability = state[ITEM], state[ABILITY]
    turned = items @ _map(old_ability, ability, design).T
    loading, old = items[:, :n_factor], old_items[:, :n_factor]
    nothing = np.empty((len(items), 0))
    placed = ability @ _map(old, loading, nothing).T
    state[ITEM] += GAIN * (turned - old_items)
    state[ABILITY] += GAIN * (placed - old_ability)


def item_starts(state: State, ability: Floats, design: Floats) -> Floats:
    """Return where searches for items begin, given abilities: (n_item, K + F), effects in logits."""
    return np.asarray(state[ITEM] @ _map(ability, state[ABILITY], design).T)


def ability_starts(
    state: State, loading: Floats, intercepts: Floats, design: Floats, weight: Floats
) -> Floats:
    """Return where searches for abilities begin, given items: (n_model, K).

    Parameters
    ----------
    state : State
    loading : (n_item, K) float
    intercepts : (n_item, F) float
        Easiness, and contrasts of effects on the scale of logits.
    design : (n_model, F) float
    weight : (n_item,) float
        How much an answer to an item says.
    """
    n_factor = loading.shape[1]
    maps = _weighted_map(loading, intercepts, state[ITEM], weight)
    return np.asarray(state[ABILITY] @ maps[:, :n_factor].T + design @ maps[:, n_factor:].T)


@compiled
def _map(here: Floats, there: Floats, design: Floats) -> Floats:
    """Return the matrix M with [here, design] @ M closest to [there, design]."""
    n, n_factor = here.shape
    size = n_factor + design.shape[1]
    gram, side = np.zeros((size, size)), np.zeros((size, size))
    row, other = np.empty(size), np.empty(size)
    for m in range(n):
        row[:n_factor] = here[m]
        other[:n_factor] = there[m]
        row[n_factor:] = design[m]
        other[n_factor:] = design[m]
        for p in range(size):
            for q in range(size):
                gram[p, q] += row[p] * row[q]
                side[p, q] += row[p] * other[q]
    for p in range(size):
        gram[p, p] += _RIDGE
    return np.linalg.solve(gram, side)


@compiled
def _weighted_map(loading: Floats, intercepts: Floats, anchor: Floats, weight: Floats) -> Floats:
    """Return what takes anchors of abilities, and intercepts, to abilities: (K, K + F)."""
    n_item, n_factor = loading.shape
    size = anchor.shape[1]
    gram, side = np.zeros((n_factor, n_factor)), np.zeros((n_factor, size))
    for i in range(n_item):
        for p in range(n_factor):
            share = weight[i] * loading[i, p]
            for q in range(n_factor):
                gram[p, q] += share * loading[i, q]
                side[p, q] += share * anchor[i, q]
            for q in range(n_factor, size):
                side[p, q] += share * (anchor[i, q] - intercepts[i, q - n_factor])
    for p in range(n_factor):
        gram[p, p] += _RIDGE
    return np.linalg.solve(gram, side)
