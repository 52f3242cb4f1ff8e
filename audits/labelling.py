"""Owner and family of every model, from the model table or from its id (P0, C.1)."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from neartie.data.labels import families_named_in, family_of, name_part, owner_of
from neartie.data.responses import Responses
from neartie.data.wording import visible

NO_FAMILY = frozenset({"", "unknown"})


def label_models(responses: Responses) -> pd.DataFrame:
    """Return owner and family of every model.

    Parameters
    ----------
    responses : Responses
        Columns `owner` and `family` of the model table are taken as they are; what is not there
        comes from the id (C.1). A blank family, or `unknown` in any case, is no family.

    Returns
    -------
    DataFrame
        `model`, `owner`, `family` (missing for none), `reason` (why there is none, else blank).

    Examples
    --------
    >>> data = Responses.build([[1, 0]], items=["q"], models=["a/phi-2", "b/qwen-llama"])
    >>> label_models(data)["family"].tolist()
    ['Phi', None]
    """
    table = responses.models
    ids = responses.model_ids
    owners = [owner_of(model) for model in ids]
    if "owner" in table:
        given = table["owner"].tolist()
        owners = [o if _is_text(o) else d for o, d in zip(given, owners, strict=True)]
    families: list[str | None] = []
    reasons: list[str] = []
    for position, model in enumerate(ids):
        if "family" in table:
            value = table["family"].iloc[position]
            known = _is_text(value) and value.strip().casefold() not in NO_FAMILY
            families.append(str(value) if known else None)
            reasons.append("" if known else "no family in the model table")
        else:
            families.append(family_of(model))
            names = families_named_in(model)
            several = f"several family names: {', '.join(names)}"
            reasons.append("" if len(names) == 1 else several if names else "no family name")
    return pd.DataFrame(
        {
            "model": ids,
            "owner": owners,
            "family": pd.Series(families, dtype=object),
            "reason": reasons,
        }
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def scope_disagreements(models: Iterable[str]) -> list[str]:
    """Return the ids whose owner part changes the family that the name alone would give.

    Examples
    --------
    >>> scope_disagreements(["llama-fans/qwen-7b", "a/phi-2"])
    ['llama-fans/qwen-7b']
    """
    return [m for m in models if families_named_in(m) != families_named_in(name_part(m))]


def no_family_message(responses: Responses) -> str:
    """Return why no model has a family, and what to do."""
    if "half" in responses.models:
        return "no model of the model table has both a family and a half"
    if "family" in responses.models:
        return "the column 'family' of the model table names no family"
    return (
        f"none of the {responses.n_model} model ids names exactly one family (Qwen, Llama, Gemma, "
        "Mistral/Mixtral, Phi): give a model table with the columns 'model' and 'family'"
    )


def naming_notices(labels: pd.DataFrame) -> list[str]:
    """Return a notice of ids whose family depends on the owner part."""
    odd = scope_disagreements(labels["model"])
    if not odd:
        return []
    return [
        (
            f"{len(odd)} model ids would be given another family by the name after the slash than by "
            f"the whole id, which decides: {name_some(odd)}"
        )
    ]


def name_some(names: Iterable[str], most: int = 5) -> str:
    """Return the first few names and how many more there are."""
    names = [visible(name, 80) for name in names]
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest
