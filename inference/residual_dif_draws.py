"""Posterior draws of residual item-by-family effects under a fixed offset (P0, eqs 1-3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neartie.data.memory import require_memory
from neartie.inference.residual_dif import ResidualDif, family_codes, fit_residual_dif
from neartie.inference.residual_dif_chains import independence_chains

type Floats = NDArray[np.float64]

#: Degrees of freedom of the proposals beyond the number of families.
FREEDOM: Final = 3
#: Moves of a chain before the first draw's own.
BURN: Final = 20
# Random numbers that a block of items may hold.
_NUMBERS: Final = 2**22


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ResidualDifDraws:
    """Draws of easiness and family effects of every item.

    Attributes
    ----------
    families : tuple of str
        Names of the last axis of `effects`, sorted.
    easiness : (n_draw, n_item) float, logit
        At the family mean; inf or -inf for an item whose answers are all right or all wrong.
    effects : (n_draw, n_item, n_family) float, logit
        Sum zero over families.
    constant : (n_item,) int
        1 if every answer is right, -1 if every answer is wrong, 0 otherwise.
    acceptance : (n_item,) float in [0, 1]
        Share of proposals that were accepted; 1 for a constant item.
    heaviest : (n_item,) float
        Largest ratio of posterior and proposal density that was met, about 1 to 4. With the ratio
        r a chain forgets a share of 1/r of its past in every move.
    """

    families: tuple[str, ...]
    easiness: Floats
    effects: Floats
    constant: NDArray[np.int8]
    acceptance: Floats
    heaviest: Floats

    @property
    def n_draw(self) -> int:
        """Number of draws."""
        return len(self.easiness)

    @property
    def facts(self) -> dict[str, Any]:
        """Return how the chains did, for a table of runs."""
        return {
            "draws": self.n_draw,
            "constant_items": int((self.constant != 0).sum()),
            "mean_acceptance": float(self.acceptance.mean()),
            "lowest_acceptance": float(self.acceptance.min()),
            "heaviest_ratio": float(self.heaviest.max()),
        }

    def linear_predictor(
        self, draw: int, *, offset: Floats | float, family: NDArray[np.intp]
    ) -> Floats:
        """Return the logit of a right answer of some models in one draw.

        Parameters
        ----------
        draw : int
        offset : (n_item, n_chosen) float, logit
            Of these models, from the offset that the draws were made under.
        family : (n_chosen,) int
            Positions in `families`.

        Returns
        -------
        (n_item, n_chosen) float, logit
            Infinite in the rows of constant items.
        """
        return np.asarray(
            offset + self.easiness[draw][:, None] + self.effects[draw][:, family], dtype=np.float64
        )


def draw_residual_dif(
    values: NDArray[np.int8],
    *,
    family: ArrayLike,
    offset: Floats | float = 0.0,
    penalty: float = 1.0,
    draws: int = 1000,
    moves: int = 3,
    start: ResidualDif | None = None,
    rng: np.random.Generator | int | None = None,
) -> ResidualDifDraws:
    r"""Return posterior draws of easiness and family effects, the offset taken as known.

    Parameters
    ----------
    values : (n_item, n_model) int8
        1 right, 0 wrong, -1 missing.
    family : (n_model,) str
        Family of each model; at least two.
    offset : (n_item, n_model) float, logit
        Fixed part of the linear predictor.
    penalty : float
        :math:`\lambda > 0` of P0, eq 3: the effects' prior precision.
    draws : int
    moves : int
        Of an item's chain for each draw.
    start : ResidualDif, optional
        A fit of the same items and families to look for the mode from.
    rng : Generator, int or None
        An item's random numbers depend on its position alone, not on the other items.

    Returns
    -------
    ResidualDifDraws

    Raises
    ------
    DataError
        If shapes disagree, an item has no answer, a family label is blank, there is one family
        only, or the draws would not fit into memory.
    ValueError
        If the penalty, the number of draws or of moves is out of range.
    ConvergenceError
        If a mode is not found.

    Notes
    -----
    The model is :math:`\operatorname{logit} P(Y_{im} = 1) = o_{im} + b_i + \delta_{i f(m)}` with a
    flat easiness b and effects that are normal with the standard deviation
    :math:`1/\sqrt\lambda` on the sums of zero (`ResidualDifPriors(easiness_sd=None, dif_sd=...)`);
    its mode is the estimate of `fit_residual_dif`. Given the offset items are independent. Each
    has a Metropolis-Hastings chain whose proposals come, whatever the chain's place, from one
    distribution: a multivariate t with the mode's curvature, centred at the mean to third order, a
    quarter of it wider along the direction in which the posterior is skewed, because there it ends
    exponentially. A bounded ratio of densities makes such a chain forget its start geometrically.

    Where all answers to an item are right, the posterior has no finite easiness; as easiness grows
    the likelihood becomes flat, and the effects return to their prior. That limit is what is drawn:
    easiness inf (-inf where all are wrong), effects from the prior. The penalised estimate has
    effects of zero there, the middle of that prior.

    References
    ----------
    P0, eqs 1-5. Tierney (1994), Annals of Statistics 22, 1701-1762, doi:10.1214/aos/1176325750,
    for independence chains. Tierney and Kadane (1986), Journal of the American Statistical
    Association 81, 82-86, doi:10.2307/2287970, for the third-order mean.

    Examples
    --------
    >>> answers = np.array([[1, 1, 1, 0, 1, 0, 1, 0, 0], [1] * 9], dtype=np.int8)
    >>> drawn = draw_residual_dif(answers, family=list("AAAABBBBB"), draws=4000, rng=1)
    >>> drawn.effects.mean(axis=0).round(1) + 0.0
    array([[ 0.4, -0.4],
           [ 0. ,  0. ]])
    >>> drawn.easiness.mean(axis=0).round(1)
    array([0.3, inf])
    """
    for name, value in (("draws", draws), ("moves", moves)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
    fit = fit_residual_dif(values, family=family, offset=offset, penalty=penalty, start=start)
    codes = family_codes(family)[1]
    n_item, n_family = fit.effects.shape
    require_memory(
        16 * draws * n_item * (n_family + 1), purpose=f"{draws:,} draws of {n_item:,} items"
    )
    generator = np.random.default_rng(rng)
    full_offset = np.broadcast_to(np.asarray(offset, dtype=np.float64), values.shape)
    order = np.argsort(codes, kind="stable")
    blocks = np.searchsorted(codes[order], np.arange(n_family + 1)).astype(np.intp)

    levels = np.empty((draws, n_item, n_family))
    acceptance, heaviest = np.ones(n_item), np.ones(n_item)
    n_move = 1 + BURN + draws * moves
    step = max(1, _NUMBERS // (n_move * (n_family + 3)))
    for first in range(0, n_item, step):
        rows = np.arange(first, min(first + step, n_item))
        normal, stretch, uniform = _random_numbers(generator, len(rows), n_move, n_family)
        free = fit.constant[rows] == 0
        chosen = rows[free]
        found = np.empty((len(chosen), draws, n_family))
        ratio = np.empty(len(chosen))
        accepted = independence_chains(
            np.ascontiguousarray(values[chosen]),
            np.ascontiguousarray(full_offset[chosen]),
            order,
            blocks,
            fit.easiness[chosen, None] + fit.effects[chosen],
            penalty,
            normal[free],
            stretch[free],
            uniform[free],
            float(FREEDOM + n_family),
            BURN,
            found,
            ratio,
        )
        levels[:, chosen] = np.swapaxes(found, 0, 1)
        acceptance[chosen], heaviest[chosen] = accepted / (n_move - 1), ratio
        of_prior = normal[~free][:, 1 + BURN :: moves] / np.sqrt(penalty)
        levels[:, rows[~free]] = np.swapaxes(of_prior, 0, 1)
    easiness = levels.mean(axis=2)
    levels -= easiness[:, :, None]
    easiness[:, fit.constant > 0] = np.inf
    easiness[:, fit.constant < 0] = -np.inf
    return ResidualDifDraws(
        families=fit.families,
        easiness=easiness,
        effects=levels,
        constant=fit.constant,
        acceptance=acceptance,
        heaviest=heaviest,
    )


def _random_numbers(
    generator: np.random.Generator, n_item: int, n_move: int, n_family: int
) -> tuple[Floats, Floats, Floats]:
    """Return random numbers taken item by item, so that blocks of items change none.

    They are normal ones, what makes them those of a t distribution, and pairs of uniform ones.
    """
    normal = np.empty((n_item, n_move, n_family))
    gamma, uniform = np.empty((n_item, n_move)), np.empty((n_item, n_move, 2))
    half = (FREEDOM + n_family) / 2
    for i in range(n_item):
        generator.standard_normal(out=normal[i])
        generator.standard_gamma(half, out=gamma[i])
        generator.random(out=uniform[i])
    return normal, np.sqrt(half / gamma), uniform
