"""Loadings and abilities of all draws turned to common axes, so that they may be averaged."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from neartie.data.errors import ConvergenceError

type Floats = NDArray[np.float64]

_ROUNDS = 200


def align_loadings(posterior: xr.DataTree) -> xr.DataTree:
    """Return a posterior whose loadings and abilities stand on the same axes in every draw.

    Parameters
    ----------
    posterior : DataTree
        With `loading` over item and `factor`, and `ability` over model and `factor`. Others are
        returned as they are: there is nothing to turn.

    Returns
    -------
    DataTree
        A copy; `aligned` on its root says `yes`. Everything that does not turn is untouched.

    Raises
    ------
    ConvergenceError
        If the common axes do not settle.

    Notes
    -----
    Generalised Procrustes: every draw's loadings are turned (or mirrored) to come closest to
    their mean, which is then computed anew, until it stays. The mean's principal axes, the
    largest first, become the factors, each with loadings whose sum is positive: more ability
    means more correct answers. The answer depends on no draw's own axes, nor on which draw comes
    first.

    References
    ----------
    Gower (1975), Psychometrika 40, 33-51. doi:10.1007/BF02291478
    """
    draws = posterior["posterior"].to_dataset()
    answer = posterior.copy()
    if "loading" not in draws or "factor" not in draws["loading"].dims:
        return answer
    loading = draws["loading"].transpose("chain", "draw", "item", "factor")
    shape = loading.shape
    turns = common_rotations(loading.to_numpy().reshape(-1, *shape[2:]))
    turns = turns.reshape(*shape[:2], *turns.shape[1:])
    turned = {"loading": (loading.dims, loading.to_numpy() @ turns)}
    if "ability" in draws and "factor" in draws["ability"].dims:
        ability = draws["ability"].transpose("chain", "draw", "model", "factor")
        turned["ability"] = (ability.dims, ability.to_numpy() @ turns)
    answer["posterior"] = xr.DataTree(draws.assign(turned))
    answer.attrs["aligned"] = "yes"
    return answer


def common_rotations(loadings: Floats) -> Floats:
    """Return the rotation of each draw that brings its loadings to the common axes.

    Parameters
    ----------
    loadings : (n_draw, n_item, n_factor) float, logit

    Returns
    -------
    (n_draw, n_factor, n_factor) float
        Orthogonal: `loadings @ rotations` is aligned.

    Raises
    ------
    ConvergenceError
        If the common axes do not settle.

    Examples
    --------
    >>> first = np.array([[1.0, 0.2], [0.8, -0.3], [0.5, 0.4]])
    >>> quarter = np.array([[0.0, 1.0], [-1.0, 0.0]])
    >>> both = np.stack([first, first @ quarter])
    >>> aligned = both @ common_rotations(both)
    >>> bool(np.allclose(aligned[0], aligned[1]))
    True
    """
    mean = loadings[0]
    size = np.linalg.norm(loadings) / np.sqrt(len(loadings))
    for _ in range(_ROUNDS):
        turns = _procrustes(loadings, mean)
        after = np.einsum("sif,sfg->ig", loadings, turns) / len(loadings)
        moved = np.linalg.norm(after - mean)
        mean = after
        if moved <= 1e-12 * max(size, 1e-300):
            break
    else:
        raise ConvergenceError(
            f"the axes of the loadings did not settle in {_ROUNDS} rounds: say nothing of single "
            "factors",
            state=mean,
        )
    return turns @ _principal_axes(mean)


def _procrustes(loadings: Floats, target: Floats) -> Floats:
    """Return the orthogonal matrices that bring each draw closest to the target."""
    left, _, right = np.linalg.svd(np.swapaxes(loadings, -1, -2) @ target)
    return np.asarray(left @ right)


def _principal_axes(mean: Floats) -> Floats:
    _, _, axes = np.linalg.svd(mean, full_matrices=False)
    axes = axes.T
    signs = np.where((mean @ axes).sum(axis=0) < 0, -1.0, 1.0)
    return np.asarray(axes * signs)
