"""Whether chains agree: R-hat and effective sample size of what can be diagnosed, and a verdict."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from neartie.data.errors import CaveatWarning
from neartie.inference.mixing import mixing, vary

type Floats = NDArray[np.float64]

MAX_RHAT: Final = 1.01
MIN_ESS_PER_CHAIN: Final = 100
MIN_EBFMI: Final = 0.3
MAX_PARETO_K: Final = 0.7
_ADVICE: Final = (
    "Do not use these draws: sample longer, raise target_accept, or simplify the model."
)

APPROXIMATE_ENGINES: Final = ("laplace", "pathfinder", "advi")
# They turn with the factors, so that chains need not agree on them.
_ROTATING: Final = ("loading", "ability")


@dataclass(frozen=True, kw_only=True, slots=True)
class Convergence:
    """What all diagnostics of a posterior come to.

    Attributes
    ----------
    converged : str
        `yes`, `no` or `not assessed`.
    verdict : str
        A sentence.
    max_rhat, min_ess_bulk, min_ess_tail, min_ebfmi : float
        NaN where they are not available.
    n_divergent : int
    """

    converged: str
    verdict: str
    max_rhat: float
    min_ess_bulk: float
    min_ess_tail: float
    min_ebfmi: float
    n_divergent: int


def diagnostics(posterior: xr.DataTree) -> pd.DataFrame:
    """Return R-hat and effective sample sizes of every quantity that does not turn with factors.

    Parameters
    ----------
    posterior : DataTree
        With the group `posterior`, over `chain` and `draw`.

    Returns
    -------
    DataFrame, one row a quantity
        `quantity`, as `ability[model-a]`; `r_hat`, rank-normalised, split, and folded;
        `ess_bulk`; `ess_tail`, the smaller one of the 5 % and 95 % quantiles; `verdict`:
        `converged`, `not converged`, `not assessed` (one chain, or too few draws), `constant`,
        or `approximation` (draws of an approximating density, which say nothing of
        convergence). What is not available is NaN.

    Warns
    -----
    CaveatWarning
        Once, if there is a single chain.

    Notes
    -----
    Limits: R-hat below 1.01, both sample sizes at least 100 a chain. A quantity is diagnosed if
    the model's record names it; without a record, if it is no loading, and no ability over
    factors.

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), Bayesian Analysis 16, 667-718.
    doi:10.1214/20-BA1221

    Examples
    --------
    >>> draws = np.random.default_rng(1).standard_normal((4, 1000, 1))
    >>> tree = xr.DataTree.from_dict(
    ...     {"posterior": xr.Dataset({"ability": (("chain", "draw", "model"), draws)},
    ...                              coords={"model": ["a"]})}
    ... )
    >>> diagnostics(tree)[["quantity", "verdict"]].values.tolist()
    [['ability[a]', 'converged']]
    """
    approximate = posterior.attrs.get("engine") in APPROXIMATE_ENGINES
    dataset = posterior["posterior"].to_dataset()
    if not approximate and dataset.sizes["chain"] == 1:
        warnings.warn(
            "the posterior has one chain: R-hat is not available and convergence is not "
            "assessed; sample at least two chains, better four",
            CaveatWarning,
            stacklevel=2,
        )
    parts = [
        _of_variable(dataset[name], approximate=approximate)
        for name in diagnosed_variables(posterior)
    ]
    if not parts:
        return pd.DataFrame(columns=["quantity", "r_hat", "ess_bulk", "ess_tail", "verdict"])
    return pd.concat(parts, ignore_index=True)


def diagnosed_variables(posterior: xr.DataTree) -> tuple[str, ...]:
    """Return the variables that convergence is judged by.

    Parameters
    ----------
    posterior : DataTree

    Returns
    -------
    tuple of str
        Those that the record of the model names; without one, all that do not turn with factors.
    """
    dataset = posterior["posterior"].to_dataset()
    named = json.loads(posterior.attrs.get("diagnosed", "[]"))
    found = tuple(name for name in named if name in dataset)
    if found:
        return found
    return tuple(
        str(name)
        for name, variable in dataset.data_vars.items()
        if not (name in _ROTATING and "factor" in variable.dims)
    )


def judge_sampler(table: pd.DataFrame, stats: Mapping[str, Floats]) -> Convergence:
    """Return the verdict on a sampler's chains.

    Parameters
    ----------
    table : DataFrame
        Of `diagnostics`.
    stats : mapping of str to (n_chain, n_draw) array
        With `diverging` and `energy`, where the sampler has them.

    Returns
    -------
    Convergence
        `yes` if every quantity is within its limit, no transition diverged, and the E-BFMI of
        every chain is above 0.3.
    """
    used = table[table["verdict"] != "constant"]
    divergent = int(np.sum(stats["diverging"])) if "diverging" in stats else 0
    ebfmi = _ebfmi(stats["energy"]) if "energy" in stats else np.nan
    rhat, bulk, tail = used["r_hat"].max(), used["ess_bulk"].min(), used["ess_tail"].min()
    if used.empty or (used["verdict"] == "not assessed").any():
        converged = "not assessed"
        verdict = (
            "Convergence is not assessed: R-hat needs at least two chains of four draws each, of "
            "quantities that vary."
        )
    else:
        hamiltonian = ", no divergence" if "diverging" in stats else ""
        complaints, advice = _complaints(
            used, n_chain=_n_chain(stats), hamiltonian="diverging" in stats
        )
        if divergent:
            verb = "transition" if divergent == 1 else "transitions"
            complaints.append(f"{divergent:,} {verb} diverged")
        if ebfmi <= MIN_EBFMI:
            complaints.append(f"the smallest E-BFMI is {ebfmi:.2f}")
        if divergent or ebfmi <= MIN_EBFMI:
            advice = _ADVICE
        converged = "no" if complaints else "yes"
        verdict = (
            f"Not converged: {'; '.join(complaints)}. {advice}"
            if complaints
            else f"Converged: largest R-hat {rhat:.4f}, smallest effective sample sizes {bulk:.0f} "
            f"in the bulk and {tail:.0f} in the tails{hamiltonian}."
        )
    return Convergence(
        converged=converged,
        verdict=verdict,
        max_rhat=float(rhat),
        min_ess_bulk=float(bulk),
        min_ess_tail=float(tail),
        min_ebfmi=float(ebfmi),
        n_divergent=divergent,
    )


def _complaints(
    used: pd.DataFrame, *, n_chain: int | None, hamiltonian: bool
) -> tuple[list[str], str]:
    """Return which limits quantities miss, each with the worst of them, and what to do."""
    failed = used[used["verdict"] == "not converged"]
    apart = failed[failed["r_hat"] >= MAX_RHAT]
    enough = MIN_ESS_PER_CHAIN * (n_chain or 0)
    # Without the number of chains, what fails for no other reason.
    smallest = failed[["ess_bulk", "ess_tail"]].min(axis=1)
    few = failed[(smallest < enough) if n_chain else (failed["r_hat"] < MAX_RHAT)]
    found = []
    if len(apart):
        worst = apart.iloc[int(np.argmax(apart["r_hat"]))]
        found.append(
            f"chains do not agree on {len(apart):,} of {len(used):,} quantities (largest "
            f"R-hat {worst['r_hat']:.4f}, at {worst['quantity']}; limit {MAX_RHAT})"
        )
    if len(few):
        bulk, tail = (few.iloc[int(np.argmin(few[name]))] for name in ("ess_bulk", "ess_tail"))
        limit = f"; limit {enough:,}" if n_chain else ""
        found.append(
            f"there are too few effective draws of {len(few):,} of "
            f"{len(used):,} quantities (smallest {bulk['ess_bulk']:.0f} in the bulk, at "
            f"{bulk['quantity']}, and {tail['ess_tail']:.0f} in the tails, at {tail['quantity']}"
            f"{limit})"
        )
    if len(apart):
        return found, _ADVICE if hamiltonian else _ADVICE.replace(" raise target_accept,", "")
    return found, (
        f"Chains agree (largest R-hat {used['r_hat'].max():.4f}), so that sampling longer should "
        "do; until then, means and intervals are rough."
    )


def _n_chain(stats: Mapping[str, Floats]) -> int | None:
    return next((len(values) for values in stats.values()), None)


def judge_approximation(
    engine: str, *, optimiser_converged: bool, pareto_k: float, n_ratio: int = 0
) -> Convergence:
    """Return what can be said of the draws of an approximating density.

    Parameters
    ----------
    engine : str
        `laplace`, `pathfinder` or `advi`.
    optimiser_converged : bool
    pareto_k : float
        Of the importance ratios; NaN where there are none.
    n_ratio : int
        How many ratios there are: the limit of k is the smaller of 0.7 and 1 - 1/log10(n_ratio).

    Returns
    -------
    Convergence
        `no` if the optimiser did not converge, `not assessed` otherwise: that a search ended
        does not show that its answer is the posterior.

    Examples
    --------
    >>> said = judge_approximation("laplace", optimiser_converged=True, pareto_k=1.2)
    >>> said.converged
    'not assessed'
    >>> print(said.verdict)
    Approximation (laplace): the optimiser converged; Pareto k is 1.20, above 0.7: the posterior \
has another shape, so that intervals may be off. Check against the engine nuts.
    """
    limit = pareto_limit(n_ratio)
    ended = "converged" if optimiser_converged else "did not converge"
    if np.isnan(pareto_k):
        shape = "Pareto k is not available, so that its closeness to the posterior is not known"
    elif pareto_k > limit:
        shape = (
            f"Pareto k is {pareto_k:.2f}, above {limit:.2g}: the posterior has another shape, "
            "so that intervals may be off"
        )
    else:
        shape = f"Pareto k is {pareto_k:.2f}, at most {limit:.2g}: close to the posterior"
    return Convergence(
        converged="not assessed" if optimiser_converged else "no",
        verdict=f"Approximation ({engine}): the optimiser {ended}; {shape}. Check against the "
        "engine nuts.",
        max_rhat=np.nan,
        min_ess_bulk=np.nan,
        min_ess_tail=np.nan,
        min_ebfmi=np.nan,
        n_divergent=0,
    )


def pareto_limit(n_draw: int) -> float:
    """Return the largest Pareto k with which as many importance ratios are of use.

    Parameters
    ----------
    n_draw : int
        0 for so many that their number sets no limit.

    Returns
    -------
    float

    References
    ----------
    Vehtari, Simpson, Gelman, Yao and Gabry (2024), Journal of Machine Learning Research 25(72),
    section 3.2.4.

    Examples
    --------
    >>> round(pareto_limit(1000), 3), pareto_limit(4000), pareto_limit(0)
    (0.667, 0.7, 0.7)
    """
    return min(1 - 1 / math.log10(n_draw), MAX_PARETO_K) if n_draw > 1 else MAX_PARETO_K


def _of_variable(variable: xr.DataArray, *, approximate: bool) -> pd.DataFrame:
    dims = [str(dim) for dim in variable.dims if dim not in ("chain", "draw")]
    draws = variable.transpose("chain", "draw", *dims).to_numpy()
    n_chain, n_draw = draws.shape[:2]
    draws = draws.reshape(n_chain, n_draw, -1).transpose(2, 0, 1)
    if approximate:
        varies, numbers = vary(draws), np.full((3, len(draws)), np.nan)
        verdict = np.full(len(draws), "approximation", dtype=object)
    else:
        said = mixing(draws)
        varies, numbers = said.varies, np.array([said.r_hat, said.ess_bulk, said.ess_tail])
        verdict = _verdicts(*numbers, n_chain=n_chain)
    verdict[~varies] = "constant"
    columns = zip(("r_hat", "ess_bulk", "ess_tail"), numbers, strict=True)
    return pd.DataFrame(
        {"quantity": _labelled(variable, dims), **dict(columns), "verdict": verdict}
    )


def _verdicts(rhat: Floats, bulk: Floats, tail: Floats, *, n_chain: int) -> NDArray[np.object_]:
    enough = MIN_ESS_PER_CHAIN * n_chain
    within = (rhat < MAX_RHAT) & (bulk >= enough) & (tail >= enough)
    verdict = np.where(within, "converged", "not converged").astype(object)
    verdict[np.isnan(rhat)] = "not assessed"
    return verdict


def _labelled(variable: xr.DataArray, dims: Sequence[str]) -> list[str]:
    if not dims:
        return [str(variable.name)]
    labels = product(*(_labels(variable, dim) for dim in dims))
    return [f"{variable.name}[{', '.join(where)}]" for where in labels]


def _labels(variable: xr.DataArray, dim: str) -> list[str]:
    if dim in variable.coords:
        return [str(label) for label in variable[dim].to_numpy()]
    return [str(place) for place in range(variable.sizes[dim])]


def _ebfmi(energy: Floats) -> float:
    """Return the smallest energy Bayesian fraction of missing information over the chains."""
    spread = np.var(energy, axis=1)
    if energy.shape[1] < 2 or not (spread > 0).all():
        return float("nan")
    return float(np.min(np.mean(np.diff(energy, axis=1) ** 2, axis=1) / spread))
