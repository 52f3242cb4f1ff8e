"""Point estimates beside a posterior as tables of text, and which rows a reader needs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from neartie.audits.estimates_result import EstimateComparison
from neartie.audits.point_estimates import OVER_MODELS
from neartie.report.formatting import correlation, count, decimal, is_missing, percent
from neartie.report.table import Column, Table

MOST_PAIRS: Final = 25
#: Close pairs, of which nothing follows, fill a table or figure up to so many rows.
_FILLED: Final = 8
#: Estimates closer than this, in posterior standard deviations, come from one optimum.
_ONE_OPTIMUM: Final = 1e-4
_CHANGES: Final = {
    "opposite": "resolved in opposite orders",
    "estimate_alone": "resolved by the estimate alone",
    "posterior_alone": "resolved by the posterior alone",
    "reversed": "order reversed, not resolved",
}


def distinct_estimators(found: EstimateComparison) -> list[str]:
    """Return the estimators over models, without those that repeat the numbers of one before.

    Parameters
    ----------
    found : EstimateComparison

    Returns
    -------
    list of str
        MM and Newton's method have the same optimum, so that one of the two is enough to draw.
    """
    kept: dict[str, pd.DataFrame] = {}
    for name in found.models["estimator"].drop_duplicates():
        mine = found.models[found.models["estimator"] == name]
        columns = mine[["estimate", "se"]].to_numpy() / mine[["posterior_sd"]].to_numpy()
        if not any(
            other.shape == columns.shape and np.allclose(other, columns, rtol=0, atol=_ONE_OPTIMUM)
            for other in kept.values()
        ):
            kept[str(name)] = columns
    return list(kept)


def error_table(found: EstimateComparison) -> Table:
    """Return one row an estimator and standard error over models; those that hold less stand out."""
    rows = _over_models(found)
    return Table(
        caption="Printed errors and the intervals they stand for",
        note=(
            "SE ratio: printed standard error over posterior standard deviation, median and 5 to "
            "95% of models. Held: posterior probability within the printed "
            f"{percent(found.level, digits=0)}% intervals, mean. Overlap: what printed and "
            "posterior intervals share over what either covers, mean."
        ),
        columns=(
            Column(head="estimator", numeric=False),
            Column(head="error", numeric=False),
            Column(head="SE ratio"),
            Column(head="held (%)"),
            Column(head="overlap (%)"),
            Column(head="intervals", numeric=False),
            Column(head="SE ratio of differences"),
            Column(head="held (%)"),
            Column(head="these", numeric=False),
        ),
        rows=tuple(
            (
                unbroken(row["estimator"]),
                row["se_name"],
                _ratio(row),
                percent(row["mass"]),
                percent(row["overlap"], digits=0),
                row["verdict"],
                decimal(row["pair_se_ratio"], digits=2),
                percent(row["pair_mass"]),
                row["pair_verdict"],
            )
            for row in rows
        ),
        marked=tuple(place for place, row in enumerate(rows) if row["verdict"] == "hold less"),
    )


def agreement_table(found: EstimateComparison) -> Table:
    """Return one row an estimator: how far estimates and ranks are from the posterior's."""
    rows = list({row["estimator"]: row for row in _over_models(found)}.values())
    unit = "ability" if found.kind == "two-pl" else "logit"
    return Table(
        caption="Estimates and ranks",
        note=(
            "Off: root mean square of estimate minus posterior mean, in posterior standard "
            f"deviations (drawing alone makes {decimal(rows[0]['monte_carlo'], digits=3)}) and in "
            "the unit of the estimate. Stretch: how many times as far from the origin as posterior "
            "means; off without it."
        ),
        columns=(
            Column(head="estimator", numeric=False),
            Column(head="what it is", numeric=False),
            Column(head="off (sd)"),
            Column(head=f"off ({unit})"),
            Column(head="stretch"),
            Column(head="off without"),
            Column(head="τ_b"),
            Column(head="largest shift of rank"),
        ),
        rows=tuple(
            (
                unbroken(row["estimator"]),
                row["label"],
                decimal(row["bias_rms_sd"], digits=2),
                decimal(row["bias_rms"], digits=3),
                decimal(row["stretch"], digits=3),
                decimal(row["bias_rms_unit"], digits=3),
                correlation(row["tau_b"]),
                count(row["largest_rank_shift"]),
            )
            for row in rows
        ),
    )


def change_table(found: EstimateComparison) -> Table:
    """Return one row an estimator and standard error: how many pairs change, and how."""
    return Table(
        caption="Pairs with another verdict",
        note=(
            "Resolved by the estimate alone, or by the posterior alone; in reversed order, "
            "resolved or not. Close: another run of the sampler might judge otherwise."
        ),
        columns=(
            Column(head="estimator", numeric=False),
            Column(head="error", numeric=False),
            Column(head="pairs"),
            Column(head="changed"),
            Column(head="estimate alone"),
            Column(head="posterior alone"),
            Column(head="reversed"),
            Column(head="close"),
        ),
        rows=tuple(
            (
                unbroken(row["estimator"]),
                row["se_name"],
                count(row["n_pairs"]),
                count(row["n_changed"]),
                count(row["n_estimate_alone"]),
                count(row["n_posterior_alone"]),
                count(row["n_reversed"] + row["n_opposite"]),
                count(row["n_close"]),
            )
            for row in _over_models(found)
        ),
    )


def unbroken(name: str) -> str:
    """Return a name that a line does not break at its hyphens.

    Examples
    --------
    >>> unbroken("newton-ml") == "newton-ml".replace("-", "\N{NON-BREAKING HYPHEN}")
    True
    """
    return name.replace("-", "\N{NON-BREAKING HYPHEN}")


def _over_models(found: EstimateComparison) -> list[dict[Hashable, Any]]:
    return found.estimators[found.estimators["quantity"].isin(OVER_MODELS)].to_dict("records")


def item_table(found: EstimateComparison) -> Table:
    """Return one row an estimator and quantity over items."""
    table = found.estimators[~found.estimators["quantity"].isin(OVER_MODELS)]
    rows = table.to_dict("records")
    return Table(
        caption="Point estimates of items beside the posterior",
        note="As above. Off, mean: estimate minus posterior mean, in the unit of the estimate.",
        columns=(
            Column(head="estimator", numeric=False),
            Column(head="quantity", numeric=False),
            Column(head="SE ratio"),
            Column(head="held (%)"),
            Column(head="overlap (%)"),
            Column(head="off (sd)"),
            Column(head="off, mean"),
            Column(head="stretch"),
            Column(head="intervals", numeric=False),
        ),
        rows=tuple(
            (
                unbroken(row["estimator"]),
                row["quantity"].replace("_", " "),
                _ratio(row),
                percent(row["mass"]),
                percent(row["overlap"], digits=0),
                decimal(row["bias_rms_sd"], digits=2),
                decimal(row["bias_mean"], digits=3),
                decimal(row["stretch"], digits=3),
                row["verdict"],
            )
            for row in rows
        ),
        marked=tuple(place for place, row in enumerate(rows) if row["verdict"] == "hold less"),
    )


def shown_pairs(found: EstimateComparison) -> pd.DataFrame:
    """Return the changed pairs in the order in which a reader wants them, each reason once.

    Parameters
    ----------
    found : EstimateComparison

    Returns
    -------
    DataFrame
        The columns of `pairs`, of estimators that do not repeat one before: what is not close
        first, worst change first, then the pairs that change under most estimators; `by`, the
        estimators and errors under which a pair changes alike.
    """
    table = found.pairs[found.pairs["estimator"].isin(distinct_estimators(found))]
    if table.empty:
        return table.assign(by=pd.Series(dtype="str"))
    by = table["estimator"] + " (" + table["se_name"] + ")"
    keys = ["model_a", "model_b", "change", "close"]
    table = table.assign(by=by)
    table["by"] = table.groupby(keys, sort=False)["by"].transform(", ".join)
    table["n_by"] = table.groupby(keys, sort=False)["estimator"].transform("size")
    first = table.drop_duplicates(keys)
    worst = pd.Categorical(first["change"], categories=list(_CHANGES), ordered=True)
    return (
        first.assign(worst=worst.codes, away=(first["p_above"] - first["posterior_p_above"]).abs())
        .sort_values(
            ["close", "worst", "n_by", "away", "model_a", "model_b"],
            ascending=[True, True, False, False, True, True],
        )
        .drop(columns=["worst", "away", "n_by"])
        .reset_index(drop=True)
    )


def first_pairs(pairs: pd.DataFrame, *, most: int = MOST_PAIRS) -> pd.DataFrame:
    """Return the pairs to show: what is not close, and a few others where there is little of it.

    Parameters
    ----------
    pairs : DataFrame
        Of `shown_pairs`.
    most : int

    Returns
    -------
    DataFrame
    """
    certain = min(int((pairs["close"] == 0).sum()), most)
    return pairs.head(max(certain, min(_FILLED, most)))


def pair_table(pairs: pd.DataFrame) -> Table:
    """Return changed pairs as text in cells.

    Parameters
    ----------
    pairs : DataFrame
        Of `first_pairs`.
    """
    return Table(
        caption="Which pairs, and why",
        note=(
            "Intervals of the difference, first minus second. The printed one and the reason are "
            "those of the first estimator named."
        ),
        columns=(
            Column(head="pair", numeric=False, long=True),
            Column(head="what changes", numeric=False),
            Column(head="posterior"),
            Column(head="printed"),
            Column(head="under", numeric=False, long=True),
            Column(head="why", numeric=False),
        ),
        rows=tuple(
            (
                f"{row['model_a']} – {row['model_b']}",
                _CHANGES[row["change"]] + (", close" if row["close"] else ""),
                _interval(row["posterior_low"], row["posterior_high"]),
                _interval(row["low"], row["high"]),
                row["by"],
                row["why"],
            )
            for row in pairs.to_dict("records")
        ),
    )


def _ratio(row: Mapping[Hashable, Any]) -> str:
    if is_missing(row["se_ratio"]):
        return decimal(None, digits=2)
    middle, low, high = (
        decimal(row[name], digits=2) for name in ("se_ratio", "se_ratio_low", "se_ratio_high")
    )
    return f"{middle} ({low} to {high})"


def _interval(low: float, high: float) -> str:
    return f"{decimal(low, digits=2)} to {decimal(high, digits=2)}"
