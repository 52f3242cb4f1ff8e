"""What a Bradley–Terry model is told: battles added up by pair, order and judge, and covariates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.data.battle_graph import Separation, separate
from neartie.data.battle_order import position_notices
from neartie.data.battles import Battles
from neartie.data.errors import DataError
from neartie.data.pair_counts import PairCounts, distinct, tally
from neartie.data.wording import counted, listed

type Codes = NDArray[np.int64]
type Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class BattleDesign:
    """Battles added up as far as a model can tell them apart.

    Attributes
    ----------
    models, judges, covariates : tuple of str
        Ids and names; no judges and no covariates where the model has none of them.
    first, second : (n_row,) int
        Positions of the two models. Where orders are kept apart, the first was shown first if
        `shown` is 1; else `first < second`.
    shown : (n_row,) int
        1 where the first was shown first.
    judge : (n_row,) int
        Position in `judges`; -1 where nobody is named, or judges are not kept apart.
    outcome : (n_row, 3) float, battles
        Weight of the battles that the first won, that it lost, and that nobody won.
    values : (n_model, n_covariate) float
        Covariates with mean 0 and standard deviation 1 (ddof 0) over the models.
    component : (n_model,) int
        Sets of models that battles connect; 0 is the largest.
    notices : tuple of str
        What the user should know before any fit.
    """

    models: tuple[str, ...]
    judges: tuple[str, ...]
    covariates: tuple[str, ...]
    first: Codes
    second: Codes
    shown: Codes
    judge: Codes
    outcome: Floats
    values: Floats
    component: Codes
    notices: tuple[str, ...]

    @property
    def n_model(self) -> int:
        """Number of models."""
        return len(self.models)


def design_battles(
    battles: Battles,
    *,
    first_shown: bool = False,
    judge_effects: bool = False,
    covariates: pd.DataFrame | None = None,
) -> BattleDesign:
    """Return battles added up by pair and, where asked, by order and judge.

    Parameters
    ----------
    battles : Battles
    first_shown : bool
        Keep apart who was shown first.
    judge_effects : bool
        Keep judges apart.
    covariates : DataFrame, optional
        Column `model` and one or more columns of numbers; rows of other models do not count.

    Returns
    -------
    BattleDesign
        The same to the last bit for every order of the battles.

    Raises
    ------
    DataError
        If there is no judge, nobody is known to have been shown first, or a covariate is missing,
        no number, or the same for all models.

    Examples
    --------
    >>> battles = Battles.build(["owl", "ant"], ["ant", "owl"], ["a", "tie"], judge=["j", "k"])
    >>> design_battles(battles).outcome
    array([[0., 1., 1.]])
    >>> design_battles(battles, judge_effects=True).outcome
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    if judge_effects and not battles.judges:
        raise DataError(
            "no battle names its judge: a column 'judge' is needed for judge effects; "
            "or fit without them"
        )
    if first_shown and not battles.shown.any():
        raise DataError(
            "who was shown first is not known for any battle, so that a first-shown effect "
            "cannot be estimated; fit without it"
        )
    rows, judge = _rows(battles, by_position=first_shown, by_judge=judge_effects)
    names, values = _covariates(covariates, battles.models)
    separation = separate(battles.counts(), battles.models)
    return BattleDesign(
        models=battles.models,
        judges=battles.judges if judge_effects else (),
        covariates=names,
        first=rows.first,
        second=rows.second,
        shown=rows.shown,
        judge=judge,
        outcome=np.stack([rows.wins, rows.losses, rows.ties], axis=1),
        values=values,
        component=separation.component,
        notices=tuple(_notices(battles, separation, first_shown, judge_effects)),
    )


def _rows(battles: Battles, *, by_position: bool, by_judge: bool) -> tuple[PairCounts, Codes]:
    if not by_judge:
        counts = battles.counts(by_position=by_position)
        return counts, np.full(len(counts.first), -1, dtype=np.int64)
    cell, keys = battles.cells(by_position=by_position)
    pair, result = np.divmod(cell, 3)
    n_judge = len(battles.judges) + 1
    found, row = distinct(pair * n_judge + battles.judge + 1, len(keys) * n_judge)
    at = 3 * row + result
    # Sums of fractions depend on their order in the last digit.
    order = np.lexsort((battles.weight, at))
    totals = np.bincount(at[order], weights=battles.weight[order], minlength=3 * len(found))
    return tally(keys[found // n_judge], totals, n_model=battles.n_model), found % n_judge - 1


def _covariates(
    table: pd.DataFrame | None, models: tuple[str, ...]
) -> tuple[tuple[str, ...], Floats]:
    if table is None:
        return (), np.empty((len(models), 0))
    if "model" not in table.columns:
        raise DataError(
            f"covariates need a column 'model' with ids; there are {listed(list(table.columns))}"
        )
    names = [str(name) for name in table.columns if name != "model"]
    if not names:
        raise DataError("the table of covariates has no column besides 'model'")
    ids = table["model"].astype(str)
    twice = ids[ids.duplicated() & ids.isin(models)]
    if len(twice):
        raise DataError(f"model {twice.iloc[0]!r} stands more than once among the covariates")
    absent = sorted(set(models) - set(ids))
    if absent:
        raise DataError(
            f"{counted(len(absent), 'model')} without covariates: {listed(absent)}; add rows, or "
            "leave out the battles of these models"
        )
    joined = table.set_index(ids).loc[list(models)]
    return tuple(names), np.stack([_standardised(joined[name], name) for name in names], axis=1)


def _standardised(column: pd.Series, name: str) -> Floats:
    try:
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise DataError(f"covariate {name!r} is not numeric; code it as 0 and 1") from None
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise DataError(f"covariate {name!r} of model {column.index[bad[0]]!r} is {values[bad[0]]}")
    spread = float(values.std())
    if spread <= 1e-12 * max(1.0, float(np.abs(values).max())):
        raise DataError(f"covariate {name!r} is the same for all models; leave it out")
    return np.asarray((values - values.mean()) / spread)


def _notices(
    battles: Battles, separation: Separation, first_shown: bool, judge_effects: bool
) -> Iterator[str]:
    yield from battles.notices
    yield from separation.sentences()
    if int(separation.component.max()) > 0:
        yield (
            "differences between models of unconnected sets come from the prior alone: no battle "
            "speaks for them"
        )
    if separation.is_separated:
        yield (
            "strengths of models or groups that win or lose every battle against others are "
            "finite only by virtue of the prior"
        )
    if first_shown:
        yield from position_notices(battles)
    if judge_effects:
        unnamed = int(np.sum(battles.judge < 0))
        if unnamed:
            yield (
                f"{counted(unnamed, 'battle')} without a judge: they are taken as decided by the "
                "mean of judges"
            )
        if len(battles.judges) < 10:
            yield (
                f"{counted(len(battles.judges), 'judge')}: how much judges differ rests largely "
                "on the prior of their scales"
            )
