"""Steps of the audit applied to all responses at once, for fits of the full models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.labelling import label_models, no_family_message
from neartie.data.errors import DataError
from neartie.data.responses import Responses
from neartie.data.wording import counted, listed
from neartie.inference.dimension import DimensionChoice, select_dimension, split_inner
from neartie.inference.spectral import spectral_coordinates, spectral_offset, working_responses


def with_families(responses: Responses) -> Responses:
    """Return the responses of the models that have a family, with columns `owner` and `family`.

    Parameters
    ----------
    responses : Responses
        Families and owners of its model table are taken; without, those of the ids (P0, C.1).

    Returns
    -------
    Responses
        Models without exactly one family are left out, with a notice.

    Raises
    ------
    DataError
        If no model has a family.

    Examples
    --------
    >>> answers = Responses.build([[1, 0, 1]], items=["q"], models=["a/phi-2", "b/qwen", "c/x"])
    >>> kept = with_families(answers)
    >>> kept.models["family"].tolist(), kept.notices
    (['Phi', 'Qwen'], ("left out 1 model without exactly one family: 'c/x'",))
    """
    labels = label_models(responses)
    known = labels["family"].notna().to_numpy()
    if not known.any():
        raise DataError(no_family_message(responses))
    kept = responses.take(models=known)
    names = labels[known].reset_index(drop=True)
    models = kept.models.assign(
        owner=pd.Series(names["owner"], dtype="str"), family=pd.Series(names["family"], dtype="str")
    )
    notices = kept.notices
    if not known.all():
        lost = labels.loc[~known, "model"].tolist()
        text = f"left out {counted(len(lost), 'model')} without exactly one family: {listed(lost)}"
        notices = (*notices, text)
    return replace(kept, models=models, notices=notices)


def without_constant_items(responses: Responses) -> Responses:
    """Return the responses without items on which all answers are equal, with a notice.

    Parameters
    ----------
    responses : Responses
        Right/wrong answers.

    Returns
    -------
    Responses

    Raises
    ------
    DataError
        If no item is left.

    Examples
    --------
    >>> answers = Responses.build([[1, 1], [1, 0]], items=["q1", "q2"], models=["a", "b"])
    >>> without_constant_items(answers).item_ids
    ['q2']
    """
    accuracy = responses.item_accuracy()["accuracy"].to_numpy()
    varied = (accuracy > 0) & (accuracy < 1)
    if varied.all():
        return responses
    if not varied.any():
        raise DataError("every item has equal answers of all models: nothing tells them apart")
    lost = responses.items.loc[~varied, "item"].tolist()
    text = f"left out {counted(len(lost), 'item')} with equal answers of all models: {listed(lost)}"
    kept = responses.take(items=varied)
    return replace(kept, notices=(*kept.notices, text))


def choose_dimension(
    responses: Responses, *, rng: np.random.Generator | int | None = None
) -> DimensionChoice:
    """Return the dimension that predicts held-out owners on held-out items, over all models.

    Parameters
    ----------
    responses : Responses
        Complete right/wrong answers; `source` of the item table and `owner` of the model table
        are used where they are there.
    rng : Generator, int or None
        Draws the split.

    Returns
    -------
    DimensionChoice
        By the audit's rule and grid. Without regard to the order of rows.

    Raises
    ------
    DataError
        If an answer is missing, or the data are too small to hold anything out.
    """
    data, _ = responses.canonical()
    working_responses(data.values.astype(np.int8))  # says which answer is missing
    owner = label_models(data)["owner"].tolist()
    source = data.items["source"].tolist() if "source" in data.items else [""] * data.n_item
    generator = np.random.default_rng(rng)
    return select_dimension(
        data.values.astype(np.int8), split=split_inner(owner, source, rng=generator)
    )


def offset_of(responses: Responses, *, dimension: int) -> NDArray[np.float64]:
    """Return the spectral offset of all models on all items.

    Parameters
    ----------
    responses : Responses
        Complete right/wrong answers.
    dimension : int

    Returns
    -------
    (n_item, n_model) float, logit
        In the order of `responses`.

    Raises
    ------
    DataError
        If an answer is missing, or the models do not differ.

    References
    ----------
    P0, equations 14 to 17.
    """
    working = working_responses(responses.values.astype(np.int8))
    return spectral_offset(working, spectral_coordinates(working.response, dimension=dimension))
