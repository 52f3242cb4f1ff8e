"""What a blocked Gibbs sampler of one kind of model offers to the code that runs its chains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

# Values by name. Names that begin with an underscore are the sampler's own.
type State = dict[str, NDArray[np.float64]]
type Start = Callable[[np.random.Generator], State]


class BlockSampler(Protocol):
    """Draws all unknowns of a model, block by block.

    Attributes
    ----------
    names : tuple of str
        The free variables of the PyMC model, as it calls them.

    Notes
    -----
    A sampler does not change once it is made, so chains in several threads share it. A state and
    a generator together settle all that follows: this is what checkpoints save.
    """

    @property
    def names(self) -> tuple[str, ...]: ...

    def start(self, rng: np.random.Generator) -> State:
        """Return dispersed values of all free variables, on their own scales."""
        ...

    def place_anchors(self, state: State) -> None:
        """Let searches for conditional modes begin at a state that others wrote, if there are any."""
        ...

    def sweep(self, state: State, rng: np.random.Generator, *, tuning: bool) -> None:
        """Draw every block once, in place; nothing adapts unless `tuning`."""
        ...

    def counts(self, state: State) -> Mapping[str, float]:
        """Return what the report should say of a chain: shares of accepted proposals."""
        ...
