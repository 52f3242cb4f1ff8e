"""Scores: which spellings are read, and what becomes of right/wrong and graded ones.

Text is read without regard to case and surrounding blanks:

- `true` is 1 and `false` is 0;
- a blank, `na`, `n/a`, `nan`, `null` and `none` are missing, which is never wrong;
- a decimal number is itself: `1`, `1.0`, `.5`, `1e-3`. In a table whose columns are not delimited
  by commas, the decimals may also stand behind a comma.

Anything else is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
from numpy.typing import NDArray
from pyarrow import compute

from neartie.data.errors import DataError
from neartie.data.responses import MISSING

type Codes = NDArray[np.int8] | NDArray[np.float32]

WORDS = {"true": 1.0, "false": 0.0} | dict.fromkeys(
    ("", "na", "n/a", "nan", "null", "none"), np.nan
)
#: Part of what is said of a score such as 0.5; what takes right/wrong answers only leaves it out.
GRADED_ADVICE: Final = "allow it with scores='graded' (--scores graded), or "
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?$"


class Fault(NamedTuple):
    """The first cell that holds no allowed score.

    Attributes
    ----------
    cell : int
        Its position.
    reason : str
        What is wrong with it, and what to do.
    """

    cell: int
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreRule:
    """Which scores are allowed.

    Attributes
    ----------
    graded : bool
        Whether any finite number is; else 0 and 1 alone.
    threshold : float or None
        Where there is one, a score of at least this is right and a smaller one wrong.
    """

    graded: bool = False
    threshold: float | None = None

    @property
    def cell_bytes(self) -> int:
        """Bytes that one score takes."""
        return 4 if self.graded else 1

    def empty(self, shape: tuple[int, int]) -> Codes:
        """Return a matrix without any score: float32 if graded, else int8."""
        if self.graded:
            return np.full(shape, np.nan, dtype=np.float32)
        return np.full(shape, MISSING, dtype=np.int8)

    def codes(self, array: Any, *, decimal_comma: bool = False) -> tuple[Codes, Fault | None]:
        """Return cells as they stand in the matrix of responses.

        Parameters
        ----------
        array : pyarrow.Array, n_cell
            Text, truth values or numbers; null is missing.
        decimal_comma : bool
            Whether `0,5` is a number.

        Returns
        -------
        codes : (n_cell,) int8 or float32
        fault : Fault or None
            The first cell that holds anything else, or a score that the rule does not allow;
            the codes are of no use then.

        Examples
        --------
        >>> ScoreRule().codes(pa.array(["1", "False", "NA", " 1.0"]))
        (array([ 1,  0, -1,  1], dtype=int8), None)
        >>> ScoreRule(threshold=0.5).codes(pa.array([0.5, 0.2, None]))
        (array([ 1,  0, -1], dtype=int8), None)
        >>> ScoreRule().codes(pa.array(["1", "maybe"]))[1]
        Fault(cell=1, reason="'maybe' is not a score")
        """
        if pa.types.is_dictionary(array.type):
            return self._distinct(array, decimal_comma=decimal_comma)
        if _is_text(array.type):
            return self._distinct(array.dictionary_encode(), decimal_comma=decimal_comma)
        if not _holds_scores(array.type):
            return self._apply(np.zeros(0))[0], Fault(0, f"{array.type} is not a score")
        values = _numbers(array)
        codes, bad = self._apply(values)
        if not bad.any():
            return codes, None
        index = int(np.flatnonzero(bad)[0])
        return codes, Fault(index, self._reason(str(array[index].as_py()), values[index]))

    def _distinct(self, encoded: Any, *, decimal_comma: bool) -> tuple[Codes, Fault | None]:
        """Read each distinct text once. Texts that no cell uses do not matter."""
        texts = encoded.dictionary
        if not _is_text(texts.type):
            return self.codes(encoded.dictionary_decode())
        values, unknown = parse_scores(texts, decimal_comma=decimal_comma)
        codes, bad = self._apply(values)
        bad |= unknown
        indices = encoded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
        fault = None
        if bad.any() and (cells := np.append(bad, False)[indices]).any():
            index = int(np.flatnonzero(cells)[0])
            which = int(indices[index])
            fault = Fault(index, self._reason(texts[which].as_py(), values[which]))
        absent = np.nan if self.graded else MISSING
        return np.append(codes, codes.dtype.type(absent))[indices], fault

    def _apply(self, values: NDArray[Any]) -> tuple[Codes, NDArray[np.bool_]]:
        missing = np.isnan(values)
        if self.graded:
            with np.errstate(over="ignore"):
                graded = values.astype(np.float32)
            return graded, np.isinf(graded)
        if self.threshold is not None:
            # In the precision of the file: a single-precision 0.7 reaches the threshold 0.7.
            right = values >= values.dtype.type(self.threshold)
            return np.where(missing, MISSING, right).astype(np.int8), np.isinf(values)
        right = values == 1
        return (
            np.where(missing, MISSING, right).astype(np.int8),
            ~(missing | right | (values == 0)),
        )

    def _reason(self, text: str, value: float) -> str:
        if np.isnan(value):
            return f"{text!r} is not a score"
        if self.graded or self.threshold is not None:
            return f"score {text} is not finite, or too large"
        return f"score {text} is neither 0 nor 1; {GRADED_ADVICE}set a threshold such as 0.5 (--threshold 0.5), from which on a score is right"


def score_rule(scores: str, threshold: float | None) -> ScoreRule:
    """Return the rule that a user's options describe.

    Parameters
    ----------
    scores : {'binary', 'graded'}
        Whether scores other than 0 and 1 are allowed.
    threshold : float or None
        Finite.

    Returns
    -------
    ScoreRule

    Raises
    ------
    DataError
        If the options contradict one another or are out of range.
    """
    if scores not in ("binary", "graded"):
        raise DataError(f"scores must be 'binary' or 'graded', got {scores!r}")
    if threshold is not None:
        if not np.isfinite(threshold):
            raise DataError(f"threshold must be a finite number, got {threshold}")
        if scores == "graded":
            raise DataError("a threshold makes scores right or wrong; they cannot stay graded")
    return ScoreRule(graded=scores == "graded", threshold=threshold)


def parse_scores(
    texts: Any, *, decimal_comma: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the numbers that texts stand for, and which of them are no scores.

    Parameters
    ----------
    texts : pyarrow.Array of text, n_text
        Null is missing.
    decimal_comma : bool
        Whether `0,5` is a number.

    Returns
    -------
    values : (n_text,) float
        NaN where missing or unknown; infinite where a number is too large.
    unknown : (n_text,) bool

    Examples
    --------
    >>> parse_scores(pa.array(["0,5", "maybe", "null"]), decimal_comma=True)
    (array([0.5, nan, nan]), array([False,  True, False]))
    """
    plain = compute.utf8_lower(compute.utf8_trim_whitespace(texts.cast(pa.large_string())))
    plain = plain.fill_null("")
    if decimal_comma:
        plain = compute.replace_substring(plain, ",", ".")
    is_number = compute.match_substring_regex(plain, _NUMBER)
    numbers = compute.if_else(is_number, plain, "nan").cast(pa.float64())
    words = compute.index_in(plain, value_set=pa.array(list(WORDS), pa.large_string()))
    known = np.append(np.fromiter(WORDS.values(), np.float64), np.nan)
    word_values = known[words.fill_null(len(WORDS)).to_numpy(zero_copy_only=False)]
    is_number = is_number.to_numpy(zero_copy_only=False)
    values = np.where(is_number, numbers.to_numpy(zero_copy_only=False), word_values)
    unknown = ~is_number & words.is_null().to_numpy(zero_copy_only=False)
    return values, unknown


def _numbers(array: Any) -> NDArray[Any]:
    kind = array.type
    if pa.types.is_null(kind) or pa.types.is_boolean(kind):
        array = array.cast(pa.int8())
    if pa.types.is_float32(kind):
        return np.asarray(array.to_numpy(zero_copy_only=False))
    return np.asarray(array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))


def _holds_scores(kind: Any) -> bool:
    return bool(
        _is_text(kind)
        or pa.types.is_null(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
    )


def _is_text(kind: Any) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )
