"""Truths drawn from the prior of a model, data from these truths, and what is compared with draws.

Plain NumPy after the formulas in the factories' documentation: it shares no code with the PyMC
models, so that simulation-based calibration tests these too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, Final, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from neartie.models.record import record_of

type Floats = NDArray[np.float64]
type Values = Mapping[str, Floats]

_TRUTHS: Final = {
    "two-pl": ("neartie.inference.truths_two_pl", "TwoPLTruths"),
    "mirt-dif": ("neartie.inference.truths_mirt_dif", "MirtDifTruths"),
    "residual-dif": ("neartie.inference.truths_residual_dif", "ResidualDifTruths"),
    "bradley-terry": ("neartie.inference.truths_bradley_terry", "BradleyTerryTruths"),
}
# Logits that are held at a time.
_HELD: Final = 2_000_000


class Truths(Protocol):
    """Where truths and data of one model come from.

    Attributes
    ----------
    ranking : str
        The quantity (n_draw, n_model) that ranks models, higher first.
    """

    ranking: str

    def draw(self, rng: np.random.Generator) -> dict[str, Floats]:
        """Return a truth, by variable."""

    def data(self, truth: Values, rng: np.random.Generator) -> dict[str, Floats]:
        """Return data from a truth, by observed variable, in the shape of the model's own."""

    def quantities(self, values: Values, data: Values) -> dict[str, Floats]:
        """Return what truths and draws are compared by; values have the draws in front."""


def truths_of(model: Any, *, priors: Mapping[str, Any] | None = None) -> Truths:
    """Return where truths and data of a model come from.

    Parameters
    ----------
    model : pm.Model
        That a factory of neartie built: its sizes, missing cells, families, pairs and counts are
        those of the data that are drawn.
    priors : mapping, optional
        Hyperparameters by name, in the place of those of the model: truths from other priors than
        the model believes in. For family effects also `dif_share` and `dif_effect`: effects of that
        range (logit) on that share of the items, and none elsewhere.

    Returns
    -------
    Truths

    Raises
    ------
    DataError
        If nothing can be drawn from a prior, because it is flat, or weights of battles are no
        whole numbers.
    TypeError
        If the model comes from elsewhere.

    Examples
    --------
    >>> from neartie import Battles, build_bradley_terry
    >>> battles = Battles.build(["owl"] * 9, ["ant"] * 9, ["a"] * 9)
    >>> truths = truths_of(build_bradley_terry(battles))
    >>> rng = np.random.default_rng(1)
    >>> truth = truths.draw(rng)
    >>> truth["strength"].shape, truths.data(truth, rng)["outcome"].sum()
    ((2,), np.float64(9.0))
    """
    record = record_of(model)
    module, name = _TRUTHS[record.kind]
    chosen = {**record.priors, **(priors or {})}
    return cast(Truths, getattr(import_module(module), name)(model, priors=chosen))


def ranking_of(kind: str) -> str:
    """Return the quantity that ranks models of a kind.

    Examples
    --------
    >>> ranking_of("bradley-terry")
    'strength'
    """
    module, name = _TRUTHS[kind]
    return str(getattr(import_module(module), name).ranking)


def zero_sum(
    rng: np.random.Generator, shape: tuple[int, ...], *, axes: tuple[int, ...] = (-1,)
) -> Floats:
    """Return standard normal values with their means along some axes taken off."""
    values = rng.standard_normal(shape)
    for axis in axes:
        values = values - values.mean(axis=axis, keepdims=True)
    return values


def bernoulli(rng: np.random.Generator, logit: Floats) -> Floats:
    """Return answers, 1 right and 0 wrong."""
    return cast(Floats, (rng.random(logit.shape) < expit(logit)).astype(float))


def answer_likelihood(logit: Floats, score: Floats) -> Floats:
    """Return the log-likelihood of each draw from its logits (n_draw, ...), nat."""
    terms = np.where(score == 1, log_expit(logit), log_expit(-logit))
    return cast(Floats, terms.reshape(len(logit), -1).sum(axis=1))


def in_blocks(
    values: Values, n_cell: int, logit: Callable[[Values], Floats]
) -> Iterator[tuple[slice, Floats]]:
    """Yield the logits of a few draws at a time, so that memory stays small.

    Parameters
    ----------
    values : mapping of variable to (n_draw, ...) float
    n_cell : int
        Logits of a draw.
    logit : callable
        From values to logits, the draws in front.

    Yields
    ------
    slice, (n_draw of the block, ...) float
    """
    n_draw = len(next(iter(values.values())))
    height = max(1, _HELD // max(1, n_cell))
    for start in range(0, n_draw, height):
        block = slice(start, min(start + height, n_draw))
        yield block, logit({name: value[block] for name, value in values.items()})


def constant(model: Any, name: str) -> NDArray[Any] | None:
    """Return constant data of a model by name, or None where it has none of that name."""
    from neartie.inference.flat_model import data_of

    found = [variable for variable in model.data_vars if variable.name == name]
    return np.asarray(data_of(found[0])) if found else None


def cells_of(model: Any) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return items and models of the answered cells; None where every cell is."""
    item, column = constant(model, "cell_item"), constant(model, "cell_model")
    return None if item is None or column is None else (item, column)
