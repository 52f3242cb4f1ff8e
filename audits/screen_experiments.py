"""P2's experiments 2 and 3: which statistics keep finding bad items when data are few."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from neartie.audits.auc import area_under_curve
from neartie.audits.screen_labels import bad_labels
from neartie.audits.screen_statistics import (
    INTERITEM,
    SLOW,
    STATISTICS,
    available_statistics,
    item_statistics,
    suspicion,
    varying_items,
)
from neartie.audits.screen_store import PartStore
from neartie.data.errors import DataError
from neartie.data.responses import Responses

type Progress = Callable[[str, float], None]

MOST_TRIES: Final = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Configuration:
    """One cell of an experiment's design.

    Attributes
    ----------
    n_items, n_models : int
        Sizes of a resample.
    with_replacement : bool
        Whether models are drawn with replacement. Items never are: a copy of an item would be
        its own perfect partner.
    """

    n_items: int
    n_models: int
    with_replacement: bool


def subsample_experiment(
    responses: Responses,
    *,
    n_items: int = 200,
    n_models: int = 50,
    n_resamples: int = 20,
    fewest_bad: int = 5,
    statistics: Sequence[str] = STATISTICS,
    rng: np.random.Generator | int | None = None,
    folder: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Return the AUC of every statistic in subsamples of a benchmark's size (P2, experiment 2).

    Parameters
    ----------
    responses : Responses
        Right/wrong or graded; the item table has `is_bad`.
    n_items, n_models : int
        Size of a subsample, drawn without replacement.
    n_resamples : int
    fewest_bad : int
        Bad items with a coefficient that a subsample must hold, or it is drawn again.
    statistics : sequence of str
    rng : Generator, int or None
        A resample's stream depends on the seed and its number alone.
    folder : path, optional
        Where finished resamples are kept; a run with the same data, settings and seed goes on
        from there.
    progress : callable, optional

    Returns
    -------
    DataFrame
        `n_items`, `n_models`, `resample`, `statistic`, `n_bad`, `auc` (missing where the
        statistic is not estimable). `attrs["left_out"]` names the statistics that graded answers
        do not have.

    Raises
    ------
    DataError
        If there are too few items, models, or bad items, no statistic asked for exists for graded
        answers, or the folder holds another run.
    """
    design = [Configuration(n_items=n_items, n_models=n_models, with_replacement=False)]
    return _run(responses, design, n_resamples, fewest_bad, statistics, rng, folder, progress)


def grid_experiment(
    responses: Responses,
    *,
    item_counts: Sequence[int] = (8, 16, 32, 64, 128, 256, 512),
    model_shares: Sequence[float] = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1),
    n_resamples: int = 100,
    fewest_bad: int = 1,
    statistics: Sequence[str] = INTERITEM,
    rng: np.random.Generator | int | None = None,
    folder: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Return the AUC of every statistic over a grid of items x models (P2, experiment 3).

    Parameters
    ----------
    responses : Responses
        As in `subsample_experiment`.
    item_counts : sequence of int
        Sizes beyond the number of items are passed over.
    model_shares : sequence of float
        Numbers of models, as shares of those in the data; models are drawn with replacement.
        Sizes that come out alike are run once.
    n_resamples, fewest_bad, statistics, rng, folder, progress
        As in `subsample_experiment`; each size has its own streams.

    Returns
    -------
    DataFrame
        As in `subsample_experiment`.
    """
    design = [
        Configuration(
            n_items=p, n_models=max(2, round(share * responses.n_model)), with_replacement=True
        )
        for p in item_counts
        if p <= responses.n_item
        for share in model_shares
    ]
    design = list(dict.fromkeys(design))
    return _run(responses, design, n_resamples, fewest_bad, statistics, rng, folder, progress)


def summarise(results: pd.DataFrame) -> pd.DataFrame:
    """Return how each statistic did over all resamples of an experiment.

    Parameters
    ----------
    results : DataFrame
        From `subsample_experiment` or `grid_experiment`.

    Returns
    -------
    DataFrame
        Best first: `statistic`, `mean_auc`, `low` and `high` (2.5 % and 97.5 % points over
        resamples), `mean_rank` (1 = best in a resample; ties share), `borda` (votes:
        over configurations, the number of statistics with a smaller mean AUC, ties one half),
        `missing` (share of resamples without a value).

    References
    ----------
    P2, section 5.3: each configuration votes with an ordering of the statistics by mean AUC.
    """
    cells = ["n_items", "n_models"]
    wide = results.pivot_table(
        index=[*cells, "resample"], columns="statistic", values="auc", dropna=False, sort=False
    )
    mean = wide.groupby(level=cells, sort=False).mean()
    grouped = results.groupby("statistic", sort=False)["auc"]
    table = pd.DataFrame(
        {
            "mean_auc": grouped.mean(),
            "low": grouped.quantile(0.025),
            "high": grouped.quantile(0.975),
            "mean_rank": wide.rank(axis=1, ascending=False).mean(),
            "borda": borda_votes(mean),
            "missing": grouped.apply(lambda values: values.isna().mean()),
        }
    )
    order = ["borda", "mean_auc"]
    return table.rename_axis("statistic").reset_index().sort_values(
        order, ascending=False, ignore_index=True, kind="stable"
    )  # fmt: skip


def borda_votes(mean: pd.DataFrame) -> pd.Series:
    """Return the Borda count of every column over the rows.

    Parameters
    ----------
    mean : DataFrame
        One row a configuration, one column a statistic; larger is better. A missing value gets
        no vote and gives none.

    Returns
    -------
    Series of float
        Over rows, the columns with a smaller value, ties one half.

    Examples
    --------
    >>> borda_votes(pd.DataFrame({"a": [0.9, 0.7], "b": [0.8, 0.7], "c": [0.5, 0.6]})).to_dict()
    {'a': 3.5, 'b': 2.5, 'c': 0.0}
    """
    votes = np.zeros(mean.shape[1])
    for row in mean.to_numpy(dtype=np.float64):
        known = ~np.isnan(row)
        votes[known] += stats.rankdata(row[known]) - 1
    return pd.Series(votes, index=mean.columns)


def _run(
    responses: Responses,
    design: list[Configuration],
    n_resamples: int,
    fewest_bad: int,
    statistics: Sequence[str],
    rng: np.random.Generator | int | None,
    folder: str | PathLike[str] | None,
    progress: Progress | None,
) -> pd.DataFrame:
    ordered, bad = _checked(responses, design, n_resamples, fewest_bad, statistics)
    statistics, left_out = available_statistics(ordered, statistics)
    seed = int(rng) if isinstance(rng, (int, np.integer)) else int(
        np.random.default_rng(rng).integers(2**53)
    )  # fmt: skip
    store = PartStore(
        folder, _signature(ordered, design, n_resamples, fewest_bad, statistics, seed)
    )
    tasks = [(c, r) for c in range(len(design)) for r in range(n_resamples)]
    children = np.random.SeedSequence(seed).spawn(len(design))
    streams = [child.spawn(n_resamples) for child in children]
    for number, (c, r) in enumerate(tasks):
        if progress is not None:
            progress("resamples", number / len(tasks))
        if (c, r) not in store.done:
            drawn = _resample(
                ordered,
                bad,
                design[c],
                fewest_bad,
                statistics,
                np.random.default_rng(streams[c][r]),
            )
            store.add(c, r, drawn)
    store.save()
    rows = [
        {"n_items": design[c].n_items, "n_models": design[c].n_models, "resample": r,
         "statistic": name, "n_bad": store.done[c, r]["n_bad"], "auc": value}
        for c, r in tasks
        for name, value in store.done[c, r]["auc"].items()
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    table["auc"] = table["auc"].astype(float)
    table.attrs["left_out"] = left_out
    return table


def _checked(
    responses: Responses,
    design: list[Configuration],
    n_resamples: int,
    fewest_bad: int,
    statistics: Sequence[str],
) -> tuple[Responses, NDArray[np.float64]]:
    unknown = [name for name in statistics if name not in STATISTICS]
    if unknown or not statistics:
        raise ValueError(f"statistics must be out of {', '.join(STATISTICS)}, got {statistics!r}")
    if n_resamples < 1 or fewest_bad < 1:
        raise ValueError(
            f"n_resamples and fewest_bad must be at least 1, got {n_resamples} and {fewest_bad}"
        )
    if not available_statistics(responses, statistics)[0]:
        raise DataError(
            f"{', '.join(statistics)} need right/wrong answers, and these are graded; name other "
            "statistics, or a score from which on an answer is right (--threshold)"
        )
    ordered, _ = responses.canonical()
    bad = bad_labels(ordered.items)
    if bad is None:
        raise DataError(
            "the item table has no column 'is_bad' with labels; the experiments need it"
        )
    # An item without a label can be a partner, but for a clean design it is left out.
    labelled = ~np.isnan(bad)
    ordered, bad = ordered.take(items=labelled), bad[labelled]
    if not design:
        raise DataError(f"no size of the grid fits {ordered.n_item} labelled items")
    largest = max(cell.n_items for cell in design)
    most_models = max((c.n_models for c in design if not c.with_replacement), default=0)
    if largest > ordered.n_item or most_models > ordered.n_model:
        raise DataError(
            f"a subsample of {largest} items x {most_models or 'all'} models does not fit "
            f"{ordered.n_item} labelled items x {ordered.n_model} models"
        )
    if bad.sum() < fewest_bad:
        raise DataError(f"there are {int(bad.sum())} bad items, and {fewest_bad} are asked for")
    return ordered, bad


def _resample(
    data: Responses,
    bad: NDArray[np.float64],
    cell: Configuration,
    fewest_bad: int,
    statistics: Sequence[str],
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Return the AUC of every statistic in one resample that holds enough bad items."""
    for _ in range(MOST_TRIES):
        items = np.sort(rng.choice(data.n_item, cell.n_items, replace=False))
        models = np.sort(rng.choice(data.n_model, cell.n_models, replace=cell.with_replacement))
        part = Responses.build(
            data.values[items][:, models],
            items=[data.item_ids[i] for i in items],
            models=[str(m) for m in range(len(models))],
        )
        varies = varying_items(part)
        n_bad = int(bad[items][varies].sum())
        n_good = int(varies.sum()) - n_bad
        if n_bad >= fewest_bad and n_good >= 1:
            break
    else:
        raise DataError(
            f"in {MOST_TRIES} draws of {cell.n_items} items x {cell.n_models} models none had "
            f"{fewest_bad} bad items that vary; ask for fewer, or for larger samples"
        )
    leave_out = frozenset(SLOW) - frozenset(statistics)
    table = suspicion(item_statistics(part, leave_out=leave_out).table)
    found = {
        name: area_under_curve(table[name].to_numpy(dtype=np.float64), bad[items]).auc
        for name in statistics
    }
    return {"n_bad": n_bad, "auc": found}


def _signature(
    data: Responses,
    design: list[Configuration],
    n_resamples: int,
    fewest_bad: int,
    statistics: Sequence[str],
    seed: int,
) -> dict[str, Any]:
    """Return what a stored run must share with this one to be continued by it."""
    digest = hashlib.sha256(np.ascontiguousarray(data.values).tobytes())
    digest.update("\n".join([*data.item_ids, *data.model_ids]).encode())
    digest.update(np.ascontiguousarray(bad_labels(data.items)).tobytes())
    return {
        "data": digest.hexdigest(),
        "design": [asdict(cell) for cell in design],
        "n_resamples": n_resamples,
        "fewest_bad": fewest_bad,
        "statistics": list(statistics),
        "seed": seed,
    }
