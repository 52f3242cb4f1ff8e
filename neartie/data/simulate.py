"""Simulated leaderboards: owners, families, sources, abilities, planted family effects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.data.design import LeaderboardDesign, family_names
from neartie.data.memory import require_memory
from neartie.data.naming import (
    checkpoint_names,
    item_names,
    owner_names,
    source_names,
    unclassified_names,
)
from neartie.data.responses import MISSING, Responses
from neartie.data.truth import NO_FAMILY, LeaderboardTruth, SimulatedLeaderboard, row_blocks

# An id, its parameters and its row in the tables.
BYTES_PER_NAME = 300


def simulate_leaderboard(
    *,
    n_items: int = 1000,
    n_models: int = 240,
    n_owners: int = 120,
    families: int | Sequence[str] = 5,
    families_per_owner: float = 1.4,
    n_unclassified: int = 8,
    n_sources: int = 8,
    n_dimensions: int = 3,
    easiness: float = 0.5,
    easiness_sd: float = 2.0,
    source_sd: float = 0.5,
    discrimination: float = 0.5,
    secondary_discrimination: float = 0.5,
    checkpoint_sd: float = 0.3,
    impact: float = 0.3,
    dif_share: float = 0.25,
    dif_effect: float = 3.0,
    direction: str = "shared",
    direction_sd: float = 0.7,
    missing: float = 0.0,
    rng: np.random.Generator | int | None = None,
) -> SimulatedLeaderboard:
    r"""Return answers of an invented leaderboard, with the truth behind them.

    Parameters
    ----------
    n_items, n_models, n_owners : int
        Sizes. `n_models` counts all models, the unclassified among them.
    families : int or sequence of str
        How many of the families that ids can name, or their names.
    families_per_owner : float
        Mean number of families of which an owner has models, as far as models suffice.
    n_unclassified : int
        Models whose id names no family, or several; an audit leaves them out.
    n_sources : int
        Sources, of near-equal size.
    n_dimensions : int
        Dimensions of ability. The first is general; in the others a source has a direction of
        its own.
    easiness, easiness_sd, source_sd : float, logit
        Mean easiness, standard deviation of items within a source, and of sources.
    discrimination : float, logit
        Median loading on the general dimension.
    secondary_discrimination : float, logit
        Length of a source's direction in the other dimensions; items scatter around it.
    checkpoint_sd : float in [0, 1]
        Standard deviation of the checkpoints of one owner and family around what they share;
        the whole has standard deviation 1 in every dimension.
    impact : float
        Root mean square, over families, of the mean ability of a family in every dimension: 0
        makes families exchangeable.
    dif_share : float in [0, 1]
        Share of the items that get family effects.
    dif_effect : float, logit
        Range of the effects of such an item: largest minus smallest, the D of P0, equation 5.
    direction : str
        `random`: every item favours families of its own, and no family gains on the whole.
        `shared`: items lean the same way, so that some families gain and others lose.
        The name of a family: items favour that one.
    direction_sd : float
        How much items differ around the shared direction, relative to it. At 0 all items have
        the same effects: then family DIF is one more dimension of ability, and a spectral model
        may well take it for that.
    missing : float in [0, 1)
        Chance of every cell to be missing.
    rng : Generator, int or None
        Owners and ids, abilities, items, effects, answers and gaps have streams of their own:
        leaderboards with the same seed that differ in `dif_effect` alone differ in nothing else.

    Returns
    -------
    SimulatedLeaderboard
        Items stand source by source, models in plain order of ids. Truth and responses have the
        same order; join by id whatever went through files or an audit.

    Raises
    ------
    ValueError
        If a setting is out of range, or the sizes do not fit together.
    DataError
        If the answers do not fit into memory.

    Notes
    -----
    The model is that of `LeaderboardTruth`. With :math:`u` a random effect of owner and family,
    :math:`e` one of the checkpoint, :math:`\mu_f` the family means and :math:`\sigma` the
    `checkpoint_sd`, :math:`\theta_m = \mu_{f(m)} + \sqrt{1 - \sigma^2}\,u + \sigma e`, where
    :math:`u, e \sim N(0, I_K)`. The number of planted items is `dif_share * n_items`, rounded.

    The defaults make near ties common and effects large enough for an audit to find: under
    `random` effects it finds them too, but they cancel over items and hardly move a ranking.

    Examples
    --------
    >>> board = simulate_leaderboard(n_items=40, n_models=30, n_owners=12, rng=1)
    >>> board.responses
    Responses(40 items x 30 models, right/wrong, 0 missing)
    >>> int(board.truth.planted.sum()), board.truth.families[0]
    (10, 'Qwen')
    """
    design = LeaderboardDesign(
        n_items=n_items,
        n_models=n_models,
        n_owners=n_owners,
        families=family_names(families),
        families_per_owner=families_per_owner,
        n_unclassified=n_unclassified,
        n_sources=n_sources,
        n_dimensions=n_dimensions,
        easiness=easiness,
        easiness_sd=easiness_sd,
        source_sd=source_sd,
        discrimination=discrimination,
        secondary_discrimination=secondary_discrimination,
        checkpoint_sd=checkpoint_sd,
        impact=impact,
        dif_share=dif_share,
        dif_effect=dif_effect,
        direction=direction,
        direction_sd=direction_sd,
        missing=missing,
    )
    require_memory(
        n_items * n_models + BYTES_PER_NAME * (n_items + n_models),
        purpose=f"an invented leaderboard of {n_items:,} items x {n_models:,} models",
    )
    rng = np.random.default_rng(rng)
    for_models, for_abilities, for_items, for_effects, for_answers, for_gaps = rng.spawn(6)
    models = _draw_models(design, rng=for_models)
    source = np.arange(n_items) * n_sources // n_items
    sources = [source_names(n_sources)[s] for s in source]
    loadings, item_easiness = _draw_items(design, source, rng=for_items)
    dif, planted = _draw_effects(design, rng=for_effects)
    truth = LeaderboardTruth(
        items=tuple(item_names(sources)),
        models=tuple(models["model"]),
        families=design.families,
        family=models["position"].to_numpy(dtype=np.intp),
        easiness=item_easiness,
        loadings=loadings,
        abilities=_draw_abilities(design, models, rng=for_abilities),
        dif=dif,
        planted=planted,
        settings=asdict(design) | {"seed": _entropy(rng)},
    )
    responses = Responses.build(
        _draw_answers(truth, missing, rng=for_answers, rng_gaps=for_gaps),
        items=pd.DataFrame({"item": truth.items, "source": sources}),
        models=models[["model", "owner", "family"]],
    )
    return SimulatedLeaderboard(responses=responses, truth=truth)


def _entropy(rng: np.random.Generator) -> int | None:
    """Return the number that `default_rng` would need to begin the same way."""
    sequence = rng.bit_generator.seed_seq
    entropy = sequence.entropy if isinstance(sequence, np.random.SeedSequence) else None
    return entropy if isinstance(entropy, int) else None


def _draw_models(design: LeaderboardDesign, *, rng: np.random.Generator) -> pd.DataFrame:
    """Return `model`, `owner`, `family`, `position` (of the family), `cell`, in order of ids.

    Every owner has a first family, in equal shares; some have others. A cell is an owner and a
    family; models beyond one a cell are spread unevenly. Unclassified models are cells alone.
    """
    n_owner, n_family = design.n_owners, len(design.families)
    n_classified = design.n_models - design.n_unclassified
    first = rng.permutation(np.arange(n_owner) % n_family)
    others = np.array(
        [(o, f) for o in range(n_owner) for f in range(n_family) if f != first[o]], dtype=np.intp
    ).reshape(-1, 2)
    n_more = min(round((design.families_per_owner - 1) * n_owner), n_classified - n_owner)
    more = others[rng.permutation(len(others))[:n_more]]
    cells = np.vstack([np.column_stack([np.arange(n_owner), first]), more])
    weights = rng.dirichlet(np.full(len(cells), 2.0))
    sizes = 1 + rng.multinomial(n_classified - len(cells), weights)
    owners = owner_names(n_owner, rng=rng)
    rows: list[tuple[str, str, str, int, int]] = []
    for cell, ((owner, family), size) in enumerate(zip(cells, sizes, strict=True)):
        name = design.families[family]
        for checkpoint in checkpoint_names(name, int(size), rng=rng):
            rows.append((f"{owners[owner]}/{checkpoint}", owners[owner], name, int(family), cell))
    for n, name in enumerate(unclassified_names(design.n_unclassified, rng=rng)):
        owner_name = owners[rng.integers(n_owner)]
        rows.append((f"{owner_name}/{name}", owner_name, NO_FAMILY, -1, len(cells) + n))
    columns = ["model", "owner", "family", "position", "cell"]
    return pd.DataFrame(sorted(rows), columns=columns)


def _draw_abilities(
    design: LeaderboardDesign, models: pd.DataFrame, *, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return abilities: family mean, what an owner's checkpoints share, the checkpoint's own."""
    n_family, n_dimension = len(design.families), design.n_dimensions
    profile = rng.standard_normal((n_family, n_dimension))
    profile -= profile.mean(axis=0)
    size = np.sqrt(np.mean(profile**2, axis=0))
    profile *= design.impact / np.where(size > 0, size, 1.0)
    means = np.vstack([profile, np.zeros(n_dimension)])[models["position"].to_numpy()]
    cell = models["cell"].to_numpy()
    shared = rng.standard_normal((cell.max() + 1, n_dimension))[cell]
    own = rng.standard_normal((len(models), n_dimension))
    sd = design.checkpoint_sd
    abilities: NDArray[np.float64] = means + np.sqrt(1 - sd**2) * shared + sd * own
    return abilities


def _draw_items(
    design: LeaderboardDesign, source: NDArray[np.intp], *, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return loadings and easiness."""
    n_item, n_more = design.n_items, design.n_dimensions - 1
    level = design.easiness + design.source_sd * rng.standard_normal(design.n_sources)
    easiness = level[source] + design.easiness_sd * rng.standard_normal(n_item)
    general = design.discrimination * np.exp(0.3 * rng.standard_normal(n_item))
    towards = rng.standard_normal((design.n_sources, n_more))
    towards /= np.linalg.norm(towards, axis=1, keepdims=True) if n_more else 1.0
    scatter = 0.5 * rng.standard_normal((n_item, n_more))
    others = design.secondary_discrimination * (towards[source] + scatter)
    return np.column_stack([general, others]), easiness


def _draw_effects(
    design: LeaderboardDesign, *, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return family effects, and which items have them."""
    n_item, n_family = design.n_items, len(design.families)
    dif, planted = np.zeros((n_item, n_family)), np.zeros(n_item, dtype=bool)
    chosen = np.sort(rng.permutation(n_item)[: round(design.dif_share * n_item)])
    order = rng.permutation(n_family)
    contrast = rng.standard_normal((n_item, n_family))[chosen]
    if design.dif_effect == 0 or not len(chosen):
        return dif, planted
    if design.direction != "random":
        shared = order.astype(np.float64)
        if design.direction in design.families:
            shared = np.arange(n_family) == design.families.index(design.direction)
        contrast = (shared - shared.mean()) / shared.std() + design.direction_sd * contrast
    contrast -= contrast.mean(axis=1, keepdims=True)
    dif[chosen] = design.dif_effect * contrast / np.ptp(contrast, axis=1)[:, None]
    planted[chosen] = True
    return dif, planted


def _draw_answers(
    truth: LeaderboardTruth,
    missing: float,
    *,
    rng: np.random.Generator,
    rng_gaps: np.random.Generator,
) -> NDArray[np.int8]:
    """Return answers, a few items at a time."""
    n_item, n_model = len(truth.items), len(truth.models)
    values = np.empty((n_item, n_model), dtype=np.int8)
    for rows in row_blocks(n_item, n_model):
        chances = truth.probability(items=rows)
        values[rows] = rng.random(chances.shape) < chances
        if missing:
            values[rows][rng_gaps.random(chances.shape) < missing] = MISSING
    return values
