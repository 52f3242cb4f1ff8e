"""Arguments that several commands share, and the one way to load responses from them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from neartie.data.responses import Responses


GENERIC_STEMS = ("responses", "battles")


class Rows(StrEnum):
    """What the rows of a wide table are."""

    items = "items"
    models = "models"


class Scores(StrEnum):
    """Which scores are allowed."""

    binary = "binary"
    graded = "graded"


class Repeats(StrEnum):
    """What becomes of contradictory answers of one model to one item."""

    stop = "stop"
    first = "first"
    last = "last"
    mean = "mean"


class Missing(StrEnum):
    """What becomes of missing answers."""

    stop = "stop"
    drop_models = "drop-models"
    drop_items = "drop-items"


ResponsesPath = Annotated[
    Path,
    typer.Argument(
        metavar="RESPONSES",
        help="Table of answers: CSV, gzip CSV or Parquet; long (item, model, score) or wide.",
    ),
]
ItemsOption = Annotated[
    Path | None,
    typer.Option("--items", help="Item table: column 'item', and others such as 'source'."),
]
ModelsOption = Annotated[
    Path | None,
    typer.Option("--models", help="Model table: column 'model', and 'owner', 'family', ..."),
]
RowsOption = Annotated[
    Rows | None,
    typer.Option("--rows", help="What rows of a wide table are, where its header does not say."),
]
ScoresOption = Annotated[
    Scores, typer.Option("--scores", help="Right/wrong answers only, or any finite scores.")
]
ThresholdOption = Annotated[
    float | None,
    typer.Option("--threshold", help="Count a score of at least this as right, else as wrong."),
]
RepeatsOption = Annotated[
    Repeats, typer.Option("--repeats", help="Which of contradictory repeated answers to use.")
]
MissingOption = Annotated[
    Missing, typer.Option("--missing", help="What to do about missing answers.")
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, help="Seed of everything that is drawn at random.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
NameOption = Annotated[
    str | None, typer.Option("--name", help="Name of the benchmark, for titles.")
]


def output_path(text: str) -> Path:
    """Return the folder that `--out` names; refuse an empty name, which would be the current one.

    Examples
    --------
    >>> output_path("report").name
    'report'
    """
    if not str(text).strip():
        raise typer.BadParameter("the name is empty; write . for the current folder")
    return Path(text)


OutOption = Annotated[
    Path,
    typer.Option(
        "--out", parser=output_path, metavar="FOLDER", help="Folder to write to; made if missing."
    ),
]


def benchmark_name(path: Path, name: str | None = None) -> str:
    """Return what titles call a benchmark: the name given, else one from its file.

    A file of a benchmark's folder is often just called `responses` (or `battles`): then the
    folder's name says more.

    Examples
    --------
    >>> benchmark_name(Path("data/gsm8k/responses.csv.gz")), benchmark_name(Path("mmlu.parquet"))
    ('gsm8k', 'mmlu')
    """
    if name:
        return name
    stem = path.name.split(".")[0]
    return path.resolve().parent.name if stem in GENERIC_STEMS else stem


def load_responses(
    path: Path,
    *,
    items: Path | None = None,
    models: Path | None = None,
    rows: Rows | None = None,
    scores: Scores = Scores.binary,
    threshold: float | None = None,
    repeats: Repeats = Repeats.stop,
    binary_only: bool = False,
) -> Responses:
    """Return the responses that the shared options describe.

    Parameters
    ----------
    path, items, models : Path
        Files, as in `neartie.data.read.read_responses`.
    rows, scores, threshold, repeats
        As there.
    binary_only : bool
        Whether the command takes right/wrong answers only, so that nobody is advised of others.

    Returns
    -------
    Responses

    Raises
    ------
    DataError
        If the files do not allow it.
    """
    from neartie.data.errors import DataError
    from neartie.data.read import read_responses
    from neartie.data.scores import GRADED_ADVICE

    try:
        return read_responses(
            path,
            items=items,
            models=models,
            rows=None if rows is None else rows.value,
            scores=scores.value,
            threshold=threshold,
            repeats=repeats.value,
        )
    except DataError as error:
        if binary_only and GRADED_ADVICE in str(error):
            raise DataError(str(error).replace(GRADED_ADVICE, "")) from error
        raise
