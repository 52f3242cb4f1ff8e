"""The `neartie` command: which subcommands exist, and how errors reach the user.

A new subcommand is a function in a module of its own, beside this one, and one line in the list
below. Such a module imports what is heavy inside its function, so that help stays quick.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated, TextIO

import typer

import neartie
from neartie.cli.audit import audit
from neartie.cli.check import check
from neartie.cli.compare import compare
from neartie.cli.compare_estimates import comparisons
from neartie.cli.content_audit import content_audit
from neartie.cli.demo import demo
from neartie.cli.describe import describe
from neartie.cli.fit import fits
from neartie.cli.interrupts import EXIT_INTERRUPTED, hear_signals
from neartie.cli.rank import rank
from neartie.cli.score import score
from neartie.cli.screen import screen
from neartie.cli.screen_experiment import experiments
from neartie.cli.simulate import simulate
from neartie.cli.validate import validations
from neartie.data.errors import CaveatWarning, ConvergenceError, DataError
from neartie.data.wording import printable

EXIT_BROKEN_PIPE = 1
EXIT_DATA = 2
EXIT_CONVERGENCE = 3

app = typer.Typer(
    name="neartie",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.command()(demo)
app.command()(describe)
app.command()(audit)
app.add_typer(content_audit)
app.command()(screen)
app.add_typer(fits)
app.command()(check)
app.command()(rank)
app.command()(compare)
app.add_typer(comparisons)
app.command()(score)
app.add_typer(experiments)
app.command()(simulate)
app.add_typer(validations)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"neartie {neartie.__version__}")
        raise typer.Exit


@app.callback()
def _neartie(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Which orderings on a leaderboard can be believed?"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        What stands after `neartie`; those of the process when left out.

    Returns
    -------
    int
        0 when all went well, 1 when the reader of a pipe went away, 2 for wrong usage or data,
        3 for an iteration that did not converge, 130 after an interrupt, 143 when told to end. An
        error that nobody foresaw is raised, with its traceback.

    Examples
    --------
    >>> main(["--version"])
    neartie 0.1.0
    0
    """
    if arguments is None:
        hear_signals()
        if isinstance(sys.stdout, io.TextIOWrapper):
            # A pipe on Windows, say, has no τ; that must not cost the rest of the text.
            sys.stdout.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            status = _run(arguments)
            sys.stdout.flush()
        except DataError as error:
            return _fail(f"error: {error}", EXIT_DATA)
        except ConvergenceError as error:
            return _fail(f"error: did not converge: {error}", EXIT_CONVERGENCE)
        except KeyboardInterrupt:
            status = EXIT_INTERRUPTED
        except SystemError as error:
            if (found := _status_of_signal(error)) is None:
                raise
            status = found
        except BrokenPipeError:
            # What is still buffered would raise once more when the interpreter closes stdout.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return EXIT_BROKEN_PIPE
    return _fail("interrupted", status) if status == EXIT_INTERRUPTED else status


def _run(arguments: Sequence[str] | None) -> int:
    try:
        app(args=arguments, prog_name="neartie")
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 0
    return 0


def _status_of_signal(error: BaseException) -> int | None:
    """Return the status of a signal that arrived while Numba converted arguments, or None.

    What a signal handler raises there comes out as the cause of a SystemError.
    """
    cause = error.__cause__ or error.__context__
    if cause is None:
        return None
    if isinstance(cause, KeyboardInterrupt):
        return EXIT_INTERRUPTED
    if isinstance(cause, SystemExit) and isinstance(cause.code, int):
        return cause.code
    return _status_of_signal(cause)


def _fail(message: str, status: int) -> int:
    print(printable(message), file=sys.stderr)
    return status


_show_plainly = warnings.showwarning


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a caveat as a sentence; leave every other warning as it is."""
    if issubclass(category, CaveatWarning):
        print(printable(f"warning: {message}"), file=sys.stderr)
    else:
        _show_plainly(message, category, filename, lineno, file, line)
