"""Normal densities along a quasi-Newton path: of diagonal plus low rank, never a full matrix."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

type Floats = NDArray[np.float64]

# Of the squared change of the gradient: below it a step says nothing of the curvature.
_CURVED = 1e-12


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LowRankNormal:
    r"""A normal density with covariance :math:`D (I + Q (L L^\top - I) Q^\top) D`.

    Attributes
    ----------
    mean : (size,) float
    spread : (size,) float
        The diagonal of D, square roots of variances.
    basis : (size, rank) float
        Q, with orthonormal columns.
    factor : (rank, rank) float
        L, lower triangular.
    """

    mean: Floats
    spread: Floats
    basis: Floats
    factor: Floats

    def draw(self, n_draw: int, *, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw points, with the log density at each.

        Parameters
        ----------
        n_draw : int
        rng : Generator

        Returns
        -------
        points : (n_draw, size) float
        log_density : (n_draw,) float, nat
        """
        size = self.mean.size
        normal = rng.standard_normal((n_draw, size))
        inside = normal @ self.basis
        turned = normal + (inside @ (self.factor.T - np.eye(len(self.factor)))) @ self.basis.T
        log_volume = np.log(self.spread).sum() + np.log(np.diag(self.factor)).sum()
        log_density = -0.5 * (normal**2).sum(axis=1) - 0.5 * size * np.log(2 * np.pi) - log_volume
        return self.mean + self.spread * turned, log_density


class CurvatureAlongPath:
    """The inverse curvature of a log density, from the last steps of an ascent.

    Parameters
    ----------
    point : (size,) float
        Where the path begins.
    gradient : (size,) float
        Of the log density there.
    history : int
        How many steps are remembered.

    Notes
    -----
    The inverse curvature is that of L-BFGS in its compact form: a diagonal, which is updated from
    step to step, plus a matrix of rank twice the history. A step along which the log density does
    not curve downwards is passed over.

    References
    ----------
    Zhang, Carpenter, Gelman and Vehtari (2022), Journal of Machine Learning Research 23(306),
    algorithms 3 and 4. Byrd, Nocedal and Schnabel (1994), Mathematical Programming 63, 129-156.
    """

    def __init__(self, point: Floats, gradient: Floats, *, history: int) -> None:
        self._point = point.copy()
        self._gradient = gradient.copy()
        self._variance = np.ones(point.size)
        self._steps: deque[Floats] = deque(maxlen=history)
        self._changes: deque[Floats] = deque(maxlen=history)

    def advance(self, point: Floats, gradient: Floats) -> None:
        """Take in the next point of the path.

        Parameters
        ----------
        point, gradient : (size,) float
        """
        step, change = point - self._point, self._gradient - gradient
        self._point, self._gradient = point.copy(), gradient.copy()
        curved = step @ change
        if not curved > _CURVED * (change @ change):
            return
        self._variance = _updated_variance(self._variance, step, change)
        self._steps.append(step)
        self._changes.append(change)

    def normal(self) -> LowRankNormal:
        """Return the normal density with the gradient and curvature at the current point.

        Raises
        ------
        LinAlgError
            If the curvature is not positive in the numbers of the machine.
        """
        spread = np.sqrt(self._variance)
        size = spread.size
        if not self._steps:
            mean = self._point + self._variance * self._gradient
            return LowRankNormal(
                mean=mean, spread=spread, basis=np.zeros((size, 1)), factor=np.eye(1)
            )
        steps, changes = np.array(self._steps).T, np.array(self._changes).T
        scaled = self._variance[:, None] * changes
        wings = np.hstack([scaled, steps])
        centre = _compact_centre(steps, changes, scaled)
        basis, corner = np.linalg.qr(wings / spread[:, None])
        inner = np.eye(len(corner)) + corner @ centre @ corner.T
        factor = np.linalg.cholesky(0.5 * (inner + inner.T))
        rise = self._variance * self._gradient + wings @ (centre @ (wings.T @ self._gradient))
        if not np.all(np.isfinite(rise)):
            raise np.linalg.LinAlgError("the mean is not finite")
        return LowRankNormal(mean=self._point + rise, spread=spread, basis=basis, factor=factor)


def _updated_variance(variance: Floats, step: Floats, change: Floats) -> Floats:
    """Return the diagonal after a step: that of the BFGS update of a diagonal matrix, inverted."""
    across = change @ (variance * change)
    curved = step @ change
    along = step @ (step / variance)
    precision = across / (curved * variance) + change**2 / curved
    return 1.0 / (precision - across * step**2 / (curved * along * variance**2))


def _compact_centre(steps: Floats, changes: Floats, scaled: Floats) -> Floats:
    """Return the middle matrix of the compact form, (2 history, 2 history)."""
    products = steps.T @ changes
    triangle = np.triu(products)
    inverse = solve_triangular(triangle, np.eye(len(triangle)))
    middle = np.diag(np.diag(triangle)) + changes.T @ scaled
    return np.block(
        [[np.zeros_like(inverse), -inverse], [-inverse.T, inverse.T @ middle @ inverse]]
    )
