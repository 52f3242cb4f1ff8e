"""Battles: one row a comparison of two models, and their counts by pair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from neartie.data.battle_graph import Separation, connected_sets, separate
from neartie.data.errors import DataError
from neartie.data.pair_counts import PairCounts, distinct, tally
from neartie.data.wording import counted

type Codes = NDArray[np.int64]
type Floats = NDArray[np.float64]

# Read without regard to case. The sign says who won: the first listed (1), the second (-1), nobody.
OUTCOMES: Final = {
    "model_a": 1,
    "a": 1,
    "model_b": -1,
    "b": -1,
    "tie": 0,
    "tie (bothbad)": 0,
}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Battles:
    """Comparisons of two models. Immutable; build with `Battles.build` or `read_battles`.

    Attributes
    ----------
    models : tuple of str
        Ids, in plain order.
    model_a, model_b : (n_battle,) int
        Positions in `models`; never equal, because self-battles are left out.
    outcome : (n_battle,) int8
        1 where model_a won, -1 where model_b did, 0 for a tie of either kind.
    weight : (n_battle,) float, battles
        Positive; 1 unless the data say otherwise.
    shown : (n_battle,) int8
        1 where model_a was shown first, -1 where model_b was, 0 where neither was or it is not
        known.
    shown_is_given : bool
        Whether the data say who was shown first. If not, model_a counts as shown first.
    judges, prompts : tuple of str
        Ids, in plain order; empty where the data have none.
    judge, prompt : (n_battle,) int
        Positions in `judges` and `prompts`, -1 where there is none.
    n_self : int
        Number of battles of a model with itself that were left out.
    notices : tuple of str
        What a reader did that its user should know.
    """

    models: tuple[str, ...]
    model_a: Codes
    model_b: Codes
    outcome: NDArray[np.int8]
    weight: Floats
    shown: NDArray[np.int8]
    shown_is_given: bool
    judges: tuple[str, ...]
    judge: Codes
    prompts: tuple[str, ...]
    prompt: Codes
    n_self: int
    notices: tuple[str, ...]

    @classmethod
    def build(
        cls,
        model_a: Iterable[str],
        model_b: Iterable[str],
        winner: Iterable[str],
        *,
        weight: ArrayLike | None = None,
        first_shown: Iterable[str] | None = None,
        judge: Iterable[str] | None = None,
        prompt: Iterable[str] | None = None,
        notices: tuple[str, ...] = (),
    ) -> Battles:
        """Return validated battles.

        Parameters
        ----------
        model_a, model_b : iterable of str, n_battle
            Ids of the two models.
        winner : iterable of str, n_battle
            `model_a`, `model_b`, `a`, `b`, `tie` or `tie (bothbad)`, in any case.
        weight : (n_battle,) float, optional
            How many battles each row counts for; not negative.
        first_shown : iterable of str, n_battle, optional
            `model_a` or `model_b` (or `a`, `b`), blank where not known. Without it model_a
            counts as shown first.
        judge, prompt : iterable of str, n_battle, optional
            Ids, blank where there is none.
        notices : tuple of str
            Carried along.

        Returns
        -------
        Battles
            Without battles of a model with itself, and without those of weight 0.

        Raises
        ------
        DataError
            If an id is blank, a label is unknown, a weight is negative or not finite, columns
            differ in length, or nothing is left.

        Examples
        --------
        >>> Battles.build(["owl", "owl", "ant"], ["ant", "owl", "owl"], ["a", "b", "tie"])
        Battles(2 battles, 2 models, 1 tie, 1 self-battle left out)
        """
        names_a, names_b = list(model_a), list(model_b)
        n = len(names_a)
        models, codes = encode(names_a + names_b, column="model")
        first, second = codes[:n], codes[n:]
        blank = np.flatnonzero(codes < 0)
        if len(blank):
            raise DataError(f"battle {int(blank[0]) % n + 1}: a model id is blank")
        outcome = _labels(list(winner), OUTCOMES, column="winner")
        shown = np.ones(n, np.int8)
        if first_shown is not None:
            sides = {label: sign for label, sign in OUTCOMES.items() if sign} | {"": 0}
            shown = _labels(list(first_shown), sides, column="first_shown")
        judges, judge_codes = encode(judge, column="judge", n=n)
        prompts, prompt_codes = encode(prompt, column="prompt", n=n)
        weights = np.ones(n) if weight is None else np.array(weight, dtype=np.float64)
        columns = (second, outcome, shown, judge_codes, prompt_codes, weights)
        if any(len(column) != n for column in columns):
            raise DataError(f"all columns need one value for each of the {n} battles")
        return assemble(
            models=models,
            model_a=first,
            model_b=second,
            outcome=outcome,
            weight=weights,
            shown=shown,
            shown_is_given=first_shown is not None,
            judges=judges,
            judge=judge_codes,
            prompts=prompts,
            prompt=prompt_codes,
            notices=notices,
        )

    @property
    def n_battle(self) -> int:
        """Number of battles."""
        return len(self.outcome)

    @property
    def n_model(self) -> int:
        """Number of models."""
        return len(self.models)

    @property
    def n_tie(self) -> int:
        """Number of ties of either kind."""
        return int(np.count_nonzero(self.outcome == 0))

    def take(self, battles: NDArray[Any], *, notices: tuple[str, ...] | None = None) -> Battles:
        """Return some of the battles; models, judges and prompts stay listed.

        Parameters
        ----------
        battles : int positions or bool mask
        notices : tuple of str, optional
            Those at hand when left out.

        Returns
        -------
        Battles
        """
        rows = ("model_a", "model_b", "outcome", "weight", "shown", "judge", "prompt")
        columns: dict[str, Any] = {name: getattr(self, name)[battles] for name in rows}
        for column in columns.values():
            column.flags.writeable = False
        return replace(self, **columns, notices=self.notices if notices is None else notices)

    def counts(self, *, by_position: bool = False) -> PairCounts:
        """Return the battles added up by pair.

        Parameters
        ----------
        by_position : bool
            Keep apart who was shown first.

        Returns
        -------
        PairCounts
            In an order that depends on ids alone. The same to the last bit for every order of
            the battles, and, unless by position, whoever is listed first.

        Examples
        --------
        >>> counts = Battles.build(["owl", "ant"], ["ant", "owl"], ["a", "tie"]).counts()
        >>> counts.first, counts.second, counts.losses, counts.ties
        (array([0]), array([1]), array([1.]), array([1.]))
        """
        cell, keys = self.cells(by_position=by_position)
        weight = self.weight
        if not (weight == np.floor(weight)).all():
            # Sums of fractions depend on their order in the last digit.
            order = np.lexsort((weight, cell))
            cell, weight = cell[order], weight[order]
        totals = np.bincount(cell, weights=weight, minlength=3 * len(keys))
        return tally(keys, totals, n_model=self.n_model)

    def cells(self, *, by_position: bool) -> tuple[Codes, Codes]:
        """Return the cell of every battle, and the pair that each three cells belong to.

        Parameters
        ----------
        by_position : bool
            As in `counts`.

        Returns
        -------
        cell : (n_battle,) int
            3 times the position of the pair in `keys`, plus 0, 1 or 2 for won, lost, tied from
            the point of view of the pair's first model.
        keys : (n_pair,) int
            Rising; what `pair_counts.tally` understands.
        """
        if by_position:
            turned = (self.shown < 0) | ((self.shown == 0) & (self.model_a > self.model_b))
        else:
            turned = self.model_a > self.model_b
        first = np.where(turned, self.model_b, self.model_a)
        second = np.where(turned, self.model_a, self.model_b)
        known = (self.shown != 0) if by_position else np.zeros(self.n_battle, dtype=bool)
        code = (first * self.n_model + second) * 2 + known
        keys, pair = distinct(code, 2 * self.n_model**2)
        won = np.where(turned, -self.outcome, self.outcome)
        return pair * 3 + np.where(won > 0, 0, np.where(won < 0, 1, 2)), keys

    def connected_components(self) -> tuple[tuple[str, ...], ...]:
        """Return the sets of models that battles connect, the largest first.

        Returns
        -------
        tuple of tuples of str
            Strengths in different sets cannot be compared by these battles. Sets of one size
            stand in the order of their ids. A model without battles is a set of its own.

        Examples
        --------
        >>> Battles.build(["ash", "oak"], ["elm", "fir"], ["a", "b"]).connected_components()
        (('ash', 'elm'), ('fir', 'oak'))
        """
        return self._named(connected_sets(self.counts()))

    def separation(self) -> Separation:
        """Return which models always win or lose, and the groups that win or lose as wholes.

        Returns
        -------
        Separation
            Ties count as half a win for either side, so that they separate nobody.
        """
        return separate(self.counts(), self.models)

    def win_rates(self) -> pd.DataFrame:
        """Return battles, wins and the win rate with half credit for ties.

        Returns
        -------
        DataFrame, n_model rows
            `model`; `n`, weight of its battles; `wins`, with half of every tie; `win_rate`,
            missing for a model without battles.

        Examples
        --------
        >>> Battles.build(["owl", "owl"], ["ant", "ant"], ["a", "tie"]).win_rates()
          model    n  wins  win_rate
        0   ant  2.0   0.5      0.25
        1   owl  2.0   1.5      0.75
        """
        n, wins, rate = self.counts().by_model()
        return pd.DataFrame({"model": list(self.models), "n": n, "wins": wins, "win_rate": rate})

    def _named(self, sets: Sequence[Sequence[int]]) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(self.models[m] for m in members) for members in sets)

    def __repr__(self) -> str:
        left_out = f", {counted(self.n_self, 'self-battle')} left out" if self.n_self else ""
        return (
            f"Battles({counted(self.n_battle, 'battle')}, {counted(self.n_model, 'model')}, "
            f"{counted(self.n_tie, 'tie')}{left_out})"
        )


def assemble(**columns: Any) -> Battles:
    """Return battles without self-battles and battles of weight 0, each dropped with a notice.

    Parameters
    ----------
    **columns
        The attributes of `Battles` but `n_self`, consistent with each other.

    Returns
    -------
    Battles

    Raises
    ------
    DataError
        If a weight is negative or not finite, or no battle is left.
    """
    weight = columns["weight"]
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(bad):
        raise DataError(
            f"battle {bad[0] + 1}: weight {weight[bad[0]]} is negative or not a finite number"
        )
    own = columns["model_a"] == columns["model_b"]
    n_self, n_idle = int(np.count_nonzero(own)), int(np.count_nonzero(~own & (weight == 0)))
    notices = list(columns.pop("notices"))
    if n_self:
        notices.append(f"left out {counted(n_self, 'battle')} of a model with itself")
    if n_idle:
        notices.append(f"left out {counted(n_idle, 'battle')} of weight 0")
    battles = Battles(**columns, n_self=n_self, notices=tuple(notices))
    kept = ~own & (weight > 0)
    if not kept.any():
        raise DataError("there is no battle between two different models")
    return _without_idle_models(battles.take(kept), n_self + n_idle)


def _without_idle_models(battles: Battles, n_dropped: int) -> Battles:
    """Leave out models that have no battle but the dropped ones."""
    if not n_dropped:
        return battles
    used = np.zeros(battles.n_model, dtype=bool)
    used[battles.model_a] = used[battles.model_b] = True
    if used.all():
        return battles
    place = np.cumsum(used) - 1
    idle = [name for name, keep in zip(battles.models, used, strict=True) if not keep]
    return replace(
        battles,
        models=tuple(name for name, keep in zip(battles.models, used, strict=True) if keep),
        model_a=place[battles.model_a],
        model_b=place[battles.model_b],
        notices=(
            *battles.notices,
            f"left out {counted(len(idle), 'model')} without any other battle: {idle[0]!r}"
            + (" and others" if len(idle) > 1 else ""),
        ),
    )


def encode(
    ids: Iterable[str] | None, *, column: str, n: int = 0
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return ids in plain order and the position of each value among them, -1 for a blank one."""
    if ids is None:
        return (), np.full(n, -1, dtype=np.int64)
    values = list(ids)
    for row, value in enumerate(values):
        if not isinstance(value, str):
            raise DataError(f"battle {row + 1}: the {column} id is not text: {value!r}")
    names = sorted({value for value in values if value.strip()})
    place = {name: position for position, name in enumerate(names)}
    return tuple(names), np.fromiter((place.get(v, -1) for v in values), np.int64, len(values))


def _labels(values: list[str], known: dict[str, int], *, column: str) -> NDArray[np.int8]:
    codes = np.empty(len(values), dtype=np.int8)
    for row, value in enumerate(values):
        code = known.get(str(value).strip().lower())
        if code is None:
            raise DataError(
                f"battle {row + 1}: {column} {value!r} is none of "
                f"{', '.join(label for label in known if label)}"
            )
        codes[row] = code
    return codes
