"""The answer of the rank layer: ranks, pairs, and what went wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from neartie.data.errors import DataError
from neartie.data.wording import listed

_LISTED = 20


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ModelRanking:
    """Which ranks and orderings are credible.

    Attributes
    ----------
    ranks : DataFrame, n_model rows
        Best first, connected set by connected set: `model`; `estimate`, on the scale of the
        source; `low`, `high`: interval of its distance from the mean of the models compared,
        drawn at the mean's estimate, so that no reference model matters; `rank_mean`; `rank_low`,
        `rank_high`: interval of this rank by itself; `rank_set_low`, `rank_set_high`: hold for
        all models at once; `p_best`; `tier`; `rank` of the estimate (equal ones share the best);
        `p_top_K`; `component` (0 is the largest set; ranks and tiers are within it).
    pairs : DataFrame
        Every pair, in the order of `ranks`, model_a first: `model_a`, `model_b`; `difference`
        (a minus b); `low`, `high`: its interval for itself; `p_above`: probability that a is
        above b; `resolved`: 1 where that interval leaves zero out; `se` of the difference;
        `p_tied`; `joint_low`, `joint_high`: hold for all pairs at once; `resolved_jointly`;
        `identified`: 0 where nothing connects the two, and all else is missing.
    rank_probability : DataFrame, n_model rows
        `model`, and a column `1`, `2`, ... for each rank within the connected set.
    level : float in (0, 1)
        Of all intervals and sets.
    top : int
        The K of `p_top_K`.
    sets : {'differences', 'ranks'}
        What holds at once in `rank_set_...`.
    critical : float
        Width of the joint intervals in units of `se`.
    label, kind : str
        What the scores are; what they come from.
    has_draws : bool
        Whether draws were ranked; else estimates with their covariance.
    n_models, n_draws, n_components : int
        Sizes; `n_draws` also where they were made from a covariance.
    converged : {'yes', 'no', 'not assessed'}
    verdict : str
        A sentence on convergence.
    seed : int
        Of what was drawn at random, which is nothing where there were draws.
    settings, versions : dict
    warnings : tuple of str
        Caveats, worst first, in sentences.
    """

    ranks: pd.DataFrame
    pairs: pd.DataFrame
    rank_probability: pd.DataFrame
    level: float
    top: int
    sets: str
    critical: float
    label: str
    kind: str
    has_draws: bool
    n_models: int
    n_draws: int
    n_components: int
    converged: str
    verdict: str
    seed: int
    settings: dict[str, Any]
    versions: dict[str, str]
    warnings: tuple[str, ...]

    @property
    def n_tiers(self) -> int:
        """Number of tiers, over all connected sets."""
        return len(self.ranks[["component", "tier"]].drop_duplicates())

    @property
    def top_column(self) -> str:
        """Name of the column with the probability of the first K."""
        return f"p_top_{self.top}"

    def pair(self, model_a: str, model_b: str) -> dict[str, Any]:
        """Return one pair, seen from the first model.

        Parameters
        ----------
        model_a, model_b : str

        Returns
        -------
        dict
            The columns of `pairs`.

        Raises
        ------
        DataError
            If there is no such pair.

        Examples
        --------
        >>> import numpy as np
        >>> from neartie import rank_models
        >>> ranking = rank_models([0.4, 0.0], models=["moss", "fern"], covariance=np.eye(2), rng=1)
        >>> round(ranking.pair("fern", "moss")["p_above"], 3)
        0.389
        """
        table = self.pairs
        for a, b, sign in ((model_a, model_b, 1), (model_b, model_a, -1)):
            found = table[(table["model_a"] == a) & (table["model_b"] == b)]
            if len(found):
                row = {str(k): v for k, v in found.iloc[0].to_dict().items()}
                return row if sign > 0 else _turned(row)
        raise DataError(
            f"there is no pair of {model_a!r} and {model_b!r}; the models are "
            f"{listed(self.ranks['model'].tolist())}"
        )

    def grid(self) -> pd.DataFrame:
        """Return the probability that the row's model is above the column's.

        Returns
        -------
        DataFrame, n_model x n_model
            In the order of `ranks`; missing on the diagonal and where nothing connects the two.
        """
        names = self.ranks["model"].tolist()
        forth = self.pairs.pivot(index="model_a", columns="model_b", values="p_above")
        back = self.pairs.assign(
            p_below=1 - self.pairs["p_above"] - self.pairs["p_tied"].fillna(0)
        ).pivot(index="model_b", columns="model_a", values="p_below")
        return forth.reindex(index=names, columns=names).combine_first(
            back.reindex(index=names, columns=names)
        ).loc[names, names]  # fmt: skip

    def tiers(self) -> list[tuple[str, ...]]:
        """Return the models of each tier, best first, connected set by connected set."""
        groups = self.ranks.groupby(["component", "tier"], sort=True)["model"]
        return [tuple(members) for _, members in groups]

    def to_dict(self) -> dict[str, Any]:
        """Return headline numbers, settings, versions and warnings, ready for JSON."""
        known = self.pairs[self.pairs["identified"] == 1]
        lead = self.ranks.iloc[0]
        return {
            "n_models": self.n_models,
            "n_components": self.n_components,
            "n_draws": self.n_draws,
            "n_pairs": len(self.pairs),
            "n_pairs_not_identified": len(self.pairs) - len(known),
            "n_resolved": int(known["resolved"].sum()),
            "n_resolved_jointly": int(known["resolved_jointly"].sum()),
            "n_tiers": self.n_tiers,
            "tiers": self.tiers(),
            "best": lead["model"] if self.n_components == 1 else None,
            "p_best": lead["p_best"] if self.n_components == 1 else None,
            "critical": self.critical,
            "level": self.level,
            "top": self.top,
            "sets": self.sets,
            "label": self.label,
            "kind": self.kind,
            "converged": self.converged,
            "verdict": self.verdict,
            "seed": self.seed,
            "settings": self.settings,
            "versions": self.versions,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        table = self.ranks.head(_LISTED)
        lines = [f"{self.n_models} models in {self.n_tiers} tiers ({self.level:.0%} level)"]
        lines += [f"warning: {warning}" for warning in self.warnings]
        lines.append(f"{'rank':>5} {'set':>9} {'tier':>5} {'P(best)':>8}  model")
        for row in table.to_dict("records"):
            ranks = f"{row['rank_set_low']}-{row['rank_set_high']}"
            lines.append(
                f"{row['rank']:>5} {ranks:>9} {row['tier']:>5} {row['p_best']:>8.3f}  "
                f"{row['model']}"
            )
        if self.n_models > _LISTED:
            lines.append(f"and {self.n_models - _LISTED:,} more models")
        return "\n".join(lines)


def _turned(row: dict[str, Any]) -> dict[str, Any]:
    """A pair seen from the other side."""
    return row | {
        "model_a": row["model_b"],
        "model_b": row["model_a"],
        "difference": -row["difference"],
        "low": -row["high"],
        "high": -row["low"],
        "p_above": 1 - row["p_above"] - row["p_tied"],
        "joint_low": -row["joint_high"],
        "joint_high": -row["joint_low"],
    }
