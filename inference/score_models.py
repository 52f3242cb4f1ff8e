"""Scoring of models on items whose parameters are known: mode, mean and maximum likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from neartie.data.errors import DataError
from neartie.data.responses import Responses
from neartie.data.wording import counted, listed
from neartie.inference.ability_grid import Grid, nodes_resolve, posterior_grid
from neartie.inference.known_items import Floats, KnownItems, Mask, ends, maximum
from neartie.inference.two_pl_result import TwoPLFit
from neartie.models.answers import checked_answers

COLUMN_NAMES: Final = {
    "discrimination": ("discrimination", "a"),
    "difficulty": ("difficulty", "b"),
    "easiness": ("easiness", "d"),
}
#: Models whose nodes are held at a time.
_CHUNK: Final = 512


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ScoredModels:
    """Abilities on the scale of known items.

    Attributes
    ----------
    table : DataFrame, n_model rows
        `model`; `n` answers to known items; `ability`, the posterior mode, with
        `se_items_known`; `eap` and `eap_sd`, posterior mean and standard deviation; `low`, `high`,
        the interval between posterior quantiles; `ml` and `ml_se`, infinite where maximum
        likelihood has no finite estimate and missing where there is no answer, and `ml_note`, why;
        `node_spacing`, the distance of the nodes that mean, sd and interval rest on.
    items : tuple of str
        Items that count.
    prior_mean, prior_sd : float
        Of the normal prior of abilities.
    level : float in (0, 1)
        Of the intervals.
    notices : tuple of str
        What a user should know.
    """

    table: pd.DataFrame
    items: tuple[str, ...]
    prior_mean: float
    prior_sd: float
    level: float
    notices: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return headline numbers and settings, for JSON."""
        return {
            "n_models": len(self.table),
            "n_items": len(self.items),
            "settings": {"prior_mean": self.prior_mean, "prior_sd": self.prior_sd},
            "level": self.level,
            "warnings": list(self.notices),
        }


def score_models(
    responses: Responses,
    items: TwoPLFit | pd.DataFrame,
    *,
    prior_mean: float | None = None,
    prior_sd: float | None = None,
    level: float = 0.95,
) -> ScoredModels:
    r"""Return abilities of models from items with known parameters.

    Parameters
    ----------
    responses : Responses
        Right/wrong answers, by any models, to some of the items and perhaps to others, which do
        not count.
    items : TwoPLFit or DataFrame
        A fit; or a table with `item`, `discrimination` (or `a`) and `difficulty` (or `b`), or
        `easiness` (or `d`) in the place of difficulty; see Notes. Items without parameters do not
        count.
    prior_mean, prior_sd : float, optional
        Of the normal prior of abilities. Those of a fit on its own scale, else 0 and 1.
    level : float in (0, 1)
        Of the intervals.

    Returns
    -------
    ScoredModels
        Models in plain order of their ids.

    Raises
    ------
    DataError
        If a score is graded, no item is known, or the table is not as said.
    ValueError
        If an option is out of range.

    Notes
    -----
    logit P = discrimination (ability - difficulty), or discrimination x ability + easiness; no
    factor 1.702. Discriminations may have either sign. Errors take the items as known.

    The prior of a fit is that of its abilities in the unit that they are given in. Models of the fit
    itself get their abilities again in the mode's unit; in the posterior's they are drawn to the mean
    a little more, as the prior says there.

    Each posterior has nodes of its own: from 32 nats below its maximum on one side to the other,
    81 of them or more, so that they lie no further apart than a quarter of its standard
    deviation. Nodes that are fixed in advance are too far apart where there are many items: with
    1,000, intervals from 21 Gauss-Hermite nodes hold a twentieth of the true abilities.

    Maximum likelihood is infinite where every answer agrees with an infinite ability, as when
    all are right. It is then said, and no bound of a search stands in its place.

    References
    ----------
    P1, equations `eq:2pl` and `eq:se`.

    Examples
    --------
    >>> items = pd.DataFrame({"item": ["x", "y"], "a": [1.0, 2.0], "b": [0.0, 0.5]})
    >>> answers = Responses.build([[1, 1], [0, 1]], items=["x", "y"], models=["ant", "bee"])
    >>> scored = score_models(answers, items).table
    >>> scored[["model", "ability", "eap", "ml"]].round(3)
      model  ability    eap     ml
    0   ant   -0.019 -0.086 -0.037
    1   bee    0.904  0.973    inf
    >>> scored["ml_note"][1]
    'not estimable: every answer right'
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level}")
    mean, sd = _prior(items, prior_mean, prior_sd)
    known = _parameters(items)
    answers = checked_answers(responses)
    data = answers.responses
    is_known = data.items["item"].isin(known.index).to_numpy()
    if not is_known.any():
        raise DataError(
            f"none of the items of the responses has known parameters: {listed(data.item_ids)}"
        )
    used = data.take(items=is_known)
    place = known.loc[used.item_ids]
    problem = KnownItems(
        slope=place["slope"].to_numpy(),
        intercept=place["intercept"].to_numpy(),
        right=used.values == 1,
        observed=used.observed,
    )
    unknown = data.items.loc[~is_known, "item"].tolist()
    notices = []
    if unknown:
        notices.append(
            f"{counted(len(unknown), 'item')} without known parameters "
            f"{'does' if len(unknown) == 1 else 'do'} not count: {listed(unknown)}"
        )
    table = _scored(problem, mean=mean, sd=sd, level=level)
    table.insert(0, "model", pd.Series(used.model_ids, dtype="str"))
    for note, members in table.groupby("ml_note", sort=True)["model"]:
        if note:
            notices.append(
                f"{counted(len(members), 'model')} without a finite maximum-likelihood estimate, "
                f"{str(note).removeprefix('not estimable: ')}: {listed(members.tolist())}"
            )
    return ScoredModels(
        table=table,
        items=tuple(used.item_ids),
        prior_mean=mean,
        prior_sd=sd,
        level=level,
        notices=tuple(notices),
    )


def _prior(
    items: TwoPLFit | pd.DataFrame, prior_mean: float | None, prior_sd: float | None
) -> tuple[float, float]:
    mean, sd = 0.0, 1.0
    if isinstance(items, TwoPLFit):
        # Re-centring has moved the zero of the prior.
        mean, sd = -items.unit * items.shift, items.priors["ability_sd"]
    mean = mean if prior_mean is None else float(prior_mean)
    sd = sd if prior_sd is None else float(prior_sd)
    if not np.isfinite(mean):
        raise ValueError(f"prior_mean must be finite, got {mean}")
    if not (np.isfinite(sd) and sd > 0):
        raise ValueError(f"prior_sd must be finite and positive, got {sd}")
    return mean, sd


def _parameters(items: TwoPLFit | pd.DataFrame) -> pd.DataFrame:
    """Return `slope` and `intercept` by item id, of the items that have both."""
    table = items.item_table() if isinstance(items, TwoPLFit) else items
    if "item" not in table:
        raise DataError("the item table has no column 'item'")
    ids = table["item"].tolist()
    repeated = (
        sorted({item for item in ids if ids.count(item) > 1}) if len(set(ids)) < len(ids) else []
    )
    if repeated:
        raise DataError(f"item {listed(repeated)} stands more than once in the item table")
    slope = _numbers(table, "discrimination", ids)
    if slope is None:
        raise DataError("the item table has no column 'discrimination' (or 'a')")
    difficulty, easiness = _numbers(table, "difficulty", ids), _numbers(table, "easiness", ids)
    if difficulty is not None:
        intercept = -slope * difficulty
    elif easiness is not None:
        intercept = easiness
    else:
        raise DataError(
            "the item table has neither a column 'difficulty' (or 'b') nor 'easiness' (or 'd')"
        )
    known = pd.DataFrame({"slope": slope, "intercept": intercept}, index=pd.Index(ids, name="item"))
    return known[known.notna().all(axis=1)]


def _numbers(table: pd.DataFrame, name: str, ids: Sequence[str]) -> Floats | None:
    """Return a column as numbers, NaN where a cell is blank; None if there is no such column."""
    for column in COLUMN_NAMES[name]:
        if column in table:
            cells = table[column].replace("", np.nan)
            values = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=np.float64)
            bad = np.flatnonzero((cells.notna().to_numpy() & np.isnan(values)) | np.isinf(values))
            if len(bad):
                raise DataError(
                    f"{column} of item {ids[bad[0]]!r} is {cells.iloc[bad[0]]}, no finite number"
                )
            return values
    return None


def _scored(problem: KnownItems, *, mean: float, sd: float, level: float) -> pd.DataFrame:
    parts = []
    for start in range(0, problem.right.shape[1], _CHUNK):
        columns = slice(start, start + _CHUNK)
        part = KnownItems(
            slope=problem.slope,
            intercept=problem.intercept,
            right=problem.right[:, columns],
            observed=problem.observed[:, columns],
        )
        ability, information = maximum(part, mean=mean, precision=sd**-2)
        grid = posterior_grid(part, mean=mean, sd=sd)
        _check_nodes(grid)
        ml, ml_se, note = _maximum_likelihood(part, mean)
        parts.append(
            pd.DataFrame(
                {
                    "n": part.observed.sum(axis=0),
                    "ability": ability,
                    "se_items_known": 1 / np.sqrt(information),
                    "eap": grid.mean,
                    "eap_sd": grid.sd,
                    "low": grid.quantile((1 - level) / 2),
                    "high": grid.quantile((1 + level) / 2),
                    "ml": ml,
                    "ml_se": ml_se,
                    "ml_note": pd.Series(note, dtype="str"),
                    "node_spacing": grid.spacing,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _check_nodes(grid: Grid) -> None:
    """Refuse intervals that would rest on nodes wider than their posterior."""
    if not nodes_resolve(grid.nodes, grid.mean, grid.sd).all():
        raise RuntimeError("the nodes of a posterior lie further apart than it is wide")


def _maximum_likelihood(problem: KnownItems, mean: float) -> tuple[Floats, Floats, list[str]]:
    """Return estimates, standard errors, and why one is not finite."""
    n_model = problem.right.shape[1]
    high, low = ends(problem)
    finite: Mask = ~(high | low)
    estimate, error = np.full(n_model, np.nan), np.full(n_model, np.nan)
    if finite.any():
        part = KnownItems(
            slope=problem.slope,
            intercept=problem.intercept,
            right=problem.right[:, finite],
            observed=problem.observed[:, finite],
        )
        ability, information = maximum(part, mean=mean, precision=0.0)
        estimate[finite], error[finite] = ability, 1 / np.sqrt(information)
    nothing = high & low
    estimate[high & ~nothing], estimate[low & ~nothing] = np.inf, -np.inf
    error[(high | low) & ~nothing] = np.inf
    plain = bool((problem.slope > 0).all())
    answered = problem.observed.any(axis=0)
    note = []
    for m in range(n_model):
        if finite[m]:
            note.append("")
        elif nothing[m]:
            said = "no answer to an item with a slope" if answered[m] else "no answer"
            note.append(f"not estimable: {said}")
        elif plain:
            note.append(f"not estimable: every answer {'right' if high[m] else 'wrong'}")
        else:
            toward = "high" if high[m] else "low"
            note.append(f"not estimable: every answer speaks for an infinitely {toward} ability")
    return estimate, error, note
