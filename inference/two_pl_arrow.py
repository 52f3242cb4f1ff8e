"""Derivatives of the penalised 2PL likelihood, and systems with its arrow-shaped curvature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular

from neartie.inference.pairwise_bits import compiled, in_row_blocks
from neartie.models.priors import TwoPLPriors

type Floats = NDArray[np.float64]
type Mask = NDArray[np.bool_]

BLOCK = 64


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Penalised:
    """What is minimised: answers, and the normal priors of all parameters.

    A point is one array: abilities, difficulties, log discriminations.

    Attributes
    ----------
    right, observed : (n_item, n_model) bool
        Right answers (no others than observed ones), and where there is an answer.
    mean, precision : (n_model + 2 n_item,) float
        Of the priors.
    """

    right: Mask
    observed: Mask
    mean: Floats
    precision: Floats

    @property
    def n_item(self) -> int:
        """Number of items."""
        return len(self.right)

    @property
    def n_model(self) -> int:
        """Number of models."""
        return len(self.right.T)

    @classmethod
    def of(cls, right: Mask, observed: Mask, priors: TwoPLPriors) -> Penalised:
        """Return the objective of P1's equation `eq:map` under these priors."""
        n_item, n_model = right.shape
        sizes = [n_model, n_item, n_item]
        sd = [priors.ability_sd, priors.difficulty_sd, priors.log_discrimination_sd]
        return cls(
            right=right & observed,
            observed=observed,
            mean=np.repeat([0.0, 0.0, priors.log_discrimination_mean], sizes),
            precision=np.repeat(np.power(sd, -2.0), sizes),
        )

    def split(self, point: Floats) -> tuple[Floats, Floats, Floats]:
        """Return abilities, difficulties and log discriminations."""
        ability, difficulty, log_slope = np.split(point, [self.n_model, self.n_model + self.n_item])
        return ability, difficulty, log_slope


@compiled
def _fill_rows(
    start: int,
    stop: int,
    right: NDArray[np.bool_],
    observed: NDArray[np.bool_],
    ability: NDArray[np.float64],
    difficulty: NDArray[np.float64],
    slope: NDArray[np.float64],
    share: float,
    item: NDArray[np.float64],
    cross: NDArray[np.float64],
    model: NDArray[np.float64],
) -> None:
    """Fill the items' sums (misfit, two gradients, three curvatures) and add to the models' two.

    `share` of the error is counted in the curvature: 1 for the observed one, 0 for the expected
    one. A `cross` without rows says that no curvature is wanted.
    """
    curved = cross.shape[0] > 0
    for i in range(start, stop):
        a = slope[i]
        misfit, errors, pull, weights, mixed, bent = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for m in range(ability.shape[0]):
            if not observed[i, m]:
                continue
            logit = a * (ability[m] - difficulty[i])
            tail = np.exp(-abs(logit))
            chance = 1.0 / (1.0 + tail) if logit >= 0.0 else tail / (1.0 + tail)
            misfit += max(logit, 0.0) + np.log1p(tail)
            error = chance
            if right[i, m]:
                misfit -= logit
                # 1 - chance without cancellation
                error = -tail / (1.0 + tail) if logit >= 0.0 else -1.0 / (1.0 + tail)
            errors += error
            pull += error * logit
            model[0, m] += a * error
            if curved:
                weight = tail / (1.0 + tail) ** 2
                both = share * error + weight * logit
                cross[i, 0, m] = -a * a * weight
                cross[i, 1, m] = a * both
                weights += weight
                mixed += both
                bent += both * logit
                model[1, m] += a * a * weight
        item[i, 0], item[i, 1], item[i, 2] = misfit, -a * errors, pull
        item[i, 3], item[i, 4], item[i, 5] = a * a * weights, -a * mixed, bent


def _sums(
    problem: Penalised, point: Floats, cross: Floats, *, share: float
) -> tuple[Floats, Floats]:
    ability, difficulty, log_slope = problem.split(point)
    item = np.zeros((problem.n_item, 6))
    # One row for each block, added in their order, so that threads change nothing.
    model = np.zeros((-(-problem.n_item // BLOCK), 2, problem.n_model))
    data = (problem.right, problem.observed, ability, difficulty, np.exp(log_slope), share, item)

    def work(start: int, stop: int) -> None:
        _fill_rows(start, stop, *data, cross, model[start // BLOCK])

    in_row_blocks(work, problem.n_item, block=BLOCK)
    return item, model.sum(axis=0)


def value_and_gradient(problem: Penalised, point: Floats) -> tuple[float, Floats]:
    r"""Return minus the log posterior density, up to a constant, and its gradient.

    Parameters
    ----------
    problem : Penalised
    point : (n_model + 2 n_item,) float

    Returns
    -------
    float, nat
        :math:`-\sum [x\eta - \log(1 + e^\eta)]` with :math:`\eta = a_i(\theta_m - b_i)`, plus
        the half squares of all parameters in units of their priors.
    (n_model + 2 n_item,) float

    References
    ----------
    P1, equation for the penalised likelihood (`eq:map`).
    """
    item, model = _sums(problem, point, np.empty((0, 2, 0)), share=1.0)
    away = point - problem.mean
    gradient = np.concatenate([model[0], item[:, 1], item[:, 2]]) + problem.precision * away
    return float(item[:, 0].sum() + 0.5 * away @ (problem.precision * away)), gradient


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Arrow:
    """Second derivatives: an arrow, diagonal in the abilities and two by two in each item.

    Attributes
    ----------
    model : (n_model,) float
    item : (n_item, 2, 2) float
        Of difficulty and log discrimination.
    cross : (n_item, 2, n_model) float
    """

    model: Floats
    item: Floats
    cross: Floats

    def dense(self) -> Floats:
        """Return the whole matrix, in the order of a point."""
        n_item, _, n_model = self.cross.shape
        full = np.zeros((n_model + 2 * n_item,) * 2)
        full[range(n_model), range(n_model)] = self.model
        for k in range(2):
            rows = n_model + k * n_item + np.arange(n_item)
            full[rows, :n_model] = self.cross[:, k]
            full[:n_model, rows] = self.cross[:, k].T
            for other in range(2):
                full[rows, n_model + other * n_item + np.arange(n_item)] = self.item[:, k, other]
        return full


def curvature(problem: Penalised, point: Floats, *, expected: bool = False) -> Arrow:
    """Return the second derivatives of minus the log posterior density.

    Parameters
    ----------
    problem : Penalised
    point : (n_model + 2 n_item,) float
    expected : bool
        Their mean over answers instead, which is positive definite everywhere.

    Returns
    -------
    Arrow
    """
    n_item, n_model = problem.n_item, problem.n_model
    cross = np.zeros((n_item, 2, n_model))
    sums, model = _sums(problem, point, cross, share=0.0 if expected else 1.0)
    of_model, of_place, of_slope = problem.split(problem.precision)
    item = np.empty((n_item, 2, 2))
    item[:, 0, 0], item[:, 1, 1] = sums[:, 3] + of_place, sums[:, 5] + of_slope
    item[:, 0, 1] = item[:, 1, 0] = sums[:, 4]
    return Arrow(model=model[1] + of_model, item=item, cross=cross)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Factor:
    """An arrow made ready for solving: whichever side is the larger is eliminated first.

    Attributes
    ----------
    arrow : Arrow
    root : (n_item, 2, 2) float
        Lower Cholesky factors of the items' blocks.
    whitened : (2 n_item, n_model) float
        `cross`, by rows divided by `root` where items are eliminated, by columns divided by the
        root of the models' diagonal where models are.
    lower : (n_model, n_model) or (2 n_item, 2 n_item) float
        Cholesky factor of the Schur complement of what is left.
    by_items : bool
        Whether items are eliminated.
    """

    arrow: Arrow
    root: Floats
    whitened: Floats
    lower: Floats
    by_items: bool

    def solve(self, right: Floats) -> Floats:
        """Return the solution for a right-hand side, (n_model + 2 n_item,), as of a point."""
        n_item, _, n_model = self.arrow.cross.shape
        of_model, of_item = right[:n_model], right[n_model:].reshape(2, n_item).T
        if self.by_items:
            u = _forward(self.root, of_item)
            model = cho_solve((self.lower, True), of_model - self.whitened.T @ u.ravel())
            rest = u - (self.whitened @ model).reshape(n_item, 2)
            item = _backward(self.root, rest)
        else:
            sd = 1 / np.sqrt(self.arrow.model)
            reduced = of_item.ravel() - self.whitened @ (of_model * sd)
            flat = cho_solve((self.lower, True), reduced)
            model = sd * (sd * of_model - self.whitened.T @ flat)
            item = flat.reshape(n_item, 2)
        return np.concatenate([model, item.T.ravel()])

    def model_variance(self) -> Floats:
        """Return the models' part of the inverse's diagonal, (n_model,)."""
        if self.by_items:
            return np.square(_inverse_root(self.lower)).sum(axis=0)
        sd = 1 / np.sqrt(self.arrow.model)
        spread = solve_triangular(self.lower, self.whitened * sd, lower=True)
        return np.asarray(sd**2 + np.square(spread).sum(axis=0))

    def model_covariance(self) -> Floats:
        """Return the models' part of the inverse, (n_model, n_model)."""
        if self.by_items:
            root = _inverse_root(self.lower)
            return np.asarray(root.T @ root)
        sd = 1 / np.sqrt(self.arrow.model)
        spread = solve_triangular(self.lower, self.whitened * sd, lower=True)
        return np.asarray(np.diag(sd**2) + spread.T @ spread)

    def item_covariance(self) -> Floats:
        """Return the items' two-by-two blocks of the inverse, (n_item, 2, 2)."""
        n_item = len(self.root)
        if self.by_items:
            spread = solve_triangular(self.lower, self.whitened.T, lower=True)
            parts = spread.T.reshape(n_item, 2, -1)
            inside = np.eye(2) + np.einsum("iam,ibm->iab", parts, parts)
            half = np.linalg.solve(np.swapaxes(self.root, 1, 2), inside)
            return np.swapaxes(
                np.linalg.solve(np.swapaxes(self.root, 1, 2), np.swapaxes(half, 1, 2)), 1, 2
            )
        parts = _inverse_root(self.lower).T.reshape(n_item, 2, -1)
        return np.asarray(np.einsum("iam,ibm->iab", parts, parts))


def factor(arrow: Arrow) -> Factor | None:
    """Return the arrow ready for solving, None where it is not positive definite."""
    n_item, _, n_model = arrow.cross.shape
    by_items = n_model <= 2 * n_item
    try:
        root = np.linalg.cholesky(arrow.item)
        if by_items:
            first = arrow.cross[:, 0] / root[:, 0, 0, None]
            second = (arrow.cross[:, 1] - root[:, 1, 0, None] * first) / root[:, 1, 1, None]
            whitened = np.stack([first, second], axis=1).reshape(2 * n_item, n_model)
            system = np.diag(arrow.model) - whitened.T @ whitened
        else:
            whitened = (arrow.cross / np.sqrt(arrow.model)).reshape(2 * n_item, n_model)
            system = -(whitened @ whitened.T)
            for i in range(n_item):
                system[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] += arrow.item[i]
        lower = cholesky(system, lower=True)
    except LinAlgError:
        return None
    return Factor(arrow=arrow, root=root, whitened=whitened, lower=lower, by_items=by_items)


def _forward(root: Floats, right: Floats) -> Floats:
    return np.asarray(np.linalg.solve(root, right[:, :, None])[:, :, 0])


def _backward(root: Floats, right: Floats) -> Floats:
    return np.asarray(np.linalg.solve(np.swapaxes(root, 1, 2), right[:, :, None])[:, :, 0])


def _inverse_root(lower: Floats) -> Floats:
    return np.asarray(solve_triangular(lower, np.eye(len(lower)), lower=True))
