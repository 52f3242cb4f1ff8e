"""Gaussian vectors given by their precision: factors, solutions and draws of small matrices.

Loops of our own, not LAPACK: tens of thousands of matrices of a few dozen rows a sweep, the same
bytes on any number of threads, and no lock held.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from neartie.inference.pairwise_bits import compiled

type Floats = NDArray[np.float64]


@compiled
def factor_in_place(matrix: Floats) -> None:
    r"""Replace the upper triangle of a positive definite matrix A by R with :math:`A = R^\top R`.

    Parameters
    ----------
    matrix : (n, n) float
        Only its upper triangle is read and written.

    Examples
    --------
    >>> matrix = np.array([[4.0, 2.0], [2.0, 2.0]])
    >>> factor_in_place(matrix)
    >>> np.triu(matrix)
    array([[2., 1.],
           [0., 1.]])
    """
    n = matrix.shape[0]
    for k in range(n):
        row = matrix[k]
        inverse = 1.0 / math.sqrt(row[k])
        for j in range(k, n):
            row[j] *= inverse
        for i in range(k + 1, n):
            below, share = matrix[i], row[i]
            for j in range(i, n):
                below[j] -= share * row[j]


@compiled
def solve_transposed(factor: Floats, vector: Floats) -> None:
    r"""Replace x by :math:`R^{-\top} x`."""
    for k in range(len(vector)):
        vector[k] /= factor[k, k]
        for j in range(k + 1, len(vector)):
            vector[j] -= vector[k] * factor[k, j]


@compiled
def solve_upper(factor: Floats, vector: Floats) -> None:
    r"""Replace x by :math:`R^{-1} x`."""
    for k in range(len(vector) - 1, -1, -1):
        total = vector[k]
        for j in range(k + 1, len(vector)):
            total -= factor[k, j] * vector[j]
        vector[k] = total / factor[k, k]


@compiled
def draw_from_factor(factor: Floats, vector: Floats, rng: np.random.Generator) -> None:
    r"""Replace h by a draw from :math:`N(A^{-1}h, A^{-1})`.

    Parameters
    ----------
    factor : (n, n) float
        R with :math:`A = R^\top R`.
    vector : (n,) float
        h, the linear coefficients of the log density.
    rng : Generator
        Gives n standard normal numbers.

    Examples
    --------
    >>> vector = np.array([8.0, 0.0])
    >>> draw_from_factor(1e8 * np.eye(2), vector, np.random.default_rng(0))
    >>> bool(abs(vector[1]) < 1e-6)
    True
    """
    solve_transposed(factor, vector)
    for k in range(len(vector)):
        vector[k] += rng.standard_normal()
    solve_upper(factor, vector)


@compiled
def inverse_columns(factor: Floats, first: int, columns: Floats) -> None:
    r"""Write the last columns of :math:`A^{-1}`.

    Parameters
    ----------
    factor : (n, n) float
        R with :math:`A = R^\top R`.
    first : int
        The first column wanted.
    columns : (n - first, n) float
        One column of the inverse a row.

    Examples
    --------
    >>> columns = np.empty((1, 2))
    >>> inverse_columns(np.array([[2.0, 1.0], [0.0, 1.0]]), 1, columns)
    >>> columns
    array([[-0.5,  1. ]])
    """
    for c in range(columns.shape[0]):
        column = columns[c]
        column[:] = 0.0
        column[first + c] = 1.0
        solve_transposed(factor, column)
        solve_upper(factor, column)


def draw_conditioned(
    precision: Floats, shift: Floats, constraint: Floats, rng: np.random.Generator
) -> Floats:
    r"""Return a draw of a Gaussian vector given linear combinations of it that are zero.

    Parameters
    ----------
    precision : (n, n) float
        Q, positive definite; its upper triangle is overwritten.
    shift : (n,) float
        h: without constraints the mean is :math:`Q^{-1}h`. Overwritten.
    constraint : (c, n) float
        C, of full rank; no rows for none.
    rng : Generator

    Returns
    -------
    (n,) float
        x with :math:`Cx = 0`.

    Notes
    -----
    A draw x without constraints becomes
    :math:`x - Q^{-1}C^\top (C Q^{-1} C^\top)^{-1} C x`.

    References
    ----------
    Rue and Held (2005), Gaussian Markov Random Fields, section 2.3.3.

    Examples
    --------
    >>> x = draw_conditioned(np.eye(2), np.zeros(2), np.ones((1, 2)), np.random.default_rng(0))
    >>> bool(abs(x.sum()) < 1e-12)
    True
    """
    factor_in_place(precision)
    draw_from_factor(precision, shift, rng)
    if len(constraint):
        spread = constraint.copy()
        for row in spread:
            solve_transposed(precision, row)
            solve_upper(precision, row)
        shift -= spread.T @ np.linalg.solve(spread @ constraint.T, constraint @ shift)
    return shift
