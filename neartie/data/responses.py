"""The response matrix: items in rows, models in columns, and a table for each side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from neartie.data.errors import DataError
from neartie.data.labels import natural_key

if TYPE_CHECKING:
    import xarray as xr

MISSING = -1


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Responses:
    """Answers of models to items. Immutable; build one with `Responses.build` or a reader.

    Attributes
    ----------
    values : (n_item, n_model) int8 or float32
        `int8` for right/wrong answers, with 1 right, 0 wrong and -1 missing;
        `float32` for graded scores, with NaN missing. Read-only.
    items : DataFrame, n_item rows
        Columns `item` (the id, text) and whatever else is known, such as `source`.
        The order of rows is the original item index of P0.
    models : DataFrame, n_model rows
        Columns `model` (the id, text) and whatever else is known: `owner`, `family`, ...
    notices : tuple of str
        What a reader did that its user should know.
    """

    values: NDArray[np.int8] | NDArray[np.float32]
    items: pd.DataFrame
    models: pd.DataFrame
    notices: tuple[str, ...] = ()

    @classmethod
    def build(
        cls,
        values: ArrayLike,
        *,
        items: pd.DataFrame | Iterable[str],
        models: pd.DataFrame | Iterable[str],
        notices: tuple[str, ...] = (),
    ) -> Self:
        """Return validated responses.

        Parameters
        ----------
        values : (n_item, n_model) array
            0, 1 and missing (-1 in an integer array, NaN in a float array), or any finite
            scores with NaN for missing: then the responses are graded.
        items, models : DataFrame or iterable of str
            Tables with the column `item` or `model`, or the ids alone.
        notices : tuple of str
            Carried along.

        Returns
        -------
        Responses

        Raises
        ------
        DataError
            If shapes and tables disagree, an id is blank or stands twice, or a score is neither
            finite nor missing.

        Examples
        --------
        >>> Responses.build([[1, 0], [1, -1]], items=["q1", "q2"], models=["a", "b"])
        Responses(2 items x 2 models, right/wrong, 1 missing)
        """
        item_table, model_table = _as_table(items, "item"), _as_table(models, "model")
        matrix = _as_matrix(np.asarray(values))
        if matrix.shape != (len(item_table), len(model_table)):
            raise DataError(
                f"the matrix has shape {matrix.shape}, but there are {len(item_table)} items "
                f"and {len(model_table)} models"
            )
        matrix.flags.writeable = False
        return cls(values=matrix, items=item_table, models=model_table, notices=notices)

    @property
    def n_item(self) -> int:
        """Number of items."""
        return len(self.items)

    @property
    def n_model(self) -> int:
        """Number of models."""
        return len(self.models)

    @property
    def is_binary(self) -> bool:
        """Whether scores are right/wrong."""
        return self.values.dtype == np.int8

    @property
    def item_ids(self) -> list[str]:
        """Item ids in row order."""
        return self.items["item"].tolist()

    @property
    def model_ids(self) -> list[str]:
        """Model ids in column order."""
        return self.models["model"].tolist()

    @property
    def observed(self) -> NDArray[np.bool_]:
        """(n_item, n_model) bool: where there is an answer."""
        return self.values >= 0 if self.is_binary else ~np.isnan(self.values)

    @property
    def n_missing(self) -> int:
        """Number of cells without an answer."""
        return int(self.values.size - np.count_nonzero(self.observed))

    def accuracy(self) -> pd.DataFrame:
        """Return the mean score of every model over the items that it answered.

        Returns
        -------
        DataFrame, n_model rows
            `model`; `n` answered items; `accuracy`, missing for a model without answers.

        Examples
        --------
        >>> Responses.build([[1, -1]], items=["q"], models=["a", "b"]).accuracy()
          model  n  accuracy
        0     a  1       1.0
        1     b  0       NaN
        """
        return self._means(axis=0, ids=self.models["model"])

    def item_accuracy(self) -> pd.DataFrame:
        """Return the mean score on every item over the models that answered it.

        Returns
        -------
        DataFrame, n_item rows
            `item`; `n` answers; `accuracy`, missing for an item without answers.
        """
        return self._means(axis=1, ids=self.items["item"])

    def _means(self, *, axis: int, ids: pd.Series) -> pd.DataFrame:
        observed = self.observed
        n = observed.sum(axis=axis)
        total = np.sum(self.values, axis=axis, where=observed, dtype=np.float64)
        mean = np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)
        return pd.DataFrame({ids.name: ids.to_numpy(), "n": n, "accuracy": mean})

    def take(
        self, *, items: NDArray[Any] | None = None, models: NDArray[Any] | None = None
    ) -> Responses:
        """Return the responses of some items and models, in the order asked for.

        Parameters
        ----------
        items, models : int positions or bool mask, optional
            All of them when left out.

        Returns
        -------
        Responses
        """
        rows = np.arange(self.n_item)[items] if items is not None else np.arange(self.n_item)
        columns = np.arange(self.n_model)[models] if models is not None else np.arange(self.n_model)
        values = self.values if items is None else self.values[rows]
        # whole rows stay side by side, which plain indexing of columns would undo
        values = np.take(values, columns, axis=1)
        values.flags.writeable = False
        return Responses(
            values=values,
            items=self.items.iloc[rows].reset_index(drop=True),
            models=self.models.iloc[columns].reset_index(drop=True),
            notices=self.notices,
        )

    def canonical(self) -> tuple[Responses, NDArray[np.intp]]:
        """Return the responses in an order that depends on ids alone, and the original item index.

        Returns
        -------
        responses : Responses
            Items in natural order of their ids, models in plain order of theirs, so that
            whatever is computed from them is the same to the last bit for every file order.
        index : (n_item,) int
            Position of each item in the responses at hand: what P0 calls the original index.
        """
        ids = self.item_ids
        index = np.array(sorted(range(len(ids)), key=lambda i: natural_key(ids[i])), dtype=np.intp)
        names = self.model_ids
        columns = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.intp)
        return self.take(items=index, models=columns), index

    def to_xarray(self) -> xr.Dataset:
        """Return a Dataset with dims `item` and `model`, the tables as coordinates.

        Returns
        -------
        xarray.Dataset
            Variable `score`: float32 with NaN for missing cells.

        Examples
        --------
        >>> data = Responses.build([[1, 0]], items=["q"], models=["a", "b"]).to_xarray()
        >>> float(data.score.sel(item="q", model="a"))
        1.0
        """
        import xarray as xr

        score = np.where(self.observed, self.values, np.nan).astype(np.float32)
        coords: dict[str, Any] = {}
        for dim, table in (("item", self.items), ("model", self.models)):
            for column in table.columns:
                coords[column if column not in coords else f"{dim}_{column}"] = (
                    dim,
                    table[column].to_numpy(dtype=object),
                )
        return xr.Dataset({"score": (("item", "model"), score)}, coords=coords)

    def __repr__(self) -> str:
        kind = "right/wrong" if self.is_binary else "graded"
        return (
            f"Responses({self.n_item} items x {self.n_model} models, {kind}, "
            f"{self.n_missing} missing)"
        )


def _as_table(given: pd.DataFrame | Iterable[str], key: str) -> pd.DataFrame:
    if isinstance(given, pd.DataFrame):
        if key not in given.columns:
            raise DataError(f"the {key} table has no column '{key}'")
        table = given.reset_index(drop=True)
    else:
        table = pd.DataFrame({key: pd.Series(list(given), dtype="str")})
    ids = table[key]
    if not all(isinstance(value, str) and value.strip() for value in ids):
        row = next(i for i, v in enumerate(ids) if not (isinstance(v, str) and v.strip()))
        raise DataError(f"{key} id {row + 1} is blank or not text: {ids.iloc[row]!r}")
    repeated = ids[ids.duplicated()]
    if len(repeated):
        raise DataError(f"{key} id {repeated.iloc[0]!r} stands more than once")
    return table


def _as_matrix(values: NDArray[Any]) -> NDArray[np.int8] | NDArray[np.float32]:
    if values.ndim != 2:
        raise DataError(f"responses are a matrix, items x models; got {values.ndim} dimension(s)")
    if values.dtype == np.bool_ or np.issubdtype(values.dtype, np.integer):
        if values.size and (values.min() < MISSING or values.max() > 1):
            raise DataError("an integer matrix holds 0, 1 and -1 for missing only")
        return values.astype(np.int8)
    if not np.issubdtype(values.dtype, np.floating):
        raise DataError(f"responses are numbers, got {values.dtype}")
    if np.isinf(values).any():
        raise DataError("a score is infinite")
    missing = np.isnan(values)
    if np.isin(values[~missing], (0.0, 1.0)).all():
        return np.where(missing, MISSING, values).astype(np.int8)
    return values.astype(np.float32)
