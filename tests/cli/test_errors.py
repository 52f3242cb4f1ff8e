"""What the command line says, and returns, when something is wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
import typer

import neartie
from neartie.cli import app as app_module
from neartie.cli.app import main
from neartie.data.errors import CaveatWarning, ConvergenceError, DataError


@pytest.fixture
def command(monkeypatch):
    """A function that replaces all commands by one, `it`, which calls what it is given."""

    def replace(action) -> None:
        app = typer.Typer(pretty_exceptions_enable=False)
        app.command("it")(action)
        app.callback()(lambda: None)
        monkeypatch.setattr(app_module, "app", app)

    return replace


def raising(error: BaseException):
    def act() -> None:
        raise error

    return act


def test_bad_data_is_a_sentence_and_two(tmp_path: Path, capsys) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("model,q1\nant,maybe\n")
    assert main(["describe", str(path)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == (
        f"error: {path}, row 2, column 'q1' (model 'ant', item 'q1'): 'maybe' is not a score "
        "(if 'q1' is no item, move the column to the item table)\n"
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [("gone.csv", "no such file"), (".", "is a folder"), ("empty.csv", "is empty")],
)
def test_files_that_are_none(tmp_path: Path, capsys, name: str, words: str) -> None:
    (tmp_path / "empty.csv").touch()
    assert main(["describe", str(tmp_path / name)]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [["describe"], ["describe", "a.csv", "--rows", "people"], ["nothing"], ["describe", "--what"]],
)
def test_wrong_usage_is_two(arguments: list[str], capsys) -> None:
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert "Usage: neartie" in shown.err
    assert "Traceback" not in shown.err


def test_no_convergence_is_three(command, capsys) -> None:
    command(raising(ConvergenceError("the last update was 0.1")))
    assert main(["it"]) == 3
    assert capsys.readouterr().err == "error: did not converge: the last update was 0.1\n"


def test_an_interrupt_is_130(command, capsys) -> None:
    command(raising(KeyboardInterrupt()))
    assert main(["it"]) == 130
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("signalled", "status"), [(KeyboardInterrupt(), 130), (SystemExit(143), 143)]
)
def test_a_signal_amid_compiled_code_is_no_traceback(command, capsys, signalled, status) -> None:
    # this is how Numba passes on what a signal handler raises while it converts arguments
    def act() -> None:
        try:
            raise SystemError("returned a result with an exception set") from signalled
        except SystemError as error:
            raise SystemError("dispatcher: returned a result with an exception set") from error

    command(act)
    assert main(["it"]) == status
    assert ("interrupted" in capsys.readouterr().err) == (status == 130)


def test_a_system_error_without_a_signal_keeps_its_traceback(command) -> None:
    command(raising(SystemError("a slip of theirs")))
    with pytest.raises(SystemError, match="a slip of theirs"):
        main(["it"])


def test_names_in_errors_cannot_move_the_cursor(command, capsys) -> None:
    command(raising(DataError("model 'evil\x1b[2J\nname' is twice there")))
    assert main(["it"]) == 2
    assert capsys.readouterr().err == "error: model 'evil\\x1b[2J\\nname' is twice there\n"


def test_what_nobody_foresaw_keeps_its_traceback(command) -> None:
    command(raising(ZeroDivisionError("a slip of ours")))
    with pytest.raises(ZeroDivisionError, match="a slip of ours"):
        main(["it"])


def test_a_caveat_is_a_sentence(command, capsys) -> None:
    command(lambda: warnings.warn("few models", CaveatWarning, stacklevel=1))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert main(["it"]) == 0
    assert capsys.readouterr().err == "warning: few models\n"


def test_a_command_may_set_the_status(command) -> None:
    command(raising(typer.Exit(4)))
    assert main(["it"]) == 4


def test_version_and_help(capsys) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"neartie {neartie.__version__}\n"
    assert main(["--help"]) == 0
    assert "describe" in capsys.readouterr().out


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_a_reader_that_goes_away_is_no_traceback(argument: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "neartie", argument], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 1


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_without_some_letters_is_no_traceback(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("model,q1\nτ,1\n漢,0\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "neartie", "describe", str(path)],
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": encoding},
        check=False,
    )
    assert done.stderr == b""
    assert done.returncode == 0
    assert b"\\u03c4 1" in done.stdout


def test_told_to_end_it_clears_away_what_is_half_done(tmp_path: Path) -> None:
    script = (
        "import sys, time, typer\n"
        "from neartie.cli import app\n"
        "from neartie.data.files import output_folder\n"
        "app.app = typer.Typer()\n"
        "@app.app.command()\n"
        "def it(out: str) -> None:\n"
        "    with output_folder(out) as folder:\n"
        "        (folder / 'a.csv').write_text('half')\n"
        "        print('now', flush=True)\n"
        "        time.sleep(30)\n"
        "sys.exit(app.main())\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "out")], stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"now\n"
    assert len(list(tmp_path.iterdir())) == 1
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait() == 143
    process.stdout.close()
    assert list(tmp_path.iterdir()) == []


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from neartie.cli.app import main\n"
        "main(['--help'])\n"
        "heavy = {'numpy', 'pandas', 'pyarrow', 'scipy', 'numba', 'matplotlib', 'sklearn', 'pymc', 'pytensor', 'arviz', 'nutpie'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
    # Far above the usual 0.2 s, since other processes may keep the machine busy.
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize("command", ["audit", "screen"])
@pytest.mark.parametrize("folder", ["", " "])
def test_an_empty_folder_name_is_refused(command, folder, capsys):
    assert main([command, "responses.csv", "--out", folder]) == 2
    assert "the name is empty; write . for the current folder" in " ".join(
        capsys.readouterr().err.split()
    )
