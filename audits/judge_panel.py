"""A panel of judges: who may judge, how far judges agree, and whether the first shown wins (P1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.panel_agreement import verdict_agreement
from neartie.data.battle_order import report_positions
from neartie.data.battles import Battles
from neartie.data.errors import DataError
from neartie.data.ids import near_key
from neartie.data.wording import counted

type Codes = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class JudgePanel:
    """Verdicts that count, and what can be said of those who gave them.

    Attributes
    ----------
    battles : Battles
        Verdicts that count, as they were given.
    judges : DataFrame
        One row a judge: `judge`; `n` verdicts that count; `n_self` left out
        because the judge took part; `n_discarded` in duels with too few judges; `n_tie`;
        `n_first`, `n_second` (decided for the first and the second shown); `share_first` with
        `share_low`, `share_high` (95 %, Wilson); `position_effect`; `n_swapped`,
        `n_contradictory` (the same duel in both orders, and how often the verdicts contradict).
    overall : dict
        The same of all judges together.
    agreement : DataFrame
        As `neartie.audits.panel_agreement.verdict_agreement` has it.
    n_duels : int
        Duels that count: the same prompt and the same two models.
    n_discarded : int
        Duels left out for too few eligible judges.
    n_self : int
        Verdicts left out because the judge took part in the duel.
    n_unanimous, n_panel : int
        Duels of several judges who all gave the same verdict, and duels of several judges.
    notices : tuple of str
    """

    battles: Battles
    judges: pd.DataFrame
    overall: dict[str, Any]
    agreement: pd.DataFrame
    n_duels: int
    n_discarded: int
    n_self: int
    n_unanimous: int
    n_panel: int
    notices: tuple[str, ...]


def judge_panel(battles: Battles, *, fewest_judges: int = 2) -> JudgePanel:
    """Return the verdicts of eligible judges, with agreement and position bias.

    Parameters
    ----------
    battles : Battles
        One row a verdict, with judges; `outcome` says which *model* won, so that verdicts are
        un-swapped, and `shown` who was shown first. A duel is one prompt and two models.
    fewest_judges : int
        A duel with fewer judges who did not take part is discarded.

    Returns
    -------
    JudgePanel

    Raises
    ------
    DataError
        If there are no judges or no prompts, or no verdict is left.

    Notes
    -----
    Judge and model are the same if their ids are. A judge who saw a duel in both orders has one
    verdict on it for agreement: the model that won both times, else a tie.

    `position_effect` is half the difference between a model's share of wins (ties count one half)
    when it is shown first and when it is shown second, averaged over pairs of models by
    n1 n2 / (n1 + n2). The strengths of models cancel in it, also if one of them was shown first
    more often; `share_first` is plain and needs balanced orders. It is missing where no pair was
    shown in both orders.

    References
    ----------
    P1, "Judge protocol".

    Examples
    --------
    >>> verdicts = Battles.build(
    ...     ["ant"] * 4, ["owl"] * 4, ["a", "a", "b", "a"],
    ...     judge=["x", "y", "x", "owl"], prompt=["p", "p", "q", "p"],
    ... )
    >>> panel = judge_panel(verdicts)
    >>> panel.n_duels, panel.n_discarded, panel.n_self
    (1, 1, 1)
    """
    if not battles.judges:
        raise DataError("the verdicts name no judges: a column 'judge' is needed")
    if not battles.prompts:
        raise DataError(
            "nothing says which verdicts belong to one duel: a column 'prompt' is needed"
        )
    _refuse_nameless(battles)
    own = _takes_part(battles)
    duel = _duels(battles)
    eligible = ~own
    n_judges = _judges_by_duel(duel[eligible], battles.judge[eligible], int(duel.max()) + 1)
    kept = eligible & (n_judges[duel] >= fewest_judges)
    if not kept.any():
        raise DataError(
            f"no duel has {fewest_judges} judges who did not take part; {counted(int(own.sum()), 'verdict')} "
            "came from participants"
        )
    valid = battles.take(kept)
    verdicts = _one_each(valid)
    n_panel, n_unanimous = _unanimous(verdicts)
    discarded = eligible & ~kept
    rows = [
        {"judge": name}
        | _row(
            valid.take(valid.judge == j),
            int((own & (battles.judge == j)).sum()),
            int((discarded & (battles.judge == j)).sum()),
        )
        for j, name in enumerate(battles.judges)
    ]
    return JudgePanel(
        battles=valid,
        judges=pd.DataFrame(rows),
        overall=_row(valid, int(own.sum()), int(discarded.sum())),
        agreement=verdict_agreement(verdicts),
        n_duels=len(np.unique(duel[kept])),
        n_discarded=len(np.setdiff1d(duel, duel[kept])),
        n_self=int(own.sum()),
        n_unanimous=n_unanimous,
        n_panel=n_panel,
        notices=tuple(_close_names(battles)),
    )


def position_effect(battles: Battles) -> float:
    """Return by how much being shown first raises the probability to win; see `judge_panel`.

    Parameters
    ----------
    battles : Battles

    Returns
    -------
    float, proportion
        Positive if the first shown gains; NaN where no pair was shown in both orders.

    Examples
    --------
    >>> position_effect(Battles.build(["ant", "owl"], ["owl", "ant"], ["a", "a"]))
    0.5
    """
    known = battles.shown != 0
    a, b = battles.model_a[known], battles.model_b[known]
    low, high = np.minimum(a, b), np.maximum(a, b)
    _, pair = np.unique(low * battles.n_model + high, return_inverse=True)
    turned = np.where(a == low, 1, -1)
    # credit of the pair's lower model, and whether it was shown first
    credit = 0.5 * (1 + battles.outcome[known] * turned)
    first = battles.shown[known] * turned > 0
    n = int(pair.max()) + 1 if len(pair) else 0
    n1, n2 = (np.bincount(pair[side], minlength=n) for side in (first, ~first))
    s1, s2 = (
        np.bincount(pair[side], weights=credit[side], minlength=n) for side in (first, ~first)
    )
    both = (n1 > 0) & (n2 > 0)
    if not both.any():
        return float("nan")
    n1, n2, s1, s2 = n1[both], n2[both], s1[both], s2[both]
    weight = n1 * n2 / (n1 + n2)
    return float(0.5 * (weight @ (s1 / n1 - s2 / n2)) / weight.sum())


def _refuse_nameless(battles: Battles) -> None:
    for what, codes in (("judge", battles.judge), ("prompt", battles.prompt)):
        blank = np.flatnonzero(codes < 0)
        if len(blank):
            row = int(blank[0])
            names = battles.models[battles.model_a[row]], battles.models[battles.model_b[row]]
            raise DataError(
                f"{counted(len(blank), 'verdict')} without a {what}, first one of {names[0]!r} "
                f"against {names[1]!r}; give each its {what}, or leave the column out"
            )


def _takes_part(battles: Battles) -> NDArray[np.bool_]:
    place = {name: position for position, name in enumerate(battles.models)}
    as_model = np.array([place.get(judge, -1) for judge in battles.judges])[battles.judge]
    part: NDArray[np.bool_] = (as_model == battles.model_a) | (as_model == battles.model_b)
    return part


def _duels(battles: Battles) -> Codes:
    low = np.minimum(battles.model_a, battles.model_b)
    high = np.maximum(battles.model_a, battles.model_b)
    key = (battles.prompt * battles.n_model + low) * battles.n_model + high
    return np.unique(key, return_inverse=True)[1]


def _judges_by_duel(duel: Codes, judge: Codes, n: int) -> Codes:
    pairs = np.unique(np.stack([duel, judge]), axis=1)
    return np.bincount(pairs[0], minlength=n)


def _one_each(battles: Battles) -> pd.DataFrame:
    """Return one verdict a judge and duel: 1 for the model first by id, -1, 0 for a tie."""
    turned = np.where(battles.model_a < battles.model_b, 1, -1)
    table = pd.DataFrame(
        {
            "duel": _duels(battles),
            "judge": np.array(battles.judges, dtype=object)[battles.judge],
            "sign": battles.outcome.astype(np.int64) * turned,
        }
    )
    # the model that wins whenever the judge sees the duel, else a tie
    signs = table.groupby(["duel", "judge"])["sign"]
    verdict = signs.first().where(signs.min() == signs.max(), 0)
    return verdict.unstack("judge").astype(np.float64)


def _unanimous(verdicts: pd.DataFrame) -> tuple[int, int]:
    several = verdicts[verdicts.notna().sum(axis=1) > 1]
    return len(several), int((several.min(axis=1) == several.max(axis=1)).sum())


def _row(valid: Battles, n_self: int, n_discarded: int) -> dict[str, Any]:
    """Return what is said of the verdicts of one judge, or of all."""
    report = report_positions(valid)
    return {
        "n": valid.n_battle,
        "n_self": n_self,
        "n_discarded": n_discarded,
        "n_tie": valid.n_tie,
        "n_first": report.n_first,
        "n_second": report.n_second,
        "share_first": report.share_first,
        "share_low": report.low,
        "share_high": report.high,
        "position_effect": position_effect(valid),
        "n_swapped": report.n_swapped,
        "n_contradictory": report.n_contradictory,
    }


def _close_names(battles: Battles) -> list[str]:
    """Say where a judge is spelled nearly like a model, and so may judge itself."""
    known = {near_key(model): model for model in battles.models}
    close = [
        f"{judge!r} and {known[near_key(judge)]!r}"
        for judge in battles.judges
        if judge not in battles.models and near_key(judge) in known
    ]
    if not close:
        return []
    return [
        f"judge and model are spelled nearly alike and taken as different: {', '.join(close[:3])}"
    ]
