"""Writing: all or nothing, the same bytes, and numbers that read back."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neartie.data.errors import DataError
from neartie.data.files import (
    output_folder,
    to_csv,
    to_json,
    write_csv_atomic,
    write_json_atomic,
    write_text_atomic,
)


def fill(target: Path, names: list[str], *, then_fail: bool = False) -> None:
    with output_folder(target) as folder:
        for name in names:
            (folder / name).write_text("new")
        if then_fail:
            raise ZeroDivisionError


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(st.lists(st.tuples(texts, st.floats()), min_size=1, max_size=5), texts)
def test_csv_reads_back(rows: list[tuple[str, float]], name: str) -> None:
    frame = pd.DataFrame(rows, columns=[name, "number"])
    read = list(csv.reader(io.StringIO(to_csv(frame), newline="")))
    assert read[0] == [name, "number"]
    for (text, number), cells in zip(rows, read[1:], strict=True):
        assert cells[0] == text
        assert (cells[1] == "" and math.isnan(number)) or float(cells[1]) == number


def test_csv_of_every_kind_of_column() -> None:
    frame = pd.DataFrame(
        {
            "text": ["a", None],
            "whole": pd.array([1, pd.NA], "Int64"),
            "truth": [True, False],
            "single": np.float32([0.1, np.nan]),
            "double": [1e-300, 1 / 3],
        }
    )
    assert to_csv(frame) == (
        "text,whole,truth,single,double\n"
        "a,1,1,0.10000000149011612,1e-300\n"
        ",,0,,0.3333333333333333\n"
    )


def plain_csv(frame: pd.DataFrame) -> str:
    """Plain twin: cell by cell, each looked at on its own."""

    def cell(value: object) -> str:
        if value is None or value is pd.NA or value is pd.NaT:
            return ""
        if isinstance(value, float | np.floating):
            return "" if math.isnan(value) else repr(float(value))
        return str(int(value)) if isinstance(value, bool | np.bool_) else str(value)

    def quoted(text: str) -> str:
        special = any(mark in text for mark in ',"\r\n\ufeff')
        return '"' + text.replace('"', '""') + '"' if special else text

    rows = [[str(column) for column in frame.columns]]
    columns = [frame[column].tolist() for column in frame]
    rows += [[cell(value) for value in row] for row in zip(*columns, strict=True)]
    lines = [",".join(map(quoted, row)) for row in rows]
    return "".join(f"{line}\n" if line else '""\n' for line in lines)


@given(
    st.lists(
        st.tuples(
            st.one_of(texts, st.none(), st.booleans(), st.integers(), st.floats()),
            texts,
            st.floats(),
            st.floats(width=32),
            st.integers(-(2**63), 2**63 - 1),
            st.booleans(),
            st.one_of(st.none(), st.integers(0, 9)),
        ),
        max_size=6,
    )
)
def test_csv_is_that_of_the_plain_twin(rows) -> None:
    columns = list(zip(*rows, strict=True)) or [()] * 7
    frame = pd.DataFrame(
        {
            "mixed": pd.Series(columns[0], dtype=object),
            "te,xt": pd.Series(columns[1], dtype="str"),
            "double": np.array(columns[2], dtype=np.float64),
            "single": np.array(columns[3], dtype=np.float32),
            "whole": np.array(columns[4], dtype=np.int64),
            "truth": np.array(columns[5], dtype=bool),
            "perhaps": pd.array(columns[6], dtype="Int64"),
        }
    )
    assert to_csv(frame) == plain_csv(frame)
    assert to_csv(frame[["mixed"]]) == plain_csv(frame[["mixed"]])


def test_csv_quotes_what_readers_would_take_for_something_else() -> None:
    frame = pd.DataFrame({"\ufeffa": ["x\ry", ' "z"']})
    assert to_csv(frame) == '"\ufeffa"\n"x\ry"\n" ""z"""\n'


def test_csv_of_one_blank_cell_is_no_blank_line() -> None:
    assert to_csv(pd.DataFrame({"a": ["", "x"]})) == 'a\n""\nx\n'


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    )
)
def test_json_never_holds_nan(content) -> None:
    def plain(value):
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if isinstance(value, list):
            return [plain(v) for v in value]
        return {k: plain(v) for k, v in value.items()} if isinstance(value, dict) else value

    def refuse(name: str) -> None:
        raise AssertionError(name)

    assert json.loads(to_json(content), parse_constant=refuse) == plain(content)


def test_json_of_numpy_and_pandas() -> None:
    content = {"a": np.float32(0.5), "b": pd.NA, "c": np.array([1, 2]), "d": (np.bool_(True),)}
    content |= {"e": pd.Series(["x"]), "f": {"z", "y"}, "g": Path("p"), "h": np.float64("nan")}
    assert json.loads(to_json(content)) == {
        "a": 0.5,
        "b": None,
        "c": [1, 2],
        "d": [True],
        "e": ["x"],
        "f": ["y", "z"],
        "g": "p",
        "h": None,
    }
    with pytest.raises(TypeError, match="object has no form in JSON"):
        to_json({"a": object()})


def test_files_are_written_with_unix_line_ends(tmp_path) -> None:
    frame = pd.DataFrame({"a": ["é"]})
    assert write_csv_atomic(frame, tmp_path / "new" / "a.csv").read_bytes() == b"a\n\xc3\xa9\n"
    assert write_json_atomic({"a": "é"}, tmp_path / "a.json").read_bytes() == (
        b'{\n  "a": "\xc3\xa9"\n}\n'
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.json", "new"]


def test_a_new_file_has_the_usual_mode(tmp_path) -> None:
    (tmp_path / "plain").write_text("")
    written = write_text_atomic("", tmp_path / "ours")
    assert stat.S_IMODE(written.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)
    with output_folder(tmp_path / "out") as folder:
        (folder / "a").write_text("")
    (tmp_path / "usual").mkdir()
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_text_from_a_path_that_is_no_utf8(tmp_path) -> None:
    assert write_text_atomic("a\udcff", tmp_path / "a").read_bytes() == b"a\\udcff"


def test_an_error_leaves_the_old_file(tmp_path, monkeypatch) -> None:
    path = write_text_atomic("old", tmp_path / "a.txt")

    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(DataError, match=r"a\.txt cannot be written: no space left"):
        write_text_atomic("new", path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_paths_that_cannot_be_written(tmp_path) -> None:
    write_text_atomic("", tmp_path / "file")
    with pytest.raises(DataError, match="is a folder; name a file"):
        write_text_atomic("", tmp_path)
    with pytest.raises(DataError, match="file is a file, so nothing can be written below it"):
        write_text_atomic("", tmp_path / "file" / "below")
    with (
        pytest.raises(DataError, match="file is a file; name a folder"),
        output_folder(tmp_path / "file"),
    ):
        pass
    with (
        pytest.raises(DataError, match="file is a file, so nothing can be written below it"),
        output_folder(tmp_path / "file" / "below"),
    ):
        pass


@pytest.mark.parametrize("there", [True, False], ids=["old folder", "new folder"])
def test_a_folder_appears_when_all_of_it_exists(tmp_path, there: bool) -> None:
    target = tmp_path / "deep" / "out"
    if there:
        target.mkdir(parents=True)
        (target / "foreign.txt").write_text("stays")
        (target / "a.csv").write_text("old")
    with output_folder(target) as folder:
        (folder / "a.csv").write_text("new")
        (folder / "figures").mkdir()
        (folder / "figures" / "b.svg").write_text("b")
        assert there == (target / "foreign.txt").exists()
        assert not there or (target / "a.csv").read_text() == "old"
    found = {str(p.relative_to(target)) for p in target.rglob("*") if p.is_file()}
    assert found == {"a.csv", "figures/b.svg"} | ({"foreign.txt"} if there else set())
    assert (target / "a.csv").read_text() == "new"
    assert [p.name for p in target.parent.iterdir()] == ["out"]


@pytest.mark.parametrize("there", [True, False], ids=["old folder", "new folder"])
def test_an_error_leaves_nothing(tmp_path, there: bool) -> None:
    target = tmp_path / "out"
    if there:
        target.mkdir()
        (target / "a.csv").write_text("old")
    with pytest.raises(ZeroDivisionError):
        fill(target, ["a.csv"], then_fail=True)
    assert [p.name for p in tmp_path.iterdir()] == (["out"] if there else [])
    assert not there or [p.read_text() for p in target.iterdir()] == ["old"]


def test_a_folder_in_the_place_of_a_file_stops_before_anything_moves(tmp_path) -> None:
    (tmp_path / "out" / "b.csv").mkdir(parents=True)
    with pytest.raises(DataError, match=r"b\.csv is a folder"):
        fill(tmp_path / "out", ["a.csv", "b.csv"])
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["b.csv"]


def test_a_kill_leaves_the_target_alone(tmp_path) -> None:
    script = (
        "import os, signal, sys\n"
        "from neartie.data.files import output_folder\n"
        "with output_folder(sys.argv[1]) as folder:\n"
        "    (folder / 'a.csv').write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "out")], check=False)
    assert done.returncode == -signal.SIGKILL
    assert not (tmp_path / "out").exists()
    # what it left goes when the next process writes there, and what is of a living one stays
    (left,) = tmp_path.iterdir()
    living = tmp_path / left.name.replace(f".{left.name.split('.')[3]}.", f".{os.getpid()}.")
    living.mkdir()
    (tmp_path / ".neartie.elsewhere.1.x").mkdir()
    fill(tmp_path / "out", ["a.csv"])
    found = sorted(place.name for place in tmp_path.iterdir())
    assert found == sorted([".neartie.elsewhere.1.x", living.name, "out"])


def test_what_a_kill_leaves_beside_a_target_goes_although_that_exists_by_then(tmp_path) -> None:
    """A command that keeps finished parts in its folder, and is killed before that is filled."""
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from neartie.data.files import output_folder\n"
        "with output_folder(sys.argv[1]):\n"
        "    (Path(sys.argv[1]) / 'parts').mkdir(parents=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    out = tmp_path / "out"
    done = subprocess.run([sys.executable, "-c", script, str(out)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 2
    fill(out, ["a.csv"])
    assert [place.name for place in tmp_path.iterdir()] == ["out"]
    assert sorted(place.name for place in out.iterdir()) == ["a.csv", "parts"]


@pytest.mark.parametrize("what", ["a text", "a posterior"])
def test_what_a_kill_leaves_of_a_single_file_goes_too(tmp_path, what) -> None:
    """A kill in the midst of writing, and the next command that writes to this folder."""
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "kill = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
        "os.replace = kill\n"
    )
    script += {
        "a text": "from neartie.data.files import write_text_atomic\n"
        "write_text_atomic('half', Path(sys.argv[1]) / 'a.csv')\n",
        "a posterior": "import xarray as xr\n"
        "from neartie.inference.posterior_file import write_posterior\n"
        "tree = xr.DataTree.from_dict({'posterior': xr.Dataset({'a': 1.0})})\n"
        "write_posterior(tree, Path(sys.argv[1]) / 'posterior.nc')\n",
    }[what]
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".neartie.")
    fill(tmp_path, ["b.csv"])
    assert [place.name for place in tmp_path.iterdir()] == ["b.csv"]
