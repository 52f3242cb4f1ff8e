"""Writing: complete or not at all, and the same bytes for the same content.

Text is UTF-8 with `\\n` line ends. Floating-point numbers are written so that they read back
unchanged; a missing value is blank in CSV and null in JSON.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neartie.data.errors import DataError
from neartie.data.tabular import os_reason

# Also a byte-order mark, which would be lost at the beginning of the file.
_QUOTED = re.compile('[,"\r\n\ufeff]')


def to_json(content: Any) -> str:
    """Return JSON in a fixed form, with null for what is missing or not finite.

    Parameters
    ----------
    content : object
        Mappings with text keys, sequences, text, truth values, numbers of Python and NumPy,
        pandas' missing value.

    Returns
    -------
    str
        Indented, keys in the order given, without a line end.

    Raises
    ------
    TypeError
        If something in it has no form in JSON.

    Examples
    --------
    >>> print(to_json({"rate": float("nan"), "n": np.int64(3), "names": ("a", "b")}))
    {
      "rate": null,
      "n": 3,
      "names": [
        "a",
        "b"
      ]
    }
    """
    return json.dumps(_plain(content), indent=2, ensure_ascii=False, allow_nan=False)


def to_csv(table: pd.DataFrame) -> str:
    r"""Return CSV in a fixed form, without the index.

    Parameters
    ----------
    table : DataFrame
        Of numbers, truth values (written 0 and 1), text, and missing values.

    Returns
    -------
    str
        With a header and `\n` line ends. Text that looks like something else is not changed.

    Examples
    --------
    >>> to_csv(pd.DataFrame({"model": ["a, b", "c"], "rate": [0.1, np.nan]}))
    'model,rate\n"a, b",0.1\nc,\n'
    """
    columns = [_cells(table.iloc[:, i]) for i in range(table.shape[1])]
    header = ",".join(_quoted(str(column)) for column in table.columns)
    lines = [header, *map(",".join, zip(*columns, strict=True))]
    # A line that is blank altogether would be passed over by readers.
    return "".join([f"{line}\n" if line else '""\n' for line in lines])


def write_text_atomic(text: str, path: str | PathLike[str]) -> Path:
    """Write a text file, or leave what was there.

    Parameters
    ----------
    text : str
        The content.
    path : path
        Where to. Folders above are made.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    DataError
        If it cannot be written.

    Notes
    -----
    The text goes to a temporary file beside the target, which then takes the target's name in
    one step: an error or a kill leaves the old file or the new one, never a part.
    """
    return write_bytes_atomic(text.encode("utf-8", "backslashreplace"), path)


def write_bytes_atomic(content: bytes, path: str | PathLike[str]) -> Path:
    """Write a binary file, or leave what was there; as `write_text_atomic`."""
    target = Path(path)
    _refuse_folder(target)
    temporary: Path | None = None
    try:
        _make_folder(target.parent)
        handle, name = tempfile.mkstemp(prefix=temporary_prefix(), dir=target.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        _give_usual_mode(temporary)
        os.replace(temporary, target)
    except OSError as error:
        raise DataError(f"{target} cannot be written: {os_reason(error)}") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
    return target


def write_csv_atomic(table: pd.DataFrame, path: str | PathLike[str]) -> Path:
    """Write a table as `to_csv` has it, or leave what was there; as `write_text_atomic`."""
    return write_text_atomic(to_csv(table), path)


def write_json_atomic(content: Any, path: str | PathLike[str]) -> Path:
    """Write JSON as `to_json` has it, or leave what was there; as `write_text_atomic`."""
    return write_text_atomic(to_json(content) + "\n", path)


@contextmanager
def output_folder(path: str | PathLike[str]) -> Iterator[Path]:
    """Give a temporary folder whose files move to the target when the block ends well.

    Parameters
    ----------
    path : path
        The target; it is made if need be. Files in it that the block does not write stay.

    Yields
    ------
    Path
        A folder beside the target, or in it. After an error it is removed, and the target is as
        before. What a process of this machine left there that was killed is removed here.

    Raises
    ------
    DataError
        If the target is a file, or cannot be written.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with output_folder(Path(place) / "out") as folder:
    ...         _ = (folder / "answer.txt").write_text("42")
    ...     os.listdir(Path(place) / "out")
    ['answer.txt']
    """
    target = Path(path)
    if target.exists() and not target.is_dir():
        raise DataError(f"{target} is a file; name a folder to write to")
    try:
        # Inside a target that exists, which may be the only writable folder of its file system.
        above = target if target.is_dir() else target.parent
        _make_folder(above)
        # beside a target that did not exist yet, too
        for place in {above, target.parent}:
            remove_abandoned(place)
        temporary = Path(tempfile.mkdtemp(prefix=temporary_prefix(), dir=above))
    except OSError as error:
        raise DataError(f"{target} cannot be written: {os_reason(error)}") from error
    try:
        yield temporary
        try:
            _move_in(temporary, target)
        except OSError as error:
            raise DataError(f"{target} cannot be written: {os_reason(error)}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def temporary_prefix() -> str:
    """Return how the names of temporary files and folders begin: with their machine and process.

    By these `remove_abandoned` knows what a process left that was killed.
    """
    return f".neartie.{_host()}.{os.getpid()}."


def remove_abandoned(folder: Path) -> None:
    """Remove what processes of this machine left in a folder that were killed before they could."""
    for place in folder.glob(f".neartie.{_host()}.*.*"):
        process = place.name.split(".")[3]
        if not process.isdecimal() or _is_running(int(process)) or place.is_symlink():
            continue
        if place.is_dir():
            shutil.rmtree(place, ignore_errors=True)
        else:
            with suppress(OSError):
                place.unlink()


def _host() -> str:
    """Return the machine's name, without what has a meaning in names of files."""
    return re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())[:40] or "host"


def _is_running(process: int) -> bool:
    if os.name != "posix":  # where signal 0 would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _move_in(temporary: Path, target: Path) -> None:
    written = sorted(file for file in temporary.rglob("*") if file.is_file())
    if not target.exists():
        _give_usual_mode(temporary, 0o777)
        os.rename(temporary, target)
        return
    for file in written:
        _refuse_folder(target / file.relative_to(temporary))
    for file in written:
        place = target / file.relative_to(temporary)
        place.parent.mkdir(parents=True, exist_ok=True)
        os.replace(file, place)


def _make_folder(folder: Path) -> None:
    nearest = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    if nearest.exists() and not nearest.is_dir():
        raise DataError(f"{nearest} is a file, so nothing can be written below it")
    folder.mkdir(parents=True, exist_ok=True)


def _refuse_folder(target: Path) -> None:
    if target.is_dir():
        raise DataError(f"{target} is a folder; name a file to write to")


def _give_usual_mode(path: Path, mode: int = 0o666) -> None:
    """Give what is temporary, and private at first, the mode that any new one would have."""
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(mode & ~mask)


def _is_missing(value: object) -> bool:
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    return isinstance(value, float | np.floating) and not math.isfinite(value)


def _cells(column: pd.Series[Any]) -> Iterable[str]:
    """Return the quoted cells of a column; tables of pairs have millions."""
    values = column.tolist()
    plain = column.dtype if isinstance(column.dtype, np.dtype) else None
    kind = "" if plain is None else plain.kind
    if plain is not None and kind == "f" and plain.itemsize <= 8:
        return ["" if math.isnan(value) else repr(value) for value in values]
    if kind in {"i", "u"}:
        return map(str, values)
    # The same text comes again and again. Only text: as keys, 1 and True are the same.
    known: dict[str, str] = {}
    cells = []
    for value in values:
        if type(value) is not str:
            cells.append(_quoted(_cell(value)))
            continue
        if value not in known:
            known[value] = _quoted(value)
        cells.append(known[value])
    return cells


def _cell(value: object) -> str:
    if isinstance(value, float | np.floating) and math.isinf(value):
        return repr(float(value))
    if _is_missing(value):
        return ""
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return repr(float(value))
    return str(value)


def _quoted(text: str) -> str:
    # The csv module does not quote a lone carriage return everywhere, and it ends a line.
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def _plain(content: Any) -> Any:
    if _is_missing(content):
        return None
    if isinstance(content, Mapping):
        return {str(key): _plain(value) for key, value in content.items()}
    if isinstance(content, str | bool | int | float):
        return content
    if isinstance(content, np.ndarray | pd.Series):
        return [_plain(value) for value in content.tolist()]
    if isinstance(content, np.generic):
        return content.item()
    if isinstance(content, list | tuple | set | frozenset):
        members = sorted(content) if isinstance(content, set | frozenset) else content
        return [_plain(value) for value in members]
    if isinstance(content, PathLike):
        return os.fspath(content)
    raise TypeError(f"{type(content).__name__} has no form in JSON")
