"""Items, models and families of which the answers say too little: the prior speaks for them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from neartie.data.responses import Responses

SHOWN = 5


def prior_only(responses: Responses) -> pd.DataFrame:
    """Return the items and models whose estimates are finite by their prior alone.

    Parameters
    ----------
    responses : Responses
        Right/wrong answers.

    Returns
    -------
    DataFrame
        `kind` (`item` or `model`); `id`; `n` answers; `reason`: `no answer`, `one answer` (items
        only), `every answer right`, `every answer wrong`. Items first, in the order of the
        responses; no rows when there is nothing to say.

    Notes
    -----
    An estimate for these is the prior, or the prior cut off on one side. A maximum-likelihood
    estimate would be infinite or missing.

    Examples
    --------
    >>> answers = Responses.build(
    ...     [[1, 1, -1], [0, 1, -1], [1, 0, -1]], items=["q1", "q2", "q3"], models=["a", "b", "c"]
    ... )
    >>> prior_only(answers)
        kind  id  n              reason
    0   item  q1  2  every answer right
    1  model   c  0           no answer
    """
    parts = []
    for kind, table in (("item", responses.item_accuracy()), ("model", responses.accuracy())):
        reason = pd.Series("", index=table.index, dtype="str")
        reason[table["accuracy"] == 1] = "every answer right"
        reason[table["accuracy"] == 0] = "every answer wrong"
        if kind == "item":
            reason[table["n"] == 1] = "one answer"
        reason[table["n"] == 0] = "no answer"
        parts.append(
            pd.DataFrame({"kind": kind, "id": table[kind], "n": table["n"], "reason": reason})
        )
    table = pd.concat(parts, ignore_index=True)
    return table[table["reason"] != ""].reset_index(drop=True)


def prior_only_notices(responses: Responses) -> tuple[str, ...]:
    """Return a sentence for each kind and reason of `prior_only`.

    Examples
    --------
    >>> answers = Responses.build([[1, 1], [0, 1], [1, 0]], items=list("xyz"), models=["a", "b"])
    >>> prior_only_notices(answers)
    ("1 item rests on the prior, every answer right: 'x'",)
    """
    found = prior_only(responses).groupby(["kind", "reason"], sort=False)["id"]
    return tuple(
        f"{len(ids)} {kind}{' rests' if len(ids) == 1 else 's rest'} on the prior, {reason}: "
        f"{_named(ids.tolist())}"
        for (kind, reason), ids in found
    )


def _named(ids: Sequence[str]) -> str:
    rest = len(ids) - SHOWN
    return ", ".join(map(repr, ids[:SHOWN])) + (f" and {rest} more" if rest > 0 else "")
