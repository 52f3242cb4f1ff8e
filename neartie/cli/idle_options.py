"""Options that would do nothing: whoever types one is told so by name, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import typer

_POSTERIORS: Final = ("nuts", "gibbs", "laplace", "pathfinder", "advi")
#: Of each option that says how to sample: the engines that heed it.
SAMPLING: Final[Mapping[str, tuple[str, ...]]] = {
    "draws": _POSTERIORS,
    "tune": ("nuts", "gibbs"),
    "chains": ("nuts", "gibbs"),
    "cores": ("nuts", "gibbs"),
    "target_accept": ("nuts",),
}


def refuse_idle(context: typer.Context, names: Iterable[str], reason: str) -> None:
    """Refuse options that were typed, and that nothing of what is asked for heeds.

    Parameters
    ----------
    context : typer.Context
        Of the command.
    names : iterable of str
        Its arguments.
    reason : str
        What follows the option's name: a whole sentence.

    Raises
    ------
    typer.BadParameter
        Names the first that was typed, whatever its value. A default is never refused.
    """
    for name in names:
        source = context.get_parameter_source(name)
        # of both Clicks that Typer has had
        if source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"{_option(context, name)} {reason}")


def refuse_idle_sampling(
    context: typer.Context,
    engine: str,
    *,
    heeded: Mapping[str, tuple[str, ...]] = SAMPLING,
) -> None:
    """Refuse options of sampling that an engine does not heed.

    Parameters
    ----------
    context : typer.Context
    engine : str
    heeded : mapping
        Engines by argument.

    Raises
    ------
    typer.BadParameter
    """
    for name, engines in heeded.items():
        if engine not in engines:
            few = " and ".join(engines) if len(engines) < 3 else "a posterior"
            refuse_idle(context, [name], f"does nothing with the engine {engine}: it is for {few}")


def _option(context: typer.Context, name: str) -> str:
    """Return how an argument is called on the command line."""
    for parameter in context.command.params:
        if parameter.name == name:
            return max(parameter.opts, key=len)
    return f"--{name.replace('_', '-')}"
