"""The values that PyMC gives a model's unknowns to start with, asked for once a model."""

from __future__ import annotations

from typing import Any, Final
from weakref import WeakKeyDictionary

_KNOWN: Final[WeakKeyDictionary[Any, dict[str, Any]]] = WeakKeyDictionary()


def initial_values(model: Any) -> dict[str, Any]:
    """Return the initial point of a model, the same every time.

    Parameters
    ----------
    model : pm.Model
        With all its variables: what is added later is not seen.

    Returns
    -------
    dict of name to array
        By value variable, on the unconstrained scale.

    Notes
    -----
    PyMC compiles a function for it at every call, which takes longer than a short fit.
    """
    if model not in _KNOWN:
        _KNOWN[model] = dict(model.initial_point(random_seed=0))
    return _KNOWN[model]
