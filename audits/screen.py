"""The item screen: coefficients, null, reasons, and a judgement where bad items are known (P2)."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from neartie.audits.multiplicity import control_false_discoveries
from neartie.audits.screen_caveats import collect_caveats
from neartie.audits.screen_curves import item_curves
from neartie.audits.screen_labels import bad_labels, judge, labelled_kinds, precision_table
from neartie.audits.screen_null import permutation_null
from neartie.audits.screen_partners import choose_partners
from neartie.audits.screen_reasons import DEGENERATE, LEVEL, RANKED, classify, reasons
from neartie.audits.screen_result import ItemScreen
from neartie.audits.screen_statistics import (
    STATISTICS,
    ItemStatistics,
    item_statistics,
    varying_items,
)
from neartie.data.errors import DataError
from neartie.data.responses import Responses

type Progress = Callable[[str, float], None]

# With `statistics="auto"` these are left out beyond what takes about half a minute.
MOST_TETRACHORIC_PAIRS: Final = 2e7
MOST_MODEL_CELLS: Final = 2e6
MOST_SOURCES: Final = 60
LIBRARIES: Final = ("neartie", "numpy", "scipy", "pandas", "numba")


@dataclass(frozen=True, kw_only=True, slots=True)
class ScreenSettings:
    """Settings of `screen_items`.

    Attributes
    ----------
    form : {"symmetric", "predictor", "outcome"}
        Which coefficient is averaged; see `item_statistics`.
    direction : {"fit", "tau"}
        What gives the sign of a graded pair; see `graded_pair_sums`.
    within : str or None
        A column of the item table: items are compared with items of the same value only, and
        the rest score is taken within it.
    n_partners : int or None
        Partners an item; None for all pairs.
    partner_choice : {"random", "difficulty", "correlation"}
        See `choose_partners`.
    statistics : {"auto", "all", "fast"}
        Whether to compute the tetrachoric correlation and the two-parameter model: where that is
        affordable, always, or never.
    n_null : int
        Shuffles for the permutation null; 0 leaves it out.
    n_curves : int
        Items whose characteristic is drawn.
    level : float in (0, 1)
        False discovery rate among the items that are taken to go with the others; the rest is
        flat. See `neartie.audits.screen_reasons.reasons`.
    """

    form: str = "symmetric"
    direction: str = "fit"
    within: str | None = None
    n_partners: int | None = None
    partner_choice: str = "random"
    statistics: str = "auto"
    n_null: int = 200
    n_curves: int = 12
    level: float = LEVEL

    def __post_init__(self) -> None:
        if self.statistics not in ("auto", "all", "fast"):
            raise ValueError(f"statistics must be auto, all or fast, got {self.statistics!r}")
        if not 0 < self.level < 1:
            raise ValueError(f"level must lie in (0, 1), got {self.level}")
        for name in ("n_null", "n_curves"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be at least 0, got {getattr(self, name)}")

    def to_dict(self) -> dict[str, Any]:
        """Return the settings by name."""
        return {name: getattr(self, name) for name in self.__slots__}


def screen_items(
    responses: Responses,
    settings: ScreenSettings | None = None,
    *,
    without: Sequence[str] = (),
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
) -> ItemScreen:
    """Return the items of a benchmark in the order in which to review them, with reasons.

    Parameters
    ----------
    responses : Responses
        Right/wrong or graded. The item table may have `source` and `is_bad`.
    settings : ScreenSettings, optional
        All pairs, symmetric form, 200 shuffles, when left out.
    without : sequence of str
        Ids of items to take out first: those that a review removed.
    rng : Generator, int or None
        One whole number is drawn as the seed (an int is the seed itself). Items and models are
        put in the order of ids first: the same seed gives the same answer for any row order.
    progress : callable, optional
        Called with the name of a step and the share of it that is done.

    Returns
    -------
    ItemScreen

    Raises
    ------
    DataError
        If an item to take out does not exist, no item or fewer than two models are left, a
        column is missing, or a label is neither 0 nor 1.
    ValueError
        If a setting is not allowed.

    References
    ----------
    P2, sections 3 and 7.3.

    Examples
    --------
    One of six items is keyed the wrong way round.

    >>> right = [[0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0],
    ...          [0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 1]]
    >>> data = Responses.build(right, items=[f"q{i}" for i in range(6)], models=list("abcdef"))
    >>> screen = screen_items(data, rng=1)
    >>> screen.table["item"].iloc[0]
    'q3'
    """
    settings = settings or ScreenSettings()
    say = progress or _silent
    seed = _seed(rng)
    ordered, _ = _remove(responses, without).canonical()
    if ordered.n_item == 0 and without:
        raise DataError(f"all {responses.n_item} items were taken out, so none is left to screen")
    if ordered.n_item == 0 or ordered.n_model < 2:
        raise DataError(
            f"a screen needs items and at least two models, got {ordered.n_item} items and "
            f"{ordered.n_model} models"
        )
    bad_labels(ordered.items)  # a label that is none is to be heard of before the work
    groups = _groups(ordered, settings.within)
    children = np.random.SeedSequence(seed).spawn(len(groups))
    parts = []
    for number, (members, child) in enumerate(zip(groups, children, strict=True)):
        say("pairs and null", number / len(groups))
        part = ordered.take(items=members)
        parts.append(_screen_part(part, settings, np.random.default_rng(child)))
    table = _finish(pd.concat([part.table for part in parts], ignore_index=True), ordered, settings)
    say("curves", 0)
    ranked = table[table["kind"] == RANKED]
    curves = item_curves(ordered, ranked["item"].head(settings.n_curves).tolist(), groups=groups)
    has_labels = "is_bad" in table
    return ItemScreen(
        table=table,
        auc=judge(table)
        if has_labels
        else pd.DataFrame(columns=["statistic", "auc", "low", "high"]),
        precision=precision_table(table) if has_labels else pd.DataFrame(),
        labelled=labelled_kinds(table) if has_labels else pd.DataFrame(),
        sources=pd.concat([part.sources for part in parts], ignore_index=True),
        curves=curves,
        removed=tuple(without),
        n_items=ordered.n_item,
        n_models=ordered.n_model,
        n_ranked=len(ranked),
        n_pairs=int(table["n_pairs"].sum()),
        n_undefined=sum(part.n_undefined for part in parts),
        n_disagree=int(table["n_disagree"].sum()),
        seed=seed,
        settings=settings.to_dict() | {"null_exact": all(part.null_exact for part in parts)},
        versions={"python": platform.python_version()}
        | {name: version(name) for name in LIBRARIES},
        warnings=collect_caveats(
            table,
            n_models=ordered.n_model,
            settings=settings,
            n_blank=_n_blank(ordered, settings.within),
            null_exact=all(part.null_exact for part in parts),
            notes=tuple(note for part in parts for note in part.notes),
            reader_notices=responses.notices,
        ),
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Part:
    """The screen of items that are compared with each other."""

    table: pd.DataFrame
    sources: pd.DataFrame
    n_undefined: int
    null_exact: bool
    notes: tuple[str, ...]


def _screen_part(part: Responses, settings: ScreenSettings, rng: np.random.Generator) -> _Part:
    partner_rng, null_rng = rng.spawn(2)
    partners = None
    if settings.n_partners is not None:
        partners = choose_partners(
            part, n_partners=settings.n_partners, choice=settings.partner_choice, rng=partner_rng
        )
    names, code = _source_codes(part)
    found = item_statistics(
        part,
        form=settings.form,
        direction=settings.direction,
        neighbours=partners,
        group=code,
        leave_out=_too_slow(part, partners, settings.statistics),
    )
    table = found.table.assign(item=part.item_ids, varies=varying_items(part))
    low = high = p_value = p_below = np.full(part.n_item, np.nan)
    null_exact = True
    if settings.n_null:
        null = permutation_null(
            part,
            table["signed_isotonic_r2"].to_numpy(),
            form=settings.form,
            direction=settings.direction,
            neighbours=partners,
            n_draws=settings.n_null,
            rng=null_rng,
        )
        low, high, null_exact = null.low, null.high, null.exact
        p_value, p_below = null.p_value, null.p_below
    table = table.assign(null_low=low, null_high=high, p_null=p_value, p_below=p_below)
    return _Part(
        table=table.assign(**_own_source(found, code)),
        sources=_source_table(found, names, code),
        n_undefined=int(found.pairs.n_undefined.sum()),
        null_exact=null_exact,
        notes=found.notes,
    )


def _too_slow(
    part: Responses, partners: NDArray[np.int64] | None, statistics: str
) -> frozenset[str]:
    n_pairs = part.n_item * (part.n_item if partners is None else partners.shape[1])
    slow = set()
    if statistics == "fast" or (statistics == "auto" and n_pairs > MOST_TETRACHORIC_PAIRS):
        slow.add("tetrachoric")
    if statistics == "fast" or (statistics == "auto" and part.values.size > MOST_MODEL_CELLS):
        slow |= {"d_2pl", "a_2pl"}
    return frozenset(slow)


def _source_codes(part: Responses) -> tuple[list[str], NDArray[np.int64]]:
    """Return the sources in order of appearance and the code of each item; one if too many."""
    everything = (["all"], np.zeros(part.n_item, dtype=np.int64))
    if "source" not in part.items:
        return everything
    codes, names = pd.factorize(part.items["source"].fillna("").astype(str))
    return (list(names), codes.astype(np.int64)) if len(names) <= MOST_SOURCES else everything


def _own_source(found: ItemStatistics, code: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Return mean coefficient with partners of the item's own source, and of the others."""
    sums, pairs, rows = found.pairs.group_sums, found.pairs.group_pairs, np.arange(len(code))
    own_sum, own_n = sums[rows, code], pairs[rows, code]
    other_sum, other_n = sums.sum(axis=1) - own_sum, pairs.sum(axis=1) - own_n
    if sums.shape[1] == 1:
        own_n = np.zeros_like(own_n)
    return {
        "own_source": np.divide(own_sum, own_n, out=np.full(len(code), np.nan), where=own_n > 0),
        "other_sources": np.divide(
            other_sum, other_n, out=np.full(len(code), np.nan), where=other_n > 0
        ),
        "n_own_source": own_n,
    }


def _source_table(found: ItemStatistics, names: list[str], code: NDArray[np.int64]) -> pd.DataFrame:
    rows = []
    for i, source in enumerate(names if len(names) > 1 else []):
        sums = found.pairs.group_sums[code == i].sum(axis=0)
        pairs = found.pairs.group_pairs[code == i].sum(axis=0)
        for j, partner in enumerate(names):
            mean = sums[j] / pairs[j] if pairs[j] else float("nan")
            rows.append((source, partner, int(pairs[j]), mean))
    return pd.DataFrame(rows, columns=["source", "partner_source", "n_pairs", "mean"])


def _finish(table: pd.DataFrame, ordered: Responses, settings: ScreenSettings) -> pd.DataFrame:
    """Add adjusted p-values, class, rank, reason and what is known of items, and put the worst first."""
    known = ordered.items.set_index("item").loc[table["item"]].reset_index()
    table["kind"] = classify(table, binary=ordered.is_binary)
    labels = bad_labels(known)
    optional = [("source", known["source"])] if "source" in known else []
    if labels is not None:
        optional.append(("is_bad", pd.Series(labels)))
    for name, column in optional:
        table[name] = column.to_numpy()
    coefficient = table["signed_isotonic_r2"].where(table["kind"] == RANKED).to_numpy()
    rank = np.full(len(table), np.nan)
    ranked = ~np.isnan(coefficient)
    # Items that were answered alike differ by the order of a sum at most, and share a rank.
    rank[ranked] = stats.rankdata(np.round(coefficient[ranked], 12), method="min")
    table["rank"] = pd.array(np.where(ranked, rank, 0), dtype="Int64")
    table.loc[~ranked, "rank"] = pd.NA
    tests = control_false_discoveries(
        table.set_index("item")["p_null"].where(ranked), level=settings.level
    )
    table["p_adjusted"] = tests["p_adjusted"].to_numpy()
    table[["reason", "strength"]] = reasons(
        table, binary=ordered.is_binary, n_null=settings.n_null, level=settings.level
    )
    place = table["kind"].map({kind: k for k, kind in enumerate((RANKED, *DEGENERATE))})
    order = np.lexsort([np.arange(len(table)), np.nan_to_num(rank), place])
    columns = ["item", *(["source"] if "source" in known else []), "n_models", "accuracy"]
    columns += ["n_pairs", *STATISTICS, "n_negative", "n_disagree", "null_low", "null_high"]
    columns += [
        "p_null",
        "p_adjusted",
        "p_below",
        "own_source",
        "other_sources",
        "kind",
        "strength",
    ]
    columns += [*(["is_bad"] if labels is not None else []), "rank", "reason"]
    return table.iloc[order][columns].reset_index(drop=True)


def _remove(responses: Responses, without: Sequence[str]) -> Responses:
    if not without:
        return responses
    unknown = sorted(set(without) - set(responses.item_ids))
    if unknown:
        raise DataError(
            f"{len(unknown)} of the items to take out are not in the responses, first "
            f"{unknown[0]!r}"
        )
    gone = set(without)
    return responses.take(items=np.array([item not in gone for item in responses.item_ids]))


def _groups(ordered: Responses, within: str | None) -> list[NDArray[np.intp]]:
    if within is None:
        return [np.arange(ordered.n_item)]
    if within not in ordered.items:
        raise DataError(
            f"the item table has no column {within!r} to screen within; it has "
            f"{', '.join(map(str, ordered.items.columns))}"
        )
    codes, _ = pd.factorize(_values(ordered, within))
    return [np.flatnonzero(codes == k) for k in range(int(codes.max()) + 1)]


def _values(ordered: Responses, within: str) -> pd.Series:
    return ordered.items[within].fillna("").astype(str)


def _n_blank(ordered: Responses, within: str | None) -> int:
    return 0 if within is None else int((_values(ordered, within) == "").sum())


def _silent(step: str, share: float) -> None:
    """Report nothing."""


def _seed(rng: np.random.Generator | int | None) -> int:
    if isinstance(rng, (int, np.integer)):
        if rng < 0:
            raise ValueError(f"a seed is a whole number of at least 0, got {rng}")
        return int(rng)
    return int(np.random.default_rng(rng).integers(2**53))
