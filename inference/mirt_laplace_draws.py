"""Draws from the normal density at the joint mode of the multidimensional model, its scales held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError
from threadpoolctl import threadpool_limits

from neartie.data.errors import ConvergenceError, DataError
from neartie.data.memory import require_memory
from neartie.data.responses import Responses
from neartie.inference.mirt_curvature import CurvatureRoot
from neartie.inference.mirt_dif_map import ScaleRule, fit_mirt_dif_map
from neartie.inference.mirt_dif_result import MirtDifFit
from neartie.inference.mirt_errors import joint_memory
from neartie.inference.mirt_newton import MirtSummit
from neartie.inference.mirt_objective import Floats, PenalisedMirt, Point, evaluate
from neartie.inference.mirt_scales import MirtDifScales
from neartie.models.answers import checked_answers
from neartie.models.dif_effects import ZeroSum
from neartie.models.priors import MirtDifPriors


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class MirtLaplaceDraws:
    """Draws of all parameters around the joint mode.

    Attributes
    ----------
    mode : MirtDifFit
        With the ids that order models, items and families, and the scales held.
    easiness : (n_draw, n_item) float, logit
    effects : (n_draw, n_item, n_family) float, logit
        Rows sum to zero.
    loading : (n_draw, n_item, dimension) float
    ability : (n_draw, dimension, n_model) float
        On the axes of the mode, without any part along a rotation of all abilities. Only their
        product means something.
    """

    mode: MirtDifFit
    easiness: Floats
    effects: Floats
    loading: Floats
    ability: Floats

    @property
    def n_draw(self) -> int:
        """Number of draws."""
        return len(self.easiness)

    @property
    def facts(self) -> dict[str, Any]:
        """Return how the mode was found, for a table of runs."""
        return {
            "draws": self.n_draw,
            "converged": self.mode.converged,
            "starts": len(self.mode.start_log_posteriors),
            "scales_converged": self.mode.scales_converged,
            **self.mode.scales.to_dict(),
        }

    def linear_predictor(
        self, draw: int, *, models: NDArray[np.intp] | slice = slice(None)
    ) -> Floats:
        """Return the logit of a right answer of some models in one draw.

        Parameters
        ----------
        draw : int
        models : (n_chosen,) int or slice
            Positions in `mode.models`.

        Returns
        -------
        (n_item, n_chosen) float, logit
            Of cells without an answer too.
        """
        found = self.loading[draw] @ self.ability[draw][:, models]
        found += self.easiness[draw][:, None]
        found += self.effects[draw][:, self.mode.family[models]]
        return np.asarray(found)


def draw_mirt_laplace(
    responses: Responses,
    *,
    dimension: int,
    priors: MirtDifPriors | None = None,
    scales: MirtDifScales | ScaleRule = "answers",
    zero_sum: ZeroSum = "families",
    starts: int = 1,
    draws: int = 1000,
    rng: np.random.Generator | int | None = None,
) -> MirtLaplaceDraws:
    """Return draws of abilities, loadings, easiness and family effects around their joint mode.

    Parameters
    ----------
    responses : Responses
        Right/wrong answers, the model table with the column `family`; missing cells do not count.
        The order of rows and columns changes nothing.
    dimension : int
        K, the number of dimensions of ability.
    priors, scales, zero_sum, starts
        Of the mode, as in `fit_mirt_dif_map`.
    draws : int
    rng : Generator, int or None

    Returns
    -------
    MirtLaplaceDraws

    Raises
    ------
    DataError
        As `fit_mirt_dif_map` does.
    ValueError
        If an option is out of range.
    ConvergenceError
        If the mode is no maximum.

    Warns
    -----
    CaveatWarning
        If the iteration for the mode does not converge.

    See Also
    --------
    draw_around_mode : The same, from a mode that was found before.

    Examples
    --------
    >>> import pandas as pd
    >>> models = pd.DataFrame({"model": list("abcd"), "family": ["Phi", "Llama", "Phi", "Llama"]})
    >>> answers = Responses.build(
    ...     [[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0]], items=["x", "y", "z"], models=models
    ... )
    >>> drawn = draw_mirt_laplace(answers, dimension=1, scales="prior", draws=2000, rng=1)
    >>> drawn.effects.shape, drawn.linear_predictor(0).shape
    ((2000, 3, 2), (3, 4))
    >>> bool(abs(drawn.easiness.mean(axis=0) - drawn.mode.easiness).max() < 0.1)
    True
    """
    generator = np.random.default_rng(rng)
    # further starts must not move the draws
    of_starts, of_draws = generator.spawn(2)
    mode = fit_mirt_dif_map(
        responses,
        dimension=dimension,
        priors=priors,
        scales=scales,
        zero_sum=zero_sum,
        errors="known",
        starts=starts,
        rng=of_starts,
    )
    return draw_around_mode(responses, mode, draws=draws, rng=of_draws)


def draw_around_mode(
    responses: Responses,
    mode: MirtDifFit,
    *,
    draws: int = 1000,
    rng: np.random.Generator | int | None = None,
) -> MirtLaplaceDraws:
    r"""Return draws from the normal density with the mode and curvature of the posterior.

    Parameters
    ----------
    responses : Responses
        That the mode was found from.
    mode : MirtDifFit
    draws : int
    rng : Generator, int or None
        Fewer draws are, to rounding, the first of more.

    Returns
    -------
    MirtLaplaceDraws

    Raises
    ------
    DataError
        If items or models are not those of the mode, or a matrix would not fit into memory.
    ValueError
        If the number of draws is below 1.
    ConvergenceError
        If the curvature at the mode is not that of a maximum.

    Notes
    -----
    With :math:`H` the second derivatives and :math:`C_i` those between item i and the abilities,
    abilities are normal with the precision :math:`S = H_{\theta\theta} - \sum_i C_i^T H_i^{-1}
    C_i`, and items given abilities are independent and normal with the mean :math:`-H_i^{-1} C_i
    (\theta - \hat\theta)` beside the mode and the precision :math:`H_i`. Sums of effects over items
    are zero by conditioning on it, where the mode has that constraint.

    Along rotations of the axes S is zero; what is drawn has no part along them. So loadings and
    abilities of a draw belong to the axes of the mode, and easiness, effects and the product are
    the same whatever these axes are. The product is that of drawn loadings and drawn abilities, not
    linearised. Scales do not vary: compare `JointErrors`, whose standard errors these draws have.

    References
    ----------
    Tierney and Kadane (1986), Journal of the American Statistical Association 81, 82-86,
    doi:10.2307/2287970, for the normal approximation at a mode.
    """
    if draws < 1:
        raise ValueError(f"draws must be at least 1, got {draws}")
    data = checked_answers(responses).responses
    if tuple(data.model_ids) != mode.models or tuple(data.item_ids) != mode.items:
        raise DataError(
            f"the mode is of {len(mode.items)} items and {len(mode.models)} models, which are not "
            f"those of the answers ({data.n_item} items, {data.n_model} models)"
        )
    problem, summit = _problem_at(data, mode)
    k, n_item, n_family = problem.dimension, problem.n_item, len(problem.basis)
    n_ability = k * problem.n_model
    each = n_item * (1 + n_family + k) + 2 * n_ability
    require_memory(
        joint_memory(problem) + 8 * draws * each,
        purpose=f"{draws:,} draws of {n_item:,} items and {n_ability:,} coordinates of models",
    )
    of_abilities, of_items = np.random.default_rng(rng).spawn(2)
    # One thread each: the same bytes on every machine. Blocks of items go to several threads.
    with threadpool_limits(limits=1, user_api="blas"):
        try:
            root = CurvatureRoot.at(problem, summit)
        except LinAlgError:
            raise ConvergenceError(
                "the curvature at the mode is not that of a maximum, so that there is no normal "
                "density to draw from: try fewer dimensions, or more starts",
                mode,
            ) from None
        away = root.abilities(of_abilities.standard_normal((draws, n_ability)))
        items = np.empty((draws, *summit.point.item.shape))
        for draw in range(draws):
            normal = of_items.standard_normal(summit.point.item.shape)
            items[draw] = summit.point.item + root.items(away[draw], normal)
    return MirtLaplaceDraws(
        mode=mode,
        easiness=items[:, :, k].copy(),
        effects=items[:, :, k + 1 :] @ problem.basis.T,
        loading=items[:, :, :k].copy(),
        ability=away + summit.point.ability,
    )


def _problem_at(data: Responses, mode: MirtDifFit) -> tuple[PenalisedMirt, MirtSummit]:
    """Return the objective of a mode, and where it is."""
    problem = mode.scales.hold(
        PenalisedMirt.of(
            data.values == 1,
            data.observed,
            mode.family,
            dimension=mode.dimension,
            sums_over_items=mode.zero_sum == "families_and_items",
        )
    )
    point = Point(
        item=np.hstack([mode.loading, mode.easiness[:, None], mode.dif @ problem.basis]),
        ability=mode.ability,
    )
    state = evaluate(problem, point)
    return problem, MirtSummit(
        point=point, state=state, n_iterations=0, n_products=0, largest_slope=mode.largest_slope
    )
