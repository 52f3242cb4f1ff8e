"""Which orderings on a leaderboard can be believed, and which approximations say so rightly.

The names below are imported when they are first used, so that `import neartie` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neartie.data.errors import CaveatWarning as CaveatWarning
    from neartie.data.errors import ConvergenceError as ConvergenceError
    from neartie.data.errors import DataError as DataError
    from neartie.data.read import read_responses as read_responses
    from neartie.data.responses import Responses as Responses
    from neartie.data.summary import describe as describe

__version__ = "0.1.0"

# Where each public name lives. A new name stands here, in `__all__` and in the imports above.
_HOMES = {
    "CaveatWarning": "neartie.data.errors",
    "ConvergenceError": "neartie.data.errors",
    "DataError": "neartie.data.errors",
    "Responses": "neartie.data.responses",
    "describe": "neartie.data.summary",
    "read_responses": "neartie.data.read",
}

__all__ = [
    "CaveatWarning",
    "ConvergenceError",
    "DataError",
    "Responses",
    "__version__",
    "describe",
    "read_responses",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'neartie' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
