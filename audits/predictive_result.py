"""The answer of a prior or posterior check: what was observed, what the model says, how they differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PredictiveChecks:
    """Data beside replicates of them.

    Attributes
    ----------
    source : {'posterior', 'prior'}
        What the replicates were drawn from.
    kind : str
        `two-pl`, `mirt-dif`, `residual-dif` or `bradley-terry`.
    items, models : DataFrame
        Right answers of every item and model, or wins of every model with half credit for ties:
        `item` or `model`; `n` (answers or battles); `observed`, `predicted` (mean), `low`, `high`,
        `p`, `outside`, as in `predictive_tables.predictive_table`. No rows for items of battles.
    statistics : DataFrame
        The same columns, led by `statistic` and `meaning`: of the data as a whole.
    coverage : DataFrame
        `quantity` (`items`, `models`); `n`; `n_outside`; `share`; `expected`, the share of
        replicates outside their own intervals.
    histogram : DataFrame
        Accuracies or win rates in twenty bins: `low`, `high`, and the share of `models`, `items`
        under the replicates and of `observed_models`, `observed_items`.
    replicates : DataFrame, n_draws rows
        Every statistic of every replicate: a column each.
    across : str
        Which pairs may be near-tied, in words.
    level : float in (0, 1)
        Of the intervals.
    band : float, proportion
        Of the near ties.
    n_draws, seed : int
    converged, verdict : str
        Of the fit.
    settings, versions : dict
    warnings : tuple of str
        Caveats, worst first, in sentences.
    """

    source: str
    kind: str
    items: pd.DataFrame
    models: pd.DataFrame
    statistics: pd.DataFrame
    coverage: pd.DataFrame
    histogram: pd.DataFrame
    replicates: pd.DataFrame
    across: str
    level: float
    band: float
    n_draws: int
    seed: int
    converged: str
    verdict: str
    settings: dict[str, Any]
    versions: dict[str, str]
    warnings: tuple[str, ...]

    def statistic(self, name: str) -> dict[str, Any]:
        """Return one row of `statistics`.

        Raises
        ------
        KeyError
            If there is no such statistic.
        """
        found = self.statistics[self.statistics["statistic"] == name]
        if found.empty:
            known = ", ".join(self.statistics["statistic"])
            raise KeyError(f"there is no statistic {name!r}; there are {known}")
        return {str(key): value for key, value in found.iloc[0].to_dict().items()}

    def to_dict(self) -> dict[str, Any]:
        """Return headline numbers and settings: what `summary.json` holds."""
        return {
            "source": self.source,
            "kind": self.kind,
            "statistics": self.statistics.to_dict("records"),
            "coverage": self.coverage.to_dict("records"),
            "across": self.across,
            "level": self.level,
            "band": self.band,
            "n_draws": self.n_draws,
            "seed": self.seed,
            "converged": self.converged,
            "verdict": self.verdict,
            "settings": self.settings,
            "versions": self.versions,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        title = f"{self.source.capitalize()} predictive check of {self.kind}"
        lines = [f"{title}, {self.n_draws:,} replicates, {self.level:.0%} intervals"]
        for row in self.statistics.to_dict("records"):
            mark = "  *" if row["outside"] else ""
            lines.append(
                f"{row['statistic']:<22} {row['observed']:>9.4g}   predicted "
                f"{row['predicted']:>8.4g} ({row['low']:.4g} to {row['high']:.4g}), "
                f"p {row['p']:.3f}{mark}"
            )
        for row in self.coverage.to_dict("records"):
            lines.append(
                f"{row['quantity']}: {row['n_outside']} of {row['n']} outside their intervals "
                f"({row['share']:.1%}; replicates {row['expected']:.1%})"
            )
        return "\n".join(lines)
