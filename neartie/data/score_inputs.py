"""What a scorecard is made from: answers, samples, verdicts, and other tables, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

import numpy as np
import pandas as pd

from neartie.data.errors import DataError
from neartie.data.wording import counted, listed

#: The domain of tables that do not name any.
ONE_DOMAIN: Final = "all"
#: The domain of duels that do not name any.
DUELS: Final = "duels"

_IDS: Final = {
    "answers": ("domain", "model", "item"),
    "samples": ("domain", "model", "item"),
    "verdicts": ("domain", "model_a", "model_b"),
    "abilities": ("domain", "model"),
    "tasks": ("domain", "model"),
    "economics": ("model",),
    "labels": (),
}
# Allowed values: limits, or the only ones there may be. NaN is missing.
_NUMBERS: Final[dict[str, dict[str, tuple[float, float] | set[float]]]] = {
    "answers": {"score": {0, 1}, "confidence": (0, 1), "anchor": {0, 1}},
    "samples": {},
    "verdicts": {"outcome": {-1, 0, 1}, "shown": {-1, 0, 1}, "unparsed": {0, 1}},
    "abilities": {
        "ability": (-np.inf, np.inf),
        "se": (0, np.inf),
        "se_printed": (0, np.inf),
    },
    "tasks": {"value": (-np.inf, np.inf)},
    "economics": {"cost": (0, np.inf), "latency": (0, np.inf)},
    "labels": {},
}
_TEXTS: Final = {"samples": ("answer",), "verdicts": ("judge", "prompt")}
# One row for each, so that a second one is a repeat.
_KEYS: Final = {
    "answers": ("domain", "model", "item"),
    "abilities": ("domain", "model"),
    "tasks": ("domain", "model"),
    "economics": ("model",),
}
_OPTIONAL: Final = {
    "domain": ONE_DOMAIN,
    "confidence": np.nan,
    "anchor": np.nan,
    "cost": np.nan,
    "latency": np.nan,
    "judge": "",
    "prompt": "",
    "unparsed": 0,
    "shown": 1,
}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ScoreInputs:
    """Checked tables. Build with `ScoreInputs.build` or `read_score_inputs`; any may be empty.

    Attributes
    ----------
    answers : DataFrame
        One row an answer: `domain`, `model`, `item`; `score` (1 right, 0 wrong, missing where it
        could not be scored); `confidence` in [0, 1], missing where none was given; `anchor` (1
        for an item of the frozen stream, 0 for a fresh one, missing where not known).
    samples : DataFrame
        One row a repeated answer: `domain`, `model`, `item`, `answer` (blank where none was
        extracted).
    verdicts : DataFrame
        One row a verdict on a duel: `domain`, `model_a`, `model_b`; `outcome` (1 where model_a
        won, -1 where model_b did, 0 for a tie); `shown` (1 where model_a was shown first, -1 where
        model_b was, 0 where not known); `judge`, `prompt` (blank where there is none);
        `unparsed` (1 where the verdict could not be read, which makes it a tie).
    shown_is_given : bool
        Whether verdicts say who was shown first.
    providers : dict of str to str
        Provider of each judge, blank where not known; empty where no judges were listed.
    labels : DataFrame
        One row an item, one column a judge: labels as text.
    abilities : DataFrame
        Ready estimates: `domain`, `model`, `ability` (logit), `se`, `se_printed`.
    tasks : DataFrame
        Ready scores: `domain`, `model`, `value`.
    economics : DataFrame
        `model`, `cost` (of a thousand items), `latency` (median, seconds).
    notices : tuple of str
        What a reader did that its user should know.
    """

    answers: pd.DataFrame
    samples: pd.DataFrame
    verdicts: pd.DataFrame
    shown_is_given: bool
    providers: dict[str, str]
    labels: pd.DataFrame
    abilities: pd.DataFrame
    tasks: pd.DataFrame
    economics: pd.DataFrame
    notices: tuple[str, ...] = field(default=())

    @classmethod
    def build(
        cls,
        *,
        answers: pd.DataFrame | None = None,
        samples: pd.DataFrame | None = None,
        verdicts: pd.DataFrame | None = None,
        shown_is_given: bool = True,
        providers: Mapping[str, str] | None = None,
        labels: pd.DataFrame | None = None,
        abilities: pd.DataFrame | None = None,
        tasks: pd.DataFrame | None = None,
        economics: pd.DataFrame | None = None,
        notices: tuple[str, ...] = (),
    ) -> Self:
        """Return checked tables; columns as in the class, of which a domain may be left out.

        Parameters
        ----------
        answers, samples, verdicts, labels, abilities, tasks, economics : DataFrame, optional
        shown_is_given : bool
        providers : mapping of str to str, optional
        notices : tuple of str
            Carried along.

        Returns
        -------
        ScoreInputs
            Exact repeats are dropped, with a notice.

        Raises
        ------
        DataError
            If there is nothing to score, a column is missing, an id is blank or no text, a number
            is out of range, or two rows contradict each other.

        Examples
        --------
        >>> table = pd.DataFrame({"model": ["owl", "ant"], "item": "q", "score": [1, 0]})
        >>> ScoreInputs.build(answers=table).answers["domain"].tolist()
        ['all', 'all']
        """
        given = {
            "answers": answers,
            "samples": samples,
            "verdicts": verdicts,
            "labels": labels,
            "abilities": abilities,
            "tasks": tasks,
            "economics": economics,
        }
        said = list(notices)
        tables = {name: _checked(name, table, said) for name, table in given.items()}
        scored = ("answers", "verdicts", "abilities", "tasks", "labels")
        if all(tables[name].empty for name in scored):
            raise DataError(
                "there is nothing to score: give answers, duels, abilities, scores of tasks, or "
                "labels of judges"
            )
        _require_one_kind(tables["answers"])
        if abilities is not None and "domain" not in abilities:
            tables["abilities"] = _of_one_domain(tables["abilities"], tables["answers"])
        tables["samples"] = _with_domain(tables["samples"], tables["answers"], samples)
        return cls(
            **tables,
            shown_is_given=shown_is_given,
            providers=dict(providers or {}),
            notices=tuple(said),
        )


def _checked(name: str, table: pd.DataFrame | None, said: list[str]) -> pd.DataFrame:
    if name == "labels":
        return pd.DataFrame() if table is None else table
    columns = [*_IDS[name], *_NUMBERS[name], *_TEXTS.get(name, ())]
    if table is None:
        return pd.DataFrame({column: pd.Series(dtype="str") for column in columns})
    if table.empty:
        raise DataError(f"the table of {name} has no rows")
    defaults: dict[str, Any] = dict(_OPTIONAL)
    if name == "verdicts":
        defaults["domain"] = DUELS
    if name == "abilities" and "se" in table:
        defaults["se_printed"] = table["se"]
    lacking = [column for column in columns if column not in table and column not in defaults]
    if lacking:
        raise DataError(
            f"the table of {name} has no column {listed(lacking)}; its columns: "
            f"{listed([str(column) for column in table.columns], limit=12)}"
        )
    table = table.reset_index(drop=True)
    checked = pd.DataFrame(
        {column: table[column] if column in table else defaults[column] for column in columns},
        index=table.index,
    )
    for column in (*_IDS[name], *_TEXTS.get(name, ())):
        checked[column] = _texts(name, column, checked[column], blank=column not in _IDS[name])
    for column, allowed in _NUMBERS[name].items():
        checked[column] = _numbers(name, column, checked[column], allowed)
    return _without_repeats(name, checked, said)


def _texts(name: str, column: str, values: pd.Series, *, blank: bool) -> pd.Series:
    is_text = values.map(lambda value: isinstance(value, str)).to_numpy(dtype=bool)
    missing = values.isna().to_numpy()
    strange = np.flatnonzero(~is_text & ~missing)
    if len(strange):
        raise DataError(
            f"{name}, row {strange[0] + 1}: {column} is {values.iloc[strange[0]]!r}, which is no "
            "text; ids and answers are text as written"
        )
    text = values.astype("str").mask(missing, "")
    empty = np.flatnonzero((text.str.strip() == "").to_numpy())
    if len(empty) and not blank:
        raise DataError(f"{name}, row {empty[0] + 1}: {column} is blank")
    return text


def _numbers(
    name: str, column: str, values: pd.Series, allowed: tuple[float, float] | set[float]
) -> pd.Series:
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name}: column {column!r} does not hold numbers ({error})") from error
    array = numbers.to_numpy()
    if isinstance(allowed, set):
        bad = ~np.isnan(array) & ~np.isin(array, sorted(allowed))
        rule = f"one of {', '.join(f'{value:g}' for value in sorted(allowed))}"
    else:
        bad = ~np.isnan(array) & ~(
            (array >= allowed[0]) & (array <= allowed[1]) & np.isfinite(array)
        )
        rule = f"between {allowed[0]:g} and {allowed[1]:g}"
        if np.isinf(allowed[1]):
            rule = "a finite number" + (" of at least 0" if allowed[0] == 0 else "")
    if bad.any():
        row = int(bad.argmax())
        raise DataError(f"{name}, row {row + 1}: {column} is {array[row]:g}, which is not {rule}")
    return numbers


def _without_repeats(name: str, table: pd.DataFrame, said: list[str]) -> pd.DataFrame:
    keys = _KEYS.get(name)
    if keys is None:
        return table
    repeat = table.duplicated().to_numpy()
    if repeat.any():
        said.append(f"{name}: dropped {counted(int(repeat.sum()), 'row')} that repeat another one")
        table = table[~repeat].reset_index(drop=True)
    conflict = table.duplicated(list(keys), keep=False).to_numpy()
    if conflict.any():
        row = table.iloc[int(conflict.argmax())]
        which = ", ".join(f"{key} {row[key]!r}" for key in keys)
        others = [column for column in table if column not in keys]
        raise DataError(
            f"{name}: {which} has more than one row, with different {', '.join(map(str, others))}; keep one"
        )
    return table


def _require_one_kind(answers: pd.DataFrame) -> None:
    """Refuse an item that is an anchor for one model and fresh for another."""
    kinds = answers.groupby(["domain", "item"])["anchor"].agg(["min", "max"])
    mixed = kinds[kinds["min"] != kinds["max"]].dropna()
    if len(mixed):
        domain, item = mixed.index[0]
        raise DataError(
            f"answers: item {item!r} of domain {domain!r} is an anchor in one row and fresh in "
            "another"
        )


def _of_one_domain(abilities: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Give abilities that name no domain that of the answers."""
    domains = sorted(set(answers["domain"]))
    if len(domains) > 1:
        raise DataError(
            f"abilities: a column 'domain' is needed, since answers are of {listed(domains)}"
        )
    return abilities.assign(domain=domains[0]) if domains else abilities


def _with_domain(
    samples: pd.DataFrame, answers: pd.DataFrame, given: pd.DataFrame | None
) -> pd.DataFrame:
    """Give samples that name no domain that of their item."""
    if given is None or "domain" in given or answers.empty:
        return samples
    known = answers[["domain", "item"]].drop_duplicates()
    several = known[known.duplicated("item", keep=False)]
    used = several[several["item"].isin(samples["item"])]
    if len(used):
        raise DataError(
            f"samples: item {used['item'].iloc[0]!r} is in several domains, so that samples need a "
            "column 'domain'"
        )
    domain = samples["item"].map(known.drop_duplicates("item").set_index("item")["domain"])
    unknown = domain.isna()
    if unknown.any():
        raise DataError(
            f"samples: {counted(int(unknown.sum()), 'row')} of items that no model answered, first "
            f"{samples['item'][unknown].iloc[0]!r}"
        )
    return samples.assign(domain=domain.astype("str"))
