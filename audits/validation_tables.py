"""Tables of a validation from the records of its data sets; errors are over data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from neartie.audits.few_data_sets import error_or_unknown, share_limits, share_p_value
from neartie.audits.validation_record import LEVELS, N_BIN, RANK_LEVEL
from neartie.inference.calibration_result import order_slope, position_row
from neartie.inference.uniformity import holm, mean_test

type Floats = NDArray[np.float64]
type Records = Sequence[Mapping[str, Any]]

ORDERS: Final = "P(i above j)"
_TESTED: Final = ("mean_position", "mean_position_se", "spread", "spread_se", "autocorrelation")
#: What `ranks` reports: key, meaning, nominal value.
_RANKS: Final = (
    ("all_in_sets", "data sets whose joint rank sets hold all true ranks", RANK_LEVEL),
    ("in_sets", "true ranks within their joint sets", None),
    ("in_intervals", "true ranks within the interval of each rank alone", RANK_LEVEL),
    ("set_width", "ranks in a joint set", None),
    ("interval_width", "ranks in an interval", None),
)
_PAIRS: Final = (
    ("resolved", "pairs resolved one at a time"),
    ("resolved_jointly", "pairs resolved all at once"),
)


def quantity_table(records: Records) -> pd.DataFrame:
    """Return `DesignValidation.quantities`."""
    rows = []
    for name in records[0]["quantities"]:
        parts = [record["quantities"][name] for record in records]
        row: dict[str, Any] = {"quantity": name} | _accuracy(parts)
        if "positions" in parts[0]:
            positions = np.array([part["positions"] for part in parts])
            lag = float(np.mean([part["lag_one"] for part in parts]))
            tested = position_row(name, positions, lag)
            row = {"n": positions.shape[1]} | row
            row |= {key: tested[key] for key in (*_TESTED, "p")}
        rows.append(row)
    orders = [record["orders"] for record in records if record["orders"]]
    if len(orders) > 1:
        sums = (np.array([order[key] for order in orders]) for key in ("product", "expected"))
        slope, error, p = order_slope(*sums)
        n = int(np.mean([sum(order["bins"][0]) for order in orders]))
        error = error_or_unknown(error)
        # data sets that are all alike test nothing
        p = np.nan if np.isnan(error) else p
        rows.append({"quantity": ORDERS, "n": n, "slope": slope, "slope_se": error, "p": p})
    columns = ["quantity", "n", "missing", "bias", "bias_se", "rmse", "rmse_se", *_TESTED]
    table = pd.DataFrame(rows, columns=[*columns, "slope", "slope_se", "p"])
    known = table["p"].notna()
    table["p_adjusted"] = np.nan
    table.loc[known, "p_adjusted"] = holm(table.loc[known, "p"])
    return table


def coverage_table(records: Records, *, ranking: str) -> pd.DataFrame:
    """Return `DesignValidation.coverage`: every quantity, and differences of what ranks models."""
    parts = {
        name: [record["quantities"][name] for record in records]
        for name in records[0]["quantities"]
    }
    parts[f"{ranking} difference"] = [record["differences"] for record in records]
    rows = []
    for name, found in parts.items():
        used = [part for part in found if part.get("covered")]
        if len(used) < 2:
            continue
        covered, width = (np.array([part[key] for part in used]) for key in ("covered", "width"))
        for place, level in enumerate(LEVELS):
            mean, error, _ = mean_test(covered[:, place])
            limits = share_limits(covered[:, place])
            wide, wide_error, _ = mean_test(width[:, place])
            p = share_p_value(covered[:, place], expected=level)
            errors = error_or_unknown(error), error_or_unknown(wide_error)
            rows.append((name, level, mean, errors[0], *limits, wide, errors[1], p, len(used)))
    columns = ["quantity", "level", "covered", "se", "low", "high", "width", "width_se", "p"]
    return pd.DataFrame(rows, columns=[*columns, "n_data_sets"])


def rank_table(records: Records) -> pd.DataFrame:
    """Return `DesignValidation.ranks`; no rows where nothing was ranked."""
    found = [record["ranks"] for record in records if record["ranks"]]
    rows: list[tuple[Any, ...]] = []
    if len(found) > 1:
        for key, meaning, nominal in _RANKS:
            values = np.array([float(each[key]) for each in found])
            mean, error, _ = mean_test(values)
            error = error_or_unknown(error)
            share = not key.endswith("_width")
            limits = share_limits(values) if share else _limits(mean, error, len(values))
            rows.append((key, meaning, nominal, mean, error, *limits))
        for key, meaning in _PAIRS:
            rows += _resolved(found, key, meaning)
    orders = [record["orders"] for record in records if record["orders"]]
    if len(orders) > 1:
        mean, error, _ = mean_test([order["brier"] for order in orders])
        error = error_or_unknown(error)
        limits = np.clip(_limits(mean, error, len(orders)), 0.0, 1.0).tolist()
        rows.append(("brier", f"Brier score of {ORDERS}", None, mean, error, *limits))
    columns = ["statistic", "meaning", "nominal", "value", "se", "low", "high"]
    return pd.DataFrame(rows, columns=columns).astype({"nominal": float})


def order_table(records: Records) -> pd.DataFrame:
    """Return `DesignValidation.orders`."""
    bins = [record["orders"]["bins"] for record in records if record["orders"]]
    n, said, right = np.sum(bins, axis=0) if bins else np.zeros((3, N_BIN))
    edges = 0.5 + np.arange(N_BIN + 1) / (2 * N_BIN)
    with np.errstate(invalid="ignore"):
        shares = said / n, right / n
    return pd.DataFrame(
        {"low": edges[:-1], "high": edges[1:], "n": n.astype(int), "said": shares[0]}
        | {"right": shares[1]}
    )


def position_table(records: Records) -> pd.DataFrame:
    """Return `DesignValidation.positions`."""
    rows = [
        (record["data_set"], name, component, position)
        for record in records
        for name, part in record["quantities"].items()
        for component, position in enumerate(part.get("positions", ()))
    ]
    return pd.DataFrame(rows, columns=["data_set", "quantity", "component", "position"])


def data_set_table(records: Records) -> pd.DataFrame:
    """Return `DesignValidation.data_sets`."""
    rows = []
    for record in records:
        mixing = record.get("mixing") or {}
        row = {"data_set": record["data_set"], "failed": record["failed"]}
        row |= {"n_divergent": record["n_divergent"]}
        row |= {name: mixing.get(name) for name in ("max_rhat", "min_ess", "ess_ranking")}
        rows.append(row | {"converged": record.get("converged")})
    numbers = dict.fromkeys(("max_rhat", "min_ess", "ess_ranking", "converged"), float)
    return pd.DataFrame(rows).astype(numbers)


def _limits(mean: float, error: float, n: int) -> tuple[float, float]:
    half = float(stats.t.ppf(0.975, n - 1)) * error
    return mean - half, mean + half


def _accuracy(parts: Records) -> dict[str, Any]:
    used = [part for part in parts if "bias" in part]
    if len(used) < 2:
        return {}
    bias, bias_error, _ = mean_test([part["bias"] for part in used])
    square, square_error, _ = mean_test([part["square"] for part in used])
    rmse = float(np.sqrt(square))
    n = max(part["n"] + part["missing"] for part in used)
    return {
        "n": n,
        "missing": float(np.mean([part["missing"] for part in parts])) / n,
        "bias": bias,
        "bias_se": error_or_unknown(bias_error),
        "rmse": rmse,
        "rmse_se": error_or_unknown(square_error) / (2 * rmse) if rmse > 0 else np.nan,
    }


def _resolved(found: Records, key: str, meaning: str) -> list[tuple[Any, ...]]:
    """Return rows of how many pairs are resolved, and of how many of these the wrong way."""
    n, claimed, wrong = (
        np.array([float(each[name]) for each in found]) for name in ("n_pair", key, f"{key}_wrong")
    )
    shares = claimed / np.maximum(n, 1)
    share, error, _ = mean_test(shares)
    rows: list[tuple[Any, ...]] = [
        (key, meaning, None, share, error_or_unknown(error), *share_limits(shares))
    ]
    if claimed.sum() > 0:
        # a ratio of two sums over data sets
        rate = wrong.sum() / claimed.sum()
        off = (wrong - rate * claimed) / claimed.mean()
        error = error_or_unknown(float(off.std(ddof=1) / np.sqrt(len(off))))
        # none at all says nothing of how many there could be
        low, high = _limits(rate, error, len(off))
        row = (f"{key}_wrong", f"of these, in the wrong order: {meaning}", None, rate, error)
        rows.append((*row, *np.clip([low, high], 0.0, 1.0).tolist()))
    if key == "resolved_jointly":
        any_wrong = (wrong > 0).astype(float)
        mean, error, _ = mean_test(any_wrong)
        text = "data sets with any pair, resolved all at once, in the wrong order"
        limits = share_limits(any_wrong)
        known = error_or_unknown(error)
        rows.append(("any_jointly_wrong", text, 1 - RANK_LEVEL, mean, known, *limits))
    return rows
