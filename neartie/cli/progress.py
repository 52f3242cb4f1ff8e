"""Progress of long steps on the terminal; silent where nobody looks on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from neartie.data.wording import printable

# Seconds over which the speed of a step is averaged.
_LONG: Final = 3600.0


def with_notice(
    say: Callable[[str, float], None], notice: str, *, at: str
) -> Callable[[str, float], None]:
    """Return progress that gives a notice on standard error where the first such step begins.

    Parameters
    ----------
    say : callable
        Of `show_progress`.
    notice : str
        Nothing is said where it is empty.
    at : str
        How the name of the step begins: what is checked before it is checked by then.
    """
    waiting = [notice] if notice else []

    def tell(name: str, share: float) -> None:
        if waiting and name.startswith(at):
            print(printable(waiting.pop()), file=sys.stderr)
        say(name, share)

    return tell


@contextmanager
def show_progress() -> Iterator[Callable[[str, float], None]]:
    """Give a function (step, share done) that draws a bar a step on standard error.

    Yields
    ------
    callable
        Each new name opens a bar and completes the one before. What follows " · " in a name is
        detail, shown as it changes.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(file=sys.stderr)
    bars = Progress(
        TextColumn("{task.description:<28}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[detail]}"),
        console=console,
        transient=True,
        # of steps that come once in minutes, too, the time left is to be known
        speed_estimate_period=_LONG,
        disable=not console.is_terminal,
    )
    tasks: dict[str, TaskID] = {}

    def say(name: str, share: float) -> None:
        step, _, detail = name.partition(" · ")
        if step not in tasks:
            for task in tasks.values():
                bars.update(task, completed=1)
                bars.stop_task(task)
            tasks[step] = bars.add_task(step, total=1, detail="")
        bars.update(tasks[step], completed=share)
        if detail:
            bars.update(tasks[step], detail=detail)

    with bars:
        yield say
