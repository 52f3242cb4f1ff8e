"""Replicates drawn one after the other, of which only totals and statistics are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from neartie.audits import answer_statistics, battle_statistics
from neartie.audits.near_tie_pairs import ComparedPairs, compared_pairs
from neartie.data.errors import DataError
from neartie.data.wording import listed
from neartie.inference.engine_draws import Progress
from neartie.inference.replicated_answers import observed_answers, replicate_answers
from neartie.inference.replicated_battles import observed_battles, replicate_battles

type Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Totals:
    """Totals of items or models, observed and replicated.

    Attributes
    ----------
    ids : tuple of str
    n : (n,) int
        Answers or battles.
    observed : (n,) float
    replicates : (n_draw, n) float
    """

    ids: tuple[str, ...]
    n: NDArray[np.int64]
    observed: Floats
    replicates: Floats


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Run:
    """What is kept of all replicates.

    Attributes
    ----------
    items, models : Totals
    names, meanings : tuple of str
        Of the statistics.
    observed : (n_statistic,) float
    replicates : (n_draw, n_statistic) float
    across : str
        Which pairs were compared.
    notices : tuple of str
    """

    items: Totals
    models: Totals
    names: tuple[str, ...]
    meanings: tuple[str, ...]
    observed: Floats
    replicates: Floats
    across: str
    notices: tuple[str, ...]


def run_answers(
    tree: xr.DataTree,
    *,
    group: str,
    table: pd.DataFrame | None,
    epsilon: Fraction,
    positions: NDArray[np.intp],
    progress: Progress | None,
    rng: np.random.Generator,
) -> Run:
    """Return what replicates of right/wrong answers add up to.

    Parameters
    ----------
    tree : DataTree
    group : str
        Where the draws are.
    table : DataFrame or None
        Families and owners of the models.
    epsilon : Fraction
        Band of the near ties.
    positions : (n_draw,) int
        Of the draws to be used.
    progress : callable or None
    rng : Generator

    Returns
    -------
    Run
    """
    answers = observed_answers(tree, group=group)
    labels = _labels(answers.models, table, answers.families)
    pairs = compared_pairs(len(answers.models), **labels)
    families = labels.get("families", ())
    observed = answers.values >= 0
    statistics = answer_statistics.AnswerStatistics(
        observed=observed,
        pairs=pairs,
        epsilon=epsilon,
        family=np.unique(np.asarray(families, dtype=str), return_inverse=True)[1]
        if len(set(families)) > 1
        else np.array([], dtype=np.intp),
    )
    kept = _Kept(len(positions), statistics.names, answers.items, answers.models)
    drawn = replicate_answers(tree, positions=positions, observed=observed, rng=rng, group=group)
    for place, values in enumerate(drawn):
        kept.put(place, *statistics.totals(values), statistics.scalars(values))
        _say(progress, place, len(positions))
    items, models = statistics.totals(answers.values)
    return Run(
        items=Totals(
            ids=answers.items,
            n=observed.sum(axis=1),
            observed=items.astype(np.float64),
            replicates=kept.items,
        ),
        models=Totals(
            ids=answers.models,
            n=observed.sum(axis=0),
            observed=models.astype(np.float64),
            replicates=kept.models,
        ),
        names=statistics.names,
        meanings=tuple(answer_statistics.MEANINGS[name] for name in statistics.names),
        observed=statistics.scalars(answers.values),
        replicates=kept.scalars,
        across=pairs.across,
        notices=(),
    )


def run_battles(
    tree: xr.DataTree,
    *,
    group: str,
    table: pd.DataFrame | None,
    epsilon: Fraction,
    positions: NDArray[np.intp],
    progress: Progress | None,
    rng: np.random.Generator,
) -> Run:
    """Return what replicates of battles add up to.

    Parameters
    ----------
    tree, group, table, epsilon, positions, progress, rng
        As in `run_answers`.

    Returns
    -------
    Run
        Without items.
    """
    battles = observed_battles(tree, group=group)
    pairs: ComparedPairs = compared_pairs(len(battles.models), **_labels(battles.models, table, ()))
    statistics = battle_statistics.BattleStatistics(battles=battles, pairs=pairs, epsilon=epsilon)
    kept = _Kept(len(positions), statistics.names, (), battles.models)
    drawn = replicate_battles(tree, battles, positions=positions, rng=rng, group=group)
    for place, outcome in enumerate(drawn):
        wins = statistics.half_wins(outcome) / 2
        kept.put(place, np.array([]), wins, statistics.scalars(outcome))
        _say(progress, place, len(positions))
    n_tied = int(battles.outcome[:, 2].sum())
    notice = (
        f"ties count as half wins, and replicates hold none: the {n_tied:,} ties of the data make "
        "its win rates steadier than those of the replicates; a model with ties as outcomes "
        "(davidson, rao-kupper) is the fair comparison"
    )
    return Run(
        items=Totals(
            ids=(), n=np.array([], dtype=np.int64), observed=np.array([]), replicates=kept.items
        ),
        models=Totals(
            ids=battles.models,
            n=statistics.n,
            observed=statistics.half_wins(battles.outcome) / 2,
            replicates=kept.models,
        ),
        names=statistics.names,
        meanings=tuple(battle_statistics.MEANINGS[name] for name in statistics.names),
        observed=statistics.scalars(battles.outcome),
        replicates=kept.scalars,
        across=pairs.across,
        notices=(notice,) if battles.ties == "half" and n_tied else (),
    )


class _Kept:
    """Totals and statistics of all replicates, filled one by one."""

    def __init__(
        self, n_draw: int, names: Sequence[str], items: Sequence[str], models: Sequence[str]
    ) -> None:
        self.items = np.empty((n_draw, len(items)))
        self.models = np.empty((n_draw, len(models)))
        self.scalars = np.empty((n_draw, len(names)))

    def put(self, place: int, items: Any, models: Any, scalars: Floats) -> None:
        self.items[place], self.models[place], self.scalars[place] = items, models, scalars


def _say(progress: Progress | None, place: int, n: int) -> None:
    if progress is not None:
        progress("replicates", (place + 1) / n)


def _labels(
    models: tuple[str, ...], table: pd.DataFrame | None, families: tuple[str, ...]
) -> dict[str, list[str]]:
    """Return families and owners in the order of the models, where they are known."""
    if table is None:
        return {"families": list(families)} if families else {}
    columns = {"family": "families", "owner": "owners"}
    if "model" not in table or not set(columns) & set(table.columns):
        raise DataError("the model table needs the columns 'model' and 'family' or 'owner'")
    rows = table.drop_duplicates("model").set_index("model")
    missing = [name for name in models if name not in rows.index]
    if missing:
        raise DataError(f"the model table has no row for {listed(missing)}")
    rows = rows.loc[list(models)]
    found = {}
    for column, name in columns.items():
        if column not in rows:
            continue
        blank = rows[column].isna() | (rows[column].astype(str).str.strip() == "")
        if blank.any():
            raise DataError(
                f"the model table has no {column} for {listed(rows.index[blank].tolist())}"
            )
        found[name] = rows[column].astype(str).tolist()
    return found
