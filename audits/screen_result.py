"""The answer of an item screen: tables, settings, and what went wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from neartie.audits.screen_reasons import RANKED, STRONG, WEAK
from neartie.audits.screen_statistics import STATISTICS

#: How many of the worst items the short forms name.
LISTED = 10


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ItemScreen:
    """An item screen, complete (P2).

    Attributes
    ----------
    table : DataFrame, n_item rows
        Worst first, items without a coefficient after all others: `item`, `source` where there
        is one, `n_models` (answers), `accuracy`, `n_pairs` (defined pairs), the statistics of
        `item_statistics`, `n_negative` (pairs), `n_disagree` (pairs in which Kendall's tau has
        another sign), `null_low`, `null_high`, `p_null` (see `PermutationNull`; empty without a
        null), `p_adjusted` (`p_null` adjusted over the ranked items, Benjamini-Hochberg),
        `p_below` (small for an item that goes against the others), `own_source` and `other_sources` (mean coefficient with partners of the same
        source and of others), `kind` (`ranked`, or why there is no coefficient), `is_bad` where
        known, `rank` (1 = worst; equal coefficients share a rank; missing without one),
        `strength` (strong, weak or blank) and `reason`; see `screen_reasons.reasons`.
    auc : DataFrame
        Where items carry `is_bad`: `statistic`, `n_bad`, `n_good`, `auc`, `low`, `high`,
        `auc_within` (mean over sources, weighted by pairs of a bad and a good item), `reason`.
        Empty otherwise.
    precision : DataFrame
        Where items carry `is_bad`: `k`, `n_bad`, `precision` of the list's first k, and `chance`.
    labelled : DataFrame
        Where items carry `is_bad`: `kind`, `n_items`, `n_bad`. Bad items without variance are
        found here and in no AUC.
    sources : DataFrame
        `source`, `partner_source`, `n_pairs`, `mean`: mean coefficient of items of the one with
        partners of the other. Empty for one source, or too many.
    curves : DataFrame
        For the worst items: `item`, `rest` (mean rest score of a group of models), `score`,
        `n`, `fit` (best monotone fit).
    removed : tuple of str
        Items taken out before this screen.
    n_items, n_models, n_ranked, n_pairs, n_undefined, n_disagree, seed : int
        Sizes; pairs in all (each from both sides), those with a side that does not vary,
        those in which Kendall's tau disagrees.
    settings, versions : dict
    warnings : tuple of str
        Caveats, worst first, in sentences.
    """

    table: pd.DataFrame
    auc: pd.DataFrame
    precision: pd.DataFrame
    labelled: pd.DataFrame
    sources: pd.DataFrame
    curves: pd.DataFrame
    removed: tuple[str, ...]
    n_items: int
    n_models: int
    n_ranked: int
    n_pairs: int
    n_undefined: int
    n_disagree: int
    seed: int
    settings: dict[str, Any]
    versions: dict[str, str]
    warnings: tuple[str, ...]

    def review(self) -> pd.DataFrame:
        """Return the items that have a coefficient and a reason: strong ones, then the worst."""
        suspicious = (self.table["kind"] == RANKED) & (self.table["reason"] != "")
        listed = self.table[suspicious]
        weak = (listed["strength"] != STRONG).to_numpy()
        return listed.iloc[np.argsort(weak, kind="stable")]

    def review_counts(self) -> dict[str, int]:
        """Return how many items of the review list have a strong reason, and how many a weak one.

        Items that nobody solved have no rank; they are in `kinds`.
        """
        counts = self.review()["strength"].value_counts()
        return {strength: int(counts.get(strength, 0)) for strength in (STRONG, WEAK)}

    def without_coefficient(self) -> pd.DataFrame:
        """Return the items that could not be ranked, class by class."""
        return self.table[self.table["kind"] != RANKED]

    def kinds(self) -> dict[str, int]:
        """Return how many items there are of each class."""
        counts = self.table["kind"].value_counts(sort=False)
        return {str(kind): int(n) for kind, n in counts.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return headline numbers, settings, versions and warnings, ready for JSON."""
        coefficient = self.table["signed_isotonic_r2"]
        review = self.review()
        worst = self.table[self.table["kind"] == RANKED].head(LISTED)
        return {
            "n_items": self.n_items,
            "n_models": self.n_models,
            "n_ranked": self.n_ranked,
            "n_review": len(review),
            "n_review_strong": self.review_counts()[STRONG],
            "n_review_weak": self.review_counts()[WEAK],
            "kinds": self.kinds(),
            "n_pairs": self.n_pairs,
            "n_undefined_pairs": self.n_undefined,
            "n_sign_disagree": self.n_disagree,
            "mean_signed_isotonic_r2": coefficient.mean() if self.n_ranked else None,
            "n_negative_items": int((coefficient < 0).sum()),
            "worst": worst[["item", "signed_isotonic_r2", "strength", "reason"]].to_dict("records"),
            "auc": self.auc.set_index("statistic")[["auc", "low", "high"]].to_dict("index"),
            "precision": self.precision.to_dict("records"),
            "labelled": self.labelled.to_dict("records"),
            "removed": self.removed,
            "statistics": [name for name in STATISTICS if self.table[name].notna().any()],
            "seed": self.seed,
            "settings": self.settings,
            "versions": self.versions,
            "warnings": self.warnings,
        }

    def __str__(self) -> str:
        worst = self.table[self.table["kind"] == RANKED].head(LISTED)
        lines = [
            f"{row['rank']:>4}  {row['signed_isotonic_r2']:8.4f}  {row['item']}  {row['reason']}"
            for row in worst.to_dict("records")
        ]
        kinds = ", ".join(f"{n} {kind}" for kind, n in self.kinds().items())
        return "\n".join([f"{self.n_items} items: {kinds}", *(line.rstrip() for line in lines)])
