"""Who was shown first: how often the first won, and battles that were judged in both orders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from neartie.data.battles import Battles
from neartie.data.errors import DataError
from neartie.data.wording import counted


@dataclass(frozen=True, kw_only=True, slots=True)
class PositionReport:
    """How often whoever was shown first won.

    Attributes
    ----------
    n_first, n_second, n_tie : int
        Battles won by the first shown, by the second, and by nobody; battles whose order is not
        known are in none of them.
    n_unknown : int
        Battles whose order is not known.
    is_given : bool
        Whether the data say who was shown first. If not, model_a counts as such.
    share_first : float in [0, 1]
        Of the battles with a winner, those that the first shown won; NaN if there is none.
    low, high : float in [0, 1]
        Its 95 % interval (Wilson), which takes battles as independent.
    n_swapped : int
        Pairs of battles of the same two models on one prompt, by one judge, in both orders.
    n_contradictory : int
        Those of them whose two verdicts name different models.
    """

    n_first: int
    n_second: int
    n_tie: int
    n_unknown: int
    is_given: bool
    share_first: float
    low: float
    high: float
    n_swapped: int
    n_contradictory: int

    def __str__(self) -> str:
        decided = self.n_first + self.n_second
        taken = "" if self.is_given else " (taking model_a as shown first)"
        text = (
            f"the first shown won {self.n_first:,} of {counted(decided, 'decided battle')}{taken}"
        )
        if self.n_swapped:
            text += (
                f"; of {counted(self.n_swapped, 'pair')} judged in both orders "
                f"{self.n_contradictory:,} contradict"
            )
        return text


def report_positions(battles: Battles) -> PositionReport:
    """Return how often whoever was shown first won.

    Parameters
    ----------
    battles : Battles

    Returns
    -------
    PositionReport
        Counts are of battles, whatever their weights.

    Examples
    --------
    >>> report = report_positions(
    ...     Battles.build(["ant", "owl"], ["owl", "ant"], ["a", "a"], prompt=["p", "p"])
    ... )
    >>> print(report)
    the first shown won 2 of 2 decided battles (taking model_a as shown first); of 1 pair judged in both orders 1 contradict
    """
    verdict = battles.outcome * battles.shown
    n_first, n_second = int(np.sum(verdict > 0)), int(np.sum(verdict < 0))
    n_tie = int(np.sum((battles.outcome == 0) & (battles.shown != 0)))
    share = low = high = float("nan")
    if n_first + n_second:
        share = n_first / (n_first + n_second)
        test = stats.binomtest(n_first, n_first + n_second)
        low, high = test.proportion_ci(method="wilson")
    forth, back = _swapped_pairs(battles)
    return PositionReport(
        n_first=n_first,
        n_second=n_second,
        n_tie=n_tie,
        n_unknown=int(np.sum(battles.shown == 0)),
        is_given=battles.shown_is_given,
        share_first=share,
        low=float(low),
        high=float(high),
        n_swapped=len(forth),
        n_contradictory=int(np.sum(_contradict(battles, forth, back))),
    )


def resolve_swapped(battles: Battles) -> Battles:
    """Return the battles with each pair that was judged in both orders made into one.

    Parameters
    ----------
    battles : Battles
        With prompts. Two battles are such a pair if the same judge compared the same two models
        on the same prompt once in either order.

    Returns
    -------
    Battles
        A model that won in both orders wins the one battle; otherwise it is a tie. Its weight is
        the mean of the two, and neither model counts as shown first. All other battles stay.

    Raises
    ------
    DataError
        If no battle has a prompt, so that nothing says which belong together.

    Notes
    -----
    A win in one order and a tie in the other also make a tie: a win is what both orders confirm.

    Examples
    --------
    >>> resolve_swapped(
    ...     Battles.build(["ant", "owl"], ["owl", "ant"], ["a", "a"], prompt=["p", "p"])
    ... )
    Battles(1 battle, 2 models, 1 tie)
    """
    if not battles.prompts:
        raise DataError(
            "nothing says which battles are the same two answers in both orders: a column "
            "'prompt' is needed"
        )
    forth, back = _swapped_pairs(battles)
    agree = battles.outcome[forth] == _turned(battles, back, forth)
    outcome, weight, shown = (
        battles.outcome.copy(),
        battles.weight.copy(),
        battles.shown.copy(),
    )
    outcome[forth[~agree]] = 0
    weight[forth] = 0.5 * (battles.weight[forth] + battles.weight[back])
    shown[forth] = 0
    kept = np.ones(battles.n_battle, dtype=bool)
    kept[back] = False
    n_tied = int(np.sum(~agree))
    notice = (
        f"made {counted(len(forth), 'pair')} of battles in both orders into one battle each; "
        f"{n_tied:,} of them disagree and count as ties"
    )
    one = replace(battles, outcome=outcome, weight=weight, shown=shown)
    return one.take(kept, notices=(*battles.notices, notice))


def known_positions(battles: Battles, *, asked: bool = False) -> PositionReport | None:
    """Return how often the first shown won, where the data say who was shown first.

    Parameters
    ----------
    battles : Battles
    asked : bool
        Whether a first-shown effect is fitted, so that model_a counts as shown first where the
        data say nothing.

    Returns
    -------
    PositionReport or None
        None if it was not asked for, no column says who was shown first, and no two battles are
        the same two answers in both orders.

    Examples
    --------
    >>> known_positions(Battles.build(["owl"], ["ant"], ["a"])) is None
    True
    """
    found = report_positions(battles)
    return found if asked or found.is_given or found.n_swapped else None


def position_caveats(report: PositionReport | None, *, fitted: bool) -> Iterator[str]:
    """Yield what to say of fits without the first-shown effect of battles that show one.

    Parameters
    ----------
    report : PositionReport or None
    fitted : bool
        Whether the effect is in the fit.

    Yields
    ------
    str

    Examples
    --------
    >>> battles = Battles.build(["owl"] * 9, ["ant"] * 9, ["a"] * 9, first_shown=["a"] * 9)
    >>> print(*position_caveats(report_positions(battles), fitted=False))
    whoever was shown first won 9 of 9 decided battles, and these strengths take no account of it: fit with --first-shown (first_shown=True), unless better models were shown first on purpose
    """
    if fitted or report is None or not (report.low > 0.5 or report.high < 0.5):
        return
    decided = counted(report.n_first + report.n_second, "decided battle")
    yield (
        f"whoever was shown first won {report.n_first:,} of {decided}, and these strengths take "
        "no account of it: fit with --first-shown (first_shown=True), unless better models were "
        "shown first on purpose"
    )


def position_notices(battles: Battles) -> Iterator[str]:
    """Yield what should be known before a first-shown effect is estimated.

    Parameters
    ----------
    battles : Battles

    Yields
    ------
    str
        That model_a was taken as shown first, or that the order of some battles is not known.

    Examples
    --------
    >>> print(*position_notices(Battles.build(["owl"], ["ant"], ["a"])))
    the data do not say who was shown first: model_a was taken as such throughout; if it was not, fit without the first-shown effect
    """
    if not battles.shown_is_given:
        yield (
            "the data do not say who was shown first: model_a was taken as such throughout; if it "
            "was not, fit without the first-shown effect"
        )
    unknown = int(np.sum(battles.shown == 0))
    if unknown:
        yield (
            f"{counted(unknown, 'battle')} whose order is not known: neither model has the "
            "first-shown effect in them"
        )


def _swapped_pairs(battles: Battles) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return positions of two battles with the same prompt, judge and models in both orders."""
    nothing = np.array([], dtype=np.int64)
    rows = np.flatnonzero((battles.prompt >= 0) & (battles.shown != 0))
    if not len(rows):
        return nothing, nothing
    a, b = battles.model_a[rows], battles.model_b[rows]
    low_first = (a < b) == (battles.shown[rows] > 0)
    key = np.stack([battles.prompt[rows], battles.judge[rows], np.minimum(a, b), np.maximum(a, b)])
    _, group = np.unique(key, axis=1, return_inverse=True)
    n = int(group.max()) + 1
    one_each = (np.bincount(group[low_first], minlength=n) == 1) & (
        np.bincount(group[~low_first], minlength=n) == 1
    )
    place = np.full((2, n), -1, dtype=np.int64)
    place[0, group[low_first]] = rows[low_first]
    place[1, group[~low_first]] = rows[~low_first]
    return place[0, one_each], place[1, one_each]


def _turned(battles: Battles, rows: NDArray[np.int64], like: NDArray[np.int64]) -> NDArray[np.int8]:
    """Return outcomes of some battles from the point of view of others' model_a."""
    same = battles.model_a[rows] == battles.model_a[like]
    return np.where(same, battles.outcome[rows], -battles.outcome[rows])


def _contradict(
    battles: Battles, forth: NDArray[np.int64], back: NDArray[np.int64]
) -> NDArray[np.bool_]:
    return battles.outcome[forth] * _turned(battles, back, forth) < 0
