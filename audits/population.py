"""Who is audited: families, owner cap, halves and representatives (P0, 3.1 and C.1)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.halves import assign_halves
from neartie.audits.labelling import label_models, name_some, naming_notices, no_family_message
from neartie.data.errors import DataError
from neartie.data.responses import Responses
from neartie.data.wording import counted

type Missing = Literal["stop", "drop-models", "drop-items"]

MIN_FAMILY_SIZE = 20
OWNER_CAP = 5


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Population:
    """The retained models of an audit.

    Attributes
    ----------
    responses : Responses
        Complete answers of the retained models, columns in the order of `table`.
    table : DataFrame
        `model`, `owner`, `family`, `half` (0 or 1), `representative` (0 or 1), `n_correct`.
    excluded : DataFrame
        `model`, `reason`.
    frozen : bool
        Whether the halves came with the model table, so that no cap or size rule was applied.
    notices : tuple of str
        What the user should know.
    """

    responses: Responses
    table: pd.DataFrame
    excluded: pd.DataFrame
    frozen: bool
    notices: tuple[str, ...]

    def half(self, number: int, *, representatives: bool = False) -> NDArray[np.intp]:
        """Return the positions of the models of one half, or of its representatives only."""
        mask = self.table["half"].to_numpy() == number
        if representatives:
            mask &= self.table["representative"].to_numpy() == 1
        return np.flatnonzero(mask)

    def families(self) -> pd.DataFrame:
        """Return sizes by family and half.

        Returns
        -------
        DataFrame
            `family`, `half`, `n_models`, `n_owners`, `n_representatives`, `mean_accuracy`.
        """
        grouped = self.table.groupby(["family", "half"], sort=True)
        return pd.DataFrame(
            {
                "n_models": grouped["model"].size(),
                "n_owners": grouped["owner"].nunique(),
                "n_representatives": grouped["representative"].sum(),
                "mean_accuracy": grouped["n_correct"].mean() / self.responses.n_item,
            }
        ).reset_index()


def build_population(
    responses: Responses,
    *,
    min_family_size: int = MIN_FAMILY_SIZE,
    owner_cap: int = OWNER_CAP,
    missing: Missing = "stop",
    rng: np.random.Generator | int | None = None,
) -> Population:
    """Return the audited population with owner-disjoint halves and representatives.

    Parameters
    ----------
    responses : Responses
        Right/wrong answers. Columns `owner`, `family`, `half`, `representative` of the model
        table override the rules. With `half` the table is the frozen population: its models
        with a half and a family are all retained, without cap or size rule.
    min_family_size : int
        Families with fewer models after capping are dropped.
    owner_cap : int
        Most checkpoints an owner and family.
    missing : {"stop", "drop-models", "drop-items"}
        What to do about missing answers of models with a family.
    rng : Generator, int or None
        Chooses the checkpoints under the cap: one number is drawn, and a model's lot depends on
        it and on the model's id alone.

    Returns
    -------
    Population

    Raises
    ------
    DataError
        If answers are graded or missing (under "stop"), fewer than two families are left, an
        owner stands in both halves, or a family has fewer than two models in a half; with names.

    Notes
    -----
    The representative of an owner and family is the checkpoint closest to their median number
    of right answers over the retained checkpoints; a tie goes to the smallest id.

    References
    ----------
    P0, 3.1 and appendix C.1.
    """
    rng = np.random.default_rng(rng)
    salt = int(rng.integers(2**63))
    if not responses.is_binary:
        raise DataError("the audit needs right/wrong answers, but these responses are graded")
    labels = label_models(responses)
    frozen = "half" in responses.models
    if frozen:
        labels = labels.assign(half=responses.models["half"].tolist())
        unplaced = labels["half"].isna() & (labels["reason"] == "")
        labels.loc[unplaced, "reason"] = "no half in the model table"
    if "representative" in responses.models:
        labels = labels.assign(representative=responses.models["representative"].tolist())
    notices = naming_notices(labels) if "family" not in responses.models else []
    candidates = labels[labels["reason"] == ""]
    if candidates.empty:
        raise DataError(no_family_message(responses))
    data, candidates, labels = _complete(responses, candidates, labels, missing, notices)
    candidates = candidates.assign(
        n_correct=data.values.sum(axis=0, dtype=np.int64)[candidates.index.to_numpy()]
    )
    if frozen:
        table = candidates.assign(half=candidates["half"].astype(int))
    else:
        kept = cap_owners(candidates, owner_cap, salt)
        labels.loc[candidates.index.difference(kept.index), "reason"] = "over the owner cap"
        large = _large_families(kept, min_family_size, notices)
        small = kept.index.difference(large.index)
        labels.loc[small, "reason"] = "family below the minimum size"
        table = large.assign(half=assign_halves(large))
    table = _with_representatives(table)
    _check(table, min_family_size if frozen else 0, notices, frozen=frozen)
    columns = ["model", "owner", "family", "half", "representative", "n_correct"]
    left_out = labels[labels["reason"] != ""]
    return Population(
        responses=data.take(models=table.index.to_numpy()),
        table=table[columns].reset_index(drop=True),
        excluded=left_out[["model", "reason"]].reset_index(drop=True),
        frozen=frozen,
        notices=tuple(notices),
    )


def _complete(
    responses: Responses,
    candidates: pd.DataFrame,
    labels: pd.DataFrame,
    missing: Missing,
    notices: list[str],
) -> tuple[Responses, pd.DataFrame, pd.DataFrame]:
    """Return data without missing answers of candidates, under the rule asked for."""
    if missing not in ("stop", "drop-models", "drop-items"):
        raise ValueError(f"missing must be 'stop', 'drop-models' or 'drop-items', got {missing!r}")
    positions = candidates.index.to_numpy()
    gaps = responses.values[:, positions] < 0
    if not gaps.any():
        return responses, candidates, labels
    n_cell, items, models = int(gaps.sum()), gaps.any(axis=1), gaps.any(axis=0)
    if missing == "stop":
        raise DataError(
            f"{counted(n_cell, 'answer')} {'is' if n_cell == 1 else 'are'} missing ({name_some([responses.item_ids[i] for i in np.flatnonzero(items)])}; "
            f"models {name_some(candidates['model'][models])}), but the audit compares complete "
            f"responses: choose --missing drop-models (leaves {int((~models).sum())} of "
            f"{len(models)} models with a family) or --missing drop-items (leaves "
            f"{int((~items).sum())} of {len(items)} items)"
        )
    if missing == "drop-models":
        labels = labels.copy()
        labels.loc[candidates.index[models], "reason"] = "missing answers"
        candidates = candidates[~models]
        notices.append(_left_out(int(models.sum()), "model"))
        if candidates.empty:
            raise DataError("every model with a family has missing answers: none is left")
        return responses, candidates, labels
    if items.all():
        raise DataError("every item has a missing answer: none is left; use --missing drop-models")
    notices.append(_left_out(int(items.sum()), "item"))
    return responses.take(items=~items), candidates, labels


def _left_out(n: int, noun: str) -> str:
    return f"{counted(n, noun)} with missing answers {'was' if n == 1 else 'were'} left out"


def cap_owners(candidates: pd.DataFrame, cap: int, salt: int) -> pd.DataFrame:
    """Keep at most `cap` models of every owner and family, representatives given by hand first."""
    if cap < 1:
        raise ValueError(f"owner_cap must be at least 1, got {cap}")
    lot = [
        hashlib.blake2b(f"{salt}\0{model}".encode(), digest_size=16).digest()
        for model in candidates["model"]
    ]
    order = candidates.assign(lot=lot)
    if "representative" in order:
        order = order.assign(given=order["representative"].fillna(0).astype(int))
    else:
        order = order.assign(given=0)
    order = order.sort_values(["given", "lot"], ascending=[False, True], kind="stable")
    kept = order.groupby(["owner", "family"], sort=False).head(cap).index
    return candidates.loc[sorted(kept)]


def _large_families(kept: pd.DataFrame, smallest: int, notices: list[str]) -> pd.DataFrame:
    sizes = kept["family"].value_counts().sort_index()
    large = sizes[sizes >= smallest]
    sentence = ", ".join(f"{family} {size}" for family, size in sizes.items())
    if len(sizes) == 1:
        who = "the only model" if len(kept) == 1 else f"all {len(kept)} models"
        belong = "belongs" if len(kept) == 1 else "belong"
        raise DataError(
            f"family effects compare at least two families, but {who} with a family {belong} to "
            f"{sizes.index[0]!r}"
        )
    if len(large) < 2:
        raise DataError(
            f"fewer than two families have at least {smallest} models after the owner cap "
            f"({sentence}): lower --min-family-size or give other families in the model table"
        )
    small = sizes[sizes < smallest]
    if len(small):
        dropped = ", ".join(f"{family} ({size})" for family, size in small.items())
        notices.append(f"families with fewer than {smallest} models were dropped: {dropped}")
    return kept[kept["family"].isin(large.index)]


def choose_representatives(table: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which model stands for its owner and family.

    Parameters
    ----------
    table : DataFrame
        `model`, `owner`, `family`, `n_correct`.

    Returns
    -------
    (n_model,) bool
        One model an owner and family: the one closest to their median number of right answers,
        compared in whole numbers; a tie goes to the smallest id.

    References
    ----------
    P0, 3.1.

    Examples
    --------
    >>> table = pd.DataFrame({"model": ["a/z", "a/y"], "owner": "a", "family": "F",
    ...                       "n_correct": [7, 4]})
    >>> choose_representatives(table)
    array([False,  True])
    """
    cells: dict[tuple[str, str], list[tuple[int, str, int]]] = {}
    rows = zip(table["owner"], table["family"], table["n_correct"], table["model"], strict=True)
    for position, (owner, family, count, model) in enumerate(rows):
        cells.setdefault((owner, family), []).append((int(count), model, position))
    chosen = np.zeros(len(table), dtype=bool)
    for members in cells.values():
        counts = sorted(count for count, _, _ in members)
        n = len(counts)
        # twice the median is a whole number
        doubled = counts[(n - 1) // 2] + counts[n // 2]
        chosen[min((abs(2 * c - doubled), model, at) for c, model, at in members)[2]] = True
    return chosen


def _with_representatives(table: pd.DataFrame) -> pd.DataFrame:
    if "representative" in table:
        return table.assign(representative=table["representative"].fillna(0).astype(int))
    return table.assign(representative=choose_representatives(table).astype(int))


def _check(table: pd.DataFrame, smallest: int, notices: list[str], *, frozen: bool) -> None:
    split = table.groupby("owner")["half"].nunique()
    both = split[split > 1]
    if len(both):
        raise DataError(
            f"owners must stand in one half only, but {len(both)} {'stands' if len(both) == 1 else 'stand'} in both: "
            f"{name_some(list(both.index))}"
        )
    sizes = table.groupby(["family", "half"]).size().unstack(fill_value=0)
    sizes = sizes.reindex(columns=[0, 1], fill_value=0)
    if len(sizes) < 2:
        raise DataError(
            f"family effects compare at least two families, but only {sizes.index[0]!r} is there"
        )
    for family, row in sizes.iterrows():
        for half in (0, 1):
            if row[half] < 2:
                way_out = (
                    "leave the family out, or give other halves"
                    if frozen
                    else f"leave the family out (--min-family-size {row.sum() + 1})"
                )
                raise DataError(
                    f"family {family!r} has {counted(int(row[half]), 'model')} in half {half}: its "
                    f"effects cannot be estimated there; {way_out}"
                )
    totals = sizes.sum(axis=1)
    small = [f"{family} ({n})" for family, n in totals.items() if n < smallest]
    if small:
        notices.append(
            f"families with fewer than {smallest} models in the given population: {', '.join(small)}; "
            "their effects are strongly shrunk and noisy"
        )
    cells = table[table["representative"] == 1].groupby(["owner", "family"]).size()
    several = cells[cells > 1]
    if len(several):
        names = [f"{owner} ({family})" for owner, family in several.index]
        notices.append(f"more than one representative an owner and family: {name_some(names)}")
    for half in (0, 1):
        if not ((table["representative"] == 1) & (table["half"] == half)).any():
            raise DataError(f"half {half} has no representative: there is nothing to rank")
