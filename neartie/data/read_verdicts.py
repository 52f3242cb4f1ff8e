"""Reading verdicts on duels, and turning them from positions into models."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.data.battles import OUTCOMES
from neartie.data.errors import DataError
from neartie.data.ids import near_duplicates, nearest_spelling
from neartie.data.read_battles import OPTIONAL_NAMES
from neartie.data.text_table import TextTable, read_text_table
from neartie.data.wording import counted, listed

type AnyPath = str | PathLike[str]
type Signs = NDArray[np.float64]

#: Verdicts that could not be read: ties, but counted.
UNPARSED: Final = ("", "unparsed", "unparseable", "na", "n/a", "nan", "null", "none")
#: What a judge says of what it saw.
POSITIONS: Final = {"first": 1, "1": 1, "second": -1, "2": -1, "tie": 0, "tie (bothbad)": 0}
_SIDES: Final = {"model_a": 1, "a": 1, "model_b": -1, "b": -1, "": 0}
_PLACES: Final = {"first": 1, "1": 1, "second": -1, "2": -1, "": 0}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Verdicts:
    """Verdicts of judges, as models.

    Attributes
    ----------
    table : DataFrame
        `model_a`, `model_b`, `outcome`, `shown`, `judge`, `prompt`, `unparsed` and perhaps
        `domain`, as in `neartie.data.score_inputs.ScoreInputs`.
    shown_is_given : bool
        Whether the table says who was shown first.
    providers : dict of str to str
        Of the judges that were listed; empty if none were.
    notices : tuple of str
    """

    table: pd.DataFrame
    shown_is_given: bool
    providers: dict[str, str]
    notices: tuple[str, ...]


def read_verdicts(path: AnyPath, *, judges: AnyPath | None = None) -> Verdicts:
    """Return verdicts on duels, un-swapped.

    Parameters
    ----------
    path : path
        CSV, gzip CSV or Parquet, one row a verdict. Columns, in any case:

        - `model_a`, `model_b`: the two models;
        - `winner`: which *model* won: `model_a` or `a`, `model_b` or `b`, `tie`; or `verdict`:
          which *position* won, as the judge said: `first` or `1`, `second` or `2`, `tie`. A blank
          cell or `unparsed` is a verdict that could not be read, and counts as a tie (P1);
        - optional `swapped` (1 where model_b was shown first), `first_shown` (`model_a` or
          `model_b`) or `position` (that of model_a: `first` or `second`). Without any of them
          model_a counts as shown first;
        - optional `judge` (or `judge_id`, `worker`, `annotator`), `prompt` (or `prompt_id`,
          `question_id`, `item`), `domain`.
    judges : path, optional
        `judge`, perhaps `provider`. Verdicts of other judges are refused.

    Returns
    -------
    Verdicts

    Raises
    ------
    DataError
        If the file cannot be read without guessing, or a judge is not listed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     table = Path(folder) / "duels.csv"
    ...     _ = table.write_text("model_a,model_b,verdict,swapped\\nowl,ant,first,1\\n")
    ...     read_verdicts(table).table[["model_a", "model_b", "outcome", "shown"]]
      model_a model_b  outcome  shown
    0     owl     ant     -1.0   -1.0
    """
    table = read_text_table(
        Path(path),
        required={"model_a": ("model_a",), "model_b": ("model_b",)},
        optional={
            "winner": ("winner",),
            "verdict": ("verdict",),
            "swapped": ("swapped",),
            "first_shown": ("first_shown",),
            "position": ("position",),
            "judge": OPTIONAL_NAMES["judge"],
            "prompt": OPTIONAL_NAMES["prompt"],
            "domain": ("domain",),
        },
        ids=("model_a", "model_b", "judge", "prompt", "domain"),
        purpose="a table of duels",
    )
    notices = [
        f"{table.source.path}: columns not used: {listed(table.unused)}" for _ in table.unused[:1]
    ]
    frame = pd.DataFrame({name: table.ids(name) for name in ("model_a", "model_b")})
    models = sorted({*frame["model_a"], *frame["model_b"]})
    notices += near_duplicates(models, kind="model", path=Path(path))
    if "domain" in table.columns:
        frame["domain"] = table.ids("domain")
    for name in ("judge", "prompt"):
        frame[name] = table.ids(name) if name in table.columns else ""
    shown, is_given = _shown(table)
    if not is_given:
        notices.append(
            f"{table.source.path} does not say who was shown first: model_a is taken as such, and "
            "what is said of positions holds only if it was"
        )
    outcome, unparsed = _outcome(table, shown)
    frame = frame.assign(outcome=outcome, shown=shown, unparsed=unparsed.astype(np.float64))
    providers = {} if judges is None else _listed_judges(table, Path(judges))
    return Verdicts(
        table=frame, shown_is_given=is_given, providers=providers, notices=tuple(notices)
    )


def _shown(table: TextTable) -> tuple[Signs, bool]:
    """Return 1 where model_a was shown first, -1 where model_b was, 0 where not known."""
    given = [name for name in ("swapped", "first_shown", "position") if name in table.columns]
    if len(given) > 1:
        raise DataError(
            f"{table.source.path} has columns {listed(given)}, which say the same; keep one"
        )
    if not given:
        return np.ones(table.n_row), False
    if given == ["swapped"]:
        swapped = table.numbers("swapped", allowed=(0, 1), rule="0, 1 or blank")
        return np.where(np.isnan(swapped), 0.0, 1 - 2 * swapped), True
    name = given[0]
    known = _SIDES if name == "first_shown" else _PLACES
    sides = _codes(table, name, known)
    if name == "first_shown":
        # also the id of one of the two
        text = table.columns[name]
        for model, sign in (("model_a", 1.0), ("model_b", -1.0)):
            same = np.isnan(sides) & (text == table.columns[model]).to_numpy()
            sides[same] = sign
    _refuse(table, name, sides, f"one of {', '.join(word for word in known if word)}")
    return sides, True


def _outcome(table: TextTable, shown: Signs) -> tuple[Signs, NDArray[np.bool_]]:
    given = [name for name in ("winner", "verdict") if name in table.columns]
    if len(given) != 1:
        raise DataError(
            f"{table.source.path} needs a column 'winner' (which model won: model_a, model_b, tie) "
            "or 'verdict' (which position won: first, second, tie)"
            + (", and not both" if given else "")
            + f"; its columns: {listed(table.source.columns, limit=12)}"
        )
    name = given[0]
    known = OUTCOMES if name == "winner" else POSITIONS
    outcome = _codes(table, name, known)
    plain = table.columns[name].str.strip().str.lower()
    unparsed = plain.isin(UNPARSED).to_numpy()
    outcome[unparsed] = 0
    _refuse(table, name, outcome, f"one of {', '.join(known)}, or blank where it was not readable")
    if name == "verdict":
        lost = np.flatnonzero((shown == 0) & (outcome != 0))
        if len(lost):
            raise DataError(
                f"{table.place(int(lost[0]))}: the verdict names a position, but nothing says which "
                "model was shown first"
            )
        outcome = outcome * shown
    return outcome, unparsed


def _codes(table: TextTable, name: str, known: dict[str, int]) -> Signs:
    plain = table.columns[name].str.strip().str.lower()
    codes: Signs = np.array([known.get(word, np.nan) for word in plain], dtype=np.float64)
    return codes


def _refuse(table: TextTable, name: str, codes: Signs, rule: str) -> None:
    bad = np.flatnonzero(np.isnan(codes))
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"{table.place(row, name)}: {table.columns[name].iloc[row]!r} is not {rule}"
        )


def _listed_judges(table: TextTable, path: Path) -> dict[str, str]:
    listing = read_text_table(
        path,
        required={"judge": OPTIONAL_NAMES["judge"]},
        optional={"provider": ("provider", "owner")},
        ids=("judge",),
        purpose="a table of judges",
    )
    names = listing.ids("judge").tolist()
    blank = pd.Series([""] * len(names))
    provider = listing.columns.get("provider", blank).str.strip().tolist()
    if "judge" not in table.columns:
        raise DataError(f"{table.source.path} has no column 'judge', so that {path} is of no use")
    known = dict(zip(names, provider, strict=True))
    if len(known) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{path} lists judge {twice!r} twice")
    judge = table.columns["judge"]
    strange = np.flatnonzero(~judge.isin(known).to_numpy())
    if len(strange):
        row, name = int(strange[0]), judge.iloc[int(strange[0])]
        raise DataError(
            f"{table.place(row, 'judge')}: judge {name!r} is not in {path}; it lists "
            f"{counted(len(known), 'judge')}: {listed(names)}{nearest_spelling([name], names)}"
        )
    return known
