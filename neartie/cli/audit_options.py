"""Options that say how an audit is made, for every command that makes one."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

if TYPE_CHECKING:
    from neartie.audits.settings import AuditSettings

ALPHA: Final = "0.5,0.3,0.7"


class Rule(StrEnum):
    """How the dimension is chosen from the loss curve."""

    one_se = "one-se"
    paired = "paired"
    minimum = "minimum"


class ConstantItems(StrEnum):
    """Whether constant items may be anchors."""

    keep = "keep"
    drop = "drop"


class Decomposition(StrEnum):
    """How the spectral model is computed."""

    exact = "exact"
    randomized = "randomized"


KOption = Annotated[
    str | None,
    typer.Option(
        "--k", help="Dimension of the spectral model, such as 8, or 4,8 for halves 0 and 1."
    ),
]
AlphaOption = Annotated[
    str,
    typer.Option(
        "--alpha",
        help="Fraction of items to keep as anchors; more of them, after commas, are "
        "a sensitivity analysis.",
    ),
]
ControlsOption = Annotated[
    int, typer.Option("--controls", min=0, help="Number of matched random subtests.")
]
BootstrapsOption = Annotated[
    int, typer.Option("--bootstraps", min=0, help="Number of recomposed benchmarks.")
]
MinFamilySizeOption = Annotated[
    int, typer.Option("--min-family-size", min=1, help="Drop families with fewer models.")
]
OwnerCapOption = Annotated[
    int, typer.Option("--owner-cap", min=1, help="Most models of one owner and family.")
]
ConstantItemsOption = Annotated[
    ConstantItems,
    typer.Option("--constant-items", help="Whether items answered alike by all can be anchors."),
]
RuleOption = Annotated[
    Rule, typer.Option("--rule", help="How to choose K from the held-out losses.")
]
CyclesOption = Annotated[
    int | None,
    typer.Option(
        "--cycles",
        min=1,
        help="Stop the DIF fit after so many cycles (the paper: 5) instead of at its optimum.",
    ),
]
DecompositionOption = Annotated[
    Decomposition, typer.Option("--decomposition", help="Exact, or randomized as in the paper.")
]


def audit_settings(k: str | None, *, alpha: str, **others: Any) -> AuditSettings:
    """Return the settings that options describe.

    Parameters
    ----------
    k, alpha : str
        As typed.
    **others
        Further settings.

    Raises
    ------
    DataError
        If a value is impossible; names the option.
    """
    from neartie.audits.settings import AuditSettings
    from neartie.data.errors import DataError

    fractions = [part for part in alpha.split(",") if part.strip()]
    try:
        return AuditSettings(dimension=given_dimension("--k", k), alpha=fractions, **others)
    except ValueError as error:
        raise DataError(_in_options(str(error))) from error


def _in_options(message: str) -> str:
    """Name options in place of settings, for the user at the keyboard."""
    message = re.sub(r"^dimension\b", "--k", message)
    message = re.sub(r"^alpha\b", "--alpha", message)
    # of what is read as a number, only the fraction is typed
    return re.sub(r"^expected a number", "--alpha: expected a number", message)


def given_dimension(option: str, text: str | None) -> int | tuple[int, int] | None:
    """Return the dimensions that an option names.

    Raises
    ------
    ValueError
        If it names something else.

    Examples
    --------
    >>> given_dimension("--k", "8"), given_dimension("--k", "4,8")
    (8, (4, 8))
    """
    if text is None:
        return None
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2):
        raise ValueError(
            f"{option} takes one whole number, or two for halves 0 and 1, such as 4,8; got {text!r}"
        )
    return numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])
