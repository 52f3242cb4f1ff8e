"""Exploratory: does content go with the family that an item favours (P0, D.4)?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.content_axes import ContentAxes
from neartie.audits.content_sheets import check_key
from neartie.audits.multiplicity import control_false_discoveries
from neartie.audits.replication_counts import permute_within
from neartie.data.errors import DataError
from neartie.data.wording import counted

type Floats = NDArray[np.float64]

PERMUTATIONS = 10_000
CHUNK = 500
# Equal counts may give statistics that differ in the last digits.
TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FamilyAssociation:
    """Association of binary axes with the advantaged family, within benchmarks.

    Attributes
    ----------
    table : DataFrame
        One row an axis and annotator: `axis`, `annotator`, `n_items`, `statistic` (generalised
        Cochran-Mantel-Haenszel; missing where labels or families do not vary within any
        benchmark), `p_value` (permutation), `q_value` (Benjamini-Hochberg within annotator).
    shares : DataFrame
        `axis`, `annotator`, `family`, `n_items`, `n_labelled` (label 1), `expected` (given the
        benchmarks' margins).
    settings : dict
    warnings : tuple of str
    """

    table: pd.DataFrame
    shares: pd.DataFrame
    settings: dict[str, Any]
    warnings: tuple[str, ...]


def associate_families(
    key: pd.DataFrame,
    labels: Mapping[str, pd.DataFrame],
    *,
    axes: ContentAxes | None = None,
    permutations: int = PERMUTATIONS,
    level: float = 0.05,
    rng: np.random.Generator | int | None = None,
) -> FamilyAssociation:
    r"""Return whether items with some content favour some families, by annotator and axis.

    Parameters
    ----------
    key : DataFrame
        `ContentSample.key`. High-DIF items with an `advantaged` family are used, no others.
    labels : mapping of str to DataFrame
        See `analyse_content`.
    axes : ContentAxes, optional
        Its binary axes are tested.
    permutations : int
        Of family labels among the items of a benchmark; at least 1.
    level : float in (0, 1)
        Of the correction over axes.
    rng : Generator, int or None
        Draws the permutations; they are the same for all axes and annotators with all labels.

    Returns
    -------
    FamilyAssociation

    Raises
    ------
    DataError
        If no high-DIF item favours the same family in both halves.

    Notes
    -----
    The statistic is the Cochran-Mantel-Haenszel statistic of general association:
    :math:`Q = (G - E)^\top V^{+} (G - E)`, with :math:`G_f` the number of items that favour family
    f and have the label, and E and V its mean and covariance if families are permuted within
    benchmarks: benchmarks add up their counts, so that associations of one direction count and
    those that change direction cancel. p = (1 + #{Q_r >= Q}) / (R + 1). Items without a label
    leave the axis. The analysis followed the confirmatory one in the paper; whatever it finds is a
    hypothesis.

    References
    ----------
    P0, D.4. Landis, Heyman and Koch (1978), International Statistical Review 46, 237-254,
    doi:10.2307/1402373.
    """
    axes = axes or ContentAxes()
    if permutations < 1:
        raise ValueError(f"permutations must be at least 1, got {permutations}")
    check_key(key)
    used = key[(key["group"] == "high") & (key["advantaged"] != "")].sort_values("blind_id")
    if used.empty:
        raise DataError("no high-DIF item favours the same family in both halves")
    seed = int(np.random.default_rng(rng).integers(2**53))
    families = sorted(set(used["advantaged"]))
    rows, shares = [], []
    for annotator, table in labels.items():
        wanted = table.set_index("blind_id").loc[used["blind_id"]]
        for axis in axes.binary:
            label = wanted[axis].to_numpy(dtype=np.float64)
            there = ~np.isnan(label)
            found = _Strata.prepare(
                used["benchmark"].to_numpy()[there],
                pd.Categorical(used["advantaged"][there], categories=families).codes,
                label[there],
                len(families),
            )
            p = found.p_value(permutations, np.random.default_rng(seed))
            base = {"axis": axis, "annotator": annotator}
            rows.append(
                base
                | {"n_items": int(there.sum()), "statistic": found.statistic, "p_value": p}
                | {"q_value": np.nan}
            )
            shares += [base | share for share in found.shares(families)]
    result = pd.DataFrame(rows)
    for _, mine in result.groupby("annotator", sort=False):
        adjusted = control_false_discoveries(mine.set_index("axis")["p_value"], level=level)
        result.loc[mine.index, "q_value"] = adjusted["p_adjusted"].to_numpy()
    n_high = int((key["group"] == "high").sum())
    return FamilyAssociation(
        table=result,
        shares=pd.DataFrame(shares),
        settings={"permutations": permutations, "level": level},
        warnings=_warnings(result, len(used), n_high),
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Strata:
    """Labels and families of some items, with mean and covariance of the counts."""

    benchmark: NDArray[np.intp]
    family: NDArray[np.intp]
    label: Floats
    expected: Floats
    inverse: Floats  # pseudo-inverse of the covariance; all zero if nothing can vary

    @classmethod
    def prepare(
        cls, benchmark: NDArray[Any], family: NDArray[Any], label: Floats, n_family: int
    ) -> _Strata:
        _, code = np.unique(benchmark.astype(str), return_inverse=True)
        expected, covariance = np.zeros(n_family), np.zeros((n_family, n_family))
        for b in range(int(code.max(initial=-1)) + 1):
            mine = code == b
            n, ones = int(mine.sum()), float(label[mine].sum())
            size = np.bincount(family[mine], minlength=n_family).astype(np.float64)
            expected += size * ones / n
            if n > 1:
                factor = ones * (n - ones) / (n * n * (n - 1))
                covariance += factor * (n * np.diag(size) - np.outer(size, size))
        return cls(
            benchmark=code.astype(np.intp),
            family=family.astype(np.intp),
            label=label,
            expected=expected,
            inverse=np.linalg.pinv(covariance, hermitian=True, rtol=1e-10),
        )

    def count(self, family: NDArray[np.integer]) -> Floats:
        """(n, n_family) labelled items of every family, for rows of family codes."""
        return np.array(
            [(family == f) @ self.label for f in range(len(self.expected))], dtype=np.float64
        ).T

    def quadratic(self, count: Floats) -> Floats:
        d = count - self.expected
        return np.asarray(np.einsum("rf,fg,rg->r", d, self.inverse, d), dtype=np.float64)

    @property
    def statistic(self) -> float:
        if not self.inverse.any():
            return float("nan")
        return float(self.quadratic(self.count(self.family[None, :]))[0])

    def p_value(self, permutations: int, rng: np.random.Generator) -> float:
        observed = self.statistic
        if np.isnan(observed):
            return float("nan")
        reached = 0
        for first in range(0, permutations, CHUNK):
            n = min(CHUNK, permutations - first)
            moved = self.family[permute_within(self.benchmark, n, rng=rng)]
            values = self.quadratic(self.count(moved))
            reached += int((values >= observed * (1 - TOLERANCE) - TOLERANCE).sum())
        return (1 + reached) / (permutations + 1)

    def shares(self, families: list[str]) -> list[dict[str, Any]]:
        size = np.bincount(self.family, minlength=len(families))
        count = self.count(self.family[None, :])[0]
        return [
            {
                "family": name,
                "n_items": int(size[f]),
                "n_labelled": int(count[f]),
                "expected": float(self.expected[f]),
            }
            for f, name in enumerate(families)
        ]


def _warnings(table: pd.DataFrame, n_used: int, n_high: int) -> tuple[str, ...]:
    used = (
        f"{n_used} of {counted(n_high, 'high-DIF item')} favour the same family in both halves and "
        "are used. The analysis is exploratory."
    )
    found = [used]
    undefined = table[table["statistic"].isna()]
    found += [
        f"{row['axis']}, annotator {row['annotator']}: nothing varies within a benchmark, so that "
        "no association is defined."
        for row in undefined.to_dict("records")
    ]
    return tuple(found)
