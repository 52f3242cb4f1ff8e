"""What annotators' labels say about high-DIF items: reliability, paired tests, the rule (P0, D.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.anchors import exact_fraction
from neartie.audits.content_agreement import (
    KAPPA_LIMIT,
    RHO_LIMIT,
    agreement_table,
    is_reliable,
    median_agreement,
)
from neartie.audits.content_axes import ContentAxes
from neartie.audits.content_sheets import check_key
from neartie.audits.multiplicity import control_false_discoveries
from neartie.audits.paired_tests import mcnemar
from neartie.audits.signed_ranks import signed_rank_test
from neartie.data.errors import DataError
from neartie.data.wording import counted

type Labels = Mapping[str, pd.DataFrame]

MIN_POINTS = Fraction(8)
MIN_BENCHMARKS = 3


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ContentAudit:
    """Whether stable high-DIF items differ in content from their controls.

    Attributes
    ----------
    binary : DataFrame
        One row an axis and annotator: `axis`, `annotator`, `n_pairs` (both items labelled),
        `sum` (pairs with the high item alone labelled 1, minus the reverse), `difference`
        (proportion), `n_high_only`, `n_control_only`, `p_value` (exact McNemar), `q_value`
        (Benjamini-Hochberg over the annotator's axes; missing where nothing could be tested),
        `n_same_direction` (benchmarks with the pooled direction).
    ordinal : DataFrame
        `axis`, `annotator`, `n_pairs`, `n_different`, `w_plus`, `p_value` (Wilcoxon), `q_value`,
        `mean_difference` (scores). No part of the rule.
    benchmarks : DataFrame
        `axis`, `annotator`, `benchmark`, `n_pairs`, `sum`: binary axes.
    agreement : DataFrame
        `axis`, `kind` (`kappa` or `rho`), `annotator_a`, `annotator_b`, `n`, `observed`, `value`
        (missing where undefined), `reason`.
    rule : DataFrame
        One row a binary axis, with what holds for every annotator, 0 or 1: `axis`,
        `same_direction`, `q`, `size`, `benchmarks`, and `passes` (all four).
    median_kappa, median_rho : float or None
        Over axes, where defined; of an axis the mean over pairs of annotators.
    reliable : bool or None
        Whether both medians reach their limit; None if they could not be assessed.
    settings : dict
    warnings : tuple of str
    """

    binary: pd.DataFrame
    ordinal: pd.DataFrame
    benchmarks: pd.DataFrame
    agreement: pd.DataFrame
    rule: pd.DataFrame
    median_kappa: float | None
    median_rho: float | None
    reliable: bool | None
    settings: dict[str, Any]
    warnings: tuple[str, ...]

    @property
    def passes(self) -> bool:
        """Whether at least one binary axis meets all four requirements."""
        return bool(self.rule["passes"].any())

    def to_dict(self) -> dict[str, Any]:
        """Return verdicts, medians, settings and warnings as plain values."""
        return {
            "passes": self.passes,
            "axes": self.rule.loc[self.rule["passes"] == 1, "axis"].tolist(),
            "reliable": self.reliable,
            "median_kappa": self.median_kappa,
            "median_rho": self.median_rho,
            "settings": self.settings,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        found = self.rule.loc[self.rule["passes"] == 1, "axis"].tolist()
        axes = ", ".join(found) if found else "none"
        reliable = {None: "not assessed", True: "reached", False: "not reached"}[self.reliable]
        return (
            f"content audit: {axes} of {counted(len(self.rule), 'axis').replace('axiss', 'axes')} "
            f"confirmed by all annotators; reliability {reliable}"
        )


def analyse_content(
    key: pd.DataFrame,
    labels: Labels,
    *,
    axes: ContentAxes | None = None,
    level: float = 0.05,
    min_points: float | str | Fraction = MIN_POINTS,
    min_benchmarks: int = MIN_BENCHMARKS,
) -> ContentAudit:
    """Return reliability, paired tests and the four-part rule.

    Parameters
    ----------
    key : DataFrame
        `ContentSample.key`, or read back with `read_content_key`.
    labels : mapping of str to DataFrame
        Of every annotator, from `read_content_sheets`: `blind_id` and the axes. Rows are joined
        by id.
    axes : ContentAxes, optional
    level : float in (0, 1)
        Largest q.
    min_points : number, percentage points
        Smallest absolute pooled difference, inclusive, decided in whole numbers.
    min_benchmarks : int
        How many benchmarks must have the pooled direction.

    Returns
    -------
    ContentAudit

    Raises
    ------
    DataError
        If there is no annotator, or labels lack an axis or an item.

    Notes
    -----
    Annotators are analysed apart, never averaged. A pair with a blank label leaves that axis.
    An axis passes if, for every annotator, (1) the pooled difference has the same nonzero
    direction, (2) q is at most the level, (3) the difference is large enough and (4) enough
    benchmarks show its direction. A single annotator confirms nothing. With more than two, the
    agreement on an axis is the mean over pairs of annotators (Light 1971). Annotation is reliable if
    the median kappa is at least .45 and the median rho at least .50.

    References
    ----------
    P0, eqs 58-60. McNemar (1947), doi:10.1007/BF02295996. Light (1971), Psychological Bulletin 76,
    365-377.
    """
    axes = axes or ContentAxes()
    check_key(key)
    if not labels:
        raise DataError("the content audit needs the labels of at least one annotator")
    names = list(labels)
    joined = {name: _joined(key, labels[name], axes, name) for name in names}
    paired = {name: _paired(key, table, axes) for name, table in joined.items()}
    benchmarks = pd.DataFrame(
        [row for n in names for axis in axes.binary for row in _by_benchmark(paired[n], axis, n)],
        columns=["axis", "annotator", "benchmark", "n_pairs", "sum"],
    )
    binary = _binary(paired, axes, benchmarks, level)
    agreement = agreement_table(joined, axes)
    medians = {kind: median_agreement(agreement, kind) for kind in ("kappa", "rho")}
    rule = _rule(binary, axes, level, exact_fraction(min_points), min_benchmarks, len(names))
    return ContentAudit(
        binary=binary,
        ordinal=_ordinal(paired, axes, level),
        benchmarks=benchmarks,
        agreement=agreement,
        rule=rule,
        median_kappa=medians["kappa"],
        median_rho=medians["rho"],
        reliable=is_reliable(medians, axes),
        settings={
            "annotators": names,
            "level": level,
            "min_points": float(exact_fraction(min_points)),
            "min_benchmarks": min_benchmarks,
            "kappa_limit": KAPPA_LIMIT,
            "rho_limit": RHO_LIMIT,
        },
        warnings=_warnings(key, joined, axes, agreement, min_benchmarks),
    )


def _joined(key: pd.DataFrame, labels: pd.DataFrame, axes: ContentAxes, name: str) -> pd.DataFrame:
    absent = [column for column in ("blind_id", *axes.names) if column not in labels]
    if absent:
        raise DataError(f"annotator {name!r} has no labels for {absent[0]!r}")
    table = labels.set_index("blind_id")[list(axes.names)]
    if table.index.has_duplicates:
        repeated = table.index[table.index.duplicated()][0]
        raise DataError(f"annotator {name!r}: blind_id {repeated!r} stands more than once")
    lost = [blind for blind in key["blind_id"] if blind not in table.index]
    if lost:
        raise DataError(f"annotator {name!r} has no row for blind_id {lost[0]!r}")
    found = table.loc[key["blind_id"]].astype(float)
    for axis in axes.names:
        strange = found[axis].notna() & ~found[axis].isin(axes.allowed(axis))
        if strange.any():
            blind = found.index[strange][0]
            raise DataError(
                f"annotator {name!r}, blind_id {blind!r}: {axis} is {found.loc[blind, axis]:g}; "
                f"{', '.join(str(label) for label in axes.allowed(axis))} or missing is meant"
            )
    return found.reset_index(drop=True)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Paired:
    """Labels of the high items and of their controls, one row a pair."""

    benchmark: NDArray[np.object_]
    high: pd.DataFrame
    control: pd.DataFrame


def _paired(key: pd.DataFrame, table: pd.DataFrame, axes: ContentAxes) -> _Paired:
    whole = pd.concat([key[["pair", "group", "benchmark"]].reset_index(drop=True), table], axis=1)
    whole = whole.sort_values("pair", kind="stable")
    high, control = (whole[whole["group"] == group] for group in ("high", "control"))
    names = list(axes.names)
    return _Paired(
        benchmark=high["benchmark"].to_numpy(dtype=object),
        high=high[names].reset_index(drop=True),
        control=control[names].reset_index(drop=True),
    )


def _difference(paired: _Paired, axis: str) -> NDArray[np.float64]:
    """d of every pair, NaN where a label is missing (P0, eq 59)."""
    return np.asarray(paired.high[axis] - paired.control[axis], dtype=np.float64)


def _by_benchmark(paired: _Paired, axis: str, annotator: str) -> list[dict[str, Any]]:
    names, code = np.unique(paired.benchmark.astype(str), return_inverse=True)
    d = _difference(paired, axis)
    there = ~np.isnan(d)
    n_pairs = np.bincount(code[there], minlength=len(names))
    total = np.bincount(code[there], weights=d[there], minlength=len(names))
    return [
        {"axis": axis, "annotator": annotator, "benchmark": name, "n_pairs": n, "sum": int(s)}
        for name, n, s in zip(names.tolist(), n_pairs.tolist(), total.tolist(), strict=True)
    ]


def _binary(
    paired: Mapping[str, _Paired], axes: ContentAxes, benchmarks: pd.DataFrame, level: float
) -> pd.DataFrame:
    rows = []
    for annotator, table in paired.items():
        for axis in axes.binary:
            test = mcnemar(table.high[axis], table.control[axis])
            total = test.b - test.c
            mine = (benchmarks["axis"] == axis) & (benchmarks["annotator"] == annotator)
            same = np.sign(benchmarks.loc[mine, "sum"]) * np.sign(total) > 0
            rows.append(
                {
                    "axis": axis,
                    "annotator": annotator,
                    "n_pairs": test.n_shared,
                    "sum": total,
                    "difference": total / test.n_shared if test.n_shared else np.nan,
                    "n_high_only": test.b,
                    "n_control_only": test.c,
                    "p_value": test.p_value if test.n_shared else np.nan,
                    "q_value": np.nan,
                    "n_same_direction": int(same.sum()),
                }
            )
    columns = ["axis", "annotator", "n_pairs", "sum", "difference", "n_high_only"]
    columns += ["n_control_only", "p_value", "q_value", "n_same_direction"]
    return _corrected(pd.DataFrame(rows, columns=columns), level)


def _ordinal(paired: Mapping[str, _Paired], axes: ContentAxes, level: float) -> pd.DataFrame:
    rows = []
    for annotator, table in paired.items():
        for axis in axes.ordinal:
            d = _difference(table, axis)
            test = signed_rank_test(d)
            rows.append(
                {
                    "axis": axis,
                    "annotator": annotator,
                    "n_pairs": test.n_pairs,
                    "n_different": test.n_different,
                    "w_plus": test.w_plus,
                    "p_value": test.p_value if test.n_pairs else np.nan,
                    "q_value": np.nan,
                    "mean_difference": float(np.nanmean(d)) if test.n_pairs else np.nan,
                }
            )
    columns = ["axis", "annotator", "n_pairs", "n_different", "w_plus", "p_value", "q_value"]
    return _corrected(pd.DataFrame(rows, columns=[*columns, "mean_difference"]), level)


def _corrected(table: pd.DataFrame, level: float) -> pd.DataFrame:
    """Benjamini-Hochberg within every annotator."""
    for _, rows in table.groupby("annotator", sort=False):
        p = rows.set_index("axis")["p_value"]
        adjusted = control_false_discoveries(p, level=level)["p_adjusted"]
        table.loc[rows.index, "q_value"] = adjusted.to_numpy()
    return table


def _rule(
    binary: pd.DataFrame,
    axes: ContentAxes,
    level: float,
    min_points: Fraction,
    min_benchmarks: int,
    n_annotator: int,
) -> pd.DataFrame:
    out = []
    for axis in axes.binary:
        rows = binary[binary["axis"] == axis]
        signs = set(np.sign(rows["sum"]).tolist())
        large = [
            n > 0 and 100 * abs(total) >= min_points * n
            for total, n in zip(rows["sum"].tolist(), rows["n_pairs"].tolist(), strict=True)
        ]
        parts = {
            "same_direction": n_annotator > 1 and len(signs) == 1 and 0 not in signs,
            "q": bool((rows["q_value"] <= level).all()),
            "size": all(large),
            "benchmarks": bool((rows["n_same_direction"] >= min_benchmarks).all()),
        }
        verdict = {name: int(value) for name, value in parts.items()}
        out.append({"axis": axis} | verdict | {"passes": int(all(parts.values()))})
    return pd.DataFrame(
        out, columns=["axis", "same_direction", "q", "size", "benchmarks", "passes"]
    )


def _warnings(
    key: pd.DataFrame,
    joined: Mapping[str, pd.DataFrame],
    axes: ContentAxes,
    agreement: pd.DataFrame,
    min_benchmarks: int,
) -> tuple[str, ...]:
    found = []
    if len(joined) < 2:
        found.append(
            "There is one annotator: reliability was not assessed, and no axis can be confirmed."
        )
    n = key["benchmark"].nunique()
    if n < min_benchmarks:
        found.append(
            f"The rule asks for the pooled direction in {counted(min_benchmarks, 'benchmark')}, and "
            f"there {'is' if n == 1 else 'are'} {n}: no axis can be confirmed."
        )
    for name, table in joined.items():
        blank = int(table.isna().to_numpy().sum())
        if blank:
            found.append(
                f"Annotator {name} left {counted(blank, 'label')} blank; the pairs leave the axis."
            )
    for row in agreement[agreement["value"].isna()].to_dict("records"):
        found.append(
            f"{row['axis']}: {row['kind']} of {row['annotator_a']} and {row['annotator_b']} is "
            f"undefined ({row['reason']}); the median is over the other axes."
        )
    return tuple(found)
