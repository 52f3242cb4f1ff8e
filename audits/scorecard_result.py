"""A scorecard: models, domains, items, judges, frontier, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from neartie.audits.panel_agreement import summarise_agreement

LISTED: Final = 20


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Scorecard:
    """Scores of models, complete (P1).

    Attributes
    ----------
    models : DataFrame
        One row a model, best first, incomplete ones after: `model`; `global_index`, points;
        `half_width` (P1's formula), `half_width_printed` (the same with the standard error that
        P1 prints), `half_width_all` (all terms count); `low`, `high` by the last; `rank`, missing
        for an incomplete model; `gap_to_best`, points behind the best, with `gap_half_width`, and
        `below_best`, 1 where the gap is larger than that; `n_domains`, `missing` (domains), `complete`; `shared_index`,
        `shared_rank` (over domains that all have); `cost`, `latency`, `cost_frontier`,
        `latency_frontier` (1 on the Pareto set, 0 off it, missing where not measured);
        `version`.
    domains : DataFrame
        One row a domain and model; see `neartie.audits.scorecard_domains.COLUMNS`, and `version`.
    items : DataFrame
        One row an item of a fitted domain: `domain`, `item`, `n`, `discrimination`, `difficulty`,
        `flag`.
    bins : DataFrame
        Bins with answers, of every model in every domain and, with a blank domain, in all
        together: `domain`, `model`, `bin`, `low`, `high`, `n`, `accuracy`, `confidence`, `error`.
    duels : DataFrame
        One row a domain of duels with judges: `domain`, `n_duels`, `n_discarded` (duels),
        `n_self` (verdicts left out), `n_unparsed`, `n_panel`, `n_unanimous`, `n_one_provider`
        (missing where providers are not known), `share_first`, `share_low`, `share_high`,
        `position_effect`, `n_swapped`, `n_contradictory`.
    judges : DataFrame
        `domain`, `judge`, `provider`, `n_unparsed` and the columns of `JudgePanel.judges`.
    agreement : DataFrame
        `domain` (`labels` for labels of items), and the columns of `panel_agreement`.
    covariance : DataFrame
        `model`, and a column for each complete model: of the global index. Empty where it is not
        known.
    stamp : str
        Version of the rules and settings; scores of two stamps cannot be compared.
    seed : int
    converged : bool
        Whether all fits did.
    settings, versions : dict
    warnings : tuple of str
        Caveats, worst first.
    """

    models: pd.DataFrame
    domains: pd.DataFrame
    items: pd.DataFrame
    bins: pd.DataFrame
    duels: pd.DataFrame
    judges: pd.DataFrame
    agreement: pd.DataFrame
    covariance: pd.DataFrame
    stamp: str
    seed: int
    converged: bool
    settings: dict[str, Any]
    versions: dict[str, str]
    warnings: tuple[str, ...]

    @property
    def domain_names(self) -> list[str]:
        """Domains in the order of the table."""
        return list(dict.fromkeys(self.domains["domain"]))

    def frontier(self, axis: str) -> list[str]:
        """Return the models on the frontier of `cost` or `latency`, the cheapest first."""
        name = f"{axis}_frontier"
        if name not in self.models:
            return []
        on = self.models[self.models[name] == 1]
        return on.sort_values([axis, "global_index"], ascending=[True, False])["model"].tolist()

    def flagged(self) -> pd.DataFrame:
        """Return the items with a flag."""
        return self.items[self.items["flag"] != ""].reset_index(drop=True)

    def to_dict(self) -> dict[str, Any]:
        """Return headline numbers, settings, versions and warnings, ready for JSON."""
        columns = ["model", "global_index", "half_width_all", "rank", "complete"]
        return {
            "version": self.stamp,
            "n_models": len(self.models),
            "n_complete": int(self.models["complete"].sum()) if len(self.models) else 0,
            "n_domains": len(self.domain_names),
            "domains": self.domain_names,
            "models": self.models[columns].to_dict("records") if len(self.models) else [],
            "n_items": len(self.items),
            "n_flagged": len(self.flagged()),
            "cost_frontier": self.frontier("cost"),
            "latency_frontier": self.frontier("latency"),
            "duels": self.duels.to_dict("records"),
            "n_judges": int(self.judges["judge"].nunique()),
            "agreement": summarise_agreement(self.agreement),
            "converged": self.converged,
            "seed": self.seed,
            "settings": self.settings,
            "versions": self.versions,
            "warnings": self.warnings,
        }

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"scorecard, rules {self.stamp}: {len(self.models)} models"
        for row in self.models.head(LISTED).to_dict("records"):
            rank = "-" if pd.isna(row["rank"]) else str(row["rank"])
            lacks = f"  (lacks {row['missing']})" if row["missing"] else ""
            yield (
                f"{rank:>4}  {row['global_index']:6.1f} ± {row['half_width_all']:5.1f}  "
                f"{row['model']}{lacks}"
            )
        if len(self.models) > LISTED:
            yield f"and {len(self.models) - LISTED:,} more models"
