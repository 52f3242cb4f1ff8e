"""Reading the smaller tables of a scorecard: samples, abilities, tasks, costs, labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pandas as pd

from neartie.data.errors import DataError
from neartie.data.ids import header_ids, id_column
from neartie.data.layout import ITEM_NAMES, MODEL_NAMES
from neartie.data.sources import find_column, open_source, plain_name
from neartie.data.tables import read_item_table
from neartie.data.text_table import TextTable, read_text_table, text_columns
from neartie.data.wording import counted, listed

DOMAIN: Final = {"domain": ("domain",)}


def read_samples(path: Path, said: list[str]) -> pd.DataFrame:
    """Return repeated answers: `item`, `model`, `answer`, perhaps `domain`."""
    table = read_text_table(
        path,
        required={"item": ITEM_NAMES, "model": MODEL_NAMES, "answer": ("answer", "response")},
        optional=DOMAIN,
        ids=("item", "model", "domain"),
        purpose="a table of repeated answers",
    )
    say_unused(table, said)
    return id_frame(table, ("item", "model")).assign(answer=table.columns["answer"])


def read_abilities(path: Path, said: list[str]) -> pd.DataFrame:
    """Return ready estimates: `model`, `ability`, `se`, perhaps `domain` and `se_printed`."""
    table = read_text_table(
        path,
        required={
            "model": MODEL_NAMES,
            "ability": ("ability", "theta", "strength", "estimate"),
            "se": ("se", "sd"),
        },
        optional={**DOMAIN, "se_printed": ("se_printed", "se_items_known", "se_diagonal")},
        ids=("model", "domain"),
        purpose="a table of abilities",
    )
    frame = id_frame(table, ("model",))
    frame["ability"] = table.numbers("ability", rule="a finite number")
    for name in ("se", "se_printed"):
        if name in table.columns:
            frame[name] = table.numbers(name, low=0.0, rule="a finite number of at least 0")
    say_unused(table, said)
    refuse_contradictions(table, frame, ("domain", "model"))
    return frame


def read_tasks(path: Path) -> pd.DataFrame:
    """Return ready scores, one row a model and domain: `domain`, `model`, `value`."""

    def recognised(columns: Sequence[str]) -> bool:
        return any(plain_name(column) in MODEL_NAMES for column in columns)

    source = open_source(path, recognised=recognised)
    key = find_column(source, MODEL_NAMES)
    if key is None:
        raise DataError(f"{path} has no column 'model'; its columns: {listed(source.columns)}")
    others = [at for at in range(len(source.columns)) if at != key]
    names = header_ids(source, others, kind="task")
    if not names:
        raise DataError(f"{path} has no column beside {source.columns[key]!r}: no task to score")
    models = id_column(source, key)
    table = text_columns(source, dict(zip(names, others, strict=True)))
    parts = [
        pd.DataFrame(
            {
                "domain": name,
                "model": pd.Series(models, dtype="str"),
                "value": table.numbers(name, rule="a finite number, or blank"),
            }
        )
        for name in names
    ]
    return pd.concat(parts, ignore_index=True)


def read_economics(path: Path, said: list[str]) -> pd.DataFrame:
    """Return `model`, and `cost` or `latency` or both."""
    table = read_text_table(
        path,
        required={"model": MODEL_NAMES},
        optional={
            "cost": ("cost", "cost_per_1000", "cost_per_thousand"),
            "latency": ("latency", "latency_p50"),
        },
        ids=("model",),
        purpose="a table of costs",
    )
    frame = id_frame(table, ("model",))
    for name in ("cost", "latency"):
        if name in table.columns:
            frame[name] = table.numbers(name, low=0.0, rule="a finite number of at least 0")
    if len(frame.columns) == 1:
        raise DataError(
            f"{path} has neither a column 'cost' nor 'latency'; its columns: "
            f"{listed(table.source.columns)}"
        )
    say_unused(table, said)
    refuse_contradictions(table, frame, ("model",))
    return frame


def read_labels(path: Path) -> pd.DataFrame:
    """Return labels as text, one row an item, one column a judge."""
    table = read_item_table(path).set_index("item")
    if table.shape[1] < 2:
        raise DataError(f"{path} has {counted(table.shape[1], 'judge')}; agreement needs two")
    return table


def id_frame(table: TextTable, names: Sequence[str]) -> pd.DataFrame:
    """Return columns of ids, and the domain where there is one."""
    columns = {name: table.ids(name) for name in names}
    if "domain" in table.columns:
        columns["domain"] = table.ids("domain")
    return pd.DataFrame(columns)


def refuse_contradictions(table: TextTable, frame: pd.DataFrame, keys: Sequence[str]) -> None:
    """Refuse two rows for one thing that differ; equal ones are dropped later, with a count."""
    keys = [key for key in keys if key in frame]
    distinct = frame[~frame.duplicated()]
    twice = distinct[distinct.duplicated(keys, keep=False)]
    if twice.empty:
        return
    same = twice[(twice[keys] == twice[keys].iloc[0]).all(axis=1)].head(2)
    which = ", ".join(f"{key} {same[key].iloc[0]!r}" for key in keys)
    # a missing value beside a number counts as two values, and two missing ones as one
    differ = [str(name) for name in same.columns if len(same[name].unique()) > 1]
    first, second = (int(row) for row in same.index)
    raise DataError(
        f"{table.place(second)}: {which} stands in row {first + table.source.first_row} already, "
        f"with another {' and '.join(differ)}; keep one"
    )


def say_unused(table: TextTable, said: list[str]) -> None:
    """Say which columns were not read."""
    if table.unused:
        said.append(f"{table.source.path}: columns not used: {listed(table.unused)}")
