"""Responses as files that `read_responses` reads back unchanged."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import numpy as np

from neartie.data.files import to_csv
from neartie.data.responses import Responses

# Higher levels take forty times as long on such tables, to save a tenth.
_LEVEL = 6
RESPONSES_FILE = "responses.csv.gz"
ITEMS_FILE = "items.csv"
MODELS_FILE = "models.csv"


def write_responses(responses: Responses, folder: Path) -> list[Path]:
    """Write `responses.csv.gz` (wide, items in rows), `items.csv` and `models.csv`.

    Parameters
    ----------
    responses : Responses
        A missing answer becomes a blank cell.
    folder : Path
        An existing folder; use `neartie.data.files.output_folder` to write all files or none.

    Returns
    -------
    list of Path

    Notes
    -----
    The same responses give the same bytes: the compressed file bears no time and no name. Where
    Python was built with another compressor than zlib, the compressed bytes differ but not what
    they hold.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from neartie.data.read import read_responses
    >>> data = Responses.build([[1, 0], [1, -1]], items=["q1", "q2"], models=["a", "b"])
    >>> with TemporaryDirectory() as folder:
    ...     answers, items, models = write_responses(data, Path(folder))
    ...     read_responses(answers, items=items, models=models)
    Responses(2 items x 2 models, right/wrong, 1 missing)
    """
    answers = folder / RESPONSES_FILE
    with (
        answers.open("wb") as file,
        gzip.GzipFile(
            filename="", mode="wb", fileobj=file, compresslevel=_LEVEL, mtime=0
        ) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="") as text,
    ):
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["item", *responses.model_ids])
        for item, row in zip(responses.item_ids, responses.values, strict=True):
            writer.writerow([item, *_cells(row)])
    paths = [answers]
    for name, table in ((ITEMS_FILE, responses.items), (MODELS_FILE, responses.models)):
        paths.append(folder / name)
        paths[-1].write_text(to_csv(table), encoding="utf-8", newline="")
    return paths


_SPELLED = np.array(["", "0", "1"], dtype=object)


def _cells(row: np.ndarray) -> list[str]:
    """Return the cells of one item, as text that reads back to the same score."""
    if row.dtype == np.int8:
        spelled: list[str] = _SPELLED[row + 1].tolist()
        return spelled
    return ["" if np.isnan(score) else str(score) for score in row]
