"""Draws of residual family effects that count the offset's uncertainty over owners."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neartie.data.errors import DataError
from neartie.inference.bootstrap_offset import BootstrapOffset
from neartie.inference.residual_dif import fit_residual_dif
from neartie.inference.residual_dif_draws import ResidualDifDraws, draw_residual_dif

type Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ResidualDifBootstrap:
    """Draws of easiness and family effects, some under each of several offsets.

    Attributes
    ----------
    draws : ResidualDifDraws
        Of all offsets, one after the other; `acceptance` is a mean, `heaviest` the largest over them.
    offset_index : (n_draw,) int
        Position in `offsets` of what each draw was made under.
    offsets : tuple of BootstrapOffset
    """

    draws: ResidualDifDraws
    offset_index: NDArray[np.intp]
    offsets: tuple[BootstrapOffset, ...]

    @property
    def facts(self) -> dict[str, Any]:
        """Return how the chains and the samples did, for a table of runs."""
        found = [offset.k for offset in self.offsets]
        return {
            **self.draws.facts,
            "offsets": len(self.offsets),
            "smallest_k": min(found),
            "offsets_with_fewer_dimensions": sum(
                offset.k < offset.dimension for offset in self.offsets
            ),
        }

    def linear_predictor(
        self, draw: int, *, models: NDArray[np.intp], family: NDArray[np.intp]
    ) -> Floats:
        """Return the logit of a right answer of some models in one draw.

        Parameters
        ----------
        draw : int
        models : (n_chosen,) int
            Positions among the models of the offsets.
        family : (n_chosen,) int
            Positions in `draws.families`.

        Returns
        -------
        (n_item, n_chosen) float, logit
            Infinite in the rows of constant items.
        """
        offset = self.offsets[self.offset_index[draw]].values(models)
        return self.draws.linear_predictor(draw, offset=offset, family=family)


def draw_residual_dif_bootstrap(
    values: NDArray[np.int8],
    *,
    family: ArrayLike,
    offsets: Iterable[BootstrapOffset],
    penalty: float = 1.0,
    draws: int = 10,
    moves: int = 3,
    rng: np.random.Generator | int | None = None,
) -> ResidualDifBootstrap:
    """Return posterior draws of easiness and family effects under each of several offsets.

    Parameters
    ----------
    values : (n_item, n_model) int8
        1 right, 0 wrong, -1 missing. All models count once, whatever owners the offset is from.
    family : (n_model,) str
        Family of each model; at least two.
    offsets : iterable of BootstrapOffset
        As `bootstrap_offsets` gives them, of these items and models.
    penalty : float
        The effects' prior precision, as in `draw_residual_dif`.
    draws : int
        Under each offset.
    moves : int
        Of an item's chain for each draw.
    rng : Generator, int or None

    Returns
    -------
    ResidualDifBootstrap

    Raises
    ------
    DataError
        If there is no offset, or one is not of these items and models; and as
        `draw_residual_dif` does.
    ValueError
        If the penalty, the number of draws or of moves is out of range.
    ConvergenceError
        If a mode is not found.

    Notes
    -----
    A mixture with equal weights: over offsets it varies as the bootstrap of owners says, and given
    an offset as the posterior of `draw_residual_dif` says. It is no posterior of one model: the
    offset is drawn from its sampling distribution, not from what the answers say beside the
    effects.

    Examples
    --------
    >>> from neartie.inference.bootstrap_offset import bootstrap_offsets
    >>> from neartie.inference.spectral import working_responses
    >>> answers = np.array([[1, 0, 1, 1], [0, 0, 1, 1], [1, 0, 0, 1]], dtype=np.int8)
    >>> samples = bootstrap_offsets(
    ...     working_responses(answers), owner=list("abcd"), dimension=1, n=3, rng=1
    ... )
    >>> drawn = draw_residual_dif_bootstrap(
    ...     answers, family=list("xxyy"), offsets=samples, draws=2, rng=1
    ... )
    >>> drawn.draws.effects.shape, drawn.offset_index.tolist()
    ((6, 3, 2), [0, 0, 1, 1, 2, 2])
    """
    generator = np.random.default_rng(rng)
    kept, found, start = [], [], None
    for offset in offsets:
        shape = len(offset.loading), offset.coordinates.shape[1]
        if shape != values.shape:
            raise DataError(
                f"an offset is of {shape[0]} items and {shape[1]} models, the answers of "
                f"{values.shape[0]} and {values.shape[1]}"
            )
        full = offset.values()
        if start is None:
            start = fit_residual_dif(values, family=family, offset=full, penalty=penalty)
        kept.append(offset)
        found.append(
            draw_residual_dif(
                values,
                family=family,
                offset=full,
                penalty=penalty,
                draws=draws,
                moves=moves,
                start=start,
                rng=generator,
            )
        )
    if not found:
        raise DataError("there is no offset to draw under")
    return ResidualDifBootstrap(
        draws=ResidualDifDraws(
            families=found[0].families,
            easiness=np.concatenate([part.easiness for part in found]),
            effects=np.concatenate([part.effects for part in found]),
            constant=found[0].constant,
            acceptance=np.mean([part.acceptance for part in found], axis=0),
            heaviest=np.stack([part.heaviest for part in found]).max(axis=0),
        ),
        offset_index=np.repeat(np.arange(len(found)), draws),
        offsets=tuple(kept),
    )
