"""Matched pairs of stable high-DIF items and controls, behind blind ids (P0, 4.3 and D.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from neartie.audits.anchors import STRATA, exact_fraction
from neartie.audits.replication import replicate_signatures
from neartie.audits.result import NearTieAudit
from neartie.audits.signatures import TOP_SHARE
from neartie.data.errors import DataError
from neartie.data.responses import Responses
from neartie.data.wording import counted, listed

PAIRS = 50
# No vowels: no id reads as a word, a number, or something a spreadsheet would change.
LETTERS = "bcdfghjkmnpqrstvwxz"
ID_LENGTH = 8


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ContentSample:
    """Matched pairs of items, with what annotators see apart from what they must not see.

    Attributes
    ----------
    sheet : DataFrame
        To hand out: `blind_id`, `text`, in random order, without any label.
    key : DataFrame
        To keep apart: `blind_id`, `benchmark`, `pair` (from 0, over all benchmarks), `group`
        (`high` or `control`), `item`, `source`, `cell`, `dif_range_0`, `dif_range_1` (logit),
        `advantaged` (the family with the largest effect in both halves; blank where they differ).
    counts : DataFrame
        `benchmark`, `n_stable` (high in both halves), `n_control` (high in neither),
        `n_matchable` (stable items for which their cells have controls), `n_pairs`.
    settings : dict
    warnings : tuple of str
    """

    sheet: pd.DataFrame
    key: pd.DataFrame
    counts: pd.DataFrame
    settings: dict[str, Any]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return counts, settings and warnings; nothing that breaks the blinding of an item."""
        return {
            "counts": self.counts.to_dict("records"),
            "settings": self.settings,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        return (
            f"content sample: {counted(int(self.counts['n_pairs'].sum()), 'matched pair')} from "
            f"{counted(len(self.counts), 'benchmark')}"
        )


def sample_content(
    audits: Mapping[str, tuple[NearTieAudit, Responses]],
    *,
    texts: Mapping[str, Mapping[str, str]] | None = None,
    pairs: int = PAIRS,
    share: float | str | Fraction = TOP_SHARE,
    strata: int = STRATA,
    rng: np.random.Generator | int | None = None,
) -> ContentSample:
    """Return a matched sample of stable high-DIF items and controls of the same cell.

    Parameters
    ----------
    audits : mapping of str to (NearTieAudit, Responses)
        By benchmark.
    texts : mapping of str to mapping of str to str, optional
        Question text of every item, by benchmark and item id. Left out, the item tables have a
        column `text`.
    pairs : int
        Pairs a benchmark; all that can be matched where there are fewer.
    share, strata
        See `replicate_signatures`.
    rng : Generator, int or None
        Streams for every benchmark, in plain order of names, and for the blind ids. The sample
        does not depend on the order of rows.

    Returns
    -------
    ContentSample

    Raises
    ------
    DataError
        If no pair can be matched in any benchmark, or a sampled item has no text.

    Notes
    -----
    Stable items are among the top of their common cell in both halves, controls in neither. The
    stable items are gone through in random order; each takes a random control of its cell that
    no other has, until there are enough pairs. Order and spelling of the blind ids are random.

    References
    ----------
    P0, D.4.

    Examples
    --------
    >>> from neartie import AuditSettings, audit_near_ties, load_example
    >>> data = load_example()
    >>> settings = AuditSettings(dimension=2, controls=0, bootstraps=0, alpha=0.5)
    >>> audit = audit_near_ties(data, settings, rng=1)
    >>> texts = {"example": {item: f"Question {item}" for item in data.item_ids}}
    >>> sample = sample_content({"example": (audit, data)}, texts=texts, pairs=10, rng=1)
    >>> print(sample)
    content sample: 10 matched pairs from 1 benchmark
    >>> sample.key["group"].value_counts().to_dict()
    {'high': 10, 'control': 10}
    """
    if pairs < 1:
        raise ValueError(f"pairs must be at least 1, got {pairs}")
    names = sorted(audits)
    streams = np.random.default_rng(rng).spawn(len(names) + 1)
    parts, counts = [], []
    for name, stream in zip(names, streams, strict=False):
        audit, responses = audits[name]
        found = replicate_signatures(audit, responses, permutations=0, share=share, strata=strata)
        matched, count = match_pairs(found.items, pairs=pairs, rng=stream)
        text = _texts(name, responses, texts, matched["item"].tolist())
        parts.append(matched.assign(benchmark=name, text=text))
        counts.append({"benchmark": name} | count)
    return _blinded(parts, pd.DataFrame(counts), pairs, float(exact_fraction(share)), streams[-1])


def match_pairs(
    items: pd.DataFrame, *, pairs: int = PAIRS, rng: np.random.Generator | int | None = None
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return pairs of a stable high-DIF item and a control of the same cell.

    Parameters
    ----------
    items : DataFrame
        `Replication.items`.
    pairs : int
    rng : Generator, int or None

    Returns
    -------
    DataFrame
        `pair`, `group`, `item`, `source`, `cell`, `dif_range_0`, `dif_range_1`, `advantaged`.
    dict
        `n_stable`, `n_control`, `n_matchable`, `n_pairs`.
    """
    rng = np.random.default_rng(rng)
    level = (items["top_0"] + items["top_1"]).to_numpy()
    cell = items["cell"].tolist()
    stable = np.flatnonzero(level == 2)
    controls = np.flatnonzero(level == 0)
    free: dict[str, list[int]] = {}
    for i in rng.permutation(controls).tolist():
        free.setdefault(cell[i], []).append(i)
    matchable = _matchable(stable, free, cell)
    chosen: list[int] = []
    for i in rng.permutation(stable).tolist():
        if len(chosen) == 2 * pairs:
            break
        if free.get(cell[i]):
            chosen += [i, free[cell[i]].pop()]
    n = len(chosen) // 2
    table = items.iloc[chosen].reset_index(drop=True)
    agreed = table["advantaged_0"] == table["advantaged_1"]
    columns = ["item", "source", "cell", "dif_range_0", "dif_range_1"]
    frame = pd.DataFrame({"pair": np.repeat(np.arange(n), 2), "group": ["high", "control"] * n})
    matched = pd.concat([frame, table[columns]], axis=1)
    matched["advantaged"] = table["advantaged_0"].where(agreed, "")
    return matched, {
        "n_stable": len(stable),
        "n_control": len(controls),
        "n_matchable": matchable,
        "n_pairs": n,
    }


def _matchable(stable: np.ndarray, free: dict[str, list[int]], cell: Sequence[str]) -> int:
    wanted: dict[str, int] = {}
    for i in stable.tolist():
        wanted[cell[i]] = wanted.get(cell[i], 0) + 1
    return sum(min(n, len(free.get(name, []))) for name, n in wanted.items())


def _texts(
    benchmark: str,
    responses: Responses,
    texts: Mapping[str, Mapping[str, str]] | None,
    items: list[str],
) -> list[str]:
    if texts is not None:
        known = texts.get(benchmark, {})
    elif "text" in responses.items:
        known = dict(zip(responses.item_ids, responses.items["text"].tolist(), strict=True))
    else:
        raise DataError(
            f"annotators need the questions, but the item table of {benchmark!r} has no column "
            "'text'; add one, or give texts by item id"
        )
    found = [known.get(item) for item in items]
    blank = [
        item
        for item, text in zip(items, found, strict=True)
        if not (isinstance(text, str) and text.strip())
    ]
    if blank:
        raise DataError(
            f"{benchmark!r}: {counted(len(blank), 'sampled item')} without text: {listed(blank)}"
        )
    return [str(text) for text in found]


def _blinded(
    parts: list[pd.DataFrame],
    counts: pd.DataFrame,
    pairs: int,
    share: float,
    rng: np.random.Generator,
) -> ContentSample:
    first = 0
    for part in parts:
        part["pair"] += first
        first += len(part) // 2
    if not first:
        raise DataError(
            "no item is among the highest of its cell in both halves with a control beside it: "
            "nothing can be sampled. Fewer and larger sources, or more items, may help"
        )
    table = pd.concat(parts, ignore_index=True)
    table["blind_id"] = _blind_ids(len(table), rng)
    # random ids in plain order are a random order
    table = table.sort_values("blind_id", ignore_index=True)
    key = ["blind_id", "benchmark", "pair", "group", "item", "source", "cell"]
    key += ["dif_range_0", "dif_range_1", "advantaged"]
    short = counts[counts["n_pairs"] < pairs]
    return ContentSample(
        sheet=table[["blind_id", "text"]].copy(),
        key=table[key].copy(),
        counts=counts,
        settings={"pairs": pairs, "share": share},
        warnings=tuple(
            f"{row['benchmark']}: {counted(row['n_pairs'], 'pair')}, not {pairs}: "
            f"{counted(row['n_stable'], 'item')} {'is' if row['n_stable'] == 1 else 'are'} high in "
            f"both halves, and {row['n_matchable']} can be matched within cells."
            for row in short.to_dict("records")
        ),
    )


def _blind_ids(n: int, rng: np.random.Generator) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < n:
        letters = rng.choice(list(LETTERS), size=ID_LENGTH)
        found["".join(letters.tolist())] = None
    return list(found)
