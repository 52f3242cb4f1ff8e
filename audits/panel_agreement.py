"""Agreement of every two judges of a panel, with Cohen's kappa, or why there is none."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

type Counts = NDArray[np.int64]

COLUMNS: Final = ("judge_a", "judge_b", "n", "observed", "expected", "kappa", "reason")
#: Pairs of judges with fewer shared cases say little by themselves.
ENOUGH: Final = 20
_TIE: Final = "tie"


def panel_agreement(labels: pd.DataFrame) -> pd.DataFrame:
    """Return how far every two judges agree on the labels of the same items.

    Parameters
    ----------
    labels : DataFrame
        One row an item, one column a judge, cells of text; missing or blank where not judged.

    Returns
    -------
    DataFrame
        `judge_a`, `judge_b` in plain order; `n` items that both judged; `observed` share of equal
        labels; `expected` share by chance, from the two margins; `kappa`, missing where it is
        undefined; `reason`, why it is, else blank.

    Notes
    -----
    Kappa is undefined only where expected agreement is 1: both judges gave one and the same label
    throughout. It is 0 where one of them alone did.

    References
    ----------
    Cohen (1960), Educational and Psychological Measurement 20, 37-46.

    Examples
    --------
    >>> labels = pd.DataFrame({"x": ["pass", "pass"], "y": ["pass", "pass"], "z": ["pass", "fail"]})
    >>> found = panel_agreement(labels)
    >>> found["kappa"].tolist(), found["reason"].iloc[0]
    ([nan, 0.0, 0.0], "both gave the label 'pass' throughout")
    """
    judges, known, code = _coded(labels)
    given, seen, n, equal = _count(code, len(known))
    margins = [mine.T @ seen for mine in given]
    chance = sum((mine * mine.T for mine in margins), np.zeros_like(n))
    # what each pair gave most often: where kappa is undefined, the only label that it gave
    words = [
        max(zip(margins, known, strict=True), key=lambda part: part[0][pair])[1] if known else ""
        for pair in _pairs(len(judges))
    ]
    return _table(judges, n, n, equal, chance, words)


def verdict_agreement(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return how far every two judges agree on the winners of the same duels.

    Parameters
    ----------
    verdicts : DataFrame
        One row a duel, one column a judge: 1 where the one model won, -1 where the other did, 0
        for a tie; missing where not judged.

    Returns
    -------
    DataFrame
        As `panel_agreement`.

    Notes
    -----
    Which of two models is called the first is arbitrary, and kappa must not depend on it, nor on
    how models are spelled. So expected agreement takes every duel in both directions: a judge's
    wins are shared out evenly between the two. Observed agreement is the same either way. Kappa is
    undefined where both judges called every duel a tie.

    Examples
    --------
    >>> verdicts = pd.DataFrame({"x": [1, -1, 1, 0], "y": [1, -1, -1, 0]})
    >>> verdict_agreement(verdicts)[["n", "observed", "expected", "kappa"]].round(3)
       n  observed  expected  kappa
    0  4      0.75     0.344  0.619
    """
    judges, known, code = _coded(verdicts)
    given, seen, n, equal = _count(code, len(known))
    place = {float(value): k for k, value in enumerate(known)}
    zero = np.zeros_like(n)
    by_sign = {
        sign: given[place[sign]].T @ seen if sign in place else zero for sign in (-1.0, 0.0, 1.0)
    }
    margins = [by_sign[-sign] + by_sign[sign] for sign in (-1.0, 0.0, 1.0)]
    chance = sum((mine * mine.T for mine in margins), zero)
    words = [_TIE] * len(_pairs(len(judges)))
    return _table(judges, n, 2 * n, 2 * equal, chance, words)


def summarise_agreement(agreement: pd.DataFrame) -> dict[str, float | int]:
    """Return agreement and kappa over all pairs of judges, those with more cases counting more.

    Parameters
    ----------
    agreement : DataFrame
        From `panel_agreement` or `verdict_agreement`.

    Returns
    -------
    dict
        `n_pairs` that share cases; `n_undefined` of them without kappa; `observed` and `kappa`,
        means weighted by shared cases; `kappa_low`, `kappa_high` over the pairs that share at
        least `ENOUGH` cases, or over all if none does.

    Examples
    --------
    >>> table = pd.DataFrame({"n": [30, 10, 0], "observed": [0.8, 0.4, np.nan],
    ...                       "kappa": [0.6, -0.2, np.nan]})
    >>> found = summarise_agreement(table)
    >>> found["n_pairs"], round(found["observed"], 3), round(found["kappa"], 3), found["kappa_low"]
    (2, 0.7, 0.4, 0.6)
    """
    known = agreement[agreement["n"] > 0]
    defined = known[known["kappa"].notna()]
    enough = defined[defined["n"] >= ENOUGH]
    shown = defined if enough.empty else enough
    return {
        "n_pairs": len(known),
        "n_undefined": len(known) - len(defined),
        "observed": _mean(known["observed"], known["n"]),
        "kappa": _mean(defined["kappa"], defined["n"]),
        "kappa_low": float(shown["kappa"].min()),
        "kappa_high": float(shown["kappa"].max()),
    }


def _mean(values: pd.Series, weight: pd.Series) -> float:
    return float(np.average(values, weights=weight)) if len(values) else float("nan")


def _coded(labels: pd.DataFrame) -> tuple[list[str], list[Any], Counts]:
    """Return judges in plain order, distinct labels, and the code of each cell, -1 for none."""
    judges = sorted(map(str, labels.columns))
    table = labels.set_axis(labels.columns.map(str), axis=1)[judges]
    cells = np.array(table, dtype=object, copy=True).ravel()
    cells[[isinstance(cell, str) and not cell.strip() for cell in cells]] = None
    code, known = pd.factorize(cells)
    return judges, list(known), code.reshape(len(table), len(judges)).astype(np.int64)


def _count(code: Counts, n_label: int) -> tuple[list[Counts], Counts, Counts, Counts]:
    """Return indicators of labels and of any label; shared items and equal labels by pair."""
    seen = (code >= 0).astype(np.int64)
    given = [(code == k).astype(np.int64) for k in range(n_label)]
    n = seen.T @ seen
    return given, seen, n, sum((mine.T @ mine for mine in given), np.zeros_like(n))


def _pairs(n_judge: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(n_judge) for b in range(a + 1, n_judge)]


def _table(
    judges: list[str], n: Counts, base: Counts, equal: Counts, chance: Counts, words: list[Any]
) -> pd.DataFrame:
    """Return kappas from whole numbers, which decide whether expected agreement is 1."""
    rows = []
    for (a, b), word in zip(_pairs(len(judges)), words, strict=True):
        whole, same, by_chance = int(base[a, b]), int(equal[a, b]), int(chance[a, b])
        observed = expected = kappa = float("nan")
        reason = "" if whole else "no shared item"
        if whole:
            observed, expected = same / whole, by_chance / whole**2
        if whole and by_chance == whole**2:
            reason = f"both gave the label {str(word)!r} throughout"
        elif whole:
            kappa = (whole * same - by_chance) / (whole**2 - by_chance)
        values = (judges[a], judges[b], int(n[a, b]), observed, expected, kappa, reason)
        rows.append(values)
    return pd.DataFrame(rows, columns=list(COLUMNS))
