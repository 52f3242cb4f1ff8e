"""Why an item or a model deserves a look, in words: what its estimates and its answers say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from neartie.data.battles import Battles
from neartie.data.responses import Responses
from neartie.models.item_flags import LARGEST_DIFFICULTY, LEAST_DISCRIMINATION, item_flags
from neartie.models.prior_only import prior_only

#: What `neartie.models.item_flags.item_flags` says, in words.
IN_WORDS: Final = {
    "reversed": "reversed: the more able answer it less often",
    "flat": f"flat: discrimination below {LEAST_DISCRIMINATION:g}",
    "extreme": f"extreme: difficulty beyond {LARGEST_DIFFICULTY:g}",
}
SEPARATOR: Final = "; "


def flags_in_words(
    responses: Responses,
    items: Sequence[str],
    *,
    discrimination: ArrayLike | None = None,
    difficulty: ArrayLike | None = None,
    uninformed: str = "prior only",
) -> list[str]:
    """Return for every item why it deserves a look, or an empty text.

    Parameters
    ----------
    responses : Responses
        Right/wrong answers.
    items : sequence of str
        Ids, in the order of the estimates.
    discrimination, difficulty : (n_item,) float, optional
        Estimates; missing ones are passed over.
    uninformed : str
        What is said of an item whose answers say nothing, before the reason.

    Returns
    -------
    list of str, n_item

    Examples
    --------
    >>> answers = Responses.build([[1, 1], [0, 1], [1, 0]], items=list("xyz"), models=["a", "b"])
    >>> flags_in_words(answers, ["x", "y"], discrimination=[1.0, 0.2])
    ['prior only: every answer right', 'flat: discrimination below 0.3']
    """
    silent = prior_only(responses)
    silent = silent[silent["kind"] == "item"]
    reasons = dict(zip(silent["id"], silent["reason"], strict=True))
    place = {item: position for position, item in enumerate(responses.item_ids)}
    rows = responses.values[[place[item] for item in items]].astype(np.int8)
    said = []
    for item, flags in zip(items, item_flags(rows, discrimination, difficulty), strict=True):
        parts = [f"{uninformed}: {reasons[item]}"] if item in reasons else []
        parts += [IN_WORDS[flag] for flag in flags.split(SEPARATOR) if flag]
        said.append(SEPARATOR.join(parts))
    return said


def model_flags(
    data: Responses | Battles, models: Sequence[str], *, uninformed: str = "prior only"
) -> list[str]:
    """Return for every model why its estimate rests on the prior, or an empty text.

    Parameters
    ----------
    data : Responses or Battles
    models : sequence of str
        Ids, in the order of the estimates.
    uninformed : str
        What is said of a model whose answers or battles bound it on one side at most, before the
        reason.

    Returns
    -------
    list of str, n_model
        The reasons are those of `neartie.models.prior_only.prior_only`, or of battles that the
        model won or lost every one.

    Examples
    --------
    >>> battles = Battles.build(["owl", "ant", "fly"], ["ant", "owl", "ant"], ["a", "a", "b"])
    >>> model_flags(battles, ["ant", "fly"])
    ['', 'prior only: lost every battle']
    >>> answers = Responses.build([[1, 1], [0, 1], [1, 1]], items=list("xyz"), models=["a", "b"])
    >>> model_flags(answers, ["a", "b"])
    ['', 'prior only: every answer right']
    """
    if isinstance(data, Responses):
        silent = prior_only(data)
        silent = silent[silent["kind"] == "model"]
        reasons = dict(zip(silent["id"], silent["reason"], strict=True))
    else:
        found = data.separation()
        reasons = dict.fromkeys(found.never_winning, "lost every battle")
        reasons |= dict.fromkeys(found.never_losing, "won every battle")
    return [f"{uninformed}: {reasons[model]}" if model in reasons else "" for model in models]
