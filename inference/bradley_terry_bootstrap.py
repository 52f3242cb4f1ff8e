"""Bootstrap of Bradley–Terry strengths: battles, prompts or judges drawn again, as counts."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from neartie.data.battle_graph import same_groups
from neartie.data.battles import Battles
from neartie.data.errors import CaveatWarning, DataError
from neartie.data.pair_counts import tally
from neartie.data.wording import counted
from neartie.inference.bradley_terry import build_problem
from neartie.inference.bradley_terry_kernel import newton
from neartie.inference.bradley_terry_phantoms import add_phantoms
from neartie.inference.bradley_terry_result import BradleyTerryFit, Difference
from neartie.models.bradley_terry import Floats, TieModel

type Unit = Literal["battle", "prompt", "judge"]

UNITS: Final = ("battle", "prompt", "judge")
# The spread of so few units is too uncertain, and on average too small, for intervals.
FEW_UNITS: Final = 10
# Newton's method squares its error: after a step of this size none is left.
_TOLERANCE: Final = 1e-6
_CHUNK_CELLS: Final = 4_000_000


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class BradleyTerryBootstrap:
    """Strengths over battles drawn again.

    Attributes
    ----------
    fit : BradleyTerryFit
        The estimate, which does not depend on the rounds.
    draws : (n_kept, n_model) float, logit
        Strengths in the rounds that are kept, zero-sum within groups.
    unit : {'battle', 'prompt', 'judge'}
        What was drawn.
    n_unit : int
        How many of them there are.
    n_rounds : int
        Rounds asked for.
    n_degenerate : int
        Rounds left out, because the drawn battles have no finite estimate for all that the data
        at hand have one for, or the iteration did not converge.
    seed_entropy : int or None
        What the generator was made of, where it is known.
    """

    fit: BradleyTerryFit
    draws: Floats
    unit: Unit
    n_unit: int
    n_rounds: int
    n_degenerate: int
    seed_entropy: int | None

    def table(self, *, level: float = 0.95) -> pd.DataFrame:
        """Return percentile intervals of the strengths.

        Parameters
        ----------
        level : float in (0, 1)

        Returns
        -------
        DataFrame, n_model rows
            `model`; `strength`, the estimate; `se`, the standard deviation over rounds; `low`,
            `high`: percentiles, moved out to the estimate where they would leave it out. Limits
            are infinite for a strength that is.
        """
        low, high = _limits(self.draws, self.fit.within, level)
        finite = np.isfinite(self.fit.strength)
        return pd.DataFrame(
            {
                "model": pd.Series(self.fit.models, dtype="str"),
                "strength": self.fit.strength,
                "se": np.where(finite, self.draws.std(axis=0, ddof=1), np.inf),
                "low": np.where(finite, low, -np.inf),
                "high": np.where(finite, high, np.inf),
            }
        )

    def difference(self, model_a: str, model_b: str, *, level: float = 0.95) -> Difference:
        """Return the difference of two strengths with its percentile interval.

        Raises
        ------
        DataError
            As `BradleyTerryFit.difference`.
        """
        wald = self.fit.difference(model_a, model_b, level=level)
        if not np.isfinite(wald.estimate):
            return wald
        a, b = self.fit.models.index(model_a), self.fit.models.index(model_b)
        gap = self.draws[:, a] - self.draws[:, b]
        low, high = _limits(gap[:, None], np.array([wald.estimate]), level)
        return Difference(
            model_a=model_a,
            model_b=model_b,
            estimate=wald.estimate,
            se=float(gap.std(ddof=1)),
            low=float(low[0]),
            high=float(high[0]),
            level=level,
        )


def bootstrap_bradley_terry(
    battles: Battles,
    fit: BradleyTerryFit,
    *,
    rounds: int = 1000,
    unit: Unit = "battle",
    rng: np.random.Generator | int | None = None,
) -> BradleyTerryBootstrap:
    """Return strengths over battles drawn again with replacement.

    Parameters
    ----------
    battles : Battles
        Those that were fitted.
    fit : BradleyTerryFit
        The estimate, whose settings hold in every round and at which every round starts.
    rounds : int
    unit : {'battle', 'prompt', 'judge'}
        What is drawn: single battles, or all battles of a prompt or judge together, for battles
        that are not independent. A battle without prompt or judge is a unit of its own.
    rng : Generator, int or None
        The same seed gives the same draws, whatever the order of battles and whoever is listed
        first.

    Returns
    -------
    BradleyTerryBootstrap

    Raises
    ------
    DataError
        If the battles have no such unit, have other models than those fitted, or fewer than two
        rounds have a finite estimate.
    ValueError
        If `rounds` is below 2, or the unit is unknown.

    Warns
    -----
    CaveatWarning
        If rounds were left out: the rest are the tamer ones, and intervals come out too short. If
        there are fewer than ten prompts or judges: they cannot tell how much such units differ,
        and intervals come out too short.

    Notes
    -----
    A round is a vector of multinomial weights of the units, turned into counts by pair and
    maximised by Newton's method from the estimate. Only the drawing takes longer with more units.

    Examples
    --------
    >>> from neartie.inference.bradley_terry import fit_bradley_terry
    >>> battles = Battles.build(["owl"] * 40, ["ant"] * 40, ["a"] * 24 + ["b"] * 16)
    >>> fit = fit_bradley_terry(battles)
    >>> result = bootstrap_bradley_terry(battles, fit, rounds=200, rng=1)
    >>> result.draws.shape, result.n_degenerate
    ((200, 2), 0)
    """
    if rounds < 2:
        raise ValueError(f"rounds must be at least 2, got {rounds}")
    if battles.models != fit.models:
        raise DataError("the battles are not those that were fitted: their models differ")
    generator = np.random.default_rng(rng)
    sampler = _Sampler(battles, unit, by_position=fit.first_shown)
    if unit != "battle" and sampler.n_unit < FEW_UNITS:
        warnings.warn(
            f"{counted(sampler.n_unit, unit)} cannot tell how much {unit}s differ: intervals of a "
            f"bootstrap by {unit} come out too short; ten or more are needed",
            CaveatWarning,
            stacklevel=2,
        )
    point = np.concatenate([fit.within, fit.parameters["estimate"].to_numpy(dtype=np.float64)])
    kept = []
    with threadpool_limits(limits=1, user_api="blas"):
        for cells in sampler.rounds(rounds, generator):
            strength = _one_round(battles, fit, sampler, cells, point)
            if strength is not None:
                kept.append(strength)
    n_degenerate = rounds - len(kept)
    if len(kept) < 2:
        raise DataError(
            f"{n_degenerate:,} of {rounds:,} rounds have no finite estimate; fit with phantom "
            "wins or a prior"
        )
    if n_degenerate:
        warnings.warn(
            f"{n_degenerate:,} of {rounds:,} bootstrap rounds have no finite estimate and are "
            "left out, which makes intervals too short; fit with phantom wins or a prior",
            CaveatWarning,
            stacklevel=2,
        )
    return BradleyTerryBootstrap(
        fit=fit,
        draws=np.array(kept),
        unit=unit,
        n_unit=sampler.n_unit,
        n_rounds=rounds,
        n_degenerate=n_degenerate,
        seed_entropy=rng if isinstance(rng, int) else None,
    )


class _Sampler:
    """Draws units, and adds up their battles by cell."""

    def __init__(self, battles: Battles, unit: str, *, by_position: bool) -> None:
        if unit not in UNITS:
            raise ValueError(f"unit must be one of {', '.join(UNITS)}, got {unit!r}")
        cell, self.keys = battles.cells(by_position=by_position)
        self.n_cell = 3 * len(self.keys)
        self._edges = _edges(np.bincount(cell, minlength=self.n_cell))
        if unit == "battle":
            owner = np.full(battles.n_battle, -1, dtype=np.int64)
        else:
            owner = battles.prompt if unit == "prompt" else battles.judge
            if (owner < 0).all():
                raise DataError(f"no battle has a {unit}; draw another unit")
        # Sorted, so that units stand in an order that does not depend on that of the battles.
        order = np.lexsort((battles.weight, cell, owner))
        owner, cell, weight = owner[order], cell[order], battles.weight[order]
        n_alone = int(np.sum(owner < 0))
        clusters, cluster = np.unique(owner[n_alone:], return_inverse=True)
        self.n_unit = n_alone + len(clusters)
        is_plain = n_alone == len(owner) and bool((weight == 1).all())
        # For plain battles a unit is nothing but its cell.
        self._cell_of_unit = cell if is_plain else None
        unit_of = np.concatenate([np.arange(n_alone), n_alone + cluster])
        self._content = csr_array((weight, (unit_of, cell)), shape=(self.n_unit, self.n_cell))

    def has_all_edges(self, cells: Floats) -> bool:
        """Return whether everybody beat, or tied with, whomever they did in the data at hand."""
        return bool(np.array_equal(_edges(cells), self._edges))

    def rounds(self, n: int, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield the weight in each cell, round by round."""
        if self._cell_of_unit is not None:
            for _ in range(n):
                drawn = self._cell_of_unit[rng.integers(self.n_unit, size=self.n_unit)]
                yield np.bincount(drawn, minlength=self.n_cell).astype(np.float64)
            return
        size = max(1, _CHUNK_CELLS // (self.n_unit + self.n_cell))
        for start in range(0, n, size):
            weights = [self._weights(rng) for _ in range(min(size, n - start))]
            yield from np.asarray(np.array(weights, dtype=np.float64) @ self._content)

    def _weights(self, rng: np.random.Generator) -> NDArray[np.int64]:
        return np.bincount(rng.integers(self.n_unit, size=self.n_unit), minlength=self.n_unit)


def _edges(cells: NDArray[Any]) -> NDArray[np.bool_]:
    """Return in which pairs the first won at least half a battle, and in which the second did."""
    won, lost, tied = cells.reshape(-1, 3).T
    return np.stack([won + tied > 0, lost + tied > 0])


def _one_round(
    battles: Battles, fit: BradleyTerryFit, sampler: _Sampler, cells: Floats, point: Floats
) -> Floats | None:
    """Return the strengths of a round, or None if it is degenerate."""
    counts = tally(sampler.keys, cells, n_model=battles.n_model)
    regularised = fit.phantom_wins > 0 or np.isfinite(fit.prior_sd)
    counts = counts.take(counts.total > 0)
    if not (regularised or sampler.has_all_edges(cells) or same_groups(counts, fit.group)):
        return None
    ties = cast(TieModel, fit.ties)
    options: dict[str, Any] = {"first_shown": fit.first_shown, "prior_sd": fit.prior_sd}
    problem = build_problem(counts, group=fit.group, ties=ties, **options)
    if problem.ties != ties and np.isfinite(point[-1]) and len(fit.parameters) > fit.first_shown:
        return None
    problem = add_phantoms(problem, fit.component, fit.phantom_wins)
    optimum = newton(problem, start=point[: problem.n_parameter], tolerance=_TOLERANCE)
    return optimum.point[: battles.n_model] if optimum.converged else None


def _limits(draws: Floats, estimate: Floats, level: float) -> tuple[Floats, Floats]:
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level}")
    tail = 0.5 * (1 - level)
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    return np.minimum(low, estimate), np.maximum(high, estimate)
