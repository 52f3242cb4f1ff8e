"""Reading the tables of a scorecard from files."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from neartie.data.errors import DataError
from neartie.data.ids import near_duplicates, nearest_spelling
from neartie.data.layout import (
    ITEM_NAMES,
    LONG_MODEL_NAMES,
    SCORE_NAMES,
    LongLayout,
    read_layout,
)
from neartie.data.read import read_responses
from neartie.data.read_score_tables import (
    DOMAIN,
    id_frame,
    read_abilities,
    read_economics,
    read_labels,
    read_samples,
    read_tasks,
    refuse_contradictions,
    say_unused,
)
from neartie.data.read_verdicts import read_verdicts
from neartie.data.responses import Responses
from neartie.data.score_inputs import ScoreInputs
from neartie.data.sources import open_source, plain_name
from neartie.data.tables import read_item_table
from neartie.data.text_table import TextTable, read_text_table
from neartie.data.wording import listed

type AnyPath = str | PathLike[str]

CONFIDENCE_SCALES: Final = ("auto", "percent", "proportion")
#: The model of answers that name none.
ONE_MODEL: Final = "model"
_SCORES: Final = (*SCORE_NAMES, "correct")


def read_score_inputs(
    answers: AnyPath | None = None,
    *,
    items: AnyPath | None = None,
    samples: AnyPath | None = None,
    duels: AnyPath | None = None,
    judges: AnyPath | None = None,
    labels: AnyPath | None = None,
    abilities: AnyPath | None = None,
    tasks: AnyPath | None = None,
    economics: AnyPath | None = None,
    confidence_scale: str = "auto",
    rows: str | None = None,
) -> ScoreInputs:
    """Return the tables of a scorecard; each is CSV, gzip CSV or Parquet, and may be left out.

    Parameters
    ----------
    answers : path, optional
        Long, with columns `item`, `model`, `score` (or `correct`, where there are confidences) and
        perhaps `domain`, `confidence`, `anchor`; or wide, as in
        `neartie.data.read.read_responses`. A table with confidences may leave `model` out: then
        all answers are of one model.
    items : path, optional
        Item table: `item`, and `domain` (or `source`) or `anchor` or both.
    samples : path, optional
        Repeated answers: `item`, `model`, `answer`, perhaps `domain`. A blank answer could not be
        extracted.
    duels : path, optional
        Verdicts, as in `neartie.data.read_verdicts.read_verdicts`.
    judges : path, optional
        `judge`, perhaps `provider`: the judges that may give verdicts.
    labels : path, optional
        `item`, and a column for each judge with its labels.
    abilities : path, optional
        `model`, `ability` (or `theta`, `strength`, `estimate`), `se` (or `sd`), perhaps `domain`
        and `se_printed` (or `se_items_known`, `se_diagonal`).
    tasks : path, optional
        `model`, and a column for each domain with ready scores.
    economics : path, optional
        `model`, `cost` of a thousand items, `latency`; one of the two may be left out.
    confidence_scale : {'auto', 'percent', 'proportion'}
        Settled for the whole column: `auto` takes numbers up to 1 as proportions, else per cent.
    rows : {'items', 'models'}, optional
        What rows of wide answers are, where the header does not say.

    Returns
    -------
    ScoreInputs

    Raises
    ------
    DataError
        If a file cannot be read without guessing. The message says where, and what to do.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     table = Path(folder) / "answers.csv"
    ...     _ = table.write_text("item,model,score,confidence\\nq,owl,1,90\\nq,ant,0,\\n")
    ...     read_score_inputs(table).answers["confidence"].tolist()
    [0.9, nan]
    """
    if confidence_scale not in CONFIDENCE_SCALES:
        raise DataError(
            f"confidence_scale must be one of {', '.join(CONFIDENCE_SCALES)}, got "
            f"{confidence_scale!r}"
        )
    if items is not None and answers is None:
        raise DataError(f"{items}: an item table needs answers to go with")
    said: list[str] = []
    given: dict[str, Any] = {}
    if answers is not None:
        given["answers"] = _answers(Path(answers), items, confidence_scale, rows, said)
    if samples is not None:
        given["samples"] = read_samples(Path(samples), said)
    if duels is not None:
        found = read_verdicts(duels, judges=judges)
        given |= {"verdicts": found.table, "shown_is_given": found.shown_is_given}
        given["providers"] = found.providers
        said += found.notices
    elif judges is not None:
        raise DataError(f"{judges}: a table of judges needs duels to go with")
    if labels is not None:
        given["labels"] = read_labels(Path(labels))
    if abilities is not None:
        given["abilities"] = read_abilities(Path(abilities), said)
    if tasks is not None:
        given["tasks"] = read_tasks(Path(tasks))
    if economics is not None:
        given["economics"] = read_economics(Path(economics), said)
    return ScoreInputs.build(**given, notices=tuple(said))


def _answers(
    path: Path, items: AnyPath | None, scale: str, rows: str | None, said: list[str]
) -> pd.DataFrame:
    if _is_stated(path) or isinstance(read_layout(path, rows=rows), LongLayout):
        table = _long_answers(path, scale, said)
    else:
        table = _wide_answers(read_responses(path, rows=rows), said)
    said += near_duplicates(sorted(set(table["model"])), kind="model", path=path)
    return table if items is None else _with_items(table, path, Path(items))


def _is_stated(path: Path) -> bool:
    """Return whether a table has items, scores and confidences, so that it is long."""
    wanted = (ITEM_NAMES, _SCORES, ("confidence",))

    def recognised(columns: Sequence[str]) -> bool:
        plain = {plain_name(column) for column in columns}
        return all(plain & set(names) for names in wanted)

    return recognised(open_source(path, recognised=recognised, one_column=True).columns)


def _long_answers(path: Path, scale: str, said: list[str]) -> pd.DataFrame:
    table = read_text_table(
        path,
        required={"item": ITEM_NAMES, "score": _SCORES},
        optional={
            "model": LONG_MODEL_NAMES,
            **DOMAIN,
            "confidence": ("confidence",),
            "anchor": ("anchor",),
        },
        ids=("item", "model", "domain"),
        purpose="a long table of answers",
    )
    say_unused(table, said)
    if "model" in table.columns:
        frame = id_frame(table, ("item", "model"))
    else:
        frame = id_frame(table, ("item",)).assign(model=ONE_MODEL)
        said.append(f"{path} has no column 'model': its answers are taken as those of one model")
    frame["score"] = table.numbers(
        "score", allowed=(0, 1), rule="1 (right), 0 (wrong) or blank (could not be scored)"
    )
    if "confidence" in table.columns:
        frame["confidence"] = _confidence(table, scale, said)
    if "anchor" in table.columns:
        frame["anchor"] = table.numbers("anchor", allowed=(0, 1), rule="0 or 1")
    refuse_contradictions(table, frame, ("domain", "model", "item"))
    return frame


def _confidence(table: TextTable, scale: str, said: list[str]) -> np.ndarray:
    most = 1.0 if scale == "proportion" else 100.0
    values = table.numbers(
        "confidence", low=0.0, high=most, rule=f"a confidence from 0 to {most:g}, or blank"
    )
    known = values[~np.isnan(values)]
    percent = scale == "percent" or (scale == "auto" and bool((known > 1).any()))
    if scale == "auto" and len(known):
        said.append(
            f"{table.source.path}: confidences are taken as "
            + ("per cent, from 0 to 100" if percent else "proportions, from 0 to 1")
        )
    return values / 100 if percent else values


def _wide_answers(responses: Responses, said: list[str]) -> pd.DataFrame:
    said += responses.notices
    n_item, n_model = responses.values.shape
    values = responses.values.astype(np.float64).T.ravel()
    return pd.DataFrame(
        {
            "item": np.tile(np.array(responses.item_ids, dtype=object), n_model),
            "model": np.repeat(np.array(responses.model_ids, dtype=object), n_item),
            "score": np.where(values < 0, np.nan, values),
        }
    )


def _with_items(answers: pd.DataFrame, path: Path, items: Path) -> pd.DataFrame:
    """Attach domain and anchor of an item table."""
    table = read_item_table(items)
    names = {plain_name(column): column for column in table.columns}
    spellings = {"domain": ("domain", "source"), "anchor": ("anchor",)}
    there = [name for name, headers in spellings.items() if names.keys() & set(headers)]
    if not there:
        raise DataError(
            f"{items} has neither a column 'domain' (or 'source') nor 'anchor'; its columns: "
            f"{listed([str(column) for column in table.columns])}"
        )
    both = [name for name in there if name in answers]
    if both:
        raise DataError(f"both {path} and {items} have a column {both[0]!r}; leave one out")
    unknown = sorted(set(answers["item"]) - set(table["item"]))
    if unknown:
        raise DataError(
            f"{items} does not list {listed(unknown)} of {path}"
            + nearest_spelling(unknown, table["item"].tolist())
        )
    known = read_text_table(
        items,
        required={"item": ITEM_NAMES},
        optional={name: spellings[name] for name in there},
        ids=("item", "domain"),
        purpose="an item table",
    )
    position = pd.Series(np.arange(known.n_row), index=known.columns["item"])
    row = answers["item"].map(position).to_numpy()
    if "domain" in there:
        answers["domain"] = known.ids("domain").to_numpy()[row]
    if "anchor" in there:
        answers["anchor"] = known.numbers("anchor", allowed=(0, 1), rule="0 or 1")[row]
    return answers
