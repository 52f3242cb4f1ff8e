"""Models compared by how well they predict an answer that is left out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from neartie.data.errors import CaveatWarning, DataError
from neartie.data.wording import counted


def compare_models(
    posteriors: Mapping[str, xr.DataTree], *, method: str = "stacking"
) -> pd.DataFrame:
    """Return the models in the order of their expected log predictive density.

    Parameters
    ----------
    posteriors : mapping of name to DataTree
        Two or more fits of the same answers, each with its pointwise log-likelihood.
    method : str
        Of the weights: `stacking`, `BB-pseudo-BMA` or `pseudo-BMA`, as in ArviZ.

    Returns
    -------
    DataFrame, one row a model, the best first
        `model`; `elpd` (nat), by Pareto-smoothed leave-one-out; `se`; `p`, the effective number
        of parameters; `elpd_diff`, what it falls short of the best one, with `diff_se`; `weight`;
        `max_pareto_k`, above `k_limit` where single answers make the estimate unreliable;
        `share_high_k`, the share of answers whose k is above it; `k_limit`, for S draws the
        smaller of 0.7 and 1 - 1/log10(S).

    Raises
    ------
    DataError
        If a posterior lacks its log-likelihood, they are not of the same answers, or the
        log-likelihood of an answer is not finite or the same in all draws.

    Warns
    -----
    CaveatWarning
        Once, if a Pareto k is above its limit.

    References
    ----------
    Vehtari, Gelman and Gabry (2017), Statistics and Computing 27, 1413-1432.
    doi:10.1007/s11222-016-9696-4. The limit: Vehtari, Simpson, Gelman, Yao and Gabry (2024),
    Journal of Machine Learning Research 25(72).
    """
    from arviz_stats import compare

    if len(posteriors) < 2:
        raise ValueError(f"a comparison takes at least two models, got {len(posteriors)}")
    _check_groups(posteriors)
    with warnings.catch_warnings():
        # Of high Pareto k, which is said below with the model's name.
        warnings.simplefilter("ignore", UserWarning)
        results = {name: _left_out(tree, name) for name, tree in posteriors.items()}
        table = compare(results, method=method, round_to="none")
    # Where ratios are too wild for any fit of their tail, ArviZ leaves k undefined.
    tails = {name: np.nan_to_num(result.pareto_k, nan=np.inf) for name, result in results.items()}
    shapes = {name: float(np.max(tail)) for name, tail in tails.items()}
    limits = {name: float(result.good_k) for name, result in results.items()}
    high = [name for name, shape in shapes.items() if shape > limits[name]]
    if high:
        warnings.warn(
            f"the leave-one-out estimate of {', '.join(high)} leans on single answers (Pareto k "
            f"up to {max(shapes[name] for name in high):.2f}, limit "
            f"{min(limits[name] for name in high):.2f}): take small differences with care",
            CaveatWarning,
            stacklevel=2,
        )
    names = table.index.to_list()
    return pd.DataFrame(
        {
            "model": names,
            "elpd": [float(results[name].elpd) for name in names],
            "se": [float(results[name].se) for name in names],
            "p": [float(results[name].p) for name in names],
            "elpd_diff": table["elpd_diff"].astype(float).to_numpy(),
            "diff_se": table["dse"].astype(float).to_numpy(),
            "weight": table["weight"].astype(float).to_numpy(),
            "max_pareto_k": [shapes[name] for name in names],
            "share_high_k": [float(np.mean(tails[name] > limits[name])) for name in names],
            "k_limit": [limits[name] for name in names],
        }
    )


def _left_out(tree: xr.DataTree, name: str) -> Any:
    """Return ArviZ's estimate for each answer left out, or say which answer has none."""
    from arviz_stats import loo

    for variable in tree["log_likelihood"].data_vars.values():
        values = variable.to_numpy().reshape(variable.shape[0] * variable.shape[1], -1)
        _refuse(tree, name, ~np.isfinite(values).all(axis=0), "not finite in some draw")
        _refuse(tree, name, np.ptp(values, axis=0) == 0, "the same in all draws")
    try:
        return loo(tree, pointwise=True)
    except ValueError as error:
        raise DataError(
            f"leave-one-out has no estimate for {name!r}: {str(error).lower()}; the log-likelihood "
            "of some answer hardly varies over the draws: sample more of them"
        ) from error


def _refuse(tree: xr.DataTree, name: str, bad: NDArray[np.bool_], what: str) -> None:
    if not bad.any():
        return
    cell, others = int(np.argmax(bad)), int(np.count_nonzero(bad)) - 1
    more = f" and of {counted(others, 'other')}" if others else ""
    raise DataError(
        f"the log-likelihood of {name!r} is {what} for {_cell_name(tree, cell)}{more}, so that "
        "nothing can be said of leaving it out: is a chain stuck, or the answer certain under the "
        "model?"
    )


def _cell_name(tree: xr.DataTree, cell: int) -> str:
    """Return whose answer to what a cell is, as far as it is known."""
    constant: Any = tree["constant_data"].to_dataset() if "constant_data" in tree.children else {}
    parts = []
    for dim, word in (("item", "item"), ("model", "model")):
        labels = _labels(tree, dim)
        if f"cell_{dim}" in constant and labels is not None:
            place = int(constant[f"cell_{dim}"].to_numpy()[cell])
            if place < len(labels):
                parts.append(f"{word} {str(labels[place])!r}")
    return f"the answer of {' to '.join(reversed(parts))}" if len(parts) == 2 else f"row {cell + 1}"


def _check_groups(posteriors: Mapping[str, xr.DataTree]) -> None:
    first: tuple[str, xr.DataTree] | None = None
    for name, tree in posteriors.items():
        if "log_likelihood" not in tree.children:
            raise DataError(
                f"the posterior of {name!r} holds no pointwise log-likelihood: fit it with "
                "log_likelihood=True, or call add_log_likelihood(posterior, model)"
            )
        if first is None:
            first = name, tree
        elif not _same_answers(first[1], tree):
            raise DataError(
                f"{first[0]!r} and {name!r} are not fits of the same answers, so that their "
                "predictions cannot be compared"
            )


# What says whose answers to what, beside the answers themselves.
_PLACES: Final = ("cell_item", "cell_model", "pair_first", "pair_second")


def _same_answers(one: xr.DataTree, other: xr.DataTree) -> bool:
    """Return whether data, cells and, where both name them, items and models are the same."""
    mine, theirs = (tree["observed_data"].to_dataset() for tree in (one, other))
    if set(mine.data_vars) != set(theirs.data_vars):
        return False
    pairs = [(mine[name].to_numpy(), theirs[name].to_numpy()) for name in mine.data_vars]
    constants = [
        tree["constant_data"].to_dataset() if "constant_data" in tree.children else xr.Dataset()
        for tree in (one, other)
    ]
    pairs += [
        (constants[0][name].to_numpy(), constants[1][name].to_numpy())
        for name in _PLACES
        if all(name in constant for constant in constants)
    ]
    for dim in ("item", "model"):
        labels = [_labels(tree, dim) for tree in (one, other)]
        if labels[0] is not None and labels[1] is not None:
            pairs.append((labels[0], labels[1]))
    return all(np.array_equal(a, b) for a, b in pairs)


def _labels(tree: xr.DataTree, dim: str) -> NDArray[np.str_] | None:
    for group in ("posterior", "observed_data", "constant_data"):
        if group in tree.children and dim in tree[group].coords:
            return np.asarray(tree[group][dim].to_numpy()).astype(str)
    return None
