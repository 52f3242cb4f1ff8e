"""The flags of `neartie audit` for further checks, and how these run from the command line."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from neartie.audits.further_checks import CheckChoices, FurtherChecks
    from neartie.audits.result import NearTieAudit
    from neartie.data.dask import Client
    from neartie.data.responses import Responses

# Where finished variants of a battery lie until the audit is complete.
UNFINISHED: Final = "unfinished"
FULL_PERMUTATIONS: Final = 99

RobustnessFlag = Annotated[
    bool,
    typer.Option(
        "--robustness", help="Audit perturbed populations; goes on where it was after a kill."
    ),
]
ReplicationFlag = Annotated[
    bool, typer.Option("--replication", help="Do item signatures return with other owners?")
]
AttributionFlag = Annotated[
    bool, typer.Option("--attribution", help="Which sources carry it, and which families move?")
]
PermutedOption = Annotated[
    int | None,
    typer.Option(
        "--permuted",
        min=0,
        metavar="N",
        help="Compare with anchors under N permutations of the family labels, and with random "
        "subtests of equal discrimination.",
    ),
]
FullFlag = Annotated[
    bool, typer.Option("--full", help=f"All of these, with --permuted {FULL_PERMUTATIONS}.")
]


def check_choices(
    *, robustness: bool, replication: bool, attribution: bool, permuted: int | None, full: bool
) -> CheckChoices:
    """Return which checks the flags ask for.

    Examples
    --------
    >>> check_choices(
    ...     robustness=False, replication=True, attribution=False, permuted=None, full=False
    ... ).permutations
    0
    """
    from neartie.audits.further_checks import CheckChoices

    if permuted is None:
        permuted = FULL_PERMUTATIONS if full else 0
    return CheckChoices(
        robustness=robustness or full,
        replication=replication or full,
        attribution=attribution or full,
        permutations=permuted,
    )


def checked(
    data: Responses,
    audit: NearTieAudit,
    choices: CheckChoices,
    *,
    out: Path,
    client: Client | None = None,
    progress: Callable[[str, float], None],
) -> FurtherChecks:
    """Return the further checks of an audit; finished variants are kept below its folder.

    Parameters
    ----------
    data : Responses
    audit : NearTieAudit
    choices : CheckChoices
    out : Path
        The folder of the audit.
    client : Dask client, optional
    progress : callable

    Returns
    -------
    FurtherChecks
    """
    from neartie.audits.further_checks import run_checks

    store = out / UNFINISHED if choices.robustness else None
    return run_checks(data, audit, choices, store=store, client=client, progress=progress)


def forget_unfinished(out: Path) -> None:
    """Remove the finished variants of an audit that is written."""
    shutil.rmtree(out / UNFINISHED, ignore_errors=True)
