"""Which benchmarks the arguments of `neartie audit` name: files, folders, folders of folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from neartie.cli.options import benchmark_name
from neartie.data.errors import DataError
from neartie.data.wording import listed

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".parquet")
# What a collection writes beside its benchmarks.
RESERVED = ("tables",)


@dataclass(frozen=True, kw_only=True, slots=True)
class Benchmark:
    """Files of one benchmark.

    Attributes
    ----------
    name : str
    responses : Path
    items, models : Path or None
    """

    name: str
    responses: Path
    items: Path | None = None
    models: Path | None = None


def find_benchmarks(paths: Sequence[Path]) -> list[Benchmark]:
    """Return the benchmarks that some paths name, in their order.

    Parameters
    ----------
    paths : sequence of Path
        A file is a benchmark without tables. A folder is one if it holds `responses.csv` (or
        `.csv.gz`, `.tsv`, `.parquet`); `items` and `models` beside it are its tables. Any other
        folder stands for the benchmarks among its folders, in plain order of names.

    Returns
    -------
    list of Benchmark

    Raises
    ------
    DataError
        If a folder holds no benchmark or two tables of a kind, or two benchmarks share a name.
    """
    found: list[Benchmark] = []
    for path in paths:
        found += _within(path) if path.is_dir() else [_of_file(path)]
    seen: dict[str, Path] = {}
    for one in found:
        if one.name in seen:
            raise DataError(
                f"{seen[one.name]} and {one.responses} would both be called {one.name!r}: "
                "rename a folder or a file"
            )
        seen[one.name] = one.responses
    taken = sorted(set(RESERVED) & set(seen))
    if taken and len(found) > 1:
        raise DataError(f"{taken[0]!r} cannot name a benchmark among several: rename its folder")
    return found


def _of_file(path: Path) -> Benchmark:
    return Benchmark(name=benchmark_name(path), responses=path)


def _within(folder: Path) -> list[Benchmark]:
    own = _of_folder(folder)
    if own is not None:
        return [own]
    parts = [_of_folder(part) for part in sorted(folder.iterdir()) if part.is_dir()]
    found = [part for part in parts if part is not None]
    if not found:
        raise DataError(
            f"{folder} holds no benchmark: neither it nor a folder in it has a file "
            f"{' or '.join(f'responses{suffix}' for suffix in SUFFIXES)}"
        )
    return found


def _of_folder(folder: Path) -> Benchmark | None:
    responses = _table(folder, "responses")
    if responses is None:
        return None
    return Benchmark(
        name=folder.resolve().name,
        responses=responses,
        items=_table(folder, "items"),
        models=_table(folder, "models"),
    )


def _table(folder: Path, stem: str) -> Path | None:
    found = [path for s in SUFFIXES if (path := folder / f"{stem}{s}").is_file()]
    if len(found) > 1:
        names = listed([path.name for path in found])
        raise DataError(f"{folder} holds {names}: which one is meant? Name the file")
    return found[0] if found else None
