"""What a matrix of answers holds: sizes, gaps, constants, duplicates, labels and accuracies."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.data.labels import family_of, owner_of
from neartie.data.responses import MISSING, Responses
from neartie.data.summary_text import summary_text

NO_FAMILY = frozenset({"", "unknown"})
_CHUNK = 64
_QUARTILES = ("lowest", "lower_quartile", "median", "upper_quartile", "highest")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ResponseSummary:
    """What `describe` found. Printed, it fits one screen; `to_dict` is complete.

    Attributes
    ----------
    n_items, n_models : int
        Sizes.
    graded : bool
        Whether some score is neither 0 nor 1.
    n_missing : int
        Cells without an answer.
    n_items_with_gaps, n_models_with_gaps : int
        Items and models that miss at least one.
    items_without_answers, models_without_answers : tuple of str
        Ids.
    constant_items : DataFrame
        Items with the same score from every model that answered: `item`, `score`, `n` answers.
    identical_models, identical_items : tuple of tuple of str
        Groups of ids whose answers are the same in every cell. Constant items, and what has no
        answer, are not looked at.
    families : DataFrame
        `family`, `n_models`; largest first.
    family_source : {'table', 'id'}
        Where families come from.
    n_without_family : int
        Models without a family, or with several in their id.
    owners : DataFrame
        `owner`, `n_models`; largest first.
    owner_source : {'table', 'id'}
        Where owners come from.
    sources : DataFrame
        `source`, `n_items`, in the order of items; empty without a column `source`.
    accuracy : DataFrame
        Models with the lowest and highest mean score, and the quartiles between: `quantile`,
        `accuracy`; empty if no model answered.
    notices : tuple of str
        What the reader did.
    """

    n_items: int
    n_models: int
    graded: bool
    n_missing: int
    n_items_with_gaps: int
    n_models_with_gaps: int
    items_without_answers: tuple[str, ...]
    models_without_answers: tuple[str, ...]
    constant_items: pd.DataFrame
    identical_models: tuple[tuple[str, ...], ...]
    identical_items: tuple[tuple[str, ...], ...]
    families: pd.DataFrame
    family_source: str
    n_without_family: int
    owners: pd.DataFrame
    owner_source: str
    sources: pd.DataFrame
    accuracy: pd.DataFrame
    notices: tuple[str, ...]

    @property
    def share_missing(self) -> float:
        """Missing cells of all, in [0, 1]."""
        return self.n_missing / (self.n_items * self.n_models)

    def to_dict(self) -> dict[str, Any]:
        """Return everything in a form that JSON has; tables are lists of records.

        Returns
        -------
        dict
        """
        content: dict[str, Any] = {}
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            is_table = isinstance(value, pd.DataFrame)
            content[name] = value.to_dict("records") if is_table else value
            if name == "n_missing":
                content["share_missing"] = self.share_missing
        return content

    def __str__(self) -> str:
        return summary_text(self)


def describe(responses: Responses) -> ResponseSummary:
    """Return what a matrix of answers holds.

    Parameters
    ----------
    responses : Responses
        Right/wrong or graded. Columns `family`, `owner` and `source` of the tables are used
        where they are there; a blank family, or `unknown`, is none.

    Returns
    -------
    ResponseSummary

    Examples
    --------
    >>> data = Responses.build(
    ...     [[1, 1, 1], [0, 1, -1]], items=["q1", "q2"], models=["a/phi-2", "b/qwen-1", "b/x"]
    ... )
    >>> summary = describe(data)
    >>> summary.constant_items["item"].tolist(), summary.families["family"].tolist()
    (['q1'], ['Phi', 'Qwen'])
    """
    observed = responses.observed
    item_n, model_n = observed.sum(axis=1), observed.sum(axis=0)
    families, family_source = _families(responses)
    owners, owner_source = _owners(responses)
    constant = _constant_items(responses, observed, item_n)
    varies = (item_n > 0) & ~np.isin(responses.items["item"], constant["item"])
    return ResponseSummary(
        n_items=responses.n_item,
        n_models=responses.n_model,
        graded=not responses.is_binary,
        n_missing=int(observed.size - item_n.sum()),
        n_items_with_gaps=int(np.count_nonzero(item_n < responses.n_model)),
        n_models_with_gaps=int(np.count_nonzero(model_n < responses.n_item)),
        items_without_answers=_ids(responses.item_ids, item_n == 0),
        models_without_answers=_ids(responses.model_ids, model_n == 0),
        constant_items=constant,
        identical_models=_identical(responses.values.T, responses.model_ids, model_n > 0),
        identical_items=_identical(responses.values, responses.item_ids, varies),
        families=_counted([family for family in families if family], "family", "n_models"),
        family_source=family_source,
        n_without_family=sum(not family for family in families),
        owners=_counted(owners, "owner", "n_models"),
        owner_source=owner_source,
        sources=_sources(responses),
        accuracy=_accuracy(responses),
        notices=responses.notices,
    )


def _ids(ids: list[str], mask: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(ids[i] for i in np.flatnonzero(mask))


def _constant_items(
    responses: Responses, observed: NDArray[np.bool_], n: NDArray[np.int64]
) -> pd.DataFrame:
    values = responses.values
    smallest, largest = (-np.inf, np.inf) if values.dtype == np.float32 else (MISSING, 1)
    lowest = np.min(values, axis=1, where=observed, initial=largest)
    highest = np.max(values, axis=1, where=observed, initial=smallest)
    rows = np.flatnonzero((n > 0) & (lowest == highest))
    return pd.DataFrame(
        {
            "item": responses.items["item"].to_numpy()[rows],
            "score": lowest[rows].astype(np.float64),
            "n": n[rows],
        }
    )


def _identical(
    values: NDArray[Any], ids: list[str], looked_at: NDArray[np.bool_]
) -> tuple[tuple[str, ...], ...]:
    """Group rows by a digest of their bytes, so that no second matrix is held."""
    groups: dict[bytes, list[str]] = defaultdict(list)
    for start in range(0, len(values), _CHUNK):
        chunk = np.ascontiguousarray(values[start : start + _CHUNK])
        if chunk.dtype == np.float32:
            # One form of zero and of missing: both have several in bytes.
            chunk = np.where(np.isnan(chunk), np.float32(np.nan), chunk + np.float32(0))
        for offset, row in enumerate(chunk):
            if looked_at[start + offset]:
                digest = hashlib.blake2b(row.tobytes(), digest_size=16).digest()
                groups[digest].append(ids[start + offset])
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _families(responses: Responses) -> tuple[list[str | None], str]:
    if "family" not in responses.models:
        return [family_of(model) for model in responses.model_ids], "id"
    given = ["" if pd.isna(value) else str(value) for value in responses.models["family"]]
    return [None if f.strip().casefold() in NO_FAMILY else f for f in given], "table"


def _owners(responses: Responses) -> tuple[list[str], str]:
    of_ids = [owner_of(model) for model in responses.model_ids]
    if "owner" not in responses.models:
        return of_ids, "id"
    given = ["" if pd.isna(value) else str(value) for value in responses.models["owner"]]
    pairs = zip(given, of_ids, strict=True)
    return [owner if owner.strip() else fallback for owner, fallback in pairs], "table"


def _counted(labels: list[str], name: str, count: str) -> pd.DataFrame:
    found = sorted(Counter(labels).items(), key=lambda pair: (-pair[1], pair[0]))
    return pd.DataFrame(
        {
            name: pd.Series([label for label, _ in found], dtype="str"),
            count: pd.Series([n for _, n in found], dtype="int64"),
        }
    )


def _sources(responses: Responses) -> pd.DataFrame:
    labels: list[str] = []
    if "source" in responses.items:
        labels = ["" if pd.isna(value) else str(value) for value in responses.items["source"]]
    found = Counter(labels)
    return pd.DataFrame(
        {
            "source": pd.Series(list(found), dtype="str"),
            "n_items": pd.Series(list(found.values()), dtype="int64"),
        }
    )


def _accuracy(responses: Responses) -> pd.DataFrame:
    means = responses.accuracy()["accuracy"].dropna().to_numpy()
    values = np.quantile(means, np.linspace(0, 1, len(_QUARTILES))) if len(means) else []
    names = _QUARTILES if len(means) else ()
    return pd.DataFrame({"quantile": list(names), "accuracy": np.asarray(values, np.float64)})
