"""The curvature along a path, against the dense BFGS update and the density of SciPy."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from neartie.inference.quasi_newton import CurvatureAlongPath


def covariance(normal):
    size = normal.mean.size
    core = np.eye(len(normal.factor))
    root = np.eye(size) + normal.basis @ (normal.factor - core) @ normal.basis.T
    root = normal.spread[:, None] * root
    return root @ root.T


def walk(seed: int, *, size: int, steps: int, history: int):
    """A path through a Gaussian with a random precision."""
    rng = np.random.default_rng(seed)
    square = rng.normal(size=(size, size))
    precision = square @ square.T + np.eye(size)
    points = rng.normal(size=(steps + 1, size))
    curvature = CurvatureAlongPath(points[0], -precision @ points[0], history=history)
    for point in points[1:]:
        curvature.advance(point, -precision @ point)
    return points, precision, curvature.normal()


def dense_inverse(points, precision, history: int):
    """Plain twin: the diagonal is updated at every step, then BFGS updates of dense matrices."""
    variance = np.ones(len(precision))
    pairs = []
    for before, after in pairwise(points):
        step, change = after - before, precision @ (after - before)
        a, b = change @ (variance * change), change @ step
        c = step @ (step / variance)
        variance = 1 / (a / (b * variance) + change**2 / b - a * step**2 / (b * c * variance**2))
        pairs.append((step, change))
    inverse = np.diag(variance)
    for step, change in pairs[-history:]:
        rate = 1 / (step @ change)
        left = np.eye(len(precision)) - rate * np.outer(step, change)
        inverse = left @ inverse @ left.T + rate * np.outer(step, step)
    return inverse


@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(1, 5), st.integers(1, 6))
def test_is_the_dense_bfgs_update(seed, size, steps, history):
    points, precision, normal = walk(seed, size=size, steps=steps, history=history)
    expected = dense_inverse(points, precision, history)
    found = covariance(normal)
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())
    mean = points[-1] - expected @ (precision @ points[-1])
    np.testing.assert_allclose(normal.mean, mean, atol=1e-5 * (1 + np.abs(mean).max()))


def test_density_is_that_of_the_draws():
    _, _, normal = walk(1, size=5, steps=3, history=3)
    points, log_density = normal.draw(40_000, rng=np.random.default_rng(2))
    expected = multivariate_normal(normal.mean, covariance(normal))
    np.testing.assert_allclose(log_density, expected.logpdf(points), atol=1e-8)
    scale = np.sqrt(np.diag(covariance(normal)))
    np.testing.assert_allclose(points.mean(axis=0), normal.mean, atol=0.03 * scale.max())
    np.testing.assert_allclose(np.cov(points.T), covariance(normal), atol=0.04 * scale.max() ** 2)


def test_steps_that_do_not_curve_down_are_passed_over():
    start = np.zeros(2)
    curvature = CurvatureAlongPath(start, np.array([1.0, 1.0]), history=3)
    curvature.advance(np.array([1.0, 0.0]), np.array([2.0, 1.0]))
    normal = curvature.normal()
    assert covariance(normal) == pytest.approx(np.eye(2))
    assert normal.mean == pytest.approx([3.0, 1.0])
