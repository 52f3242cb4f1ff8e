"""The rungs of the ladder: from the audit's point estimate to the full posterior, half by half."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from neartie.audits.comparison_base import ComparisonBase, ComparisonHalf
from neartie.audits.comparison_settings import (
    ADVI,
    BOOTSTRAP,
    FULL,
    LAPLACE,
    PATHFINDER,
    PLUG_IN,
    RESIDUAL,
    ComparisonSettings,
)
from neartie.audits.comparison_store import fingerprint
from neartie.audits.half_draws import HalfDraws
from neartie.data.errors import CaveatWarning, DataError
from neartie.data.files import to_json
from neartie.inference.engine_draws import Progress
from neartie.inference.engines import SAMPLERS
from neartie.inference.fit import fit
from neartie.inference.posterior_file import read_posterior, write_posterior
from neartie.inference.residual_dif_draws import ResidualDifDraws

type Floats = NDArray[np.float64]

# Share of proposals that the chain of every item must accept.
_ACCEPTED: Final = 0.2
# What the draws of a finished half were made with.
_OF_HALF: Final = "of_half"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RungTask:
    """What a rung is made from, in one half.

    Attributes
    ----------
    base : ComparisonBase
    half : ComparisonHalf
    settings : ComparisonSettings
    seed : int
        The rung's and half's own.
    checkpoint : path or None
        File from which a stopped sampler goes on. Beside it, ending in .nc, its draws are kept once
        they are whole, until both halves have theirs.
    cores : int or None
    progress : callable
        Takes (step, share done).
    """

    base: ComparisonBase
    half: ComparisonHalf
    settings: ComparisonSettings
    seed: int
    checkpoint: Path | None
    cores: int | None
    progress: Progress

    @property
    def dimension(self) -> int:
        """K of the models that are fitted."""
        return self.settings.dimensions(*self.base.audit.k)[self.half.number]

    @property
    def columns(self) -> NDArray[np.intp]:
        """(n_representative,) int: position of every representative's family."""
        families = np.array(self.base.families)
        return np.searchsorted(families, self.half.family[self.half.representatives])


def plug_in_draws(task: RungTask) -> HalfDraws:
    """Return the audit's estimate as one draw (P0, eq 3)."""
    fit = task.half.plug_in
    return HalfDraws(
        easiness=fit.order_easiness[None],
        effects=fit.effects[None],
        predictor=_beside_offset(task, fit.order_easiness[None], fit.effects[None]),
        facts={"converged": "yes" if fit.converged else "no", "verdict": "The audit's estimate."},
    )


def residual_draws(task: RungTask) -> HalfDraws:
    """Return draws of item effects beside the audit's fixed offset."""
    from neartie.inference.residual_dif_draws import draw_residual_dif

    half = task.half
    drawn = draw_residual_dif(
        half.values,
        family=half.family,
        offset=half.offset,
        penalty=task.base.settings.penalty,
        draws=task.settings.draws,
        rng=task.seed,
    )
    return HalfDraws(
        easiness=drawn.easiness,
        effects=drawn.effects,
        predictor=_beside_offset(task, drawn.easiness, drawn.effects),
        facts=_exact(drawn),
    )


def bootstrap_draws(task: RungTask) -> HalfDraws:
    """Return draws of item effects beside offsets that bootstrap owners give."""
    from neartie.inference.bootstrap_offset import bootstrap_offsets
    from neartie.inference.residual_dif_bootstrap import draw_residual_dif_bootstrap

    half, settings = task.half, task.settings
    of_offsets, of_draws = np.random.default_rng(task.seed).spawn(2)
    samples = bootstrap_offsets(
        half.prepared.working,
        owner=half.owner,
        dimension=task.base.audit.k[half.number],
        weight=half.prepared.patterns.count(half.purified.before),
        limit=task.base.settings.offset_limit,
        n=settings.offsets,
        rng=of_offsets,
    )
    drawn = draw_residual_dif_bootstrap(
        half.values,
        family=half.family,
        # Equal response patterns share a row of the offset.
        offsets=(sample.of_items(half.prepared.patterns.of_item) for sample in samples),
        penalty=task.base.settings.penalty,
        draws=settings.draws // settings.offsets,
        rng=of_draws,
    )
    columns = task.columns

    def predictor(s: int) -> Floats:
        return drawn.linear_predictor(s, models=half.representatives, family=columns)

    return HalfDraws(
        easiness=drawn.draws.easiness,
        effects=drawn.draws.effects,
        predictor=predictor,
        facts=_exact(drawn.draws) | {"offsets": settings.offsets},
    )


def _exact(drawn: ResidualDifDraws) -> dict[str, Any]:
    """Return the facts of item effects beside an offset, whose chains leave no doubt."""
    return dict(drawn.facts) | {
        "converged": "yes" if drawn.acceptance.min() >= _ACCEPTED else "no",
        "verdict": "Items are independent here; their chains accept "
        f"{100 * drawn.acceptance.mean():.0f} % of independent proposals on average, and at least "
        f"{100 * drawn.acceptance.min():.0f} % of an item's.",
    }


def laplace_draws(task: RungTask) -> HalfDraws:
    """Return draws of the normal density at the joint mode of the full model, scales held."""
    from neartie.inference.mirt_laplace_draws import draw_mirt_laplace

    half, options = task.half, task.settings.options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaveatWarning)
        drawn = draw_mirt_laplace(
            half.responses,
            dimension=task.dimension,
            priors=options.get("priors"),
            zero_sum=options.get("zero_sum", "families"),
            draws=task.settings.draws,
            rng=task.seed,
        )
    mode = drawn.mode
    rows = _positions(mode.items, half.responses.item_ids)
    named = _positions(mode.families, task.base.families)
    models = np.array(half.responses.model_ids)[half.representatives]
    people = _positions(mode.models, models.tolist())
    ended = "converged" if mode.converged else "did not converge"
    return HalfDraws(
        easiness=drawn.easiness[:, rows],
        effects=drawn.effects[:, rows][:, :, named],
        predictor=lambda s: drawn.linear_predictor(s, models=people)[rows],
        facts=dict(drawn.facts)
        | {
            "converged": "not assessed" if mode.converged else "no",
            "verdict": f"Approximation (laplace): the search for the mode {ended}; scales are held.",
        },
    )


def _beside_offset(task: RungTask, easiness: Floats, effects: Floats) -> Callable[[int], Floats]:
    offset, columns = task.half.offset[:, task.half.representatives], task.columns
    return lambda s: offset + easiness[s][:, None] + effects[s][:, columns]


def posterior_draws(task: RungTask, *, engine: str) -> HalfDraws:
    """Return draws of the multidimensional model with family effects, by an engine of `fit`."""
    settings = task.settings
    sampled = engine in ("gibbs", "nuts")
    lengths: dict[str, Any] = {"draws": settings.draws}
    if sampled:
        each = settings.draws // settings.chains
        longer = 1 if engine == "gibbs" else settings.thin
        lengths = {"draws": each * longer, "tune": settings.tune, "chains": settings.chains}
    if engine == "gibbs":
        lengths |= {
            "thin": settings.thin,
            "min_ess": settings.min_ess,
            "checkpoint": task.checkpoint,
        }
    kept = finished_half(task.checkpoint) if sampled and task.checkpoint else None
    of_half = to_json(
        {
            "data": fingerprint(task.half.responses),
            "k": task.dimension,
            "seed": task.seed,
            **settings.of_rung(FULL),
        }
    )
    if kept is not None and kept.exists():
        return draws_of_posterior(task, _finished(kept, of_half))
    with warnings.catch_warnings():
        # What it says is kept as the verdict, and shown with the rung.
        warnings.simplefilter("ignore", CaveatWarning)
        tree = fit(
            task.half.responses,
            kind="mirt-dif",
            options={"dimension": task.dimension, **task.settings.options},
            engine=engine,
            cores=task.cores,
            progress=task.progress,
            rng=task.seed,
            **lengths,
        )
    if kept is not None:
        whole = tree.copy()
        whole.attrs[_OF_HALF] = of_half
        write_posterior(whole, kept)
    return draws_of_posterior(task, tree)


def finished_half(checkpoint: Path) -> Path:
    """Return where the draws of a half are kept until both halves have theirs.

    Examples
    --------
    >>> finished_half(Path("rungs/full-0.npz")).name
    'full-0.nc'
    """
    return checkpoint.with_suffix(".nc")


def _finished(path: Path, of_half: str) -> xr.DataTree:
    tree = read_posterior(path)
    if tree.attrs.get(_OF_HALF) != of_half:
        raise DataError(
            f"{path} belongs to a comparison with other data, settings or seed; name another folder, or "
            "delete it"
        )
    return tree


def draws_of_posterior(task: RungTask, tree: xr.DataTree) -> HalfDraws:
    """Return the draws of a posterior of MIRT-DIF, in the order of the half.

    Parameters
    ----------
    task : RungTask
    tree : DataTree
        Of `fit`.

    Returns
    -------
    HalfDraws
        As many draws as the settings ask for, spread evenly.
    """
    half = task.half
    draws = tree["posterior"].to_dataset().stack(sample=("chain", "draw"))
    n = draws.sizes["sample"]
    kept = np.linspace(0, n - 1, task.settings.draws).round().astype(np.intp)
    chain = np.unique_inverse(draws["chain"].to_numpy()[kept]).inverse_indices
    draws = draws.isel(sample=kept)
    rows = _positions(draws["item"].to_numpy(), half.responses.item_ids)
    models = np.array(half.responses.model_ids)[half.representatives]
    people = _positions(draws["model"].to_numpy(), models.tolist())
    named = _positions(draws["family"].to_numpy(), list(task.base.families))
    easiness = draws["easiness"].transpose("sample", "item").to_numpy()[:, rows]
    effects = draws["dif"].transpose("sample", "item", "family").to_numpy()[:, rows][:, :, named]
    loading = draws["loading"].transpose("sample", "item", "factor").to_numpy()[:, rows]
    ability = draws["ability"].transpose("sample", "factor", "model").to_numpy()[:, :, people]
    columns = task.columns

    def predictor(s: int) -> Floats:
        return np.asarray(loading[s] @ ability[s] + easiness[s][:, None] + effects[s][:, columns])

    names = ("converged", "verdict", "max_rhat", "min_ess_bulk", "min_ess_tail", "pareto_k")
    facts = {name: tree.attrs[name] for name in names}
    if tree.attrs["engine"] in SAMPLERS:
        # Draws of a chain lie next to each other; of unequal chains nothing can be said.
        lengths = np.bincount(chain)
        facts["chains"] = len(lengths) if len(set(lengths.tolist())) == 1 else 0
    return HalfDraws(easiness=easiness, effects=effects, predictor=predictor, facts=facts)


def _positions(labels: Iterable[Any], wanted: list[str] | tuple[str, ...]) -> NDArray[np.intp]:
    place = {str(label): i for i, label in enumerate(labels)}
    return np.array([place[name] for name in wanted], dtype=np.intp)


def full_draws(task: RungTask) -> HalfDraws:
    """Return draws of the full posterior."""
    return posterior_draws(task, engine=task.settings.engine)


def advi_draws(task: RungTask) -> HalfDraws:
    """Return draws of the normal density that variational inference finds."""
    return posterior_draws(task, engine="advi")


def pathfinder_draws(task: RungTask) -> HalfDraws:
    """Return draws of pathfinder's approximation."""
    return posterior_draws(task, engine="pathfinder")


DRAWERS: Final[dict[str, Callable[[RungTask], HalfDraws]]] = {
    PLUG_IN: plug_in_draws,
    RESIDUAL: residual_draws,
    BOOTSTRAP: bootstrap_draws,
    LAPLACE: laplace_draws,
    PATHFINDER: pathfinder_draws,
    ADVI: advi_draws,
    FULL: full_draws,
}
