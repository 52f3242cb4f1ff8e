"""Rows about judges and duels of a scorecard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from neartie.audits.judge_panel import JudgePanel


def judge_rows(
    domain: str, panel: JudgePanel, verdicts: pd.DataFrame, providers: Mapping[str, str]
) -> pd.DataFrame:
    """Return one row a judge of a domain.

    Parameters
    ----------
    domain : str
    panel : JudgePanel
    verdicts : DataFrame
        Of the domain, as in `neartie.data.score_inputs.ScoreInputs`.
    providers : mapping of str to str
        Provider of each judge; empty where none are listed.

    Returns
    -------
    DataFrame
        `domain`, `judge`, `provider`, `n_unparsed`, and the columns of `JudgePanel.judges`.
    """
    unparsed = verdicts.groupby("judge")["unparsed"].sum()
    table = panel.judges.copy()
    table.insert(0, "domain", domain)
    table.insert(2, "provider", [providers.get(judge, "") for judge in table["judge"]])
    table.insert(3, "n_unparsed", table["judge"].map(unparsed).fillna(0).astype(int))
    return table


def duel_row(
    domain: str, panel: JudgePanel, verdicts: pd.DataFrame, providers: Mapping[str, str]
) -> dict[str, Any]:
    """Return what is said of all duels of a domain; parameters as in `judge_rows`."""
    shown = ("share_first", "share_low", "share_high", "position_effect")
    return {
        "domain": domain,
        "n_duels": panel.n_duels,
        "n_discarded": panel.n_discarded,
        "n_self": panel.n_self,
        "n_unparsed": int(verdicts["unparsed"].sum()),
        "n_panel": panel.n_panel,
        "n_unanimous": panel.n_unanimous,
        "n_one_provider": _of_one_provider(panel, providers),
        **{name: panel.overall[name] for name in shown},
        "n_swapped": panel.overall["n_swapped"],
        "n_contradictory": panel.overall["n_contradictory"],
    }


def _of_one_provider(panel: JudgePanel, providers: Mapping[str, str]) -> float:
    """Return how many duels were judged by one provider's judges only; NaN where not known."""
    battles = panel.battles
    names = [providers.get(judge, "") for judge in battles.judges]
    used = np.unique(battles.judge)
    if not all(names[judge] for judge in used):
        return float("nan")
    table = pd.DataFrame(
        {
            "prompt": battles.prompt,
            "low": np.minimum(battles.model_a, battles.model_b),
            "high": np.maximum(battles.model_a, battles.model_b),
            "provider": np.array(names, dtype=object)[battles.judge],
        }
    )
    return int((table.groupby(["prompt", "low", "high"])["provider"].nunique() == 1).sum())
