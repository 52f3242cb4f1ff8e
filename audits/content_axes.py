"""What annotators of the content audit are asked: axes, and the rubric in words (P0, D.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

BINARY: Mapping[str, str] = {
    "quantitative": "needs calculation, quantities or symbols to be worked with",
    "formal_rule": "needs stated or formal rules to be applied, as in logic, law or grammar",
    "factual": "needs knowledge of a field that the text does not give",
    "contextual": "needs a passage, or several parts of the text, to be read closely",
    "commonsense": "needs everyday understanding of people, actions or stories",
    "spatial_temporal": "needs places, directions, order of events or dates to be kept apart",
    "wordplay": "turns on sound, spelling, idiom, humour or double meaning",
    "negation": "turns on a negation, an exception or an 'except' in the question",
    "code": "holds program code, a table, a list of marks or another structure to be parsed",
    "distractor": "offers wrong answers that are close to the right one",
}
ORDINAL: Mapping[str, str] = {
    "steps": "reasoning steps that follow one from another",
    "context_burden": "text that has to be kept in mind",
    "ambiguity": "room for more than one reading or answer",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class ContentAxes:
    """Axes that annotators label.

    Attributes
    ----------
    binary : mapping of str to str
        Column name to what a 1 means. These are the confirmatory axes.
    ordinal : mapping of str to str
        Column name to what is scored from 0 (none) to `levels` - 1 (very much).
    levels : int
        Number of ordinal scores.
    """

    binary: Mapping[str, str] = field(default_factory=lambda: dict(BINARY))
    ordinal: Mapping[str, str] = field(default_factory=lambda: dict(ORDINAL))
    levels: int = 4

    def __post_init__(self) -> None:
        """Refuse axes that no sheet could hold."""
        names = [*self.binary, *self.ordinal]
        if not names:
            raise ValueError("name at least one axis")
        for name in names:
            if not name.strip() or name != name.strip().lower():
                raise ValueError(
                    f"an axis is named in lower case without blanks around, not {name!r}"
                )
            if name in ("blind_id", "text") or names.count(name) > 1:
                raise ValueError(f"{name!r} cannot name an axis, or names two")
        if self.levels < 2:
            raise ValueError(f"levels must be at least 2, got {self.levels}")

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of a sheet: binary, then ordinal axes."""
        return (*self.binary, *self.ordinal)

    def allowed(self, axis: str) -> tuple[int, ...]:
        """Return the labels that an axis may have."""
        return (0, 1) if axis in self.binary else tuple(range(self.levels))

    def rubric(self) -> str:
        """Return instructions to annotators, as Markdown."""
        top = self.levels - 1
        lines = [
            "# How to label",
            "",
            "Label what a question visibly asks for. Do not solve it, and do not guess who would.",
            "Fill in one row a question; keep `blind_id` as it is. The text may be left out of what",
            "you return. Work alone. Leave a cell blank if you cannot decide.",
            "",
        ]
        if self.binary:
            lines += ["1 if the statement holds of the question, 0 if it does not:", ""]
            lines += [f"- `{name}`: {meaning}" for name, meaning in self.binary.items()]
            lines.append("")
        if self.ordinal:
            lines += [f"A whole number from 0 (none) to {top} (very much):", ""]
            lines += [f"- `{name}`: {meaning}" for name, meaning in self.ordinal.items()]
            lines.append("")
        return "\n".join(lines)
