"""What a PyMC model of neartie is: its kind, options, priors, and what may be said of its draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

# The attribute of a `pm.Model` that holds its record.
ATTRIBUTE: Final = "neartie"

KINDS: Final = ("two-pl", "mirt-dif", "residual-dif", "bradley-terry")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ModelRecord:
    """What a factory built. Stands on the model as `model.neartie`.

    Attributes
    ----------
    kind : str
        `two-pl`, `mirt-dif`, `residual-dif` or `bradley-terry`.
    options : mapping
        Every choice but the priors, by the name of the factory's argument: text, numbers,
        truth values.
    priors : mapping
        Every hyperparameter, by its name in the priors object.
    diagnosed : tuple of str
        Variables of the posterior that convergence is judged by. None of them depends on the
        rotation or the signs of the factors of ability.
    ranking : str
        The variable over `model` by which models are ranked: higher is more correct. For
        `mirt-dif` it is `expected_score`, which is computed from the draws and is no variable of
        the model.
    notices : tuple of str
        What the user should know of data and model: for whom the prior alone speaks.

    Examples
    --------
    >>> record = ModelRecord(kind="two-pl", options={"discrimination": "one"}, priors={},
    ...                      diagnosed=("ability", "difficulty"), ranking="ability")
    >>> record.to_dict()["options"]
    {'discrimination': 'one'}
    """

    kind: str
    options: Mapping[str, Any]
    priors: Mapping[str, Any]
    diagnosed: tuple[str, ...]
    ranking: str
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {
            "kind": self.kind,
            "options": dict(self.options),
            "priors": dict(self.priors),
            "diagnosed": list(self.diagnosed),
            "ranking": self.ranking,
            "notices": list(self.notices),
        }


def record_of(model: Any) -> ModelRecord:
    """Return the record of a model that a factory of neartie built.

    Parameters
    ----------
    model : pm.Model

    Returns
    -------
    ModelRecord

    Raises
    ------
    TypeError
        If the model carries none: it was built elsewhere, or is a copy.

    Examples
    --------
    >>> record_of(object())
    Traceback (most recent call last):
    ...
    TypeError: object carries no record of neartie: build it with neartie.build_two_pl or a like factory
    """
    record = getattr(model, ATTRIBUTE, None)
    if not isinstance(record, ModelRecord):
        raise TypeError(
            f"{type(model).__name__} carries no record of neartie: build it with "
            "neartie.build_two_pl or a like factory"
        )
    return record
