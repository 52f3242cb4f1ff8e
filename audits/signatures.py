"""Item signatures of the two owner halves side by side, and their common cells (P0, D.3)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.anchors import STRATA, Cells, Subtest, build_cells, select_anchors
from neartie.audits.result import NearTieAudit
from neartie.data.errors import DataError
from neartie.data.responses import Responses
from neartie.data.wording import listed

type Floats = NDArray[np.float64]

TOP_SHARE = Fraction(1, 5)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Signatures:
    """Residual effects of every item in both halves, from the refit on the final anchors.

    Attributes
    ----------
    items : tuple of str, n_item
        In the order of the audit, which depends on ids alone.
    source : tuple of str, n_item
    index : (n_item,) int
        Original item index, which breaks ties.
    families : tuple of str, n_family
        Sorted.
    effects : (2, n_item, n_family) float, logit
        Half 0, then half 1; zero sum over families.
    easiness : (2, n_item) float, logit
        -inf and inf where every answer of the half is wrong, or right.
    """

    items: tuple[str, ...]
    source: tuple[str, ...]
    index: NDArray[np.intp]
    families: tuple[str, ...]
    effects: Floats
    easiness: Floats

    @property
    def dif_range(self) -> Floats:
        """(2, n_item) float, logit: largest minus smallest effect (P0, eq 5)."""
        return np.asarray(self.effects.max(axis=2) - self.effects.min(axis=2))

    @property
    def advantaged(self) -> NDArray[np.intp]:
        """(2, n_item) int: position of the family with the largest effect (P0, eq 52).

        -1 where the largest effect is shared, as in an item without any effects: then no family
        is advantaged, and a rule that took the first one would depend on spelling.
        """
        largest = self.effects.max(axis=2)
        shared = (self.effects == largest[:, :, None]).sum(axis=2) > 1
        return np.where(shared, -1, self.effects.argmax(axis=2)).astype(np.intp)

    def common_cells(self, *, strata: int = STRATA) -> Cells:
        """Return the cells of source and mean easiness that both halves share (P0, eqs 47, 48).

        Parameters
        ----------
        strata : int
            Easiness strata a source.

        Returns
        -------
        Cells
            By the rule of the anchors' cells. An item that one half alone solves throughout (or
            misses) stands at the end of its source; one that a half solves and the other misses
            throughout, in the middle.
        """
        first, second = self.easiness
        opposed = np.isinf(first) & np.isinf(second) & (first != second)
        mean = (np.where(opposed, 0.0, first) + np.where(opposed, 0.0, second)) / 2
        return build_cells(self.source, mean, strata=strata, index=self.index)

    def top_items(self, cells: Cells, *, share: Fraction = TOP_SHARE) -> NDArray[np.bool_]:
        """Return the items with the most DIF of every cell, in each half.

        Parameters
        ----------
        cells : Cells
        share : Fraction in (0, 1]
            `max(1, round(share n))` items of a cell of n, half to even; ties by original index.

        Returns
        -------
        (2, n_item) bool
        """
        return np.array(
            [
                select_anchors(cells, -dif_range, alpha=share, index=self.index).selected
                for dif_range in self.dif_range
            ]
        )

    def centred(self, cells: Cells) -> Floats:
        """Return the effects without the mean of their common cell (P0, eq 49).

        Parameters
        ----------
        cells : Cells

        Returns
        -------
        (2, n_item, n_family) float, logit
        """
        out = np.empty_like(self.effects)
        for h, effects in enumerate(self.effects):
            for f, column in enumerate(effects.T):
                mean = np.bincount(cells.code, weights=column) / cells.size
                out[h, :, f] = column - mean[cells.code]
        # What differs from zero by rounding alone would give ranks to items without effects.
        scale = np.abs(self.effects).max(initial=0.0)
        out[np.abs(out) <= 1e-12 * scale] = 0.0
        return out


def read_signatures(audit: NearTieAudit, responses: Responses) -> Signatures:
    """Return the stored signatures of an audit.

    Parameters
    ----------
    audit : NearTieAudit
    responses : Responses
        What was audited: the order of its items is the original item index, and its answers say
        on which side an item without a finite easiness stands.

    Returns
    -------
    Signatures

    Raises
    ------
    DataError
        If the responses lack items or models of the audit.

    References
    ----------
    P0, appendices C.5 (step 4) and D.3.
    """
    index, values = audited_answers(audit, responses)
    halves = [audit.items[audit.items["half"] == h] for h in (0, 1)]
    families = tuple(sorted(set(audit.dif["family"])))
    return Signatures(
        items=tuple(halves[0]["item"].tolist()),
        source=tuple(halves[0]["source"].tolist()),
        index=index,
        families=families,
        effects=np.array([_effects(audit, h, families) for h in (0, 1)]),
        easiness=np.array([_easiness(audit, values, h, table) for h, table in enumerate(halves)]),
    )


def audited_answers(
    audit: NearTieAudit, responses: Responses
) -> tuple[NDArray[np.intp], NDArray[np.int8]]:
    """Return the original index of the audit's items, and the audited answers.

    Parameters
    ----------
    audit : NearTieAudit
    responses : Responses

    Returns
    -------
    index : (n_item,) int
        Row of each item in the responses.
    values : (n_item, n_model) int8
        Items in the order of `audit.items`, models in that of `audit.population`.

    Raises
    ------
    DataError
        If the responses lack items or models of the audit, or answers to them.
    """
    items = audit.items.loc[audit.items["half"] == 0, "item"].tolist()
    models = audit.population["model"].tolist()
    rows = _positions(items, responses.item_ids, "item")
    columns = _positions(models, responses.model_ids, "model")
    values = responses.values[rows][:, columns]
    if not responses.is_binary or (values < 0).any():
        raise DataError("these responses are not those of the audit: answers to its items are "
                        "missing or graded")  # fmt: skip
    return rows, values.astype(np.int8)


def anchor_subtest(audit: NearTieAudit, half: int) -> Subtest:
    """Return the anchors fitted in a half with their exact weights.

    Parameters
    ----------
    audit : NearTieAudit
    half : int
        0 or 1; they score the other half.

    Returns
    -------
    Subtest
        Items in the order of `audit.items`. Its pool is all items.
    """
    table = audit.items[audit.items["half"] == half]
    names, code = np.unique(table["cell"].to_numpy(dtype=object).astype(str), return_inverse=True)
    parts = [str(name).rpartition("|") for name in names]
    selected = table["anchor"].to_numpy() == 1
    return Subtest(
        cells=Cells(
            code=code.astype(np.intp),
            source=tuple(source for source, _, _ in parts),
            stratum=np.array([int(number) for _, _, number in parts], dtype=np.intp),
            size=np.bincount(code),
        ),
        selected=selected,
        pool=np.ones(len(table), dtype=bool),
        kept=np.bincount(code[selected], minlength=len(names)),
    )


def _positions(wanted: list[str], there: list[str], kind: str) -> NDArray[np.intp]:
    place = {name: i for i, name in enumerate(there)}
    absent = [name for name in wanted if name not in place]
    if absent:
        raise DataError(
            f"these responses are not those of the audit: they lack {kind} {listed(absent)}"
        )
    return np.array([place[name] for name in wanted], dtype=np.intp)


def _effects(audit: NearTieAudit, half: int, families: tuple[str, ...]) -> Floats:
    table = audit.dif[audit.dif["half"] == half]
    # `pivot` would sort items as text; the table stands item by item, every family once
    column = pd.Categorical(table["family"], categories=list(families)).codes
    effects = np.full((len(table) // len(families), len(families)), np.nan)
    effects[np.arange(len(table)) // len(families), column] = table["effect"]
    return effects


def _easiness(
    audit: NearTieAudit, values: NDArray[np.int8], half: int, table: pd.DataFrame
) -> Floats:
    easiness = table["easiness_refit"].to_numpy(dtype=np.float64)
    share = values[:, audit.population["half"].to_numpy() == half].mean(axis=1)
    return np.where(np.isnan(easiness), np.where(share > 0.5, np.inf, -np.inf), easiness)
