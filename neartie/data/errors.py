"""The three exceptions and warnings of neartie."""

from __future__ import annotations


class DataError(ValueError):
    """The data do not allow what was asked; the message says where and what to do."""


class ConvergenceError(RuntimeError):
    """An iteration ended without reaching its tolerance.

    Parameters
    ----------
    message : str
        What did not converge, and how far it came.
    state : object
        The last state of the iteration.
    """

    def __init__(self, message: str, state: object = None) -> None:
        super().__init__(message)
        self.state = state


class CaveatWarning(UserWarning):
    """The result holds, with the caveat that the message names."""
