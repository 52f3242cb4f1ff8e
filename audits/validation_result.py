"""What a validation found: positions, coverage, ranks and orders, with errors over data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from neartie.audits.few_data_sets import ENOUGH
from neartie.audits.validation_design import ValidationDesign
from neartie.audits.validation_tables import (
    coverage_table,
    data_set_table,
    order_table,
    position_table,
    quantity_table,
    rank_table,
)
from neartie.audits.validation_words import claim, notices, verdict
from neartie.data.errors import DataError
from neartie.inference.truths import ranking_of

ALPHA = 0.01


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class DesignValidation:
    """How an engine fared on simulated data sets of one design.

    Attributes
    ----------
    quantities : DataFrame
        `quantity`; `n` components, of which `missing` (share) have no finite interval; `bias` and
        `rmse` of estimates (posterior means) with standard errors `_se`; and of positions of truths
        among draws what `Calibration.table` has: `mean_position`, `spread` with `_se`,
        `autocorrelation`, `p`, `p_adjusted`. The row `P(i above j)` has `slope` and `slope_se`.
        Blank where there is none: estimates have no positions.
    coverage : DataFrame
        `quantity`, `level`; `covered`, the share of intervals that hold the truth, its standard
        error `se` over data sets (blank where all are alike) and 95 % limits `low`, `high`, of few
        or equal data sets those of Clopper and Pearson; `width`, the mean width, `width_se`; `p`,
        of a coverage equal to the level; `n_data_sets`.
    ranks : DataFrame
        `statistic`, `meaning`, `nominal`; `value`, `se`, `low`, `high`.
    orders : DataFrame
        Of P(i above j), the likelier order of each pair, in bins: `low`, `high`; `n` pairs; `said`,
        the mean probability; `right`, the share that is true.
    positions : DataFrame
        `data_set`, `quantity`, `component`, `position` in (0, 1): of the truth among draws.
    data_sets : DataFrame
        `data_set`; `failed`, the reason why there is no fit, or blank; `n_divergent`; `max_rhat`,
        `min_ess`, `ess_ranking` (the median one of what ranks models); `converged` of estimates.
    seconds : DataFrame
        `data_set`, `seconds` of the fit: the one table that differs from run to run.
    ranking : str
        The quantity that ranks models.
    design, settings, versions : dict
    matched : bool
        Whether truths come from the priors that the fit believes in.
    seed : int
    warnings : tuple of str
        Caveats, worst first.
    """

    quantities: pd.DataFrame
    coverage: pd.DataFrame
    ranks: pd.DataFrame
    orders: pd.DataFrame
    positions: pd.DataFrame
    data_sets: pd.DataFrame
    seconds: pd.DataFrame
    ranking: str
    design: dict[str, Any]
    settings: dict[str, Any]
    versions: dict[str, str]
    matched: bool
    seed: int
    warnings: tuple[str, ...]

    @property
    def n_data_sets(self) -> int:
        """Data sets that were drawn."""
        return len(self.data_sets)

    @property
    def n_fitted(self) -> int:
        """Data sets that the engine found an answer for."""
        return int((self.data_sets["failed"] == "").sum())

    @property
    def enough(self) -> bool:
        """Whether there are data sets enough for a verdict: 20 that could be fitted."""
        return self.n_fitted >= ENOUGH

    @property
    def calibrated(self) -> bool | None:
        """Whether no row of `quantities` has an adjusted p below .01.

        None without any test, or with too few data sets.
        """
        p = self.quantities["p_adjusted"].dropna()
        return None if p.empty or not self.enough else bool((p >= ALPHA).all())

    @property
    def claim(self) -> str:
        """The sentence that may be claimed."""
        return claim(self.coverage, self.ranking, n_data_sets=self.n_fitted)

    @property
    def verdict(self) -> str:
        """What the tests of calibration, and of coverage, say together."""
        return verdict(
            self.quantities,
            self.coverage,
            self.ranking,
            n_data_sets=self.n_fitted,
            matched=self.matched,
            alpha=ALPHA,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return headline numbers and settings, for JSON."""
        p = self.quantities["p_adjusted"].dropna()
        coverage = [
            {name: row[name] for name in ("quantity", "level", "covered", "se", "low", "high")}
            for row in self.coverage.to_dict("records")
        ]
        return {
            "claim": self.claim,
            "verdict": self.verdict,
            "enough": self.enough,
            "calibrated": self.calibrated,
            "smallest_p_adjusted": None if p.empty else float(p.min()),
            "n_data_sets": self.n_data_sets,
            "n_fitted": self.n_fitted,
            "coverage": coverage,
            "ranks": self.ranks.drop(columns="meaning").to_dict("records"),
            "matched": self.matched,
            "design": self.design,
            "settings": self.settings,
            "seed": self.seed,
            "versions": self.versions,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        return f"{self.claim}\n{self.verdict}"


def collect_validation(
    records: Sequence[Mapping[str, Any]],
    *,
    design: ValidationDesign,
    settings: dict[str, Any],
    seed: int,
    versions: dict[str, str],
) -> DesignValidation:
    """Return what the records of data sets say together.

    Parameters
    ----------
    records : sequence of dict
        Of `neartie.audits.validation_tasks.record_data_set`, in the order of data sets.
    design : ValidationDesign
    settings, seed, versions
        For the answer.

    Raises
    ------
    DataError
        If fewer than two data sets could be fitted.
    """
    fitted = [record for record in records if not record["failed"]]
    if len(fitted) < 2:
        reason = next(record["failed"] for record in records if record["failed"])
        raise DataError(
            f"{len(records) - len(fitted)} of {len(records)} data sets of this design could not be "
            f"fitted, so that there is nothing to summarise; the first one: {reason}"
        )
    ranking = ranking_of(design.kind)
    quantities = quantity_table(fitted)
    data_sets = data_set_table(records)
    return DesignValidation(
        quantities=quantities,
        coverage=coverage_table(fitted, ranking=ranking),
        ranks=rank_table(fitted),
        orders=order_table(fitted),
        positions=position_table(fitted),
        data_sets=data_sets,
        seconds=pd.DataFrame(
            {
                "data_set": [record["data_set"] for record in fitted],
                "seconds": [float(record["seconds"]) for record in fitted],
            }
        ),
        ranking=ranking,
        design=design.to_dict(),
        settings=settings,
        versions=versions,
        matched=design.matched,
        seed=seed,
        warnings=notices(quantities, data_sets, kind=design.kind),
    )
