"""The tables of point estimates beside a posterior: estimators, models, items, changed pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.estimate_agreement import (
    compare_values,
    mass_of_differences,
    summarise_values,
)
from neartie.audits.estimate_pairs import CHANGES, changed_pairs
from neartie.audits.estimate_reference import Reference
from neartie.audits.estimates_result import sentence_of, verdict_of
from neartie.audits.point_estimates import OVER_MODELS, PrintedEstimates
from neartie.audits.rank_pairs import Comparison, compare_draws, compare_normal
from neartie.audits.ranking import kendall_tau_b, shared_rank
from neartie.data.memory import require_memory
from neartie.data.wording import counted
from neartie.inference.two_pl_place import MOST_MODELS

type Floats = NDArray[np.float64]

_MATRICES: Final = 40
#: What a row over items has in the place of ranks and pairs.
_NO_RANKS: Final[dict[str, Any]] = {"tau_b": np.nan, "largest_rank_shift": np.nan, "n_pairs": 0}
_NO_PAIRS: Final[dict[str, Any]] = {
    "pair_se_ratio": np.nan,
    "pair_mass": np.nan,
    "n_changed": 0,
    **{f"n_{name}": 0 for name in CHANGES},
    "n_close": 0,
}


def comparison_tables(
    reference: Reference,
    printed: list[PrintedEstimates],
    *,
    level: float,
    progress: Callable[[float], None],
) -> dict[str, pd.DataFrame]:
    """Return the tables of `EstimateComparison`.

    Parameters
    ----------
    reference : Reference
    printed : list of PrintedEstimates
    level : float in (0, 1)
    progress : callable
        Takes the share done.

    Returns
    -------
    dict
        `estimators`, `models`, `items`, `pairs`.

    Raises
    ------
    DataError
        If the pairs would not fit into memory.
    """
    n = len(reference.models)
    posterior: Comparison | None = None
    if n <= MOST_MODELS:
        require_memory(_MATRICES * 8 * n * n, purpose=f"the pairs of {counted(n, 'model')}")
        posterior = compare_draws(reference.main.draws, level=level)
    rows, models, items, pairs = [], [], [], []
    for done, one in enumerate(printed):
        progress(done / len(printed))
        values = compare_values(
            one.estimate, one.se, reference.quantities[one.quantity].draws, level=level
        )
        row = _head(one) | summarise_values(values, has_unit=one.quantity != "log_discrimination")
        row["monte_carlo"] = reference.quantities[one.quantity].monte_carlo
        if one.quantity in OVER_MODELS:
            table, ranks = _ranked(reference, one, values)
            judged, changed = _judged(
                reference, one, posterior, stretch=row["stretch"], level=level
            )
            row |= ranks | judged
            models.append(table)
            pairs.append(changed)
        else:
            row |= _NO_RANKS | _NO_PAIRS
            items.append(_labelled(one, values, "item"))
        rows.append(row | _verdicts(reference, one, row, level=level))
    return {
        "estimators": pd.DataFrame(rows),
        "models": pd.concat(models, ignore_index=True),
        "items": pd.concat(items, ignore_index=True) if items else pd.DataFrame(columns=["item"]),
        "pairs": _stacked(pairs),
    }


def _head(one: PrintedEstimates) -> dict[str, Any]:
    return {
        "estimator": one.estimator,
        "label": one.label,
        "se_name": one.se_name,
        "quantity": one.quantity,
        "unit": one.unit,
        "n": len(one.ids),
    }


def _verdicts(
    reference: Reference, one: PrintedEstimates, row: dict[str, Any], *, level: float
) -> dict[str, Any]:
    known = one.converged and reference.quantities[one.quantity].is_usable
    found: dict[str, Any] = {
        "converged": int(one.converged),
        "verdict": verdict_of(row["mass"], level=level, known=known),
        "pair_verdict": verdict_of(row["pair_mass"], level=level, known=known),
    }
    return found | {"sentence": sentence_of(row | found, level=level)}


def _ranked(
    reference: Reference, one: PrintedEstimates, values: pd.DataFrame
) -> tuple[pd.DataFrame, dict[str, Any]]:
    component = reference.component
    mean = values["posterior_mean"].to_numpy()
    mine, theirs = _ranks(one.estimate, component), _ranks(mean, component)
    table = _labelled(one, values, "model").assign(
        rank=mine, posterior_rank=theirs, rank_shift=theirs - mine, component=component
    )
    same = component[:, None] == component[None, :]
    return table, {
        "tau_b": _tau(one.estimate, mean, component),
        "largest_rank_shift": int(np.abs(theirs - mine).max(initial=0)),
        "n_pairs": int(np.triu(same, k=1).sum()),
    }


def _judged(
    reference: Reference,
    one: PrintedEstimates,
    posterior: Comparison | None,
    *,
    stretch: float,
    level: float,
) -> tuple[dict[str, Any], pd.DataFrame]:
    """Return what becomes of pairs, and those whose verdict differs."""
    if posterior is None or not one.covariance.size:
        return dict(_NO_PAIRS), pd.DataFrame()
    component = reference.component
    comparable = component[:, None] == component[None, :]
    # Its draws are for statements on all pairs at once, of which there is none here.
    found = compare_normal(one.estimate, one.covariance, one.estimate[None, :], level=level)
    upper = np.triu(comparable, k=1)
    changed = changed_pairs(
        one,
        found,
        posterior,
        comparable,
        factor=stretch,
        ess=reference.main.ess,
        level=level,
    )
    return {
        "pair_se_ratio": float(np.median(found.se[upper] / posterior.se[upper])),
        "pair_mass": mass_of_differences(reference.main.draws, found.low, found.high, comparable),
        "n_changed": len(changed),
        **{f"n_{name}": int((changed["change"] == name).sum()) for name in CHANGES},
        "n_close": int(changed["close"].sum()),
    }, changed


def _labelled(one: PrintedEstimates, values: pd.DataFrame, over: str) -> pd.DataFrame:
    """Return a table led by what tells its rows apart."""
    n = len(one.ids)
    lead = {
        over: pd.Series(one.ids, dtype="str"),
        "estimator": pd.Series([one.estimator] * n, dtype="str"),
        "se_name": pd.Series([one.se_name] * n, dtype="str"),
        "quantity": pd.Series([one.quantity] * n, dtype="str"),
    }
    return pd.concat([pd.DataFrame(lead), values], axis=1)


def _stacked(tables: list[pd.DataFrame]) -> pd.DataFrame:
    filled = [table for table in tables if len(table)]
    if filled:
        return pd.concat(filled, ignore_index=True)
    return next((table for table in tables if len(table.columns)), pd.DataFrame())


def _ranks(values: Floats, component: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return ranks within connected sets; 1 is best."""
    found = np.zeros(len(values), dtype=np.int64)
    for code in np.unique(component):
        inside = component == code
        found[inside] = shared_rank(values[inside])
    return found


def _tau(first: Floats, second: Floats, component: NDArray[np.intp]) -> float:
    """Return rank agreement; over several connected sets, their mean weighted by pairs."""
    total, weight = 0.0, 0
    for code in np.unique(component):
        inside = component == code
        found = kendall_tau_b(first[inside], second[inside])
        if found is not None:
            n = int(inside.sum())
            total, weight = total + found * (n * (n - 1) // 2), weight + n * (n - 1) // 2
    return total / weight if weight else float("nan")
