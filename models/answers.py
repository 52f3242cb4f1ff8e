"""Right/wrong answers as the models take them: checked, in the order of ids, missing left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neartie.data.errors import DataError
from neartie.data.responses import Responses
from neartie.models.prior_only import prior_only_notices


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Answers:
    """What the likelihood is made of.

    Attributes
    ----------
    responses : Responses
        In canonical order: items in natural order of ids, models in plain order.
    cell_item, cell_model : (n_cell,) int
        Positions of the answered cells, item by item.
    values : (n_cell,) int8
        Their answers, 1 right, 0 wrong.
    notices : tuple of str
        For whom the prior alone speaks.
    """

    responses: Responses
    cell_item: NDArray[np.intp]
    cell_model: NDArray[np.intp]
    values: NDArray[np.int8]
    notices: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether every model answered every item."""
        return len(self.values) == self.responses.values.size

    @property
    def share(self) -> float:
        """Share of the cells that hold an answer."""
        return len(self.values) / self.responses.values.size


def checked_answers(responses: Responses) -> Answers:
    """Return the answers in canonical order.

    Parameters
    ----------
    responses : Responses
        Right/wrong answers in any order.

    Returns
    -------
    Answers

    Raises
    ------
    DataError
        If a score is graded (it is not rounded), or there is no answer at all.

    Examples
    --------
    >>> graded = Responses.build([[1.0, 0.5]], items=["p2"], models=["a", "b"])
    >>> checked_answers(graded)
    Traceback (most recent call last):
    ...
    neartie.data.errors.DataError: item 'p2' holds the score 0.5 (model 'b'), but this model is for right/wrong answers and rounds nothing: give 0 and 1, by a threshold of your own, or leave the item out
    """
    if not responses.is_binary:
        _refuse_graded(responses)
    data, _ = responses.canonical()
    observed = data.observed
    if not observed.any():
        raise DataError("the responses hold no answer: there is nothing to fit")
    item, model = np.nonzero(observed)
    return Answers(
        responses=data,
        cell_item=item,
        cell_model=model,
        values=data.values[item, model].astype(np.int8),
        notices=prior_only_notices(data),
    )


def _refuse_graded(responses: Responses) -> None:
    graded = responses.observed & ~np.isin(responses.values, (0.0, 1.0))
    items, models = np.nonzero(graded)
    item, model = items[0], models[0]
    raise DataError(
        f"item {responses.item_ids[item]!r} holds the score {responses.values[item, model]:g} "
        f"(model {responses.model_ids[model]!r}), but this model is for right/wrong answers and "
        "rounds nothing: give 0 and 1, by a threshold of your own, or leave the item out"
    )


def family_positions(responses: Responses) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """Return the sorted families of the model table, and every model's position among them.

    Parameters
    ----------
    responses : Responses
        The model table has the column `family`.

    Returns
    -------
    families : tuple of str
    position : (n_model,) int

    Raises
    ------
    DataError
        If there is no such column, a model's family is blank, or there is but one family.

    Examples
    --------
    >>> import pandas as pd
    >>> models = pd.DataFrame({"model": ["a", "b", "c"], "family": ["Phi", "Llama", "Phi"]})
    >>> family_positions(Responses.build([[1, 0, 1]], items=["q"], models=models))
    (('Llama', 'Phi'), array([1, 0, 1]))
    """
    if "family" not in responses.models.columns:
        raise DataError(
            "family effects need the family of every model: the model table has no column 'family'"
        )
    labels = responses.models["family"].tolist()
    for name, label in zip(responses.model_ids, labels, strict=True):
        if not (isinstance(label, str) and label.strip()):
            raise DataError(
                f"model {name!r} has no family: leave such models out, or give them a family"
            )
    names = sorted(set(labels))
    if len(names) < 2:
        raise DataError(
            f"family effects compare at least two families; all models are {names[0]!r}"
        )
    position = {name: f for f, name in enumerate(names)}
    return tuple(names), np.array([position[label] for label in labels], dtype=np.intp)


def family_notices(families: tuple[str, ...], position: NDArray[np.intp]) -> tuple[str, ...]:
    """Return a sentence for every family of one model: its effects are that model's own.

    Examples
    --------
    >>> family_notices(("A", "B"), np.array([0, 0, 1]))
    ("family 'B' is a single model: its effects cannot be told from that model's own",)
    """
    size = np.bincount(position, minlength=len(families))
    return tuple(
        f"family {name!r} is a single model: its effects cannot be told from that model's own"
        for name, n in zip(families, size, strict=True)
        if n == 1
    )
