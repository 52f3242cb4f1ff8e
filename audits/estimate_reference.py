"""Draws of a posterior that estimates are held against: same ids, same origin, own diagnostics."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from neartie.audits.estimate_agreement import centred
from neartie.audits.point_estimates import OVER_MODELS, PrintedEstimates
from neartie.audits.rank_source import scores_of
from neartie.data.battles import Battles
from neartie.data.errors import CaveatWarning, DataError
from neartie.data.responses import Responses
from neartie.data.wording import listed
from neartie.inference.diagnostics import diagnostics, judge_sampler

type Floats = NDArray[np.float64]

#: Share of items that must converge for a mean over all of them.
_ENOUGH: Final = 0.95


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class QuantityDraws:
    """Draws of one quantity.

    Attributes
    ----------
    draws : (n_draw, n) float
        In the order of the estimates.
    converged : {'yes', 'no', 'not assessed'}
    verdict : str
        A sentence.
    n_lost : int
        Values that did not converge, or are not assessed.
    is_usable : bool
        Whether means over all values say something: all are converged; or, over items, 95 % of
        them, and the sampler has nothing else to complain of. Ranks and pairs of models need all.
    ess : float
        Median effective sample size, the smaller one of bulk and tails; NaN where that is not
        known.
    """

    draws: Floats
    converged: str
    verdict: str
    n_lost: int
    is_usable: bool
    ess: float

    @property
    def monte_carlo(self) -> float:
        """Standard error of a mean that comes from drawing, in posterior standard deviations."""
        return self.ess**-0.5 if self.ess > 0 else float("nan")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Reference:
    """A posterior, ready to be compared.

    Attributes
    ----------
    models : tuple of str
        Those that are compared.
    component : (n_model,) int
        Connected sets.
    quantities : dict of QuantityDraws
        `ability` or `strength`; for the 2PL `difficulty` and `log_discrimination`.
    notices : tuple of str
        Of the posterior.
    """

    models: tuple[str, ...]
    component: NDArray[np.intp]
    quantities: dict[str, QuantityDraws]
    notices: tuple[str, ...]

    @property
    def main(self) -> QuantityDraws:
        """The quantity over models."""
        return next(self.quantities[name] for name in OVER_MODELS if name in self.quantities)


def reference_of(
    posterior: xr.DataTree,
    data: Responses | Battles,
    printed: list[PrintedEstimates],
    *,
    kind: str,
) -> Reference:
    """Return the draws that estimates are held against.

    Parameters
    ----------
    posterior : DataTree
    data : Responses or Battles
        What it and the estimates are made from.
    printed : list of PrintedEstimates
    kind : {'two-pl', 'bradley-terry'}

    Returns
    -------
    Reference
        Draws have mean zero over the compared models of a connected set; difficulties are moved
        along with abilities. Convergence is judged on these very draws, quantity by quantity.

    Raises
    ------
    DataError
        If the posterior is one of other data, or of another kind.
    """
    if posterior.attrs.get("kind", kind) != kind:
        raise DataError(f"the posterior is one of {posterior.attrs['kind']!r}, not of {kind!r}")
    main = next(one for one in printed if one.quantity in OVER_MODELS)
    scores = scores_of(posterior, variable=main.quantity)
    lost = [name for name in main.ids if name not in scores.models]
    known = data.models if isinstance(data, Battles) else data.model_ids
    odd = lost or sorted(set(scores.models) - set(known))
    if odd:
        raise DataError(
            f"the posterior is one of other data: they do not share model {listed(odd)}"
        )
    place = [scores.models.index(name) for name in main.ids]
    component = scores.component[place]
    raw = scores.draws[:, place]
    draws = {main.quantity: centred(raw, component)}
    for one in printed:
        if one.quantity in draws:
            continue
        draws[one.quantity] = _item_draws(posterior, one.quantity, one.ids)
        if one.quantity == "difficulty":
            draws[one.quantity] -= raw.mean(axis=1, keepdims=True)
    ids = {one.quantity: one.ids for one in printed}
    stats = _sampler_statistics(posterior)
    n_chain = int(posterior["posterior"].sizes.get("chain", 1))
    return Reference(
        models=main.ids,
        component=component,
        quantities={
            name: _diagnosed(name, values, ids[name], n_chain=n_chain, stats=stats)
            for name, values in draws.items()
        },
        notices=scores.notices,
    )


def _item_draws(posterior: xr.DataTree, quantity: str, ids: tuple[str, ...]) -> Floats:
    values = posterior["posterior"][quantity].transpose("chain", "draw", "item")
    known = {str(label): place for place, label in enumerate(values["item"].to_numpy())}
    array = values.to_numpy().astype(np.float64)
    return array.reshape(-1, array.shape[-1])[:, [known[name] for name in ids]]


def _sampler_statistics(posterior: xr.DataTree) -> dict[str, Floats]:
    if "sample_stats" not in posterior.children:
        return {}
    stats = posterior["sample_stats"].to_dataset()
    return {name: stats[name].to_numpy() for name in ("diverging", "energy") if name in stats}


def _diagnosed(
    name: str,
    draws: Floats,
    ids: tuple[str, ...],
    *,
    n_chain: int,
    stats: Mapping[str, Floats],
) -> QuantityDraws:
    values = draws.reshape(n_chain, -1, draws.shape[-1])
    over = "model" if name in OVER_MODELS else "item"
    dataset = xr.Dataset({name: (("chain", "draw", over), values)}, coords={over: list(ids)})
    with warnings.catch_warnings():
        # A single chain is said with the verdict.
        warnings.simplefilter("ignore", CaveatWarning)
        table = diagnostics(xr.DataTree.from_dict({"posterior": dataset}))
    judged = judge_sampler(table, stats)
    lost = ~table["verdict"].isin(["converged", "constant"])
    is_usable = judged.converged == "yes" or (
        over == "item"
        and float(lost.mean()) <= 1 - _ENOUGH
        and judge_sampler(table[~lost], stats).converged == "yes"
    )
    sizes = table[["ess_bulk", "ess_tail"]].min(axis=1)
    return QuantityDraws(
        draws=draws,
        converged=judged.converged,
        verdict=judged.verdict,
        n_lost=int(lost.sum()),
        is_usable=is_usable,
        ess=float(sizes.median()) if sizes.notna().any() else float("nan"),
    )
