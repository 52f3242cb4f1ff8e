"""Invented leaderboards as `neartie compare --simulate` has them described: --world, --design."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

from neartie.cli.compare_options import World

if TYPE_CHECKING:
    from neartie.audits.comparison_boards import DesignBoards, ModelBoards


def invented_boards(world: World, text: str | None) -> DesignBoards | ModelBoards:
    """Return the boards that --world and --design describe.

    Parameters
    ----------
    world : World
    text : str or None
        NAME=VALUE after commas; names as in `neartie simulate`.

    Raises
    ------
    DataError
        If a name or value is not one of them.

    Examples
    --------
    >>> boards = invented_boards(World.leaderboard, "items=80, families=Qwen,Llama, dif-share=0.5")
    >>> dict(boards.design)
    {'n_items': 80, 'families': ['Qwen', 'Llama'], 'dif_share': 0.5}
    """
    from neartie.audits.comparison_boards import DESIGN, DesignBoards, ModelBoards
    from neartie.data.errors import DataError

    if world is World.model:
        usual = {f.name: f.default for f in fields(ModelBoards) if f.default is not MISSING}
    else:
        usual = DESIGN
    try:
        given = _arguments(text or "", usual)
        if world is World.model:
            return ModelBoards(**given)
        return DesignBoards(design=given)
    except ValueError as error:
        raise DataError(f"--design: {_in_options(str(error), usual)}") from error


def _arguments(text: str, usual: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments by name, of the kinds that their usual values have."""
    # a part without a sign of equality goes on with the value before it: names of families
    parts = re.split(r",(?=[^,=]*=)", text) if text.strip() else []
    found: dict[str, Any] = {}
    for part in parts:
        typed, equal, value = (piece.strip() for piece in part.partition("="))
        if not equal:
            raise ValueError(
                f"takes NAME=VALUE after commas, such as items=200, got {part.strip()!r}"
            )
        name = _argument(typed, usual)
        if name in found:
            raise ValueError(f"{typed} is given twice")
        found[name] = _value(typed, value.rstrip(", "), usual[name])
    return found


def _argument(typed: str, usual: Mapping[str, Any]) -> str:
    """Return the argument that a name on the command line stands for."""
    plain = typed.lower().replace("-", "_")
    for name in (plain, f"n_{plain}", plain.removesuffix("s"), f"n_{plain}s"):
        if name in usual:
            return name
    raise ValueError(f"there is no {typed!r}; there are {', '.join(map(_option, usual))}")


def _value(typed: str, text: str, usual: Any) -> Any:
    if isinstance(usual, str):
        return text
    if isinstance(usual, float):
        try:
            return float(text)
        except ValueError:
            raise ValueError(f"{typed} takes a number, got {text!r}") from None
    if text.isdecimal():
        return int(text)
    if typed.lower() == "families" and not re.fullmatch(r"[-+.\d]*", text):
        return [name.strip() for name in text.split(",") if name.strip()]
    raise ValueError(f"{typed} takes a whole number, got {text!r}")


def _option(name: str) -> str:
    return name.removeprefix("n_").replace("_", "-")


def _in_options(message: str, usual: Mapping[str, Any]) -> str:
    """Name parts of --design in place of arguments, for the user at the keyboard."""
    return re.sub(r"\w+", lambda w: _option(w[0]) if w[0] in usual else w[0], message)
